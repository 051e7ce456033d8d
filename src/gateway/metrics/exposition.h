/*
 * The page /metrics in Prometheus' text format, piece by piece: with many series it may be hundreds of
 * megabytes, which nobody holds at once.
 */
#ifndef WEIR_GATEWAY_METRICS_EXPOSITION_H
#define WEIR_GATEWAY_METRICS_EXPOSITION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <weir/attr.h>

#include "base/buf.h"
#include "gateway/metrics/label_text.h"
#include "gateway/metrics/readings.h"
#include "gateway/metrics/registry.h"

/* Where the page stands.  Begin with a source whose deployment is NULL, and zero behind `eligible`. */
struct weir_exposition {
    const struct weir_metrics *metrics;
    struct weir_reading_source source;
    const bool *eligible;              /* of each deployment, as weir_router_eligible says */
    size_t metric;                     /* index; at the count: the page is complete */
    bool begun;                        /* the metric's head is written */
    const struct weir_metric_row *row; /* whose lines come next */
    size_t deployment;                 /* likewise */
    size_t line;                       /* of a histogram: its next bucket, then sum and count */
    uint64_t below;                    /* observations in the buckets before it */
};

#define WEIR_EXPOSITION_MORE 1

/*
 * Appends lines to buf until it holds so many bytes, or a line more.  0 when the page is complete,
 * WEIR_EXPOSITION_MORE, or the buffer's failure.
 */
WEIR_MUST_USE int weir_exposition_write(struct weir_exposition *page, size_t bytes, struct weir_buf *buf);

#endif
