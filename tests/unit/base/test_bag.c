#include "unit.h"

#include <weir/error.h>
#include <weir/mem_libc.h>

#include "base/bag.h"

enum { MANY = 1000 };

static void items_keep_their_order_through_growth(void **state)
{
    WEIR_CLEANUP(weir_arena_deinit) struct weir_arena arena;
    struct weir_bag bag = {0};
    static int things[MANY];

    (void)state;
    weir_arena_init(&arena, weir_mem_libc(), 1024, 1024 * 1024);
    for (size_t i = 0; i < MANY; i++)
        assert_int_equal(weir_bag_add(&bag, &arena, &things[i]), 0);
    assert_int_equal(bag.count, MANY);
    for (size_t i = 0; i < MANY; i++)
        assert_ptr_equal(bag.items[i], &things[i]);
}

static void a_full_arena_leaves_the_bag_as_it_was(void **state)
{
    WEIR_CLEANUP(weir_arena_deinit) struct weir_arena arena;
    struct weir_bag bag = {0};
    size_t count;
    int thing, r = 0;

    (void)state;
    weir_arena_init(&arena, weir_mem_libc(), 256, 1024);
    for (count = 0; r == 0 && count < MANY; count++)
        r = weir_bag_add(&bag, &arena, &thing);
    assert_int_equal(r, WEIR_ERR_NOMEM);
    assert_true(weir_arena_failed(&arena));
    assert_int_equal(bag.count, count - 1);
    assert_ptr_equal(bag.items[bag.count - 1], &thing);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(items_keep_their_order_through_growth),
        cmocka_unit_test(a_full_arena_leaves_the_bag_as_it_was),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
