/*
 * Fallback lists: whose list holds, which entry of it, and what a request may say
 * (router-semantics 11.2, 11.3; decisions 14; reliability.md, Fallbacks).
 */
#include "engine_kit.h"

#include "base/slice.h"

/* clang-format off */
#define TESTS(X) \
    X("RS 11.3", rs_11_the_served_group_is_looked_up_before_the_asked_one) \
    X("RS 11.3", rs_11_the_asked_groups_entry_serves_a_hop_without_one) \
    X("RS 11.3", rs_11_an_exact_key_beats_a_sibling_spelling) \
    X("RS 11.3", rs_11_a_key_with_a_provider_serves_the_bare_name) \
    X("RS 11.3", rs_11_a_bare_key_serves_the_name_with_a_provider) \
    X("RS 11.3", rs_11_a_sibling_spelling_beats_the_star) \
    X("RS 11.3", rs_11_the_star_only_after_all_groups_missed) \
    X("RS 11.3", rs_11_a_chosen_chain_is_terminal) \
    X("RS 11.3", rs_11_the_star_is_for_every_list) \
    X("RS 11.3", rs_11_an_alias_matches_the_key_of_its_group) \
    X("RS 11.3", rs_11_an_alias_matches_a_key_of_its_own) \
    X("RS 11.3", rs_11_a_wildcards_name_matches_its_own_key) \
    X("decisions 14", decision_14_an_entry_without_targets_is_an_entry) \
    X("decisions 14", decision_14_an_empty_list_is_not_configured) \
    X("decisions 14", decision_14_the_routers_list_hides_the_processs) \
    X("decisions 14", decision_14_each_list_is_chosen_for_itself) \
    X("decisions 14", decision_14_the_process_list_serves_where_the_router_has_none) \
    X("decisions 14", decision_14_default_fallbacks_are_appended_as_star) \
    X("decisions 14", decision_14_the_processs_default_joins_the_routers_list) \
    X("decisions 14", decision_14_the_routers_default_joins_the_processs_list) \
    X("decisions 14", decision_14_default_fallbacks_are_for_the_generic_list_alone) \
    X("decisions 14", decision_14_a_requests_list_replaces_the_routers) \
    X("decisions 14", decision_14_a_requests_list_may_be_the_chain_itself) \
    X("decisions 14", decision_14_a_requests_empty_fallbacks_mean_none) \
    X("decisions 14", decision_14_a_requests_null_fallbacks_mean_none) \
    X("decisions 14", decision_14_a_requests_empty_context_list_raises) \
    X("decisions 14", decision_14_a_requests_null_context_list_leaves_the_generic_one) \
    X("decisions 14", decision_14_a_requests_empty_generic_list_leaves_the_others) \
    X("decisions 14", decision_14_a_requests_own_context_and_content_lists) \
    X("decisions 14", decision_14_a_requests_list_holds_on_every_hop)
/* clang-format on */

TESTS(KIT_TEST_DECLARE)

static void rs_11_the_served_group_is_looked_up_before_the_asked_one(void **state)
{
    (void)state;
    KIT(kit, "a A : 500; b B : 500; c C; d D; router retries=0; fallbacks A: B D; fallbacks B: C\n");
    expect(kit, "A", "a:500 b:500 c:ok");
}

static void rs_11_the_asked_groups_entry_serves_a_hop_without_one(void **state)
{
    (void)state;
    KIT(kit, "a A : 500; b B : 500; c C; router retries=0; fallbacks A: B C\n");
    const struct kit_call *call = expect_call(kit, "A", "a:500 b:500 c:ok");

    /* B has no entry, so A's serves within B's own walk: C is reached from B, one level down */
    expect_events(call, "Fallback", "Fallback group A>B depth=1 level=0, Fallback group B>C depth=2 level=1");
}

static void rs_11_an_exact_key_beats_a_sibling_spelling(void **state)
{
    (void)state;
    KIT(kit, "a gpt-4o : 500; b B; c C; router retries=0; fallbacks openai/gpt-4o: B; fallbacks gpt-4o: C\n");
    expect(kit, "gpt-4o", "a:500 c:ok");
}

static void rs_11_a_key_with_a_provider_serves_the_bare_name(void **state)
{
    (void)state;
    KIT(kit, "a gpt-4o : 500; b B; router retries=0; fallbacks openai/gpt-4o: B\n");
    expect(kit, "gpt-4o", "a:500 b:ok");
}

