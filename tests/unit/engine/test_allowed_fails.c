/*
 * Allowed fails: which limit speaks, how long a count lives, what it counts (router-semantics 16, decisions
 * 5; reliability.md, Allowed fails).
 */
#include "engine_kit.h"

#include <stdio.h>

#include "base/time.h"

/* clang-format off */
#define TESTS(X) \
    X("RS 16.1", rs_16_a_deployment_cools_once_the_count_is_over_the_limit) \
    X("RS 16.1", rs_16_a_limit_of_zero_cools_at_the_first_failure) \
    X("RS 16.1", rs_16_the_counter_lives_from_its_first_failure) \
    X("RS 16.1", rs_16_the_counter_ends_at_exactly_its_time) \
    X("RS 16.1", rs_16_a_new_counter_begins_after_the_old_one) \
    X("decisions 5", decision_5_the_counters_life_is_the_deployments_own_cooldown_time) \
    X("decisions 5", decision_5_the_counters_life_is_else_the_routers) \
    X("decisions 5", decision_5_retry_after_is_never_the_counters_life) \
    X("decisions 5", decision_5_a_cooldown_does_not_reset_the_counter) \
    X("decisions 5", decision_5_a_success_does_not_reset_the_counter) \
    X("RS 16.2", rs_16_each_kind_has_its_field) \
    X("RS 16.2", rs_16_bad_gateway_has_a_field_of_its_own) \
    X("RS 16.2", rs_16_content_policy_falls_to_bad_request_here_too) \
    X("RS 16.2", rs_16_a_kind_without_a_field_takes_the_next_rule) \
    X("RS 16.3", rs_16_the_deployments_field_is_first) \
    X("RS 16.3", rs_16_the_deployments_plain_limit_is_second) \
    X("RS 16.3", rs_16_the_routers_field_is_third) \
    X("RS 16.3", rs_16_the_routers_explicit_limit_is_fourth) \
    X("RS 16.3", rs_16_the_error_rate_is_last) \
    X("RS 16.3", rs_16_a_limit_that_speaks_ends_the_search) \
    X("RS 16.1", rs_16_own_policies_count_each_class_for_itself) \
    X("RS 16.1", rs_16_classes_under_one_field_are_counted_apart) \
    X("RS 16.1", rs_16_kinds_of_one_class_are_counted_together) \
    X("RS 16.1", rs_16_a_router_policy_counts_all_kinds_together) \
    X("RS 16.1", rs_16_own_and_plain_counters_are_two) \
    X("RS 16", rs_16_lone_deployments_are_not_spared) \
    X("reliability, Allowed fails", reliability_an_explicit_limit_takes_part_though_it_be_the_default) \
    X("reliability, Allowed fails", reliability_the_deployments_setting_wins_over_the_routers) \
    X("reliability, Allowed fails", reliability_a_few_timeouts_are_tolerated_and_one_auth_error_is_not) \
    X("reliability, Allowed fails", reliability_with_a_limit_a_429_is_tolerated_too)
/* clang-format on */

TESTS(KIT_TEST_DECLARE)

static bool cools(const struct kit *kit, const char *id)
{
    return kit_cooling(kit, id) > 0;
}

/* One failed attempt on d1; returns the rule by which it cooled it, or -1. */
static int fail_once(struct kit *kit, const char *failure)
{
    const struct weir_event *event;

    kit_script(kit, "d1", failure);
    event = kit_event(kit_call(kit, "d1 retries=0"), WEIR_EVENT_COOLDOWN_SET, 0);
    return event == NULL ? -1 : (int)event->u.cooldown_set.rule;
}

static void rs_16_a_deployment_cools_once_the_count_is_over_the_limit(void **state)
{
    (void)state;
    for (unsigned limit = 0; limit <= 7; limit++) {
        char config[64];

        snprintf(config, sizeof(config), "d1 g fails=%u\n", limit);
        KIT(kit, config);
        for (unsigned i = 0; i < limit; i++)
            assert_int_equal(fail_once(kit, "500"), -1);
        assert_int_equal(fail_once(kit, "500"), WEIR_COOLDOWN_DEPLOYMENT_FAILS);
    }
}

