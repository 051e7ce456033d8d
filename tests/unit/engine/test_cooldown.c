/*
 * Whether a failure cools its deployment, for how long, and what is counted at all (router-semantics 15,
 * decisions 4 to 8; reliability.md, Cooldowns).
 */
#include "engine_kit.h"

#include <stdio.h>

#include "base/time.h"

/* clang-format off */
#define TESTS(X) \
    X("RS 15.1", rs_15_a_success_does_not_end_a_cooldown) \
    X("RS 15.1", rs_15_a_reload_keeps_a_cooldown) \
    X("RS 15.2", rs_15_the_deployments_own_length_is_first) \
    X("RS 15.2", rs_15_retry_after_is_second) \
    X("RS 15.2", rs_15_the_routers_length_is_third_and_is_five_seconds) \
    X("RS 15.2", rs_15_a_router_length_of_zero_is_the_default) \
    X("decisions 7", decision_7_retry_after_is_capped_at_an_hour_and_says_so) \
    X("decisions 7", decision_7_a_retry_after_of_exactly_the_cap_is_not_capped) \
    X("decisions 7", decision_7_the_cap_is_a_setting) \
    X("decisions 7", decision_7_a_deployments_own_length_is_not_capped) \
    X("decisions 7", decision_7_a_retry_after_of_zero_is_absent) \
    X("decisions 7", decision_7_an_own_length_of_zero_never_cools) \
    X("decisions 7", reliability_a_later_cooldown_never_shortens_an_earlier_one) \
    X("decisions 7", decision_7_a_cooldown_that_ends_later_replaces_the_earlier) \
    X("RS 15.3", rs_15_other_4xx_never_cool_and_enter_no_counter) \
    X("RS 15.3", rs_15_a_skipped_failure_is_no_success) \
    X("RS 15.3", rs_15_the_four_statuses_pass_the_skip_check) \
    X("RS 15.3", rs_15_an_own_policy_lifts_the_skip_for_its_kind) \
    X("RS 15.3", rs_15_a_plain_allowed_fails_does_not_lift_the_skip) \
    X("RS 15.3", rs_15_a_router_policy_does_not_lift_the_skip) \
    X("RS 15.3", rs_15_disable_cooldowns_disables_them) \
    X("RS 15.3", rs_15_a_callers_own_keys_say_nothing_of_the_deployment) \
    X("RS 15.4", decision_4_only_the_provider_enters_the_counters) \
    X("RS 15.4", rs_15_a_404_of_a_looked_up_resource_never_counts) \
    X("RS 15.5", rs_15_a_429_cools_where_there_are_siblings) \
    X("RS 15.5", rs_15_a_429_does_not_cool_a_lone_deployment) \
    X("RS 15.5", rs_15_401_and_404_cool_at_once_and_lone_ones_too) \
    X("RS 15.5", rs_15_403_and_409_cool_nobody) \
    X("RS 15.5", rs_15_connection_failures_count) \
    X("RS 15.5", rs_15_every_5xx_and_408_counts) \
    X("decisions 6", decision_6_the_cooldown_rules_use_the_deployments_own_group) \
    X("decisions 6", decision_6_a_wildcards_group_is_its_pattern) \
    X("RS 15.5", rs_15_blocked_siblings_are_siblings) \
    X("RS 15", rs_15_every_failed_attempt_counts_retries_too) \
    X("RS 15", rs_15_every_failed_attempt_counts_hops_too) \
    X("decisions 8", decision_8_a_failure_is_recorded_before_the_next_pick) \
    X("decisions 8", decision_8_another_call_sees_the_cooldown) \
    X("RS 15.6", rs_15_the_event_tells_rule_length_and_end) \
    X("RS 15.6", rs_15_a_cooldown_that_is_not_written_has_no_event) \
    X("RS 16.4", rs_16_all_cooling_tells_the_time_to_the_soonest_end) \
    X("RS 16.4", rs_16_none_cooling_tells_the_routers_length) \
    X("RS 16.4", rs_16_only_this_groups_cooldowns_are_looked_at) \
    X("RS 16.4", rs_16_the_error_is_a_429_of_the_router) \
    X("RS 16.4", rs_16_the_cooling_ids_are_this_groups_alone) \
    X("RS 16.4", rs_16_the_error_counts_against_nobody)
