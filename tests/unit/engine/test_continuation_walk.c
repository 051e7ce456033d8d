/*
 * Where a stream that broke after content goes on (beyond.md 3, decisions 31 and 32): the sources in the
 * order that is set, deployments that take a prefill, each at most once and without retries or waits.
 */
#include "engine_kit.h"

#include <stdio.h>

#include "base/time.h"

/* clang-format off */
#define TESTS(X) \
    X("fallback", the_chain_is_walked_in_its_order) \
    X("fallback", the_groups_own_deployments_are_not_asked_by_default) \
    X("fallback", a_target_that_refuses_the_prefill_is_passed) \
    X("fallback", a_guardrail_ends_the_walk) \
    X("fallback", a_target_that_breaks_before_content_is_passed) \
    X("fallback", only_deployments_that_take_prefill_are_picked) \
    X("fallback", each_deployment_of_a_target_is_tried_once) \
    X("fallback", lower_orders_of_a_target_come_first) \
    X("fallback", a_cooling_target_is_passed) \
    X("fallback", a_blocked_target_is_passed) \
    X("fallback", a_target_may_be_an_id_or_an_alias) \
    X("fallback", a_target_that_stands_for_nothing_is_passed) \
    X("fallback", a_wildcard_target_is_filled_in) \
    X("fallback", a_target_is_asked_about_first) \
    X("fallback", max_fallbacks_bounds_the_hops) \
    X("fallback", hops_before_the_break_are_counted_too) \
    X("fallback", a_target_that_was_tried_before_the_break_is_passed) \
    X("fallback", the_chain_of_the_group_that_broke_comes_first) \
    X("fallback", a_chain_that_leads_back_ends) \
    X("fallback", nested_chains_are_walked) \
    X("fallback", a_requests_own_list_holds) \
    X("fallback", default_fallbacks_are_a_chain) \
    X("fallback", retries_are_nobodys) \
    X("group", the_others_of_the_group_are_tried) \
    X("group", lower_orders_of_the_group_come_first) \
    X("group", cooling_siblings_are_passed) \
    X("group", the_broken_one_comes_last) \
    X("group", the_broken_one_does_not_come_without_prefill) \
    X("group", the_broken_one_does_not_come_while_it_cools) \
    X("group", a_lone_deployment_goes_on_by_itself) \
    X("group", a_lone_deployment_goes_on_once) \
    X("group", a_groups_own_sources_hold_for_it) \
    X("group", sources_are_asked_in_their_order) \
    X("group", the_broken_one_comes_after_all_sources) \
    X("twice", a_continuation_that_breaks_is_continued) \
    X("twice", the_first_break_is_told) \
    X("twice", a_break_that_may_not_be_continued_ends_it) \
    X("twice", each_deployment_goes_on_once_in_a_call) \
    X("twice", a_chain_of_many_breaks_ends)
/* clang-format on */

TESTS(KIT_TEST_DECLARE)

/* ---- the chain ---- */

static void the_chain_is_walked_in_its_order(void **state)
{
    (void)state;
    KIT(kit, "d g : text,500; b B prefill : 500; c C prefill : 500; e E prefill : text,ok\n"
             "router continuation; fallbacks g: B C E\n");
    expect(kit, "g stream continue", "d*:500 b>:500 c>:500 e>*:ok");
}

static void the_groups_own_deployments_are_not_asked_by_default(void **state)
{
    (void)state;
    KIT(kit,
        "d g w=1 prefill : text,500; d2 g w=0 prefill : text,ok; b B prefill : 500; router continuation\n"
        "fallbacks g: B\n");
    expect(kit, "g stream continue", "d*:500 b>:500 fail*:500");
}

static void a_target_that_refuses_the_prefill_is_passed(void **state)
{
    (void)state;
    KIT(kit, "d g : text,503; b B prefill : 400; c C prefill : text,ok; router continuation\n"
             "fallbacks g: B C\n");
    expect(kit, "g stream continue", "d*:503 b>:400 c>*:ok");
    KIT(none, "d g : text,503; b B prefill : 400; router continuation; fallbacks g: B\n");
    assert_int_equal(expect_call(none, "g stream continue", "d*:503 b>:400 fail*:503")->fail.attempt, 1);
}

