/*
 * A count lies in one word beside the number of its minute, in one of two places by turns: whoever comes
 * first in a new minute finds the number of the one before last there and starts the count over.  So nothing
 * has to happen when a minute turns.
 */
#include "engine/live/usage.h"

#include <stdbool.h>

#include "base/time.h"

#define MINUTE_NS   (60 * WEIR_NS_PER_S)
#define MINUTE_MASK (UINT64_MAX >> WEIR_USAGE_COUNT_BITS)

static struct weir_live_block *block_of(const struct weir_live *live, uint32_t slot)
{
    return live->blocks[slot / WEIR_LIVE_BLOCK_SLOTS];
}

bool weir_usage_begin(struct weir_live *live, uint32_t slot, uint32_t max)
{
    _Atomic uint64_t *running = &block_of(live, slot)->running[slot % WEIR_LIVE_BLOCK_SLOTS];
    uint64_t old = atomic_load_explicit(running, memory_order_relaxed);

    do {
        if ((uint32_t)old >= max)
            return false;
    } while (!atomic_compare_exchange_weak_explicit(running, &old, old + 1, memory_order_relaxed,
                                                    memory_order_relaxed));
    return true;
}

void weir_usage_end(struct weir_live *live, uint32_t slot)
{
    atomic_fetch_sub_explicit(&block_of(live, slot)->running[slot % WEIR_LIVE_BLOCK_SLOTS], 1,
                              memory_order_relaxed);
}

void weir_usage_set_elsewhere(struct weir_live *live, uint32_t slot, uint32_t count)
{
    _Atomic uint64_t *running = &block_of(live, slot)->running[slot % WEIR_LIVE_BLOCK_SLOTS];
    uint64_t before = atomic_load_explicit(running, memory_order_relaxed) >> 32;

    atomic_fetch_add_explicit(running, (count - before) << 32, memory_order_relaxed);
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

/* What the word counts of the minute. */
static uint64_t count_in(uint64_t word, uint64_t minute)
{
    return word >> WEIR_USAGE_COUNT_BITS == (minute & MINUTE_MASK) ? word & WEIR_USAGE_COUNT_MAX : 0;
}

static uint64_t make_word(uint64_t minute, uint64_t count)
{
    return (minute & MINUTE_MASK) << WEIR_USAGE_COUNT_BITS | count;
}

static uint64_t sum_of(uint64_t count, uint64_t amount)
{
    return amount < WEIR_USAGE_COUNT_MAX - count ? count + amount : WEIR_USAGE_COUNT_MAX;
}

static _Atomic uint64_t *word_of(const struct weir_live *live, uint32_t slot, weir_usage_kind usage,
                                 uint64_t minute)
{
    return &block_of(live, slot)->usage[usage][minute % 2][slot % WEIR_LIVE_BLOCK_SLOTS];
}

bool weir_usage_add_within(struct weir_live *live, uint32_t slot, weir_usage_kind usage, uint64_t minute,
                           uint64_t amount, uint64_t limit, uint64_t *ret_used)
{
    _Atomic uint64_t *at = word_of(live, slot, usage, minute);
    uint64_t old = atomic_load_explicit(at, memory_order_relaxed), count;

    do {
        count = count_in(old, minute);
        *ret_used = count;
        if (is_later(old, minute))
            return true;
        if (count > limit || amount > limit - count)
            return false;
    } while (!atomic_compare_exchange_weak_explicit(at, &old, make_word(minute, sum_of(count, amount)),
                                                    memory_order_relaxed, memory_order_relaxed));
    return true;
}

void weir_usage_add(struct weir_live *live, uint32_t slot, weir_usage_kind usage, uint64_t minute,
                    uint64_t amount)
{
    uint64_t used;

    if (amount == 0)
        return;
    if (amount > WEIR_USAGE_COUNT_MAX)
        amount = WEIR_USAGE_COUNT_MAX;
    (void)weir_usage_add_within(live, slot, usage, minute, amount, UINT64_MAX, &used);
}

void weir_usage_take_back(struct weir_live *live, uint32_t slot, weir_usage_kind usage, uint64_t minute,
                          uint64_t amount)
{
    _Atomic uint64_t *at = word_of(live, slot, usage, minute);
    uint64_t old = atomic_load_explicit(at, memory_order_relaxed), count;

    if (amount == 0)
        return;
    do {
        count = count_in(old, minute);
        if (count == 0)
            return;
    } while (!atomic_compare_exchange_weak_explicit(at, &old,
                                                    make_word(minute, count > amount ? count - amount : 0),
                                                    memory_order_relaxed, memory_order_relaxed));
}

bool weir_usage_keeps(const struct weir_live *live, uint32_t slot, weir_usage_kind usage, uint64_t minute)
{
    return !is_later(atomic_load_explicit(word_of(live, slot, usage, minute), memory_order_relaxed), minute);
}

bool weir_usage_shift(struct weir_live *live, uint32_t slot, weir_usage_kind usage, uint64_t minute,
                      int64_t amount)
{
    _Atomic uint64_t *at = word_of(live, slot, usage, minute);
    uint64_t old = atomic_load_explicit(at, memory_order_relaxed), count;

    do {
        count = count_in(old, minute);
        if (is_later(old, minute))
            return false;
        if (amount >= 0)
            count = sum_of(count, (uint64_t)amount);
        else
            count = count > (uint64_t)-amount ? count - (uint64_t)-amount : 0;
    } while (!atomic_compare_exchange_weak_explicit(at, &old, make_word(minute, count), memory_order_relaxed,
                                                    memory_order_relaxed));
    return true;
}

bool weir_usage_word(const struct weir_live *live, uint32_t slot, weir_usage_kind usage, unsigned place,
                     uint64_t present, uint64_t *ret_minute, uint64_t *ret_count)
{
    uint64_t word = atomic_load_explicit(word_of(live, slot, usage, place), memory_order_relaxed);
    uint64_t age = (present - (word >> WEIR_USAGE_COUNT_BITS)) & MINUTE_MASK;

    if (word == 0 || age > 1)
        return false;
    *ret_minute = present - age;
    *ret_count = word & WEIR_USAGE_COUNT_MAX;
    return true;
}

struct weir_minute_usage weir_usage_view(const struct weir_live *live, uint32_t slot, uint64_t minute)
{
    return (struct weir_minute_usage){.requests = weir_usage_of(live, slot, WEIR_USAGE_REQUESTS, minute),
                                      .tokens = weir_usage_of(live, slot, WEIR_USAGE_TOKENS, minute),
                                      .input_tokens = weir_usage_of(live, slot, WEIR_USAGE_INPUT, minute),
                                      .output_tokens = weir_usage_of(live, slot, WEIR_USAGE_OUTPUT, minute)};
}
