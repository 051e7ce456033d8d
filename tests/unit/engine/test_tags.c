/*
 * Tag routing (router-semantics 20): which deployments the tags of a request leave, and what is told when
 * they leave nobody.
 */
#include "engine_kit.h"

#include "base/slice.h"
#include "base/time.h"

/* clang-format off */
#define TESTS(X) \
    X("RS 20", rs_20_tags_do_nothing_where_filtering_is_off) \
    X("RS 20", rs_20_the_request_beats_the_group_and_that_the_router) \
    X("RS 20", rs_20_the_first_deployment_of_a_group_that_says_it_decides) \
    X("RS 20", rs_20_each_group_of_a_walk_has_its_own_flag) \
    X("RS 20.2", rs_20_an_excluded_tag_drops_who_carries_it) \
    X("RS 20.2", rs_20_deployments_without_tags_are_never_excluded) \
    X("RS 20.2", rs_20_exclusion_is_exact) \
    X("RS 20.2", rs_20_exclusion_beats_a_match) \
    X("RS 20.3", rs_20_every_required_tag_must_be_carried) \
    X("RS 20.3", rs_20_required_and_plain_tags_hold_together) \
    X("RS 20.4", rs_20_any_plain_tag_matches) \
    X("RS 20.4", rs_20_all_plain_tags_must_match_where_that_is_set) \
    X("RS 20.4", rs_20_untagged_deployments_match_nothing) \
    X("RS 20.4", rs_20_a_pattern_matches_like_a_tag) \
    X("RS 20.4", rs_20_a_pattern_alone_routes_a_request_without_tags) \
    X("RS 20.4", rs_20_patterns_are_or_though_all_tags_must_match) \
    X("RS 20.4", rs_20_a_pattern_cannot_override_a_failed_strict_match) \
    X("RS 20.4", rs_20_a_pattern_cannot_override_a_constraint) \
    X("RS 20.4", rs_20_without_a_match_the_default_pool_serves) \
    X("RS 20.4", rs_20_without_a_default_pool_that_is_an_error) \
    X("RS 20.5", rs_20_without_tags_the_default_pool_serves) \
    X("RS 20.5", rs_20_without_tags_and_default_pool_all_serve) \
    X("RS 20.5", rs_20_constraints_alone_hold_on_the_default_pool) \
    X("RS 20.5", rs_20_constraints_that_empty_the_default_pool_are_a_dead_end) \
    X("RS 20.6", rs_20_the_refusal_is_a_401) \
    X("RS 20.6", rs_20_a_match_that_only_cools_down_is_a_429) \
    X("RS 20.6", rs_20_cooling_deployments_that_do_not_match_are_a_401) \
    X("RS 20.6", rs_20_fail_open_leaves_out_constraints_that_nobody_meets) \
    X("RS 20.6", rs_20_fail_open_prefers_the_default_pool) \
    X("RS 20.6", rs_20_fail_open_keeps_inherited_constraints) \
    X("RS 20.6", rs_20_fail_open_is_not_for_tags_that_match_nobody) \
    X("RS 20.6", rs_20_a_refusal_falls_back) \
    X("RS 4", rs_4_tags_come_before_orders) \
    X("RS 4", rs_4_tags_see_only_those_that_do_not_cool_down) \
    X("RS 4", rs_4_tags_hold_for_retries_and_siblings) \
    X("RS 4", rs_4_tags_hold_for_continuations) \
    X("RS 4", rs_4_tags_hold_for_hedges) \
    X("RS 4", rs_4_the_bypass_leaves_the_tags_on) \
    X("beyond 4", beyond_4_a_match_that_is_held_back_is_still_the_match) \
    X("RS 3", rs_3_an_id_has_no_tag_filter) \
    X("RS 5", rs_5_tags_do_not_change_the_counts)
/* clang-format on */

TESTS(KIT_TEST_DECLARE)

