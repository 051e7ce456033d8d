#include "unit.h"

#include <inttypes.h>
#include <stdio.h>

#include "base/rand.h"
#include "base/text.h"

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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(whole_numbers_are_written_as_the_c_library_does),
        cmocka_unit_test(fixed_points_have_their_decimals),
        cmocka_unit_test(short_ones_have_no_zeros_at_their_end),
        cmocka_unit_test(hexadecimal_has_sixteen_digits),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