static void a_guardrail_ends_the_walk(void **state)
{
    (void)state;
    KIT(kit, "d g : text,503; b B prefill : guardrail; c C prefill; router continuation; fallbacks g: B C\n");
    expect(kit, "g stream continue", "d*:503 b>:400 fail*:503");
}

static void a_target_that_breaks_before_content_is_passed(void **state)
{
    (void)state;
    KIT(kit,
        "d g : text,503; b B prefill : open,chunk,connection; c C prefill : text,ok; router continuation\n"
        "fallbacks g: B C\n");
    expect(kit, "g stream continue", "d*:503 b>:500 c>*:ok");
}

static void only_deployments_that_take_prefill_are_picked(void **state)
{
    (void)state;
    KIT(kit, "d g : text,500; b1 B w=1; b2 B w=0 prefill : text,ok; c C; e E prefill : text,ok\n"
             "router continuation no_cooldowns; fallbacks g: C B E\n");
    expect(kit, "g stream continue", "d*:500 b2>*:ok");
}

static void each_deployment_of_a_target_is_tried_once(void **state)
{
    (void)state;
    KIT(kit, "d g : text,500; b1 B w=1 prefill : 500; b2 B w=0 prefill : 500; c C prefill : text,ok\n"
             "router continuation no_cooldowns; fallbacks g: B C\n");
    expect(kit, "g stream continue", "d*:500 b1>:500 b2>:500 c>*:ok");
}

static void lower_orders_of_a_target_come_first(void **state)
{
    (void)state;
    KIT(kit, "d g : text,500; b3 B order=3 prefill : text,ok; b2 B order=2 prefill : 500\n"
             "b1 B order=1 prefill : 500; router continuation no_cooldowns; fallbacks g: B\n");
    expect(kit, "g stream continue", "d*:500 b1>:500 b2>:500 b3>*:ok");
}

static void a_cooling_target_is_passed(void **state)
{
    (void)state;
    KIT(kit, "d g : text,500; b B prefill fails=0 : 500; c C prefill : text,ok\n"
             "router continuation retries=0 cooldown=60; fallbacks g: B C\n");
    expect(kit, "B stream", "b:500 fail:500");
    expect(kit, "g stream continue", "d*:500 c>*:ok");
}

static void a_blocked_target_is_passed(void **state)
{
    (void)state;
    KIT(kit, "d g : text,500; b B prefill blocked; c C prefill : text,ok; router continuation\n"
             "fallbacks g: B C\n");
    expect(kit, "g stream continue", "d*:500 c>*:ok");
}

static void a_target_may_be_an_id_or_an_alias(void **state)
{
    (void)state;
    KIT(kit, "d g : text,500; b B prefill : 500; b2 B prefill : 500; c C prefill : text,ok; alias nick C\n"
             "e E; router continuation; fallbacks g: e b2 nick\n");
    expect(kit, "g stream continue", "d*:500 b2>:500 c>*:ok");
}

static void a_target_that_stands_for_nothing_is_passed(void **state)
{
    (void)state;
    KIT(kit, "d g : text,500; b B prefill : text,ok; router continuation; fallbacks g: nope B\n");
    expect(kit, "g stream continue", "d*:500 b>*:ok");
    KIT(none, "d g : text,500; router continuation; fallbacks g: nope nope2\n");
    expect(none, "g stream continue", "d*:500 fail*:500");
}

static void a_wildcard_target_is_filled_in(void **state)
{
    (void)state;
    KIT(kit, "d g : text,500; w w/* prefill model=openai/* : text,ok; router continuation\n"
             "fallbacks g: w/x\n");
    const struct kit_call *call = expect_call(kit, "g stream continue", "d*:500 w>*:ok");

    assert_memory_equal(call->attempts[2].start.model.ptr, "openai/x", 8);
}

