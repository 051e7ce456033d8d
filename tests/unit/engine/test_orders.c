/*
 * Recovery inside a group: orders, then siblings (router-semantics 13, decisions 12, 13; reliability.md,
 * Order fallbacks, Weighted failover).
 */
#include "engine_kit.h"

#include <stdio.h>
#include <string.h>

/* clang-format off */
#define TESTS(X) \
    X("RS 13.1", rs_13_a_failure_walks_down_the_orders) \
    X("RS 13.1", rs_13_each_order_has_its_own_retry_loop) \
    X("RS 13.1", rs_13_the_orders_come_before_the_groups_fallbacks) \
    X("RS 13.1", rs_13_an_order_is_exact_on_its_walk) \
    X("RS 13.1", rs_13_context_window_and_content_policy_skip_the_orders) \
    X("RS 13.1", rs_13_statuses_that_are_not_retried_walk_too) \
    X("RS 13.1", rs_13_the_walk_goes_on_over_an_order_without_a_usable_deployment) \
    X("RS 13.1", rs_13_a_cooling_order_is_passed_over) \
    X("RS 13.1", rs_13_when_all_of_the_first_order_cools_the_pick_is_of_the_second) \
    X("RS 13.1", rs_13_wildcard_groups_have_orders) \
    X("RS 13.1", rs_13_no_order_is_the_last_order) \
    X("RS 13.1", rs_13_one_order_alone_is_no_walk) \
    X("RS 13.1", rs_13_a_fallback_group_walks_its_own_orders) \
    X("RS 13.1", rs_13_the_error_is_that_of_the_first_order) \
    X("RS 13.1", rs_13_an_id_has_no_orders) \
    X("RS 13.1", rs_13_a_later_orders_context_error_takes_the_context_list) \
    X("decisions 11", decision_11_orders_are_no_hops) \
    X("decisions 12", decision_12_order_walk_goes_on_above_the_failed_tier) \
    X("decisions 12", decision_12_the_failed_order_is_never_picked_again) \
    X("decisions 13", decision_13_disable_fallbacks_stops_the_orders) \
    X("decisions 13", decision_13_disable_fallbacks_stops_weighted_failover) \
    X("reliability, Order fallbacks", reliability_a_429_on_ptu_goes_to_pay_as_you_go_and_only_then_out) \
    X("RS 13.2", rs_13_weighted_failover_tries_the_siblings_before_any_fallback) \
    X("RS 13.2", rs_13_weighted_failover_is_off_by_default) \
    X("RS 13.2", rs_13_weighted_failover_wants_the_strategy_that_weighs) \
    X("RS 13.2", rs_13_weighted_failover_goes_by_weight) \
    X("RS 13.2", rs_13_weighted_failover_leaves_out_cooling_siblings) \
    X("RS 13.2", rs_13_weighted_failover_leaves_out_blocked_siblings) \
    X("RS 13.2", rs_13_each_sibling_has_one_attempt) \
    X("RS 13.2", rs_13_siblings_do_not_count_for_max_fallbacks) \
    X("RS 13.2", rs_13_context_window_and_content_policy_skip_the_siblings) \
    X("RS 13.2", rs_13_weighted_failover_takes_errors_that_are_not_retried) \
    X("RS 13.2", rs_13_the_orders_come_before_the_siblings_of_any_tier) \
    X("RS 13.2", rs_13_nobody_waits_for_a_sibling) \
    X("decisions 12", decision_12_weighted_failover_excludes_every_deployment_that_failed) \
    X("RS 13.2", rs_13_a_sibling_may_have_weight_zero) \
    X("RS 13.2", rs_13_a_siblings_failure_is_counted_and_decides_further)
/* clang-format on */

TESTS(KIT_TEST_DECLARE)

static void rs_13_a_failure_walks_down_the_orders(void **state)
{
    (void)state;
    KIT(kit, "d1 g order=1 : 500; d2 g order=2 : 500; d3 g order=3; router retries=0\n");
    expect_waits(expect_call(kit, "g", "d1:500 d2:500 d3:ok"), 0, 0, 0);
}

static void rs_13_each_order_has_its_own_retry_loop(void **state)
{
    (void)state;
    KIT(kit, "d1 g order=1 : 500; d2 g order=2 : 503; b B\n"
             "router retries=1 no_cooldowns; fallbacks g: B\n");
    expect(kit, "g", "d1:500 d1:500 d2:503 d2:503 b:ok");
}

static void rs_13_the_orders_come_before_the_groups_fallbacks(void **state)
{
    (void)state;
    KIT(kit, "d1 g order=1 : 500; d2 g order=2; b B; router retries=0; fallbacks g: B\n");
    expect(kit, "g", "d1:500 d2:ok");
}

