/*
 * A mark goes from the slot to its block and then to `pending`; whoever takes goes the other way.  The marks
 * of a slot are exchanged by both, so one of them always comes first: either the taker finds the mark, or
 * whoever marks sees all that the taker did before, and so that nothing is pending.
 */
#include "engine/live/shared.h"

#include <string.h>

#include <weir/error.h>

#include "base/time.h"

enum { LIMIT_BITS = 19, KIND_BITS = 5, STATUS_BITS = 10, RETRY_BITS = 30 };

_Static_assert(LIMIT_BITS + KIND_BITS + STATUS_BITS + RETRY_BITS == 64, "a limit fills a word");
_Static_assert(WEIR_KIND_COUNT <= 1 << KIND_BITS, "a kind of failure fits in its bits");
_Static_assert(WEIR_SHARED_KINDS <= 8, "the kinds fit in the marks of a slot");

#define MASK(bits) ((UINT64_C(1) << (bits)) - 1)

int weir_shared_begin(struct weir_live *live, void (*notify)(void *user), void *user)
{
    struct weir_shared *shared = live->mem->alloc(live->mem->user, sizeof(*shared));

    if (shared == NULL)
        return WEIR_ERR_NOMEM;
    memset((void *)shared, 0, sizeof(*shared));
    shared->notify = notify;
    shared->user = user;
    live->shared = shared;
    return 0;
}

void weir_shared_end(struct weir_live *live)
{
    struct weir_shared *shared = live->shared;

    if (shared == NULL)
        return;
    for (size_t i = 0; i < WEIR_LIVE_BLOCKS && shared->blocks[i] != NULL; i++)
        live->mem->free(live->mem->user, shared->blocks[i], sizeof(*shared->blocks[i]));
    live->mem->free(live->mem->user, shared, sizeof(*shared));
    live->shared = NULL;
}

int weir_shared_add(struct weir_live *live, uint32_t slot, struct weir_slice id)
{
    struct weir_shared_block **block = &live->shared->blocks[slot / WEIR_LIVE_BLOCK_SLOTS];

    if (*block == NULL) {
        *block = live->mem->alloc(live->mem->user, sizeof(**block));
        if (*block == NULL)
            return WEIR_ERR_NOMEM;
        memset((void *)*block, 0, sizeof(**block));
    }
    weir_shared_slot_of(live, slot)->id = id;
    /* From here on the teller sees the slot. */
    atomic_store_explicit(&live->shared->count, slot + 1, memory_order_release);
    return 0;
}

void weir_shared_want(struct weir_live *live, uint32_t slot, unsigned kinds)
{
    struct weir_shared_block *block = weir_shared_block_of(live, slot);
    unsigned before = atomic_exchange_explicit(&block->wanted[slot % WEIR_LIVE_BLOCK_SLOTS], (uint8_t)kinds,
                                               memory_order_relaxed);

    if ((before & ~kinds) != 0)
        weir_shared_tell(live, slot, before & ~kinds);
}

/* The slot is entered in its block by whoever finds it without a mark. */
static void mark(struct weir_live *live, uint32_t slot, unsigned kinds)
{
    struct weir_shared_block *block = weir_shared_block_of(live, slot);
    uint32_t at = slot % WEIR_LIVE_BLOCK_SLOTS;

    if (atomic_fetch_or_explicit(&block->marks[at], (uint8_t)kinds, memory_order_acq_rel) == 0)
        atomic_fetch_or_explicit(&block->dirty[at / 64], UINT64_C(1) << at % 64, memory_order_acq_rel);
}

void weir_shared_tell(struct weir_live *live, uint32_t slot, unsigned kinds)
{
    struct weir_shared *shared = live->shared;

    mark(live, slot, kinds);
    if (!atomic_load_explicit(&shared->pending, memory_order_acquire) &&
        !atomic_exchange_explicit(&shared->pending, true, memory_order_acq_rel))
        shared->notify(shared->user);
}

void weir_shared_leave(struct weir_live *live, uint32_t slot, unsigned kinds)
{
    mark(live, slot, kinds);
}

void weir_shared_tell_wanted(struct weir_live *live, uint32_t slot, unsigned kinds)
{
    struct weir_shared_block *block = weir_shared_block_of(live, slot);

    kinds &= atomic_load_explicit(&block->wanted[slot % WEIR_LIVE_BLOCK_SLOTS], memory_order_relaxed);
    if (kinds != 0)
        weir_shared_tell(live, slot, kinds);
}

void weir_shared_begin_lift(struct weir_live *live, uint32_t slot)
{
    if (live->shared != NULL && weir_shared_wants(live, slot, WEIR_SHARED_LIFT))
        atomic_store_explicit(&weir_shared_slot_of(live, slot)->lifting, true, memory_order_release);
}

static uint64_t at_most(uint64_t number, unsigned bits)
{
    return number < MASK(bits) ? number : MASK(bits);
}

uint64_t weir_shared_pack_limit(const struct weir_failure *failure, uint32_t limit)
{
    uint64_t word = at_most(limit, LIMIT_BITS);

    word = word << KIND_BITS | (uint64_t)failure->kind;
    word = word << STATUS_BITS | at_most((uint64_t)failure->status, STATUS_BITS);
    return word << RETRY_BITS | at_most(failure->retry_after_ns / WEIR_NS_PER_MS, RETRY_BITS);
}

void weir_shared_unpack_limit(uint64_t word, struct weir_failure *ret_failure, uint32_t *ret_limit)
{
    *ret_failure =
        (struct weir_failure){.kind = (weir_kind)(word >> (STATUS_BITS + RETRY_BITS) & MASK(KIND_BITS)),
                              .status = (int)(word >> RETRY_BITS & MASK(STATUS_BITS)),
                              .retry_after_ns = (word & MASK(RETRY_BITS)) * WEIR_NS_PER_MS,
                              .origin = WEIR_ORIGIN_PROVIDER};
    *ret_limit = (uint32_t)(word >> (KIND_BITS + STATUS_BITS + RETRY_BITS));
}

void weir_shared_lower(_Atomic uint64_t *strictest, uint64_t word)
{
    uint64_t old = atomic_load_explicit(strictest, memory_order_relaxed);

    do {
        if (word == 0 || (old != 0 && old <= word))
            return;
    } while (!atomic_compare_exchange_weak_explicit(strictest, &old, word, memory_order_relaxed,
                                                    memory_order_relaxed));
}

void weir_shared_note_limit(struct weir_live *live, uint32_t slot, const struct weir_shared_limit *limit)
{
    struct weir_shared_slot *shared;

    if (live->shared == NULL)
        return;
    shared = weir_shared_slot_of(live, slot);
    atomic_store_explicit(&shared->fails_life_ns, limit->life_ns, memory_order_relaxed);
    weir_shared_lower(&shared->strictest[limit->counter],
                      weir_shared_pack_limit(limit->failure, limit->limit));
}