static void a_target_is_asked_about_first(void **state)
{
    (void)state;
    KIT(kit, "d g : text,500; b B prefill : text,ok; c C prefill : text,ok; router continuation ask=both\n"
             "fallbacks g: B C; answer B no\n");
    expect(kit, "g stream continue", "d*:500 ?B=no ?C=yes c>*:ok");
    KIT(none, "d g : text,500; b B prefill : text,ok; router continuation ask=both; fallbacks g: B\n"
              "answer B unknown\n");
    expect(none, "g stream continue", "d*:500 ?B=unknown fail*:500");
}

static void max_fallbacks_bounds_the_hops(void **state)
{
    (void)state;
    KIT(kit, "d g : text,500; b B prefill : 500; c C prefill; router continuation max_fallbacks=1\n"
             "fallbacks g: B C\n");
    expect(kit, "g stream continue", "d*:500 b>:500 fail*:500");
    KIT(none, "d g : text,500; b B prefill; router continuation max_fallbacks=0; fallbacks g: B\n");
    expect(none, "g stream continue", "d*:500 fail*:500");
}

static void hops_before_the_break_are_counted_too(void **state)
{
    (void)state;
    KIT(kit, "a A : 400; b B prefill : text,500; c C prefill; router continuation max_fallbacks=1\n"
             "fallbacks A: B C\n");
    expect(kit, "A stream continue", "a:400 b*:500 fail*:500");
}

static void a_target_that_was_tried_before_the_break_is_passed(void **state)
{
    (void)state;
    KIT(kit, "a A prefill : 400; b B prefill : 400; c C prefill : text,500; e E prefill : text,ok\n"
             "router continuation; fallbacks A: B C E\n");
    expect(kit, "A stream continue", "a:400 b:400 c*:500 e>*:ok");
}

static void the_chain_of_the_group_that_broke_comes_first(void **state)
{
    (void)state;
    KIT(kit, "a A : 400; b B : text,500; c C prefill : text,ok; e E prefill : text,ok; router continuation\n"
             "fallbacks A: B C; fallbacks B: E\n");
    expect(kit, "A stream continue", "a:400 b*:500 e>*:ok");
}

static void a_chain_that_leads_back_ends(void **state)
{
    (void)state;
    KIT(kit, "d g prefill : text,500; b B prefill : 500; router continuation no_cooldowns\n"
             "fallbacks g: B g B; fallbacks B: g B\n");
    expect(kit, "g stream continue", "d*:500 b>:500 fail*:500");
}

static void nested_chains_are_walked(void **state)
{
    (void)state;
    KIT(kit, "d g : text,500; b B prefill : 500; c C prefill : 500; e E prefill : text,ok\n"
             "router continuation; fallbacks g: B E; fallbacks B: C\n");
    expect(kit, "g stream continue", "d*:500 b>:500 c>:500 e>*:ok");
}

static void a_requests_own_list_holds(void **state)
{
    (void)state;
    KIT(kit, "d g : text,500; b B prefill; c C prefill : text,ok; router continuation no_cooldowns\n"
             "fallbacks g: B\n");
    expect(kit, "g stream continue fallbacks=C", "d*:500 c>*:ok");
    expect(kit, "g stream continue fallbacks=[]", "d*:500 fail*:500");
}

static void default_fallbacks_are_a_chain(void **state)
{
    (void)state;
    KIT(kit, "d g : text,500; b B prefill : text,ok; router continuation; default B\n");
    expect(kit, "g stream continue", "d*:500 b>*:ok");
}

static void retries_are_nobodys(void **state)
{
    (void)state;
    KIT(kit, "d g : text,500; b B prefill retries=5 : 500 text,ok; c C prefill : 503/1 text,ok\n"
             "router continuation retries=5; fallbacks g: B@retries=5 C\n");
    expect_waits(expect_call(kit, "g stream continue retries=5", "d*:500 b>:500 c>:503 fail*:500"), 0, 0, 0);
}

/* ---- the group ---- */

