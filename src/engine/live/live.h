/*
 * What is remembered of each deployment between requests: cooldown, sliding window, allowed-fails counters,
 * attempts that run, usage of the minute (usage.h), speed (latency.h).
 *
 * A deployment has a slot for as long as the router lives.  Slots lie in blocks that never move, so any
 * thread reads and writes them without a lock; all state is atomic and no operation waits for another.  What
 * a pick reads of every candidate lies together, slot by slot.  Blocks are added by one thread at a time
 * (weir_live_add).
 *
 * Invariants (weir_live_validate): the blocks up to the last slot exist, the others do not; no bucket of a
 * window is from the future; the bound of a run is at most its least deadline.
 */
#ifndef WEIR_ENGINE_LIVE_H
#define WEIR_ENGINE_LIVE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include <weir/attr.h>
#include <weir/event.h>
#include <weir/failure.h>
#include <weir/mem.h>
#include <weir/router.h>
#include <weir/snapshot.h>

#include "engine/live/name.h"

enum {
    WEIR_LIVE_BLOCK_SLOTS = 256,
    WEIR_LIVE_BLOCKS = 4096,  /* a million deployments, removed ones included */
    WEIR_LIVE_RUN_SLOTS = 64, /* see weir_live_run_is_cooling */
    WEIR_LIVE_BUCKETS = 6     /* of ten seconds: the window of decisions 2 */
};

/* The allowed-fails counters of a deployment: one for the router's limits, one for the deployment's own
 * `allowed_fails`, one for each class of error under its own policy (router-semantics 16.1). */
enum {
    WEIR_LIVE_COUNTER_ROUTER,
    WEIR_LIVE_COUNTER_DEPLOYMENT,
    WEIR_LIVE_COUNTER_CLASS, /* plus the first kind of that class */
    WEIR_LIVE_COUNTERS = WEIR_LIVE_COUNTER_CLASS + WEIR_KIND_COUNT
};

struct weir_live_samples {
    _Atomic uint64_t span; /* number of the next sample, and of the first that counts */
    _Atomic uint32_t ring[WEIR_LATENCY_SAMPLES_MAX]; /* bits of floats */
};

struct weir_live_record {
    _Atomic uint64_t cause;        /* of the cooldown: its rule, kind and status of the failure that set it */
    _Atomic uint64_t length;       /* of the cooldown, in ns */
    struct weir_live_name by_hand; /* who set it last; written behind the router's lock */
    _Atomic uint64_t last_failure; /* its kind and status, and when it was */
    _Atomic uint32_t cooldowns;    /* in a row, without a success between */
    _Atomic uint64_t buckets[WEIR_LIVE_BUCKETS];   /* number of the ten seconds, successes, failures */
    _Atomic uint64_t counters[WEIR_LIVE_COUNTERS]; /* end of the counter's life in ms, count */
    struct weir_live_samples samples[WEIR_PACES];
};

struct weir_live_block {
    _Atomic uint64_t until_ns[WEIR_LIVE_BLOCK_SLOTS]; /* cooldown deadlines */
    /* At most the least deadline of a run; its last bits count how often one of the run was lifted. */
    _Atomic uint64_t run_until_ns[WEIR_LIVE_BLOCK_SLOTS / WEIR_LIVE_RUN_SLOTS];
    _Atomic uint64_t running[WEIR_LIVE_BLOCK_SLOTS]; /* attempts elsewhere, attempts here */
    /* By kind, and by minutes that are even or odd: number of the minute, count. */
    _Atomic uint64_t usage[WEIR_USAGES][2][WEIR_LIVE_BLOCK_SLOTS];
    _Atomic uint64_t means[WEIR_PACES][WEIR_LIVE_BLOCK_SLOTS]; /* float, time of the newest sample */
    /* At most the time of the oldest of a run's means. */
    _Atomic uint32_t oldest_ticks[WEIR_PACES][WEIR_LIVE_BLOCK_SLOTS / WEIR_LIVE_RUN_SLOTS];
    _Atomic uint64_t health[WEIR_LIVE_BLOCK_SLOTS];            /* see health.h */
    _Atomic uint64_t peaks[WEIR_PACES][WEIR_LIVE_BLOCK_SLOTS]; /* float, time of the last change in ms */
    struct weir_live_record records[WEIR_LIVE_BLOCK_SLOTS];
};

struct weir_shared;

struct weir_live {
    const struct weir_mem *mem;
    struct weir_shared *shared; /* NULL: the router does not share */
    struct weir_live_block *blocks[WEIR_LIVE_BLOCKS];
    uint32_t slots;
    _Atomic uint64_t wall_ahead_ns; /* of the monotonic clock */
};

