/*
 * What a name stands for (router-semantics 3), looked up anew on every attempt.  The table says which rule
 * each test is for.
 */
#include "engine_kit.h"

#include "base/slice.h"

/* clang-format off */
#define TESTS(X) \
    X("RS 3.1", rs_3_specific_deployment_means_the_providers_model) \
    X("RS 3.1", rs_3_specific_deployment_takes_every_deployment_of_that_model) \
    X("RS 3.1", rs_3_specific_deployment_with_an_unknown_model_is_refused) \
    X("RS 3.2", rs_3_an_id_stands_for_its_deployment_alone) \
    X("RS 3.2", rs_3_an_id_is_used_even_while_it_cools) \
    X("RS 3.2", rs_3_a_blocked_id_is_503_and_says_paused) \
    X("RS 3.2", rs_3_a_blocked_id_has_the_usual_fallbacks) \
    X("RS 3.2", rs_3_a_group_of_the_name_of_an_id_wins) \
    X("RS 3.3", rs_3_an_alias_stands_for_its_group) \
    X("RS 3.3", rs_3_an_alias_beats_a_group_of_its_name) \
    X("RS 3.3", rs_3_an_alias_may_name_what_a_wildcard_covers) \
    X("RS 3.3", rs_3_a_hidden_alias_routes_like_any_other) \
    X("RS 3.5", rs_3_a_known_group_beats_a_wildcard) \
    X("RS 3.5", rs_3_wildcards_go_from_the_longest_pattern) \
    X("RS 3.5", rs_3_of_patterns_of_one_length_the_one_with_more_stars_is_first) \
    X("RS 3.5", rs_3_a_wildcard_is_anchored_at_the_start_only) \
    X("RS 3.5", rs_3_characters_beside_the_star_are_literal) \
    X("RS 3.5", rs_3_captures_fill_the_providers_model_from_left_to_right) \
    X("RS 3.5", rs_3_a_model_without_a_star_is_used_as_it_is) \
    X("RS 3.5", rs_3_more_captures_than_stars_use_the_name_that_was_asked) \
    X("RS 3.5", rs_3_a_pattern_serves_with_all_its_deployments) \
    X("RS 3.5", rs_3_the_qualified_name_is_tried_when_the_bare_one_has_no_match) \
    X("RS 3.5", rs_3_the_bare_name_is_tried_before_the_qualified_one) \
    X("RS 3.5", rs_3_a_wildcard_beats_a_providers_model) \
    X("RS 3.7", rs_3_a_providers_model_serves_when_no_group_has_the_name) \
    X("RS 3.7", rs_3_a_group_beats_a_providers_model) \
    X("RS 3.8", rs_3_an_unknown_name_uses_the_first_target_of_the_star_fallback) \
    X("RS 3.8", rs_3_the_star_fallback_may_come_with_the_request) \
    X("RS 3.9", rs_3_an_unknown_name_is_400_without_an_attempt) \
    X("RS 3.9", rs_3_an_unknown_name_is_not_retried) \
    X("RS 3", rs_3_names_are_resolved_anew_on_each_attempt) \
    X("RS 3", rs_3_the_start_names_the_group_and_the_model) \
    X("RS 3", rs_3_weir_snapshot_knows_what_a_call_can_ask_for)
/* clang-format on */

TESTS(KIT_TEST_DECLARE)

static void rs_3_specific_deployment_means_the_providers_model(void **state)
{
    (void)state;
    KIT(kit, "d1 g model=openai/m-1\n"
             "d3 openai/m-1 model=openai/m-3\n");
    expect(kit, "openai/m-1", "d3:ok");
    expect(kit, "openai/m-1 specific", "d1:ok");
}

static void rs_3_specific_deployment_takes_every_deployment_of_that_model(void **state)
{
    (void)state;
    KIT(kit, "d1 g model=openai/x w=1 : 500; d2 h model=openai/x w=0; d3 h model=openai/y\n");
    expect(kit, "openai/x specific", "d1:500 d2:ok");
}

static void rs_3_specific_deployment_with_an_unknown_model_is_refused(void **state)
{
    (void)state;
    KIT(kit, "d1 g model=openai/x\n");
    expect(kit, "openai/z specific", "fail:400");
}

static void rs_3_an_id_stands_for_its_deployment_alone(void **state)
{
    (void)state;
    KIT(kit, "d1 g w=1; d2 g w=0\n");
    expect_each(kit, 3, "d2", "d2:ok");
}

static void rs_3_an_id_is_used_even_while_it_cools(void **state)
{
    (void)state;
    KIT(kit, "d1 g w=1 : 429 ok; d2 g w=0; router retries=0 cooldown=30\n");
    expect(kit, "g", "d1:429 fail:429");
    expect(kit, "g", "d2:ok");
    assert_true(kit_cooling(kit, "d1") > 0);
    expect(kit, "d1", "d1:ok");
}

