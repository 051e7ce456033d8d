/* The words stand in the tables of include/weir; what a newer weir has there besides is shown by its name. */
#include "cli/explain_words.h"

#include <weir/candidate.h>

#include "base/slice.h"
#include "cli/facts.h"
#include "cli/print.h"

struct word {
    struct weir_slice name;
    struct weir_slice prose;
};

static struct weir_slice find(const struct word *words, size_t count, struct weir_slice name)
{
    for (size_t i = 0; i < count; i++)
        if (weir_slice_eq(words[i].name, name))
            return words[i].prose;
    return name;
}

#define X(row, name, prose) {WEIR_SLICE_INIT(name), WEIR_SLICE_INIT(prose)},

struct weir_slice weir_words_of_fate(struct weir_slice name)
{
    static const struct word words[] = {
#include <weir/tbl/fates.h>
    };

    return find(words, sizeof(words) / sizeof(*words), name);
}

struct weir_slice weir_words_of_purpose(struct weir_slice name)
{
    static const struct word words[] = {
#include <weir/tbl/pick_purposes.h>
    };

    return find(words, sizeof(words) / sizeof(*words), name);
}

struct weir_slice weir_words_of_rule(struct weir_slice name)
{
    static const struct word words[] = {
#include <weir/tbl/cooldown_rules.h>
    };

    return find(words, sizeof(words) / sizeof(*words), name);
}

#undef X

void weir_words_id(FILE *out, struct weir_slice id)
{
    char text[WEIR_SHORT_ID_MAX];

    weir_cli_print_slice(out, weir_short_id(id, text));
}

/* Whose failure it is, where it is not a provider's. */
static const char *whose(struct weir_slice origin)
{
    if (weir_slice_eq(origin, WEIR_SLICE("router")))
        return " by weir itself";
    if (weir_slice_eq(origin, WEIR_SLICE("caller_limit")))
        return " by the caller's own limit";
    return weir_slice_eq(origin, WEIR_SLICE("client_gone")) ? " as the caller left" : "";
}

void weir_words_failure(FILE *out, yyjson_val *failure)
{
    uint64_t status = weir_fact_count(failure, "status");
    double retry_after_s = weir_fact_number(failure, "retry_after_s", -1);
    struct weir_slice kind = weir_fact_text(failure, "kind");
    char text[WEIR_DURATION_MAX];

    weir_cli_print_slice(out, kind.len > 0 ? kind : WEIR_SLICE("a failure"));
    if (status > 0)
        (void)fprintf(out, " (%llu", (unsigned long long)status);
    if (status > 0 && retry_after_s >= 0) {
        (void)fputs(", retry after ", out);
        weir_cli_print_slice(out, weir_duration_text(retry_after_s, text));
    }
    (void)fputs(status > 0 ? ")" : "", out);
    (void)fputs(whose(weir_fact_text(failure, "origin")), out);
}

static void say_time(FILE *out, struct weir_slice time)
{
    weir_cli_print_slice(out, weir_slice_sub(time, 0, 10));
    (void)fputc(' ', out);
    weir_cli_print_slice(out, weir_slice_sub(time, 11, time.len > 0 ? time.len - 1 : 0));
    (void)fputs(" UTC", out);
}

static void say_count(FILE *out, yyjson_val *call, const char *key, const char *one, const char *many)
{
    uint64_t count = weir_fact_count(call, key);

    (void)fprintf(out, ", %llu %s", (unsigned long long)count, count == 1 ? one : many);
}

static void say_end(const struct weir_explain_out *to, yyjson_val *call)
{
    struct weir_slice state = weir_fact_text(call, "state");
    bool is_good = weir_slice_eq(state, WEIR_SLICE("succeeded"));
    struct weir_slice kind = weir_fact_text(call, "kind");
    uint64_t status = weir_fact_count(call, "status");

    (void)fputs(!to->colour ? "" : is_good ? "\033[32m" : "\033[31m", to->out);
    if (weir_slice_eq(state, WEIR_SLICE("client_gone")))
        (void)fputs("the client left", to->out);
    else
        weir_cli_print_slice(to->out, state);
    (void)fputs(to->colour ? "\033[0m" : "", to->out);
    if (status > 0)
        (void)fprintf(to->out, " with %llu", (unsigned long long)status);
    if (kind.len > 0) {
        (void)fputs(" ", to->out);
        weir_cli_print_slice(to->out, kind);
    }
}

static void say_cost(FILE *out, yyjson_val *call)
{
    uint64_t in = weir_fact_count(call, "prompt_tokens"), answer = weir_fact_count(call, "completion_tokens");
    double cost = weir_fact_number(call, "cost", 0);

    if (in > 0)
        (void)fprintf(out, ", %llu tokens in", (unsigned long long)in);
    if (answer > 0)
        (void)fprintf(out, ", %llu tokens out", (unsigned long long)answer);
    if (cost > 0)
        (void)fprintf(out, ", $%.6g", cost);
}

void weir_words_call(const struct weir_explain_out *to, yyjson_val *call)
{
    struct weir_slice by = weir_fact_text(call, "deployment"), group = weir_fact_text(call, "group");
    struct weir_slice model = weir_fact_text(call, "model");
    double first_ms = weir_fact_number(call, "first_ms", -1);
    char text[WEIR_DURATION_MAX];

    (void)fputs("call ", to->out);
    weir_cli_print_slice(to->out, weir_fact_text(call, "call_id"));
    (void)fputs(model.len > 0 ? " asked for " : " asked for no model that could be read", to->out);
    weir_cli_print_slice(to->out, model);
    (void)fputs(weir_fact_true(call, "stream") ? " (a stream, " : " (", to->out);
    weir_cli_print_slice(to->out, weir_fact_text(call, "route"));
    (void)fputs(") at ", to->out);
    say_time(to->out, weir_fact_text(call, "time"));
    (void)fputc('\n', to->out);
    say_end(to, call);
    if (by.len > 0) {
        (void)fputs(" by ", to->out);
        weir_words_id(to->out, by);
        (void)fputs(" of ", to->out);
        weir_cli_print_slice(to->out, group);
    }
    (void)fputs(" after ", to->out);
    weir_cli_print_slice(to->out, weir_duration_text(weir_fact_number(call, "duration_ms", 0) / 1000, text));
    if (first_ms >= 0) {
        (void)fputs(", the first content after ", to->out);
        weir_cli_print_slice(to->out, weir_duration_text(first_ms / 1000, text));
    }
    say_count(to->out, call, "attempts", "attempt", "attempts");
    say_count(to->out, call, "retries", "retry", "retries");
    say_count(to->out, call, "fallbacks", "fallback", "fallbacks");
    say_cost(to->out, call);
    (void)fputc('\n', to->out);
}
