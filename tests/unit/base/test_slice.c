#include "unit.h"

#include "base/slice.h"

static void c_strings_become_slices(void **state)
{
    (void)state;
    assert_int_equal(weir_slice_str("abc").len, 3);
    assert_int_equal(weir_slice_str("").len, 0);
    assert_int_equal(weir_slice_str(NULL).len, 0);
    assert_int_equal(WEIR_SLICE("a\0b").len, 3);
}

static void parts_are_cut_to_the_length(void **state)
{
    struct weir_slice s = WEIR_SLICE("abcdef");

    (void)state;
    assert_slice_is(weir_slice_sub(s, 1, 3), "bc");
    assert_slice_is(weir_slice_sub(s, 0, 6), "abcdef");
    assert_slice_is(weir_slice_sub(s, 4, 99), "ef");
    assert_slice_is(weir_slice_sub(s, 6, 99), "");
    assert_slice_is(weir_slice_sub(s, 99, SIZE_MAX), "");
    assert_slice_is(weir_slice_sub(s, 3, 2), "");
    assert_slice_is(weir_slice_sub(WEIR_SLICE_EMPTY, 0, 1), "");
}

static void blanks_at_the_ends_are_trimmed(void **state)
{
    (void)state;
    assert_slice_is(weir_slice_trim(WEIR_SLICE(" \t\r\na b\n ")), "a b");
    assert_slice_is(weir_slice_trim(WEIR_SLICE(" \t ")), "");
    assert_slice_is(weir_slice_trim(WEIR_SLICE_EMPTY), "");
    assert_slice_is(weir_slice_trim_end(WEIR_SLICE(" a b \t\n\v\f\r")), " a b");
    assert_slice_is(weir_slice_trim_end(WEIR_SLICE(" ")), "");
    assert_slice_is(weir_slice_trim_end(WEIR_SLICE_EMPTY), "");
}

static void slices_are_compared(void **state)
{
    (void)state;
    assert_true(weir_slice_eq(WEIR_SLICE("ab"), WEIR_SLICE("ab")));
    assert_true(weir_slice_eq(WEIR_SLICE(""), WEIR_SLICE_EMPTY));
    assert_false(weir_slice_eq(WEIR_SLICE("ab"), WEIR_SLICE("aB")));
    assert_false(weir_slice_eq(WEIR_SLICE("ab"), WEIR_SLICE("abc")));
    assert_true(weir_slice_eq_ci(WEIR_SLICE("aB-9[\xc4"), WEIR_SLICE("Ab-9[\xc4")));
    assert_false(weir_slice_eq_ci(WEIR_SLICE("["), WEIR_SLICE("{")));
    assert_false(weir_slice_eq_ci(WEIR_SLICE("\xc4"), WEIR_SLICE("\xe4")));
    for (size_t len = 1; len < 20; len++)
        for (size_t at = 0; at < len; at++) {
            char text[] = "HoSt-NaMe.ExAmPlE.CoM";

            assert_true(weir_slice_eq_ci((struct weir_slice){text, len},
                                         (struct weir_slice){"hOsT-nAmE.eXaMpLe.cOm", len}));
            text[at] = '_'; /* wherever the difference is */
            assert_false(weir_slice_eq_ci((struct weir_slice){text, len},
                                          (struct weir_slice){"hOsT-nAmE.eXaMpLe.cOm", len}));
        }
    assert_true(weir_slice_starts(WEIR_SLICE("abc"), WEIR_SLICE("ab")));
    assert_true(weir_slice_starts(WEIR_SLICE("abc"), WEIR_SLICE_EMPTY));
    assert_false(weir_slice_starts(WEIR_SLICE("a"), WEIR_SLICE("ab")));
    assert_true(weir_slice_ends(WEIR_SLICE("abc"), WEIR_SLICE("bc")));
    assert_true(weir_slice_ends(WEIR_SLICE("abc"), WEIR_SLICE_EMPTY));
    assert_false(weir_slice_ends(WEIR_SLICE("c"), WEIR_SLICE("bc")));
}

