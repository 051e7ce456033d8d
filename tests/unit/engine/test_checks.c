/*
 * The checks before a call (router-semantics 18) and the filter of web search (4): whom they drop, and what
 * is told when they leave nobody.
 */
#include "engine_kit.h"

#include "base/slice.h"
#include "base/time.h"

/* clang-format off */
#define TESTS(X) \
    X("RS 18", rs_18_checks_do_nothing_unless_they_are_on) \
    X("RS 18", rs_18_a_prompt_that_is_too_long_for_one_goes_to_another) \
    X("RS 18", rs_18_the_limit_itself_is_allowed) \
    X("RS 18", rs_18_an_unknown_length_drops_nobody) \
    X("RS 18", rs_18_an_unknown_limit_drops_nobody) \
    X("decisions 37", decision_37_nobody_is_dropped_inside_the_margin) \
    X("RS 18", rs_18_too_long_for_all_is_a_context_window_failure) \
    X("RS 18", rs_18_too_long_for_all_takes_its_own_list) \
    X("RS 18", rs_18_without_that_list_it_takes_the_generic_one) \
    X("RS 18", rs_18_too_long_is_told_though_the_long_one_cools_down) \
    X("RS 18", rs_18_used_up_requests_drop_a_deployment) \
    X("RS 18", rs_18_used_up_requests_of_all_are_a_429) \
    X("RS 18", rs_18_a_limit_that_passes_is_told_first) \
    X("RS 18", rs_18_a_deployment_of_another_region_is_dropped) \
    X("RS 18", rs_18_a_deployment_without_region_is_everywhere) \
    X("RS 18", rs_18_a_deployment_that_lacks_a_parameter_is_dropped) \
    X("RS 18", rs_18_without_a_suitable_one_it_is_a_bad_request) \
    X("RS 18", rs_18_a_suitable_one_that_is_too_short_is_told_as_that) \
    X("RS 4", rs_4_checks_come_before_orders) \
    X("RS 4", rs_4_checks_come_before_tags) \
    X("RS 4", rs_4_checks_hold_for_retries_and_continuations) \
    X("RS 4", rs_4_the_bypass_leaves_the_checks_on) \
    X("RS 3", rs_3_an_id_is_not_checked) \
    X("RS 4.2", rs_4_web_search_drops_who_cannot) \
    X("RS 4.2", rs_4_web_search_drops_nobody_where_none_can) \
    X("RS 4.2", rs_4_web_search_of_one_that_cools_down_is_a_429) \
    X("RS 4.2", rs_4_a_blocked_deployment_serves_no_web_search) \
    X("RS 4.2", rs_4_a_kind_of_call_goes_to_who_serves_it) \
    X("RS 4.2", rs_4_a_kind_of_call_that_nobody_serves_goes_to_anybody) \
    X("RS 4.2", rs_4_who_serves_a_kind_of_call_and_cools_down_is_waited_for) \
    X("RS 4.2", rs_4_a_blocked_deployment_serves_no_kind_of_call) \
    X("RS 4.2", rs_4_a_retry_and_an_order_keep_to_the_kind_of_call) \
    X("RS 4.5", rs_4_cooldowns_are_ignored_when_all_who_serve_the_call_cool_down)
/* clang-format on */

TESTS(KIT_TEST_DECLARE)

static void next_minute(struct kit *kit)
{
    kit->now_ns += 60 * WEIR_NS_PER_S - kit->now_ns % (60 * WEIR_NS_PER_S);
}

static const struct weir_fail *fails(struct kit *kit, const char *request, int status, weir_reason reason)
{
    struct kit_call *call = kit_call(kit, request);

    assert_int_equal(call->end, KIT_FAILED);
    assert_int_equal(call->fail.failure.status, status);
    assert_int_equal(call->fail.reason, reason);
    assert_int_equal(call->fail.failure.origin, WEIR_ORIGIN_ROUTER);
    assert_int_equal(call->fail.attempt, 0);
    return &call->fail;
}

static void rs_18_checks_do_nothing_unless_they_are_on(void **state)
{
    KIT(kit, "d g max_input=10 max.rpm=1 params=1 region=us; router retries=0");
    (void)state;

    expect_each(kit, 3, "g tokens=1000 params=6 region=eu", "d:ok");
}

