/*
 * The walk to other groups: where to, in which order, how far, and whose error is told at the end
 * (router-semantics 11.1, 11.4; reliability.md, Fallbacks).
 */
#include "engine_kit.h"

#include <stdio.h>
#include <string.h>

#include "base/slice.h"

/* clang-format off */
#define TESTS(X) \
    X("RS 11.1", rs_11_disable_fallbacks_raises) \
    X("RS 11.1", rs_11_a_failure_takes_the_list_of_its_kind) \
    X("RS 11.1", rs_11_other_kinds_take_the_generic_list) \
    X("RS 11.1", rs_11_a_list_without_the_group_raises_the_original) \
    X("RS 11.1", rs_11_a_list_that_is_not_configured_leaves_the_generic_one) \
    X("RS 11.1", rs_11_a_context_chain_that_fails_does_not_go_on_in_the_generic_one) \
    X("RS 11.1", rs_11_a_group_without_a_chain_raises) \
    X("RS 11.4", rs_11_targets_are_taken_in_order) \
    X("RS 11.4", rs_11_a_targets_own_fallbacks_apply_on_the_next_hop) \
    X("RS 11.4", rs_11_after_a_failed_nested_hop_the_outer_list_goes_on) \
    X("RS 11.4", rs_11_a_nested_hop_takes_the_list_of_its_own_failure) \
    X("RS 11.4", rs_11_the_failed_group_itself_is_skipped) \
    X("RS 11.4", rs_11_the_asked_group_is_never_a_target) \
    X("RS 11.4", rs_11_a_target_is_tried_once) \
    X("RS 11.4", rs_11_an_alias_of_a_tried_group_is_tried) \
    X("RS 11.4", rs_11_a_target_with_overrides_is_another_target) \
    X("RS 11.4", rs_11_a_circle_ends_with_the_first_groups_error) \
    X("RS 11.4", rs_11_max_fallbacks_is_five) \
    X("RS 11.4", rs_11_max_fallbacks_of_zero_means_no_hop) \
    X("RS 11.4", rs_11_the_walk_stops_at_exactly_max_fallbacks) \
    X("decisions 11", decision_11_max_fallbacks_is_one_counter_over_nested_walks) \
    X("RS 11.4", rs_11_the_first_groups_error_is_told) \
    X("RS 11.4", rs_11_the_first_groups_latest_error_is_told) \
    X("RS 11.4", rs_11_the_failed_groups_are_listed_oldest_first) \
    X("RS 11.4", rs_11_an_unknown_target_is_a_failed_hop) \
    X("RS 11.4", rs_11_a_target_where_nothing_can_be_picked_is_a_failed_hop) \
    X("RS 11.4", rs_11_targets_may_be_aliases_wildcards_and_ids) \
    X("RS 11.4", rs_11_a_target_that_is_an_id_skips_the_cooldown_filter) \
    X("RS 11.4", rs_11_the_hops_are_counted_in_start_and_summary) \
    X("RS 11.4", rs_11_no_deployments_falls_back_like_a_rate_limit) \
    X("RS 11.4", rs_11_an_unknown_model_falls_back_by_its_name) \
    X("RS 11.4 ask", rs_11_a_hop_is_asked_about_first) \
    X("RS 11.4 ask", rs_11_a_target_that_is_refused_is_skipped) \
    X("RS 11.4 ask", rs_11_an_unknown_answer_is_a_no) \
    X("RS 11.4 ask", rs_11_a_refused_target_is_no_hop) \
    X("RS 11.4 ask", rs_11_orders_and_siblings_are_not_asked_about) \
    X("RS 11.4 ask", rs_11_the_question_names_source_target_and_what_is_asked) \
    X("RS 11.4 ask", rs_11_nobody_is_asked_about_tried_targets_or_beyond_the_limit) \
    X("decisions 13", decision_13_overrides_hold_for_that_hop_and_its_retries) \
    X("decisions 13", decision_13_a_nested_hop_starts_from_the_callers_request) \
    X("decisions 13", decision_13_a_targets_controls_hold_for_its_hop) \
    X("RS 11.5", rs_11_a_filtered_answer_goes_to_the_content_policy_chain) \
    X("RS 11.5", rs_11_a_filtered_answer_without_a_chain_for_the_group_is_delivered) \
    X("RS 11.5", rs_11_a_filtered_answer_without_the_list_is_delivered_though_a_generic_chain_exists) \
    X("RS 11.5", rs_11_a_filtered_answer_counts_neither_way) \
    X("RS 11.5", rs_11_a_filtered_answer_with_fallbacks_disabled_is_delivered)
