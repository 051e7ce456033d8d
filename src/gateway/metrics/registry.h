/*
 * The counts of a process, exact over its threads.
 *
 * A row is one combination of the labels of one set.  It is made when it is first seen, by whichever thread,
 * never changes its labels and stays until the process ends, so that counts survive reloads.  It has a block
 * of cells for each seat that counts in it; only that seat's thread writes them, so that counting is a load
 * and a store; who wants to know sums over the seats.
 *
 * The number of rows has a maximum.  Beyond it there are no new ones, and what would have been counted there
 * is counted as dropped.
 */
#ifndef WEIR_GATEWAY_METRICS_REGISTRY_H
#define WEIR_GATEWAY_METRICS_REGISTRY_H

#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

#include <weir/attr.h>
#include <weir/mem.h>
#include <weir/slice.h>

#include "base/buf.h"
#include "base/map.h"
#include "gateway/metrics/table.h"

typedef _Atomic uint64_t weir_cell;

struct weir_metric_row {
    _Atomic(struct weir_metric_row *) next; /* of the same set, made later */
    struct weir_slice labels;               /* see label_text.h */
    weir_label_set set;
    size_t bytes;                  /* of the row, its text included */
    _Atomic(weir_cell *) blocks[]; /* by seat; NULL: it has not counted here */
};

struct weir_metrics {
    const struct weir_mem *mem;
    size_t seats;
    atomic_size_t max_rows;
    atomic_size_t row_count;
    atomic_uint_fast64_t dropped;
    pthread_mutex_t lock;   /* guards the three below; the lists may be walked without it */
    struct weir_map by_key; /* the set and the labels -> the row */
    struct weir_buf key;
    struct weir_metric_row *last[WEIR_SETS];
    _Atomic(struct weir_metric_row *) first[WEIR_SETS];
};

/* mem must be thread-safe.  Seats are numbered from 0. */
void weir_metrics_init(struct weir_metrics *ret_metrics, const struct weir_mem *mem, size_t seats);

/* After the last use of any cell.  Accepts a zeroed one. */
void weir_metrics_deinit(struct weir_metrics *metrics);

/* From any thread: how many rows there may be; those that there are stay. */
void weir_metrics_set_max(struct weir_metrics *metrics, size_t max_rows);

/* There are as many rows as there may be, and none of these labels. */
#define WEIR_METRICS_FULL 1

/*
 * The seat's cells of the row of these labels, which is made if need be; weir_set_cells of them, from now on
 * for the seat's thread alone to write.  0, WEIR_METRICS_FULL or WEIR_ERR_NOMEM.  Takes a lock.
 */
WEIR_MUST_USE int weir_metrics_cells(struct weir_metrics *metrics, weir_label_set set,
                                     const struct weir_label_values *values, size_t seat,
                                     weir_cell **ret_cells);

/* So many observations went uncounted.  From any thread. */
void weir_metrics_drop(struct weir_metrics *metrics, uint64_t count);

/* Walking the rows of a set in the order in which they were made, from any thread. */
static inline const struct weir_metric_row *weir_metrics_first(const struct weir_metrics *metrics,
                                                               weir_label_set set)
{
    return atomic_load_explicit(&metrics->first[set], memory_order_acquire);
}

static inline const struct weir_metric_row *weir_metrics_next(const struct weir_metric_row *row)
{
    return atomic_load_explicit(&row->next, memory_order_acquire);
}

/* What all seats have counted in one cell. */
uint64_t weir_metrics_sum(const struct weir_metrics *metrics, const struct weir_metric_row *row,
                          size_t offset);

/* ---- counting, by the thread of the cell's seat ---- */

static inline void weir_cell_add(weir_cell *cell, uint64_t amount)
{
    atomic_store_explicit(cell, atomic_load_explicit(cell, memory_order_relaxed) + amount,
                          memory_order_relaxed);
}

/* The bucket of a duration: bounds belong to the bucket below them. */
static inline size_t weir_bucket_of(uint64_t ns)
{
    size_t bucket = 0;

    while (bucket < WEIR_BUCKETS_BOUNDED && ns > weir_bucket_bounds_ns[bucket])
        bucket++;
    return bucket;
}

/* A duration with its bucket, to be observed in one histogram or in several. */
struct weir_duration {
    uint64_t ns;
    size_t bucket;
};

static inline struct weir_duration weir_duration_of(uint64_t ns)
{
    return (struct weir_duration){ns, weir_bucket_of(ns)};
}

/* cells: of a histogram. */
static inline void weir_cell_observe(weir_cell *cells, struct weir_duration duration)
{
    weir_cell_add(&cells[0], duration.ns);
    weir_cell_add(&cells[1 + duration.bucket], 1);
}

#endif
