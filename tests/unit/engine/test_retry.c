/*
 * The retry loop: how often, what for, and on which deployment (router-semantics 8; reliability.md, Retries).
 */
#include "engine_kit.h"

#include <stdio.h>
#include <string.h>

/* clang-format off */
#define TESTS(X) \
    X("RS 8.1", rs_8_a_first_attempt_that_succeeds_reports_no_retries) \
    X("RS 8.2", rs_8_a_guardrail_gives_up_at_once) \
    X("RS 8.3", rs_8_the_requests_count_is_first) \
    X("RS 8.3", rs_8_the_failing_deployments_count_is_second) \
    X("RS 8.3", rs_8_the_routers_count_is_last_and_is_two) \
    X("RS 8.3", rs_8_the_count_is_that_of_the_deployment_that_failed_first) \
    X("RS 8.3", rs_8_the_requests_zero_turns_retries_off) \
    X("RS 8.3", rs_8_the_requests_zero_turns_policies_off) \
    X("RS 8.5", rs_8_without_retries_the_walk_begins) \
    X("RS 8.6", rs_8_attempts_are_one_more_than_the_retries) \
    X("RS 8.6", rs_8_each_failure_is_tested_anew) \
    X("RS 8.6", rs_8_healthy_is_counted_anew_on_each_failure) \
    X("RS 8.6", rs_8_the_latest_error_is_handed_over) \
    X("RS 8.6", rs_8_no_wait_follows_the_last_failure) \
    X("RS 8.7", rs_8_the_summary_tells_the_retries_and_their_maximum) \
    X("RS 8", rs_8_the_retryable_statuses_are_retried) \
    X("RS 8", rs_8_other_4xx_are_not_retried) \
    X("RS 8", rs_8_a_404_is_never_retried) \
    X("RS 8", rs_8_not_found_is_not_retried_whatever_its_status) \
    X("RS 8", rs_8_auth_and_permission_are_retried_with_siblings_only) \
    X("EC 4", ec_4_a_403_of_kind_api_error_is_not_retried_on_a_lone_deployment) \
    X("RS 8", rs_8_a_context_window_error_is_not_retried) \
    X("RS 8", rs_8_context_window_is_not_retried_when_its_list_is_set_whatever_its_status) \
    X("RS 8", rs_8_content_policy_is_not_retried_when_its_list_is_set_whatever_its_status) \
    X("RS 8", rs_8_a_rate_limit_with_nothing_healthy_goes_to_the_fallbacks) \
    X("RS 8", rs_8_nothing_is_retried_when_nothing_is_healthy) \
    X("RS 8", rs_8_a_lone_rate_limited_deployment_is_retried_after_a_wait) \
    X("RS 8", rs_8_connection_failures_are_retried) \
    X("RS 8", rs_8_the_budget_restarts_in_every_fallback_group) \
    X("RS 8", rs_8_attempts_read_the_cooldowns_anew) \
    X("RS 8", rs_8_no_deployments_is_not_retried) \
    X("reliability, Retries", reliability_a_retry_can_land_on_a_different_deployment) \
    X("reliability, Retries", reliability_two_retries_then_the_fallback_with_two_of_its_own) \
    X("reliability, Retries", reliability_the_three_facts_alone_decide)
/* clang-format on */

TESTS(KIT_TEST_DECLARE)

static void rs_8_a_first_attempt_that_succeeds_reports_no_retries(void **state)
{
    (void)state;
    KIT(kit, "d1 g\n");
    const struct kit_call *call = expect_call(kit, "g", "d1:ok");

    assert_int_equal(kit_summary(call).retries, 0);
    assert_int_equal(kit_summary(call).max_retries, 0);
    assert_int_equal(kit_summary(call).hops, 0);
}

static void rs_8_a_guardrail_gives_up_at_once(void **state)
{
    (void)state;
    KIT(kit, "d1 g w=1 order=1 : guardrail; d2 g w=0 order=1; d3 g order=2; b B\n"
             "router retries=3 weighted policy.default=3; default B\n");
    expect(kit, "g", "d1:400 fail:400");
    kit_script(kit, "d1", "guardrail=500");
    expect(kit, "g", "d1:500 fail:500");
}

