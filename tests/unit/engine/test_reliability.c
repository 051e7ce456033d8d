/*
 * reliability.md, told as tests in the order of its sentences.  Those that stand beside the finer rules of
 * their matter have the same prefix and are in the other files of this folder; what the page says of the
 * form of a configuration is in tests/unit/config.
 */
#include "engine_kit.h"

#include <string.h>

#include "base/time.h"

/* clang-format off */
#define TESTS(X) \
    X("reliability", reliability_a_fallback_moves_the_request_to_another_group) \
    X("reliability", reliability_a_cooldown_takes_one_deployment_out_of_every_pick) \
    X("reliability, Retries", reliability_the_loop_picks_again_until_one_answers_or_the_count_is_used_up) \
    X("reliability, Retries", reliability_a_guardrail_gives_up_at_once) \
    X("reliability, Retries", reliability_the_special_kinds_are_not_retried_where_their_list_is_set) \
    X("reliability, Retries", reliability_a_4xx_is_retried_only_if_it_is_one_of_five) \
    X("reliability, Retries", reliability_a_not_found_error_is_not_retried) \
    X("reliability, Retries", reliability_a_rate_limit_with_nobody_healthy_goes_to_the_fallbacks) \
    X("reliability, Retries", reliability_auth_and_permission_are_not_retried_on_a_single_deployment) \
    X("reliability, Retries", reliability_nothing_is_retried_with_nobody_healthy) \
    X("reliability, Retries", reliability_the_wait_is_zero_while_somebody_else_is_healthy) \
    X("reliability, Retries", reliability_otherwise_retry_after_is_honoured_up_to_a_minute) \
    X("reliability, Retries", reliability_without_it_the_wait_doubles_from_half_a_second_to_eight) \
    X("reliability, Retry policies", reliability_a_retry_policy_counts_for_each_kind) \
    X("reliability, Retry policies", reliability_a_group_may_have_a_policy_of_its_own) \
    X("reliability, Fallbacks", reliability_disable_fallbacks_and_guardrails_raise) \
    X("reliability, Fallbacks", reliability_first_orders_then_siblings_then_the_list_of_the_kind) \
    X("reliability, Fallbacks", reliability_a_targets_other_keys_override_for_that_hop) \
    X("reliability, Fallbacks", reliability_default_fallbacks_are_the_catch_all_entry) \
    X("reliability, Fallbacks", reliability_the_served_group_is_looked_up_then_the_asked_one) \
    X("reliability, Fallbacks", reliability_the_process_lists_serve_where_the_router_sets_none) \
    X("reliability, Fallbacks", reliability_a_requests_own_fallbacks_win) \
    X("reliability, Fallbacks", reliability_targets_are_taken_in_order_each_with_a_whole_retry_loop) \
    X("reliability, Fallbacks", reliability_before_another_group_access_and_budget_are_asked) \
    X("reliability, Fallbacks", reliability_tried_targets_are_skipped) \
    X("reliability, Fallbacks", reliability_the_walk_stops_at_max_fallbacks) \
    X("reliability, Fallbacks", reliability_each_hop_is_reported) \
    X("reliability, Order fallbacks", reliability_a_failure_walks_down_the_orders_before_it_leaves_the_group) \
    X("reliability, Order fallbacks", reliability_each_order_has_its_own_retry_loop) \
    X("reliability, Order fallbacks", reliability_the_special_kinds_skip_the_orders) \
    X("reliability, Weighted failover", reliability_a_failed_deployment_is_excluded_and_its_siblings_are_picked_by_weight) \
    X("reliability, Weighted failover", reliability_siblings_that_cool_down_are_left_out) \
    X("reliability, Weighted failover", reliability_the_special_kinds_skip_weighted_failover) \
    X("reliability, Streams", reliability_an_opened_stream_can_still_fail) \
    X("reliability, Streams", reliability_a_break_before_content_takes_the_next_fallback_too) \
    X("reliability, Streams", reliability_once_content_has_reached_the_caller_the_stream_fails) \
    X("reliability, Cooldowns", reliability_when_its_time_is_over_a_deployment_is_simply_eligible_again) \
    X("reliability, Cooldowns", reliability_a_success_does_not_end_a_cooldown_early) \
    X("reliability, Cooldowns", reliability_a_404_of_a_look_up_never_counts) \
    X("reliability, Cooldowns", reliability_the_length_is_the_deployments_the_providers_the_routers_or_five) \
    X("reliability, Cooldowns", reliability_a_cooldown_is_an_event) \
    X("reliability, Allowed fails", reliability_a_deployment_cools_once_its_count_is_over_the_limit) \
    X("reliability, Allowed fails", reliability_the_count_expires_with_the_cooldown_time) \
    X("reliability, Allowed fails", reliability_the_counts_of_the_error_rate_live_for_a_minute) \
    X("reliability, Allowed fails", reliability_a_lone_deployment_is_protected_from_the_error_rate) \
    X("reliability, Allowed fails", reliability_all_cooled_is_a_rate_limit_until_the_soonest_end) \
    X("reliability, Allowed fails", reliability_all_cooled_falls_back_like_any_rate_limit) \
    X("reliability, Allowed fails", reliability_health_check_routing_with_a_policy_picks_a_cooled_one_anyway)
