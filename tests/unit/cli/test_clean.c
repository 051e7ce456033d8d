/* What others wrote cannot steer the terminal. */
#include <stdio.h>
#include <stdlib.h>

#include "unit.h"

#include "base/rand.h"
#include "base/slice.h"
#include "cli/clean.h"
#include "cli/print.h"

static void expect(const char *text, const char *shown)
{
    char *printed;
    size_t len;
    FILE *out = open_memstream(&printed, &len);

    weir_cli_print_slice(out, weir_slice_str(text));
    assert_int_equal(fclose(out), 0);
    assert_string_equal(printed, shown);
    free(printed);
}

static void text_stays_as_it_is(void **state)
{
    (void)state;
    expect("", "");
    expect("gpt-4o / azure-eu", "gpt-4o / azure-eu");
    expect("gr\xc3\xb6\xc3\x9f"
           "e \xe6\xa8\xa1\xe5\x9e\x8b \xf0\x9f\x9a\x80",
           "gr\xc3\xb6\xc3\x9f"
           "e \xe6\xa8\xa1\xe5\x9e\x8b \xf0\x9f\x9a\x80");
}

static void controls_become_a_question_mark(void **state)
{
    (void)state;
    expect("a\x1b[2Jb", "a?[2Jb");
    expect("a\r\n\tb\x7f", "a???b?");
    expect("a\xc2\x9b"
           "2Jb",
           "a?2Jb"); /* CSI of C1 */
    expect("a\xc2\x85"
           "b",
           "a?b");
}

static void marks_of_direction_and_line_separators_become_a_question_mark(void **state)
{
    (void)state;
    expect("a\xe2\x80\xae"
           "b",
           "a?b"); /* right-to-left override */
    expect("a\xe2\x81\xa6"
           "b",
           "a?b"); /* isolate */
    expect("a\xe2\x80\xa8"
           "b",
           "a?b"); /* line separator */
    expect("a\xef\xbb\xbf"
           "b",
           "a?b");
}

static void bytes_that_are_no_utf8_become_one_question_mark_each(void **state)
{
    (void)state;
    expect("a\xff\xfe"
           "b",
           "a??b");
    expect("a\xe2\x82", "a??");
    expect("\xc0\xaf", "??");
}

static void whatever_comes_nothing_of_it_steers(void **state)
{
    struct weir_rand rand;

    (void)state;
    weir_rand_init(&rand, 7);
    for (int round = 0; round < 20000; round++) {
        char bytes[16];
        struct weir_slice rest = {bytes, sizeof(bytes)}, shown;
        size_t taken = 0;

        for (size_t i = 0; i < sizeof(bytes); i++)
            bytes[i] = (char)weir_rand_below(&rand, 256);
        while (weir_clean_next(&rest, &shown)) {
            unsigned char first = (unsigned char)shown.ptr[0];

            assert_true(first >= 0x20 && first != 0x7f);
            assert_false(first == 0xc2 && (unsigned char)shown.ptr[1] < 0xa0);
            taken++;
        }
        assert_int_equal(rest.len, 0);
        assert_true(taken >= 4 && taken <= sizeof(bytes));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(text_stays_as_it_is),
        cmocka_unit_test(controls_become_a_question_mark),
        cmocka_unit_test(marks_of_direction_and_line_separators_become_a_question_mark),
        cmocka_unit_test(bytes_that_are_no_utf8_become_one_question_mark_each),
        cmocka_unit_test(whatever_comes_nothing_of_it_steers),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
