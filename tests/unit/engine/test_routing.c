/*
 * Routing groups (router-semantics 7), and the weights that a request brings itself (6.1).
 */
#include "engine_kit.h"

#include <weir/error.h>

#include "base/slice.h"
#include "base/time.h"

/* clang-format off */
#define TESTS(X) \
    X("RS 7", rs_7_a_routing_group_has_a_strategy_of_its_own) \
    X("RS 7", rs_7_a_routing_group_can_be_asked_for_by_name) \
    X("RS 7", rs_7_members_keep_the_order_of_the_models) \
    X("RS 7", rs_7_an_alias_may_stand_for_it) \
    X("RS 7", rs_7_it_beats_a_model_group_of_its_name) \
    X("RS 7", rs_7_an_id_of_its_name_beats_it) \
    X("RS 7", rs_7_a_fallback_may_lead_to_it) \
    X("RS 7", rs_7_a_model_that_does_not_exist_is_left_out) \
    X("RS 7", rs_7_without_any_of_its_models_it_is_unknown) \
    X("RS 7", rs_7_a_provider_model_with_a_star_is_left_out) \
    X("RS 7", rs_7_a_pattern_may_have_a_strategy) \
    X("RS 7", rs_7_blocked_members_serve_nobody) \
    X("RS 7", rs_7_its_size_is_that_of_all_members) \
    X("RS 7", rs_7_cooldowns_take_the_size_of_the_members_own_group) \
    X("RS 7", rs_7_groups_have_their_own_arguments) \
    X("RS 7", rs_7_a_reload_may_take_it_away) \
    X("priority", rs_7_priorities_are_orders) \
    X("priority", rs_7_a_priority_beats_the_order_of_a_deployment) \
    X("priority", rs_7_equal_priorities_are_one_order) \
    X("priority", rs_7_within_a_priority_the_routers_strategy_chooses) \
    X("priority", rs_7_a_member_asked_for_itself_keeps_its_order) \
    X("priority", rs_7_a_model_may_be_in_a_priority_group_besides) \
    X("validation", rs_7_names_are_unique_and_not_default) \
    X("validation", rs_7_a_model_has_one_strategy) \
    X("validation", rs_7_arguments_must_make_sense) \
    X("validation", rs_7_memory_that_runs_out_is_told) \
    X("RS 6.1", rs_6_weights_of_the_request_come_first) \
    X("RS 6.1", rs_6_weights_of_the_request_are_those_of_the_group) \
    X("RS 6.1", rs_6_weights_of_the_request_that_no_candidate_has_are_passed_over) \
    X("RS 6.1", rs_6_weights_of_the_request_find_members_of_any_order) \
    X("RS 6.1", rs_6_weights_of_the_request_may_be_huge)
/* clang-format on */

TESTS(KIT_TEST_DECLARE)

static void rs_7_a_routing_group_has_a_strategy_of_its_own(void **state)
{
    (void)state;
    KIT(kit, "d1 cheap w=1000000 price=0.5/0.5; d2 cheap w=0 price=0.1/0.1;"
             "d3 other w=1000000 price=0.5/0.5; d4 other w=0 price=0.1/0.1;"
             "routing thrift cost-based-routing cheap");

    expect_each(kit, 5, "cheap", "d2:ok");
    expect_each(kit, 5, "other", "d3:ok");
}

static void rs_7_a_routing_group_can_be_asked_for_by_name(void **state)
{
    struct kit_call *call;
    (void)state;
    KIT(kit,
        "d1 a price=0.5/0.5; d2 b price=0.1/0.1; d3 c price=0.01/0.01; routing pool cost-based-routing a b");

    call = expect_call(kit, "pool", "d2:ok");
    assert_true(weir_slice_eq(call->attempts[1].start.group, WEIR_SLICE("pool")));
    assert_true(weir_slice_eq(kit_summary(call).group, WEIR_SLICE("pool")));
    expect(kit, "a", "d1:ok");
    assert_true(weir_snapshot_knows(kit->snapshot, WEIR_SLICE("pool")));
}

static void rs_7_members_keep_the_order_of_the_models(void **state)
{
    (void)state;
    KIT(kit, "d1 a : 500; d2 b : 500; d3 a : 500; routing pool lar1 b a a; router retries=2");
    expect(kit, "pool", "d2:500 d1:500 d3:500 fail:500");
}

static void rs_7_an_alias_may_stand_for_it(void **state)
{
    (void)state;
    KIT(kit, "d1 a price=2/2; d2 b price=1/1; routing pool cost-based-routing a b; alias swim pool");
    expect(kit, "swim", "d2:ok");
}

static void rs_7_it_beats_a_model_group_of_its_name(void **state)
{
    (void)state;
    KIT(kit, "d1 a; d2 b; routing b cost-based-routing a");
    expect(kit, "b", "d1:ok");
}