/* clang-format on */

TESTS(KIT_TEST_DECLARE)

static void reliability_a_fallback_moves_the_request_to_another_group(void **state)
{
    (void)state;
    KIT(kit, "a A : 500; b B; router retries=0; fallbacks A: B\n");
    assert_slice_is(kit_summary(expect_call(kit, "A", "a:500 b:ok")).group, "B");
}

static void reliability_a_cooldown_takes_one_deployment_out_of_every_pick(void **state)
{
    (void)state;
    KIT(kit, "d1 g w=1 : 429; d2 g w=0; alias other g; router retries=0\n");
    expect(kit, "g", "d1:429 fail:429");
    expect_each(kit, 10, "g", "d2:ok");
    expect_each(kit, 10, "other stream", "d2:ok");
}

static void reliability_the_loop_picks_again_until_one_answers_or_the_count_is_used_up(void **state)
{
    (void)state;
    KIT(kit, "d1 g : 500 500 ok; d2 h : 500; router retries=2\n");
    expect(kit, "g", "d1:500 d1:500 d1:ok");
    expect(kit, "h", "d2:500 d2:500 d2:500 fail:500");
}

static void reliability_a_guardrail_gives_up_at_once(void **state)
{
    (void)state;
    KIT(kit, "d1 g w=1 : guardrail; d2 g w=0; router retries=3\n");
    expect(kit, "g", "d1:400 fail:400");
}

static void reliability_the_special_kinds_are_not_retried_where_their_list_is_set(void **state)
{
    (void)state;
    KIT(kit, "d1 g w=1 : context_window=500 content_policy=500; d2 g w=0; a A; b B\n"
             "context g: A; content g: B; router retries=3\n");
    expect(kit, "g", "d1:500 a:ok");
    expect(kit, "g", "d1:500 b:ok");
}

static void reliability_a_4xx_is_retried_only_if_it_is_one_of_five(void **state)
{
    (void)state;
    for (int status = 400; status < 500; status++) {
        bool among = status == 401 || status == 403 || status == 408 || status == 409 || status == 429;
        char config[128];
        char story[64];

        if (status == 404)
            continue; /* a kind of its own, below */
        snprintf(config, sizeof(config), "d1 g w=1 : api_error=%d; d2 g w=0; router retries=1\n", status);
        snprintf(story, sizeof(story), among ? "d1:%d d2:ok" : "d1:%d fail:%d", status, status);
        KIT(kit, config);
        expect(kit, "g", story);
    }
}

static void reliability_a_not_found_error_is_not_retried(void **state)
{
    (void)state;
    KIT(kit, "d1 g w=1 : 404; d2 g w=0; d3 h w=1 : not_found=503; d4 h w=0; router retries=1\n");
    expect(kit, "g", "d1:404 fail:404");
    expect(kit, "h", "d3:503 fail:503");
}

static void reliability_a_rate_limit_with_nobody_healthy_goes_to_the_fallbacks(void **state)
{
    (void)state;
    KIT(kit, "d1 g w=1 : 429; d2 g w=0 : 429; b B; router retries=5; fallbacks g: B\n");
    expect(kit, "g", "d1:429 d2:429 b:ok");
}

static void reliability_auth_and_permission_are_not_retried_on_a_single_deployment(void **state)
{
    (void)state;
    KIT(kit, "d1 g : 401 403; router retries=2 no_cooldowns\n");
    expect(kit, "g", "d1:401 fail:401");
    expect(kit, "g", "d1:403 fail:403");
}

