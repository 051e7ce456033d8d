/* One line a call, in columns that fit names of usual length; a longer one moves the rest of its line. */
#include "cli/explain_text.h"

#include "base/slice.h"
#include "cli/cells.h"
#include "cli/facts.h"
#include "cli/print.h"

/* What weir answers at most. */
enum { CALLS_MAX = 1000 };

static void say_cell(FILE *out, struct weir_slice text, unsigned columns)
{
    unsigned used = weir_cells_of(text);

    weir_cli_print_slice(out, text.len > 0 ? text : WEIR_SLICE("-"));
    used = text.len > 0 ? used : 1;
    (void)fprintf(out, "%*s", (int)(used < columns ? columns - used : 0) + 2, "");
}

static void say_took(FILE *out, yyjson_val *call)
{
    static const struct {
        const char *key;
        const char *one;
        const char *many;
    } counts[] = {{"attempts", "attempt", "attempts"},
                  {"retries", "retry", "retries"},
                  {"fallbacks", "fallback", "fallbacks"}};
    bool is_first = true;

    for (size_t i = 0; i < sizeof(counts) / sizeof(*counts); i++) {
        uint64_t count = weir_fact_count(call, counts[i].key);

        if (count == 0 && i > 0)
            continue;
        (void)fprintf(out, "%s%llu %s", is_first ? "" : ", ", (unsigned long long)count,
                      count == 1 ? counts[i].one : counts[i].many);
        is_first = false;
    }
    (void)fputc('\n', out);
}

static void say_call(const struct weir_explain_out *to, yyjson_val *call)
{
    struct weir_slice kind = weir_fact_text(call, "kind");
    bool is_bad = !weir_slice_eq(weir_fact_text(call, "state"), WEIR_SLICE("succeeded"));
    uint64_t status = weir_fact_count(call, "status");
    char text[WEIR_DURATION_MAX], id[WEIR_SHORT_ID_MAX];

    say_cell(to->out, weir_clock_of(weir_fact_text(call, "time")), 8);
    say_cell(to->out, weir_fact_text(call, "call_id"), 36);
    say_cell(to->out, weir_fact_text(call, "model"), 20);
    (void)fputs(to->colour && is_bad ? "\033[31m" : "", to->out);
    (void)fprintf(to->out, "%-5llu", (unsigned long long)status);
    say_cell(to->out, kind.len > 0 ? kind : weir_fact_text(call, "state"), 15);
    (void)fputs(to->colour && is_bad ? "\033[0m" : "", to->out);
    say_cell(to->out, weir_short_id(weir_fact_text(call, "deployment"), id), 20);
    say_cell(to->out, weir_duration_text(weir_fact_number(call, "duration_ms", 0) / 1000, text), 8);
    say_took(to->out, call);
}

void weir_explain_calls(const struct weir_explain_out *to, yyjson_val *answer)
{
    yyjson_val *calls = yyjson_obj_get(answer, "calls");
    yyjson_val *call;
    size_t i, max;

    if (weir_fact_count(answer, "max") == 0) {
        (void)fputs("weir keeps no calls: its weir_settings.trace_calls is 0.\n", to->out);
        return;
    }
    yyjson_arr_foreach(calls, i, max, call) if (i < CALLS_MAX) say_call(to, call);
    if (max == 0)
        (void)fputs("There is no such call.\n", to->out);
    (void)fprintf(to->out, "weir remembers %llu calls (at most %llu), since ",
                  (unsigned long long)weir_fact_count(answer, "kept"),
                  (unsigned long long)weir_fact_count(answer, "max"));
    weir_cli_print_slice(to->out, weir_fact_text(answer, "since"));
    (void)fputs(". `weir explain CALL_ID` tells the story of one.\n", to->out);
}
