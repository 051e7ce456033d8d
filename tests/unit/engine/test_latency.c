/*
 * Latency samples, their mean, and the peak (latency.h), in virtual time.
 */
#include <math.h>

#include <weir/mem_libc.h>

#include "base/time.h"
#include "engine/live/latency.h"

#include "unit.h"

#define NOW_NS (1000 * WEIR_NS_PER_S)

enum { SLOTS = 130 };

struct fixture {
    struct weir_live live;
    struct weir_strategy_spec strategy;
};

static void open_fixture(struct fixture *f)
{
    uint32_t slot;

    weir_live_init(&f->live, weir_mem_libc());
    for (uint32_t i = 0; i < SLOTS; i++)
        assert_int_equal(weir_live_add(&f->live, &slot), 0);
    weir_strategy_spec_init(&f->strategy, WEIR_STRATEGY_LATENCY);
}

static void sample(struct fixture *f, uint32_t slot, double sample, uint64_t now_ns)
{
    weir_latency_sample(&f->live, slot, WEIR_PACE_WHOLE, sample, &f->strategy, now_ns);
}

static void expect_mean(const struct fixture *f, uint32_t slot, uint64_t now_ns, double expected)
{
    double mean = weir_latency_mean(&f->live, slot, WEIR_PACE_WHOLE, f->strategy.ttl_ns, now_ns);

    assert_true(fabs(mean - expected) < 1e-5 * (1 + expected));
}

static void the_mean_is_that_of_the_newest_samples(void **state)
{
    struct fixture f;
    (void)state;

    open_fixture(&f);
    f.strategy.max_latency_samples = 3;
    expect_mean(&f, 1, NOW_NS, 0);
    sample(&f, 1, 9, NOW_NS);
    expect_mean(&f, 1, NOW_NS, 9);
    sample(&f, 1, 1, NOW_NS);
    sample(&f, 1, 2, NOW_NS);
    expect_mean(&f, 1, NOW_NS, 4);
    sample(&f, 1, 3, NOW_NS);
    expect_mean(&f, 1, NOW_NS, 2);
    expect_mean(&f, 0, NOW_NS, 0);
    weir_live_deinit(&f.live);
}

static void the_ring_turns_over_at_its_greatest_length(void **state)
{
    struct fixture f;
    (void)state;

    open_fixture(&f);
    f.strategy.max_latency_samples = WEIR_LATENCY_SAMPLES_MAX;
    for (int i = 0; i < 100; i++)
        sample(&f, 1, i, NOW_NS);
    /* 68 to 99 */
    expect_mean(&f, 1, NOW_NS, 83.5);
    weir_live_deinit(&f.live);
}

static void a_count_of_samples_that_turns_over_keeps_the_mean(void **state)
{
    struct fixture f;
    (void)state;

    open_fixture(&f);
    sample(&f, 1, 5, NOW_NS);
    atomic_store(&f.live.blocks[0]->records[1].samples[WEIR_PACE_WHOLE].span, (uint64_t)UINT32_MAX << 32);
    for (int i = 0; i < WEIR_LATENCY_SAMPLES_MAX; i++)
        atomic_store(&f.live.blocks[0]->records[1].samples[WEIR_PACE_WHOLE].ring[i], 0);
    sample(&f, 1, 20, NOW_NS);
    expect_mean(&f, 1, NOW_NS, 20.0 / f.strategy.max_latency_samples);
    weir_live_deinit(&f.live);
}

static void samples_of_zero_are_samples(void **state)
{
    struct fixture f;
    (void)state;

    open_fixture(&f);
    sample(&f, 1, 0, NOW_NS);
    sample(&f, 1, 5, NOW_NS);
    expect_mean(&f, 1, NOW_NS, 2.5);
    weir_live_deinit(&f.live);
}

static void whole_answers_and_first_content_are_kept_apart(void **state)
{
    struct fixture f;
    (void)state;

    open_fixture(&f);
    weir_latency_sample(&f.live, 1, WEIR_PACE_FIRST, 5, &f.strategy, NOW_NS);
    expect_mean(&f, 1, NOW_NS, 0);
    assert_true(weir_latency_mean(&f.live, 1, WEIR_PACE_FIRST, f.strategy.ttl_ns, NOW_NS) == 5);
    weir_live_deinit(&f.live);
}

static void samples_count_for_their_time_after_the_newest(void **state)
{
    struct fixture f;
    uint64_t ttl_ns = 10 * WEIR_NS_PER_S;
    (void)state;

    open_fixture(&f);
    f.strategy.ttl_ns = ttl_ns;
    sample(&f, 1, 4, NOW_NS);
    expect_mean(&f, 1, NOW_NS + ttl_ns, 4);
    expect_mean(&f, 1, NOW_NS + ttl_ns + 10 * WEIR_NS_PER_MS, 0);
    sample(&f, 1, 2, NOW_NS + ttl_ns);
    expect_mean(&f, 1, NOW_NS + 2 * ttl_ns, 3);
    /* what is too old does not come back with a new one */
    sample(&f, 1, 8, NOW_NS + 3 * ttl_ns);
    expect_mean(&f, 1, NOW_NS + 3 * ttl_ns, 8);
    weir_live_deinit(&f.live);
}

