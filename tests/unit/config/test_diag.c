/* The list of diagnostics: order, bounds, what is told once. */
#include <weir/mem_libc.h>

#include "config/diag.h"
#include "test_mem.h"
#include "unit.h"

static void add(struct weir_diags *diags, const char *file, uint32_t line, uint32_t column, const char *text)
{
    struct weir_place place = {weir_slice_str(file), line, column};

    WEIR_DIAG(diags, WEIR_SEVERITY_WARNING, &place, WEIR_SLICE("p"), weir_slice_str(text));
}

static void test_they_are_sorted_by_place_and_files_keep_their_order(void **state)
{
    struct weir_diags diags;

    (void)state;
    weir_diags_init(&diags, weir_mem_libc());
    add(&diags, "b", 9, 1, "1");
    add(&diags, "a", 1, 1, "2");
    add(&diags, "b", 2, 7, "3");
    add(&diags, "b", 2, 3, "4");
    add(&diags, "b", 2, 3, "5");
    weir_diags_sort(&diags);
    assert_slice_is(diags.list[0].text, "4");
    assert_slice_is(diags.list[1].text, "5");
    assert_slice_is(diags.list[2].text, "3");
    assert_slice_is(diags.list[3].text, "1");
    assert_slice_is(diags.list[4].text, "2");
    weir_diags_deinit(&diags);
}

static void test_the_same_words_at_the_same_place_are_told_once(void **state)
{
    struct weir_diags diags;

    (void)state;
    weir_diags_init(&diags, weir_mem_libc());
    add(&diags, "a", 1, 1, "same");
    add(&diags, "a", 1, 1, "same");
    add(&diags, "a", 1, 2, "same");
    assert_int_equal(diags.count, 2);
    assert_int_equal(diags.counts[WEIR_SEVERITY_WARNING], 2);
    weir_diags_deinit(&diags);
}

static void test_beyond_the_maximum_they_are_counted(void **state)
{
    struct weir_diags diags;

    (void)state;
    weir_diags_init(&diags, weir_mem_libc());
    for (uint32_t i = 1; i <= WEIR_DIAGS_MAX + 10; i++)
        add(&diags, "a", i, 1, "x");
    assert_int_equal(diags.count, WEIR_DIAGS_MAX);
    assert_int_equal(diags.counts[WEIR_SEVERITY_WARNING], WEIR_DIAGS_MAX + 10);
    assert_int_equal(weir_diags_errors(&diags), 0);
    weir_diags_deinit(&diags);
}

static void test_without_memory_they_are_counted(void **state)
{
    struct weir_diags diags;
    struct test_mem mem;

    (void)state;
    test_mem_init(&mem, 1);
    weir_diags_init(&diags, &mem.mem);
    add(&diags, "a", 1, 1, "x");
    assert_int_equal(diags.count, 0);
    assert_int_equal(diags.counts[WEIR_SEVERITY_WARNING], 1);
    weir_diags_deinit(&diags);
    test_mem_assert_empty(&mem);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_they_are_sorted_by_place_and_files_keep_their_order),
        cmocka_unit_test(test_the_same_words_at_the_same_place_are_told_once),
        cmocka_unit_test(test_beyond_the_maximum_they_are_counted),
        cmocka_unit_test(test_without_memory_they_are_counted),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