static void secrets_are_equal_only_when_all_of_them_is(void **state)
{
    (void)state;
    assert_true(weir_slice_eq_secret(WEIR_SLICE("sk-1234"), WEIR_SLICE("sk-1234")));
    assert_true(weir_slice_eq_secret(WEIR_SLICE_EMPTY, WEIR_SLICE_EMPTY));
    assert_false(weir_slice_eq_secret(WEIR_SLICE("sk-1234"), WEIR_SLICE("sk-1235")));
    assert_false(weir_slice_eq_secret(WEIR_SLICE("sk-1234"), WEIR_SLICE("xk-1234")));
    assert_false(weir_slice_eq_secret(WEIR_SLICE("sk-1234"), WEIR_SLICE("sk-123")));
    assert_false(weir_slice_eq_secret(WEIR_SLICE("sk-123"), WEIR_SLICE("sk-1234")));
    assert_false(weir_slice_eq_secret(WEIR_SLICE("abab"), WEIR_SLICE("ab")));
    assert_false(weir_slice_eq_secret(WEIR_SLICE("a"), WEIR_SLICE_EMPTY));
    assert_false(weir_slice_eq_secret(WEIR_SLICE("\0"), WEIR_SLICE_EMPTY));
    assert_false(weir_slice_eq_secret(WEIR_SLICE_EMPTY, WEIR_SLICE("a")));
}

static void what_is_looked_for_is_found_at_its_first_place(void **state)
{
    struct weir_slice s = WEIR_SLICE("ABcabc");

    (void)state;
    assert_int_equal(weir_slice_find(s, WEIR_SLICE("abc")), 3);
    assert_int_equal(weir_slice_find(s, WEIR_SLICE("c")), 2);
    assert_int_equal(weir_slice_find(s, WEIR_SLICE_EMPTY), 0);
    assert_true(weir_slice_find(s, WEIR_SLICE("abcd")) == WEIR_SLICE_NONE);
    assert_true(weir_slice_find(WEIR_SLICE_EMPTY, WEIR_SLICE("a")) == WEIR_SLICE_NONE);
    assert_int_equal(weir_slice_find_ci(s, WEIR_SLICE("aBC")), 0);
    assert_true(weir_slice_find_ci(s, WEIR_SLICE("abcabcd")) == WEIR_SLICE_NONE);
    assert_int_equal(weir_slice_find_char(s, 'c'), 2);
    assert_true(weir_slice_find_char(s, 'x') == WEIR_SLICE_NONE);
    assert_true(weir_slice_find_char(WEIR_SLICE_EMPTY, 'x') == WEIR_SLICE_NONE);
    assert_true(weir_slice_has(s, WEIR_SLICE("Bc")));
    assert_false(weir_slice_has(s, WEIR_SLICE("bC")));
}

static void fields_are_cut_at_separators(void **state)
{
    struct weir_slice rest = WEIR_SLICE("a,,b"), field;
    bool done = false;

    (void)state;
    assert_true(weir_slice_cut(&rest, ',', &done, &field));
    assert_slice_is(field, "a");
    assert_true(weir_slice_cut(&rest, ',', &done, &field));
    assert_slice_is(field, "");
    assert_true(weir_slice_cut(&rest, ',', &done, &field));
    assert_slice_is(field, "b");
    assert_false(weir_slice_cut(&rest, ',', &done, &field));
    done = false;
    rest = WEIR_SLICE_EMPTY;
    assert_true(weir_slice_cut(&rest, ',', &done, &field));
    assert_slice_is(field, "");
    assert_false(weir_slice_cut(&rest, ',', &done, &field));
    done = false;
    rest = WEIR_SLICE("a,");
    assert_true(weir_slice_cut(&rest, ',', &done, &field));
    assert_true(weir_slice_cut(&rest, ',', &done, &field));
    assert_slice_is(field, "");
    assert_false(weir_slice_cut(&rest, ',', &done, &field));
}

static void whole_numbers_are_read_to_64_bits(void **state)
{
    static const char *const bad[] = {
        "", "-1", "+1", " 1", "1 ", "1a", "0x1", "18446744073709551616", "99999999999999999999"};
    uint64_t value = 7;

    (void)state;
    for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++)
        assert_int_equal(weir_slice_u64(weir_slice_str(bad[i]), &value), WEIR_SLICE_NAN);
    assert_int_equal(value, 7);
    assert_int_equal(weir_slice_u64(WEIR_SLICE("18446744073709551615"), &value), 0);
    assert_true(value == UINT64_MAX);
    assert_int_equal(weir_slice_u64(WEIR_SLICE("0000000000000000000000012"), &value), 0);
    assert_int_equal(value, 12);
}