/* clang-format on */

TESTS(KIT_TEST_DECLARE)

static void assert_cooling(const struct kit *kit, const char *id, double seconds)
{
    double left = kit_cooling(kit, id);

    if (left < seconds - 1e-6 || left > seconds + 1e-6)
        kit_die(kit, "%s cools for %g s, expected %g", id, left, seconds);
}

static void rs_15_a_success_does_not_end_a_cooldown(void **state)
{
    (void)state;
    KIT(kit, "d1 g w=1 : 429 ok; d2 g w=0; router retries=0 cooldown=30\n");
    expect(kit, "g", "d1:429 fail:429");
    expect(kit, "d1", "d1:ok");
    assert_cooling(kit, "d1", 30);
    expect(kit, "g", "d2:ok");
}

static void rs_15_a_reload_keeps_a_cooldown(void **state)
{
    (void)state;
    KIT(kit, "d1 g w=1 : 429; d2 g w=0; router retries=0 cooldown=30\n");
    expect(kit, "g", "d1:429 fail:429");
    kit_reload(kit, "new g w=0; d2 g w=0; d1 g w=1; router retries=0 cooldown=1\n");
    assert_cooling(kit, "d1", 30);
    assert_int_equal(kit_view(kit, "d1").failures, 1);
    assert_int_equal(kit_view(kit, "new").failures, 0);
    assert_true(kit_cooling(kit, "new") <= 0);
    kit_advance(kit, 30);
    expect(kit, "g", "d1:ok");
}

static void rs_15_the_deployments_own_length_is_first(void **state)
{
    (void)state;
    KIT(kit, "d1 g w=1 cooldown=7 : 429/50; d2 g w=0; router retries=0 cooldown=60\n");
    expect(kit, "g", "d1:429 fail:429");
    assert_cooling(kit, "d1", 7);
}

static void rs_15_retry_after_is_second(void **state)
{
    (void)state;
    KIT(kit, "d1 g w=1 : 429/50; d2 g w=0; router retries=0 cooldown=60\n");
    expect(kit, "g", "d1:429 fail:429");
    assert_cooling(kit, "d1", 50);
}

static void rs_15_the_routers_length_is_third_and_is_five_seconds(void **state)
{
    (void)state;
    KIT(kit, "d1 g : 401; d2 g : 401; router retries=0\n");
    (void)kit_call(kit, "d1");
    assert_cooling(kit, "d1", 5);
    KIT(set, "d1 g : 401; router retries=0 cooldown=60\n");
    (void)kit_call(set, "g");
    assert_cooling(set, "d1", 60);
}

static void rs_15_a_router_length_of_zero_is_the_default(void **state)
{
    (void)state;
    KIT(kit, "d1 g : 401; router retries=0 cooldown=0\n");
    expect(kit, "g", "d1:401 fail:401");
    assert_cooling(kit, "d1", 5);
}

static void decision_7_retry_after_is_capped_at_an_hour_and_says_so(void **state)
{
    (void)state;
    KIT(kit, "d1 g w=1 : 429/7200; d2 g w=0; router retries=0\n");
    const struct kit_call *call = expect_call(kit, "g", "d1:429 fail:429");

    assert_cooling(kit, "d1", 3600);
    expect_events(call, "CooldownSet", "CooldownSet d1 429 rate_limited 3600 capped");
}

static void decision_7_a_retry_after_of_exactly_the_cap_is_not_capped(void **state)
{
    (void)state;
    KIT(kit, "d1 g w=1 : 429/3600; d2 g w=0; router retries=0\n");
    expect_events(expect_call(kit, "g", "d1:429 fail:429"), "CooldownSet",
                  "CooldownSet d1 429 rate_limited 3600");
}

static void decision_7_the_cap_is_a_setting(void **state)
{
    (void)state;
    KIT(kit, "d1 g w=1 : 429/61; d2 g w=0; router retries=0 cap=60\n");
    expect(kit, "g", "d1:429 fail:429");
    assert_cooling(kit, "d1", 60);
}