static void reliability_nothing_is_retried_with_nobody_healthy(void **state)
{
    (void)state;
    KIT(kit, "d1 g fails=0 : 500; router retries=5\n");
    expect(kit, "g", "d1:500 fail:500");
}

static void reliability_the_wait_is_zero_while_somebody_else_is_healthy(void **state)
{
    (void)state;
    KIT(kit, "d1 g w=1 : 429/30; d2 g w=0; router retries=1\n");
    expect_waits(expect_call(kit, "g", "d1:429 d2:ok"), 0, 0, 0);
}

static void reliability_otherwise_retry_after_is_honoured_up_to_a_minute(void **state)
{
    (void)state;
    KIT(kit, "d1 g : 429/60 ok 429/61 ok; router retries=1 jitter=0\n");
    expect_waits(expect_call(kit, "g", "d1:429 d1:ok"), 1, 60, 60);
    expect_waits(expect_call(kit, "g", "d1:429 d1:ok"), 1, 0.5, 0.5);
}

static void reliability_without_it_the_wait_doubles_from_half_a_second_to_eight(void **state)
{
    static const double waits[] = {0.5, 1, 2, 4, 8, 8};
    const struct kit_call *call;
    (void)state;
    KIT(kit, "d1 g : 500; router retries=6 jitter=0 no_cooldowns\n");
    call = kit_call(kit, "g");
    assert_int_equal(call->wait_count, sizeof(waits) / sizeof(*waits));
    for (size_t i = 0; i < call->wait_count; i++)
        assert_int_equal(call->waits[i], weir_time_from_s(waits[i]));
}

static void reliability_a_retry_policy_counts_for_each_kind(void **state)
{
    (void)state;
    KIT(kit, "d1 g : 429 429 429 429 408 408 content_policy\n"
             "router retries=5 policy.rate_limit=3 policy.timeout=1 policy.content_policy=0\n");
    expect(kit, "g", "d1:429 d1:429 d1:429 d1:429 fail:429");
    expect(kit, "g", "d1:408 d1:408 fail:408");
    expect(kit, "g", "d1:400 fail:400");
}

static void reliability_a_group_may_have_a_policy_of_its_own(void **state)
{
    (void)state;
    KIT(kit, "d1 gpt-4o : 429; d2 other : 429\n"
             "router retries=0 policy.rate_limit=1; policy gpt-4o rate_limit=2\n");
    expect(kit, "gpt-4o", "d1:429 d1:429 d1:429 fail:429");
    expect(kit, "other", "d2:429 d2:429 fail:429");
}

static void reliability_disable_fallbacks_and_guardrails_raise(void **state)
{
    (void)state;
    KIT(kit, "d1 g order=1 : 500 guardrail; d2 g order=2; b B\n"
             "router retries=0 weighted; fallbacks g: B\n");
    expect(kit, "g no_fallbacks", "d1:500 fail:500");
    expect(kit, "g", "d1:400 fail:400");
}

static void reliability_first_orders_then_siblings_then_the_list_of_the_kind(void **state)
{
    (void)state;
    KIT(kit, "d1 g order=1 w=1 : 500; d2 g order=1 w=0 : 500; d3 g order=2 : 500; b B; x X; y Y\n"
             "d4 h : context_window content_policy 500\n"
             "router retries=0 weighted no_cooldowns; fallbacks g: B; fallbacks h: B\n"
             "context h: X; content h: Y\n");
    expect(kit, "g", "d1:500 d3:500 d2:500 b:ok");
    expect(kit, "h", "d4:400 x:ok");
    expect(kit, "h", "d4:400 y:ok");
    expect(kit, "h", "d4:500 b:ok");
}

static void reliability_a_targets_other_keys_override_for_that_hop(void **state)
{
    const struct kit_call *call;
    (void)state;
    KIT(kit, "a A : 500; b B : 500; c C; router retries=0; fallbacks A: B{t0} C\n");
    call = expect_call(kit, "A", "a:500 b:500 c:ok");
    assert_int_equal(call->attempts[1].start.overrides.len, 0);
    assert_slice_is(call->attempts[2].start.overrides, "{t0}");
    assert_int_equal(call->attempts[3].start.overrides.len, 0);
}