static void rs_7_an_id_of_its_name_beats_it(void **state)
{
    (void)state;
    KIT(kit, "d1 a; pool b; routing pool cost-based-routing a");
    expect(kit, "pool", "pool:ok");
}

static void rs_7_a_fallback_may_lead_to_it(void **state)
{
    (void)state;
    KIT(kit, "x g : 500; d1 a price=2/2; d2 b price=1/1; routing pool cost-based-routing a b;"
             "fallbacks g: pool; router retries=0");
    expect(kit, "g", "x:500 d2:ok");
}

static void rs_7_a_model_that_does_not_exist_is_left_out(void **state)
{
    (void)state;
    KIT(kit, "d1 a; routing pool least-busy none a");
    expect(kit, "pool", "d1:ok");
}

static void rs_7_without_any_of_its_models_it_is_unknown(void **state)
{
    struct kit_call *call;
    (void)state;
    KIT(kit, "d1 a; routing pool least-busy none; routing empty least-busy");

    call = expect_call(kit, "pool", "fail:400");
    assert_int_equal(call->fail.reason, WEIR_REASON_UNKNOWN_MODEL);
    expect(kit, "empty", "fail:400");
    assert_false(weir_snapshot_knows(kit->snapshot, WEIR_SLICE("pool")));
}

static void rs_7_a_provider_model_with_a_star_is_left_out(void **state)
{
    (void)state;
    KIT(kit, "d1 a/* model=openai/*; d2 a/* model=openai/fixed; routing pool simple-shuffle a/*");
    expect_each(kit, 8, "pool", "d2:ok");
}

static void rs_7_a_pattern_may_have_a_strategy(void **state)
{
    (void)state;
    KIT(kit, "d1 a/* model=openai/* price=2/2; d2 a/* model=openai/* price=1/1; routing pool "
             "cost-based-routing a/*");
    expect_each(kit, 8, "a/b", "d2:ok");
}

static void rs_7_blocked_members_serve_nobody(void **state)
{
    (void)state;
    KIT(kit, "d1 a blocked price=1/1; d2 b price=2/2; d3 c blocked; routing pool cost-based-routing a b;"
             "routing none cost-based-routing c; router retries=0");
    expect(kit, "pool", "d2:ok");
    expect(kit, "none", "fail:429");
}

static void rs_7_its_size_is_that_of_all_members(void **state)
{
    struct kit_call *call;
    (void)state;
    KIT(kit, "d1 a : 401; d2 b; routing pool lar1 a b; router retries=1 no_cooldowns");

    /* a refusal is worth another try where there is another deployment, and none waits for it */
    call = expect_call(kit, "pool", "d1:401 d2:ok");
    expect_waits(call, 0, 0, 0);
    expect(kit, "a", "d1:401 fail:401");
}

static void rs_7_cooldowns_take_the_size_of_the_members_own_group(void **state)
{
    (void)state;
    KIT(kit, "d1 a : 429; d2 b; d3 c : 429; d4 c; routing pool lar1 a b c; router retries=0");

    expect(kit, "pool", "d1:429 fail:429");
    assert_true(kit_cooling(kit, "d1") == 0);
    expect(kit, "d3", "d3:429 fail:429");
    assert_true(kit_cooling(kit, "d3") > 0);
}

static void rs_7_groups_have_their_own_arguments(void **state)
{
    (void)state;
    KIT(kit, "d1 a : ok=1/1+1 ok=1/1+3; d2 b : ok=1/1+1 ok=1/1+3;"
             "routing one latency-based-routing a samples=1; routing ten latency-based-routing b samples=10");

    expect_each(kit, 2, "a", "d1:ok");
    expect_each(kit, 2, "b", "d2:ok");
    assert_true(kit_view(kit, "d1").latency_s == 3);
    assert_true(kit_view(kit, "d2").latency_s == 2);
}

static void rs_7_a_reload_may_take_it_away(void **state)
{
    struct kit_call *call;
    (void)state;
    KIT(kit, "d1 a : 500+1 ok; d2 b : 500 ok; routing pool lar1 a b; router retries=2 no_cooldowns");

    call = kit_begin(kit, "pool");
    kit_reload(kit, "d1 a; d2 b");
    kit_run(call);
    assert_string_equal(call->story, "d1:500 d2:500 d1:ok");
    expect(kit, "pool", "fail:400");
}

static void rs_7_priorities_are_orders(void **state)
{
    (void)state;
    KIT(kit, "d1 a; d2 b : ok 503; d3 c : ok 400; routing ladder priority a=3 b=1 c=2; router retries=0 "
             "no_cooldowns");

    expect(kit, "ladder", "d2:ok");
    expect(kit, "ladder", "d2:503 d3:ok");
    expect(kit, "ladder", "d2:503 d3:400 d1:ok");
}