static void decision_7_a_deployments_own_length_is_not_capped(void **state)
{
    (void)state;
    KIT(kit, "d1 g w=1 cooldown=9000 : 429; d2 g w=0; router retries=0\n");
    expect_events(expect_call(kit, "g", "d1:429 fail:429"), "CooldownSet",
                  "CooldownSet d1 429 rate_limited 9000");
}

static void decision_7_a_retry_after_of_zero_is_absent(void **state)
{
    (void)state;
    KIT(kit, "d1 g w=1 : 429/0; d2 g w=0; router retries=0 cooldown=20\n");
    expect(kit, "g", "d1:429 fail:429");
    assert_cooling(kit, "d1", 20);
}

static void decision_7_an_own_length_of_zero_never_cools(void **state)
{
    (void)state;
    KIT(kit, "d1 g w=1 cooldown=0 fails=0 : 429/30 401 404 500; d2 g w=0; router retries=0\n");
    expect(kit, "g", "d1:429 fail:429");
    expect(kit, "g", "d1:401 fail:401");
    expect(kit, "g", "d1:404 fail:404");
    expect_each(kit, 10, "g", "d1:500 fail:500");
    /* a failure that a skip check stops enters no counter either */
    assert_int_equal(kit_view(kit, "d1").failures, 0);
}

static void reliability_a_later_cooldown_never_shortens_an_earlier_one(void **state)
{
    (void)state;
    KIT(kit, "d1 g : 429/30 429/10; d2 g; router retries=0\n");
    expect(kit, "d1", "d1:429 fail:429");
    assert_cooling(kit, "d1", 30);
    kit_advance(kit, 1);
    expect(kit, "d1", "d1:429 fail:429");
    assert_cooling(kit, "d1", 29);
}

static void decision_7_a_cooldown_that_ends_later_replaces_the_earlier(void **state)
{
    (void)state;
    KIT(kit, "d1 g : 429/30 429/60; d2 g; router retries=0\n");
    expect(kit, "d1", "d1:429 fail:429");
    kit_advance(kit, 10);
    expect(kit, "d1", "d1:429 fail:429");
    assert_cooling(kit, "d1", 60);
}

static void rs_15_other_4xx_never_cool_and_enter_no_counter(void **state)
{
    (void)state;
    for (int status = 400; status < 500; status++) {
        char config[128];

        if (status == 401 || status == 404 || status == 408 || status == 429)
            continue;
        snprintf(config, sizeof(config), "d1 g : %d; d2 g; router retries=0 fails=0\n", status);
        KIT(kit, config);
        (void)kit_call(kit, "d1");
        assert_int_equal(kit_view(kit, "d1").failures, 0);
        assert_true(kit_cooling(kit, "d1") <= 0);
    }
}

static void rs_15_a_skipped_failure_is_no_success(void **state)
{
    (void)state;
    KIT(kit, "d1 g w=1 : 400 400 400 400 400 500; d2 g w=0; router retries=0 cooldown=30\n");
    expect_each(kit, 5, "g", "d1:400 fail:400");
    assert_int_equal(kit_view(kit, "d1").successes, 0);
    /* so five failures alone are more than half of five */
    expect_each(kit, 5, "g", "d1:500 fail:500");
    expect(kit, "g", "d2:ok");
}

static void rs_15_the_four_statuses_pass_the_skip_check(void **state)
{
    static const int statuses[] = {401, 404, 408, 429};
    (void)state;

    for (size_t i = 0; i < sizeof(statuses) / sizeof(*statuses); i++) {
        char config[128];

        snprintf(config, sizeof(config), "d1 g : %d; router retries=0 fails=0\n", statuses[i]);
        KIT(kit, config);
        (void)kit_call(kit, "g");
        assert_int_equal(kit_view(kit, "d1").failures, 1);
        assert_true(kit_cooling(kit, "d1") > 0);
    }
}

static void rs_15_an_own_policy_lifts_the_skip_for_its_kind(void **state)
{
    (void)state;
    KIT(kit, "d1 g fails.bad_request=0 : 422 400; router retries=0\n");
    expect(kit, "g", "d1:422 fail:422");
    assert_true(kit_cooling(kit, "d1") <= 0);
    expect(kit, "g", "d1:400 fail:400");
    assert_cooling(kit, "d1", 5);
}

