/* What a request for a name would do now, in the order in which it would. */
#include "cli/explain_text.h"

#include "base/slice.h"
#include "cli/explain_words.h"
#include "cli/facts.h"
#include "cli/print.h"

/* More kinds of failures than any weir has: what has more is not weir's, and is not told. */
enum { RETRIES_MAX = 256 };

static void say(const struct weir_explain_out *to, struct weir_slice text)
{
    weir_cli_print_slice(to->out, text);
}

static void say_resolution(const struct weir_explain_out *to, yyjson_val *answer)
{
    static const struct {
        struct weir_slice how;
        const char *words;
    } ways[] = {{WEIR_SLICE_INIT("group"), "a group"},
                {WEIR_SLICE_INIT("alias"), "an alias of the group "},
                {WEIR_SLICE_INIT("pattern"), "a name that falls under the pattern "},
                {WEIR_SLICE_INIT("id"), "the id of one deployment, of the group "},
                {WEIR_SLICE_INIT("routing_group"), "a routing group"},
                {WEIR_SLICE_INIT("model"), "what providers call the model of some deployments"},
                {WEIR_SLICE_INIT("fallback_star"), "unknown, and left to the fallbacks of `*`"},
                {WEIR_SLICE_INIT("unknown"), "unknown: a request for it is refused"}};
    yyjson_val *resolution = yyjson_obj_get(answer, "resolution");
    struct weir_slice how = weir_fact_text(resolution, "how");

    say(to, weir_fact_text(answer, "asked"));
    (void)fputs(" is ", to->out);
    for (size_t i = 0; i < sizeof(ways) / sizeof(*ways); i++)
        if (weir_slice_eq(how, ways[i].how))
            (void)fputs(ways[i].words, to->out);
    if (weir_slice_eq(how, WEIR_SLICE("pattern")))
        say(to, weir_fact_text(resolution, "pattern"));
    else if (weir_slice_eq(how, WEIR_SLICE("alias")) || weir_slice_eq(how, WEIR_SLICE("id")))
        say(to, weir_fact_text(resolution, "group"));
    if (weir_fact_text(answer, "strategy").len > 0) {
        (void)fputs("; the strategy ", to->out);
        say(to, weir_fact_text(answer, "strategy"));
        (void)fputs(" chooses", to->out);
    }
    (void)fputc('\n', to->out);
}

static void say_candidate(const struct weir_explain_out *to, yyjson_val *candidate)
{
    double odds = weir_fact_number(candidate, "odds", 0);
    struct weir_slice until = weir_fact_text(candidate, "until");

    if (odds > 0)
        (void)fprintf(to->out, "  %5.1f %%  ", odds * 100);
    else
        (void)fputs("        -  ", to->out);
    weir_words_id(to->out, weir_fact_text(candidate, "deployment"));
    if (weir_fact_text(candidate, "model").len > 0) {
        (void)fputs(" (", to->out);
        say(to, weir_fact_text(candidate, "model"));
        (void)fputc(')', to->out);
    }
    if (yyjson_is_num(yyjson_obj_get(candidate, "order")))
        (void)fprintf(to->out, ", order %.0f,", weir_fact_number(candidate, "order", 0));
    (void)fputc(' ', to->out);
    say(to, weir_words_of_fate(weir_fact_text(candidate, "fate")));
    if (until.len > 0) {
        (void)fputs(" until ", to->out);
        say(to, weir_clock_of(until));
    }
    (void)fputc('\n', to->out);
}

static void say_candidates(const struct weir_explain_out *to, yyjson_val *answer)
{
    yyjson_val *candidates = yyjson_obj_get(answer, "candidates");
    uint64_t omitted = weir_fact_count(answer, "omitted");
    yyjson_val *candidate;
    size_t i, max;

    yyjson_arr_foreach(candidates, i, max, candidate) say_candidate(to, candidate);
    if (omitted > 0)
        (void)fprintf(to->out, "           (%llu more candidates are not told)\n",
                      (unsigned long long)omitted);
}

/* Another kind before this one has as many. */
static bool is_said(yyjson_val *retries, size_t before, double count)
{
    yyjson_val *key, *value;
    size_t i, max;

    yyjson_obj_foreach(retries, i, max, key,
                       value) if (i < before && yyjson_get_num(value) == count) return true;
    return false;
}

/* The kinds with so many retries, in one line. */
static void say_kinds(const struct weir_explain_out *to, yyjson_val *retries, double count)
{
    yyjson_val *key, *value;
    size_t i, max, said = 0;

    (void)fprintf(to->out, "up to %.0f %s after", count, count == 1 ? "retry" : "retries");
    yyjson_obj_foreach(retries, i, max, key, value)
    {
        if (yyjson_get_num(value) != count)
            continue;
        (void)fputs(said++ == 0 ? " " : ", ", to->out);
        say(to, weir_fact_string(key));
    }
    (void)fputc('\n', to->out);
}

/* Of {"rate_limit": 3, ...} a line for each number. */
static void say_retries(const struct weir_explain_out *to, yyjson_val *answer)
{
    yyjson_val *retries = yyjson_obj_get(answer, "retries");
    yyjson_val *key, *value;
    size_t i, max;

    if (yyjson_obj_size(retries) > RETRIES_MAX)
        return;
    yyjson_obj_foreach(retries, i, max, key, value) if (!is_said(retries, i, yyjson_get_num(value)))
        say_kinds(to, retries, yyjson_get_num(value));
}

static void say_chain(const struct weir_explain_out *to, yyjson_val *answer, const char *name,
                      const char *words)
{
    yyjson_val *chain = yyjson_obj_get(yyjson_obj_get(answer, "chains"), name);
    yyjson_val *target;
    size_t i, max;

    if (!yyjson_is_arr(chain))
        return;
    (void)fputs(words, to->out);
    (void)fputs(yyjson_arr_size(chain) == 0 ? " nowhere to go" : "", to->out);
    yyjson_arr_foreach(chain, i, max, target)
    {
        (void)fputs(i == 0 ? " " : ", then ", to->out);
        say(to, weir_fact_string(target));
    }
    (void)fputc('\n', to->out);
}

void weir_explain_model(const struct weir_explain_out *to, yyjson_val *answer)
{
    say_resolution(to, answer);
    say_candidates(to, answer);
    say_retries(to, answer);
    if (yyjson_arr_size(yyjson_obj_get(answer, "candidates")) > 0 ||
        yyjson_arr_size(yyjson_obj_get(yyjson_obj_get(answer, "chains"), "fallbacks")) > 0)
        say_chain(to, answer, "fallbacks", "when all of that fails:");
    say_chain(to, answer, "context_window_fallbacks", "when the prompt is too long:");
    say_chain(to, answer, "content_policy_fallbacks", "when a content policy forbids the answer:");
    if (weir_fact_text(answer, "sentence").len > 0) {
        (void)fputc('\n', to->out);
        say(to, weir_fact_text(answer, "sentence"));
        (void)fputc('\n', to->out);
    }
}
