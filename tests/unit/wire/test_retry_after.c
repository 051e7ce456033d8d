/* EC 9, decisions 7. */
#include "unit.h"

#include "base/time.h"
#include "wire/retry_after.h"

static const int64_t now_s = 784111777; /* Sun, 06 Nov 1994 08:49:37 GMT */

static uint64_t wait_of(const char *value)
{
    uint64_t ns = 0;
    int r = weir_retry_after_parse(weir_slice_str(value), now_s, &ns);

    assert_true(r == 0 || r == WEIR_RETRY_AFTER_ABSENT);
    assert_int_equal(r == 0, ns > 0);
    return ns;
}

static uint64_t wait_of_ms(const char *value)
{
    uint64_t ns = 0;
    int r = weir_retry_after_ms_parse(weir_slice_str(value), &ns);

    assert_int_equal(r == 0, ns > 0);
    return ns;
}

static void seconds_may_have_a_fraction(void **state)
{
    (void)state;
    assert_int_equal(wait_of("3"), 3 * WEIR_NS_PER_S);
    assert_int_equal(wait_of(" 60 "), 60 * WEIR_NS_PER_S);
    assert_int_equal(wait_of("1.5"), 1500 * WEIR_NS_PER_MS);
    assert_int_equal(wait_of("0.001"), WEIR_NS_PER_MS);
}

static void a_date_counts_from_now(void **state)
{
    (void)state;
    assert_int_equal(wait_of("Sun, 06 Nov 1994 08:50:07 GMT"), 30 * WEIR_NS_PER_S);
    assert_int_equal(wait_of("Sunday, 06-Nov-94 08:49:38 GMT"), WEIR_NS_PER_S);
    assert_int_equal(wait_of("Sun Nov  6 09:49:37 1994"), 3600 * WEIR_NS_PER_S);
}

static void zero_negative_past_and_unreadable_values_are_absent(void **state)
{
    static const char *const absent[] = {"",
                                         "0",
                                         "0.0",
                                         "-1",
                                         "-0.5",
                                         "soon",
                                         "1s",
                                         "1,5",
                                         "nan",
                                         "inf",
                                         "0x10",
                                         "1 2",
                                         "Sun, 06 Nov 1994 08:49:37 GMT",
                                         "Sun, 06 Nov 1994 08:49:36 GMT",
                                         "Sun, 06 Nov 1994 08:50:07"};

    (void)state;
    for (size_t i = 0; i < sizeof(absent) / sizeof(*absent); i++)
        assert_int_equal(wait_of(absent[i]), 0);
}

static void milliseconds_have_a_field_of_their_own(void **state)
{
    (void)state;
    assert_int_equal(wait_of_ms("1500"), 1500 * WEIR_NS_PER_MS);
    assert_int_equal(wait_of_ms("0.5"), WEIR_NS_PER_MS / 2);
    assert_int_equal(wait_of_ms("0"), 0);
    assert_int_equal(wait_of_ms("-3"), 0);
    assert_int_equal(wait_of_ms("Sun, 06 Nov 1994 08:50:07 GMT"), 0);
}

static void readable_milliseconds_come_before_seconds(void **state)
{
    uint64_t ns;

    (void)state;
    assert_int_equal(weir_retry_after_read(WEIR_SLICE("250"), WEIR_SLICE("1"), now_s, &ns), 0);
    assert_int_equal(ns, 250 * WEIR_NS_PER_MS);
    assert_int_equal(weir_retry_after_read(WEIR_SLICE("x"), WEIR_SLICE("1"), now_s, &ns), 0);
    assert_int_equal(ns, WEIR_NS_PER_S);
    assert_int_equal(weir_retry_after_read(WEIR_SLICE_EMPTY, WEIR_SLICE_EMPTY, now_s, &ns),
                     WEIR_RETRY_AFTER_ABSENT);
}

static void enormous_values_stay_in_range(void **state)
{
    (void)state;
    assert_int_equal(wait_of("99999999999999999999999999"), WEIR_TIME_NEVER - 1);
    assert_int_equal(wait_of("1e300"), WEIR_TIME_NEVER - 1);
    assert_int_equal(wait_of("1e999"), 0);
    assert_true(wait_of("Fri, 31 Dec 9999 23:59:59 GMT") > 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(seconds_may_have_a_fraction),
        cmocka_unit_test(a_date_counts_from_now),
        cmocka_unit_test(zero_negative_past_and_unreadable_values_are_absent),
        cmocka_unit_test(milliseconds_have_a_field_of_their_own),
        cmocka_unit_test(readable_milliseconds_come_before_seconds),
        cmocka_unit_test(enormous_values_stay_in_range),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