static void assert_number(const char *text, double expected)
{
    double value = 0;

    assert_int_equal(weir_slice_number(weir_slice_str(text), &value), 0);
    assert_true(value == expected);
}

static void numbers_are_read(void **state)
{
    static const char *const bad[] = {"",   "-",  "+",     ".",   "e5",  "-.",  ".e5",  "1e",    "1e+",
                                      "1 ", " 1", "1.2.3", "--1", "nan", "inf", "0x10", "1e999", "1,5"};
    double value = 7;

    (void)state;
    for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++)
        assert_int_equal(weir_slice_number(weir_slice_str(bad[i]), &value), WEIR_SLICE_NAN);
    assert_true(value == 7);
    assert_number("0", 0);
    assert_number("-12", -12);
    assert_number("+3.25", 3.25);
    assert_number("0.1", 0.1);
    assert_number("0.7", 0.7);
    assert_number("5.", 5);
    assert_number("-.5", -0.5);
    assert_number("5.e1", 50);
    assert_number("1e3", 1000);
    assert_number("2.5E-1", 0.25);
    assert_number("1e-400", 0);
    assert_number("-0.5e+2", -50);
    assert_number("0e999", 0);
    assert_number("0e999999999999", 0);
    assert_number("1e-999999999999", 0);
}

static void numbers_of_up_to_fifteen_digits_are_rounded_once(void **state)
{
    double large = 0;

    (void)state;
    assert_number("4.35", 4.35);
    assert_number("0.000001", 0.000001);
    assert_number("123456.789", 123456.789);
    assert_number("999999999999.999", 999999999999.999);
    assert_number("123456789012345e-22", 123456789012345e-22);
    assert_number("1e22", 1e22);
    assert_number("1e-22", 1e-22);
    assert_int_equal(weir_slice_number(WEIR_SLICE("1.5e300"), &large), 0);
    assert_true(large > 1.5e300 * (1 - 1e-14) && large < 1.5e300 * (1 + 1e-14));
}

static void hashes_depend_on_every_byte_and_on_the_seed(void **state)
{
    char bytes[40] = {0};
    uint64_t empty = weir_slice_hash(WEIR_SLICE_EMPTY, 1);

    (void)state;
    for (size_t len = 0; len < sizeof(bytes); len++) {
        struct weir_slice s = {bytes, len};
        uint64_t hash = weir_slice_hash(s, 1);

        assert_true(hash == weir_slice_hash(s, 1));
        assert_true(hash != weir_slice_hash(s, 2));
        assert_true(len == 0 || hash != empty);
        for (size_t i = 0; i < len; i++) {
            bytes[i] = 1;
            assert_true(weir_slice_hash(s, 1) != hash);
            bytes[i] = 0;
        }
    }
}

static void characters_are_told_apart(void **state)
{
    (void)state;
    assert_int_equal(weir_char_lower('A'), 'a');
    assert_int_equal(weir_char_lower('Z'), 'z');
    assert_int_equal(weir_char_lower('@'), '@');
    assert_int_equal(weir_char_lower('['), '[');
    assert_true(weir_char_is_digit('0') && weir_char_is_digit('9'));
    assert_false(weir_char_is_digit('/') || weir_char_is_digit(':'));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(c_strings_become_slices),
        cmocka_unit_test(parts_are_cut_to_the_length),
        cmocka_unit_test(blanks_at_the_ends_are_trimmed),
        cmocka_unit_test(slices_are_compared),
        cmocka_unit_test(secrets_are_equal_only_when_all_of_them_is),
        cmocka_unit_test(what_is_looked_for_is_found_at_its_first_place),
        cmocka_unit_test(fields_are_cut_at_separators),
        cmocka_unit_test(whole_numbers_are_read_to_64_bits),
        cmocka_unit_test(numbers_are_read),
        cmocka_unit_test(numbers_of_up_to_fifteen_digits_are_rounded_once),
        cmocka_unit_test(hashes_depend_on_every_byte_and_on_the_seed),
        cmocka_unit_test(characters_are_told_apart),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