static void refuses(struct kit *kit, const char *request)
{
    const struct weir_fail *fail = &expect_call(kit, request, "fail:401")->fail;

    assert_int_equal(fail->reason, WEIR_REASON_TAGS);
    assert_int_equal(fail->failure.kind, WEIR_KIND_API_ERROR);
    assert_int_equal(fail->failure.origin, WEIR_ORIGIN_ROUTER);
    assert_int_equal(fail->failure.retry_after_ns, 0);
}

static void rs_20_tags_do_nothing_where_filtering_is_off(void **state)
{
    KIT(kit, "d g w=1 tags=a; e g w=0 tags=b; router retries=0");
    (void)state;

    expect_each(kit, 5, "g tags=b", "d:ok");
    expect_each(kit, 5, "g tags=b filter=off", "d:ok");
}

static void rs_20_the_request_beats_the_group_and_that_the_router(void **state)
{
    KIT(kit, "d1 on w=1 tags=a filter=on; e1 on w=0 tags=b; d2 off w=1 tags=a filter=off; e2 off w=0 tags=b\n"
             "d3 none w=1 tags=a; e3 none w=0 tags=b; router retries=0 filter");
    (void)state;

    expect(kit, "on tags=b", "e1:ok");
    expect(kit, "on tags=b filter=off", "d1:ok");
    expect(kit, "off tags=b", "d2:ok");
    expect(kit, "off tags=b filter=on", "e2:ok");
    expect(kit, "none tags=b", "e3:ok");
    kit_reload(kit, "d1 on w=1 tags=a filter=on; e1 on w=0 tags=b; d3 none w=1 tags=a; e3 none w=0 tags=b");
    expect(kit, "on tags=b", "e1:ok");
    expect(kit, "none tags=b", "d3:ok");
}

static void rs_20_the_first_deployment_of_a_group_that_says_it_decides(void **state)
{
    KIT(kit, "d g w=1 tags=a; e g w=0 tags=b filter=on; f g w=0 filter=off; router retries=0");
    (void)state;

    expect(kit, "g tags=b", "e:ok");
}

static void rs_20_each_group_of_a_walk_has_its_own_flag(void **state)
{
    KIT(kit, "d g w=1 tags=a filter=off : 500; e g w=0 tags=b; f B w=1 tags=a filter=on; h B w=0 tags=b\n"
             "router retries=0; fallbacks g: B");
    (void)state;

    expect(kit, "g tags=b", "d:500 h:ok");
}

static void rs_20_an_excluded_tag_drops_who_carries_it(void **state)
{
    KIT(kit, "d g w=9 tags=us,fast; e g w=1 tags=eu,fast; f g w=0 tags=eu,slow; router retries=0 filter");
    (void)state;

    expect_each(kit, 5, "g tags=!fast", "f:ok");
    expect_each(kit, 5, "g tags=!us", "e:ok");
    expect_each(kit, 5, "g tags=!us,!slow", "e:ok");
}

static void rs_20_deployments_without_tags_are_never_excluded(void **state)
{
    KIT(kit, "d g w=1 tags=a; e g w=0; router retries=0 filter");
    (void)state;

    expect_each(kit, 5, "g tags=!a,!b,!default", "e:ok");
}

static void rs_20_exclusion_is_exact(void **state)
{
    KIT(kit, "d g w=1 tags=fast; e g w=0 tags=slow; router retries=0 filter");
    (void)state;

    expect_each(kit, 5, "g tags=!fas,!FAST,!faster", "d:ok");
}

static void rs_20_exclusion_beats_a_match(void **state)
{
    KIT(kit, "d g w=1 tags=fast,us; e g w=0 tags=fast,eu; router retries=0 filter");
    (void)state;

    expect_each(kit, 5, "g tags=fast,!us", "e:ok");
    refuses(kit, "g tags=us,!fast");
}

static void rs_20_every_required_tag_must_be_carried(void **state)
{
    KIT(kit, "d g w=9 tags=eu; e g w=0 tags=eu,slow; f g w=1 tags=slow; h g w=9; router retries=0 filter");
    (void)state;

    expect_each(kit, 5, "g tags=&eu,&slow", "e:ok");
    refuses(kit, "g tags=&eu,&slow,&more");
    refuses(kit, "g tags=&slow,!eu,!slow");
}

