/* What a request for a name would do now (beyond.md 7): told by the functions that calls go by. */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/slice.h"
#include "base/time.h"

#include "engine_host.h"
#include "engine_kit.h"

/* An explanation, and the same as text: "group g by simple-shuffle: d1=eligible 0.75, d2=cooling_down 0". */
struct explained {
    struct test_mem mem;
    struct weir_explanation explanation;
    struct kit_request request;
    char text[4096];
    size_t len;
};

__attribute__((format(printf, 2, 3))) static void add(struct explained *e, const char *format, ...)
{
    va_list args;
    int written;

    va_start(args, format);
    written = vsnprintf(e->text + e->len, sizeof(e->text) - e->len, format, args);
    va_end(args);
    assert_true(written >= 0 && (size_t)written < sizeof(e->text) - e->len);
    e->len += (size_t)written;
}

static void write_text(struct explained *e)
{
    const struct weir_explanation *told = &e->explanation;
    struct weir_slice name = weir_resolution_name(told->how), id;

    add(e, "%.*s %.*s", S(name), S(told->group));
    if (told->pattern.len > 0)
        add(e, " of %.*s", S(told->pattern));
    if (told->strategy.len > 0)
        add(e, " by %.*s", S(told->strategy));
    for (uint32_t i = 0; i < told->count; i++) {
        id = weir_deployment_id(told->candidates[i].deployment);
        name = weir_fate_name(told->candidates[i].fate);
        add(e, "%s%.*s=%.*s %.4g", i == 0 ? ": " : ", ", S(id), S(name), told->candidates[i].odds);
    }
    if (told->omitted > 0)
        add(e, " and %" PRIu32 ", %" PRIu32 " eligible", told->omitted, told->eligible);
}

static void explain(struct explained *e, const struct kit *kit, const char *request)
{
    *e = (struct explained){.len = 0};
    test_mem_init(&e->mem, 0);
    kit_parse_request(&e->request, request);
    if (e->request.request.note_candidates == 0)
        e->request.request.note_candidates = 64;
    assert_int_equal(weir_router_explain(kit->router, kit->snapshot, &e->request.request, &e->mem.mem,
                                         kit->now_ns, &e->explanation),
                     0);
    write_text(e);
}

static void forget(struct explained *e)
{
    weir_explanation_deinit(&e->explanation, &e->mem.mem);
    test_mem_assert_empty(&e->mem);
    kit_request_deinit(&e->request);
}

static void expect_text(const struct kit *kit, const char *request, const char *text)
{
    struct explained e;

    explain(&e, kit, request);
    assert_string_equal(e.text, text);
    forget(&e);
}

static void a_name_says_how_it_was_resolved(void **state)
{
    (void)state;
    KIT(kit, "d1 g : ok\n"
             "d2 w/* model=openai/* : ok\n"
             "d3 h model=openai/n : ok\n"
             "alias a g\n"
             "alias b w/x\n"
             "routing r least-busy h\n"
             "fallbacks *: h\n");
    expect_text(kit, "g", "group g by simple-shuffle: d1=eligible 1");
    expect_text(kit, "a", "alias g by simple-shuffle: d1=eligible 1");
    expect_text(kit, "b", "alias w/x of w/* by simple-shuffle: d2=eligible 1");
    expect_text(kit, "w/y", "pattern w/y of w/* by simple-shuffle: d2=eligible 1");
    expect_text(kit, "d1", "id d1: d1=eligible 1");
    expect_text(kit, "r", "routing_group r by least-busy: d3=eligible 1");
    expect_text(kit, "openai/n", "model openai/n by simple-shuffle: d3=eligible 1");
    expect_text(kit, "x", "fallback_star h by least-busy: d3=eligible 1");
    expect_text(kit, "x no_fallbacks", "unknown x");
}

static void the_odds_of_a_shuffle_are_its_weights(void **state)
{
    (void)state;
    KIT(kit, "d1 g w=3 : ok\n"
             "d2 g w=1 : ok\n"
             "d3 g w=0 : ok\n");
    expect_text(kit, "g", "group g by simple-shuffle: d1=eligible 0.75, d2=eligible 0.25, d3=not_chosen 0");
    expect_text(kit, "g weights=g:d3:1,g:d2:3",
                "group g by simple-shuffle: d1=not_chosen 0, d2=eligible 0.75, d3=eligible 0.25");
}