static void rs_18_a_prompt_that_is_too_long_for_one_goes_to_another(void **state)
{
    KIT(kit, "d g w=1 max_input=10; e g w=0 max_input=100; router retries=0 checks");
    (void)state;

    expect_each(kit, 5, "g tokens=9", "d:ok");
    expect_each(kit, 5, "g tokens=90", "e:ok");
}

static void rs_18_the_limit_itself_is_allowed(void **state)
{
    KIT(kit, "d g max_input=10; router retries=0 checks margin=0");
    (void)state;

    expect(kit, "g tokens=10", "d:ok");
    expect(kit, "g tokens=11", "fail:400");
}

static void rs_18_an_unknown_length_drops_nobody(void **state)
{
    KIT(kit, "d g max_input=0; router retries=0 checks");
    (void)state;

    expect(kit, "g", "d:ok");
}

static void rs_18_an_unknown_limit_drops_nobody(void **state)
{
    KIT(kit, "d g; router retries=0 checks");
    (void)state;

    expect(kit, "g tokens=4000000000", "d:ok");
}

static void decision_37_nobody_is_dropped_inside_the_margin(void **state)
{
    KIT(kit, "d g max_input=75; router retries=0 checks");
    (void)state;

    expect(kit, "g tokens=100", "d:ok");
    expect(kit, "g tokens=101", "d:ok");
    expect(kit, "g tokens=102", "fail:400");
}

static void rs_18_too_long_for_all_is_a_context_window_failure(void **state)
{
    KIT(kit,
        "d g max_input=10; e g max_input=90; x g max_input=999 blocked; router retries=2 checks margin=0");
    const struct weir_fail *fail = fails(kit, "g tokens=91", 400, WEIR_REASON_PROMPT_TOO_LONG);
    (void)state;

    assert_int_equal(fail->failure.kind, WEIR_KIND_CONTEXT_WINDOW);
    assert_true(weir_slice_eq(fail->limit.what, WEIR_SLICE("max_input_tokens")));
    assert_true(weir_slice_eq(fail->limit.deployment, WEIR_SLICE("e")));
    assert_int_equal(fail->limit.limit, 90);
    assert_int_equal(fail->limit.usage, 91);
}

static void rs_18_too_long_for_all_takes_its_own_list(void **state)
{
    KIT(kit, "d g max_input=10; l long max_input=1000; b B\n"
             "router retries=2 checks; context g: long; fallbacks g: B");
    (void)state;

    expect(kit, "g tokens=100", "l:ok");
    expect(kit, "g tokens=10000", "fail:400");
}

static void rs_18_without_that_list_it_takes_the_generic_one(void **state)
{
    KIT(kit, "d g max_input=10; b B; router retries=2 checks; fallbacks g: B");
    (void)state;

    expect(kit, "g tokens=100", "b:ok");
}

static void rs_18_too_long_is_told_though_the_long_one_cools_down(void **state)
{
    KIT(kit, "d g w=0 max_input=10; e g w=1 max_input=1000 fails=0 : 500; l long\n"
             "router retries=0 checks; context g: long");
    (void)state;

    expect(kit, "g tokens=100", "e:500 fail:500");
    expect(kit, "g tokens=100", "l:ok");
}

static void rs_18_used_up_requests_drop_a_deployment(void **state)
{
    KIT(kit, "d g w=1 max.rpm=2; e g w=0; router retries=0 checks");
    (void)state;

    next_minute(kit);
    expect_each(kit, 2, "g", "d:ok");
    expect_each(kit, 3, "g", "e:ok");
    next_minute(kit);
    expect(kit, "g", "d:ok");
}

static void rs_18_used_up_requests_of_all_are_a_429(void **state)
{
    KIT(kit, "d g max.rpm=1; b B; router retries=2 checks cooldown=6; fallbacks h: B");
    const struct weir_fail *fail;
    (void)state;

    next_minute(kit);
    expect(kit, "g", "d:ok");
    fail = fails(kit, "g", 429, WEIR_REASON_NO_DEPLOYMENTS);
    assert_int_equal(fail->failure.kind, WEIR_KIND_RATE_LIMIT);
    assert_int_equal(fail->failure.retry_after_ns, 6 * WEIR_NS_PER_S);
    expect(kit, "g fallbacks=B", "b:ok");
}