static void rs_16_a_limit_of_zero_cools_at_the_first_failure(void **state)
{
    (void)state;
    KIT(kit, "d1 g; router fails=0\n");
    assert_int_equal(fail_once(kit, "500"), WEIR_COOLDOWN_ROUTER_FAILS);
}

static void rs_16_the_counter_lives_from_its_first_failure(void **state)
{
    (void)state;
    KIT(kit, "d1 g fails=2 cooldown=10\n");
    assert_int_equal(fail_once(kit, "500"), -1);
    kit_advance(kit, 6);
    assert_int_equal(fail_once(kit, "500"), -1);
    kit->now_ns = KIT_EPOCH_NS + weir_time_from_s(10) - 1;
    assert_int_equal(fail_once(kit, "500"), WEIR_COOLDOWN_DEPLOYMENT_FAILS);
}

static void rs_16_the_counter_ends_at_exactly_its_time(void **state)
{
    (void)state;
    KIT(kit, "d1 g fails=2 cooldown=10\n");
    assert_int_equal(fail_once(kit, "500"), -1);
    kit_advance(kit, 6);
    assert_int_equal(fail_once(kit, "500"), -1);
    kit_advance(kit, 4);
    assert_int_equal(fail_once(kit, "500"), -1);
}

static void rs_16_a_new_counter_begins_after_the_old_one(void **state)
{
    (void)state;
    KIT(kit, "d1 g fails=1 cooldown=10\n");
    for (unsigned i = 0; i < 5; i++) {
        assert_int_equal(fail_once(kit, "500"), -1);
        kit_advance(kit, 10);
    }
    assert_int_equal(fail_once(kit, "500"), -1);
    kit_advance(kit, 9.9);
    assert_int_equal(fail_once(kit, "500"), WEIR_COOLDOWN_DEPLOYMENT_FAILS);
}

static void decision_5_the_counters_life_is_the_deployments_own_cooldown_time(void **state)
{
    (void)state;
    KIT(kit, "d1 g fails=1 cooldown=20; router cooldown=2\n");
    assert_int_equal(fail_once(kit, "500"), -1);
    kit_advance(kit, 19);
    assert_int_not_equal(fail_once(kit, "500"), -1);
}

static void decision_5_the_counters_life_is_else_the_routers(void **state)
{
    (void)state;
    KIT(kit, "d1 g fails=1; router cooldown=2\n");
    assert_int_equal(fail_once(kit, "500"), -1);
    kit_advance(kit, 2);
    assert_int_equal(fail_once(kit, "500"), -1);
    kit_advance(kit, 1.9);
    assert_int_not_equal(fail_once(kit, "500"), -1);
}

static void decision_5_retry_after_is_never_the_counters_life(void **state)
{
    (void)state;
    KIT(kit, "d1 g fails=1; router cooldown=5\n");
    assert_int_equal(fail_once(kit, "429/50"), -1);
    kit_advance(kit, 6);
    assert_int_equal(fail_once(kit, "429/50"), -1);
}

static void decision_5_a_cooldown_does_not_reset_the_counter(void **state)
{
    (void)state;
    KIT(kit, "d1 g fails=1; router cooldown=30\n");
    assert_int_equal(fail_once(kit, "429/2"), -1);
    assert_int_not_equal(fail_once(kit, "429/2"), -1);
    kit_advance(kit, 3);
    assert_false(cools(kit, "d1"));
    assert_int_not_equal(fail_once(kit, "429/2"), -1);
}

static void decision_5_a_success_does_not_reset_the_counter(void **state)
{
    (void)state;
    KIT(kit, "d1 g fails=1\n");
    assert_int_equal(fail_once(kit, "500"), -1);
    assert_int_equal(fail_once(kit, "ok"), -1);
    assert_int_not_equal(fail_once(kit, "500"), -1);
}