static void rs_13_an_order_is_exact_on_its_walk(void **state)
{
    (void)state;
    /* e1 is healthy, yet the second tier is retried in itself */
    KIT(kit, "d1 g order=1 w=1 : 400; e1 g order=1 w=0; d2 g order=2 : 500 ok; router retries=1\n");
    expect(kit, "g", "d1:400 d2:500 d2:ok");
}

static void rs_13_context_window_and_content_policy_skip_the_orders(void **state)
{
    (void)state;
    KIT(kit, "d1 g order=1 : context_window content_policy; d2 g order=2; l L\n"
             "router retries=1; context g: L; content g: L\n");
    expect(kit, "g", "d1:400 l:ok");
    expect(kit, "g", "d1:400 l:ok");
    KIT(none, "d1 g order=1 : context_window; d2 g order=2\n");
    expect(none, "g", "d1:400 fail:400");
}

static void rs_13_statuses_that_are_not_retried_walk_too(void **state)
{
    static const int statuses[] = {400, 401, 403, 404, 405, 422};
    (void)state;

    for (size_t i = 0; i < sizeof(statuses) / sizeof(*statuses); i++) {
        char config[128];
        char story[64];

        snprintf(config, sizeof(config), "d1 g order=1 : %d; d2 g order=2; router retries=0\n", statuses[i]);
        snprintf(story, sizeof(story), "d1:%d d2:ok", statuses[i]);
        KIT(kit, config);
        expect(kit, "g", story);
    }
}

static void rs_13_the_walk_goes_on_over_an_order_without_a_usable_deployment(void **state)
{
    (void)state;
    KIT(kit, "d1 g order=1 : 500; d2 g order=2 blocked; d3 g order=3; router retries=0\n");
    expect(kit, "g", "d1:500 d3:ok");
}

static void rs_13_a_cooling_order_is_passed_over(void **state)
{
    (void)state;
    KIT(kit, "d1 g order=1 : 500; d2 g order=2 : 401; d3 g order=3; router retries=0 cooldown=30\n");
    expect(kit, "g", "d1:500 d2:401 d3:ok");
    expect(kit, "g", "d1:500 d3:ok");
}

static void rs_13_when_all_of_the_first_order_cools_the_pick_is_of_the_second(void **state)
{
    (void)state;
    KIT(kit, "d1 g order=1 : 429; d2 g order=2; router retries=0 cooldown=30\n");
    expect(kit, "g", "d1:429 d2:ok");
    const struct kit_call *call = expect_call(kit, "g", "d2:ok");

    assert_int_equal(kit_event_count(call, WEIR_EVENT_FALLBACK), 0);
}

static void rs_13_wildcard_groups_have_orders(void **state)
{
    (void)state;
    KIT(kit, "d1 acme/* order=1 : 500; d2 acme/* order=2; router retries=0\n");
    expect(kit, "acme/x", "d1:500 d2:ok");
}

static void rs_13_no_order_is_the_last_order(void **state)
{
    (void)state;
    KIT(kit, "none g; d1 g order=1 : 500; d9 g order=9 : 500; router retries=0\n");
    expect(kit, "g", "d1:500 d9:500 none:ok");
}

static void rs_13_one_order_alone_is_no_walk(void **state)
{
    (void)state;
    KIT(kit, "d1 g order=1 w=1 : 400; d2 g order=1 w=0; router retries=0\n");
    expect(kit, "g", "d1:400 fail:400");
}

static void rs_13_a_fallback_group_walks_its_own_orders(void **state)
{
    (void)state;
    KIT(kit, "a A : 500; b1 B order=1 : 500; b2 B order=2; router retries=0; fallbacks A: B\n");
    expect(kit, "A", "a:500 b1:500 b2:ok");
}

static void rs_13_the_error_is_that_of_the_first_order(void **state)
{
    (void)state;
    KIT(kit, "d1 g order=1 : 500 502; d2 g order=2 : 429; router retries=1\n");
    const struct kit_call *call = expect_call(kit, "g", "d1:500 d1:502 d2:429 fail:502");

    assert_int_equal(call->fail.attempt, 2);
}

static void rs_13_an_id_has_no_orders(void **state)
{
    (void)state;
    KIT(kit, "d1 g order=1 : 500; d2 g order=2; router retries=0 weighted\n");
    expect(kit, "d1", "d1:500 fail:500");
}