static void rs_18_a_limit_that_passes_is_told_first(void **state)
{
    KIT(kit, "d g w=1 max.rpm=1 max_input=1000; e g w=0 max_input=10; router retries=0 checks");
    (void)state;

    next_minute(kit);
    expect(kit, "g tokens=100", "d:ok");
    (void)fails(kit, "g tokens=100", 429, WEIR_REASON_NO_DEPLOYMENTS);
    (void)fails(kit, "g tokens=10000", 400, WEIR_REASON_PROMPT_TOO_LONG);
}

static void rs_18_a_deployment_of_another_region_is_dropped(void **state)
{
    KIT(kit, "d g w=1 region=us; e g w=0 region=eu; router retries=0 checks");
    (void)state;

    expect_each(kit, 3, "g region=eu", "e:ok");
    expect_each(kit, 3, "g region=us", "d:ok");
    expect_each(kit, 3, "g", "d:ok");
}

static void rs_18_a_deployment_without_region_is_everywhere(void **state)
{
    KIT(kit, "d g w=1; e g w=0 region=us; router retries=0 checks");
    (void)state;

    expect_each(kit, 3, "g region=eu", "d:ok");
}

static void rs_18_a_deployment_that_lacks_a_parameter_is_dropped(void **state)
{
    KIT(kit, "d g w=1 params=5; e g w=0 params=7; router retries=0 checks");
    (void)state;

    expect_each(kit, 3, "g params=4", "d:ok");
    expect_each(kit, 3, "g params=6", "e:ok");
    kit_reload(kit, "d g; router checks");
    expect(kit, "g params=4294967295", "d:ok");
}

static void rs_18_without_a_suitable_one_it_is_a_bad_request(void **state)
{
    KIT(kit, "d g params=1 region=us; b B; router retries=2 checks; fallbacks h: B");
    (void)state;

    assert_int_equal(fails(kit, "g params=2", 400, WEIR_REASON_UNSUITABLE)->failure.kind,
                     WEIR_KIND_BAD_REQUEST);
    (void)fails(kit, "g region=eu", 400, WEIR_REASON_UNSUITABLE);
    expect(kit, "g region=eu fallbacks=B", "b:ok");
}

static void rs_18_a_suitable_one_that_is_too_short_is_told_as_that(void **state)
{
    KIT(kit, "d g region=eu max_input=10; e g region=us max_input=1000; router retries=2 checks");
    (void)state;

    (void)fails(kit, "g region=eu tokens=100", 400, WEIR_REASON_PROMPT_TOO_LONG);
}

static void rs_4_checks_come_before_orders(void **state)
{
    KIT(kit, "d g order=1 max_input=10; e g order=2 max_input=100; router retries=0 checks");
    (void)state;

    expect(kit, "g tokens=50", "e:ok");
    expect(kit, "g tokens=5", "d:ok");
}

static void rs_4_checks_come_before_tags(void **state)
{
    KIT(kit, "d g w=1 max_input=10 tags=a; e g w=0 tags=default; router retries=0 checks filter");
    (void)state;

    expect(kit, "g tokens=50 tags=a", "e:ok");
    expect(kit, "g tokens=5 tags=a", "d:ok");
}

static void rs_4_checks_hold_for_retries_and_continuations(void **state)
{
    KIT(kit, "d g w=9 : 500 ok; e g w=1 max_input=10; router retries=1 checks");
    (void)state;

    expect(kit, "g tokens=50", "d:500 d:ok");
    kit_reload(kit, "d g w=9 : text,connection; e g w=1 prefill max_input=10; f g w=0 prefill : text,ok\n"
                    "router retries=0 checks continuation targets=group");
    expect(kit, "g stream continue tokens=50", "d*:500 f>*:ok");
}