/* clang-format on */

TESTS(KIT_TEST_DECLARE)

static void rs_11_disable_fallbacks_raises(void **state)
{
    (void)state;
    KIT(kit, "a A : 500; b B; router retries=0; fallbacks A: B\n");
    expect(kit, "A no_fallbacks", "a:500 fail:500");
    expect(kit, "A", "a:500 b:ok");
    expect(kit, "A no_fallbacks fallbacks=B", "a:500 fail:500");
}

static void rs_11_a_failure_takes_the_list_of_its_kind(void **state)
{
    (void)state;
    KIT(kit, "a A : context_window content_policy 503; b B; l L; p P\n"
             "router retries=0; fallbacks A: B; context A: L; content A: P\n");
    expect(kit, "A", "a:400 l:ok");
    expect(kit, "A", "a:400 p:ok");
    expect(kit, "A", "a:503 b:ok");
}

static void rs_11_other_kinds_take_the_generic_list(void **state)
{
    (void)state;
    for (int kind = 0; kind < WEIR_KIND_COUNT; kind++) {
        struct weir_slice name = weir_kind_row((weir_kind)kind)->name;
        char config[256];

        if (kind == WEIR_KIND_CONTEXT_WINDOW || kind == WEIR_KIND_CONTENT_POLICY ||
            kind == WEIR_KIND_GUARDRAIL)
            continue;
        snprintf(config, sizeof(config),
                 "a A : %.*s; b B; l L; router retries=0; fallbacks A: B; context A: L; content A: L\n",
                 (int)name.len, name.ptr);
        KIT(kit, config);
        if (strstr(kit_call(kit, "A")->story, " b:ok") == NULL)
            kit_die(kit, "%.*s does not take the generic list", (int)name.len, name.ptr);
    }
}

static void rs_11_a_list_without_the_group_raises_the_original(void **state)
{
    (void)state;
    KIT(kit, "a A : context_window content_policy 400; b B\n"
             "router retries=0; fallbacks A: B; context B: A; content B: A\n");
    expect(kit, "A", "a:400 fail:400");
    expect(kit, "A", "a:400 fail:400");
    expect(kit, "A", "a:400 b:ok");
}

static void rs_11_a_list_that_is_not_configured_leaves_the_generic_one(void **state)
{
    (void)state;
    KIT(kit, "a A : context_window content_policy; b B; router retries=0; fallbacks A: B\n");
    expect(kit, "A", "a:400 b:ok");
    expect(kit, "A", "a:400 b:ok");
}

static void rs_11_a_context_chain_that_fails_does_not_go_on_in_the_generic_one(void **state)
{
    (void)state;
    KIT(kit, "a A : context_window; b B; l L : context_window\n"
             "router retries=0; fallbacks A: B; context A: L\n");
    expect(kit, "A", "a:400 l:400 fail:400");
}

static void rs_11_a_group_without_a_chain_raises(void **state)
{
    (void)state;
    KIT(kit, "a A : 500; b B; c C; router retries=0; fallbacks B: C\n");
    expect(kit, "A", "a:500 fail:500");
}

static void rs_11_targets_are_taken_in_order(void **state)
{
    (void)state;
    KIT(kit, "a A : 500; b B : 500; c C : 500; d D; router retries=0; fallbacks A: B C D\n");
    expect(kit, "A", "a:500 b:500 c:500 d:ok");
}