static void rs_13_a_later_orders_context_error_takes_the_context_list(void **state)
{
    (void)state;
    KIT(kit, "d1 g order=1 : 500; d2 g order=2 : context_window; d3 g order=3; l L; b B\n"
             "router retries=0; context g: L; fallbacks g: B\n");
    expect(kit, "g", "d1:500 d2:400 l:ok");
}

static void decision_11_orders_are_no_hops(void **state)
{
    (void)state;
    KIT(kit, "d1 g order=1 : 500; d2 g order=2 : ok 500; b B; router retries=0 max_fallbacks=1\n"
             "fallbacks g: B\n");
    const struct kit_call *call = expect_call(kit, "g", "d1:500 d2:ok");

    assert_int_equal(kit_summary(call).hops, 0);
    call = expect_call(kit, "g", "d1:500 d2:500 b:ok");
    assert_int_equal(kit_summary(call).hops, 1);
}

static void decision_12_order_walk_goes_on_above_the_failed_tier(void **state)
{
    (void)state;
    KIT(kit, "d1 g order=1 : 401; d2 g order=2 : 500; d3 g order=3; router retries=0 cooldown=30\n");
    expect(kit, "g no_fallbacks", "d1:401 fail:401");
    /* tier 1 cools, the pick is of tier 2, and the walk goes on at tier 3 */
    expect(kit, "g", "d2:500 d3:ok");
}

static void decision_12_the_failed_order_is_never_picked_again(void **state)
{
    (void)state;
    KIT(kit, "d1 g order=1 : 500; d2 g order=2 : 401; router retries=0 cooldown=30\n");
    expect(kit, "g", "d1:500 d2:401 fail:500");
    expect(kit, "g", "d1:500 fail:500");
}

static void decision_13_disable_fallbacks_stops_the_orders(void **state)
{
    (void)state;
    KIT(kit, "d1 g order=1 : 400; d2 g order=2\n");
    expect(kit, "g no_fallbacks", "d1:400 fail:400");
    expect(kit, "g", "d1:400 d2:ok");
}

static void decision_13_disable_fallbacks_stops_weighted_failover(void **state)
{
    (void)state;
    KIT(kit, "d1 g w=1 : 400; d2 g w=0; router weighted\n");
    expect(kit, "g no_fallbacks", "d1:400 fail:400");
    expect(kit, "g", "d1:400 d2:ok");
}

static void reliability_a_429_on_ptu_goes_to_pay_as_you_go_and_only_then_out(void **state)
{
    (void)state;
    KIT(kit,
        "ptu A order=1 : 429; payg A order=2 : ok 429; b B; router retries=0 cooldown=1; fallbacks A: B\n");
    expect(kit, "A", "ptu:429 payg:ok");
    kit_advance(kit, 1);
    expect(kit, "A", "ptu:429 payg:429 b:ok");
}

static void rs_13_weighted_failover_tries_the_siblings_before_any_fallback(void **state)
{
    (void)state;
    KIT(kit,
        "d1 A w=1e18 : 500; d2 A w=1e9 : 500; d3 A w=1; b B; router retries=0 weighted; fallbacks A: B\n");
    expect(kit, "A", "d1:500 d2:500 d3:ok");
}

static void rs_13_weighted_failover_is_off_by_default(void **state)
{
    (void)state;
    KIT(kit, "d1 A w=1 : 500; d2 A w=0; b B; router retries=0; fallbacks A: B\n");
    expect(kit, "A", "d1:500 b:ok");
}

static void rs_13_weighted_failover_wants_the_strategy_that_weighs(void **state)
{
    (void)state;
    KIT(kit, "d1 A price=1/1 : 400; d2 A price=2/2; d3 C w=1e9 : 400; d4 C w=1; b B\n"
             "router retries=0 weighted strategy=cost-based-routing; routing R simple-shuffle C\n"
             "fallbacks A: B\n");
    expect(kit, "A", "d1:400 b:ok");
    expect(kit, "C", "d3:400 d4:ok");
}

static void rs_13_weighted_failover_goes_by_weight(void **state)
{
    size_t second = 0;
    (void)state;

    for (uint64_t seed = 1; seed <= 400; seed++) {
        WEIR_CLEANUP(kit_close)
        struct kit *kit = kit_new(seed, "d1 A w=1e12 : 500; d2 A w=3; d3 A w=1; router retries=0 weighted\n");
        const struct kit_call *call = kit_call(kit, "A");

        assert_int_equal(call->attempt_count, 2);
        second += call->attempts[2].deployment == kit_deployment(kit, "d2");
    }
    assert_in_range(second, 260, 340);
}