static void rs_16_each_kind_has_its_field(void **state)
{
    static const struct {
        const char *failure;
        const char *field;
    } rows[] = {
        {"auth", "auth"},
        {"timeout", "timeout"},
        {"timeout=504", "timeout"},
        {"rate_limit", "rate_limit"},
        {"content_policy", "content_policy"},
        {"context_window", "bad_request"},
        {"unsupported_params", "bad_request"},
        {"bad_request", "bad_request"},
        {"not_found", "not_found"},
        {"internal", "internal"},
        {"connection", "internal"},
        {"bad_gateway", "bad_gateway"},
        {"service_unavailable", "service_unavailable"},
    };
    (void)state;

    for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
        char config[64];

        snprintf(config, sizeof(config), "d1 g fails.%s=1\n", rows[i].field);
        KIT(kit, config);
        assert_int_equal(fail_once(kit, rows[i].failure), -1);
        if (fail_once(kit, rows[i].failure) != WEIR_COOLDOWN_DEPLOYMENT_POLICY)
            kit_die(kit, "%s does not speak for %s", rows[i].field, rows[i].failure);
    }
}

static void rs_16_bad_gateway_has_a_field_of_its_own(void **state)
{
    (void)state;
    KIT(kit, "d1 g; d2 g; router fails.internal=0\n");
    assert_int_equal(fail_once(kit, "502"), -1);
    assert_int_equal(fail_once(kit, "500"), WEIR_COOLDOWN_ROUTER_POLICY);
}

static void rs_16_content_policy_falls_to_bad_request_here_too(void **state)
{
    (void)state;
    KIT(kit, "d1 g fails.bad_request=0\n");
    assert_int_equal(fail_once(kit, "content_policy"), WEIR_COOLDOWN_DEPLOYMENT_POLICY);
}

static void rs_16_a_kind_without_a_field_takes_the_next_rule(void **state)
{
    (void)state;
    KIT(kit, "d1 g fails.timeout=9; router fails.internal=0\n");
    assert_int_equal(fail_once(kit, "500"), WEIR_COOLDOWN_ROUTER_POLICY);
    KIT(none, "d1 g fails.internal=0; router fails=0\n");
    assert_int_equal(fail_once(none, "api_error=520"), WEIR_COOLDOWN_ROUTER_FAILS);
}

static void rs_16_the_deployments_field_is_first(void **state)
{
    (void)state;
    KIT(kit, "d1 g fails.internal=0 fails=9; router fails.internal=9 fails=9\n");
    assert_int_equal(fail_once(kit, "500"), WEIR_COOLDOWN_DEPLOYMENT_POLICY);
}

static void rs_16_the_deployments_plain_limit_is_second(void **state)
{
    (void)state;
    KIT(kit, "d1 g fails.timeout=9 fails=0; router fails.internal=9 fails=9\n");
    assert_int_equal(fail_once(kit, "500"), WEIR_COOLDOWN_DEPLOYMENT_FAILS);
}

static void rs_16_the_routers_field_is_third(void **state)
{
    (void)state;
    KIT(kit, "d1 g fails.timeout=9; router fails.internal=0 fails=9\n");
    assert_int_equal(fail_once(kit, "500"), WEIR_COOLDOWN_ROUTER_POLICY);
}

static void rs_16_the_routers_explicit_limit_is_fourth(void **state)
{
    (void)state;
    KIT(kit, "d1 g fails.timeout=9; router fails.rate_limit=9 fails=0\n");
    assert_int_equal(fail_once(kit, "500"), WEIR_COOLDOWN_ROUTER_FAILS);
}

static void rs_16_the_error_rate_is_last(void **state)
{
    (void)state;
    KIT(kit, "d1 g fails.timeout=9; d2 g; router fails.internal=9\n");
    assert_int_equal(fail_once(kit, "429"), WEIR_COOLDOWN_RATE_LIMITED);
}

static void rs_16_a_limit_that_speaks_ends_the_search(void **state)
{
    (void)state;
    KIT(kit, "d1 g fails=9; d2 g; router fails=0\n");
    /* neither the router's limit nor the error-rate rules are asked: 401, 429 and a run of 500s pass */
    assert_int_equal(fail_once(kit, "401"), -1);
    assert_int_equal(fail_once(kit, "429"), -1);
    for (unsigned i = 0; i < 7; i++)
        assert_int_equal(fail_once(kit, "500"), -1);
    assert_int_equal(fail_once(kit, "500"), WEIR_COOLDOWN_DEPLOYMENT_FAILS);
}

