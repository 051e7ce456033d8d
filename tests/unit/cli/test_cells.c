/* Lines never go over the edge, whatever the width of what is put into them. */
#include <stdlib.h>

#include "unit.h"

#include "base/slice.h"
#include "cli/cells.h"

#define WIDE "\xe6\xa8\xa1\xe5\x9e\x8b" /* two characters of two columns */

static void expect_cell(const char *text, unsigned columns, bool right, const char *expected)
{
    struct weir_line line;

    weir_line_init(&line, 40);
    weir_line_cell(&line, weir_slice_str(text), columns, right, WEIR_STYLE_PLAIN);
    assert_int_equal(line.columns, columns);
    assert_int_equal(line.len, strlen(expected));
    assert_memory_equal(line.text, expected, line.len);
}

static void a_cell_is_filled_up(void **state)
{
    (void)state;
    expect_cell("abc", 5, false, "abc  ");
    expect_cell("abc", 5, true, "  abc");
    expect_cell("abc", 3, true, "abc");
    expect_cell("", 2, false, "  ");
}

static void a_cell_is_cut_with_a_mark(void **state)
{
    (void)state;
    expect_cell("abcdef", 4, false, "abc\xe2\x80\xa6");
    expect_cell("abcdef", 4, true, "abc\xe2\x80\xa6");
    expect_cell("abcdef", 1, false, "\xe2\x80\xa6");
}

static void a_wide_character_is_whole_or_left_out(void **state)
{
    (void)state;
    expect_cell(WIDE, 4, false, WIDE);
    expect_cell(WIDE, 3, false, "\xe6\xa8\xa1\xe2\x80\xa6");
    expect_cell(WIDE, 2, false, "\xe2\x80\xa6 ");
}

static void a_mark_without_a_column_stays_with_its_letter(void **state)
{
    (void)state;
    expect_cell("e\xcc\x81x", 2, false, "e\xcc\x81x");
}

static void a_line_ends_at_its_edge(void **state)
{
    struct weir_line line;

    (void)state;
    weir_line_init(&line, 6);
    weir_line_put(&line, WEIR_SLICE("abc"), WEIR_STYLE_PLAIN);
    weir_line_cell(&line, WEIR_SLICE("defgh"), 5, false, WEIR_STYLE_BAD);
    weir_line_put(&line, WEIR_SLICE("more"), WEIR_STYLE_GOOD);
    assert_int_equal(line.columns, 6);
    assert_int_equal(weir_cells_of((struct weir_slice){line.text, line.len}), 6);
    assert_int_equal(line.spans[0].end, 3);
    assert_int_equal(line.spans[1].style, WEIR_STYLE_BAD);
}

static void a_line_is_never_wider_than_its_maximum(void **state)
{
    static struct weir_line line;

    (void)state;
    weir_line_init(&line, 100000);
    for (int i = 0; i < 1000; i++)
        weir_line_put(&line, WEIR_SLICE("e\xcc\x81\xcc\x81\xcc\x81\xcc\x81\xcc\x81\xcc\x81x"),
                      i % 2 == 0 ? WEIR_STYLE_PLAIN : WEIR_STYLE_BAD);
    assert_true(line.columns <= WEIR_LINE_COLUMNS_MAX);
    assert_true(line.len <= sizeof(line.text));
    assert_true(line.span_count <= WEIR_LINE_SPANS_MAX);
    assert_int_equal(line.spans[line.span_count - 1].end, line.len);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_cell_is_filled_up),
        cmocka_unit_test(a_cell_is_cut_with_a_mark),
        cmocka_unit_test(a_wide_character_is_whole_or_left_out),
        cmocka_unit_test(a_mark_without_a_column_stays_with_its_letter),
        cmocka_unit_test(a_line_ends_at_its_edge),
        cmocka_unit_test(a_line_is_never_wider_than_its_maximum),
    };

    (void)setenv("LC_ALL", "C.UTF-8", 1);
    weir_cells_locale();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
