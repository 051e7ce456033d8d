/*
 * Retry policies: which field speaks for which failure, and what a policy lifts (router-semantics 10,
 * decisions 9; reliability.md, Retry policies).
 */
#include "engine_kit.h"

#include <stdio.h>

/* clang-format off */
#define TESTS(X) \
    X("RS 10", rs_10_each_kind_has_its_field) \
    X("RS 10", rs_10_a_kind_without_a_field_takes_the_default_or_nothing) \
    X("RS 10", rs_10_content_policy_falls_to_bad_request) \
    X("RS 10", rs_10_content_policys_own_field_is_first) \
    X("RS 10", rs_10_a_404_takes_the_not_found_field_whatever_its_kind) \
    X("RS 10", rs_10_default_is_for_kinds_without_a_count) \
    X("RS 10", rs_10_a_policy_that_says_nothing_does_not_apply) \
    X("RS 10", rs_10_a_groups_policy_replaces_the_routers_wholly) \
    X("RS 10", rs_10_a_groups_policy_is_for_that_group_only) \
    X("RS 10", rs_10_a_requests_policy_replaces_the_groups) \
    X("RS 10", rs_10_a_groups_policy_holds_when_it_is_asked_by_an_alias) \
    X("RS 10", rs_10_each_group_of_the_walk_takes_its_own_policy) \
    X("reliability, Retry policies", reliability_a_policys_count_wins_over_num_retries) \
    X("reliability, Retry policies", reliability_unless_the_request_turned_retries_off) \
    X("reliability, Retry policies", reliability_a_policys_count_wins_over_a_deployments_zero) \
    X("reliability, Retry policies", reliability_a_count_of_zero_is_a_count) \
    X("RS 10", rs_10_a_policy_retries_a_400_and_skips_the_refusing_deployment) \
    X("RS 10", rs_10_a_policy_retries_a_context_window_error_though_its_list_is_set) \
    X("RS 10", rs_10_a_policy_retries_the_auth_error_of_a_lone_deployment) \
    X("RS 10", rs_10_a_policy_retries_a_404) \
    X("decisions 9", decision_9_default_retries_lift_nothing) \
    X("decisions 9", decision_9_nothing_lifts_the_tests_of_healthy) \
    X("decisions 9", decision_9_a_policy_does_not_lift_a_rate_limit_with_nothing_healthy) \
    X("decisions 9", decision_9_n_is_worked_out_at_the_first_failure) \
    X("decisions 9", decision_9_a_later_kind_that_is_not_named_takes_the_ordinary_test) \
    X("decisions 9", decision_9_a_later_kind_that_is_named_is_lifted)
/* clang-format on */

TESTS(KIT_TEST_DECLARE)

static void rs_10_each_kind_has_its_field(void **state)
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
        {"internal=529", "internal"},
        {"connection", "internal"},
        {"bad_gateway", "internal"},
        {"service_unavailable", "service_unavailable"},
    };
    (void)state;

    for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
        char config[256];

        snprintf(config, sizeof(config), "d1 g : %s; router retries=0 no_cooldowns policy.%s=3\n",
                 rows[i].failure, rows[i].field);
        KIT(kit, config);
        if (kit_call(kit, "g")->attempt_count != 4)
            kit_die(kit, "%s is not retried by %s", rows[i].failure, rows[i].field);
    }
}

static void rs_10_a_kind_without_a_field_takes_the_default_or_nothing(void **state)
{
    (void)state;
    KIT(kit, "d1 g : api_error=520; d2 p w=1 : 403; d3 p w=0\n"
             "router retries=0 policy.internal=3 policy.auth=3 policy.bad_request=3\n");
    expect(kit, "g", "d1:520 fail:520");
    expect(kit, "p", "d2:403 fail:403");
    KIT(with, "d1 g : api_error=520; router retries=0 policy.internal=3 policy.default=1\n");
    expect(with, "g", "d1:520 d1:520 fail:520");
    KIT(unprocessable, "d1 g : 422; router retries=3 policy.bad_request=3\n");
    expect(unprocessable, "g", "d1:422 fail:422");
}

static void rs_10_content_policy_falls_to_bad_request(void **state)
{
    (void)state;
    KIT(kit, "d1 g : content_policy; router retries=0 policy.bad_request=1\n");
    expect(kit, "g", "d1:400 d1:400 fail:400");
}

static void rs_10_content_policys_own_field_is_first(void **state)
{
    (void)state;
    KIT(kit, "d1 g : content_policy; router retries=5 policy.bad_request=3 policy.content_policy=0\n");
    expect(kit, "g", "d1:400 fail:400");
}

static void rs_10_a_404_takes_the_not_found_field_whatever_its_kind(void **state)
{
    (void)state;
    KIT(kit, "d1 g : internal=404; router retries=0 no_cooldowns policy.not_found=2 policy.internal=0\n");
    expect(kit, "g", "d1:404 d1:404 d1:404 fail:404");
}

static void rs_10_default_is_for_kinds_without_a_count(void **state)
{
    (void)state;
    KIT(kit, "d1 g : 500; d2 h : 429; router retries=0 policy.default=2 policy.rate_limit=1\n");
    expect(kit, "g", "d1:500 d1:500 d1:500 fail:500");
    expect(kit, "h", "d2:429 d2:429 fail:429");
}

static void rs_10_a_policy_that_says_nothing_does_not_apply(void **state)
{
    (void)state;
    KIT(kit, "d1 g : 500; router retries=1 policy.rate_limit=5\n");
    expect(kit, "g", "d1:500 d1:500 fail:500");
}

static void rs_10_a_groups_policy_replaces_the_routers_wholly(void **state)
{
    (void)state;
    KIT(kit, "d1 g : 500; router retries=1 policy.internal=3; policy g rate_limit=5\n");
    expect(kit, "g", "d1:500 d1:500 fail:500");
}

