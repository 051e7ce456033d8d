/*
 * The tables of metrics as data: names, types, labels, and where a value is found.
 *
 * What is counted as it happens lives in cells (registry.h): each combination of a set's labels has a block
 * of them, with a place for each metric of the set.  What is looked up when it is asked for is a reading
 * (readings.h).  Everything here lives for ever.
 */
#ifndef WEIR_GATEWAY_METRICS_TABLE_H
#define WEIR_GATEWAY_METRICS_TABLE_H

#include <stddef.h>
#include <stdint.h>

#include <weir/slice.h>

typedef enum weir_label {
#define X(label, prose) WEIR_LABEL_##label,
#include "gateway/metrics/tbl/labels.h"
#undef X
    WEIR_LABELS
} weir_label;

/* The value of every label that there is; a set takes those that it names. */
struct weir_label_values {
    struct weir_slice of[WEIR_LABELS];
};

typedef enum weir_label_set {
#define SET(set, labels) WEIR_SET_##set,
#include "gateway/metrics/tbl/metrics.h"
    WEIR_SETS
} weir_label_set;

#define WEIR_SET_BIT(set) (UINT32_C(1) << WEIR_SET_##set)

/* What is looked up. */
typedef enum weir_reading {
#define READING(of, type, id, name, unit, prose, labels) WEIR_READING_##id,
#include "gateway/metrics/tbl/metrics.h"
    WEIR_READINGS
} weir_reading;

enum {
    WEIR_BUCKETS_BOUNDED = 0
#define X(ns, text) +1
#include "gateway/metrics/tbl/buckets.h"
#undef X
    ,
    WEIR_BUCKETS,                           /* with the one that has no bound */
    WEIR_HISTOGRAM_CELLS = 1 + WEIR_BUCKETS /* the sum, then a cell for each bucket */
};

/* Places of cells, counted through all sets ... */
enum {
#define SET(set, labels)                    WEIR_CELL_##set, WEIR_CELL_BEFORE_##set = WEIR_CELL_##set - 1,
#define COUNTER(set, id, name, unit, prose) WEIR_CELL_##id,
#define HISTOGRAM(set, id, name, prose)                                                                      \
    WEIR_CELL_##id, WEIR_CELL_LAST_##id = WEIR_CELL_##id + WEIR_HISTOGRAM_CELLS - 1,
#include "gateway/metrics/tbl/metrics.h"
    WEIR_CELLS
};

/* ... and within the block of a metric's set. */
enum {
#define COUNTER(set, id, name, unit, prose) WEIR_OFFSET_##id = WEIR_CELL_##id - (int)WEIR_CELL_##set,
#define HISTOGRAM(set, id, name, prose)     WEIR_OFFSET_##id = WEIR_CELL_##id - (int)WEIR_CELL_##set,
#include "gateway/metrics/tbl/metrics.h"
    WEIR_OFFSETS_END
};

/* The set of a metric. */
enum {
#define COUNTER(set, id, name, unit, prose) WEIR_SET_OF_##id = WEIR_SET_##set,
#define HISTOGRAM(set, id, name, prose)     WEIR_SET_OF_##id = WEIR_SET_##set,
#include "gateway/metrics/tbl/metrics.h"
    WEIR_SET_OF_END
};

typedef enum weir_metric_type {
    WEIR_METRIC_COUNTER,
    WEIR_METRIC_HISTOGRAM,
    WEIR_METRIC_GAUGE
} weir_metric_type;

/* How many decimals a whole number stands for. */
typedef enum weir_metric_unit {
    WEIR_METRIC_NUMBER = 0,
    WEIR_METRIC_SECONDS = 9,
    WEIR_METRIC_DOLLARS = 12
} weir_metric_unit;

typedef enum weir_metric_of {
    WEIR_METRIC_OF_SET, /* a row for each combination that was seen */
    WEIR_METRIC_OF_DEPLOYMENT,
    WEIR_METRIC_OF_PROCESS
} weir_metric_of;

struct weir_metric {
    struct weir_slice name;
    struct weir_slice prose;
    const uint8_t *labels; /* weir_label; WEIR_LABELS ends them */
    weir_metric_type type;
    weir_metric_unit unit;
    weir_metric_of of;
    weir_label_set set;   /* of WEIR_METRIC_OF_SET, with the next one */
    size_t offset;        /* of its first cell in the block */
    weir_reading reading; /* of the others */
};

/* In the order in which they are shown; index runs from 0 to the count. */
size_t weir_metric_count(void);
const struct weir_metric *weir_metric_at(size_t index);

/* The labels of a set, and how many cells its blocks have. */
const uint8_t *weir_set_labels(weir_label_set set);
size_t weir_set_cells(weir_label_set set);

struct weir_slice weir_label_name(weir_label label);
struct weir_slice weir_label_prose(weir_label label);

/* Upper bounds in nanoseconds, WEIR_BUCKETS_BOUNDED of them, rising. */
extern const uint64_t weir_bucket_bounds_ns[WEIR_BUCKETS_BOUNDED];

/* "0.005", ..., "+Inf". */
struct weir_slice weir_bucket_text(size_t bucket);

#endif