static void the_others_of_the_group_are_tried(void **state)
{
    (void)state;
    KIT(kit, "d1 g w=4 : text,500; d2 g w=0 : text,ok; d3 g w=0 prefill : 500; d4 g w=0 prefill : text,ok\n"
             "router continuation targets=group no_cooldowns retries=0\n");
    const struct kit_call *call = kit_call(kit, "g stream continue");

    /* d3 and d4 are alike, so either comes first */
    assert_int_equal(call->end, KIT_DELIVERED);
    assert_ptr_equal(call->attempts[call->delivered].deployment, kit_deployment(kit, "d4"));
    assert_int_equal(kit_deployment(kit, "d2")->calls, 0);
    assert_int_equal(kit_summary(call).hops, 0);
}

static void lower_orders_of_the_group_come_first(void **state)
{
    (void)state;
    KIT(kit, "d1 g order=1 : text,500; d3 g order=3 prefill : text,ok; d2 g order=2 prefill : 500\n"
             "router continuation targets=group no_cooldowns\n");
    expect(kit, "g stream continue", "d1*:500 d2>:500 d3>*:ok");
}

static void cooling_siblings_are_passed(void **state)
{
    (void)state;
    KIT(kit, "d1 g w=1 order=1 : text,500; d2 g w=0 order=1 prefill fails=0 : 500; d3 g order=2 prefill : "
             "text,ok\n"
             "router continuation targets=group retries=0 cooldown=60\n");
    expect(kit, "d2 stream", "d2:500 fail:500");
    expect(kit, "g stream continue", "d1*:500 d3>*:ok");
}

static void the_broken_one_comes_last(void **state)
{
    (void)state;
    KIT(kit, "d1 g w=1 prefill : text,500 text,ok; d2 g w=0 prefill : 500\n"
             "router continuation targets=group no_cooldowns\n");
    expect(kit, "g stream continue", "d1*:500 d2>:500 d1>*:ok");
}

static void the_broken_one_does_not_come_without_prefill(void **state)
{
    (void)state;
    KIT(kit, "d1 g w=1 : text,500 text,ok; d2 g w=0 prefill : 500\n"
             "router continuation targets=group no_cooldowns\n");
    expect(kit, "g stream continue", "d1*:500 d2>:500 fail*:500");
}

static void the_broken_one_does_not_come_while_it_cools(void **state)
{
    (void)state;
    KIT(kit, "d1 g w=1 prefill : text,429 text,ok; d2 g w=0 prefill : 500\n"
             "router continuation targets=group cooldown=60\n");
    expect(kit, "g stream continue", "d1*:429 d2>:500 fail*:429");
}

static void a_lone_deployment_goes_on_by_itself(void **state)
{
    (void)state;
    KIT(kit, "d g prefill : text,connection text,ok; router continuation targets=group\n");
    expect(kit, "g stream continue", "d*:500 d>*:ok");
}

static void a_lone_deployment_goes_on_once(void **state)
{
    (void)state;
    KIT(kit, "d g prefill : text,502 500 text,ok; router continuation targets=group no_cooldowns\n");
    expect(kit, "g stream continue", "d*:502 d>:500 fail*:502");
}

static void a_groups_own_sources_hold_for_it(void **state)
{
    static const char *const config =
        "d1 g w=1 : text,500; d2 g w=0 prefill : text,ok; b B prefill : text,ok\n"
        "e1 h w=1 : text,500; e2 h w=0 prefill : text,ok; group g targets=group\n"
        "router continuation no_cooldowns; fallbacks g: B; fallbacks h: B\n";
    (void)state;
    KIT(kit, config);

    expect(kit, "g stream continue", "d1*:500 d2>*:ok");
    expect(kit, "h stream continue", "e1*:500 b>*:ok");
}

