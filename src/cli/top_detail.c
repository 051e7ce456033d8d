/* The chosen row in full: what found no column of its own, or was cut off in it. */
#include <stdio.h>

#include "base/slice.h"
#include "cli/explain_words.h"
#include "cli/facts.h"
#include "cli/top_columns.h"

static void put(struct weir_line *line, struct weir_slice label, struct weir_slice text)
{
    if (text.len == 0)
        return;
    weir_line_put(line, label, WEIR_STYLE_DIM);
    weir_line_put(line, text, WEIR_STYLE_PLAIN);
}

static void put_cooldown(struct weir_line *line, const struct weir_top_deployment *row)
{
    char text[WEIR_DURATION_MAX];

    put(line, WEIR_SLICE(" cools "), weir_duration_text(row->cooldown_left_s, text));
    if (row->cooldown_length_s >= 0)
        put(line, WEIR_SLICE(" of "), weir_duration_text(row->cooldown_length_s, text));
    put(line, WEIR_SLICE(" after "), row->cooldown_kind);
    put(line, WEIR_SLICE(", set by "), row->cooldown_by);
    put(line, WEIR_SLICE(": "), weir_words_of_rule(row->cooldown_rule));
}

/* What it is, and whether it is in the picks. */
static void put_state(struct weir_line *line, const struct weir_top_deployment *row)
{
    weir_line_put(line, row->id, WEIR_STYLE_STRONG);
    put(line, WEIR_SLICE(" of "), row->group);
    if (row->cooling)
        put_cooldown(line, row);
    else
        put(line, WEIR_SLICE(" "),
            row->eligible ? WEIR_SLICE("is in the picks") : weir_words_of_fate(row->why));
}

/* How it did, and where it is. */
static void put_facts(struct weir_line *line, const struct weir_top_deployment *row)
{
    char room[WEIR_CELL_BYTES];
    char text[WEIR_DURATION_MAX];
    int len = snprintf(room, sizeof(room), "%llu good, %llu failed", (unsigned long long)row->successes,
                       (unsigned long long)row->failures);

    put(line, WEIR_SLICE("lately "), (struct weir_slice){room, (size_t)len});
    if (row->last_kind.len > 0 && row->last_ago_s >= 0) {
        put(line, WEIR_SLICE("; last by "), row->last_kind);
        put(line, WEIR_SLICE(" "), weir_duration_text(row->last_ago_s, text));
        weir_line_put(line, WEIR_SLICE(" ago"), WEIR_STYLE_PLAIN);
    }
    put(line, WEIR_SLICE("; "), row->model);
    put(line, WEIR_SLICE(" at "), row->api_base);
}

static void put_failover(struct weir_line *line, const struct weir_top_failover *row)
{
    weir_line_put(line, WEIR_SLICE("weir explain "), WEIR_STYLE_DIM);
    weir_line_put(line, row->call_id, WEIR_STYLE_STRONG);
    weir_line_put(line, WEIR_SLICE("  tells its story"), WEIR_STYLE_DIM);
}

static void put_group(struct weir_line *line, const struct weir_top_group *row)
{
    weir_line_put(line, WEIR_SLICE("weir explain --model "), WEIR_STYLE_DIM);
    weir_line_put(line, row->name, WEIR_STYLE_STRONG);
    weir_line_put(line, WEIR_SLICE("  tells what a request would do now"), WEIR_STYLE_DIM);
}

void weir_top_row_detail(weir_top_view view, const void *row, unsigned part, struct weir_line *line)
{
    if (view == WEIR_TOP_DEPLOYMENTS && part == 0)
        put_state(line, row);
    else if (view == WEIR_TOP_DEPLOYMENTS)
        put_facts(line, row);
    else if (view == WEIR_TOP_GROUPS && part == 0)
        put_group(line, row);
    else if (part == 0)
        put_failover(line, row);
}