static void rs_20_required_and_plain_tags_hold_together(void **state)
{
    KIT(kit, "d g w=9 tags=eu; e g w=0 tags=eu,fast; f g w=1 tags=us,fast; router retries=0 filter");
    (void)state;

    expect_each(kit, 5, "g tags=fast,&eu", "e:ok");
    expect_each(kit, 5, "g tags=nothing,fast,&us", "f:ok");
}

static void rs_20_any_plain_tag_matches(void **state)
{
    KIT(kit, "d g w=9 tags=free; e g w=0 tags=paid,eu; router retries=0 filter");
    (void)state;

    expect_each(kit, 5, "g tags=eu,unknown", "e:ok");
    expect_each(kit, 5, "g tags=unknown,free", "d:ok");
}

static void rs_20_all_plain_tags_must_match_where_that_is_set(void **state)
{
    KIT(kit, "d g w=0 tags=eu,fast; e g w=9 tags=eu; router retries=0 filter match_all");
    (void)state;

    expect_each(kit, 5, "g tags=eu,fast", "d:ok");
    expect_each(kit, 5, "g tags=eu", "e:ok");
    refuses(kit, "g tags=eu,fast,more");
}

static void rs_20_untagged_deployments_match_nothing(void **state)
{
    KIT(kit, "d g w=1; e g w=0 tags=a; router retries=0 filter");
    (void)state;

    expect_each(kit, 5, "g tags=a", "e:ok");
    refuses(kit, "g tags=b");
}

static void rs_20_a_pattern_matches_like_a_tag(void **state)
{
    KIT(kit, "d g w=1 tags=a; e g w=0 pattern; f g w=0 tags=b pattern; router retries=0 filter");
    (void)state;

    expect(kit, "g tags=c matches=e", "e:ok");
    expect(kit, "g tags=c matches=f,d", "f:ok");
    refuses(kit, "g tags=c matches=d");
    refuses(kit, "g tags=c");
    expect_each(kit, 5, "g tags=a matches=e", "d:ok");
}

static void rs_20_a_pattern_alone_routes_a_request_without_tags(void **state)
{
    KIT(kit, "d g w=1 tags=default; e g w=0 pattern; router retries=0 filter");
    (void)state;

    expect_each(kit, 5, "g matches=e", "e:ok");
    expect_each(kit, 5, "g matches=x", "d:ok");
}

static void rs_20_patterns_are_or_though_all_tags_must_match(void **state)
{
    KIT(kit, "d g w=0 tags=a; e g w=1 pattern; router retries=0 filter match_all");
    (void)state;

    expect_each(kit, 5, "g tags=a,b matches=e", "e:ok");
}

static void rs_20_a_pattern_cannot_override_a_failed_strict_match(void **state)
{
    KIT(kit, "d g w=1 tags=a pattern; router retries=0 filter match_all");
    (void)state;

    refuses(kit, "g tags=a,b matches=d");
    expect(kit, "g tags=a matches=d", "d:ok");
    expect(kit, "g matches=d", "d:ok");
}

static void rs_20_a_pattern_cannot_override_a_constraint(void **state)
{
    KIT(kit, "d g w=1 tags=us pattern; e g w=0 tags=eu; router retries=0 filter");
    (void)state;

    expect_each(kit, 5, "g tags=!us matches=d", "e:ok");
    refuses(kit, "g tags=x,!us matches=d");
}

static void rs_20_without_a_match_the_default_pool_serves(void **state)
{
    KIT(kit, "d g w=9 tags=a; e g w=0 tags=default,b; f g w=9; router retries=0 filter");
    (void)state;

    expect_each(kit, 5, "g tags=nobody", "e:ok");
    refuses(kit, "g tags=nobody,!b");
}

static void rs_20_without_a_default_pool_that_is_an_error(void **state)
{
    KIT(kit, "d g w=1 tags=a; e g w=0 tags=b; router retries=3 filter");
    (void)state;

    refuses(kit, "g tags=c");
}

