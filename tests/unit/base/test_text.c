#include "unit.h"

#include <inttypes.h>
#include <stdio.h>
#include <time.h>

#include "base/rand.h"
#include "base/text.h"
#include "base/time.h"

static void whole_numbers_are_written_as_the_c_library_does(void **state)
{
    char digits[WEIR_TEXT_U64_MAX], expected[32];
    struct weir_rand rand;

    (void)state;
    weir_rand_init(&rand, 9);
    assert_slice_is(weir_text_u64(0, digits), "0");
    assert_slice_is(weir_text_u64(UINT64_MAX, digits), "18446744073709551615");
    for (int i = 0; i < 1000; i++) {
        uint64_t value = weir_rand_u64(&rand) >> weir_rand_below(&rand, 64);

        snprintf(expected, sizeof(expected), "%" PRIu64, value);
        assert_slice_is(weir_text_u64(value, digits), expected);
    }
}

static void fixed_points_have_their_decimals(void **state)
{
    char digits[WEIR_TEXT_FIXED_MAX];

    (void)state;
    assert_slice_is(weir_text_fixed(1234, 3, digits), "1.234");
    assert_slice_is(weir_text_fixed(5, 3, digits), "0.005");
    assert_slice_is(weir_text_fixed(0, 2, digits), "0.00");
    assert_slice_is(weir_text_fixed(42, 0, digits), "42");
    assert_slice_is(weir_text_fixed(UINT64_MAX, 9, digits), "18446744073.709551615");
    assert_slice_is(weir_text_fixed(1, 12, digits), "0.000000000001");
    assert_slice_is(weir_text_fixed(1, 200, digits), "0.000000000001");
}

static void hexadecimal_has_sixteen_digits(void **state)
{
    char digits[WEIR_TEXT_HEX64_MAX];

    (void)state;
    assert_slice_is(weir_text_hex64(0, digits), "0000000000000000");
    assert_slice_is(weir_text_hex64(UINT64_C(0x0123456789abcdef), digits), "0123456789abcdef");
    assert_slice_is(weir_text_hex64(UINT64_MAX, digits), "ffffffffffffffff");
}

static void short_ones_have_no_zeros_at_their_end(void **state)
{
    char digits[WEIR_TEXT_FIXED_MAX];

    (void)state;
    assert_slice_is(weir_text_short(1500, 3, digits), "1.5");
    assert_slice_is(weir_text_short(12, 12, digits), "0.000000000012");
    assert_slice_is(weir_text_short(3000, 3, digits), "3");
    assert_slice_is(weir_text_short(0, 12, digits), "0");
    assert_slice_is(weir_text_short(100, 0, digits), "100");
}

static void times_are_those_of_the_c_library(void **state)
{
    static const int64_t seconds[] = {0, 951782399, 951782400, 1709209696, 4107542399, 4107542400};
    char room[WEIR_TEXT_TIME_MAX];
    char expected[64];
    struct tm parts;

    (void)state;
    for (size_t i = 0; i < sizeof(seconds) / sizeof(*seconds); i++) {
        time_t t = (time_t)seconds[i];
        uint64_t wall_ns = (uint64_t)seconds[i] * WEIR_NS_PER_S + 7999999;

        assert_non_null(gmtime_r(&t, &parts));
        assert_true(strftime(expected, sizeof(expected), "%Y-%m-%dT%H:%M:%S.007Z", &parts) > 0);
        assert_slice_is(weir_text_time(wall_ns, room), expected);
    }
}

static void a_clock_tells_each_time_as_it_is_alone(void **state)
{
    static const uint64_t seconds[] = {0, 0, 0, 1709209696, 1709209696, 1709209695, 1709251200, 0};
    struct weir_text_clock clock = {0};
    char room[WEIR_TEXT_TIME_MAX];

    (void)state;
    for (size_t i = 0; i < sizeof(seconds) / sizeof(*seconds); i++)
        for (uint64_t ms = 0; ms < 1000; ms += 37) {
            uint64_t wall_ns = seconds[i] * WEIR_NS_PER_S + ms * WEIR_NS_PER_MS + 999999;
            struct weir_slice time = weir_text_clock_time(&clock, wall_ns);

            assert_int_equal(time.len, WEIR_TEXT_TIME_MAX);
            assert_memory_equal(time.ptr, weir_text_time(wall_ns, room).ptr, WEIR_TEXT_TIME_MAX);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(whole_numbers_are_written_as_the_c_library_does),
        cmocka_unit_test(fixed_points_have_their_decimals),
        cmocka_unit_test(short_ones_have_no_zeros_at_their_end),
        cmocka_unit_test(hexadecimal_has_sixteen_digits),
        cmocka_unit_test(times_are_those_of_the_c_library),
        cmocka_unit_test(a_clock_tells_each_time_as_it_is_alone),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