static void reliability_default_fallbacks_are_the_catch_all_entry(void **state)
{
    (void)state;
    KIT(kit, "a A : 500; b B : 500; c C; d D; router retries=0; fallbacks B: D; default C\n");
    expect(kit, "A", "a:500 c:ok");
    expect(kit, "B", "b:500 d:ok");
}

static void reliability_the_served_group_is_looked_up_then_the_asked_one(void **state)
{
    (void)state;
    KIT(kit, "a A : 500; b B : 500; c C : 500; d D; router retries=0; fallbacks A: B D; fallbacks B: C\n");
    expect(kit, "A", "a:500 b:500 c:500 d:ok");
}

static void reliability_the_process_lists_serve_where_the_router_sets_none(void **state)
{
    (void)state;
    KIT(kit, "a A : 500 context_window; b B; c C; x X; router retries=0\n"
             "fallbacks A: B; process-fallbacks A: C; process-context A: X\n");
    expect(kit, "A", "a:500 b:ok");
    expect(kit, "A", "a:400 x:ok");
}

static void reliability_a_requests_own_fallbacks_win(void **state)
{
    (void)state;
    KIT(kit, "a A : 500; b B; c C; router retries=0; fallbacks A: B\n");
    expect(kit, "A fallbacks=C", "a:500 c:ok");
    expect(kit, "A", "a:500 b:ok");
}

static void reliability_targets_are_taken_in_order_each_with_a_whole_retry_loop(void **state)
{
    (void)state;
    KIT(kit, "a A : 500; b B : 500; c C : 500 ok; router retries=1; fallbacks A: B C\n");
    expect(kit, "A", "a:500 a:500 b:500 b:500 c:500 c:ok");
}

static void reliability_before_another_group_access_and_budget_are_asked(void **state)
{
    (void)state;
    KIT(kit, "a A order=1 : 500; a2 A order=2 : 500; b B; c C\n"
             "router retries=0 ask=both; fallbacks A: B C; answer B no\n");
    expect(kit, "A", "a:500 a2:500 ?B=no ?C=yes c:ok");
}

static void reliability_tried_targets_are_skipped(void **state)
{
    (void)state;
    KIT(kit, "a A : 500; b B : 500; c C : 500\n"
             "router retries=0; fallbacks A: B C; fallbacks B: C A; fallbacks C: B A\n");
    expect(kit, "A", "a:500 b:500 c:500 fail:500");
}

static void reliability_the_walk_stops_at_max_fallbacks(void **state)
{
    (void)state;
    KIT(kit, "a A : 500; b B : 500; c C : 500; d D : 500; e E : 500; f F : 500; g G\n"
             "router retries=0; fallbacks A: B C D E F G\n");
    expect(kit, "A", "a:500 b:500 c:500 d:500 e:500 f:500 fail:500");
}

static void reliability_each_hop_is_reported(void **state)
{
    const struct weir_event *event;
    (void)state;
    KIT(kit, "a A order=1 : 500; a2 A order=2 : 503; b B; router retries=0; fallbacks A: B\n");
    const struct kit_call *call = expect_call(kit, "A", "a:500 a2:503 b:ok");

    assert_int_equal(kit_event_count(call, WEIR_EVENT_FALLBACK), 2);
    event = kit_event(call, WEIR_EVENT_FALLBACK, 0);
    assert_slice_is(event->u.fallback.target, "A");
    assert_int_equal(event->u.fallback.order, 2);
    assert_int_equal(event->u.fallback.depth, 0);
    assert_int_equal(event->u.fallback.cause.status, 500);
    event = kit_event(call, WEIR_EVENT_FALLBACK, 1);
    assert_slice_is(event->u.fallback.source, "A");
    assert_slice_is(event->u.fallback.target, "B");
    assert_int_equal(event->u.fallback.order, WEIR_UNSET_ORDER);
    assert_int_equal(event->u.fallback.depth, 1);
    assert_int_equal(event->u.fallback.level, 0);
    assert_int_equal(event->u.fallback.cause.kind, WEIR_KIND_SERVICE_UNAVAILABLE);
    assert_int_equal(event->u.fallback.cause.status, 503);
}