static void rs_15_a_plain_allowed_fails_does_not_lift_the_skip(void **state)
{
    (void)state;
    KIT(kit, "d1 g fails=0 : 400; router retries=0\n");
    expect_each(kit, 3, "g", "d1:400 fail:400");
}

static void rs_15_a_router_policy_does_not_lift_the_skip(void **state)
{
    (void)state;
    KIT(kit, "d1 g : 400; router retries=0 fails.bad_request=0\n");
    expect_each(kit, 3, "g", "d1:400 fail:400");
}

static void rs_15_disable_cooldowns_disables_them(void **state)
{
    (void)state;
    KIT(kit, "d1 g w=1 fails=0 cooldown=9 : 429 401 500; d2 g w=0; router retries=0 no_cooldowns\n");
    expect(kit, "g", "d1:429 fail:429");
    expect(kit, "g", "d1:401 fail:401");
    expect_each(kit, 8, "g", "d1:500 fail:500");
    assert_int_equal(kit_view(kit, "d1").failures, 0);
}

static void rs_15_a_callers_own_keys_say_nothing_of_the_deployment(void **state)
{
    (void)state;
    KIT(kit, "d1 g w=1 fails=0 : 429 401 500; d2 g w=0; router retries=0\n");
    expect(kit, "g creds", "d1:429 fail:429");
    expect(kit, "g creds", "d1:401 fail:401");
    expect(kit, "g creds", "d1:500 fail:500");
    assert_int_equal(kit_view(kit, "d1").failures, 0);
    expect(kit, "g", "d1:500 fail:500");
    expect(kit, "g", "d2:ok");
}

static void decision_4_only_the_provider_enters_the_counters(void **state)
{
    (void)state;
    for (int origin = 0; origin < WEIR_ORIGIN_COUNT; origin++) {
        struct weir_slice name = weir_origin_name((weir_origin)origin);
        char config[128];

        snprintf(config, sizeof(config), "d1 g fails=0 fails.bad_request=0 : 500@%.*s; router retries=0\n",
                 (int)name.len, name.ptr);
        KIT(kit, config);
        (void)kit_call(kit, "g");
        assert_int_equal(kit_view(kit, "d1").failures, origin == WEIR_ORIGIN_PROVIDER);
        assert_int_equal(kit_cooling(kit, "d1") > 0, origin == WEIR_ORIGIN_PROVIDER);
        assert_int_equal(kit_view(kit, "d1").successes, 0);
    }
}

static void rs_15_a_404_of_a_looked_up_resource_never_counts(void **state)
{
    (void)state;
    KIT(kit, "d1 g : 404@resource_lookup 404; router retries=0\n");
    expect(kit, "g", "d1:404 fail:404");
    assert_true(kit_cooling(kit, "d1") <= 0);
    expect(kit, "g", "d1:404 fail:404");
    assert_cooling(kit, "d1", 5);
}

static void rs_15_a_429_cools_where_there_are_siblings(void **state)
{
    (void)state;
    KIT(kit, "d1 g w=1 : 429; d2 g w=0; router retries=0\n");
    expect_events(expect_call(kit, "g", "d1:429 fail:429"), "CooldownSet",
                  "CooldownSet d1 429 rate_limited 5");
}

static void rs_15_a_429_does_not_cool_a_lone_deployment(void **state)
{
    (void)state;
    KIT(kit, "d1 g : 429/30; router retries=0\n");
    expect_each(kit, 20, "g", "d1:429 fail:429");
}

static void rs_15_401_and_404_cool_at_once_and_lone_ones_too(void **state)
{
    (void)state;
    KIT(kit, "d1 g : 401; d2 h : 404; router retries=0\n");
    expect_events(expect_call(kit, "g", "d1:401 fail:401"), "CooldownSet",
                  "CooldownSet d1 401 not_retryable 5");
    expect_events(expect_call(kit, "h", "d2:404 fail:404"), "CooldownSet",
                  "CooldownSet d2 404 not_retryable 5");
}

static void rs_15_403_and_409_cool_nobody(void **state)
{
    (void)state;
    KIT(kit, "d1 g w=1 : 403 403 403 403 403 409; d2 g w=0; router retries=0\n");
    expect_each(kit, 5, "g", "d1:403 fail:403");
    expect_each(kit, 6, "g", "d1:409 fail:409");
}

