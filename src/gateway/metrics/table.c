/* The rows of the tables, once for each kind of thing that is made of them. */
#include "gateway/metrics/table.h"

#define L(label)             WEIR_LABEL_##label,
#define SET(set, set_labels) static const uint8_t labels_of_##set[] = {set_labels WEIR_LABELS};
#define READING(of, type, id, name, unit, prose, id_labels)                                                  \
    static const uint8_t labels_of_##id[] = {id_labels WEIR_LABELS};
#include "gateway/metrics/tbl/metrics.h"
#undef L

static const struct weir_metric metrics[] = {
#define COUNTER(metric_set, id, metric_name, metric_unit, metric_prose)                                      \
    {.name = WEIR_SLICE_INIT(metric_name),                                                                   \
     .prose = WEIR_SLICE_INIT(metric_prose),                                                                 \
     .labels = labels_of_##metric_set,                                                                       \
     .type = WEIR_METRIC_COUNTER,                                                                            \
     .unit = WEIR_METRIC_##metric_unit,                                                                      \
     .of = WEIR_METRIC_OF_SET,                                                                               \
     .set = WEIR_SET_##metric_set,                                                                           \
     .offset = WEIR_OFFSET_##id},
#define HISTOGRAM(metric_set, id, metric_name, metric_prose)                                                 \
    {.name = WEIR_SLICE_INIT(metric_name),                                                                   \
     .prose = WEIR_SLICE_INIT(metric_prose),                                                                 \
     .labels = labels_of_##metric_set,                                                                       \
     .type = WEIR_METRIC_HISTOGRAM,                                                                          \
     .unit = WEIR_METRIC_SECONDS,                                                                            \
     .of = WEIR_METRIC_OF_SET,                                                                               \
     .set = WEIR_SET_##metric_set,                                                                           \
     .offset = WEIR_OFFSET_##id},
#define READING(metric_of, metric_type, id, metric_name, metric_unit, metric_prose, metric_labels)           \
    {.name = WEIR_SLICE_INIT(metric_name),                                                                   \
     .prose = WEIR_SLICE_INIT(metric_prose),                                                                 \
     .labels = labels_of_##id,                                                                               \
     .type = WEIR_METRIC_##metric_type,                                                                      \
     .unit = WEIR_METRIC_##metric_unit,                                                                      \
     .of = WEIR_METRIC_OF_##metric_of,                                                                       \
     .reading = WEIR_READING_##id},
#include "gateway/metrics/tbl/metrics.h"
};

static const uint8_t *const set_labels[WEIR_SETS] = {
#define SET(set, labels) labels_of_##set,
#include "gateway/metrics/tbl/metrics.h"
};

static const size_t set_begins[WEIR_SETS + 1] = {
#define SET(set, labels) WEIR_CELL_##set,
#include "gateway/metrics/tbl/metrics.h"
    WEIR_CELLS};

static const struct weir_slice label_names[WEIR_LABELS] = {
#define X(label, prose) WEIR_SLICE_INIT(#label),
#include "gateway/metrics/tbl/labels.h"
#undef X
};

static const struct weir_slice label_proses[WEIR_LABELS] = {
#define X(label, prose) WEIR_SLICE_INIT(prose),
#include "gateway/metrics/tbl/labels.h"
#undef X
};

const uint64_t weir_bucket_bounds_ns[WEIR_BUCKETS_BOUNDED] = {
#define X(ns, text) UINT64_C(ns),
#include "gateway/metrics/tbl/buckets.h"
#undef X
};

static const struct weir_slice bucket_texts[WEIR_BUCKETS] = {
#define X(ns, text) WEIR_SLICE_INIT(text),
#include "gateway/metrics/tbl/buckets.h"
#undef X
    WEIR_SLICE_INIT("+Inf")};

_Static_assert(WEIR_SETS <= 32, "a bit for each set");
_Static_assert(WEIR_LABELS < UINT8_MAX, "labels are numbered by a byte");

size_t weir_metric_count(void)
{
    return sizeof(metrics) / sizeof(metrics[0]);
}

const struct weir_metric *weir_metric_at(size_t index)
{
    return &metrics[index];
}

const uint8_t *weir_set_labels(weir_label_set set)
{
    return set_labels[set];
}

size_t weir_set_cells(weir_label_set set)
{
    return set_begins[set + 1] - set_begins[set];
}

struct weir_slice weir_label_name(weir_label label)
{
    return label_names[label];
}

struct weir_slice weir_label_prose(weir_label label)
{
    return label_proses[label];
}

struct weir_slice weir_bucket_text(size_t bucket)
{
    return bucket_texts[bucket];
}
