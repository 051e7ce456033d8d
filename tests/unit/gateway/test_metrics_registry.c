/* Counts that several threads make, and rows that find no room. */
#include "unit.h"

#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include <weir/error.h>
#include <weir/mem_libc.h>

#include "gateway/metrics/registry.h"
#include "test_mem.h"

enum { SEATS = 4, ROWS = 50, TURNS = 2000 };

static struct weir_metrics metrics;

static struct weir_label_values group_named(char room[16], unsigned number)
{
    struct weir_label_values values = {0};

    (void)snprintf(room, 16, "g%u", number);
    values.of[WEIR_LABEL_group] = weir_slice_str(room);
    return values;
}

static int cells_of(unsigned number, size_t seat, weir_cell **ret_cells)
{
    char room[16];
    const struct weir_label_values values = group_named(room, number);

    return weir_metrics_cells(&metrics, WEIR_SET_LOOPS, &values, seat, ret_cells);
}

static uint64_t sum_of_all(size_t offset, size_t *ret_rows)
{
    uint64_t sum = 0;

    *ret_rows = 0;
    for (const struct weir_metric_row *row = weir_metrics_first(&metrics, WEIR_SET_LOOPS); row != NULL;
         row = weir_metrics_next(row)) {
        sum += weir_metrics_sum(&metrics, row, offset);
        ++*ret_rows;
    }
    return sum;
}

static void *count_along(void *user)
{
    size_t seat = (size_t)(uintptr_t)user;

    for (unsigned i = 0; i < TURNS; i++) {
        weir_cell *cells;

        if (cells_of(i % ROWS, seat, &cells) != 0)
            return &metrics;
        weir_cell_add(&cells[WEIR_OFFSET_retries], 1);
        weir_cell_add(&cells[WEIR_OFFSET_retry_waits], i);
    }
    return NULL;
}

static void counts_are_exact_over_threads(void **state)
{
    pthread_t threads[SEATS];
    size_t rows;

    (void)state;
    weir_metrics_init(&metrics, weir_mem_libc(), SEATS);
    weir_metrics_set_max(&metrics, 1000);
    for (size_t i = 0; i < SEATS; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, count_along, (void *)(uintptr_t)i), 0);
    while (sum_of_all(WEIR_OFFSET_retries, &rows) < (uint64_t)SEATS * TURNS / 2)
        ; /* it is read while it grows */
    for (size_t i = 0; i < SEATS; i++) {
        void *failed;

        assert_int_equal(pthread_join(threads[i], &failed), 0);
        assert_null(failed);
    }
    assert_int_equal(sum_of_all(WEIR_OFFSET_retries, &rows), SEATS * TURNS);
    assert_int_equal(rows, ROWS);
    assert_int_equal(sum_of_all(WEIR_OFFSET_retry_waits, &rows), (uint64_t)SEATS * TURNS * (TURNS - 1) / 2);
    weir_metrics_deinit(&metrics);
}

static void a_row_is_found_again_and_its_seats_are_apart(void **state)
{
    weir_cell *first, *again, *other;
    const struct weir_metric_row *row;

    (void)state;
    weir_metrics_init(&metrics, weir_mem_libc(), SEATS);
    weir_metrics_set_max(&metrics, 1000);
    assert_int_equal(cells_of(1, 0, &first), 0);
    assert_int_equal(cells_of(1, 0, &again), 0);
    assert_int_equal(cells_of(1, 3, &other), 0);
    assert_ptr_equal(first, again);
    assert_ptr_not_equal(first, other);
    row = weir_metrics_first(&metrics, WEIR_SET_LOOPS);
    assert_slice_is(row->labels, "group=\"g1\"");
    assert_null(weir_metrics_next(row));
    weir_metrics_deinit(&metrics);
}

static void beyond_the_maximum_there_are_no_new_rows_but_the_old_ones_go_on(void **state)
{
    weir_cell *first, *cells;

    (void)state;
    weir_metrics_init(&metrics, weir_mem_libc(), SEATS);
    weir_metrics_set_max(&metrics, 2);
    assert_int_equal(cells_of(1, 0, &first), 0);
    assert_int_equal(cells_of(2, 0, &cells), 0);
    assert_int_equal(cells_of(3, 0, &cells), WEIR_METRICS_FULL);
    assert_int_equal(cells_of(1, 0, &cells), 0);
    assert_ptr_equal(first, cells);
    assert_int_equal(cells_of(2, 1, &cells), 0); /* another seat of a row that is there */
    weir_metrics_set_max(&metrics, 3);
    assert_int_equal(cells_of(3, 0, &cells), 0);
    weir_metrics_set_max(&metrics, 0);
    assert_int_equal(cells_of(3, 0, &cells), 0);
    assert_int_equal(cells_of(4, 0, &cells), WEIR_METRICS_FULL);
    weir_metrics_deinit(&metrics);
}

static void without_memory_nothing_is_made_by_halves(void **state)
{
    (void)state;
    for (size_t n = 1;; n++) {
        struct test_mem mem;
        weir_cell *cells;
        int r;

        test_mem_init(&mem, n);
        weir_metrics_init(&metrics, &mem.mem, SEATS);
        weir_metrics_set_max(&metrics, 1000);
        r = cells_of(1, 0, &cells);
        if (r == 0)
            weir_cell_add(&cells[0], 1);
        else
            assert_int_equal(r, WEIR_ERR_NOMEM);
        weir_metrics_deinit(&metrics);
        test_mem_assert_empty(&mem);
        if (!mem.failed)
            return;
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(counts_are_exact_over_threads),
        cmocka_unit_test(a_row_is_found_again_and_its_seats_are_apart),
        cmocka_unit_test(beyond_the_maximum_there_are_no_new_rows_but_the_old_ones_go_on),
        cmocka_unit_test(without_memory_nothing_is_made_by_halves),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
