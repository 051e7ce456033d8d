/*
 * How fast a deployment answers: the newest samples with their mean (router-semantics 6.5), and the peak
 * that p2c-ewma weighs.
 *
 * Either is kept twice: of whole answers and of the time to the first content of streams.  Threads: any, at
 * once; two that sample one deployment at the same moment may each leave out the other's sample of the mean
 * until the next one.
 */
#ifndef WEIR_ENGINE_LATENCY_H
#define WEIR_ENGINE_LATENCY_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include <weir/snapshot.h>

#include "engine/live/live.h"

/* Enters a sample; the strategy says how many count, and for how long after the newest. */
void weir_latency_sample(struct weir_live *live, uint32_t slot, weir_pace pace, double sample,
                         const struct weir_strategy_spec *strategy, uint64_t now_ns);

/*
 * Reads the samples that came after those that are known, the oldest first and the newest ones at most, and
 * notes in *known that they are.  Returns how many.  One that is being entered may be read as an older one.
 */
uint32_t weir_latency_read(const struct weir_live *live, uint32_t slot, weir_pace pace, uint32_t *known,
                           float samples[WEIR_LATENCY_SAMPLES_MAX]);

/* Samples that come from elsewhere, the oldest first, for a strategy. */
struct weir_latency_lesson {
    const float *samples;
    size_t count;
    const struct weir_strategy_spec *strategy;
};

/* They take the place of the samples that are known; those that came after these stay behind them. */
void weir_latency_learn(struct weir_live *live, uint32_t slot, weir_pace pace,
                        const struct weir_latency_lesson *lesson, uint32_t known, uint64_t now_ns);

/*
 * Means are kept with the time of their newest sample in ticks of ten milliseconds.  Ages are taken as
 * signed, since another thread's clock may be a little ahead; so after 248 days of silence a mean may be
 * taken for new once more.
 */
static inline uint32_t weir_latency_tick(uint64_t now_ns)
{
    return (uint32_t)(now_ns / 10000000);
}

/* The oldest age in ticks at which a mean counts. */
static inline int32_t weir_latency_ticks(uint64_t ttl_ns)
{
    return ttl_ns / 10000000 < INT32_MAX ? (int32_t)(ttl_ns / 10000000) : INT32_MAX;
}

/*
 * The mean of the samples that count, as the bits of a float: of two such numbers the greater one is that of
 * the greater mean.  0: there is none, or all are too old.
 */
static inline uint32_t weir_latency_key(const struct weir_live *live, uint32_t slot, weir_pace pace,
                                        int32_t ttl_ticks, uint32_t now_tick)
{
    const struct weir_live_block *block = live->blocks[slot / WEIR_LIVE_BLOCK_SLOTS];
    uint64_t mean =
        atomic_load_explicit(&block->means[pace][slot % WEIR_LIVE_BLOCK_SLOTS], memory_order_relaxed);

    return (int32_t)(now_tick - (uint32_t)mean) <= ttl_ticks ? (uint32_t)(mean >> 32) : 0;
}

/* Whether all means of a run count, which begins at the slot: their keys need no look at their ages. */
bool weir_latency_run_counts(const struct weir_live *live, uint32_t slot, weir_pace pace, int32_t ttl_ticks,
                             uint32_t now_tick);

/* The mean itself; 0 where there is none. */
double weir_latency_mean(const struct weir_live *live, uint32_t slot, weir_pace pace, uint64_t ttl_ns,
                         uint64_t now_ns);

/*
 * Enters the seconds of an answer in the peak: a greater one is taken at once, others pull it down as the
 * time since the last one allows.
 */
void weir_latency_note_peak(struct weir_live *live, uint32_t slot, weir_pace pace, double seconds,
                            uint64_t decay_ns, uint64_t now_ns);

/* The peak as it has decayed by now, in seconds; 0: nothing was entered. */
double weir_latency_peak(const struct weir_live *live, uint32_t slot, weir_pace pace, uint64_t decay_ns,
                         uint64_t now_ns);

#endif
