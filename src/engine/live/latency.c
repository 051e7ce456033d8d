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
#include "engine/live/shared.h"

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

static uint32_t next_of(uint64_t span)
{
    return (uint32_t)(span >> 32);
}

static uint64_t make_span(uint32_t next, uint32_t first)
{
    return (uint64_t)next << 32 | first;
}

/* The mean of the newest samples of the span, up to max; one without any has turned over. */
static double mean_of(const struct weir_live_samples *samples, uint64_t span, uint32_t max)
{
    uint32_t next = next_of(span), count = next - (uint32_t)span, used = count - 1 < max ? count : max;
    double sum = 0;

    for (uint32_t i = 1; i <= used; i++)
        sum += value_of(atomic_load_explicit(&samples->ring[(next - i) % WEIR_LATENCY_SAMPLES_MAX],
                                             memory_order_relaxed));
    return sum / used;
}

static struct weir_live_samples *samples_of(const struct weir_live *live, uint32_t slot, weir_pace pace)
{
    return &live->blocks[slot / WEIR_LIVE_BLOCK_SLOTS]->records[slot % WEIR_LIVE_BLOCK_SLOTS].samples[pace];
}

static _Atomic uint64_t *mean_place(const struct weir_live *live, uint32_t slot, weir_pace pace)
{
    return &live->blocks[slot / WEIR_LIVE_BLOCK_SLOTS]->means[pace][slot % WEIR_LIVE_BLOCK_SLOTS];
}

/* Works out the mean and leaves it, as one of now. */
static void write_mean(struct weir_live *live, uint32_t slot, weir_pace pace, uint64_t span, uint32_t max,
                       uint32_t now_tick)
{
    double mean = mean_of(samples_of(live, slot, pace), span, max);

    atomic_store_explicit(mean_place(live, slot, pace), (uint64_t)bits_of(mean) << 32 | now_tick,
                          memory_order_relaxed);
}

void weir_latency_sample(struct weir_live *live, uint32_t slot, weir_pace pace, double sample,
                         const struct weir_strategy_spec *strategy, uint64_t now_ns)
{
    struct weir_live_samples *samples = samples_of(live, slot, pace);
    uint64_t old = atomic_load_explicit(&samples->span, memory_order_relaxed), span;
    uint32_t now_tick = weir_latency_tick(now_ns),
             last_tick = (uint32_t)atomic_load_explicit(mean_place(live, slot, pace), memory_order_relaxed);
    bool is_old = (int32_t)(now_tick - last_tick) > weir_latency_ticks(strategy->ttl_ns);

    do {
        span = make_span(next_of(old) + 1, is_old ? next_of(old) : (uint32_t)old);
    } while (!atomic_compare_exchange_weak_explicit(&samples->span, &old, span, memory_order_relaxed,
                                                    memory_order_relaxed));
    atomic_store_explicit(&samples->ring[next_of(old) % WEIR_LATENCY_SAMPLES_MAX], bits_of(sample),
                          memory_order_relaxed);
    write_mean(live, slot, pace, span, strategy->max_latency_samples, now_tick);
    weir_shared_mark(live, slot, WEIR_SHARED_BIT(LATENCY));
}

uint32_t weir_latency_read(const struct weir_live *live, uint32_t slot, weir_pace pace, uint32_t *known,
                           float samples[WEIR_LATENCY_SAMPLES_MAX])
{
    const struct weir_live_samples *from = samples_of(live, slot, pace);
    uint64_t span = atomic_load_explicit(&from->span, memory_order_relaxed);
    uint32_t next = next_of(span), count = next - *known;

    if (count > next - (uint32_t)span)
        count = next - (uint32_t)span;
    if (count > WEIR_LATENCY_SAMPLES_MAX)
        count = WEIR_LATENCY_SAMPLES_MAX;
    for (uint32_t i = 0; i < count; i++)
        samples[i] = (float)value_of(atomic_load_explicit(
            &from->ring[(next - count + i) % WEIR_LATENCY_SAMPLES_MAX], memory_order_relaxed));
    *known = next;
    return count;
}

void weir_latency_learn(struct weir_live *live, uint32_t slot, weir_pace pace,
                        const struct weir_latency_lesson *lesson, uint32_t known, uint64_t now_ns)
{
    struct weir_live_samples *to = samples_of(live, slot, pace);
    uint64_t old = atomic_load_explicit(&to->span, memory_order_relaxed), span;
    uint32_t own = next_of(old) - known, count = (uint32_t)lesson->count;

    if (own >= WEIR_LATENCY_SAMPLES_MAX || lesson->count == 0)
        return;
    if (lesson->count > WEIR_LATENCY_SAMPLES_MAX - own)
        count = WEIR_LATENCY_SAMPLES_MAX - own;
    for (uint32_t i = 1; i <= count; i++)
        atomic_store_explicit(&to->ring[(known - i) % WEIR_LATENCY_SAMPLES_MAX],
                              bits_of((double)lesson->samples[lesson->count - i]), memory_order_relaxed);
    do {
        span = make_span(next_of(old), known - count);
    } while (!atomic_compare_exchange_weak_explicit(&to->span, &old, span, memory_order_relaxed,
                                                    memory_order_relaxed));
    write_mean(live, slot, pace, span, lesson->strategy->max_latency_samples, weir_latency_tick(now_ns));
}

bool weir_latency_run_counts(const struct weir_live *live, uint32_t slot, weir_pace pace, int32_t ttl_ticks,
                             uint32_t now_tick)
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

double weir_latency_mean(const struct weir_live *live, uint32_t slot, weir_pace pace, uint64_t ttl_ns,
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

void weir_latency_note_peak(struct weir_live *live, uint32_t slot, weir_pace pace, double seconds,
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

double weir_latency_peak(const struct weir_live *live, uint32_t slot, weir_pace pace, uint64_t decay_ns,
                         uint64_t now_ns)
{
    const struct weir_live_block *block = live->blocks[slot / WEIR_LIVE_BLOCK_SLOTS];

    return decayed(
        atomic_load_explicit(&block->peaks[pace][slot % WEIR_LIVE_BLOCK_SLOTS], memory_order_relaxed),
        decay_ns, now_ns);
}