static void rs_7_a_priority_beats_the_order_of_a_deployment(void **state)
{
    (void)state;
    KIT(kit, "d1 a order=1 : 500; d2 b order=9 : 500; d3 b order=8 : 500; routing ladder priority a=2 b=1;"
             "router retries=0 no_cooldowns strategy=lar1");
    expect(kit, "ladder", "d2:500 d1:500 fail:500");
    expect(kit, "b", "d3:500 d2:500 fail:500");
}

static void rs_7_equal_priorities_are_one_order(void **state)
{
    static const double shares[] = {1, 0, 1};
    (void)state;
    KIT(kit, "d1 a; d2 b; d3 c; routing ladder priority a=1 b=2 c=1");
    kit_expect_shares(kit, "ladder", shares, 3);
}

static void rs_7_within_a_priority_the_routers_strategy_chooses(void **state)
{
    (void)state;
    KIT(kit, "d1 a price=3/3; d2 b price=2/2; d3 b price=1/1; routing ladder priority a=2 b=1; router "
             "strategy=cost-based-routing");
    expect_each(kit, 4, "ladder", "d3:ok");
}

static void rs_7_a_member_asked_for_itself_keeps_its_order(void **state)
{
    (void)state;
    KIT(kit, "d1 a order=2; d2 a order=1; routing ladder priority a=1");
    expect_each(kit, 4, "a", "d2:ok");
}

static void rs_7_a_model_may_be_in_a_priority_group_besides(void **state)
{
    (void)state;
    KIT(kit, "d1 a price=2/2; d2 a price=1/1; d3 b; routing ladder priority a=2 b=1; routing thrift "
             "cost-based-routing a;"
             "routing other priority b=2 a=1");
    expect(kit, "ladder", "d3:ok");
    expect_each(kit, 4, "a", "d2:ok");
}

struct builder {
    weir_snapshot_builder *builder;
};

static void close_builder(struct builder *b)
{
    weir_snapshot_builder_free(b->builder);
}

static void open_builder(struct builder *b, const struct weir_mem *mem)
{
    assert_int_equal(weir_snapshot_builder_new(mem, &b->builder), 0);
}

static int add(const struct builder *b, const char *name, const char *model, weir_strategy strategy)
{
    const struct weir_slice models[] = {weir_slice_str(model)};
    static const int32_t priorities[] = {1};
    struct weir_routing_group group = {
        .name = weir_slice_str(name), .models = models, .priorities = priorities, .count = 1};

    weir_strategy_spec_init(&group.strategy, strategy);
    return weir_snapshot_add_routing_group(b->builder, &group);
}

static void rs_7_names_are_unique_and_not_default(void **state)
{
    struct test_mem mem;
    WEIR_CLEANUP(close_builder) struct builder b = {NULL};
    (void)state;

    test_mem_init(&mem, 0);
    open_builder(&b, &mem.mem);
    assert_int_equal(add(&b, "pool", "a", WEIR_STRATEGY_COST), 0);
    assert_int_equal(add(&b, "pool", "b", WEIR_STRATEGY_COST), WEIR_SNAPSHOT_EXISTS);
    assert_int_equal(add(&b, "pool", "b", WEIR_STRATEGY_PRIORITY), WEIR_SNAPSHOT_EXISTS);
    assert_int_equal(add(&b, "", "b", WEIR_STRATEGY_COST), WEIR_ERR_INVALID);
    assert_int_equal(add(&b, "default", "b", WEIR_STRATEGY_COST), WEIR_ERR_INVALID);
    assert_int_equal(add(&b, "other", "", WEIR_STRATEGY_COST), WEIR_ERR_INVALID);
    assert_int_equal(add(&b, "other", "b", WEIR_STRATEGY_COUNT), WEIR_ERR_INVALID);
}

static void rs_7_a_model_has_one_strategy(void **state)
{
    struct test_mem mem;
    WEIR_CLEANUP(close_builder) struct builder b = {NULL};
    (void)state;

    test_mem_init(&mem, 0);
    open_builder(&b, &mem.mem);
    assert_int_equal(add(&b, "pool", "a", WEIR_STRATEGY_COST), 0);
    assert_int_equal(add(&b, "other", "a", WEIR_STRATEGY_COST), WEIR_ERR_INVALID);
    assert_int_equal(add(&b, "other", "a", WEIR_STRATEGY_PRIORITY), 0);
    assert_int_equal(add(&b, "third", "a", WEIR_STRATEGY_PRIORITY), 0);
    assert_int_equal(add(&b, "fourth", "b", WEIR_STRATEGY_COST), 0);
}