static void rs_11_a_bare_key_serves_the_name_with_a_provider(void **state)
{
    (void)state;
    KIT(kit, "a openai/gpt-4o : 500; b B; router retries=0; fallbacks gpt-4o: B\n");
    expect(kit, "openai/gpt-4o", "a:500 b:ok");
}

static void rs_11_a_sibling_spelling_beats_the_star(void **state)
{
    (void)state;
    KIT(kit, "a gpt-4o : 500; b B; c C; router retries=0; fallbacks *: C; fallbacks openai/gpt-4o: B\n");
    expect(kit, "gpt-4o", "a:500 b:ok");
}

static void rs_11_the_star_only_after_all_groups_missed(void **state)
{
    (void)state;
    KIT(kit, "a A : 500; b B : 500; c C; router retries=0; fallbacks A: B; fallbacks *: C\n");
    /* within B's walk A's entry is found before the star, and all of it was tried */
    expect(kit, "A", "a:500 b:500 fail:500");
}

static void rs_11_a_chosen_chain_is_terminal(void **state)
{
    (void)state;
    KIT(kit, "a A : 500; b B : 500; c C; d D : 500; router retries=0; fallbacks A: B; default C\n");
    expect(kit, "A", "a:500 b:500 fail:500");
    expect(kit, "D", "d:500 c:ok");
}

static void rs_11_the_star_is_for_every_list(void **state)
{
    (void)state;
    KIT(kit, "a A : context_window content_policy; l L; p P; router retries=0; context *: L; content *: P\n");
    expect(kit, "A", "a:400 l:ok");
    expect(kit, "A", "a:400 p:ok");
}

static void rs_11_an_alias_matches_the_key_of_its_group(void **state)
{
    (void)state;
    KIT(kit, "a A : 500; b B; alias nick A; router retries=0; fallbacks A: B\n");
    expect(kit, "nick", "a:500 b:ok");
}

static void rs_11_an_alias_matches_a_key_of_its_own(void **state)
{
    (void)state;
    KIT(kit, "a A : 500; b B; alias nick A; router retries=0; fallbacks nick: B\n");
    expect(kit, "nick", "a:500 b:ok");
    expect(kit, "A", "a:500 fail:500");
}

static void rs_11_a_wildcards_name_matches_its_own_key(void **state)
{
    (void)state;
    KIT(kit, "a acme/* : 500; b B; router retries=0; fallbacks acme/x: B\n");
    expect(kit, "acme/x", "a:500 b:ok");
    expect(kit, "acme/y", "a:500 fail:500");
}

static void decision_14_an_entry_without_targets_is_an_entry(void **state)
{
    (void)state;
    KIT(kit, "a A : 500; d D : 500; b B; router retries=0; fallbacks A:; default B\n");
    expect(kit, "A", "a:500 fail:500");
    expect(kit, "D", "d:500 b:ok");
}

static void decision_14_an_empty_list_is_not_configured(void **state)
{
    (void)state;
    /* no context list at all: the generic one serves */
    KIT(kit, "a A : context_window; b B; router retries=0; fallbacks A: B\n");
    expect(kit, "A", "a:400 b:ok");
}

static void decision_14_the_routers_list_hides_the_processs(void **state)
{
    (void)state;
    KIT(kit, "a A : 500; b B : 500; c C; router retries=0; fallbacks B: C; process-fallbacks A: B\n");
    expect(kit, "A", "a:500 fail:500");
    expect(kit, "B", "b:500 c:ok");
}

static void decision_14_each_list_is_chosen_for_itself(void **state)
{
    (void)state;
    KIT(kit, "a A : 500 context_window; b B; l L; router retries=0; fallbacks A: B; process-context A: L\n");
    expect(kit, "A", "a:500 b:ok");
    expect(kit, "A", "a:400 l:ok");
}

static void decision_14_the_process_list_serves_where_the_router_has_none(void **state)
{
    (void)state;
    KIT(kit, "a A : 500; b B; router retries=0; process-fallbacks A: B\n");
    expect(kit, "A", "a:500 b:ok");
}

static void decision_14_default_fallbacks_are_appended_as_star(void **state)
{
    (void)state;
    KIT(kit, "a A : 500; b B : 500; router retries=0; default B\n");
    expect(kit, "A", "a:500 b:500 fail:500");
}