static void sources_are_asked_in_their_order(void **state)
{
    static const char *const rows[][2] = {
        {"fallback", "d1*:502 b>:500 fail*:502"},
        {"group", "d1*:502 d2>:500 fail*:502"},
        {"fallback,group", "d1*:502 b>:500 d2>:500 fail*:502"},
        {"group,fallback", "d1*:502 d2>:500 b>:500 fail*:502"},
    };
    char config[256];
    (void)state;

    for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
        snprintf(config, sizeof(config),
                 "d1 g w=1 : text,502; d2 g w=0 prefill : 500; b B prefill : 500\n"
                 "router continuation no_cooldowns targets=%s; fallbacks g: B\n",
                 rows[i][0]);
        KIT(kit, config);
        expect(kit, "g stream continue", rows[i][1]);
    }
}

static void the_broken_one_comes_after_all_sources(void **state)
{
    static const char *const rows[][2] = {
        {"fallback,group", "d1*:502 b>:500 d2>:500 d1>*:ok"},
        {"group,fallback", "d1*:502 d2>:500 b>:500 d1>*:ok"},
        {"group", "d1*:502 d2>:500 d1>*:ok"},
        {"fallback", "d1*:502 b>:500 fail*:502"},
    };
    char config[256];
    (void)state;

    for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
        snprintf(config, sizeof(config),
                 "d1 g w=1 prefill : text,502 text,ok; d2 g w=0 prefill : 500; b B prefill : 500\n"
                 "router continuation no_cooldowns targets=%s; fallbacks g: B\n",
                 rows[i][0]);
        KIT(kit, config);
        expect(kit, "g stream continue", rows[i][1]);
    }
}

/* ---- more than one break ---- */

static void a_continuation_that_breaks_is_continued(void **state)
{
    (void)state;
    KIT(kit, "d g : text,500; b B prefill : text,502; c C prefill : text,connection; e E prefill : text,ok\n"
             "router continuation; fallbacks g: B C E\n");
    const struct kit_call *call = expect_call(kit, "g stream continue", "d*:500 b>*:502 c>*:500 e>*:ok");

    expect_events(call, "StreamContinued",
                  "StreamContinued b of 1 after 4, StreamContinued c of 2 after 8, "
                  "StreamContinued e of 3 after 12");
}

static void the_first_break_is_told(void **state)
{
    (void)state;
    KIT(kit, "d g : text,503; b B prefill : text,502; c C prefill : 500; router continuation\n"
             "fallbacks g: B C\n");
    const struct kit_call *call = expect_call(kit, "g stream continue", "d*:503 b>*:502 c>:500 fail*:503");

    assert_int_equal(call->fail.attempt, 1);
    assert_memory_equal(call->fail.group.ptr, "g", 1);
}

static void a_break_that_may_not_be_continued_ends_it(void **state)
{
    (void)state;
    KIT(kit, "d g : text,503; b B prefill : text,400; c C prefill; router continuation; fallbacks g: B C\n");
    expect(kit, "g stream continue", "d*:503 b>*:400 fail*:503");
}

static void each_deployment_goes_on_once_in_a_call(void **state)
{
    (void)state;
    KIT(kit, "d1 g w=1 prefill : text,503; d2 g w=0 prefill : text,502\n"
             "router continuation targets=group no_cooldowns\n");
    expect(kit, "g stream continue", "d1*:503 d2>*:502 d1>*:503 fail*:503");
}

static void a_chain_of_many_breaks_ends(void **state)
{
    (void)state;
    KIT(kit, "d1 g prefill : text,500; d2 g prefill : text,500; d3 g prefill : text,500\n"
             "b1 B prefill : text,500; b2 B prefill : text,500; c1 C prefill : text,500\n"
             "router continuation targets=fallback,group no_cooldowns\n"
             "fallbacks g: B C g; fallbacks B: g C B; fallbacks C: B g\n");
    const struct kit_call *call = kit_call(kit, "g stream continue");

    assert_int_equal(call->end, KIT_FAILED);
    assert_int_equal(call->fail.attempt, 1);
    /* every deployment but the first goes on once, and it too, at last */
    assert_true(call->attempt_count <= 7);
}

KIT_TESTS_MAIN(TESTS)