static void rs_8_the_requests_count_is_first(void **state)
{
    (void)state;
    KIT(kit, "d1 g retries=4 : 500; router retries=3\n");
    expect(kit, "g retries=1", "d1:500 d1:500 fail:500");
}

static void rs_8_the_failing_deployments_count_is_second(void **state)
{
    (void)state;
    KIT(kit, "d1 g retries=0 : 500; d2 h retries=3 : 500; router retries=1\n");
    expect(kit, "g", "d1:500 fail:500");
    expect(kit, "h", "d2:500 d2:500 d2:500 d2:500 fail:500");
}

static void rs_8_the_routers_count_is_last_and_is_two(void **state)
{
    (void)state;
    KIT(kit, "d1 g : 500\n");
    expect(kit, "g", "d1:500 d1:500 d1:500 fail:500");
}

static void rs_8_the_count_is_that_of_the_deployment_that_failed_first(void **state)
{
    (void)state;
    KIT(kit, "d1 g w=1 retries=1 : 500; d2 g w=0 retries=5 : 500; router retries=0\n");
    expect(kit, "g", "d1:500 d2:500 fail:500");
}

static void rs_8_the_requests_zero_turns_retries_off(void **state)
{
    (void)state;
    KIT(kit, "d1 g retries=2 : 500; router retries=3\n");
    expect(kit, "g retries=0", "d1:500 fail:500");
}

static void rs_8_the_requests_zero_turns_policies_off(void **state)
{
    (void)state;
    KIT(kit, "d1 g : 500; router policy.internal=3; policy g internal=2\n");
    expect(kit, "g retries=0", "d1:500 fail:500");
    expect(kit, "g retries=0 policy.g.internal=4", "d1:500 fail:500");
}

static void rs_8_without_retries_the_walk_begins(void **state)
{
    (void)state;
    KIT(kit, "d1 g : 500; b B; router retries=0; fallbacks g: B\n");
    expect_waits(expect_call(kit, "g", "d1:500 b:ok"), 0, 0, 0);
}

static void rs_8_attempts_are_one_more_than_the_retries(void **state)
{
    (void)state;
    KIT(kit, "d1 g : 500; router jitter=0\n");
    for (unsigned retries = 0; retries <= 12; retries++) {
        char request[32];

        snprintf(request, sizeof(request), "g retries=%u", retries);
        assert_int_equal(kit_call(kit, request)->attempt_count, retries + 1);
    }
}

static void rs_8_each_failure_is_tested_anew(void **state)
{
    (void)state;
    KIT(kit, "d1 g : 500 400; router retries=3\n");
    expect(kit, "g", "d1:500 d1:400 fail:400");
}

static void rs_8_healthy_is_counted_anew_on_each_failure(void **state)
{
    (void)state;
    KIT(kit, "d1 g w=1 fails=0 : 500; d2 g w=0 fails=0 : 503; router retries=5\n");
    expect(kit, "g", "d1:500 d2:503 fail:503");
}

static void rs_8_the_latest_error_is_handed_over(void **state)
{
    (void)state;
    KIT(kit, "d1 g : 500 500 503\n");
    const struct kit_call *call = expect_call(kit, "g", "d1:500 d1:500 d1:503 fail:503");

    assert_int_equal(call->fail.attempt, 3);
    assert_int_equal(call->fail.reason, WEIR_REASON_ATTEMPT);
    assert_int_equal(call->fail.failure.kind, WEIR_KIND_SERVICE_UNAVAILABLE);
}

static void rs_8_no_wait_follows_the_last_failure(void **state)
{
    (void)state;
    KIT(kit, "d1 g : 500; router retries=2\n");
    expect_waits(expect_call(kit, "g", "d1:500 d1:500 d1:500 fail:500"), 2, 0.5, 1.75);
}

