/*
 * Samples lie in a ring.  Whoever enters one works out the mean of the newest and leaves it, with the time,
 * in a word beside those of the other slots: a pick reads one number for each candidate.
 *
 * The peak is an exponentially weighted moving average that rises at once and falls slowly (Finagle's peak
 * EWMA): an answer slower than it replaces it, and between answers it decays towards nothing, so a deployment
 * that was slow is tried again when it has not been asked for some time.
 */
#include "engine/live/latency.h"

#include <math.h>
#include <string.h>

#include "base/time.h"

static uint32_t bits_of(double value)
{
    float number = (float)value;
    uint32_t bits;

    memcpy(&bits, &number, sizeof(bits));
    return bits;
}

static double value_of(uint32_t bits)
{
    float number;

    memcpy(&number, &bits, sizeof(number));
    return (double)number;
}

/* The mean of the newest samples, of which there are count, up to max; a count of 0 has turned over. */
static double mean_of(const struct weir_live_samples *samples, uint32_t count, uint32_t max)
{
    uint32_t used = count - 1 < max ? count : max;
    double sum = 0;

    for (uint32_t i = 1; i <= used; i++)
        sum += value_of(atomic_load_explicit(&samples->ring[(count - i) % WEIR_LATENCY_SAMPLES_MAX],
                                             memory_order_relaxed));
    return sum / used;
}

void weir_latency_sample(struct weir_live *live, uint32_t slot, enum weir_pace pace, double sample,
                         const struct weir_strategy_spec *strategy, uint64_t now_ns)
{
    struct weir_live_block *block = live->blocks[slot / WEIR_LIVE_BLOCK_SLOTS];
    struct weir_live_samples *samples = &block->records[slot % WEIR_LIVE_BLOCK_SLOTS].samples[pace];
    _Atomic uint64_t *mean = &block->means[pace][slot % WEIR_LIVE_BLOCK_SLOTS];
    uint32_t now_tick = weir_latency_tick(now_ns), at,
             last_tick = (uint32_t)atomic_load_explicit(mean, memory_order_relaxed);

    if ((int32_t)(now_tick - last_tick) > weir_latency_ticks(strategy->ttl_ns))
        atomic_store_explicit(&samples->count, 0, memory_order_relaxed);
    at = atomic_fetch_add_explicit(&samples->count, 1, memory_order_relaxed);
    atomic_store_explicit(&samples->ring[at % WEIR_LATENCY_SAMPLES_MAX], bits_of(sample),
                          memory_order_relaxed);
    atomic_store_explicit(
        mean, (uint64_t)bits_of(mean_of(samples, at + 1, strategy->max_latency_samples)) << 32 | now_tick,
        memory_order_relaxed);
}

bool weir_latency_run_counts(const struct weir_live *live, uint32_t slot, enum weir_pace pace,
                             int32_t ttl_ticks, uint32_t now_tick)
{
    struct weir_live_block *block = live->blocks[slot / WEIR_LIVE_BLOCK_SLOTS];
    uint32_t first = slot % WEIR_LIVE_BLOCK_SLOTS, age, oldest = 0;
    _Atomic uint32_t *bound = &block->oldest_ticks[pace][first / WEIR_LIVE_RUN_SLOTS];
    uint64_t mean;

    if ((int32_t)(now_tick - atomic_load_explicit(bound, memory_order_relaxed)) <= ttl_ticks)
        return true;
    for (uint32_t i = first; i < first + WEIR_LIVE_RUN_SLOTS; i++) {
        mean = atomic_load_explicit(&block->means[pace][i], memory_order_relaxed);
        age = now_tick - (uint32_t)mean;
        oldest = mean != 0 && (int32_t)age > (int32_t)oldest ? age : oldest;
    }
    atomic_store_explicit(bound, now_tick - oldest, memory_order_relaxed);
    return (int32_t)oldest <= ttl_ticks;
}

double weir_latency_mean(const struct weir_live *live, uint32_t slot, enum weir_pace pace, uint64_t ttl_ns,
                         uint64_t now_ns)
{
    return value_of(
        weir_latency_key(live, slot, pace, weir_latency_ticks(ttl_ns), weir_latency_tick(now_ns)));
}

/* What is left of the peak in the word.  Another thread's clock may be a little ahead: no time has passed. */
static double decayed(uint64_t word, uint64_t decay_ns, uint64_t now_ns)
{
    int32_t age_ms = (int32_t)((uint32_t)(now_ns / WEIR_NS_PER_MS) - (uint32_t)word);
    double peak = value_of((uint32_t)(word >> 32));

    return age_ms <= 0 ? peak : peak * exp(-(double)age_ms * (double)WEIR_NS_PER_MS / (double)decay_ns);
}

void weir_latency_note_peak(struct weir_live *live, uint32_t slot, enum weir_pace pace, double seconds,
                            uint64_t decay_ns, uint64_t now_ns)
{
    struct weir_live_block *block = live->blocks[slot / WEIR_LIVE_BLOCK_SLOTS];
    _Atomic uint64_t *at = &block->peaks[pace][slot % WEIR_LIVE_BLOCK_SLOTS];
    uint64_t old = atomic_load_explicit(at, memory_order_relaxed), next;
    double before, left;

    do {
        before = value_of((uint32_t)(old >> 32));
        left = decayed(old, decay_ns, now_ns);
        /* before * w + seconds * (1 - w), with w = left / before */
        if (seconds < before)
            left += seconds * (1 - left / before);
        else
            left = seconds;
        next = (uint64_t)bits_of(left) << 32 | (uint32_t)(now_ns / WEIR_NS_PER_MS);
    } while (
        !atomic_compare_exchange_weak_explicit(at, &old, next, memory_order_relaxed, memory_order_relaxed));
}

double weir_latency_peak(const struct weir_live *live, uint32_t slot, enum weir_pace pace, uint64_t decay_ns,
                         uint64_t now_ns)
{
    const struct weir_live_block *block = live->blocks[slot / WEIR_LIVE_BLOCK_SLOTS];

    return decayed(
        atomic_load_explicit(&block->peaks[pace][slot % WEIR_LIVE_BLOCK_SLOTS], memory_order_relaxed),
        decay_ns, now_ns);
}
