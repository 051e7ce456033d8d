/* Which rows in which order, and which columns at which width. */
#include "unit.h"

#include <stdlib.h>
#include <string.h>

#include "cli/top_table.h"
#include "kit.h"

static size_t column_named(weir_top_view view, const char *title)
{
    const struct weir_top_columns all = weir_top_columns_of(view);

    for (size_t i = 0; i < all.count; i++)
        if (weir_slice_eq(all.list[i].title, weir_slice_str(title)))
            return i;
    fail_msg("no column %s", title);
    return 0;
}

static bool has_column(const struct weir_top_layout *layout, const char *title)
{
    for (size_t i = 0; i < layout->count; i++)
        if (layout->column[i] == column_named(WEIR_TOP_DEPLOYMENTS, title))
            return true;
    return false;
}

static unsigned width_of(const struct weir_top_layout *layout)
{
    unsigned all = 0;

    for (size_t i = 0; i < layout->count; i++)
        all += layout->width[i] + (i > 0 ? 2 : 0);
    return all;
}

static void rows_are_sorted_by_the_column(void **state)
{
    struct weir_top_model *model = kit_model(30);
    struct weir_top_sort sort = {.by = column_named(WEIR_TOP_DEPLOYMENTS, "REQ/MIN")};

    (void)state;
    assert_int_equal(weir_top_table_arrange(model, WEIR_TOP_DEPLOYMENTS, &sort, WEIR_SLICE_EMPTY), 30);
    assert_int_equal(model->order[0], 29); /* the most first */
    assert_int_equal(model->order[29], 0);
    sort.turned = true;
    assert_int_equal(weir_top_table_arrange(model, WEIR_TOP_DEPLOYMENTS, &sort, WEIR_SLICE_EMPTY), 30);
    assert_int_equal(model->order[0], 0);
    sort = (struct weir_top_sort){.by = column_named(WEIR_TOP_DEPLOYMENTS, "DEPLOYMENT")};
    assert_int_equal(weir_top_table_arrange(model, WEIR_TOP_DEPLOYMENTS, &sort, WEIR_SLICE_EMPTY), 30);
    assert_int_equal(model->order[2], 10); /* d0, d1, d10 */
    weir_top_model_free(model);
}

static void equal_rows_keep_the_order_of_the_configuration(void **state)
{
    struct weir_top_model *model = kit_model(30);
    struct weir_top_sort sort = {.by = column_named(WEIR_TOP_DEPLOYMENTS, "LATENCY")};

    (void)state;
    for (int turned = 0; turned < 2; turned++) {
        sort.turned = turned;
        assert_int_equal(weir_top_table_arrange(model, WEIR_TOP_DEPLOYMENTS, &sort, WEIR_SLICE_EMPTY), 30);
        for (uint32_t i = 0; i < 30; i++)
            assert_int_equal(model->order[i], i);
    }
    weir_top_model_free(model);
}

static void by_state_what_is_out_for_longest_comes_first(void **state)
{
    struct weir_top_model *model = kit_model(30);
    struct weir_top_sort sort = {.by = column_named(WEIR_TOP_DEPLOYMENTS, "STATE")};

    (void)state;
    assert_int_equal(weir_top_table_arrange(model, WEIR_TOP_DEPLOYMENTS, &sort, WEIR_SLICE_EMPTY), 30);
    assert_int_equal(model->order[0], 20);
    assert_int_equal(model->order[1], 10);
    assert_int_equal(model->order[2], 0);
    assert_int_equal(model->order[3], 1);
    weir_top_model_free(model);
}

static void a_filter_looks_at_names_and_states_in_any_case(void **state)
{
    struct weir_top_model *model = kit_model(30);
    struct weir_top_sort sort = {0};

    (void)state;
    assert_int_equal(weir_top_table_arrange(model, WEIR_TOP_DEPLOYMENTS, &sort, WEIR_SLICE("D27")), 1);
    assert_int_equal(weir_top_table_arrange(model, WEIR_TOP_DEPLOYMENTS, &sort, WEIR_SLICE("rate_limit")), 3);
    assert_int_equal(weir_top_table_arrange(model, WEIR_TOP_DEPLOYMENTS, &sort, WEIR_SLICE("g9")), 3);
    assert_int_equal(weir_top_table_arrange(model, WEIR_TOP_DEPLOYMENTS, &sort, WEIR_SLICE("nix")), 0);
    weir_top_model_free(model);
}

static void columns_are_left_out_by_rank(void **state)
{
    struct weir_top_model *model = kit_model(3);
    struct weir_top_sort sort = {0};
    struct weir_top_layout layout;

    (void)state;
    (void)weir_top_table_arrange(model, WEIR_TOP_DEPLOYMENTS, &sort, WEIR_SLICE_EMPTY);
    weir_top_table_lay_out(model, WEIR_TOP_DEPLOYMENTS, 0, 3, 34, &layout);
    assert_int_equal(layout.count, 2);
    assert_true(has_column(&layout, "DEPLOYMENT") && has_column(&layout, "STATE"));
    weir_top_table_lay_out(model, WEIR_TOP_DEPLOYMENTS, 0, 3, 80, &layout);
    assert_true(has_column(&layout, "GROUP") && has_column(&layout, "FAILED") &&
                has_column(&layout, "REQ/MIN"));
    assert_false(has_column(&layout, "PROVIDER"));
    weir_top_table_lay_out(model, WEIR_TOP_DEPLOYMENTS, 0, 3, 200, &layout);
    assert_int_equal(layout.count, weir_top_columns_of(WEIR_TOP_DEPLOYMENTS).count);
    weir_top_model_free(model);
}

static void no_width_makes_a_table_that_is_too_wide(void **state)
{
    struct weir_top_model *model = kit_model(30);
    struct weir_top_sort sort = {0};

    (void)state;
    for (int view = 0; view < WEIR_TOP_VIEWS; view++) {
        size_t count = weir_top_table_arrange(model, (weir_top_view)view, &sort, WEIR_SLICE_EMPTY);

        for (unsigned columns = 0; columns <= 300; columns++) {
            struct weir_top_layout layout;

            weir_top_table_lay_out(model, (weir_top_view)view, 0, count, columns, &layout);
            assert_true(width_of(&layout) <= columns);
        }
    }
    weir_top_model_free(model);
}

static void every_rank_is_given_once(void **state)
{
    (void)state;
    for (int view = 0; view < WEIR_TOP_VIEWS; view++) {
        const struct weir_top_columns all = weir_top_columns_of((weir_top_view)view);

        assert_true(all.count <= WEIR_TOP_COLUMNS_MAX && all.sorted_by < all.count);
        for (size_t i = 0; i < all.count; i++)
            assert_true(all.list[i].rank < WEIR_TOP_COLUMNS_MAX &&
                        all.list[i].least >= all.list[i].title.len);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rows_are_sorted_by_the_column),
        cmocka_unit_test(equal_rows_keep_the_order_of_the_configuration),
        cmocka_unit_test(by_state_what_is_out_for_longest_comes_first),
        cmocka_unit_test(a_filter_looks_at_names_and_states_in_any_case),
        cmocka_unit_test(columns_are_left_out_by_rank),
        cmocka_unit_test(no_width_makes_a_table_that_is_too_wide),
        cmocka_unit_test(every_rank_is_given_once),
    };

    (void)setenv("LC_ALL", "C.UTF-8", 1);
    weir_cells_locale();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
