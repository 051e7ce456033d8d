/* What is common to all metrics is said here; the rows say the rest. */
#include "gateway/metrics/reference.h"

#include <weir/error.h>

#include "base/slice.h"
#include "gateway/metrics/table.h"

static const char intro[] =
    "# Metrics\n"
    "\n"
    "<!-- Made by `weir check --metrics` from src/gateway/metrics/tbl; a test compares. -->\n"
    "\n"
    "`GET /metrics` answers in Prometheus' text format (0.0.4). It is open unless "
    "`require_auth_for_metrics_endpoint` "
    "of `general_settings` or\n"
    "`litellm_settings` is true; then it wants the master key, which Prometheus sends with `authorization: "
    "{credentials: KEY}`. Metrics hold names from the\n"
    "configuration and numbers, never keys, prompts or answers.\n"
    "\n"
    "- Counts are those of the process: exact over its workers, kept over reloads, begun anew by a restart "
    "and in a "
    "process that takes over the sockets.\n"
    "- What is said of deployments is looked up when the page is asked for, and only for those of the "
    "configuration "
    "that holds.\n"
    "- What routing does is counted from its events alone, the same that the log of events and the traces "
    "have; the "
    "rest when a request is over.\n"
    "- Names that callers make up become no labels: what a pattern lets in stands under the pattern, what "
    "means nothing "
    "here under `unknown`.\n"
    "- `weir_settings.metrics_max_series` bounds the combinations of labels that are counted, all metrics of "
    "the same "
    "labels together being one. What would need\n"
    "  another one is not counted, but for `weir_metrics_dropped_series_total`, once for each observation. "
    "What is looked "
    "up is not bounded by it.\n"
    "- The metrics that begin with `litellm_` are those that LiteLLM exposes, with its labels, so that its "
    "dashboards and "
    "rules go on working.\n"
    "- Values are cut after 200 bytes.\n"
    "\n"
    "`contrib/grafana/weir.json` is a dashboard, `contrib/prometheus/weir-rules.yaml` has alerts.\n";

static const struct weir_slice type_names[] = {[WEIR_METRIC_COUNTER] = WEIR_SLICE_INIT("counter"),
                                               [WEIR_METRIC_HISTOGRAM] = WEIR_SLICE_INIT("histogram"),
                                               [WEIR_METRIC_GAUGE] = WEIR_SLICE_INIT("gauge")};

static void put(FILE *out, struct weir_slice text)
{
    (void)fwrite(text.ptr, 1, text.len, out);
}

static const char *unit_name(const struct weir_metric *metric)
{
    if (metric->unit == WEIR_METRIC_SECONDS)
        return "s";
    if (metric->unit == WEIR_METRIC_DOLLARS)
        return "dollars";
    return weir_slice_ends(metric->name, WEIR_SLICE("_bytes")) ? "bytes" : "";
}

static void put_labels(FILE *out, const struct weir_metric *metric)
{
    for (size_t i = 0; metric->labels[i] != WEIR_LABELS; i++) {
        fputs(i == 0 ? "`" : ", `", out);
        put(out, weir_label_name((weir_label)metric->labels[i]));
        fputs("`", out);
    }
}

static void put_metric(FILE *out, const struct weir_metric *metric)
{
    fputs("| `", out);
    put(out, metric->name);
    fputs("` | ", out);
    put(out, type_names[metric->type]);
    fputs(" | ", out);
    put_labels(out, metric);
    fprintf(out, " | %s | ", unit_name(metric));
    put(out, metric->prose);
    fputs(" |\n", out);
}

static void put_table(FILE *out, const char *title, bool litellm)
{
    fprintf(out, "\n## %s\n\n| name | type | labels | unit | what it is |\n| --- | --- | --- | --- | --- |\n",
            title);
    for (size_t i = 0; i < weir_metric_count(); i++)
        if (weir_slice_starts(weir_metric_at(i)->name, WEIR_SLICE("litellm_")) == litellm)
            put_metric(out, weir_metric_at(i));
}

static void put_glossary(FILE *out)
{
    fputs("\n## Labels\n\n| label | what its value is |\n| --- | --- |\n", out);
    for (size_t i = 0; i < WEIR_LABELS; i++) {
        fputs("| `", out);
        put(out, weir_label_name((weir_label)i));
        fputs("` | ", out);
        put(out, weir_label_prose((weir_label)i));
        fputs(" |\n", out);
    }
}

static void put_buckets(FILE *out)
{
    fputs("\nHistograms have the parts `_bucket`, `_sum` and `_count`, and the bounds (`le`)", out);
    for (size_t i = 0; i < WEIR_BUCKETS; i++) {
        fputs(i == 0 ? " " : ", ", out);
        put(out, weir_bucket_text(i));
    }
    fputs(".\n", out);
}

int weir_metrics_reference(FILE *out)
{
    fputs(intro, out);
    put_table(out, "weir's own", false);
    put_table(out, "Those that LiteLLM has", true);
    put_buckets(out);
    put_glossary(out);
    return ferror(out) == 0 && fflush(out) == 0 ? 0 : WEIR_ERR_IO;
}
