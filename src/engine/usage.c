/*
 * A count lies in one word beside the number of its minute, in one of two places by turns: whoever comes
 * first in a new minute finds the number of the one before last there and starts the count over.  So nothing
 * has to happen when a minute turns.
 */
#include "engine/usage.h"

#include <stdbool.h>

#include "base/time.h"

#define MINUTE_NS   (60 * WEIR_NS_PER_S)
#define MINUTE_MASK (UINT64_MAX >> WEIR_USAGE_COUNT_BITS)

static struct weir_live_block *block_of(const struct weir_live *live, uint32_t slot)
{
    return live->blocks[slot / WEIR_LIVE_BLOCK_SLOTS];
}

uint32_t weir_usage_begin(struct weir_live *live, uint32_t slot)
{
    return 1 + atomic_fetch_add_explicit(&block_of(live, slot)->running[slot % WEIR_LIVE_BLOCK_SLOTS], 1,
                                         memory_order_relaxed);
}

void weir_usage_end(struct weir_live *live, uint32_t slot)
{
    atomic_fetch_sub_explicit(&block_of(live, slot)->running[slot % WEIR_LIVE_BLOCK_SLOTS], 1,
                              memory_order_relaxed);
}

uint64_t weir_usage_minute(const struct weir_live *live, uint64_t now_ns)
{
    /* The sum wraps where the wall clock stands before the monotonic one. */
    return (now_ns + atomic_load_explicit(&live->wall_ahead_ns, memory_order_relaxed)) / MINUTE_NS;
}

/* Whether the minute of the word comes after the given one, both by their last bits. */
static bool is_later(uint64_t word, uint64_t minute)
{
    uint64_t ahead = ((word >> WEIR_USAGE_COUNT_BITS) - minute) & MINUTE_MASK;

    return ahead != 0 && ahead <= MINUTE_MASK / 2 && word != 0;
}

static uint64_t word_plus(uint64_t word, uint64_t minute, uint64_t amount)
{
    uint64_t number = minute & MINUTE_MASK,
             count = word >> WEIR_USAGE_COUNT_BITS == number ? word & WEIR_USAGE_COUNT_MAX : 0;

    count = amount < WEIR_USAGE_COUNT_MAX - count ? count + amount : WEIR_USAGE_COUNT_MAX;
    return number << WEIR_USAGE_COUNT_BITS | count;
}

uint64_t weir_usage_add(struct weir_live *live, uint32_t slot, enum weir_usage usage, uint64_t minute,
                        uint64_t amount)
{
    _Atomic uint64_t *at = &block_of(live, slot)->usage[usage][minute % 2][slot % WEIR_LIVE_BLOCK_SLOTS];
    uint64_t old = atomic_load_explicit(at, memory_order_relaxed), next;

    do {
        if (is_later(old, minute))
            return 0;
        next = word_plus(old, minute, amount);
    } while (
        !atomic_compare_exchange_weak_explicit(at, &old, next, memory_order_relaxed, memory_order_relaxed));
    return next & WEIR_USAGE_COUNT_MAX;
}

struct weir_minute_usage weir_usage_view(const struct weir_live *live, uint32_t slot, uint64_t minute)
{
    return (struct weir_minute_usage){.requests = weir_usage_of(live, slot, WEIR_USAGE_REQUESTS, minute),
                                      .tokens = weir_usage_of(live, slot, WEIR_USAGE_TOKENS, minute),
                                      .input_tokens = weir_usage_of(live, slot, WEIR_USAGE_INPUT, minute),
                                      .output_tokens = weir_usage_of(live, slot, WEIR_USAGE_OUTPUT, minute)};
}