static void rs_11_a_targets_own_fallbacks_apply_on_the_next_hop(void **state)
{
    (void)state;
    KIT(kit, "a A : 500; b B : 503; c C; d D; router retries=0; fallbacks A: B D; fallbacks B: C\n");
    const struct kit_call *call = expect_call(kit, "A", "a:500 b:503 c:ok");

    assert_int_equal(kit_summary(call).hops, 2);
    assert_slice_is(kit_summary(call).group, "C");
}

static void rs_11_after_a_failed_nested_hop_the_outer_list_goes_on(void **state)
{
    (void)state;
    KIT(kit, "a A : 500; b B : 503; c C : 429; d D\n"
             "router retries=0; fallbacks A: B D; fallbacks B: C; fallbacks C:\n");
    expect(kit, "A", "a:500 b:503 c:429 d:ok");
}

static void rs_11_a_nested_hop_takes_the_list_of_its_own_failure(void **state)
{
    (void)state;
    KIT(kit, "a A : 500; b B : context_window; l L; c C\n"
             "router retries=0; fallbacks A: B; fallbacks B: C; context B: L\n");
    expect(kit, "A", "a:500 b:400 l:ok");
}

static void rs_11_the_failed_group_itself_is_skipped(void **state)
{
    (void)state;
    KIT(kit, "a A : 500; b B; router retries=0; fallbacks A: A B\n");
    expect(kit, "A", "a:500 b:ok");
}

static void rs_11_the_asked_group_is_never_a_target(void **state)
{
    (void)state;
    KIT(kit, "a A : 500; b B : 500; c C; router retries=0; fallbacks A: B; fallbacks B: A C\n");
    expect(kit, "A", "a:500 b:500 c:ok");
}

static void rs_11_a_target_is_tried_once(void **state)
{
    (void)state;
    KIT(kit, "a A : 500; b B : 500; c C : 500\n"
             "router retries=0; fallbacks A: B B C B; fallbacks B: C; fallbacks C: B\n");
    expect(kit, "A", "a:500 b:500 c:500 fail:500");
}

static void rs_11_an_alias_of_a_tried_group_is_tried(void **state)
{
    (void)state;
    KIT(kit, "a A : 500; b B : 500; alias again B; alias myself A\n"
             "router retries=0; fallbacks A: B again myself\n");
    expect(kit, "A", "a:500 b:500 fail:500");
}

static void rs_11_a_target_with_overrides_is_another_target(void **state)
{
    (void)state;
    KIT(kit, "a A : 500; b B : 500; router retries=0; fallbacks A: B B{x:1} B{x:2} B{x:1}\n");
    expect(kit, "A", "a:500 b:500 b:500 b:500 fail:500");
}

static void rs_11_a_circle_ends_with_the_first_groups_error(void **state)
{
    (void)state;
    KIT(kit, "a A : 503; b B : 429; c C : 500; router retries=0\n"
             "fallbacks A: B; fallbacks B: C; fallbacks C: A\n");
    expect(kit, "A", "a:503 b:429 c:500 fail:503");
}

static void rs_11_max_fallbacks_is_five(void **state)
{
    (void)state;
    KIT(kit, "a A : 500; b B : 500; c C : 500; d D : 500; e E : 500; f F : 500; g G\n"
             "router retries=0; fallbacks A: B C D E F G\n");
    expect(kit, "A", "a:500 b:500 c:500 d:500 e:500 f:500 fail:500");
}

static void rs_11_max_fallbacks_of_zero_means_no_hop(void **state)
{
    (void)state;
    KIT(kit, "a A : 500; b B; router retries=0 max_fallbacks=0; fallbacks A: B\n");
    expect(kit, "A", "a:500 fail:500");
}