static void rs_8_the_summary_tells_the_retries_and_their_maximum(void **state)
{
    (void)state;
    KIT(kit, "d1 g : 500 500 ok; router retries=4\n");
    const struct kit_call *call = expect_call(kit, "g", "d1:500 d1:500 d1:ok");

    assert_int_equal(kit_summary(call).retries, 2);
    assert_int_equal(kit_summary(call).max_retries, 4);
    assert_int_equal(kit_summary(call).attempts, 3);
}

/* The story of a group of two whose first deployment fails so once. */
static void expect_on_pair(const char *failure, const char *story)
{
    char config[256];

    snprintf(config, sizeof(config), "d1 g w=1 : %s; d2 g w=0; router retries=2\n", failure);
    KIT(kit, config);
    expect(kit, "g", story);
}

static void rs_8_the_retryable_statuses_are_retried(void **state)
{
    static const int statuses[] = {401, 403, 408, 409, 429, 500, 501, 502, 503, 504, 520, 529, 598, 599};
    char failure[32];
    char story[64];
    (void)state;

    for (size_t i = 0; i < sizeof(statuses) / sizeof(*statuses); i++) {
        snprintf(failure, sizeof(failure), "%d", statuses[i]);
        snprintf(story, sizeof(story), "d1:%d d2:ok", statuses[i]);
        expect_on_pair(failure, story);
    }
}

static void rs_8_other_4xx_are_not_retried(void **state)
{
    char failure[32];
    char story[64];
    (void)state;

    for (int status = 400; status < 500; status++) {
        if (status == 401 || status == 403 || status == 408 || status == 409 || status == 429)
            continue;
        snprintf(failure, sizeof(failure), "%d", status);
        snprintf(story, sizeof(story), "d1:%d fail:%d", status, status);
        expect_on_pair(failure, story);
    }
}

static void rs_8_a_404_is_never_retried(void **state)
{
    (void)state;
    KIT(kit, "d1 g w=1 : 404; d2 g w=0; router retries=3 no_cooldowns\n");
    expect(kit, "g", "d1:404 fail:404");
}

static void rs_8_not_found_is_not_retried_whatever_its_status(void **state)
{
    (void)state;
    expect_on_pair("not_found=500", "d1:500 fail:500");
    expect_on_pair("not_found=429", "d1:429 fail:429");
    expect_on_pair("internal=404", "d1:404 fail:404");
}

static void rs_8_auth_and_permission_are_retried_with_siblings_only(void **state)
{
    (void)state;
    KIT(kit, "d1 lone : 401 403 auth=500; d2 pair w=1 : 401 403; d3 pair w=0\n"
             "router retries=2 no_cooldowns\n");
    expect(kit, "lone", "d1:401 fail:401");
    expect(kit, "lone", "d1:403 fail:403");
    expect(kit, "lone", "d1:500 fail:500");
    expect(kit, "pair", "d2:401 d3:ok");
    expect(kit, "pair", "d2:403 d3:ok");
}

static void ec_4_a_403_of_kind_api_error_is_not_retried_on_a_lone_deployment(void **state)
{
    (void)state;
    KIT(kit, "d1 lone : api_error=403; d2 pair w=1 : api_error=403; d3 pair w=0\n");
    expect(kit, "lone", "d1:403 fail:403");
    expect(kit, "pair", "d2:403 d3:ok");
}

static void rs_8_a_context_window_error_is_not_retried(void **state)
{
    (void)state;
    expect_on_pair("context_window", "d1:400 fail:400");
    expect_on_pair("content_policy", "d1:400 fail:400");
}

static void rs_8_context_window_is_not_retried_when_its_list_is_set_whatever_its_status(void **state)
{
    (void)state;
    KIT(kit, "d1 g w=1 : context_window=500; d2 g w=0; context other: g\n");
    expect(kit, "g", "d1:500 fail:500");
    KIT(without, "d1 g w=1 : context_window=500; d2 g w=0; content other: g\n");
    expect(without, "g", "d1:500 d2:ok");
}