static void decision_14_the_processs_default_joins_the_routers_list(void **state)
{
    (void)state;
    KIT(kit, "a A : 500; d D : 500; b B; c C; router retries=0; fallbacks A: B; process-default C\n");
    expect(kit, "A", "a:500 b:ok");
    expect(kit, "D", "d:500 c:ok");
}

static void decision_14_the_routers_default_joins_the_processs_list(void **state)
{
    (void)state;
    KIT(kit, "a A : 500; d D : 500; b B; c C; router retries=0; process-fallbacks A: B; default C\n");
    expect(kit, "A", "a:500 b:ok");
    expect(kit, "D", "d:500 c:ok");
}

static void decision_14_default_fallbacks_are_for_the_generic_list_alone(void **state)
{
    (void)state;
    KIT(kit, "a A : context_window; b B; l L; router retries=0; default B; context X: L\n");
    expect(kit, "A", "a:400 fail:400");
}

static void decision_14_a_requests_list_replaces_the_routers(void **state)
{
    (void)state;
    KIT(kit, "a A : 500; b B : 500; c C; d D; router retries=0; fallbacks A: D; default D\n");
    expect(kit, "A fallbacks=A:B,C", "a:500 b:500 c:ok");
    expect(kit, "A fallbacks=B:C", "a:500 fail:500");
}

static void decision_14_a_requests_list_may_be_the_chain_itself(void **state)
{
    (void)state;
    KIT(kit, "a A : 500; b B : 500; c C; router retries=0\n");
    const struct kit_call *call = expect_call(kit, "A fallbacks=B,C{t=7}", "a:500 b:500 c:ok");

    assert_true(weir_slice_eq(call->attempts[3].start.overrides, WEIR_SLICE("{t=7}")));
}

static void decision_14_a_requests_empty_fallbacks_mean_none(void **state)
{
    (void)state;
    KIT(kit, "a A : 503; b B; router retries=0; fallbacks A: B; default B\n");
    expect(kit, "A fallbacks=[]", "a:503 fail:503");
}

static void decision_14_a_requests_null_fallbacks_mean_none(void **state)
{
    (void)state;
    KIT(kit, "a A : 503; b B; router retries=0; fallbacks A: B; default B\n");
    expect(kit, "A fallbacks=null", "a:503 fail:503");
}

static void decision_14_a_requests_empty_context_list_raises(void **state)
{
    (void)state;
    KIT(kit, "a A : context_window; b B; l L; router retries=0; fallbacks A: B; context A: L\n");
    expect(kit, "A context=[]", "a:400 fail:400");
    KIT(content, "a A : content_policy; b B; l L; router retries=0; fallbacks A: B; content A: L\n");
    expect(content, "A content=[]", "a:400 fail:400");
}

static void decision_14_a_requests_null_context_list_leaves_the_generic_one(void **state)
{
    (void)state;
    KIT(kit, "a A : context_window; b B; l L; router retries=0; fallbacks A: B; context A: L\n");
    expect(kit, "A context=null", "a:400 b:ok");
    KIT(content, "a A : content_policy; b B; l L; router retries=0; fallbacks A: B; content A: L\n");
    expect(content, "A content=null", "a:400 b:ok");
}

static void decision_14_a_requests_empty_generic_list_leaves_the_others(void **state)
{
    (void)state;
    KIT(kit, "a A : context_window; b B; l L; router retries=0; fallbacks A: B; context A: L\n");
    expect(kit, "A fallbacks=[]", "a:400 l:ok");
}

static void decision_14_a_requests_own_context_and_content_lists(void **state)
{
    (void)state;
    KIT(kit, "a A : context_window context_window content_policy 500; b B; l L; p P\n"
             "router retries=0; fallbacks A: B\n");
    expect(kit, "A", "a:400 b:ok");
    expect(kit, "A context=A:L", "a:400 l:ok");
    expect(kit, "A content=A:P", "a:400 p:ok");
    expect(kit, "A context=A:L", "a:500 b:ok");
}

static void decision_14_a_requests_list_holds_on_every_hop(void **state)
{
    (void)state;
    KIT(kit, "a A : 500; b B : 500; c C; d D; router retries=0; fallbacks B: D\n");
    expect(kit, "A fallbacks=A:B|B:C", "a:500 b:500 c:ok");
}

KIT_TESTS_MAIN(TESTS)