static void rs_15_connection_failures_count(void **state)
{
    (void)state;
    KIT(kit, "d1 g fails=0 : connection; router retries=0\n");
    expect(kit, "g", "d1:500 fail:500");
    assert_cooling(kit, "d1", 5);
}

static void rs_15_every_5xx_and_408_counts(void **state)
{
    static const char *const failures[] = {"500", "502", "503", "504", "520", "529", "599", "408"};
    (void)state;

    for (size_t i = 0; i < sizeof(failures) / sizeof(*failures); i++) {
        char config[128];

        snprintf(config, sizeof(config), "d1 g w=1 : %s; d2 g w=0; router retries=0\n", failures[i]);
        KIT(kit, config);
        for (size_t n = 0; n < 4; n++)
            (void)kit_call(kit, "g");
        assert_true(kit_cooling(kit, "d1") <= 0);
        (void)kit_call(kit, "g");
        assert_cooling(kit, "d1", 5);
    }
}

static void decision_6_the_cooldown_rules_use_the_deployments_own_group(void **state)
{
    (void)state;
    KIT(kit, "d1 g : 429; d2 g; router retries=0\n");
    /* asked by its id it is alone for the retry loop, yet it has a sibling */
    expect(kit, "d1", "d1:429 fail:429");
    assert_cooling(kit, "d1", 5);
}

static void decision_6_a_wildcards_group_is_its_pattern(void **state)
{
    (void)state;
    KIT(kit, "d1 acme/* w=1 : 429; d2 acme/* w=0; router retries=0\n");
    expect(kit, "acme/a", "d1:429 fail:429");
    expect(kit, "acme/b", "d2:ok");
}

static void rs_15_blocked_siblings_are_siblings(void **state)
{
    (void)state;
    KIT(kit, "d1 g : 429; d2 g blocked; router retries=0\n");
    expect(kit, "g", "d1:429 fail:429");
    assert_cooling(kit, "d1", 5);
}

static void rs_15_every_failed_attempt_counts_retries_too(void **state)
{
    (void)state;
    KIT(kit, "d1 g fails.internal=1 : 500; router retries=2 cooldown=20\n");
    expect(kit, "g", "d1:500 d1:500 fail:500");
    assert_int_equal(kit_view(kit, "d1").failures, 2);
}

static void rs_15_every_failed_attempt_counts_hops_too(void **state)
{
    (void)state;
    KIT(kit, "a A fails=0 : 500; b B fails=0 : 500; router retries=0; fallbacks A: B\n");
    expect(kit, "A", "a:500 b:500 fail:500");
    assert_cooling(kit, "a", 5);
    assert_cooling(kit, "b", 5);
}

static void decision_8_a_failure_is_recorded_before_the_next_pick(void **state)
{
    (void)state;
    KIT(kit, "d1 g w=1 fails=1 : 500; d2 g w=0 : 500; router retries=4\n");
    /* d1's second failure cools it, so the skip leaves d2 alone for the last two */
    expect(kit, "g", "d1:500 d2:500 d1:500 d2:500 d2:500 fail:500");
}

static void decision_8_another_call_sees_the_cooldown(void **state)
{
    (void)state;
    KIT(kit, "d1 g w=1 : 429+1; d2 g w=0; router retries=0 cooldown=30\n");
    struct kit_call *one = kit_begin(kit, "g");

    kit_run(one);
    assert_string_equal(one->story, "d1:429 fail:429");
    expect(kit, "g", "d2:ok");
}

static void rs_15_the_event_tells_rule_length_and_end(void **state)
{
    const struct weir_event *event;
    (void)state;
    KIT(kit, "d1 g w=1 : 429/9+2; d2 g w=0; router retries=0\n");

    event = kit_event(kit_call(kit, "g"), WEIR_EVENT_COOLDOWN_SET, 0);
    assert_non_null(event);
    assert_int_equal(event->u.cooldown_set.rule, WEIR_COOLDOWN_RATE_LIMITED);
    assert_int_equal(event->u.cooldown_set.length_ns, weir_time_from_s(9));
    assert_int_equal(event->u.cooldown_set.until_ns, KIT_EPOCH_NS + weir_time_from_s(11));
    assert_int_equal(event->u.cooldown_set.failure.status, 429);
    assert_int_equal(event->attempt, 1);
    assert_int_equal(kit_view(kit, "d1").cooldown_until_ns, KIT_EPOCH_NS + weir_time_from_s(11));
    assert_int_equal(kit_view(kit, "d1").cooldown_kind, WEIR_KIND_RATE_LIMIT);
    assert_int_equal(kit_view(kit, "d1").cooldown_status, 429);
}