static void rs_3_a_blocked_id_is_503_and_says_paused(void **state)
{
    (void)state;
    KIT(kit, "d1 g blocked; d2 g\n");
    const struct kit_call *call = expect_call(kit, "d1", "fail:503");

    assert_int_equal(call->fail.reason, WEIR_REASON_PAUSED);
    assert_int_equal(call->fail.attempt, 0);
    assert_int_equal(call->fail.failure.kind, WEIR_KIND_SERVICE_UNAVAILABLE);
    assert_int_equal(call->fail.failure.origin, WEIR_ORIGIN_ROUTER);
}

static void rs_3_a_blocked_id_has_the_usual_fallbacks(void **state)
{
    (void)state;
    KIT(kit, "d1 g blocked; b B; fallbacks d1: B; router retries=0\n");
    expect(kit, "d1", "b:ok");
}

static void rs_3_a_group_of_the_name_of_an_id_wins(void **state)
{
    (void)state;
    KIT(kit, "d1 g; d2 d1\n");
    expect_each(kit, 3, "d1", "d2:ok");
}

static void rs_3_an_alias_stands_for_its_group(void **state)
{
    (void)state;
    KIT(kit, "d1 g; alias other g\n");
    expect(kit, "other", "d1:ok");
}

static void rs_3_an_alias_beats_a_group_of_its_name(void **state)
{
    (void)state;
    KIT(kit, "d1 old; d2 new; alias old new\n");
    expect(kit, "old", "d2:ok");
}

static void rs_3_an_alias_may_name_what_a_wildcard_covers(void **state)
{
    (void)state;
    KIT(kit, "d1 acme/* model=openai/*; alias nice acme/big\n");
    const struct kit_call *call = expect_call(kit, "nice", "d1:ok");

    assert_slice_is(call->attempts[1].start.model, "openai/big");
}

static void rs_3_a_hidden_alias_routes_like_any_other(void **state)
{
    bool hidden = false;
    (void)state;
    KIT(kit, "d1 g; alias secret g hidden\n");

    expect(kit, "secret", "d1:ok");
    assert_int_equal(weir_snapshot_alias_count(kit->snapshot), 1);
    assert_slice_is(weir_snapshot_alias_name(kit->snapshot, 0, &hidden), "secret");
    assert_true(hidden);
}

static void rs_3_a_known_group_beats_a_wildcard(void **state)
{
    (void)state;
    KIT(kit, "any acme/*; nine acme/large-9\n");
    expect(kit, "acme/large-9", "nine:ok");
}

static void rs_3_wildcards_go_from_the_longest_pattern(void **state)
{
    (void)state;
    KIT(kit, "any * model=openai/*\n"
             "acme acme/* model=openai/*\n"
             "large acme/large-* model=openai/big-*\n");
    const struct kit_call *call = expect_call(kit, "acme/large-10", "large:ok");

    assert_slice_is(call->attempts[1].start.model, "openai/big-10");
    expect(kit, "acme/small", "acme:ok");
    expect(kit, "whatever", "any:ok");
}

static void rs_3_of_patterns_of_one_length_the_one_with_more_stars_is_first(void **state)
{
    (void)state;
    KIT(kit, "one a-*cd; two a-*c*\n");
    expect(kit, "a-xcd", "two:ok");
}

static void rs_3_a_wildcard_is_anchored_at_the_start_only(void **state)
{
    (void)state;
    KIT(kit, "d1 acme-*-chat\n");
    expect(kit, "acme-7b-chat", "d1:ok");
    expect(kit, "acme-7b-chat-extra", "d1:ok");
    expect(kit, "my-acme-7b-chat", "fail:400");
    expect(kit, "acme-7b", "fail:400");
}

static void rs_3_characters_beside_the_star_are_literal(void **state)
{
    (void)state;
    KIT(kit, "d1 a.b+(c)*\n");
    expect(kit, "a.b+(c)x", "d1:ok");
    expect(kit, "aXb+(c)x", "fail:400");
    expect(kit, "a.bb(c)x", "fail:400");
}

static void rs_3_captures_fill_the_providers_model_from_left_to_right(void **state)
{
    (void)state;
    KIT(kit, "d1 one-*-two-* model=openai/*/then/*\n");
    const struct kit_call *call = expect_call(kit, "one-a-two-b", "d1:ok");

    assert_slice_is(call->attempts[1].start.model, "openai/a/then/b");
}

static void rs_3_a_model_without_a_star_is_used_as_it_is(void **state)
{
    (void)state;
    KIT(kit, "d1 fixed/* model=openai/always\n");
    const struct kit_call *call = expect_call(kit, "fixed/anything", "d1:ok");

    assert_slice_is(call->attempts[1].start.model, "openai/always");
}

static void rs_3_more_captures_than_stars_use_the_name_that_was_asked(void **state)
{
    (void)state;
    KIT(kit, "d1 a-*-* model=openai/*\n");
    const struct kit_call *call = expect_call(kit, "a-1-2", "d1:ok");

    assert_slice_is(call->attempts[1].start.model, "a-1-2");
}