static void rs_13_weighted_failover_leaves_out_cooling_siblings(void **state)
{
    (void)state;
    KIT(kit, "d1 A w=1 cooldown=2 : 429 500; d2 A w=0 cooldown=30 : ok 429 ok; b B\n"
             "router retries=0 weighted; fallbacks A: B\n");
    expect(kit, "A", "d1:429 d2:ok");
    expect(kit, "A", "d2:429 b:ok");
    kit_advance(kit, 2.4);
    expect(kit, "A", "d1:500 b:ok");
}

static void rs_13_weighted_failover_leaves_out_blocked_siblings(void **state)
{
    (void)state;
    KIT(kit, "d1 A w=1 : 500; d2 A w=0 blocked; router retries=0 weighted\n");
    expect(kit, "A", "d1:500 fail:500");
}

static void rs_13_each_sibling_has_one_attempt(void **state)
{
    (void)state;
    KIT(kit, "d1 A w=1e18 : 400; d2 A w=1e9 : 500; d3 A w=1 : 500; router retries=3 weighted\n");
    expect(kit, "A", "d1:400 d2:500 d3:500 fail:400");
}

static void rs_13_siblings_do_not_count_for_max_fallbacks(void **state)
{
    (void)state;
    KIT(kit, "d1 A w=1e18 : 500; d2 A w=1e9 : 500; d3 A w=1 : 500; b B\n"
             "router retries=0 weighted max_fallbacks=1; fallbacks A: B\n");
    const struct kit_call *call = expect_call(kit, "A", "d1:500 d2:500 d3:500 b:ok");

    assert_int_equal(kit_summary(call).hops, 1);
}

static void rs_13_context_window_and_content_policy_skip_the_siblings(void **state)
{
    (void)state;
    KIT(kit, "d1 A w=1 : context_window content_policy; d2 A w=0; l L; router retries=0 weighted\n"
             "context A: L; content A: L\n");
    expect(kit, "A", "d1:400 l:ok");
    expect(kit, "A", "d1:400 l:ok");
}

static void rs_13_weighted_failover_takes_errors_that_are_not_retried(void **state)
{
    (void)state;
    KIT(kit, "d1 A w=1 : 422; d2 A w=0; router retries=2 weighted\n");
    expect(kit, "A", "d1:422 d2:ok");
}

static void rs_13_the_orders_come_before_the_siblings_of_any_tier(void **state)
{
    (void)state;
    KIT(kit,
        "d1 g order=1 w=1 : 500; e1 g order=1 w=0 : 500; d2 g order=2 w=1 : 500; e2 g order=2 w=0 : 500\n"
        "b B; router retries=0 weighted; fallbacks g: B\n");
    const struct kit_call *call = kit_call(kit, "g");

    assert_int_equal(strncmp(call->story, "d1:500 d2:500 e", 15), 0);
    assert_non_null(strstr(call->story, "e1:500"));
    assert_non_null(strstr(call->story, "e2:500"));
    assert_int_equal(call->attempt_count, 5);
    assert_ptr_equal(call->attempts[5].deployment, kit_deployment(kit, "b"));
}

static void rs_13_nobody_waits_for_a_sibling(void **state)
{
    (void)state;
    KIT(kit, "d1 A w=1 : 429/30; d2 A w=0; router retries=0 weighted retry_after=9\n");
    expect_waits(expect_call(kit, "A", "d1:429 d2:ok"), 0, 0, 0);
}

static void decision_12_weighted_failover_excludes_every_deployment_that_failed(void **state)
{
    (void)state;
    KIT(kit, "d1 A w=1e18 : 500; d2 A w=1e9 : 500; d3 A w=1; router retries=1 weighted\n");
    /* d1 and d2 failed in the retry loop; d3 alone is left */
    expect(kit, "A", "d1:500 d2:500 d3:ok");
    KIT(none, "d1 A w=1 : 500; d2 A w=0 : 500; b B; router retries=1 weighted; fallbacks A: B\n");
    expect(none, "A", "d1:500 d2:500 b:ok");
}

static void rs_13_a_sibling_may_have_weight_zero(void **state)
{
    (void)state;
    KIT(kit, "d1 A w=5 : 500; d2 A w=0; router retries=0 weighted\n");
    expect(kit, "A", "d1:500 d2:ok");
}

static void rs_13_a_siblings_failure_is_counted_and_decides_further(void **state)
{
    (void)state;
    KIT(kit, "d1 A w=1e18 : 500; d2 A w=1e9 : 401; d3 A w=1 : context_window; l L; b B\n"
             "router retries=0 weighted; context A: L; fallbacks A: B\n");
    expect(kit, "A", "d1:500 d2:401 d3:400 l:ok");
    assert_true(kit_cooling(kit, "d2") > 0);
}

KIT_TESTS_MAIN(TESTS)