static void reliability_a_failure_walks_down_the_orders_before_it_leaves_the_group(void **state)
{
    (void)state;
    KIT(kit, "d1 g order=1 : 500; d2 g order=2 : 500; d3 g order=3 : 500; b B; router retries=0; fallbacks "
             "g: B\n");
    expect(kit, "g", "d1:500 d2:500 d3:500 b:ok");
}

static void reliability_each_order_has_its_own_retry_loop(void **state)
{
    (void)state;
    KIT(kit, "d1 g order=1 : 500; d2 g order=2 : 500 ok; router retries=1\n");
    expect(kit, "g", "d1:500 d1:500 d2:500 d2:ok");
}

static void reliability_the_special_kinds_skip_the_orders(void **state)
{
    (void)state;
    KIT(kit, "d1 g order=1 : context_window content_policy; d2 g order=2; b B; router retries=0; fallbacks "
             "g: B\n");
    expect(kit, "g", "d1:400 b:ok");
    expect(kit, "g", "d1:400 b:ok");
}

static void reliability_a_failed_deployment_is_excluded_and_its_siblings_are_picked_by_weight(void **state)
{
    size_t second = 0;
    (void)state;
    KIT(kit, "d1 g w=1000000 : 400; d2 g w=3; d3 g w=1; b B; router retries=0 weighted; fallbacks g: B\n");
    for (size_t i = 0; i < 400; i++) {
        const struct kit_call *call = kit_call(kit, "g");

        if (call->attempt_count == 2)
            second += strcmp(call->story, "d1:400 d2:ok") == 0;
        assert_int_equal(call->end, KIT_DELIVERED);
        kit_forget(kit);
    }
    assert_in_range(second, 260, 340);
}

static void reliability_siblings_that_cool_down_are_left_out(void **state)
{
    (void)state;
    KIT(kit, "d1 g w=1 : 500; d2 g w=0; b B; router retries=0 weighted cooldown=60; fallbacks g: B\n");
    kit_script(kit, "d2", "401");
    expect(kit, "d2 no_fallbacks", "d2:401 fail:401");
    expect(kit, "g", "d1:500 b:ok");
}

static void reliability_the_special_kinds_skip_weighted_failover(void **state)
{
    (void)state;
    KIT(kit, "d1 g w=1 : context_window content_policy; d2 g w=0; b B\n"
             "router retries=0 weighted; fallbacks g: B\n");
    expect(kit, "g", "d1:400 b:ok");
    expect(kit, "g", "d1:400 b:ok");
}

static void reliability_an_opened_stream_can_still_fail(void **state)
{
    (void)state;
    KIT(kit, "d1 g w=1 : open,chunk,500+3; d2 g w=0 : open,content,ok; router retries=1\n");
    expect(kit, "g stream", "d1:500 d2*:ok");
}

static void reliability_a_break_before_content_takes_the_next_fallback_too(void **state)
{
    (void)state;
    KIT(kit, "a A : open,chunk,connection; b B : open,500; c C : open,content,ok; router retries=1; "
             "fallbacks A: B C\n");
    expect(kit, "A stream", "a:500 a:500 b:500 b:500 c*:ok");
}

static void reliability_once_content_has_reached_the_caller_the_stream_fails(void **state)
{
    (void)state;
    KIT(kit,
        "d1 g w=1 : open,content,connection; d2 g w=0; b B; router retries=3 weighted; fallbacks g: B\n");
    expect(kit, "g stream", "d1*:500 fail*:500");
}

static void reliability_when_its_time_is_over_a_deployment_is_simply_eligible_again(void **state)
{
    (void)state;
    KIT(kit, "d1 g w=1 : 429 ok; d2 g w=0; router retries=0 cooldown=7\n");
    expect(kit, "g", "d1:429 fail:429");
    kit_advance(kit, 6.999);
    expect(kit, "g", "d2:ok");
    kit_advance(kit, 0.001);
    expect(kit, "g", "d1:ok");
}

static void reliability_a_success_does_not_end_a_cooldown_early(void **state)
{
    (void)state;
    KIT(kit, "d1 g w=1 : 429 ok; d2 g w=0; router retries=0 cooldown=7\n");
    expect(kit, "g", "d1:429 fail:429");
    expect(kit, "d1", "d1:ok");
    expect(kit, "g", "d2:ok");
}