static void rs_11_the_walk_stops_at_exactly_max_fallbacks(void **state)
{
    (void)state;
    KIT(kit, "a A : 500; b B : 500; c C; router retries=0 max_fallbacks=1; fallbacks A: B C\n");
    expect(kit, "A", "a:500 b:500 fail:500");
    KIT(two, "a A : 500; b B : 500; c C; router retries=0 max_fallbacks=2; fallbacks A: B C\n");
    expect(two, "A", "a:500 b:500 c:ok");
}

static void decision_11_max_fallbacks_is_one_counter_over_nested_walks(void **state)
{
    (void)state;
    KIT(kit, "a A : 500; b B : 500; c C : 500; d D; router retries=0 max_fallbacks=2\n"
             "fallbacks A: B D; fallbacks B: C; fallbacks C:\n");
    expect(kit, "A", "a:500 b:500 c:500 fail:500");
}

static void rs_11_the_first_groups_error_is_told(void **state)
{
    (void)state;
    KIT(kit, "a A : 503; b B : 401; c C : 404; router retries=0; fallbacks A: B C\n");
    const struct kit_call *call = expect_call(kit, "A", "a:503 b:401 c:404 fail:503");

    assert_int_equal(call->fail.attempt, 1);
    assert_int_equal(call->fail.failure.kind, WEIR_KIND_SERVICE_UNAVAILABLE);
    assert_slice_is(call->fail.group, "A");
}

static void rs_11_the_first_groups_latest_error_is_told(void **state)
{
    (void)state;
    KIT(kit, "a A : 500 502; b B : 401; router retries=1; fallbacks A: B\n");
    const struct kit_call *call = expect_call(kit, "A", "a:500 a:502 b:401 fail:502");

    assert_int_equal(call->fail.attempt, 2);
}

static void rs_11_the_failed_groups_are_listed_oldest_first(void **state)
{
    struct weir_summary summary;
    (void)state;
    KIT(kit, "a A : 503; b B : 401; c C; router retries=0; fallbacks A: B C\n");

    summary = kit_summary(expect_call(kit, "A", "a:503 b:401 c:ok"));
    assert_int_equal(summary.failure_count, 2);
    assert_slice_is(summary.failures[0].group, "A");
    assert_int_equal(summary.failures[0].failure.status, 503);
    assert_int_equal(summary.failures[0].attempt, 1);
    assert_slice_is(summary.failures[1].group, "B");
    assert_int_equal(summary.failures[1].failure.status, 401);
    assert_int_equal(summary.failures[1].attempt, 2);
    assert_slice_is(summary.group, "C");
}

static void rs_11_an_unknown_target_is_a_failed_hop(void **state)
{
    (void)state;
    KIT(kit, "a A : 500; b B; router retries=0; fallbacks A: nope B\n");
    const struct kit_call *call = expect_call(kit, "A", "a:500 b:ok");

    assert_int_equal(kit_summary(call).hops, 2);
}

static void rs_11_a_target_where_nothing_can_be_picked_is_a_failed_hop(void **state)
{
    (void)state;
    KIT(kit, "a A : 500; b B blocked; c C; router retries=2 jitter=0; fallbacks A: B C\n");
    expect(kit, "A retries=0", "a:500 c:ok");
}

static void rs_11_targets_may_be_aliases_wildcards_and_ids(void **state)
{
    (void)state;
    KIT(kit, "a A : 500; b1 B w=1 : 500; b2 B w=0 : 500; w acme/* model=openai/* : 500; c C\n"
             "alias nick C; router retries=0; fallbacks A: b2 acme/x nick\n");
    const struct kit_call *call = expect_call(kit, "A", "a:500 b2:500 w:500 c:ok");

    assert_slice_is(call->attempts[3].start.model, "openai/x");
}

static void rs_11_a_target_that_is_an_id_skips_the_cooldown_filter(void **state)
{
    (void)state;
    KIT(kit, "a A : 500; b1 B : 401 ok; router retries=0 cooldown=60; fallbacks A: b1; fallbacks B:\n");
    expect(kit, "B", "b1:401 fail:401");
    assert_true(kit_cooling(kit, "b1") > 0);
    expect(kit, "A", "a:500 b1:ok");
}

