/*
 * Which candidates a pick has (router-semantics 4), and the counts that the retry loop uses (5).
 */
#include "engine_kit.h"

#include <stdio.h>
#include <string.h>

/* clang-format off */
#define TESTS(X) \
    X("RS 4.4", rs_4_a_cooling_deployment_is_no_candidate) \
    X("RS 4.4", rs_4_expiry_alone_brings_it_back_at_exactly_the_end) \
    X("RS 4.5", rs_4_the_bypass_picks_a_cooling_one_when_all_cool) \
    X("RS 4.5", rs_4_the_bypass_leaves_cooling_ones_out_while_another_is_left) \
    X("RS 4.5", rs_4_the_bypass_needs_the_flag) \
    X("decisions 15", decision_15_the_bypass_needs_the_routers_policy) \
    X("decisions 15", decision_15_with_the_bypass_nothing_is_retried) \
    X("RS 4.6", rs_4_the_bypass_does_not_bring_back_a_blocked_one) \
    X("RS 4.6", rs_4_a_blocked_deployment_is_no_candidate) \
    X("RS 4.11", rs_4_the_lowest_order_present_alone_competes) \
    X("RS 4.11", rs_4_a_deployment_without_order_comes_last) \
    X("RS 4.11", rs_4_the_order_filter_sees_only_what_the_others_left) \
    X("RS 4.11", rs_4_negative_and_zero_orders_are_orders) \
    X("RS 4.12", rs_4_the_exclusion_set_of_weighted_failover_is_left_out) \
    X("RS 4.13", rs_4_deployments_that_failed_this_call_are_skipped) \
    X("RS 4.13", rs_4_the_skip_never_empties_the_list) \
    X("RS 4.13", rs_4_the_skip_holds_for_this_call_only) \
    X("RS 4.14", rs_4_nothing_left_is_the_no_deployments_error) \
    X("RS 5", rs_5_blocked_ones_are_not_healthy) \
    X("RS 5", rs_5_blocked_ones_count_in_the_groups_size) \
    X("RS 5", rs_5_an_id_is_a_group_of_one) \
    X("RS 5", rs_5_an_alias_has_the_counts_of_its_group) \
    X("decisions 6", decision_6_the_retry_loop_uses_the_set_of_the_name_that_was_asked)
/* clang-format on */

TESTS(KIT_TEST_DECLARE)

static void rs_4_a_cooling_deployment_is_no_candidate(void **state)
{
    (void)state;
    KIT(kit, "d1 g w=1 : 429; d2 g w=0; router retries=0\n");
    expect(kit, "g", "d1:429 fail:429");
    expect_each(kit, 5, "g", "d2:ok");
}

static void rs_4_expiry_alone_brings_it_back_at_exactly_the_end(void **state)
{
    (void)state;
    KIT(kit, "d1 g w=1 : 429 ok; d2 g w=0; router retries=0 cooldown=5\n");
    expect(kit, "g", "d1:429 fail:429");
    kit->now_ns += 5 * UINT64_C(1000000000) - 1;
    expect(kit, "g", "d2:ok");
    kit->now_ns += 1;
    expect(kit, "g", "d1:ok");
}

static void rs_4_the_bypass_picks_a_cooling_one_when_all_cool(void **state)
{
    (void)state;
    KIT(kit, "d1 g w=1 : 500 ok; d2 g w=0 : 500\n"
             "router retries=0 cooldown=30 bypass fails.internal=0\n");
    expect(kit, "g", "d1:500 fail:500");
    expect(kit, "g", "d2:500 fail:500");
    expect(kit, "g", "d1:ok");
}

static void rs_4_the_bypass_leaves_cooling_ones_out_while_another_is_left(void **state)
{
    (void)state;
    KIT(kit, "d1 g w=1 : 500; d2 g w=0\n"
             "router retries=0 cooldown=30 bypass fails.internal=0\n");
    expect(kit, "g", "d1:500 fail:500");
    expect_each(kit, 5, "g", "d2:ok");
}

static void rs_4_the_bypass_needs_the_flag(void **state)
{
    (void)state;
    KIT(kit, "d1 g : 500; router retries=0 cooldown=30 fails.internal=0\n");
    expect(kit, "g", "d1:500 fail:500");
    expect(kit, "g", "fail:429");
}

static void decision_15_the_bypass_needs_the_routers_policy(void **state)
{
    (void)state;
    KIT(kit, "d1 g fails.internal=0 : 500; router retries=0 cooldown=30 bypass fails=0\n");
    expect(kit, "g", "d1:500 fail:500");
    expect(kit, "g", "fail:429");
}

static void decision_15_with_the_bypass_nothing_is_retried(void **state)
{
    (void)state;
    KIT(kit, "d1 g : 500; router retries=3 cooldown=30 bypass fails.internal=0\n");
    expect(kit, "g", "d1:500 fail:500");
    expect(kit, "g", "d1:500 fail:500");
}