static void rs_10_a_groups_policy_is_for_that_group_only(void **state)
{
    (void)state;
    KIT(kit, "d1 g : 429; d2 h : 429; router retries=2 policy.rate_limit=1; policy h rate_limit=0\n");
    expect(kit, "g", "d1:429 d1:429 fail:429");
    expect(kit, "h", "d2:429 fail:429");
}

static void rs_10_a_requests_policy_replaces_the_groups(void **state)
{
    (void)state;
    KIT(kit, "d1 g : 429; router policy.rate_limit=3; policy g rate_limit=0\n");
    expect(kit, "g policy.g.rate_limit=1", "d1:429 d1:429 fail:429");
    expect(kit, "g policy.other.rate_limit=1", "d1:429 fail:429");
}

static void rs_10_a_groups_policy_holds_when_it_is_asked_by_an_alias(void **state)
{
    (void)state;
    KIT(kit, "d1 g : 500; alias other g; router retries=3; policy g internal=0\n");
    expect(kit, "other", "d1:500 fail:500");
}

static void rs_10_each_group_of_the_walk_takes_its_own_policy(void **state)
{
    (void)state;
    KIT(kit, "a A : 500; b B : 500; router retries=0; policy A internal=1; policy B internal=2\n"
             "fallbacks A: B\n");
    expect(kit, "A", "a:500 a:500 b:500 b:500 b:500 fail:500");
}

static void reliability_a_policys_count_wins_over_num_retries(void **state)
{
    (void)state;
    KIT(kit, "d1 g : 500; router policy.internal=1\n");
    expect(kit, "g retries=5", "d1:500 d1:500 fail:500");
}

static void reliability_unless_the_request_turned_retries_off(void **state)
{
    (void)state;
    KIT(kit, "d1 g : 500; router policy.internal=1\n");
    expect(kit, "g retries=0", "d1:500 fail:500");
}

static void reliability_a_policys_count_wins_over_a_deployments_zero(void **state)
{
    (void)state;
    KIT(kit, "d1 g retries=0 : 500; router policy.internal=1\n");
    expect(kit, "g", "d1:500 d1:500 fail:500");
}

static void reliability_a_count_of_zero_is_a_count(void **state)
{
    (void)state;
    KIT(kit, "d1 g : 500; router policy.internal=0\n");
    expect(kit, "g retries=5", "d1:500 fail:500");
}

static void rs_10_a_policy_retries_a_400_and_skips_the_refusing_deployment(void **state)
{
    (void)state;
    KIT(kit, "d1 g w=1 : 400; d2 g w=0; router retries=0 policy.bad_request=1\n");
    expect_waits(expect_call(kit, "g", "d1:400 d2:ok"), 0, 0, 0);
}

static void rs_10_a_policy_retries_a_context_window_error_though_its_list_is_set(void **state)
{
    (void)state;
    KIT(kit, "d1 g w=1 : context_window; d2 g w=0 : context_window; l L\n"
             "router retries=0 policy.bad_request=1; context g: L\n");
    expect(kit, "g", "d1:400 d2:400 l:ok");
}

static void rs_10_a_policy_retries_the_auth_error_of_a_lone_deployment(void **state)
{
    (void)state;
    KIT(kit, "d1 g : 401 ok; router retries=0 policy.auth=1 no_cooldowns\n");
    expect(kit, "g", "d1:401 d1:ok");
}

static void rs_10_a_policy_retries_a_404(void **state)
{
    (void)state;
    KIT(kit, "d1 g w=1 : 404; d2 g w=0; router retries=0 policy.not_found=1\n");
    expect(kit, "g", "d1:404 d2:ok");
}

static void decision_9_default_retries_lift_nothing(void **state)
{
    (void)state;
    KIT(kit, "d1 g : 400 404 422 500 ok; router retries=0 policy.default=1 no_cooldowns\n");
    expect(kit, "g", "d1:400 fail:400");
    expect(kit, "g", "d1:404 fail:404");
    expect(kit, "g", "d1:422 fail:422");
    expect(kit, "g", "d1:500 d1:ok");
}

static void decision_9_nothing_lifts_the_tests_of_healthy(void **state)
{
    (void)state;
    KIT(kit, "d1 g fails=0 : 500; router retries=0 policy.internal=2\n");
    expect(kit, "g", "d1:500 fail:500");
}

static void decision_9_a_policy_does_not_lift_a_rate_limit_with_nothing_healthy(void **state)
{
    (void)state;
    KIT(kit, "d1 g fails=0 : 429; b B; router retries=0 policy.rate_limit=2; fallbacks g: B\n");
    expect(kit, "g", "d1:429 b:ok");
}

static void decision_9_n_is_worked_out_at_the_first_failure(void **state)
{
    (void)state;
    KIT(kit, "d1 g : 500 429; d2 h : 429 500; router policy.internal=3 policy.rate_limit=1\n");
    expect(kit, "g", "d1:500 d1:429 d1:429 d1:429 fail:429");
    expect(kit, "h", "d2:429 d2:500 fail:500");
}

static void decision_9_a_later_kind_that_is_not_named_takes_the_ordinary_test(void **state)
{
    (void)state;
    KIT(kit, "d1 g : 400 404; router retries=0 policy.bad_request=3 no_cooldowns\n");
    expect(kit, "g", "d1:400 d1:404 fail:404");
}

static void decision_9_a_later_kind_that_is_named_is_lifted(void **state)
{
    (void)state;
    KIT(kit, "d1 g : 500 400 ok; router retries=2 policy.bad_request=1\n");
    expect(kit, "g", "d1:500 d1:400 d1:ok");
}

KIT_TESTS_MAIN(TESTS)