static void rs_11_the_hops_are_counted_in_start_and_summary(void **state)
{
    (void)state;
    KIT(kit, "a A : 500; b B : 500; c C; router retries=0; fallbacks A: B C\n");
    const struct kit_call *call = expect_call(kit, "A", "a:500 b:500 c:ok");

    assert_int_equal(call->attempts[1].start.hop, 0);
    assert_int_equal(call->attempts[2].start.hop, 1);
    assert_int_equal(call->attempts[3].start.hop, 2);
    assert_int_equal(kit_summary(call).hops, 2);
    assert_slice_is(call->attempts[3].start.group, "C");
}

static void rs_11_no_deployments_falls_back_like_a_rate_limit(void **state)
{
    (void)state;
    KIT(kit, "a A fails=0 : 500; b B; router retries=2 cooldown=30; fallbacks A: B\n");
    expect(kit, "A", "a:500 b:ok");
    expect_waits(expect_call(kit, "A", "b:ok"), 0, 0, 0);
}

static void rs_11_an_unknown_model_falls_back_by_its_name(void **state)
{
    (void)state;
    KIT(kit, "b B; router retries=2; fallbacks nope: B\n");
    const struct kit_call *call = expect_call(kit, "nope", "b:ok");

    assert_int_equal(kit_summary(call).hops, 1);
}

static void rs_11_a_hop_is_asked_about_first(void **state)
{
    (void)state;
    KIT(kit, "a A : 500; b B : 500; c C; router retries=0 ask=both; fallbacks A: B C\n");
    expect(kit, "A", "a:500 ?B=yes b:500 ?C=yes c:ok");
}

static void rs_11_a_target_that_is_refused_is_skipped(void **state)
{
    (void)state;
    KIT(kit, "a A : 500; b B; c C; router retries=0 ask=budget; fallbacks A: B C; answer B no\n");
    expect(kit, "A", "a:500 ?B=no ?C=yes c:ok");
}

static void rs_11_an_unknown_answer_is_a_no(void **state)
{
    (void)state;
    KIT(kit, "a A : 503; b B; router retries=0 ask=access; fallbacks A: B; answer B unknown\n");
    expect(kit, "A", "a:503 ?B=unknown fail:503");
}

static void rs_11_a_refused_target_is_no_hop(void **state)
{
    (void)state;
    KIT(kit, "a A : 500; b B; c C; router retries=0 ask=both max_fallbacks=1; fallbacks A: B C\n"
             "answer B no\n");
    const struct kit_call *call = expect_call(kit, "A", "a:500 ?B=no ?C=yes c:ok");

    assert_int_equal(kit_summary(call).hops, 1);
    assert_int_equal(kit_event_count(call, WEIR_EVENT_FALLBACK), 1);
}

static void rs_11_orders_and_siblings_are_not_asked_about(void **state)
{
    (void)state;
    KIT(kit, "d1 g order=1 : 500; d2 g order=2 : 500; d3 g order=1 w=0 : 500; d4 g order=1 w=0 : 500; b B\n"
             "router retries=0 ask=both weighted; fallbacks g: B\n");
    const struct kit_call *call = kit_call(kit, "g");

    assert_int_equal(call->attempt_count, 5);
    assert_non_null(strstr(call->story, ":500 ?B=yes b:ok"));
}

static void rs_11_the_question_names_source_target_and_what_is_asked(void **state)
{
    (void)state;
    KIT(kit, "a A : 500; b B : 500; c C; router retries=0 ask=both; fallbacks A: B; fallbacks B: C\n");
    const struct kit_call *call = expect_call(kit, "A", "a:500 ?B=yes b:500 ?C=yes c:ok");

    assert_slice_is(call->question.ask.source, "B");
    assert_slice_is(call->question.ask.target, "C");
    assert_int_equal(call->question.ask.questions, WEIR_ASK_ACCESS | WEIR_ASK_BUDGET);
}

