#include "unit.h"

#include <math.h>

#include "base/time.h"

static void seconds_become_nanoseconds(void **state)
{
    (void)state;
    assert_int_equal(weir_time_from_s(1), WEIR_NS_PER_S);
    assert_int_equal(weir_time_from_s(0.0015), 1500 * WEIR_NS_PER_US);
    assert_int_equal(weir_time_from_s(0.25), 250 * WEIR_NS_PER_MS);
    assert_int_equal(weir_time_from_s(0), 0);
}

static void what_is_no_duration_is_none(void **state)
{
    (void)state;
    assert_int_equal(weir_time_from_s(-1), 0);
    assert_int_equal(weir_time_from_s((double)NAN), 0);
    assert_true(weir_time_from_s((double)INFINITY) == WEIR_TIME_NEVER - 1);
    assert_true(weir_time_from_s(1e300) == WEIR_TIME_NEVER - 1);
}

static void nanoseconds_become_seconds(void **state)
{
    (void)state;
    assert_true(weir_time_to_s(1500 * WEIR_NS_PER_MS) == 1.5);
    assert_true(weir_time_to_s(0) == 0);
}

static void sums_stay_at_never(void **state)
{
    (void)state;
    assert_int_equal(weir_time_add(2, 3), 5);
    assert_true(weir_time_add(WEIR_TIME_NEVER, 0) == WEIR_TIME_NEVER);
    assert_true(weir_time_add(WEIR_TIME_NEVER, 1) == WEIR_TIME_NEVER);
    assert_true(weir_time_add(WEIR_TIME_NEVER - 1, 5) == WEIR_TIME_NEVER);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(seconds_become_nanoseconds),
        cmocka_unit_test(what_is_no_duration_is_none),
        cmocka_unit_test(nanoseconds_become_seconds),
        cmocka_unit_test(sums_stay_at_never),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
