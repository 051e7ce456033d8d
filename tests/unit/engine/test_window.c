/*
 * The error-rate rules over the sliding window of sixty seconds (router-semantics 15.5, decisions 2, 3;
 * reliability.md, Allowed fails).
 */
#include "engine_kit.h"

#include <stdio.h>

#include "base/time.h"

/* clang-format off */
#define TESTS(X) \
    X("RS 15.5c", rs_15_four_failures_do_not_cool_and_the_fifth_does) \
    X("RS 15.5c", rs_15_exactly_half_does_not_cool_and_one_more_does) \
    X("RS 15.5c", rs_15_three_of_five_cool) \
    X("RS 15.5c", rs_15_a_success_never_cools) \
    X("RS 15.5c", rs_15_the_share_and_the_count_are_settings) \
    X("RS 15.5c", rs_15_a_lone_deployment_is_protected_from_the_share) \
    X("RS 15.5b", rs_15_a_thousand_failures_without_a_success_cool_a_lone_deployment) \
    X("RS 15.5b", rs_15_one_success_keeps_a_lone_deployment) \
    X("RS 15.5b", rs_15_the_thousand_is_a_setting) \
    X("RS 15.5b", rs_15_all_failed_is_for_siblings_too) \
    X("decisions 2", decision_2_a_failure_leaves_the_window_after_sixty_seconds) \
    X("decisions 2", decision_2_the_window_slides_in_buckets_of_ten_seconds) \
    X("decisions 2", decision_2_successes_and_failures_share_one_window) \
    X("decisions 2", decision_2_old_failures_cool_nobody) \
    X("decisions 2", decision_2_a_long_silence_empties_the_window) \
    X("decisions 2", decision_2_the_window_survives_the_cooldown) \
    X("decisions 3", decision_3_calls_share_the_window) \
    X("reliability, Allowed fails", reliability_a_router_that_never_mentions_allowed_fails_uses_the_error_rate)
/* clang-format on */

TESTS(KIT_TEST_DECLARE)

static bool cools(const struct kit *kit, const char *id)
{
    return kit_cooling(kit, id) > 0;
}

/* Plays the answers of d1 one call each: S succeeds, F fails with 500. */
static void play(struct kit *kit, const char *answers)
{
    for (; *answers != '\0'; answers++) {
        kit_script(kit, "d1", *answers == 'S' ? "ok" : "500");
        (void)kit_call(kit, "d1 retries=0");
    }
    kit_forget(kit);
}

#define PAIR "d1 g w=1; d2 g w=0; router cooldown=5\n"

static void rs_15_four_failures_do_not_cool_and_the_fifth_does(void **state)
{
    (void)state;
    KIT(kit, PAIR);
    play(kit, "FFFF");
    assert_false(cools(kit, "d1"));
    kit_script(kit, "d1", "500");
    expect_events(kit_call(kit, "g retries=0"), "CooldownSet", "CooldownSet d1 500 failure_share 5");
}

static void rs_15_exactly_half_does_not_cool_and_one_more_does(void **state)
{
    (void)state;
    KIT(kit, PAIR);
    play(kit, "SFSFSFSF");
    assert_false(cools(kit, "d1"));
    play(kit, "F");
    assert_true(cools(kit, "d1"));
    KIT(other, PAIR);
    play(other, "SSSFFF");
    assert_false(cools(other, "d1"));
}

static void rs_15_three_of_five_cool(void **state)
{
    (void)state;
    KIT(kit, PAIR);
    play(kit, "SSFF");
    assert_false(cools(kit, "d1"));
    play(kit, "F");
    assert_true(cools(kit, "d1"));
}

static void rs_15_a_success_never_cools(void **state)
{
    (void)state;
    KIT(kit, PAIR);
    /* three of five failed when the fifth succeeds; only the next failure looks at it */
    play(kit, "FFFSS");
    assert_false(cools(kit, "d1"));
    play(kit, "F");
    assert_true(cools(kit, "d1"));
}

static void rs_15_the_share_and_the_count_are_settings(void **state)
{
    (void)state;
    KIT(kit, "d1 g w=1; d2 g w=0; router threshold=0.75 min_requests=3\n");
    play(kit, "FF");
    assert_false(cools(kit, "d1"));
    play(kit, "F");
    assert_true(cools(kit, "d1"));
    KIT(share, "d1 g w=1; d2 g w=0; router threshold=0.75 min_requests=3\n");
    play(share, "SFFF");
    assert_false(cools(share, "d1"));
    play(share, "F");
    assert_true(cools(share, "d1"));
}

static void rs_15_a_lone_deployment_is_protected_from_the_share(void **state)
{
    (void)state;
    KIT(kit, "d1 g\n");
    play(kit, "FFFFFFFFFFFFFFFFFFFF");
    assert_false(cools(kit, "d1"));
    assert_int_equal(kit_view(kit, "d1").failures, 20);
}

static void fail_often(struct kit *kit, size_t times)
{
    kit_script(kit, "d1", "500");
    for (size_t i = 0; i < times; i++) {
        (void)kit_call(kit, "d1 retries=0");
        if (i % 100 == 0)
            kit_forget(kit);
    }
    kit_forget(kit);
}

