/*
 * How long the retry loop waits (router-semantics 9).
 */
#include "engine_kit.h"

#include <stdio.h>

#include "base/time.h"

/* clang-format off */
#define TESTS(X) \
    X("RS 9", rs_9_with_siblings_and_one_healthy_the_wait_is_zero) \
    X("RS 9", rs_9_with_siblings_retry_after_is_ignored) \
    X("RS 9", rs_9_retry_after_is_waited_for_on_a_lone_deployment) \
    X("RS 9", rs_9_a_retry_after_of_60_seconds_is_taken_and_one_above_is_not) \
    X("RS 9", rs_9_a_fraction_of_a_second_is_a_retry_after) \
    X("RS 9", rs_9_a_retry_after_of_zero_is_none) \
    X("RS 9", rs_9_the_backoff_doubles_from_half_a_second_up_to_eight) \
    X("RS 9", rs_9_retry_after_is_the_least_exponential_wait) \
    X("RS 9", rs_9_retry_after_may_exceed_the_longest_wait) \
    X("RS 9", rs_9_the_constants_are_settings) \
    X("RS 9", rs_9_a_retry_after_wait_takes_its_place_in_the_row) \
    X("RS 9", rs_9_the_backoff_starts_anew_in_each_group) \
    X("RS 9", rs_9_the_jitter_is_uniform_below_its_bound) \
    X("RS 9", rs_9_each_wait_draws_its_own_jitter) \
    X("RS 9", rs_9_a_jitter_of_zero_is_none) \
    X("decisions 10", decision_10_jitter_is_added_to_retry_after_too) \
    X("decisions 10", decision_10_the_routers_retry_after_is_no_floor_of_a_providers) \
    X("RS 9", rs_9_the_retry_comes_exactly_at_the_expiry) \
    X("reliability, Retries", reliability_up_to_one_minute_never_less_than_retry_after_plus_jitter)
/* clang-format on */

TESTS(KIT_TEST_DECLARE)

static void rs_9_with_siblings_and_one_healthy_the_wait_is_zero(void **state)
{
    (void)state;
    KIT(kit, "d1 g w=1 : 500; d2 g w=0; router retry_after=5\n");
    expect_waits(expect_call(kit, "g", "d1:500 d2:ok"), 0, 0, 0);
}

static void rs_9_with_siblings_retry_after_is_ignored(void **state)
{
    (void)state;
    KIT(kit, "d1 g w=1 : 429/30; d2 g w=0\n");
    expect_waits(expect_call(kit, "g", "d1:429 d2:ok"), 0, 0, 0);
}

static void rs_9_retry_after_is_waited_for_on_a_lone_deployment(void **state)
{
    (void)state;
    KIT(kit, "d1 g : 503/7 ok; router jitter=0\n");
    expect_waits(expect_call(kit, "g", "d1:503 d1:ok"), 1, 7, 7);
}

static void rs_9_a_retry_after_of_60_seconds_is_taken_and_one_above_is_not(void **state)
{
    (void)state;
    KIT(kit, "d1 g : 503/60 ok 503/60.000000001 ok 503/61 ok; router jitter=0\n");
    expect_waits(expect_call(kit, "g", "d1:503 d1:ok"), 1, 60, 60);
    expect_waits(expect_call(kit, "g", "d1:503 d1:ok"), 1, 0.5, 0.5);
    expect_waits(expect_call(kit, "g", "d1:503 d1:ok"), 1, 0.5, 0.5);
}

static void rs_9_a_fraction_of_a_second_is_a_retry_after(void **state)
{
    (void)state;
    KIT(kit, "d1 g : 503/0.001 ok; router jitter=0\n");
    expect_waits(expect_call(kit, "g", "d1:503 d1:ok"), 1, 0.001, 0.001);
}

static void rs_9_a_retry_after_of_zero_is_none(void **state)
{
    (void)state;
    KIT(kit, "d1 g : 503/0 ok; router jitter=0\n");
    expect_waits(expect_call(kit, "g", "d1:503 d1:ok"), 1, 0.5, 0.5);
}

static void expect_wait_row(struct kit *kit, const char *request, const double *waits, size_t count)
{
    const struct kit_call *call = kit_call(kit, request);

    assert_int_equal(call->wait_count, count);
    for (size_t i = 0; i < count; i++)
        assert_int_equal(call->waits[i], weir_time_from_s(waits[i]));
}

static void rs_9_the_backoff_doubles_from_half_a_second_up_to_eight(void **state)
{
    static const double waits[] = {0.5, 1, 2, 4, 8, 8, 8};
    (void)state;
    KIT(kit, "d1 g : 500; router jitter=0\n");
    expect_wait_row(kit, "g retries=7", waits, 7);
}

static void rs_9_retry_after_is_the_least_exponential_wait(void **state)
{
    static const double waits[] = {3, 3, 3, 4, 8, 8};
    (void)state;
    KIT(kit, "d1 g : 500; router jitter=0 retry_after=3\n");
    expect_wait_row(kit, "g retries=6", waits, 6);
}

