/*
 * A line is the unit: the page may be left after any of them.  What is counted meanwhile appears or not, but
 * the buckets of a histogram always rise, and its count is what they add up to.
 *
 * A metric is named though nothing was counted yet, so that who looks for it learns that it exists.
 */
#include "gateway/metrics/exposition.h"

#include "base/slice.h"
#include "base/text.h"
#include "gateway/setup.h"

static int write_head(const struct weir_metric *metric, struct weir_buf *buf)
{
    static const struct weir_slice types[] = {[WEIR_METRIC_COUNTER] = WEIR_SLICE_INIT(" counter\n"),
                                              [WEIR_METRIC_HISTOGRAM] = WEIR_SLICE_INIT(" histogram\n"),
                                              [WEIR_METRIC_GAUGE] = WEIR_SLICE_INIT(" gauge\n")};

    return WEIR_BUF_APPEND(buf, WEIR_SLICE("# HELP "), metric->name, WEIR_SLICE(" "), metric->prose,
                           WEIR_SLICE("\n# TYPE "), metric->name, types[metric->type]);
}

/* le: of a bucket, else empty. */
static int write_line(const struct weir_metric *metric, struct weir_slice suffix, struct weir_slice labels,
                      struct weir_slice le, struct weir_slice value, struct weir_buf *buf)
{
    bool any = labels.len > 0 || le.len > 0;

    return WEIR_BUF_APPEND(buf, metric->name, suffix, any ? WEIR_SLICE("{") : WEIR_SLICE(""), labels,
                           labels.len > 0 && le.len > 0 ? WEIR_SLICE(",") : WEIR_SLICE(""),
                           le.len > 0 ? WEIR_SLICE("le=\"") : WEIR_SLICE(""), le,
                           le.len > 0 ? WEIR_SLICE("\"") : WEIR_SLICE(""),
                           any ? WEIR_SLICE("} ") : WEIR_SLICE(" "), value, WEIR_SLICE("\n"));
}

static int write_value(const struct weir_metric *metric, struct weir_slice suffix, struct weir_slice labels,
                       uint64_t value, unsigned decimals, struct weir_buf *buf)
{
    char digits[WEIR_TEXT_FIXED_MAX];

    return write_line(metric, suffix, labels, WEIR_SLICE_EMPTY, weir_text_short(value, decimals, digits),
                      buf);
}

/* ---- what was counted ---- */

static int write_bucket(struct weir_exposition *page, const struct weir_metric *metric, struct weir_buf *buf)
{
    char digits[WEIR_TEXT_U64_MAX];

    page->below += weir_metrics_sum(page->metrics, page->row, metric->offset + 1 + page->line);
    return write_line(metric, WEIR_SLICE("_bucket"), page->row->labels, weir_bucket_text(page->line),
                      weir_text_u64(page->below, digits), buf);
}

/* The next line of a histogram's row; *ret_over: it was the last. */
static int write_histogram(struct weir_exposition *page, const struct weir_metric *metric,
                           struct weir_buf *buf, bool *ret_over)
{
    size_t line = page->line;
    int r;

    *ret_over = line > WEIR_BUCKETS;
    if (line < WEIR_BUCKETS)
        r = write_bucket(page, metric, buf);
    else if (line == WEIR_BUCKETS)
        r = write_value(metric, WEIR_SLICE("_sum"), page->row->labels,
                        weir_metrics_sum(page->metrics, page->row, metric->offset), metric->unit, buf);
    else
        r = write_value(metric, WEIR_SLICE("_count"), page->row->labels, page->below, 0, buf);
    page->line++;
    return r;
}

static int write_row(struct weir_exposition *page, const struct weir_metric *metric, struct weir_buf *buf)
{
    bool over = true;
    int r;

    if (metric->type == WEIR_METRIC_HISTOGRAM)
        r = write_histogram(page, metric, buf, &over);
    else
        r = write_value(metric, WEIR_SLICE_EMPTY, page->row->labels,
                        weir_metrics_sum(page->metrics, page->row, metric->offset), metric->unit, buf);
    if (over) {
        page->row = weir_metrics_next(page->row);
        page->line = 0;
        page->below = 0;
    }
    return r;
}

/* ---- what is looked up ---- */

static int write_reading(const struct weir_metric *metric, const struct weir_reading_source *source,
                         struct weir_buf *buf)
{
    struct weir_label_values values;
    char digits[WEIR_TEXT_FIXED_MAX];
    uint64_t value;
    int r;

    if (!weir_reading_value(metric->reading, source, &value))
        return 0;
    weir_reading_labels(source, &values);
    r = weir_buf_append(buf, metric->name);
    if (metric->labels[0] != WEIR_LABELS) {
        if (r == 0)
            r = weir_buf_append(buf, WEIR_SLICE("{"));
        if (r == 0)
            r = weir_label_text(metric->labels, &values, buf);
        if (r == 0)
            r = weir_buf_append(buf, WEIR_SLICE("}"));
    }
    return r == 0 ? WEIR_BUF_APPEND(buf, WEIR_SLICE(" "), weir_text_short(value, metric->unit, digits),
                                    WEIR_SLICE("\n"))
                  : r;
}

static int write_deployment(struct weir_exposition *page, const struct weir_metric *metric,
                            struct weir_buf *buf)
{
    struct weir_reading_source source = page->source;

    source.deployment = weir_snapshot_deployment(source.setup->snapshot, page->deployment);
    source.eligible = page->eligible[page->deployment++];
    return write_reading(metric, &source, buf);
}

/* ---- the page ---- */

static int begin_metric(struct weir_exposition *page, const struct weir_metric *metric, struct weir_buf *buf)
{
    page->begun = true;
    page->deployment = 0;
    page->line = 0;
    page->below = 0;
    page->row = metric->of == WEIR_METRIC_OF_SET ? weir_metrics_first(page->metrics, metric->set) : NULL;
    return write_head(metric, buf);
}

static void end_metric(struct weir_exposition *page)
{
    page->begun = false;
    page->metric++;
}

/* A line, a metric's head, or the step to the next metric. */
static int step(struct weir_exposition *page, struct weir_buf *buf)
{
    const struct weir_metric *metric = weir_metric_at(page->metric);

    if (!page->begun)
        return begin_metric(page, metric, buf);
    if (metric->of == WEIR_METRIC_OF_SET && page->row != NULL)
        return write_row(page, metric, buf);
    if (metric->of == WEIR_METRIC_OF_DEPLOYMENT &&
        page->deployment < weir_snapshot_deployment_count(page->source.setup->snapshot))
        return write_deployment(page, metric, buf);
    end_metric(page);
    return metric->of == WEIR_METRIC_OF_PROCESS ? write_reading(metric, &page->source, buf) : 0;
}

int weir_exposition_write(struct weir_exposition *page, size_t bytes, struct weir_buf *buf)
{
    int r = 0;

    while (r == 0 && page->metric < weir_metric_count() && weir_buf_len(buf) < bytes)
        r = step(page, buf);
    if (r < 0)
        return r;
    return page->metric < weir_metric_count() ? WEIR_EXPOSITION_MORE : 0;
}
