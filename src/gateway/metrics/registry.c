/*
 * A row is published once it is whole, by the store that hangs it to the end of its list, and a block by the
 * store that puts it into its row; so whoever walks a list meets neither half.
 */
#include "gateway/metrics/registry.h"

#include <string.h>

#include <weir/error.h>

#include "base/slice.h"
#include "gateway/metrics/label_text.h"

enum { ROWS_MAX = 1000000, KEY_MAX = 1 + WEIR_LABEL_TEXT_MAX };

void weir_metrics_init(struct weir_metrics *ret_metrics, const struct weir_mem *mem, size_t seats)
{
    *ret_metrics = (struct weir_metrics){.mem = mem, .seats = seats};
    (void)pthread_mutex_init(&ret_metrics->lock, NULL);
    weir_map_init(&ret_metrics->by_key, mem, ROWS_MAX);
    weir_buf_init(&ret_metrics->key, mem, KEY_MAX);
}

static void free_row(const struct weir_metrics *metrics, struct weir_metric_row *row)
{
    for (size_t i = 0; i < metrics->seats; i++)
        metrics->mem->free(metrics->mem->user, atomic_load_explicit(&row->blocks[i], memory_order_relaxed),
                           weir_set_cells(row->set) * sizeof(weir_cell));
    metrics->mem->free(metrics->mem->user, row, row->bytes);
}

void weir_metrics_deinit(struct weir_metrics *metrics)
{
    if (metrics->mem == NULL)
        return;
    for (size_t set = 0; set < WEIR_SETS; set++) {
        struct weir_metric_row *row = atomic_load_explicit(&metrics->first[set], memory_order_relaxed);

        while (row != NULL) {
            struct weir_metric_row *next = atomic_load_explicit(&row->next, memory_order_relaxed);

            free_row(metrics, row);
            row = next;
        }
    }
    weir_map_deinit(&metrics->by_key);
    weir_buf_deinit(&metrics->key);
    (void)pthread_mutex_destroy(&metrics->lock);
    *metrics = (struct weir_metrics){0};
}

void weir_metrics_set_max(struct weir_metrics *metrics, size_t max_rows)
{
    atomic_store_explicit(&metrics->max_rows, max_rows, memory_order_relaxed);
}

void weir_metrics_drop(struct weir_metrics *metrics, uint64_t count)
{
    (void)atomic_fetch_add_explicit(&metrics->dropped, count, memory_order_relaxed);
}

/* ---- rows ---- */

static int write_key(struct weir_metrics *metrics, weir_label_set set, const struct weir_label_values *values)
{
    const char first = (char)set;
    int r;

    weir_buf_clear(&metrics->key);
    r = weir_buf_append(&metrics->key, (struct weir_slice){&first, 1});
    return r == 0 ? weir_label_text(weir_set_labels(set), values, &metrics->key) : r;
}

static void hang_in(struct weir_metrics *metrics, struct weir_metric_row *row)
{
    struct weir_metric_row *last = metrics->last[row->set];

    atomic_store_explicit(last == NULL ? &metrics->first[row->set] : &last->next, row, memory_order_release);
    metrics->last[row->set] = row;
    (void)atomic_fetch_add_explicit(&metrics->row_count, 1, memory_order_relaxed);
}

static int make_row(struct weir_metrics *metrics, weir_label_set set, struct weir_slice key,
                    struct weir_metric_row **ret_row)
{
    size_t blocks = metrics->seats * sizeof(((struct weir_metric_row *)NULL)->blocks[0]);
    size_t bytes = sizeof(struct weir_metric_row) + blocks + key.len;
    struct weir_metric_row *row;
    char *text;
    int r;

    if (atomic_load_explicit(&metrics->row_count, memory_order_relaxed) >=
        atomic_load_explicit(&metrics->max_rows, memory_order_relaxed))
        return WEIR_METRICS_FULL;
    row = metrics->mem->alloc(metrics->mem->user, bytes);
    if (row == NULL)
        return WEIR_ERR_NOMEM;
    memset(row, 0, bytes);
    text = (char *)row + sizeof(*row) + blocks;
    memcpy(text, key.ptr, key.len);
    row->set = set;
    row->bytes = bytes;
    row->labels = (struct weir_slice){text + 1, key.len - 1};
    r = weir_map_add(&metrics->by_key, (struct weir_slice){text, key.len}, row);
    if (r != 0) {
        metrics->mem->free(metrics->mem->user, row, bytes);
        return r;
    }
    hang_in(metrics, row);
    *ret_row = row;
    return 0;
}

static int find_row(struct weir_metrics *metrics, weir_label_set set, const struct weir_label_values *values,
                    struct weir_metric_row **ret_row)
{
    int r = write_key(metrics, set, values);

    if (r < 0)
        return r;
    *ret_row = weir_map_get(&metrics->by_key, weir_buf_slice(&metrics->key));
    return *ret_row != NULL ? 0 : make_row(metrics, set, weir_buf_slice(&metrics->key), ret_row);
}

static int find_block(const struct weir_metrics *metrics, struct weir_metric_row *row, size_t seat,
                      weir_cell **ret_cells)
{
    weir_cell *cells = atomic_load_explicit(&row->blocks[seat], memory_order_relaxed);
    size_t bytes = weir_set_cells(row->set) * sizeof(*cells);

    if (cells == NULL) {
        cells = metrics->mem->alloc(metrics->mem->user, bytes);
        if (cells == NULL)
            return WEIR_ERR_NOMEM;
        memset(cells, 0, bytes);
        atomic_store_explicit(&row->blocks[seat], cells, memory_order_release);
    }
    *ret_cells = cells;
    return 0;
}

int weir_metrics_cells(struct weir_metrics *metrics, weir_label_set set,
                       const struct weir_label_values *values, size_t seat, weir_cell **ret_cells)
{
    struct weir_metric_row *row;
    int r;

    (void)pthread_mutex_lock(&metrics->lock);
    r = find_row(metrics, set, values, &row);
    if (r == 0)
        r = find_block(metrics, row, seat, ret_cells);
    (void)pthread_mutex_unlock(&metrics->lock);
    return r;
}

uint64_t weir_metrics_sum(const struct weir_metrics *metrics, const struct weir_metric_row *row,
                          size_t offset)
{
    uint64_t sum = 0;

    for (size_t i = 0; i < metrics->seats; i++) {
        weir_cell *cells = atomic_load_explicit(&row->blocks[i], memory_order_acquire);

        if (cells != NULL)
            sum += atomic_load_explicit(&cells[offset], memory_order_relaxed);
    }
    return sum;
}