static void rs_3_a_pattern_serves_with_all_its_deployments(void **state)
{
    (void)state;
    KIT(kit, "d1 acme/* w=1 : 429; d2 acme/* w=0; router retries=1\n");
    /* a group of two: the 429 cools, and the retry goes to the sibling without a wait */
    struct kit_call *call = expect_call(kit, "acme/x", "d1:429 d2:ok");

    expect_waits(call, 0, 0, 0);
    assert_true(kit_cooling(kit, "d1") > 0);
}

static void rs_3_the_qualified_name_is_tried_when_the_bare_one_has_no_match(void **state)
{
    (void)state;
    KIT(kit, "d1 openai/* model=openai/*\n");
    const struct kit_call *call = expect_call(kit, "gpt-4o qualified=openai/gpt-4o", "d1:ok");

    assert_slice_is(call->attempts[1].start.model, "openai/gpt-4o");
    expect(kit, "gpt-4o", "fail:400");
}

static void rs_3_the_bare_name_is_tried_before_the_qualified_one(void **state)
{
    (void)state;
    KIT(kit, "d1 openai/*; d2 gpt-*\n");
    expect(kit, "gpt-4o qualified=openai/gpt-4o", "d2:ok");
}

static void rs_3_a_wildcard_beats_a_providers_model(void **state)
{
    (void)state;
    KIT(kit, "d1 g model=openai/m-1; d2 openai/* model=openai/*\n");
    expect_each(kit, 3, "openai/m-1", "d2:ok");
}

static void rs_3_a_providers_model_serves_when_no_group_has_the_name(void **state)
{
    (void)state;
    KIT(kit, "d1 g model=openai/m-1 w=1; d2 g model=openai/m-2 w=0\n");
    expect_each(kit, 3, "openai/m-2", "d2:ok");
}

static void rs_3_a_group_beats_a_providers_model(void **state)
{
    (void)state;
    KIT(kit, "d1 g model=openai/m-1; d3 openai/m-1 model=openai/m-3\n");
    expect_each(kit, 3, "openai/m-1", "d3:ok");
}

static void rs_3_an_unknown_name_uses_the_first_target_of_the_star_fallback(void **state)
{
    (void)state;
    KIT(kit, "b B; c C; default B C\n");
    const struct kit_call *call = expect_call(kit, "nope", "b:ok");

    assert_int_equal(kit_summary(call).hops, 0);
}

static void rs_3_the_star_fallback_may_come_with_the_request(void **state)
{
    (void)state;
    KIT(kit, "b B; c C; default B\n");
    expect(kit, "nope fallbacks=C,B", "c:ok");
}

static void rs_3_an_unknown_name_is_400_without_an_attempt(void **state)
{
    (void)state;
    KIT(kit, "d1 g\n");
    const struct kit_call *call = expect_call(kit, "nope", "fail:400");

    assert_int_equal(call->fail.reason, WEIR_REASON_UNKNOWN_MODEL);
    assert_int_equal(call->fail.failure.kind, WEIR_KIND_BAD_REQUEST);
    assert_int_equal(call->fail.attempt, 0);
    assert_slice_is(call->fail.group, "nope");
}

static void rs_3_an_unknown_name_is_not_retried(void **state)
{
    (void)state;
    KIT(kit, "d1 g; router retries=3\n");
    expect_waits(expect_call(kit, "nope", "fail:400"), 0, 0, 0);
}

static void rs_3_names_are_resolved_anew_on_each_attempt(void **state)
{
    (void)state;
    KIT(kit, "d1 g w=1 fails=0 : 500; d2 g w=0 : ok; router cooldown=30\n");
    /* the candidates of the second attempt are those left after the first */
    expect(kit, "g", "d1:500 d2:ok");
    expect(kit, "g", "d2:ok");
}

static void rs_3_the_start_names_the_group_and_the_model(void **state)
{
    (void)state;
    KIT(kit, "d1 g model=openai/m-1; alias other g\n");
    const struct kit_call *call = expect_call(kit, "other", "d1:ok");

    assert_slice_is(call->attempts[1].start.group, "g");
    assert_slice_is(call->attempts[1].start.model, "openai/m-1");
    assert_int_equal(call->attempts[1].start.hop, 0);
}

static void rs_3_weir_snapshot_knows_what_a_call_can_ask_for(void **state)
{
    (void)state;
    KIT(kit, "d1 g model=openai/m-1; d2 acme/*; alias other g\n");
    assert_true(weir_snapshot_knows(kit->snapshot, WEIR_SLICE("g")));
    assert_true(weir_snapshot_knows(kit->snapshot, WEIR_SLICE("d1")));
    assert_true(weir_snapshot_knows(kit->snapshot, WEIR_SLICE("other")));
    assert_true(weir_snapshot_knows(kit->snapshot, WEIR_SLICE("acme/x")));
    assert_true(weir_snapshot_knows(kit->snapshot, WEIR_SLICE("openai/m-1")));
    assert_false(weir_snapshot_knows(kit->snapshot, WEIR_SLICE("nope")));
}

KIT_TESTS_MAIN(TESTS)