static void rs_9_retry_after_may_exceed_the_longest_wait(void **state)
{
    static const double waits[] = {20, 20, 20, 20, 20};
    (void)state;
    KIT(kit, "d1 g : 500; router jitter=0 retry_after=20\n");
    expect_wait_row(kit, "g retries=5", waits, 5);
}

static void rs_9_the_constants_are_settings(void **state)
{
    static const double waits[] = {0.25, 0.5, 1, 1.5, 1.5};
    (void)state;
    KIT(kit, "d1 g : 500; router jitter=0 initial=0.25 max_delay=1.5\n");
    expect_wait_row(kit, "g retries=5", waits, 5);
}

static void rs_9_a_retry_after_wait_takes_its_place_in_the_row(void **state)
{
    static const double waits[] = {0.5, 6, 2};
    (void)state;
    KIT(kit, "d1 g : 500 503/6 500 500; router jitter=0\n");
    expect_wait_row(kit, "g retries=3", waits, 3);
}

static void rs_9_the_backoff_starts_anew_in_each_group(void **state)
{
    static const double waits[] = {0.5, 1, 0.5, 1};
    (void)state;
    KIT(kit, "a A : 500; b B : 500; router jitter=0; fallbacks A: B\n");
    expect_wait_row(kit, "A", waits, 4);
}

static void rs_9_the_jitter_is_uniform_below_its_bound(void **state)
{
    double least = 1;
    double most = 0;
    double sum = 0;
    (void)state;

    for (uint64_t seed = 1; seed <= 1000; seed++) {
        WEIR_CLEANUP(kit_close) struct kit *kit = kit_new(seed, "d1 g : 500 ok\n");
        const struct kit_call *call = expect_call(kit, "g", "d1:500 d1:ok");
        double jitter = weir_time_to_s(call->waits[0]) - 0.5;

        assert_true(jitter >= -1e-9 && jitter < 0.75);
        least = jitter < least ? jitter : least;
        most = jitter > most ? jitter : most;
        sum += jitter;
    }
    assert_true(least < 0.01);
    assert_true(most > 0.74);
    assert_true(sum / 1000 > 0.35 && sum / 1000 < 0.40);
}

static void rs_9_each_wait_draws_its_own_jitter(void **state)
{
    (void)state;
    KIT(kit, "d1 g : 500; router retries=3 initial=1 max_delay=1\n");
    const struct kit_call *call = kit_call(kit, "g");

    assert_int_equal(call->wait_count, 3);
    assert_true(call->waits[0] != call->waits[1] && call->waits[1] != call->waits[2]);
}

static void rs_9_a_jitter_of_zero_is_none(void **state)
{
    (void)state;
    KIT(kit, "d1 g : 500; router retries=1 jitter=0\n");
    expect_waits(kit_call(kit, "g"), 1, 0.5, 0.5);
}

static void decision_10_jitter_is_added_to_retry_after_too(void **state)
{
    double most = 0;
    (void)state;

    for (uint64_t seed = 1; seed <= 200; seed++) {
        WEIR_CLEANUP(kit_close) struct kit *kit = kit_new(seed, "d1 g : 503/60 ok\n");
        const struct kit_call *call = expect_call(kit, "g", "d1:503 d1:ok");
        double wait = weir_time_to_s(call->waits[0]);

        assert_true(wait >= 60 && wait < 60.75);
        most = wait > most ? wait : most;
    }
    assert_true(most > 60.7);
}

static void decision_10_the_routers_retry_after_is_no_floor_of_a_providers(void **state)
{
    (void)state;
    KIT(kit, "d1 g : 503/2 ok; router jitter=0 retry_after=10\n");
    expect_waits(expect_call(kit, "g", "d1:503 d1:ok"), 1, 2, 2);
}

static void rs_9_the_retry_comes_exactly_at_the_expiry(void **state)
{
    (void)state;
    KIT(kit, "d1 g : 500 ok; router jitter=0\n");
    struct kit_call *call = kit_begin(kit, "g");

    kit_run_until(call, KIT_EPOCH_NS);
    assert_int_equal(weir_call_expiry(call->call), KIT_EPOCH_NS + weir_time_from_s(0.5));
    kit_run_until(call, KIT_EPOCH_NS + weir_time_from_s(0.5) - 1);
    assert_string_equal(call->story, "d1:500");
    kit_run_until(call, KIT_EPOCH_NS + weir_time_from_s(0.5));
    assert_string_equal(call->story, "d1:500 d1:ok");
}

static void reliability_up_to_one_minute_never_less_than_retry_after_plus_jitter(void **state)
{
    (void)state;
    KIT(kit, "d1 g : 500; router retries=9 retry_after=2\n");
    expect_waits(kit_call(kit, "g"), 9, 2, 8.75);
}

KIT_TESTS_MAIN(TESTS)
