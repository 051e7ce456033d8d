/* Distances between names, and what still counts as a slip of the pen. */
#include <string.h>

#include "config/near.h"
#include "unit.h"

static size_t distance(const char *a, const char *b)
{
    return weir_near_distance(weir_slice_str(a), weir_slice_str(b), 9);
}

static void test_each_edit_costs_one(void **state)
{
    (void)state;
    assert_int_equal(distance("timeout", "timeout"), 0);
    assert_int_equal(distance("timout", "timeout"), 1);
    assert_int_equal(distance("timeoutt", "timeout"), 1);
    assert_int_equal(distance("tomeout", "timeout"), 1);
    assert_int_equal(distance("tiemout", "timeout"), 1);
    assert_int_equal(distance("TimeOut", "timeout"), 0);
    assert_int_equal(distance("TIME_OUT", "timeout"), 1);
    assert_int_equal(distance("num_retry", "num_retries"), 3);
    assert_int_equal(distance("", "abc"), 3);
}

static void test_distance_is_symmetric(void **state)
{
    static const char *const names[] = {"", "a", "order", "rpm", "model_info", "model", "api_base"};

    (void)state;
    for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
        for (size_t k = 0; k < sizeof(names) / sizeof(*names); k++)
            assert_int_equal(distance(names[i], names[k]), distance(names[k], names[i]));
}

static void test_beyond_the_limit_all_are_alike(void **state)
{
    char name[WEIR_NEAR_NAME_MAX + 1];

    (void)state;
    memset(name, 'a', sizeof(name));
    assert_int_equal(weir_near_distance(WEIR_SLICE("abc"), WEIR_SLICE("xyz"), 1), 2);
    assert_int_equal(weir_near_distance((struct weir_slice){name, sizeof(name)}, WEIR_SLICE("a"), 2), 3);
}

static void test_short_names_allow_fewer_slips(void **state)
{
    (void)state;
    assert_int_equal(weir_near_limit(WEIR_SLICE("id"), 2), 0);
    assert_int_equal(weir_near_limit(WEIR_SLICE("rpm"), 2), 1);
    assert_int_equal(weir_near_limit(WEIR_SLICE("order"), 2), 2);
    assert_int_equal(weir_near_limit(WEIR_SLICE(""), 2), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_each_edit_costs_one),
        cmocka_unit_test(test_distance_is_symmetric),
        cmocka_unit_test(test_beyond_the_limit_all_are_alike),
        cmocka_unit_test(test_short_names_allow_fewer_slips),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
