/* A function for each column of the table; those of the three kinds of row stand together. */
#include "cli/top_columns.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>

#include "base/slice.h"
#include "cli/facts.h"

#define ROW(type) const type *r = row

typedef struct weir_top_deployment DEPLOYMENTS_row;
typedef struct weir_top_group GROUPS_row;
typedef struct weir_top_failover FAILOVERS_row;

/* A column that shows a member by a function, and one that is sorted by it. */
#define SHOWN_CELL(view, name, print, member)                                                                \
    static struct weir_slice cell_##view##_##name(const void *row, char room[WEIR_CELL_BYTES])               \
    {                                                                                                        \
        return print(room, ((const view##_row *)row)->member);                                               \
    }
#define NUMBER_KEY(view, name, member)                                                                       \
    static double key_##view##_##name(const void *row)                                                       \
    {                                                                                                        \
        return (double)((const view##_row *)row)->member;                                                    \
    }

static const struct weir_slice NOTHING = WEIR_SLICE_INIT("-");

__attribute__((format(printf, 2, 3))) static struct weir_slice print(char room[WEIR_CELL_BYTES],
                                                                     const char *format, ...)
{
    va_list arguments;
    int len;

    va_start(arguments, format);
    len = vsnprintf(room, WEIR_CELL_BYTES, format, arguments);
    va_end(arguments);
    return (struct weir_slice){room, len < WEIR_CELL_BYTES ? (size_t)len : WEIR_CELL_BYTES - 1};
}

/* Long names are cut here, as cells are. */
static int short_len(struct weir_slice text)
{
    return text.len < 64 ? (int)text.len : 64;
}

static struct weir_slice print_name(char room[WEIR_CELL_BYTES], struct weir_slice name)
{
    return weir_short_id(name, room);
}

static struct weir_slice print_count(char room[WEIR_CELL_BYTES], uint64_t count)
{
    if (count < 100000)
        return print(room, "%llu", (unsigned long long)count);
    if (count < 10000000)
        return print(room, "%.0fk", (double)count / 1e3);
    return print(room, "%.0fM", (double)count / 1e6);
}

static struct weir_slice print_share(char room[WEIR_CELL_BYTES], double share)
{
    return share < 0 ? NOTHING : print(room, "%.0f%%", share * 100);
}

static struct weir_slice print_seconds(char room[WEIR_CELL_BYTES], double seconds)
{
    return seconds <= 0 ? NOTHING : weir_duration_text(seconds, room);
}

/* In seconds however many: those that a strategy adds for a timeout are to be seen as what they are. */
static struct weir_slice print_latency(char room[WEIR_CELL_BYTES], double seconds)
{
    return seconds < 59.95 ? print_seconds(room, seconds) : print(room, "%.0f s", seconds);
}

static struct weir_slice print_used(char room[WEIR_CELL_BYTES], uint64_t used, uint64_t limit)
{
    char most[WEIR_CELL_BYTES];
    struct weir_slice text = print_count(room, used), of;

    if (limit == 0)
        return text;
    of = print_count(most, limit);
    (void)snprintf(room + text.len, WEIR_CELL_BYTES - text.len, "/%.*s", (int)of.len, of.ptr);
    return (struct weir_slice){room, text.len + 1 + of.len};
}

/* ---- deployments ---- */

SHOWN_CELL(DEPLOYMENTS, group, print_name, group)
SHOWN_CELL(DEPLOYMENTS, id, print_name, id)

static struct weir_slice cell_DEPLOYMENTS_state(const void *row, char room[WEIR_CELL_BYTES])
{
    ROW(DEPLOYMENTS_row);
    struct weir_slice cause = r->cooldown_kind.len > 0 ? r->cooldown_kind : r->cooldown_by;
    char left[WEIR_DURATION_MAX];
    struct weir_slice rest;

    if (!r->cooling)
        return r->eligible ? WEIR_SLICE("ok") : r->why.len > 0 ? r->why : WEIR_SLICE("not eligible");
    rest = weir_duration_text(ceil(r->cooldown_left_s), left);
    if (cause.len == 0)
        return print(room, "cools %.*s", (int)rest.len, rest.ptr);
    return print(room, "cools %.*s %s%.*s", (int)rest.len, rest.ptr, r->cooldown_kind.len > 0 ? "" : "by ",
                 short_len(cause), cause.ptr);
}

/* The longer it is out, the more it matters. */
static double key_DEPLOYMENTS_state(const void *row)
{
    ROW(DEPLOYMENTS_row);

    if (r->cooling)
        return 2 + r->cooldown_left_s;
    return r->eligible ? 0 : 1;
}

SHOWN_CELL(DEPLOYMENTS, flight, print_count, in_flight)
NUMBER_KEY(DEPLOYMENTS, flight, in_flight)
SHOWN_CELL(DEPLOYMENTS, latency, print_latency, latency_s)
NUMBER_KEY(DEPLOYMENTS, latency, latency_s)
SHOWN_CELL(DEPLOYMENTS, ttft, print_latency, ttft_s)
NUMBER_KEY(DEPLOYMENTS, ttft, ttft_s)
SHOWN_CELL(DEPLOYMENTS, fails, print_share, failure_share)
NUMBER_KEY(DEPLOYMENTS, fails, failure_share)

static struct weir_slice cell_DEPLOYMENTS_requests(const void *row, char room[WEIR_CELL_BYTES])
{
    ROW(DEPLOYMENTS_row);

    return print_used(room, r->requests, r->rpm);
}

NUMBER_KEY(DEPLOYMENTS, requests, requests)

static struct weir_slice cell_DEPLOYMENTS_tokens(const void *row, char room[WEIR_CELL_BYTES])
{
    ROW(DEPLOYMENTS_row);

    return print_used(room, r->tokens, r->tpm);
}

NUMBER_KEY(DEPLOYMENTS, tokens, tokens)
SHOWN_CELL(DEPLOYMENTS, odds, print_share, odds)
NUMBER_KEY(DEPLOYMENTS, odds, odds)

static struct weir_slice cell_DEPLOYMENTS_last(const void *row, char room[WEIR_CELL_BYTES])
{
    ROW(DEPLOYMENTS_row);
    char text[WEIR_DURATION_MAX];
    struct weir_slice ago;

    if (r->last_kind.len == 0)
        return NOTHING;
    ago = weir_duration_text(floor(r->last_ago_s), text);
    return print(room, "%.*s %llu, %.*s ago", short_len(r->last_kind), r->last_kind.ptr,
                 (unsigned long long)r->last_status, (int)ago.len, ago.ptr);
}

/* The newest first. */
static double key_DEPLOYMENTS_last(const void *row)
{
    ROW(DEPLOYMENTS_row);

    return r->last_kind.len == 0 ? -HUGE_VAL : -r->last_ago_s;
}

SHOWN_CELL(DEPLOYMENTS, model, print_name, model)
SHOWN_CELL(DEPLOYMENTS, provider, print_name, provider)

/* ---- groups ---- */

SHOWN_CELL(GROUPS, name, print_name, name)

static struct weir_slice cell_GROUPS_eligible(const void *row, char room[WEIR_CELL_BYTES])
{
    ROW(GROUPS_row);

    return print(room, "%zu/%zu", r->eligible, r->count);
}

static double key_GROUPS_eligible(const void *row)
{
    ROW(GROUPS_row);

    return r->count == 0 ? 0 : (double)r->eligible / (double)r->count;
}

static struct weir_slice cell_GROUPS_trouble(const void *row, char room[WEIR_CELL_BYTES])
{
    ROW(GROUPS_row);
    char left[WEIR_DURATION_MAX];
    struct weir_slice rest = weir_duration_text(ceil(r->back_in_s), left);

    if (r->cooling > 0 && r->eligible == 0)
        return print(room, "out, back in %.*s", (int)rest.len, rest.ptr);
    if (r->eligible == 0)
        return WEIR_SLICE("out");
    if (r->cooling > 0)
        return print(room, "%zu cool%s, back in %.*s", r->cooling, r->cooling == 1 ? "s" : "", (int)rest.len,
                     rest.ptr);
    return r->eligible < r->count ? print(room, "%zu not eligible", r->count - r->eligible)
                                  : WEIR_SLICE("ok");
}

static double key_GROUPS_trouble(const void *row)
{
    ROW(GROUPS_row);

    return r->count == 0 ? 1 : 1 - (double)r->eligible / (double)r->count;
}

SHOWN_CELL(GROUPS, flight, print_count, in_flight)
NUMBER_KEY(GROUPS, flight, in_flight)
SHOWN_CELL(GROUPS, fails, print_share, failure_share)
NUMBER_KEY(GROUPS, fails, failure_share)
SHOWN_CELL(GROUPS, requests, print_count, requests)
NUMBER_KEY(GROUPS, requests, requests)
SHOWN_CELL(GROUPS, tokens, print_count, tokens)
NUMBER_KEY(GROUPS, tokens, tokens)
SHOWN_CELL(GROUPS, strategy, print_name, strategy)

/* ---- failovers ---- */

static struct weir_slice cell_FAILOVERS_time(const void *row, char room[WEIR_CELL_BYTES])
{
    ROW(FAILOVERS_row);

    return weir_short_id(weir_clock_of(r->time), room);
}

static double key_FAILOVERS_time(const void *row)
{
    ROW(FAILOVERS_row);

    return weir_time_of(r->time);
}

SHOWN_CELL(FAILOVERS, model, print_name, model)

static struct weir_slice cell_FAILOVERS_by(const void *row, char room[WEIR_CELL_BYTES])
{
    ROW(FAILOVERS_row);

    return r->deployment.len > 0 ? weir_short_id(r->deployment, room) : NOTHING;
}

static struct weir_slice cell_FAILOVERS_result(const void *row, char room[WEIR_CELL_BYTES])
{
    ROW(FAILOVERS_row);

    if (r->kind.len == 0)
        return print(room, "%llu", (unsigned long long)r->status);
    return print(room, "%llu %.*s", (unsigned long long)r->status, short_len(r->kind), r->kind.ptr);
}

NUMBER_KEY(FAILOVERS, result, status)

static struct weir_slice cell_FAILOVERS_how(const void *row, char room[WEIR_CELL_BYTES])
{
    ROW(FAILOVERS_row);

    if (r->fallbacks > 0)
        return print(room, "%llu, %llu fallback%s", (unsigned long long)r->attempts,
                     (unsigned long long)r->fallbacks, r->fallbacks == 1 ? "" : "s");
    if (r->recovery.len > 0)
        return print(room, "%llu, %.*s", (unsigned long long)r->attempts, short_len(r->recovery),
                     r->recovery.ptr);
    return print(room, "%llu", (unsigned long long)r->attempts);
}

static double key_FAILOVERS_how(const void *row)
{
    ROW(FAILOVERS_row);

    return (double)(r->attempts + r->fallbacks);
}

static struct weir_slice cell_FAILOVERS_span(const void *row, char room[WEIR_CELL_BYTES])
{
    ROW(FAILOVERS_row);

    return r->duration_ms < 0 ? NOTHING : weir_duration_text(r->duration_ms / 1000, room);
}

NUMBER_KEY(FAILOVERS, span, duration_ms)
SHOWN_CELL(FAILOVERS, call, print_name, call_id)

/* ---- the table ---- */

/* Columns that are sorted by their text. */
#define key_DEPLOYMENTS_group    NULL
#define key_DEPLOYMENTS_id       NULL
#define key_DEPLOYMENTS_model    NULL
#define key_DEPLOYMENTS_provider NULL
#define key_GROUPS_name          NULL
#define key_GROUPS_strategy      NULL
#define key_FAILOVERS_model      NULL
#define key_FAILOVERS_by         NULL
#define key_FAILOVERS_call       NULL

struct weir_top_columns weir_top_columns_of(weir_top_view view)
{
    enum { LEFT, RIGHT, UP = 0, DOWN };
#define COLUMN(view, name, title, least, rank, align, order)                                                 \
    {WEIR_SLICE_INIT(title), least, rank, align, order, cell_##view##_##name, key_##view##_##name},
#define ONLY_DEPLOYMENTS(...) COLUMN(__VA_ARGS__)
#define ONLY_GROUPS(...)
#define ONLY_FAILOVERS(...)
#define X(view, ...) ONLY_##view(view, __VA_ARGS__)
    static const struct weir_top_column deployments[] = {
#include "cli/tbl/top_columns.h"
    };
#undef ONLY_DEPLOYMENTS
#undef ONLY_GROUPS
#define ONLY_DEPLOYMENTS(...)
#define ONLY_GROUPS(...) COLUMN(__VA_ARGS__)
    static const struct weir_top_column groups[] = {
#include "cli/tbl/top_columns.h"
    };
#undef ONLY_GROUPS
#undef ONLY_FAILOVERS
#define ONLY_GROUPS(...)
#define ONLY_FAILOVERS(...) COLUMN(__VA_ARGS__)
    static const struct weir_top_column failovers[] = {
#include "cli/tbl/top_columns.h"
    };
#undef X
    static const struct weir_top_columns all[WEIR_TOP_VIEWS] = {
        [WEIR_TOP_DEPLOYMENTS] = {deployments, sizeof(deployments) / sizeof(*deployments), 2},
        [WEIR_TOP_GROUPS] = {groups, sizeof(groups) / sizeof(*groups), 2},
        [WEIR_TOP_FAILOVERS] = {failovers, sizeof(failovers) / sizeof(*failovers), 0},
    };

    return all[view];
}

/* ---- rows ---- */

size_t weir_top_row_count(const struct weir_top_model *model, weir_top_view view)
{
    if (view == WEIR_TOP_DEPLOYMENTS)
        return model->deployment_count;
    return view == WEIR_TOP_GROUPS ? model->group_count : model->failover_count;
}

const void *weir_top_row(const struct weir_top_model *model, weir_top_view view, size_t number)
{
    if (view == WEIR_TOP_DEPLOYMENTS)
        return &model->deployments[number];
    return view == WEIR_TOP_GROUPS ? (const void *)&model->groups[number]
                                   : (const void *)&model->failovers[number];
}

weir_style weir_top_row_style(weir_top_view view, const void *row)
{
    const struct weir_top_deployment *deployment = row;
    const struct weir_top_group *group = row;
    const struct weir_top_failover *failover = row;

    if (view == WEIR_TOP_DEPLOYMENTS)
        return deployment->cooling || !deployment->eligible ? WEIR_STYLE_BAD : WEIR_STYLE_PLAIN;
    if (view == WEIR_TOP_GROUPS)
        return group->eligible == 0             ? WEIR_STYLE_BAD
               : group->eligible < group->count ? WEIR_STYLE_WARN
                                                : WEIR_STYLE_PLAIN;
    return failover->kind.len > 0 || failover->status >= 400 ? WEIR_STYLE_BAD : WEIR_STYLE_PLAIN;
}

bool weir_top_row_has(weir_top_view view, const void *row, struct weir_slice text)
{
    const struct weir_top_columns columns = weir_top_columns_of(view);
    char room[WEIR_CELL_BYTES];

    for (size_t i = 0; i < columns.count; i++)
        if (!columns.list[i].right &&
            weir_slice_find_ci(columns.list[i].cell(row, room), text) != WEIR_SLICE_NONE)
            return true;
    return false;
}
