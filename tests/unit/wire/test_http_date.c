#include "unit.h"

#include <time.h>

#include "wire/http_date.h"

static const int64_t now_s = 1790000000; /* in 2026 */

static int64_t parse(const char *text)
{
    int64_t time_s = -1;

    return weir_http_date_parse(weir_slice_str(text), now_s, &time_s) == 0 ? time_s : INT64_MIN;
}

static void all_three_forms_are_read(void **state)
{
    (void)state;
    assert_int_equal(parse("Sun, 06 Nov 1994 08:49:37 GMT"), 784111777);
    assert_int_equal(parse("Sunday, 06-Nov-94 08:49:37 GMT"), 784111777);
    assert_int_equal(parse("Sun Nov  6 08:49:37 1994"), 784111777);
    assert_int_equal(parse("Wed Nov 16 08:49:37 1994"), 784111777 + 10 * 86400);
    assert_int_equal(parse("  Thu, 01 Jan 1970 00:00:00 GMT "), 0);
    assert_int_equal(parse("Thu, 29 Feb 2024 23:59:60 GMT"), 1709251200);
    assert_int_equal(parse("sun, 06 nov 1994 08:49:37 GMT"), 784111777);
}

static void two_digit_years_are_within_fifty_years_of_now(void **state)
{
    (void)state;
    assert_int_equal(parse("Monday, 01-Jan-26 00:00:00 GMT"), 1767225600);
    assert_int_equal(parse("Monday, 01-Jan-76 00:00:00 GMT"), parse("Wed, 01 Jan 2076 00:00:00 GMT"));
    assert_int_equal(parse("Monday, 01-Jan-77 00:00:00 GMT"), parse("Sat, 01 Jan 1977 00:00:00 GMT"));
}

static void what_is_no_date_is_refused(void **state)
{
    static const char *const bad[] = {
        "",
        "120",
        "Sun, 06 Nov 1994 08:49:37",
        "Sun, 06 Nov 1994 08:49:37 UTC",
        "Sun, 06 Nov 1994 08:49:37 GMT x",
        "Sun, 31 Nov 1994 08:49:37 GMT",
        "Sun, 00 Nov 1994 08:49:37 GMT",
        "Sun, 29 Feb 2023 08:49:37 GMT",
        "Sun, 29 Feb 1900 08:49:37 GMT",
        "Sun, 06 Foo 1994 08:49:37 GMT",
        "Xun, 06 Nov 1994 08:49:37 GMT",
        "Sun, 06 Nov 1994 24:49:37 GMT",
        "Sun, 06 Nov 1994 08:60:37 GMT",
        "Sun, 06 Nov 1994 08:49:61 GMT",
        "Sun, 6 Nov 1994 08:49:37 GMT",
        "Sun, -6 Nov 1994 08:49:37 GMT",
        "Sunday, 06-Nov-1994 08:49:37 GMT",
        "Sun",
        "Sunday",
    };

    (void)state;
    for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++)
        assert_int_equal(parse(bad[i]), INT64_MIN);
}

/* The C library is the judge, for about every sixteenth day of a thousand years. */
static void dates_are_written_as_the_c_library_does_and_read_back(void **state)
{
    char room[WEIR_HTTP_DATE_LEN], expected[64];

    (void)state;
    for (int64_t t = 0; t < INT64_C(31536000000); t += 1382401) {
        time_t as_time = (time_t)t;
        struct tm tm;

        assert_non_null(gmtime_r(&as_time, &tm));
        assert_int_not_equal(strftime(expected, sizeof(expected), "%a, %d %b %Y %H:%M:%S GMT", &tm), 0);
        assert_slice_is(weir_http_date_write(t, room), expected);
        assert_int_equal(parse(expected), t);
    }
}

static void times_out_of_range_are_cut(void **state)
{
    char room[WEIR_HTTP_DATE_LEN];

    (void)state;
    assert_slice_is(weir_http_date_write(INT64_MIN, room), "Thu, 01 Jan 1970 00:00:00 GMT");
    assert_slice_is(weir_http_date_write(INT64_MAX, room), "Fri, 31 Dec 9999 23:59:59 GMT");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_three_forms_are_read),
        cmocka_unit_test(two_digit_years_are_within_fifty_years_of_now),
        cmocka_unit_test(what_is_no_date_is_refused),
        cmocka_unit_test(dates_are_written_as_the_c_library_does_and_read_back),
        cmocka_unit_test(times_out_of_range_are_cut),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