void weir_live_init(struct weir_live *live, const struct weir_mem *mem);
void weir_live_deinit(struct weir_live *live);

/* A new slot, with nothing remembered.  0, WEIR_ERR_NOMEM or WEIR_ERR_LIMIT. */
WEIR_MUST_USE int weir_live_add(struct weir_live *live, uint32_t *ret_slot);

static inline uint64_t weir_live_until(const struct weir_live *live, uint32_t slot)
{
    const struct weir_live_block *block = live->blocks[slot / WEIR_LIVE_BLOCK_SLOTS];

    return atomic_load_explicit(&block->until_ns[slot % WEIR_LIVE_BLOCK_SLOTS], memory_order_relaxed);
}

/* At its end a cooldown is over. */
static inline bool weir_live_is_cooling(const struct weir_live *live, uint32_t slot, uint64_t now_ns)
{
    return weir_live_until(live, slot) > now_ns;
}

/*
 * Whether all of the WEIR_LIVE_RUN_SLOTS slots from this one on, a multiple of that number, are cooling down.
 * Deadlines fall only when they are lifted, so the least one of a run that was once found holds as a lower
 * bound until then: while a large group is cooling, a scan over it looks at one number for each run.
 */
bool weir_live_run_is_cooling(const struct weir_live *live, uint32_t slot, uint64_t now_ns);

/*
 * Cools the slot until then, unless it cools for longer already (decisions 7).  Returns whether it was set.
 * What prolongs a cooldown is no cooldown of its own in the row of them.  rule: WEIR_COOLDOWN_RULES: another
 * process's affair.
 */
bool weir_live_cool(struct weir_live *live, uint32_t slot, uint64_t until_ns,
                    const struct weir_failure *cause, weir_cooldown_rule rule, uint64_t now_ns);

/* Cools the slot until then, whatever was before: by hand.  It is none in the row of cooldowns. */
void weir_live_cool_by_hand(struct weir_live *live, uint32_t slot, uint64_t until_ns, uint64_t now_ns);

/* Ends the slot's cooldown now, if its deadline is still that one.  Returns whether it did. */
bool weir_live_lift(struct weir_live *live, uint32_t slot, uint64_t until_ns, uint64_t now_ns);

/* The failure that has set the slot's cooldown, without a Retry-After; by which rule; and how long it was
 * given. */
struct weir_failure weir_live_cause(const struct weir_live *live, uint32_t slot);
weir_cooldown_rule weir_live_rule(const struct weir_live *live, uint32_t slot);
uint64_t weir_live_length(const struct weir_live *live, uint32_t slot);

/* Whose hand has set a cooldown of the slot last. */
struct weir_live_name *weir_live_by_hand(const struct weir_live *live, uint32_t slot);

/* Notes the newest failure of an attempt, and tells it. */
void weir_live_note_failure(struct weir_live *live, uint32_t slot, const struct weir_failure *failure,
                            uint64_t now_ns);
struct weir_last_failure weir_live_last_failure(const struct weir_live *live, uint32_t slot);

/* Cooldowns in a row, without a success between; the present one is one of them. */
uint32_t weir_live_cooldowns(const struct weir_live *live, uint32_t slot);

/* Enters the end of an attempt in the window of 60 seconds.  A success ends the row of cooldowns. */
void weir_live_enter(struct weir_live *live, uint32_t slot, bool success, uint64_t now_ns);

struct weir_live_window {
    uint32_t successes;
    uint32_t failures;
};

struct weir_live_window weir_live_window(const struct weir_live *live, uint32_t slot, uint64_t now_ns);

/*
 * Adds one to an allowed-fails counter and returns its count.  The counter lives for life_ns, rounded up to
 * milliseconds, from its first failure; later ones and cooldowns do not prolong it (decisions 5).
 */
uint32_t weir_live_count(struct weir_live *live, uint32_t slot, unsigned counter, uint64_t life_ns,
                         uint64_t now_ns);

/* The word of a counter, the end of its life, and what it counts. */
uint64_t weir_live_counter(const struct weir_live *live, uint32_t slot, unsigned counter);

enum { WEIR_LIVE_COUNT_BITS = 19 };

static inline uint64_t weir_live_counter_end_ms(uint64_t word)
{
    return word >> WEIR_LIVE_COUNT_BITS;
}

static inline uint32_t weir_live_counter_count(uint64_t word)
{
    return (uint32_t)(word & ((UINT64_C(1) << WEIR_LIVE_COUNT_BITS) - 1));
}

/* The cooldown but for who has set it, the window, and the last failure. */
void weir_live_view(const struct weir_live *live, uint32_t slot, uint64_t now_ns,
                    struct weir_live_view *ret_view);

bool weir_live_validate(const struct weir_live *live, uint64_t now_ns);

#endif
