#include "unit.h"

#include <weir/mem_libc.h>
#include <weir/snapshot.h>

#include "gateway/prompts.h"
#include "test_mem.h"

static weir_snapshot *snapshot;
static struct weir_prompts prompts;
static struct test_mem mem;
static const struct weir_prompt thousand = {.units = {[WEIR_PROMPT_TOKEN] = 1000}};

static void add(weir_snapshot_builder *builder, const char *group, const char *id)
{
    struct weir_deployment_spec spec;

    weir_deployment_spec_init(&spec);
    spec.group = weir_slice_str(group);
    spec.id = weir_slice_str(id);
    spec.model = WEIR_SLICE("openai/m");
    spec.max_input_tokens = 8000;
    assert_int_equal(weir_snapshot_add_deployment(builder, &spec), 0);
}

/* Groups "a" and "x/" with anything behind it, the alias "also-a". */
static void make(bool pre_call_checks)
{
    weir_snapshot_builder *builder;
    struct weir_router_spec router;

    assert_int_equal(weir_snapshot_builder_new(weir_mem_libc(), &builder), 0);
    add(builder, "a", "a1");
    add(builder, "x/*", "x1");
    assert_int_equal(weir_snapshot_add_alias(builder, WEIR_SLICE("also-a"), WEIR_SLICE("a"), false), 0);
    weir_router_spec_init(&router);
    router.pre_call_checks = pre_call_checks;
    weir_snapshot_set_router(builder, &router);
    assert_int_equal(weir_snapshot_build(builder, &snapshot), 0);
    weir_snapshot_builder_free(builder);
    test_mem_init(&mem, 0);
    assert_int_equal(weir_prompts_init(&prompts, snapshot, &mem.mem), 0);
}

static int unmake(void **state)
{
    (void)state;
    weir_prompts_deinit(&prompts);
    weir_snapshot_unref(snapshot);
    test_mem_assert_empty(&mem);
    return 0;
}

static uint64_t estimate(const char *model, const char *qualified)
{
    struct weir_request request;

    weir_request_init(&request);
    request.model = weir_slice_str(model);
    request.qualified_model = weir_slice_str(qualified);
    return weir_prompts_estimate(&prompts, &request, &thousand);
}

static void nothing_is_made_where_nothing_looks_at_prompts(void **state)
{
    (void)state;
    make(false);
    assert_false(prompts.used);
    test_mem_assert_empty(&mem);
}

static void what_was_learned_goes_on_in_the_groups_that_stay(void **state)
{
    struct weir_prompts next = {0};

    (void)state;
    make(true);
    weir_prompts_learn(&prompts, WEIR_SLICE("a"), &thousand, 2000);
    assert_int_equal(weir_prompts_init(&next, snapshot, &mem.mem), 0);
    weir_prompts_inherit(&next, &prompts);
    weir_prompts_deinit(&prompts);
    prompts = next;
    assert_in_range(estimate("a", ""), 1499, 1500);
    assert_in_range(estimate("nobody", ""), 1499, 1500);
    assert_int_equal(estimate("x/y", ""), 1000);
}

static void what_a_group_teaches_is_for_its_names(void **state)
{
    (void)state;
    make(true);
    assert_true(prompts.used);
    weir_prompts_learn(&prompts, WEIR_SLICE("a"), &thousand, 2000);
    assert_in_range(estimate("a", ""), 1499, 1500);
    assert_int_equal(estimate("also-a", ""), estimate("a", ""));
    assert_int_equal(estimate("a1", ""), estimate("a", ""));
    assert_int_equal(estimate("x/m", ""), 1000);
}

static void a_pattern_is_a_group(void **state)
{
    (void)state;
    make(true);
    weir_prompts_learn(&prompts, WEIR_SLICE("x/*"), &thousand, 500);
    assert_in_range(estimate("x/m", ""), 750, 751);
    assert_int_equal(estimate("m", "x/m"), estimate("x/m", ""));
    assert_int_equal(estimate("a", ""), 1000);
}

static void names_without_a_group_learn_from_all(void **state)
{
    (void)state;
    make(true);
    weir_prompts_learn(&prompts, WEIR_SLICE("a"), &thousand, 2000);
    assert_int_equal(estimate("openai/m", ""), estimate("a", ""));
    assert_int_equal(estimate("unknown", ""), estimate("a", ""));
    weir_prompts_learn(&prompts, WEIR_SLICE("gone"), &thousand, 1000);
    assert_true(estimate("unknown", "") < estimate("a", ""));
}

static void without_memory_there_is_none(void **state)
{
    struct test_mem none;
    struct weir_prompts failed;

    (void)state;
    make(true);
    for (size_t fail_at = 1; fail_at < 3; fail_at++) {
        test_mem_init(&none, fail_at);
        assert_true(weir_prompts_init(&failed, snapshot, &none.mem) < 0);
        weir_prompts_deinit(&failed);
        test_mem_assert_empty(&none);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(nothing_is_made_where_nothing_looks_at_prompts, unmake),
        cmocka_unit_test_teardown(what_was_learned_goes_on_in_the_groups_that_stay, unmake),
        cmocka_unit_test_teardown(what_a_group_teaches_is_for_its_names, unmake),
        cmocka_unit_test_teardown(a_pattern_is_a_group, unmake),
        cmocka_unit_test_teardown(names_without_a_group_learn_from_all, unmake),
        cmocka_unit_test_teardown(without_memory_there_is_none, unmake),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