static void rs_16_own_policies_count_each_class_for_itself(void **state)
{
    (void)state;
    KIT(kit, "d1 g fails.rate_limit=1 fails.internal=1\n");
    assert_int_equal(fail_once(kit, "429"), -1);
    assert_int_equal(fail_once(kit, "500"), -1);
    assert_int_equal(fail_once(kit, "429"), WEIR_COOLDOWN_DEPLOYMENT_POLICY);
}

static void rs_16_classes_under_one_field_are_counted_apart(void **state)
{
    (void)state;
    KIT(kit, "d1 g fails.bad_request=1\n");
    assert_int_equal(fail_once(kit, "bad_request"), -1);
    assert_int_equal(fail_once(kit, "context_window"), -1);
    assert_int_equal(fail_once(kit, "content_policy"), -1);
    assert_int_equal(fail_once(kit, "context_window"), WEIR_COOLDOWN_DEPLOYMENT_POLICY);
}

static void rs_16_kinds_of_one_class_are_counted_together(void **state)
{
    (void)state;
    KIT(kit, "d1 g fails.internal=1\n");
    assert_int_equal(fail_once(kit, "connection"), -1);
    assert_int_equal(fail_once(kit, "500"), WEIR_COOLDOWN_DEPLOYMENT_POLICY);
}

static void rs_16_a_router_policy_counts_all_kinds_together(void **state)
{
    (void)state;
    /* the router's key has no suffix: every failure that its limits speak for adds to the same count */
    KIT(kit, "d1 g; router fails.rate_limit=1 fails.internal=1\n");
    assert_int_equal(fail_once(kit, "429"), -1);
    assert_int_equal(fail_once(kit, "500"), WEIR_COOLDOWN_ROUTER_POLICY);
}

static void rs_16_own_and_plain_counters_are_two(void **state)
{
    (void)state;
    KIT(kit, "d1 g fails.rate_limit=1 fails=1\n");
    assert_int_equal(fail_once(kit, "429"), -1);
    assert_int_equal(fail_once(kit, "500"), -1);
    assert_int_equal(fail_once(kit, "500"), WEIR_COOLDOWN_DEPLOYMENT_FAILS);
}

static void rs_16_lone_deployments_are_not_spared(void **state)
{
    (void)state;
    KIT(kit, "d1 g; router fails=1\n");
    assert_int_equal(fail_once(kit, "500"), -1);
    assert_int_equal(fail_once(kit, "500"), WEIR_COOLDOWN_ROUTER_FAILS);
}

static void reliability_an_explicit_limit_takes_part_though_it_be_the_default(void **state)
{
    (void)state;
    KIT(kit, "d1 g; d2 g; router fails=3\n");
    for (unsigned i = 0; i < 3; i++)
        assert_int_equal(fail_once(kit, "500"), -1);
    assert_int_equal(fail_once(kit, "500"), WEIR_COOLDOWN_ROUTER_FAILS);
}

static void reliability_the_deployments_setting_wins_over_the_routers(void **state)
{
    (void)state;
    KIT(kit, "d1 g fails=0; router fails=50\n");
    assert_int_equal(fail_once(kit, "500"), WEIR_COOLDOWN_DEPLOYMENT_FAILS);
    KIT(more, "d1 g fails=50; router fails=0\n");
    assert_int_equal(fail_once(more, "500"), -1);
}

static void reliability_a_few_timeouts_are_tolerated_and_one_auth_error_is_not(void **state)
{
    (void)state;
    KIT(kit, "d1 g; router fails.timeout=5 fails.auth=0 fails.rate_limit=2\n");
    for (unsigned i = 0; i < 5; i++)
        assert_int_equal(fail_once(kit, "408"), -1);
    assert_int_equal(fail_once(kit, "401"), WEIR_COOLDOWN_ROUTER_POLICY);
}

static void reliability_with_a_limit_a_429_is_tolerated_too(void **state)
{
    (void)state;
    KIT(kit, "d1 g w=1 : 429; d2 g w=0; router retries=0 fails.rate_limit=2\n");
    expect_each(kit, 3, "g", "d1:429 fail:429");
    expect(kit, "g", "d2:ok");
}

KIT_TESTS_MAIN(TESTS)
