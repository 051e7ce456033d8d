#include "unit.h"

#include <stdio.h>

#include <weir/error.h>

#include "base/map.h"
#include "test_mem.h"

enum { KEYS = 500 };

static char names[KEYS][8];

static struct weir_slice key(size_t i)
{
    int len = snprintf(names[i], sizeof(names[i]), "k%u", (unsigned)i);

    return (struct weir_slice){names[i], (size_t)len};
}

static void an_empty_map_has_nothing(void **state)
{
    struct weir_map map, zeroed = {0};
    struct test_mem mem;
    size_t at = 0;

    (void)state;
    test_mem_init(&mem, 0);
    weir_map_init(&map, &mem.mem, KEYS);
    assert_null(weir_map_get(&map, WEIR_SLICE("a")));
    assert_null(weir_map_next(&map, &at));
    assert_true(weir_map_validate(&map));
    assert_int_equal(mem.allocations, 0);
    weir_map_deinit(&map);
    weir_map_deinit(&zeroed);
}

static void what_was_added_is_found(void **state)
{
    struct weir_map map;
    struct test_mem mem;
    int values[KEYS];

    (void)state;
    test_mem_init(&mem, 0);
    weir_map_init(&map, &mem.mem, KEYS);
    for (size_t i = 0; i < KEYS; i++) {
        assert_int_equal(weir_map_add(&map, key(i), &values[i]), 0);
        assert_int_equal(map.count, i + 1);
        assert_true(weir_map_validate(&map));
    }
    for (size_t i = 0; i < KEYS; i++)
        assert_ptr_equal(weir_map_get(&map, key(i)), &values[i]);
    assert_null(weir_map_get(&map, WEIR_SLICE("k500")));
    assert_null(weir_map_get(&map, WEIR_SLICE("")));
    weir_map_deinit(&map);
    test_mem_assert_empty(&mem);
}

static void a_key_that_is_there_keeps_its_value(void **state)
{
    struct weir_map map;
    struct test_mem mem;
    int first, second;

    (void)state;
    test_mem_init(&mem, 0);
    weir_map_init(&map, &mem.mem, KEYS);
    assert_int_equal(weir_map_add(&map, WEIR_SLICE("a"), &first), 0);
    assert_int_equal(weir_map_add(&map, WEIR_SLICE("a"), &second), WEIR_MAP_EXISTS);
    assert_ptr_equal(weir_map_get(&map, WEIR_SLICE("a")), &first);
    assert_int_equal(map.count, 1);
    assert_int_equal(weir_map_add(&map, WEIR_SLICE_EMPTY, &second), 0);
    assert_ptr_equal(weir_map_get(&map, WEIR_SLICE("")), &second);
    weir_map_deinit(&map);
}

static void a_walk_meets_each_entry_once(void **state)
{
    const struct weir_map_entry *entry;
    size_t at = 0, met = 0;
    int seen[KEYS] = {0};
    struct weir_map map;
    struct test_mem mem;

    (void)state;
    test_mem_init(&mem, 0);
    weir_map_init(&map, &mem.mem, KEYS);
    for (size_t i = 0; i < KEYS; i++)
        assert_int_equal(weir_map_add(&map, key(i), &seen[i]), 0);
    for (; (entry = weir_map_next(&map, &at)) != NULL; met++)
        assert_int_equal((*(int *)entry->value)++, 0);
    assert_int_equal(met, KEYS);
    weir_map_deinit(&map);
}

static void a_full_map_takes_no_more(void **state)
{
    struct weir_map map, none = {0};
    struct test_mem mem;
    int first, second;

    (void)state;
    test_mem_init(&mem, 0);
    weir_map_init(&map, &mem.mem, 1);
    assert_int_equal(weir_map_add(&map, WEIR_SLICE("a"), &first), 0);
    assert_int_equal(weir_map_add(&map, WEIR_SLICE("b"), &second), WEIR_ERR_LIMIT);
    assert_int_equal(weir_map_add(&map, WEIR_SLICE("a"), &second), WEIR_MAP_EXISTS);
    assert_null(weir_map_get(&map, WEIR_SLICE("b")));
    assert_true(weir_map_validate(&map));
    assert_int_equal(weir_map_add(&none, WEIR_SLICE("a"), &first), WEIR_ERR_LIMIT);
    weir_map_deinit(&map);
    test_mem_assert_empty(&mem);
}

static void running_out_of_memory_changes_nothing(void **state)
{
    struct test_mem mem = {.failed = true};
    int value;

    (void)state;
    for (size_t n = 1; mem.failed; n++) {
        struct weir_map map;
        size_t added = 0;

        test_mem_init(&mem, n);
        weir_map_init(&map, &mem.mem, KEYS);
        for (size_t i = 0; i < 100; i++) {
            int r = weir_map_add(&map, key(i), &value);

            assert_true(r == 0 || (r == WEIR_ERR_NOMEM && mem.failed));
            added += r == 0;
        }
        assert_int_equal(map.count, added);
        assert_true(weir_map_validate(&map));
        weir_map_deinit(&map);
        test_mem_assert_empty(&mem);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_empty_map_has_nothing),
        cmocka_unit_test(what_was_added_is_found),
        cmocka_unit_test(a_key_that_is_there_keeps_its_value),
        cmocka_unit_test(a_walk_meets_each_entry_once),
        cmocka_unit_test(a_full_map_takes_no_more),
        cmocka_unit_test(running_out_of_memory_changes_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
