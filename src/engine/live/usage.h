/*
 * What a deployment is used for: attempts that run, and requests and tokens of each minute of the wall clock
 * in UTC (router-semantics 6.2, 6.3, 19).
 *
 * The counts of this minute and of the one before it are kept, so that what an attempt reserved in a minute
 * can still be put right when it ends in the next.  Threads: any, at once; see live.h.
 */
#ifndef WEIR_ENGINE_USAGE_H
#define WEIR_ENGINE_USAGE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include <weir/router.h>

#include "engine/live/live.h"

/* The attempts of this process that run on the slot's deployment. */
static inline uint32_t weir_usage_running(const struct weir_live *live, uint32_t slot)
{
    const struct weir_live_block *block = live->blocks[slot / WEIR_LIVE_BLOCK_SLOTS];

    return (uint32_t)atomic_load_explicit(&block->running[slot % WEIR_LIVE_BLOCK_SLOTS],
                                          memory_order_relaxed);
}

/* The same with those that other processes run on it. */
static inline uint64_t weir_usage_running_all(const struct weir_live *live, uint32_t slot)
{
    const struct weir_live_block *block = live->blocks[slot / WEIR_LIVE_BLOCK_SLOTS];
    uint64_t word = atomic_load_explicit(&block->running[slot % WEIR_LIVE_BLOCK_SLOTS], memory_order_relaxed);

    return (word & UINT32_MAX) + (word >> 32);
}

/* Sets how many run elsewhere.  One thread at a time. */
void weir_usage_set_elsewhere(struct weir_live *live, uint32_t slot, uint32_t count);

/* One more attempt runs, unless so many do already (WEIR_UNSET: any number may).  Returns whether it does. */
bool weir_usage_begin(struct weir_live *live, uint32_t slot, uint32_t max);

/* One that was begun has ended. */
void weir_usage_end(struct weir_live *live, uint32_t slot);

/* The number of the minute that is; see weir_router_set_wall. */
uint64_t weir_usage_minute(const struct weir_live *live, uint64_t now_ns);

/* A word of a minute's count: the minute's number, and the count, which stops at its maximum. */
enum { WEIR_USAGE_COUNT_BITS = 40 };
#define WEIR_USAGE_COUNT_MAX ((UINT64_C(1) << WEIR_USAGE_COUNT_BITS) - 1)

/* The count in the minute; 0 of one that is longer ago than the last. */
static inline uint64_t weir_usage_of(const struct weir_live *live, uint32_t slot, weir_usage_kind usage,
                                     uint64_t minute)
{
    const struct weir_live_block *block = live->blocks[slot / WEIR_LIVE_BLOCK_SLOTS];
    uint64_t word = atomic_load_explicit(&block->usage[usage][minute % 2][slot % WEIR_LIVE_BLOCK_SLOTS],
                                         memory_order_relaxed);

    return word >> WEIR_USAGE_COUNT_BITS == (minute & (UINT64_MAX >> WEIR_USAGE_COUNT_BITS))
               ? word & WEIR_USAGE_COUNT_MAX
               : 0;
}

/* Adds to the count of the minute.  What comes for a minute that was followed by the next but one is dropped.
 */
void weir_usage_add(struct weir_live *live, uint32_t slot, weir_usage_kind usage, uint64_t minute,
                    uint64_t amount);

/*
 * The same unless the count would be more than the limit then, however many threads add at once.  Returns
 * false when it would; *ret_used is what was counted before.
 */
bool weir_usage_add_within(struct weir_live *live, uint32_t slot, weir_usage_kind usage, uint64_t minute,
                           uint64_t amount, uint64_t limit, uint64_t *ret_used);

/* Takes what was added back out of the minute, as long as that is kept. */
void weir_usage_take_back(struct weir_live *live, uint32_t slot, weir_usage_kind usage, uint64_t minute,
                          uint64_t amount);

/* Whether counts of the minute are still kept: no later one has taken their place. */
bool weir_usage_keeps(const struct weir_live *live, uint32_t slot, weir_usage_kind usage, uint64_t minute);

/* Moves the count of the minute by what is counted elsewhere.  Returns whether the minute is still kept. */
bool weir_usage_shift(struct weir_live *live, uint32_t slot, weir_usage_kind usage, uint64_t minute,
                      int64_t amount);

/* The word of this minute or the one before that lies in one of the two places, and what it counts; 0: none.
 * *ret_minute is its minute, counted as that of the present is. */
bool weir_usage_word(const struct weir_live *live, uint32_t slot, weir_usage_kind usage, unsigned place,
                     uint64_t present, uint64_t *ret_minute, uint64_t *ret_count);

/* All counts of the minute. */
struct weir_minute_usage weir_usage_view(const struct weir_live *live, uint32_t slot, uint64_t minute);

#endif