static void rs_15_a_thousand_failures_without_a_success_cool_a_lone_deployment(void **state)
{
    (void)state;
    KIT(kit, "d1 g\n");
    fail_often(kit, 999);
    assert_false(cools(kit, "d1"));
    expect_events(kit_call(kit, "g retries=0"), "CooldownSet", "CooldownSet d1 500 all_failed 5");
}

static void rs_15_one_success_keeps_a_lone_deployment(void **state)
{
    (void)state;
    KIT(kit, "d1 g; router single=10\n");
    play(kit, "S");
    fail_often(kit, 50);
    assert_false(cools(kit, "d1"));
}

static void rs_15_the_thousand_is_a_setting(void **state)
{
    (void)state;
    KIT(kit, "d1 g; router single=3\n");
    play(kit, "FF");
    assert_false(cools(kit, "d1"));
    play(kit, "F");
    assert_true(cools(kit, "d1"));
}

static void rs_15_all_failed_is_for_siblings_too(void **state)
{
    (void)state;
    KIT(kit, "d1 g : 500; d2 g; router single=2 min_requests=100\n");
    (void)kit_call(kit, "d1 retries=0");
    expect_events(kit_call(kit, "d1 retries=0"), "CooldownSet", "CooldownSet d1 500 all_failed 5");
}

static void decision_2_a_failure_leaves_the_window_after_sixty_seconds(void **state)
{
    (void)state;
    KIT(kit, "d1 g\n");
    play(kit, "FFS");
    kit->now_ns = KIT_EPOCH_NS + weir_time_from_s(60) - 1;
    assert_int_equal(kit_view(kit, "d1").failures, 2);
    assert_int_equal(kit_view(kit, "d1").successes, 1);
    kit->now_ns += 1;
    assert_int_equal(kit_view(kit, "d1").failures, 0);
    assert_int_equal(kit_view(kit, "d1").successes, 0);
}

static void decision_2_the_window_slides_in_buckets_of_ten_seconds(void **state)
{
    (void)state;
    KIT(kit, "d1 g\n");
    /* one failure in each of six buckets */
    for (unsigned i = 0; i < 6; i++) {
        kit->now_ns = KIT_EPOCH_NS + weir_time_from_s(10.0 * i + 3);
        play(kit, "F");
        assert_int_equal(kit_view(kit, "d1").failures, i + 1);
    }
    /* they leave one bucket at a time, each at a multiple of ten seconds */
    for (unsigned i = 0; i < 6; i++) {
        kit->now_ns = KIT_EPOCH_NS + weir_time_from_s(60 + 10.0 * i) - 1;
        assert_int_equal(kit_view(kit, "d1").failures, 6 - i);
        kit->now_ns += 1;
        assert_int_equal(kit_view(kit, "d1").failures, 5 - i);
    }
}

static void decision_2_successes_and_failures_share_one_window(void **state)
{
    (void)state;
    KIT(kit, PAIR);
    play(kit, "SSSSS");
    kit_advance(kit, 30);
    play(kit, "FFFF");
    kit_advance(kit, 25);
    play(kit, "F");
    assert_false(cools(kit, "d1")); /* five of ten */
    kit_advance(kit, 10);
    play(kit, "F");
    assert_true(cools(kit, "d1")); /* the successes have left: six of six */
}

static void decision_2_old_failures_cool_nobody(void **state)
{
    (void)state;
    KIT(kit, PAIR);
    play(kit, "FFFF");
    kit_advance(kit, 60);
    play(kit, "FFFF");
    assert_false(cools(kit, "d1"));
    assert_int_equal(kit_view(kit, "d1").failures, 4);
    play(kit, "F");
    assert_true(cools(kit, "d1"));
}

static void decision_2_a_long_silence_empties_the_window(void **state)
{
    static const double silences[] = {60, 61, 119, 120, 121, 600, 3600, 86400};
    (void)state;

    for (size_t i = 0; i < sizeof(silences) / sizeof(*silences); i++) {
        KIT(kit, "d1 g\n");
        play(kit, "FFFF");
        kit_advance(kit, silences[i]);
        assert_int_equal(kit_view(kit, "d1").failures, 0);
        play(kit, "F");
        assert_int_equal(kit_view(kit, "d1").failures, 1);
    }
}

static void decision_2_the_window_survives_the_cooldown(void **state)
{
    (void)state;
    KIT(kit, PAIR);
    play(kit, "FFFFF");
    assert_true(cools(kit, "d1"));
    kit_advance(kit, 5);
    assert_false(cools(kit, "d1"));
    play(kit, "F"); /* six of six */
    assert_true(cools(kit, "d1"));
}

static void decision_3_calls_share_the_window(void **state)
{
    (void)state;
    KIT(kit, "d1 g w=1 : 500+1; d2 g w=0\n");
    for (unsigned i = 0; i < 5; i++)
        (void)kit_begin(kit, "g retries=0");
    kit_run_all(kit);
    assert_int_equal(kit_view(kit, "d1").failures, 5);
    assert_true(cools(kit, "d1"));
}

static void reliability_a_router_that_never_mentions_allowed_fails_uses_the_error_rate(void **state)
{
    (void)state;
    KIT(kit, PAIR);
    play(kit, "SSSSFFFF");
    assert_false(cools(kit, "d1"));
    KIT(explicit_one, "d1 g w=1; d2 g w=0; router fails=3\n");
    play(explicit_one, "SSSSFFFF");
    assert_true(cools(explicit_one, "d1"));
}

KIT_TESTS_MAIN(TESTS)