static void what_may_not_be_chosen_says_why_and_until_when(void **state)
{
    struct explained e;
    (void)state;

    KIT(kit, "d1 g order=1 : ok\n"
             "d2 g order=1 : ok\n"
             "d3 g order=2 : ok\n"
             "d4 g order=1 blocked : ok\n");
    kit_cool(kit, "d1", 60, "ann");
    explain(&e, kit, "g");
    assert_string_equal(e.text, "group g by simple-shuffle: d1=cooling_down 0, d2=eligible 1, "
                                "d3=later_order 0, d4=blocked 0");
    assert_int_equal(e.explanation.candidates[0].until_ns, kit->now_ns + 60 * WEIR_NS_PER_S);
    assert_int_equal(e.explanation.candidates[2].order, 2);
    assert_int_equal(e.explanation.eligible, 1);
    forget(&e);
    kit_cool(kit, "d2", 60, "ann");
    expect_text(kit, "g",
                "group g by simple-shuffle: d1=cooling_down 0, d2=cooling_down 0, "
                "d3=eligible 1, d4=blocked 0");
    kit_cool(kit, "d3", 60, "ann");
    expect_text(kit, "g",
                "group g by simple-shuffle: d1=cooling_down 0, d2=cooling_down 0, "
                "d3=cooling_down 0, d4=blocked 0");
    expect_text(kit, "d1", "id d1: d1=eligible 1");
    expect_text(kit, "d4", "id d4: d4=blocked 0");
}

static void the_winner_of_a_sure_strategy_has_all_the_odds(void **state)
{
    (void)state;
    KIT(kit, "d1 g price=2/2 : ok\n"
             "d2 g price=1/1 : ok\n"
             "d3 g price=1/1 : ok\n"
             "router strategy=cost-based-routing\n");
    expect_text(kit, "g", "group g by cost-based-routing: d1=not_chosen 0, d2=eligible 1, d3=not_chosen 0");
}

static void equals_share_the_odds(void **state)
{
    (void)state;
    KIT(kit, "d1 g : hang\n"
             "d2 g : ok\n"
             "d3 g : ok\n"
             "router strategy=least-busy\n");
    (void)kit_begin(kit, "d1");
    expect_text(kit, "g", "group g by least-busy: d1=not_chosen 0, d2=eligible 0.5, d3=eligible 0.5");
}

static void what_would_be_refused_says_so_and_keeps_its_odds(void **state)
{
    (void)state;
    KIT(kit, "d1 g slots=1 : hang\n"
             "d2 g max.rpm=1 : ok\n"
             "router enforce\n");
    (void)kit_begin(kit, "d1");
    (void)kit_call(kit, "d2");
    expect_text(kit, "g", "group g by simple-shuffle: d1=no_slot 0.5, d2=limit_spent 0.5");
    expect_text(kit, "g creds", "group g by simple-shuffle: d1=eligible 0.5, d2=eligible 0.5");
}

static void tags_leave_out_what_they_leave_out(void **state)
{
    (void)state;
    KIT(kit, "d1 g tags=a : ok\n"
             "d2 g tags=b : ok\n"
             "router filter\n");
    expect_text(kit, "g tags=b", "group g by simple-shuffle: d1=out_of_tags 0, d2=eligible 1");
}

/* A quarter of the ramp after its cooldown a deployment is offered to 0.1 + 0.9 / 4 of the picks. */
static void a_ramp_lowers_the_odds(void **state)
{
    struct explained e;
    (void)state;

    KIT(kit, "d1 g w=1 : 429 ok\n"
             "d2 g w=1 : ok\n"
             "router retries=0 cooldown=10 ramp=40\n");
    (void)kit_call(kit, "d1");
    kit_advance(kit, 20);
    explain(&e, kit, "g");
    assert_true(fabs(e.explanation.candidates[0].odds - 0.325 / 2) < 0.1);
    assert_true(fabs(e.explanation.candidates[0].odds + e.explanation.candidates[1].odds - 1) < 1e-9);
    forget(&e);
}

static void only_so_many_are_told_of(void **state)
{
    (void)state;
    KIT(kit, "d1 g : ok\n"
             "d2 g : ok\n"
             "d3 g blocked : ok\n"
             "d4 g : ok\n");
    expect_text(kit, "g note=1", "group g by simple-shuffle: d1=eligible 0.3333 and 3, 3 eligible");
}

static void retries_are_told_for_each_kind(void **state)
{
    struct explained e;
    (void)state;

    KIT(kit, "d1 g : ok\n"
             "d2 g : ok\n"
             "router retries=3 policy.rate_limit=5\n");
    explain(&e, kit, "g");
    assert_int_equal(e.explanation.retries[WEIR_KIND_RATE_LIMIT], 5);
    assert_int_equal(e.explanation.retries[WEIR_KIND_INTERNAL], 3);
    assert_int_equal(e.explanation.retries[WEIR_KIND_BAD_REQUEST], 0);
    assert_int_equal(e.explanation.retries[WEIR_KIND_GUARDRAIL], 0);
    forget(&e);
    explain(&e, kit, "g retries=1");
    assert_int_equal(e.explanation.retries[WEIR_KIND_INTERNAL], 1);
    forget(&e);
    kit_cool(kit, "d1", 9, "");
    kit_cool(kit, "d2", 9, "");
    explain(&e, kit, "g");
    assert_int_equal(e.explanation.retries[WEIR_KIND_INTERNAL], 0);
    forget(&e);
}

