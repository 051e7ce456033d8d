/*
 * Marks of what has changed in live state and is to be told to other processes (weir/shared.h).
 *
 * Whoever changes something that is shared marks it: a bit for its kind at the slot, and a bit for the slot
 * in its block.  Nothing else is written down, since what is to be told follows from the state itself.  Where
 * the router does not share, a mark is one branch.
 *
 * Order: the change comes before the mark, and a mark is always written, though it stands there already.  So
 * whoever takes a mark sees all changes that were marked before.
 *
 * Threads: any, at once; weir_shared_begin and _add only by the thread that adds slots.  What is written
 * "by the teller" belongs to the one thread that takes changes (ledger.h).
 */
#ifndef WEIR_ENGINE_SHARED_H
#define WEIR_ENGINE_SHARED_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <weir/attr.h>
#include <weir/failure.h>
#include <weir/shared.h>

#include "engine/live/account.h"
#include "engine/live/live.h"

enum { WEIR_SHARED_WORDS = WEIR_LIVE_BLOCK_SLOTS / 64 };

/* A counter of allowed fails as it was told last; the teller's. */
struct weir_shared_fails {
    uint64_t counter;   /* the word of live.h */
    uint64_t strictest; /* as below */
};

/* The usage of a minute as it was told; the teller's. */
struct weir_shared_usage {
    uint64_t minute; /* as the word of usage.h has it */
    struct weir_account account;
};

struct weir_shared_slot {
    struct weir_slice id;
    _Atomic bool lifting; /* a cooldown was lifted by hand, which the store does not know yet */
    _Atomic uint64_t fails_life_ns;
    /* By counter: limit, kind, status and Retry-After of the failure with the lowest limit that was counted
     * since that was told; 0: none. */
    _Atomic uint64_t strictest[WEIR_LIVE_COUNTERS];
    /* The end of the cooldown that was learned last, and whose it is: written by the teller. */
    _Atomic uint64_t learned_ns;
    struct weir_live_name by;
    /* The teller's. */
    struct weir_shared_fails fails[WEIR_LIVE_COUNTERS];
    struct weir_shared_usage usage[WEIR_USAGES][2];
    struct weir_account running;
    uint32_t sampled[WEIR_PACES]; /* samples that were taken, as the ring counts them */
};

struct weir_shared_block {
    _Atomic uint64_t dirty[WEIR_SHARED_WORDS];
    _Atomic uint8_t marks[WEIR_LIVE_BLOCK_SLOTS];
    _Atomic uint8_t wanted[WEIR_LIVE_BLOCK_SLOTS]; /* kinds that are shared */
    struct weir_shared_slot slots[WEIR_LIVE_BLOCK_SLOTS];
};

struct weir_shared {
    void (*notify)(void *user);
    void *user;
    _Atomic bool pending; /* notify was called, and nothing taken since */
    uint32_t cursor;      /* the teller's: where it goes on taking */
    _Atomic uint32_t count;
    struct weir_shared_block *blocks[WEIR_LIVE_BLOCKS];
};

/* Before there are slots.  0 or WEIR_ERR_NOMEM. */
WEIR_MUST_USE int weir_shared_begin(struct weir_live *live, void (*notify)(void *user), void *user);
void weir_shared_end(struct weir_live *live);

/* The slot that is the next by its number; the id must live as long.  0 or WEIR_ERR_NOMEM. */
WEIR_MUST_USE int weir_shared_add(struct weir_live *live, uint32_t slot, struct weir_slice id);

/* Which kinds are shared of the slot from now on.  Of one that was and is no longer, the teller takes back
 * what it has told. */
void weir_shared_want(struct weir_live *live, uint32_t slot, unsigned kinds);

static inline struct weir_shared_block *weir_shared_block_of(const struct weir_live *live, uint32_t slot)
{
    return live->shared->blocks[slot / WEIR_LIVE_BLOCK_SLOTS];
}

static inline struct weir_shared_slot *weir_shared_slot_of(const struct weir_live *live, uint32_t slot)
{
    return &weir_shared_block_of(live, slot)->slots[slot % WEIR_LIVE_BLOCK_SLOTS];
}

static inline bool weir_shared_wants(const struct weir_live *live, uint32_t slot, weir_shared_kind kind)
{
    return (atomic_load_explicit(&weir_shared_block_of(live, slot)->wanted[slot % WEIR_LIVE_BLOCK_SLOTS],
                                 memory_order_relaxed) >>
                kind &
            1) != 0;
}

/* Marks kinds at a slot; they need not be wanted.  weir_shared_leave does not notify. */
void weir_shared_tell(struct weir_live *live, uint32_t slot, unsigned kinds);
void weir_shared_leave(struct weir_live *live, uint32_t slot, unsigned kinds);

/* Marks those of the kinds that are wanted. */
void weir_shared_tell_wanted(struct weir_live *live, uint32_t slot, unsigned kinds);

/* The slot's state of these kinds has changed. */
static inline void weir_shared_mark(struct weir_live *live, uint32_t slot, unsigned kinds)
{
    if (live->shared != NULL)
        weir_shared_tell_wanted(live, slot, kinds);
}

/* Whatever cooldown the slot had is about to be lifted, or replaced, by hand; the mark follows after. */
void weir_shared_begin_lift(struct weir_live *live, uint32_t slot);

/* What a failure that is about to be counted would be measured by. */
struct weir_shared_limit {
    const struct weir_failure *failure;
    unsigned counter;
    uint32_t limit;
    uint64_t life_ns;
};

/* To be said before it is counted; the mark follows after. */
void weir_shared_note_limit(struct weir_live *live, uint32_t slot, const struct weir_shared_limit *limit);

/* The same as a word of weir_shared_slot, and back.  Times are cut to milliseconds. */
uint64_t weir_shared_pack_limit(const struct weir_failure *failure, uint32_t limit);
void weir_shared_unpack_limit(uint64_t word, struct weir_failure *ret_failure, uint32_t *ret_limit);

/* Keeps the lower one of two limits at a counter. */
void weir_shared_lower(_Atomic uint64_t *strictest, uint64_t word);

#endif