static void rs_15_a_cooldown_that_is_not_written_has_no_event(void **state)
{
    (void)state;
    KIT(kit, "d1 g : 429/30 429/10; d2 g; router retries=0\n");
    expect_events(expect_call(kit, "d1", "d1:429 fail:429"), "CooldownSet",
                  "CooldownSet d1 429 rate_limited 30");
    expect_events(expect_call(kit, "d1", "d1:429 fail:429"), "CooldownSet", "");
}

static void rs_16_all_cooling_tells_the_time_to_the_soonest_end(void **state)
{
    (void)state;
    KIT(kit, "d1 g w=1 cooldown=30 fails=0 : 500; d2 g w=0 cooldown=9 fails=0 : 500; router retries=0\n");
    expect(kit, "g", "d1:500 fail:500");
    expect(kit, "g", "d2:500 fail:500");
    kit_advance(kit, 3);
    assert_int_equal(expect_call(kit, "g", "fail:429")->fail.failure.retry_after_ns, weir_time_from_s(6));
}

static void rs_16_none_cooling_tells_the_routers_length(void **state)
{
    (void)state;
    KIT(kit, "d1 g blocked; router retries=0 cooldown=17\n");
    assert_int_equal(expect_call(kit, "g", "fail:429")->fail.failure.retry_after_ns, weir_time_from_s(17));
}

static void rs_16_only_this_groups_cooldowns_are_looked_at(void **state)
{
    (void)state;
    KIT(kit, "d1 g cooldown=30 : 401; d2 h cooldown=2 : 401; router retries=0\n");
    expect(kit, "g", "d1:401 fail:401");
    expect(kit, "h", "d2:401 fail:401");
    assert_int_equal(expect_call(kit, "g", "fail:429")->fail.failure.retry_after_ns, weir_time_from_s(30));
}

static void rs_16_the_error_is_a_429_of_the_router(void **state)
{
    (void)state;
    KIT(kit, "d1 g : 401; router retries=0\n");
    expect(kit, "g", "d1:401 fail:401");
    const struct kit_call *call = expect_call(kit, "g", "fail:429");

    assert_int_equal(call->fail.failure.kind, WEIR_KIND_RATE_LIMIT);
    assert_int_equal(call->fail.failure.origin, WEIR_ORIGIN_ROUTER);
    assert_int_equal(call->fail.reason, WEIR_REASON_NO_DEPLOYMENTS);
    assert_int_equal(call->fail.attempt, 0);
}

static void rs_16_the_cooling_ids_are_this_groups_alone(void **state)
{
    struct weir_slice ids[4];
    (void)state;
    KIT(kit, "d1 g : 401; d2 g blocked; d3 h : 401; router retries=0\n");

    (void)kit_call(kit, "g");
    (void)kit_call(kit, "h");
    const struct kit_call *call = expect_call(kit, "g", "fail:429");

    assert_int_equal(weir_call_cooling(call->call, WEIR_SLICE("g"), kit->now_ns, ids, 4), 1);
    assert_int_equal(ids[0].len, 2);
    assert_memory_equal(ids[0].ptr, "d1", 2);
    assert_int_equal(weir_call_cooling(call->call, WEIR_SLICE("g"), kit->now_ns, ids, 0), 1);
    assert_int_equal(
        weir_call_cooling(call->call, WEIR_SLICE("g"), kit->now_ns + weir_time_from_s(5), ids, 4), 0);
}

static void rs_16_the_error_counts_against_nobody(void **state)
{
    (void)state;
    KIT(kit, "d1 g : 401; router retries=0 cooldown=30\n");
    expect(kit, "g", "d1:401 fail:401");
    expect_each(kit, 10, "g", "fail:429");
    assert_int_equal(kit_view(kit, "d1").failures, 1);
    assert_cooling(kit, "d1", 30);
}

KIT_TESTS_MAIN(TESTS)