static void rs_7_arguments_must_make_sense(void **state)
{
    static const struct {
        const char *key;
        const char *value;
    } wrong[] = {{"buffer", "-0.1"}, {"buffer", "nan"}, {"buffer", "inf"}, {"samples", "0"},
                 {"samples", "33"},  {"low", "0"},      {"low", "0.5"},    {"medium", "0.7"},
                 {"high", "1"},      {"high", "nan"},   {"decay", "0"}};
    struct weir_router_spec router;
    weir_snapshot *snapshot = NULL;
    struct test_mem mem;
    (void)state;

    test_mem_init(&mem, 0);
    for (size_t i = 0; i < sizeof(wrong) / sizeof(*wrong); i++) {
        WEIR_CLEANUP(close_builder) struct builder b = {NULL};
        struct weir_routing_group group = {.name = WEIR_SLICE("pool")};

        open_builder(&b, &mem.mem);
        weir_strategy_spec_init(&group.strategy, WEIR_STRATEGY_LATENCY);
        assert_true(kit_parse_strategy(&group.strategy, wrong[i].key, wrong[i].value));
        assert_int_equal(weir_snapshot_add_routing_group(b.builder, &group), WEIR_ERR_INVALID);
        weir_router_spec_init(&router);
        router.strategy = group.strategy;
        weir_snapshot_set_router(b.builder, &router);
        assert_int_equal(weir_snapshot_build(b.builder, &snapshot), WEIR_ERR_INVALID);
        weir_strategy_spec_init(&router.strategy, WEIR_STRATEGY_PRIORITY);
        weir_snapshot_set_router(b.builder, &router);
        assert_int_equal(weir_snapshot_build(b.builder, &snapshot), WEIR_ERR_INVALID);
    }
}

static void rs_7_memory_that_runs_out_is_told(void **state)
{
    struct kit_config config;
    weir_snapshot *snapshot = NULL;
    struct test_mem mem;
    int r = WEIR_ERR_NOMEM;
    (void)state;

    kit_parse_config(&config, "d1 a price=1/1; d2 b price=2/2; d3 c; routing pool cost-based-routing a b c;"
                              "routing ladder priority a=1 b=2; router strategy=lar1");
    for (size_t fail_from = 1; r != 0; fail_from++) {
        test_mem_init(&mem, fail_from);
        r = kit_build(&config, &mem.mem, &snapshot);
        if (r == 0)
            weir_snapshot_unref(snapshot);
        else
            assert_int_equal(r, WEIR_ERR_NOMEM);
        test_mem_assert_empty(&mem);
    }
    kit_config_deinit(&config);
}

static void rs_6_weights_of_the_request_come_first(void **state)
{
    static const double shares[] = {3, 1, 0};
    (void)state;
    KIT(kit, "d1 g w=1; d2 g w=9; d3 g w=90");
    kit_expect_shares(kit, "g weights=g:d1:0.3,g:d2:0.1,g:d3:0", shares, 3);
}

static void rs_6_weights_of_the_request_are_those_of_the_group(void **state)
{
    static const double shares[] = {1, 3};
    (void)state;
    KIT(kit, "d1 g w=1; d2 g w=3");
    kit_expect_shares(kit, "g weights=h:d1:1,g:nobody:1,g:d1:-4", shares, 2);
}

static void rs_6_weights_of_the_request_that_no_candidate_has_are_passed_over(void **state)
{
    (void)state;
    KIT(kit, "d1 g : 500 ok; d2 g w=1; d3 g w=0; router retries=1 cooldown=10 fails=0");
    expect(kit, "g weights=g:d1:1", "d1:500 d2:ok");
    expect(kit, "g weights=g:d1:1", "d2:ok");
    kit_advance(kit, 10);
    expect(kit, "g weights=g:d1:1", "d1:ok");
}

static void rs_6_weights_of_the_request_find_members_of_any_order(void **state)
{
    static const double shares[] = {0, 0, 1, 0, 3};
    (void)state;
    KIT(kit, "d1 g; d2 g; d3 g; d4 g; d5 g; other h");
    kit_expect_shares(kit, "g weights=g:d3:1,g:d5:3,g:other:9", shares, 5);
    /* a reload keeps the slots and brings another order */
    kit_reload(kit, "d4 g; d2 g; d5 g; other h; d1 g; d3 g");
    expect_each(kit, 5, "g weights=g:d1:1", "d1:ok");
    expect_each(kit, 5, "g weights=g:other:9,g:d4:1", "d4:ok");
    expect_each(kit, 5, "g weights=g:d5:1,g:d3:0", "d5:ok");
}

static void rs_6_weights_of_the_request_may_be_huge(void **state)
{
    static const double shares[] = {1, 1, 0};
    (void)state;
    KIT(kit, "d1 g; d2 g; d3 g");
    kit_expect_shares(kit, "g weights=g:d1:1e308,g:d2:1e308,g:d3:inf", shares, 3);
}

KIT_TESTS_MAIN(TESTS)