static void rs_4_the_bypass_leaves_the_checks_on(void **state)
{
    KIT(kit, "d g max_input=10 : 500 ok; router retries=0 cooldown=30 bypass fails.internal=0 checks");
    (void)state;

    expect(kit, "g", "d:500 fail:500");
    (void)fails(kit, "g tokens=50", 400, WEIR_REASON_PROMPT_TOO_LONG);
    expect(kit, "g tokens=5", "d:ok");
}

static void rs_3_an_id_is_not_checked(void **state)
{
    KIT(kit, "d g max_input=10 params=0 region=us no_web; e g; router retries=0 checks");
    (void)state;

    expect(kit, "d tokens=50 params=1 region=eu web", "d:ok");
}

static void rs_4_web_search_drops_who_cannot(void **state)
{
    KIT(kit, "d g w=1 no_web; e g w=0; router retries=0");
    (void)state;

    expect_each(kit, 3, "g web", "e:ok");
    expect_each(kit, 3, "g", "d:ok");
}

static void rs_4_web_search_drops_nobody_where_none_can(void **state)
{
    KIT(kit, "d g w=1 no_web; e g w=0 no_web; router retries=0");
    (void)state;

    expect_each(kit, 3, "g web", "d:ok");
}

static void rs_4_web_search_of_one_that_cools_down_is_a_429(void **state)
{
    KIT(kit, "d g w=0 no_web; e g w=1 fails=0 : 500; router retries=0");
    (void)state;

    expect(kit, "g web", "e:500 fail:500");
    (void)fails(kit, "g web", 429, WEIR_REASON_NO_DEPLOYMENTS);
    expect(kit, "g", "d:ok");
}

static void rs_4_a_blocked_deployment_serves_no_web_search(void **state)
{
    KIT(kit, "d g no_web; e g blocked; router retries=0");
    (void)state;

    expect(kit, "g web", "d:ok");
}

/* Calls of kinds 1, 2 and 4; `routes=2`: serves the second alone. */
static void rs_4_a_kind_of_call_goes_to_who_serves_it(void **state)
{
    KIT(kit, "d g w=1 routes=1; e g w=0 routes=6; router retries=0");
    (void)state;

    expect_each(kit, 3, "g route=1", "d:ok");
    expect_each(kit, 3, "g route=2", "e:ok");
    expect_each(kit, 3, "g route=4", "e:ok");
    expect_each(kit, 3, "g", "d:ok");
}

static void rs_4_a_kind_of_call_that_nobody_serves_goes_to_anybody(void **state)
{
    KIT(kit, "d g w=1 routes=1; e g w=0 routes=0; router retries=0");
    (void)state;

    expect_each(kit, 3, "g route=2", "d:ok");
}

static void rs_4_who_serves_a_kind_of_call_and_cools_down_is_waited_for(void **state)
{
    KIT(kit, "d g w=0 routes=1; e g w=1 routes=2 fails=0 : 500; router retries=0");
    (void)state;

    expect(kit, "g route=2", "e:500 fail:500");
    (void)fails(kit, "g route=2", 429, WEIR_REASON_NO_DEPLOYMENTS);
    expect(kit, "g route=1", "d:ok");
}

static void rs_4_a_blocked_deployment_serves_no_kind_of_call(void **state)
{
    KIT(kit, "d g routes=1; e g routes=2 blocked; router retries=0");
    (void)state;

    expect(kit, "g route=2", "d:ok");
}

static void rs_4_a_retry_and_an_order_keep_to_the_kind_of_call(void **state)
{
    KIT(kit, "a g order=1 routes=2 : 500 500; b g order=1 routes=1; c g order=2 routes=1; d g order=2; "
             "router retries=1 jitter=0");
    (void)state;

    expect(kit, "g route=2", "a:500 a:500 d:ok");
}

static void rs_4_cooldowns_are_ignored_when_all_who_serve_the_call_cool_down(void **state)
{
    KIT(kit,
        "d g w=0 routes=1; e g w=1 routes=2 : 500 ok; router retries=0 cooldown=30 bypass fails.internal=0");
    (void)state;

    expect(kit, "g route=2", "e:500 fail:500");
    expect(kit, "g route=2", "e:ok");
}

KIT_TESTS_MAIN(TESTS)