static void rs_11_nobody_is_asked_about_tried_targets_or_beyond_the_limit(void **state)
{
    (void)state;
    KIT(kit, "a A : 500; b B : 500; c C; router retries=0 ask=both max_fallbacks=1; fallbacks A: A B B C\n");
    expect(kit, "A", "a:500 ?B=yes b:500 fail:500");
}

static void decision_13_overrides_hold_for_that_hop_and_its_retries(void **state)
{
    (void)state;
    KIT(kit, "a A : 500; b B : 500 500; c C; router retries=1; fallbacks A: B{t:0} C\n");
    const struct kit_call *call = expect_call(kit, "A", "a:500 a:500 b:500 b:500 c:ok");

    assert_slice_is(call->attempts[1].start.overrides, "");
    assert_slice_is(call->attempts[3].start.overrides, "{t:0}");
    assert_slice_is(call->attempts[4].start.overrides, "{t:0}");
    assert_slice_is(call->attempts[5].start.overrides, "");
}

static void decision_13_a_nested_hop_starts_from_the_callers_request(void **state)
{
    (void)state;
    KIT(kit, "a A : 500; b B : 500; c C : 500; router retries=0\n"
             "fallbacks A: B{t:0}@retries=2; fallbacks B: C\n");
    const struct kit_call *call = expect_call(kit, "A", "a:500 b:500 b:500 b:500 c:500 fail:500");

    assert_slice_is(call->attempts[5].start.overrides, "");
}

static void decision_13_a_targets_controls_hold_for_its_hop(void **state)
{
    (void)state;
    KIT(kit, "a A : 500; b B : ok+2; c C : ok+2; router retries=0 timeout=10\n"
             "fallbacks A: B@timeout=1 C\n");
    expect(kit, "A", "a:500 b:cancel c:ok");
    /* a request's zero is overridden for the hop */
    KIT(zero, "a A : 500; b B : 500; fallbacks A: B@retries=1\n");
    expect(zero, "A retries=0", "a:500 b:500 b:500 fail:500");
}

static void rs_11_a_filtered_answer_goes_to_the_content_policy_chain(void **state)
{
    (void)state;
    KIT(kit, "a A w=1 : filtered; a2 A w=0; p P; router retries=2; content A: P\n");
    const struct kit_call *call = expect_call(kit, "A", "a:filtered p:ok");

    assert_int_equal(kit_summary(call).failures[0].failure.kind, WEIR_KIND_CONTENT_POLICY);
    assert_int_equal(kit_summary(call).failures[0].failure.status, 400);
    assert_int_equal(kit_summary(call).failures[0].reason, WEIR_REASON_CONTENT_FILTERED);
}

static void rs_11_a_filtered_answer_without_a_chain_for_the_group_is_delivered(void **state)
{
    (void)state;
    KIT(kit, "d D : filtered; a A; p P; content A: P\n");
    expect(kit, "D", "d:filtered:ok");
}

static void rs_11_a_filtered_answer_without_the_list_is_delivered_though_a_generic_chain_exists(void **state)
{
    (void)state;
    KIT(kit, "d D : filtered; b B; fallbacks D: B\n");
    expect(kit, "D", "d:filtered:ok");
}

static void rs_11_a_filtered_answer_counts_neither_way(void **state)
{
    (void)state;
    KIT(kit, "a A : filtered; p P; content A: P\n");
    expect(kit, "A", "a:filtered p:ok");
    assert_int_equal(kit_view(kit, "a").failures, 0);
    assert_int_equal(kit_view(kit, "a").successes, 0);
}

static void rs_11_a_filtered_answer_with_fallbacks_disabled_is_delivered(void **state)
{
    (void)state;
    KIT(kit, "a A : filtered; p P; content A: P\n");
    expect(kit, "A no_fallbacks", "a:filtered:ok");
}

KIT_TESTS_MAIN(TESTS)