static void rs_4_the_bypass_does_not_bring_back_a_blocked_one(void **state)
{
    (void)state;
    KIT(kit, "d1 g : 500 ok; d2 g blocked\n"
             "router retries=0 cooldown=30 bypass fails.internal=0\n");
    expect(kit, "g", "d1:500 fail:500");
    expect_each(kit, 5, "g", "d1:ok");
}

static void rs_4_a_blocked_deployment_is_no_candidate(void **state)
{
    (void)state;
    KIT(kit, "d1 g w=1 blocked; d2 g w=0\n");
    expect_each(kit, 5, "g", "d2:ok");
}

static void rs_4_the_lowest_order_present_alone_competes(void **state)
{
    (void)state;
    KIT(kit, "two g order=2 w=1000; one g order=1 w=1\n");
    expect_each(kit, 20, "g", "one:ok");
}

static void rs_4_a_deployment_without_order_comes_last(void **state)
{
    (void)state;
    KIT(kit, "none g w=1000; nine g order=9 w=1 : 429; router retries=0\n");
    expect(kit, "g no_fallbacks", "nine:429 fail:429");
    expect(kit, "g", "none:ok");
}

static void rs_4_the_order_filter_sees_only_what_the_others_left(void **state)
{
    (void)state;
    KIT(kit, "one g order=1 blocked; two g order=2; three g order=3\n");
    expect_each(kit, 5, "g", "two:ok");
}

static void rs_4_negative_and_zero_orders_are_orders(void **state)
{
    (void)state;
    KIT(kit, "zero g order=0; minus g order=-1; one g order=1\n");
    expect_each(kit, 5, "g", "minus:ok");
}

static void rs_4_the_exclusion_set_of_weighted_failover_is_left_out(void **state)
{
    (void)state;
    KIT(kit, "d1 g w=1e18 : 500; d2 g w=1e9 : 500; d3 g w=1 : 500; router retries=0 weighted\n");
    expect(kit, "g", "d1:500 d2:500 d3:500 fail:500");
}

static void rs_4_deployments_that_failed_this_call_are_skipped(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 50; seed++) {
        WEIR_CLEANUP(kit_close)
        struct kit *kit =
            kit_new(seed, "d1 g : 500; d2 g : 500; d3 g : 500; router retries=2 no_cooldowns\n");
        const struct kit_call *call = kit_call(kit, "g");

        assert_int_equal(call->attempt_count, 3);
        assert_ptr_not_equal(call->attempts[1].deployment, call->attempts[2].deployment);
        assert_ptr_not_equal(call->attempts[1].deployment, call->attempts[3].deployment);
        assert_ptr_not_equal(call->attempts[2].deployment, call->attempts[3].deployment);
    }
}

static void rs_4_the_skip_never_empties_the_list(void **state)
{
    (void)state;
    KIT(kit, "d1 g w=1 : 500 500 ok; d2 g w=0 : 500; router retries=2\n");
    expect(kit, "g", "d1:500 d2:500 d1:500 fail:500");
    expect(kit, "g", "d1:ok");
}

static void rs_4_the_skip_holds_for_this_call_only(void **state)
{
    (void)state;
    KIT(kit, "d1 g w=1 : 500 ok; d2 g w=0\n");
    expect(kit, "g", "d1:500 d2:ok");
    expect(kit, "g", "d1:ok");
}

static void rs_4_nothing_left_is_the_no_deployments_error(void **state)
{
    (void)state;
    KIT(kit, "d1 g blocked; d2 g blocked\n");
    const struct kit_call *call = expect_call(kit, "g", "fail:429");

    assert_int_equal(call->fail.reason, WEIR_REASON_NO_DEPLOYMENTS);
}

static void rs_5_blocked_ones_are_not_healthy(void **state)
{
    (void)state;
    KIT(kit, "d1 g : 429; d2 g blocked; router retries=3\n");
    expect(kit, "g", "d1:429 fail:429");
}

static void rs_5_blocked_ones_count_in_the_groups_size(void **state)
{
    (void)state;
    KIT(kit, "d1 g : 500; d2 g blocked; router retries=1\n");
    /* a group of two with one healthy: no wait */
    expect_waits(expect_call(kit, "g", "d1:500 d1:500 fail:500"), 0, 0, 0);
}

static void rs_5_an_id_is_a_group_of_one(void **state)
{
    (void)state;
    KIT(kit, "d1 g : 500 ok; d2 g; router retries=2\n");
    expect_waits(expect_call(kit, "d1", "d1:500 d1:ok"), 1, 0.5, 1.25);
}

static void rs_5_an_alias_has_the_counts_of_its_group(void **state)
{
    (void)state;
    KIT(kit, "d1 g w=1 : 500; d2 g w=0; alias other g\n");
    expect_waits(expect_call(kit, "other", "d1:500 d2:ok"), 0, 0, 0);
}

static void decision_6_the_retry_loop_uses_the_set_of_the_name_that_was_asked(void **state)
{
    (void)state;
    KIT(kit, "d1 g : 401; d2 g; router retries=2 no_cooldowns\n");
    /* by its id the deployment is alone, so its 401 is not retried; the group would */
    expect(kit, "d1", "d1:401 fail:401");
}

KIT_TESTS_MAIN(TESTS)