static void rs_20_without_tags_the_default_pool_serves(void **state)
{
    KIT(kit, "d g w=9 tags=a; e g w=0 tags=x,default; f g w=9; router retries=0 filter");
    (void)state;

    expect_each(kit, 5, "g", "e:ok");
}

static void rs_20_without_tags_and_default_pool_all_serve(void **state)
{
    KIT(kit, "d g w=0 tags=a; e g w=1; router retries=0 filter");
    (void)state;

    expect_each(kit, 5, "g", "e:ok");
}

static void rs_20_constraints_alone_hold_on_the_default_pool(void **state)
{
    KIT(kit, "d g w=9 tags=a,eu; e g w=0 tags=default,eu; f g w=1 tags=default,us; router retries=0 filter");
    (void)state;

    expect_each(kit, 5, "g tags=&eu", "e:ok");
    expect_each(kit, 5, "g tags=!eu", "f:ok");
}

static void rs_20_constraints_that_empty_the_default_pool_are_a_dead_end(void **state)
{
    KIT(kit, "d g w=9 tags=a,eu; e g w=0 tags=default,us; router retries=0 filter");
    (void)state;

    refuses(kit, "g tags=&eu");
}

static void rs_20_the_refusal_is_a_401(void **state)
{
    KIT(kit, "d g tags=a; router retries=3 filter policy.auth=3 policy.default=3");
    struct kit_call *call;
    (void)state;

    refuses(kit, "g tags=b");
    call = kit_call(kit, "g tags=b");
    assert_int_equal(call->wait_count, 0);
    assert_int_equal(call->fail.attempt, 0);
    assert_int_equal(kit_view(kit, "d").failures, 0);
}

static void rs_20_a_match_that_only_cools_down_is_a_429(void **state)
{
    KIT(kit, "d g w=1 tags=a fails=0 : 500; e g w=0 tags=b; router retries=0 filter cooldown=8");
    struct kit_call *call;
    (void)state;

    expect(kit, "g tags=a", "d:500 fail:500");
    kit_advance(kit, 3);
    call = expect_call(kit, "g tags=a", "fail:429");
    assert_int_equal(call->fail.reason, WEIR_REASON_NO_DEPLOYMENTS);
    assert_int_equal(call->fail.failure.retry_after_ns, 5 * WEIR_NS_PER_S);
}

static void rs_20_cooling_deployments_that_do_not_match_are_a_401(void **state)
{
    KIT(kit, "d g w=1 tags=a fails=0 : 500; e g w=0 tags=b; router retries=0 filter");
    (void)state;

    expect(kit, "g tags=a", "d:500 fail:500");
    refuses(kit, "g tags=c");
}

static void rs_20_fail_open_leaves_out_constraints_that_nobody_meets(void **state)
{
    KIT(kit, "d g w=1 tags=us fail_open; e g w=0 tags=eu; router retries=0 filter");
    (void)state;

    expect_each(kit, 5, "g tags=&asia", "d:ok");
    expect_each(kit, 5, "g tags=eu,!eu", "d:ok");
    expect_each(kit, 5, "g tags=!us", "e:ok");
}

static void rs_20_fail_open_prefers_the_default_pool(void **state)
{
    KIT(kit, "d g w=1 tags=us fail_open; e g w=0 tags=default; router retries=0 filter");
    (void)state;

    expect_each(kit, 5, "g tags=&asia", "e:ok");
}

static void rs_20_fail_open_keeps_inherited_constraints(void **state)
{
    KIT(kit, "d g w=9 tags=us fail_open; e g w=0 tags=eu; router retries=0 filter");
    (void)state;

    expect_each(kit, 5, "g tags=^!us,&asia", "e:ok");
    refuses(kit, "g tags=^&asia");
    refuses(kit, "g tags=^&asia,!us");
}

static void rs_20_fail_open_is_not_for_tags_that_match_nobody(void **state)
{
    KIT(kit, "d g w=1 tags=us fail_open; e g w=0 tags=eu; router retries=0 filter");
    (void)state;

    refuses(kit, "g tags=asia");
    refuses(kit, "g tags=asia,!us");
}

