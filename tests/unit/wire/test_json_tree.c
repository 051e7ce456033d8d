#include "unit.h"

#include <weir/error.h>
#include <weir/mem_libc.h>

#include "test_mem.h"
#include "wire/json_tree.h"

static int tree(const char *text, struct weir_arena *arena, yyjson_val **ret_root)
{
    return weir_json_tree(weir_slice_str(text), arena, ret_root);
}

static void a_tree_is_read_from_the_arena(void **state)
{
    struct weir_arena arena;
    yyjson_val *root;

    (void)state;
    weir_arena_init(&arena, weir_mem_libc(), 1024, 1 << 16);
    assert_int_equal(tree(" {\"fallbacks\":[\"a\\n\",{\"b\":[\"c\"]}]} ", &arena, &root), 0);
    root = yyjson_obj_get(root, "fallbacks");
    assert_int_equal(yyjson_arr_size(root), 2);
    assert_slice_is(weir_json_tree_text(yyjson_arr_get(root, 0)), "a\n");
    assert_slice_is(weir_json_tree_text(yyjson_arr_get(root, 1)), "");
    assert_slice_is(weir_json_tree_text(NULL), "");
    weir_arena_deinit(&arena);
}

static void what_is_not_json_has_no_tree(void **state)
{
    struct weir_arena arena;
    yyjson_val *root = NULL;

    (void)state;
    weir_arena_init(&arena, weir_mem_libc(), 1024, 1 << 16);
    assert_int_equal(tree("{", &arena, &root), WEIR_JSON_BAD);
    assert_int_equal(tree("", &arena, &root), WEIR_JSON_BAD);
    assert_int_equal(tree("[1] 2", &arena, &root), WEIR_JSON_BAD);
    assert_int_equal(tree("\"\\ud800\"", &arena, &root), WEIR_JSON_BAD);
    assert_null(root);
    weir_arena_deinit(&arena);
}

static void running_out_of_memory_is_reported_and_leaks_nothing(void **state)
{
    struct test_mem mem = {.failed = true};

    (void)state;
    for (size_t n = 1; mem.failed; n++) {
        struct weir_arena arena;
        yyjson_val *root;
        int r;

        test_mem_init(&mem, n);
        weir_arena_init(&arena, &mem.mem, 64, 1 << 16);
        r = tree("{\"a\":[1,2,3,{\"b\":\"c\"}],\"d\":[[],[],[],[],[],[],[],[]]}", &arena, &root);
        assert_int_equal(r, mem.failed ? WEIR_ERR_NOMEM : 0);
        weir_arena_deinit(&arena);
        test_mem_assert_empty(&mem);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_tree_is_read_from_the_arena),
        cmocka_unit_test(what_is_not_json_has_no_tree),
        cmocka_unit_test(running_out_of_memory_is_reported_and_leaks_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