static void a_clock_that_lags_behind_another_threads_loses_nothing(void **state)
{
    struct fixture f;
    (void)state;

    open_fixture(&f);
    sample(&f, 1, 4, NOW_NS + 50 * WEIR_NS_PER_MS);
    expect_mean(&f, 1, NOW_NS, 4);
    weir_latency_note_peak(&f.live, 1, WEIR_PACE_WHOLE, 4, f.strategy.decay_ns, NOW_NS + 50 * WEIR_NS_PER_MS);
    assert_true(weir_latency_peak(&f.live, 1, WEIR_PACE_WHOLE, f.strategy.decay_ns, NOW_NS) == 4);
    weir_live_deinit(&f.live);
}

static bool run_counts(const struct fixture *f, uint32_t slot, uint64_t now_ns)
{
    return weir_latency_run_counts(&f->live, slot, WEIR_PACE_WHOLE, weir_latency_ticks(f->strategy.ttl_ns),
                                   weir_latency_tick(now_ns));
}

static void a_run_counts_while_its_oldest_mean_does(void **state)
{
    struct fixture f;
    uint64_t ttl_ns = 10 * WEIR_NS_PER_S;
    (void)state;

    open_fixture(&f);
    f.strategy.ttl_ns = ttl_ns;
    assert_true(run_counts(&f, 64, NOW_NS)); /* nobody has any */
    sample(&f, 64, 1, NOW_NS);
    sample(&f, 127, 1, NOW_NS + WEIR_NS_PER_S);
    assert_true(run_counts(&f, 64, NOW_NS + ttl_ns));
    assert_false(run_counts(&f, 64, NOW_NS + ttl_ns + WEIR_NS_PER_S / 2));
    sample(&f, 64, 1, NOW_NS + ttl_ns);
    assert_true(run_counts(&f, 64, NOW_NS + ttl_ns + WEIR_NS_PER_S / 2));
    assert_false(run_counts(&f, 64, NOW_NS + ttl_ns + 2 * WEIR_NS_PER_S));
    weir_live_deinit(&f.live);
}

static void a_peak_rises_at_once_and_falls_slowly(void **state)
{
    struct fixture f;
    uint64_t decay_ns = 10 * WEIR_NS_PER_S;
    double left = 8 * exp(-0.5);
    (void)state;

    open_fixture(&f);
    assert_true(weir_latency_peak(&f.live, 1, WEIR_PACE_WHOLE, decay_ns, NOW_NS) == 0);
    weir_latency_note_peak(&f.live, 1, WEIR_PACE_WHOLE, 2, decay_ns, NOW_NS);
    weir_latency_note_peak(&f.live, 1, WEIR_PACE_WHOLE, 8, decay_ns, NOW_NS);
    assert_true(weir_latency_peak(&f.live, 1, WEIR_PACE_WHOLE, decay_ns, NOW_NS) == 8);
    /* at the same moment a faster one says nothing */
    weir_latency_note_peak(&f.live, 1, WEIR_PACE_WHOLE, 1, decay_ns, NOW_NS);
    assert_true(weir_latency_peak(&f.live, 1, WEIR_PACE_WHOLE, decay_ns, NOW_NS) == 8);
    assert_true(fabs(weir_latency_peak(&f.live, 1, WEIR_PACE_WHOLE, decay_ns, NOW_NS + 5 * WEIR_NS_PER_S) -
                     left) < 1e-5);
    weir_latency_note_peak(&f.live, 1, WEIR_PACE_WHOLE, 1, decay_ns, NOW_NS + 5 * WEIR_NS_PER_S);
    assert_true(fabs(weir_latency_peak(&f.live, 1, WEIR_PACE_WHOLE, decay_ns, NOW_NS + 5 * WEIR_NS_PER_S) -
                     (left + 1 - exp(-0.5))) < 1e-5);
    weir_live_deinit(&f.live);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_mean_is_that_of_the_newest_samples),
        cmocka_unit_test(the_ring_turns_over_at_its_greatest_length),
        cmocka_unit_test(a_count_of_samples_that_turns_over_keeps_the_mean),
        cmocka_unit_test(samples_of_zero_are_samples),
        cmocka_unit_test(whole_answers_and_first_content_are_kept_apart),
        cmocka_unit_test(samples_count_for_their_time_after_the_newest),
        cmocka_unit_test(a_clock_that_lags_behind_another_threads_loses_nothing),
        cmocka_unit_test(a_run_counts_while_its_oldest_mean_does),
        cmocka_unit_test(a_peak_rises_at_once_and_falls_slowly),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