static void rs_8_content_policy_is_not_retried_when_its_list_is_set_whatever_its_status(void **state)
{
    (void)state;
    KIT(kit, "d1 g w=1 : content_policy=500; d2 g w=0; content other: g\n");
    expect(kit, "g", "d1:500 fail:500");
    KIT(without, "d1 g w=1 : content_policy=500; d2 g w=0; context other: g\n");
    expect(without, "g", "d1:500 d2:ok");
}

static void rs_8_a_rate_limit_with_nothing_healthy_goes_to_the_fallbacks(void **state)
{
    (void)state;
    KIT(kit, "d1 g fails=0 : 429; b B; router retries=3; fallbacks g: B\n");
    expect_waits(expect_call(kit, "g", "d1:429 b:ok"), 0, 0, 0);
}

static void rs_8_nothing_is_retried_when_nothing_is_healthy(void **state)
{
    (void)state;
    KIT(kit, "d1 g fails=0 : 500; router retries=3\n");
    expect(kit, "g", "d1:500 fail:500");
    expect(kit, "g", "fail:429");
}

static void rs_8_a_lone_rate_limited_deployment_is_retried_after_a_wait(void **state)
{
    (void)state;
    KIT(kit, "d1 g : 429/2 ok; router retries=1\n");
    expect_waits(expect_call(kit, "g", "d1:429 d1:ok"), 1, 2, 2.75);
}

static void rs_8_connection_failures_are_retried(void **state)
{
    (void)state;
    expect_on_pair("connection", "d1:500 d2:ok");
}

static void rs_8_the_budget_restarts_in_every_fallback_group(void **state)
{
    (void)state;
    KIT(kit, "a A : 500; b B : 500; c C : 500 ok; router retries=1; fallbacks A: B C\n");
    const struct kit_call *call = expect_call(kit, "A", "a:500 a:500 b:500 b:500 c:500 c:ok");

    assert_int_equal(kit_summary(call).retries, 1);
}

static void rs_8_attempts_read_the_cooldowns_anew(void **state)
{
    (void)state;
    KIT(kit, "d1 g w=1 fails=0 : 500; d2 g w=0 : 500 ok; router retries=2\n");
    /* both failed, but d1 cools, so the skip is lifted for d2 alone */
    expect(kit, "g", "d1:500 d2:500 d2:ok");
}

static void rs_8_no_deployments_is_not_retried(void **state)
{
    (void)state;
    KIT(kit, "d1 g blocked; router retries=3\n");
    expect_waits(expect_call(kit, "g", "fail:429"), 0, 0, 0);
}

static void reliability_a_retry_can_land_on_a_different_deployment(void **state)
{
    (void)state;
    KIT(kit, "d1 gpt-4o w=1 : 429; d2 gpt-4o blocked; d3 gpt-4o w=0 : 429; d5 opus\n"
             "fallbacks gpt-4o: opus; router retries=1\n");
    expect(kit, "gpt-4o", "d1:429 d3:429 d5:ok");
}

static void reliability_two_retries_then_the_fallback_with_two_of_its_own(void **state)
{
    (void)state;
    KIT(kit, "a A : 503 503 503 context_window; b B : 503 503 ok; al A-long\n"
             "router retries=2; fallbacks A: B; context A: A-long\n");
    expect(kit, "A", "a:503 a:503 a:503 b:503 b:503 b:ok");
    expect(kit, "A", "a:400 al:ok");
}

static void reliability_the_three_facts_alone_decide(void **state)
{
    static const char *const origins[] = {"provider", "caller_limit", "resource_lookup", "router"};
    (void)state;

    for (size_t i = 0; i < sizeof(origins) / sizeof(*origins); i++) {
        char config[256];

        snprintf(config, sizeof(config), "d1 g w=1 : 503@%s 400@%s; d2 g w=0; b B; fallbacks g: B\n",
                 origins[i], origins[i]);
        KIT(kit, config);
        expect(kit, "g", "d1:503 d2:ok");
        expect(kit, "g", "d1:400 b:ok");
    }
}

KIT_TESTS_MAIN(TESTS)