static void rs_20_a_refusal_falls_back(void **state)
{
    KIT(kit, "d g tags=a; b B; router retries=3 filter; fallbacks g: B");
    (void)state;

    refuses(kit, "g tags=b");
    kit_reload(kit, "d g tags=a; b B tags=b; router retries=3 filter; fallbacks g: B");
    expect(kit, "g tags=b", "b:ok");
}

static void rs_4_tags_come_before_orders(void **state)
{
    KIT(kit, "d g order=1 tags=default; e g order=2 tags=a; router retries=0 filter");
    (void)state;

    expect(kit, "g tags=a", "e:ok");
    expect(kit, "g tags=b", "d:ok");
    expect(kit, "g", "d:ok");
}

static void rs_4_tags_see_only_those_that_do_not_cool_down(void **state)
{
    KIT(kit, "d g w=1 tags=a fails=0 : 500; e g w=0 tags=default; router retries=0 filter");
    (void)state;

    expect(kit, "g tags=a", "d:500 fail:500");
    expect(kit, "g tags=a", "e:ok");
}

static void rs_4_tags_hold_for_retries_and_siblings(void **state)
{
    KIT(kit, "d g w=9 tags=a : 500; e g w=0 tags=a : 500; f g w=1 tags=b; router retries=1 filter weighted "
             "jitter=0");
    (void)state;

    expect(kit, "g tags=a", "d:500 e:500 fail:500");
    kit_reload(
        kit,
        "d g order=1 w=9 tags=a : 500; e g order=1 w=0 tags=a : 500; h g order=2 tags=b; f g order=3 tags=a\n"
        "router retries=1 filter jitter=0");
    expect(kit, "g tags=a", "d:500 e:500 f:ok");
}

static void rs_4_tags_hold_for_continuations(void **state)
{
    KIT(kit, "d g w=9 tags=a : text,connection; e g w=1 tags=b prefill; f g w=0 tags=a prefill : text,ok\n"
             "router retries=0 filter continuation targets=group");
    (void)state;

    expect(kit, "g stream continue tags=a", "d*:500 f>*:ok");
}

static void rs_4_tags_hold_for_hedges(void **state)
{
    KIT(kit, "d g w=9 tags=a : ok+10; e g w=1 tags=b; f g w=0 tags=a; router retries=0 filter hedge=1");
    (void)state;

    expect(kit, "g tags=a", "d f d:cancel f:ok");
}

static void rs_4_the_bypass_leaves_the_tags_on(void **state)
{
    KIT(kit, "d g w=1 tags=a : 500; e g w=0 tags=b : 500 ok\n"
             "router retries=0 cooldown=30 bypass fails.internal=0 filter");
    (void)state;

    expect(kit, "g tags=a", "d:500 fail:500");
    expect(kit, "g tags=b", "e:500 fail:500");
    expect(kit, "g tags=b", "e:ok");
    refuses(kit, "g tags=c");
}

static void beyond_4_a_match_that_is_held_back_is_still_the_match(void **state)
{
    KIT(kit, "d g tags=a fails=0 : 500 ok; e g tags=default; router retries=0 filter cooldown=5 ramp=1000");
    (void)state;

    expect(kit, "g tags=a", "d:500 fail:500");
    kit_advance(kit, 6);
    expect_each(kit, 20, "g tags=a", "d:ok");
}

static void rs_3_an_id_has_no_tag_filter(void **state)
{
    KIT(kit, "d g tags=a; router retries=0 filter");
    (void)state;

    expect(kit, "d tags=b", "d:ok");
}

static void rs_5_tags_do_not_change_the_counts(void **state)
{
    KIT(kit, "d g w=1 tags=a : 500 ok; e g w=0 tags=b; router retries=1 filter");
    struct kit_call *call;
    (void)state;

    call = expect_call(kit, "g tags=a", "d:500 d:ok");
    assert_int_equal(call->wait_count, 0);
}

KIT_TESTS_MAIN(TESTS)