static void expect_chain(const struct explained *e, weir_list_kind list, bool is_own, const char *first,
                         size_t count)
{
    const struct weir_explained_chain *chain = &e->explanation.chains[list];

    assert_int_equal(chain->is_own, is_own);
    assert_int_equal(chain->count, count);
    if (count > 0)
        assert_slice_is(chain->targets[0].model, first);
}

static void chains_are_those_that_failures_would_take(void **state)
{
    struct explained e;
    (void)state;

    KIT(kit, "d1 g : ok\n"
             "d2 h : ok\n"
             "router\n"
             "fallbacks g: h i\n"
             "context g: j\n");
    explain(&e, kit, "g");
    expect_chain(&e, WEIR_LIST_GENERIC, true, "h", 2);
    expect_chain(&e, WEIR_LIST_CONTEXT_WINDOW, true, "j", 1);
    expect_chain(&e, WEIR_LIST_CONTENT_POLICY, false, "h", 2);
    assert_int_equal(e.explanation.max_fallbacks, 5);
    forget(&e);
    explain(&e, kit, "h");
    expect_chain(&e, WEIR_LIST_GENERIC, true, "", 0);
    forget(&e);
    explain(&e, kit, "g no_fallbacks");
    expect_chain(&e, WEIR_LIST_GENERIC, false, "", 0);
    assert_int_equal(e.explanation.max_fallbacks, 0);
    forget(&e);
}

/* The calls after it go as if it had not been asked: the random numbers are those of calls. */
static void explaining_changes_nothing(void **state)
{
    char *plain = NULL;
    (void)state;

    for (int turn = 0; turn < 2; turn++) {
        KIT(kit, "d1 g : ok 500 429 ok\n"
                 "d2 g : 500 ok\n"
                 "d3 g : ok\n"
                 "router ramp=5 filter\n");
        for (int i = 0; i < 30; i++) {
            struct explained e;

            if (turn == 1) {
                explain(&e, kit, "g tags=a");
                forget(&e);
            }
            (void)kit_call(kit, "g");
            kit_advance(kit, 1);
        }
        if (turn == 0)
            plain = strdup(kit->trace);
        else
            assert_string_equal(kit->trace, plain);
    }
    free(plain);
}

static void without_memory_it_says_so_and_leaves_nothing_behind(void **state)
{
    struct weir_request request;
    struct weir_explanation explanation = {.count = 0};
    struct test_mem mem;
    size_t n = 0;
    int r;
    (void)state;

    KIT(kit, "d1 g tags=a : ok\n"
             "d2 g : ok\n"
             "router filter\n");
    weir_request_init(&request);
    request.model = WEIR_SLICE("g");
    request.note_candidates = 8;
    do {
        test_mem_init(&mem, ++n);
        r = weir_router_explain(kit->router, kit->snapshot, &request, &mem.mem, kit->now_ns, &explanation);
        assert_int_equal(r, mem.failed ? WEIR_ERR_NOMEM : 0);
        weir_explanation_deinit(&explanation, &mem.mem);
        test_mem_assert_empty(&mem);
    } while (mem.failed);
    assert_true(n > 2);
    request.model = WEIR_SLICE_EMPTY;
    assert_int_equal(
        weir_router_explain(kit->router, kit->snapshot, &request, &mem.mem, kit->now_ns, &explanation),
        WEIR_ERR_INVALID);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_name_says_how_it_was_resolved),
        cmocka_unit_test(the_odds_of_a_shuffle_are_its_weights),
        cmocka_unit_test(what_may_not_be_chosen_says_why_and_until_when),
        cmocka_unit_test(the_winner_of_a_sure_strategy_has_all_the_odds),
        cmocka_unit_test(equals_share_the_odds),
        cmocka_unit_test(what_would_be_refused_says_so_and_keeps_its_odds),
        cmocka_unit_test(tags_leave_out_what_they_leave_out),
        cmocka_unit_test(a_ramp_lowers_the_odds),
        cmocka_unit_test(only_so_many_are_told_of),
        cmocka_unit_test(retries_are_told_for_each_kind),
        cmocka_unit_test(chains_are_those_that_failures_would_take),
        cmocka_unit_test(explaining_changes_nothing),
        cmocka_unit_test(without_memory_it_says_so_and_leaves_nothing_behind),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