static void reliability_a_404_of_a_look_up_never_counts(void **state)
{
    (void)state;
    KIT(kit, "d1 g fails=0 : 404@resource_lookup; router retries=0\n");
    expect_each(kit, 20, "g", "d1:404 fail:404");
    assert_int_equal(kit_view(kit, "d1").failures, 0);
}

static void reliability_the_length_is_the_deployments_the_providers_the_routers_or_five(void **state)
{
    static const struct {
        const char *config;
        double seconds;
    } cases[] = {
        {"d1 g w=1 cooldown=3 : 429/20; d2 g w=0; router retries=0 cooldown=9\n", 3},
        {"d1 g w=1 : 429/20; d2 g w=0; router retries=0 cooldown=9\n", 20},
        {"d1 g w=1 : 429; d2 g w=0; router retries=0 cooldown=9\n", 9},
        {"d1 g w=1 : 429; d2 g w=0; router retries=0\n", 5},
    };
    (void)state;

    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        KIT(kit, cases[i].config);
        expect(kit, "g", "d1:429 fail:429");
        assert_float_equal(kit_cooling(kit, "d1"), cases[i].seconds, 1e-6);
    }
}

static void reliability_a_cooldown_is_an_event(void **state)
{
    (void)state;
    KIT(kit, "d1 g w=1 : 429; d2 g w=0; router retries=1\n");
    expect_events(kit_call(kit, "g"), "CooldownSet", "CooldownSet d1 429 rate_limited 5");
}

static void reliability_a_deployment_cools_once_its_count_is_over_the_limit(void **state)
{
    (void)state;
    KIT(kit, "d1 g fails=2 : 500; router retries=0\n");
    expect_each(kit, 3, "g", "d1:500 fail:500");
    expect(kit, "g", "fail:429");
}

static void reliability_the_count_expires_with_the_cooldown_time(void **state)
{
    (void)state;
    KIT(kit, "d1 g fails=2 cooldown=10 : 500; router retries=0\n");
    expect_each(kit, 2, "g", "d1:500 fail:500");
    kit_advance(kit, 10);
    expect_each(kit, 3, "g", "d1:500 fail:500");
    expect(kit, "g", "fail:429");
}

static void reliability_the_counts_of_the_error_rate_live_for_a_minute(void **state)
{
    (void)state;
    KIT(kit, "d1 g w=1 : 500; d2 g w=0; router retries=0\n");
    expect_each(kit, 4, "g", "d1:500 fail:500");
    kit_advance(kit, 70);
    assert_int_equal(kit_view(kit, "d1").failures, 0);
    expect_each(kit, 5, "g", "d1:500 fail:500");
    expect(kit, "g", "d2:ok");
}

static void reliability_a_lone_deployment_is_protected_from_the_error_rate(void **state)
{
    (void)state;
    KIT(kit, "d1 g : 500; router retries=0\n");
    expect_each(kit, 30, "g", "d1:500 fail:500");
}

static void reliability_all_cooled_is_a_rate_limit_until_the_soonest_end(void **state)
{
    const struct kit_call *call;
    (void)state;
    KIT(kit, "d1 g w=1 : 429/8; d2 g w=0 : 429/30; router retries=1\n");
    expect(kit, "g", "d1:429 d2:429 fail:429");
    kit_advance(kit, 2);
    call = expect_call(kit, "g", "fail:429");
    assert_int_equal(call->fail.failure.kind, WEIR_KIND_RATE_LIMIT);
    assert_int_equal(call->fail.failure.retry_after_ns, weir_time_from_s(6));
}

static void reliability_all_cooled_falls_back_like_any_rate_limit(void **state)
{
    (void)state;
    KIT(kit, "d1 g w=1 : 429; d2 g w=0 : 429; b B; router retries=1; fallbacks g: B\n");
    expect(kit, "g", "d1:429 d2:429 b:ok");
    expect(kit, "g", "b:ok");
}

static void reliability_health_check_routing_with_a_policy_picks_a_cooled_one_anyway(void **state)
{
    (void)state;
    KIT(kit, "d1 g : 500 ok; router retries=0 cooldown=30 bypass fails.internal=0\n");
    expect(kit, "g", "d1:500 fail:500");
    assert_true(kit_cooling(kit, "d1") > 0);
    expect(kit, "g", "d1:ok");
}

KIT_TESTS_MAIN(TESTS)
