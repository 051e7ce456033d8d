/*
 * The story of a call: what became of it, then a sentence for each event, with the time since the call began
 * before it.  The sentences stand in the order of the table of events, so that an event without one does not
 * compile.
 */
#include "cli/explain_text.h"

#include <string.h>

#include <weir/event.h>

#include "base/slice.h"
#include "cli/explain_words.h"
#include "cli/facts.h"
#include "cli/print.h"

/* Candidates of a pick are compared with each other: more than weir ever notes are only counted. */
enum { CANDIDATES_MAX = 64 };

/* What a sentence is made of. */
struct telling {
    FILE *out;
    yyjson_val *event;
    bool colour;
};

static struct weir_slice text_of(const struct telling *tell, const char *key)
{
    return weir_fact_text(tell->event, key);
}

static void say(const struct telling *tell, const char *words)
{
    (void)fputs(words, tell->out);
}

static void say_text(const struct telling *tell, const char *key)
{
    weir_cli_print_slice(tell->out, text_of(tell, key));
}

static void say_deployment(const struct telling *tell)
{
    weir_words_id(tell->out, text_of(tell, "deployment"));
}

static void say_duration(const struct telling *tell, double ms)
{
    char text[WEIR_DURATION_MAX];

    weir_cli_print_slice(tell->out, weir_duration_text(ms / 1000, text));
}

static void say_until(const struct telling *tell, struct weir_slice until)
{
    double left_s = weir_time_of(until) - weir_time_of(text_of(tell, "time"));

    say(tell, "until ");
    weir_cli_print_slice(tell->out, weir_clock_of(until));
    if (left_s > 0 && text_of(tell, "time").len > 0) {
        say(tell, " (");
        say_duration(tell, left_s * 1000);
        say(tell, " more)");
    }
}

static uint64_t number_of(const struct telling *tell, const char *key)
{
    return weir_fact_count(tell->event, key);
}

static void say_attempt(const struct telling *tell)
{
    (void)fprintf(tell->out, "attempt %llu", (unsigned long long)number_of(tell, "attempt"));
    if (text_of(tell, "deployment").len > 0) {
        say(tell, " on ");
        say_deployment(tell);
    }
}

/* ---- picks ---- */

static bool is_fate(yyjson_val *candidate, struct weir_slice fate)
{
    return weir_slice_eq(weir_fact_text(candidate, "fate"), fate);
}

/* What kept it out may be another thing than its cooldown, or nothing at all. */
static void say_candidate(const struct telling *tell, yyjson_val *candidate)
{
    struct weir_slice until = weir_fact_text(candidate, "until");
    bool is_cooling = is_fate(candidate, WEIR_SLICE("cooling_down"));

    weir_words_id(tell->out, weir_fact_text(candidate, "deployment"));
    say(tell, " ");
    weir_cli_print_slice(tell->out, weir_words_of_fate(weir_fact_text(candidate, "fate")));
    if (until.len > 0) {
        say(tell, is_cooling ? " " : ", and cools down ");
        say_until(tell, until);
    }
}

/* Several with the same fate and nothing to tell them apart: one line for all. */
static void say_candidates(const struct telling *tell, yyjson_val *candidates, yyjson_val *first,
                           size_t alike)
{
    struct weir_slice fate = weir_fact_text(first, "fate");
    yyjson_val *candidate;
    size_t i, max, said = 0;

    yyjson_arr_foreach(candidates, i, max, candidate)
    {
        if (!is_fate(candidate, fate))
            continue;
        say(tell, said == 0 ? "" : said + 1 == alike ? " and " : ", ");
        weir_words_id(tell->out, weir_fact_text(candidate, "deployment"));
        said++;
    }
    say(tell, ": each ");
    weir_cli_print_slice(tell->out, weir_words_of_fate(fate));
}

/* How many have the candidate's fate and no end of it; whether it is the first of them. */
static size_t count_alike(yyjson_val *candidates, yyjson_val *candidate, bool *ret_first)
{
    struct weir_slice fate = weir_fact_text(candidate, "fate");
    yyjson_val *other;
    size_t i, max, count = 0;

    *ret_first = true;
    yyjson_arr_foreach(candidates, i, max, other)
    {
        if (!is_fate(other, fate))
            continue;
        if (weir_fact_text(other, "until").len > 0) {
            *ret_first = true;
            return 1;
        }
        if (other == candidate)
            *ret_first = count == 0;
        count++;
    }
    return count;
}

static void say_why_not(const struct telling *tell)
{
    yyjson_val *candidates = yyjson_obj_get(tell->event, "candidates");
    uint64_t omitted = number_of(tell, "omitted");
    yyjson_val *candidate;
    size_t i, max;
    bool is_first;

    if (yyjson_arr_size(candidates) > CANDIDATES_MAX) {
        omitted += yyjson_arr_size(candidates);
        candidates = NULL;
    }
    yyjson_arr_foreach(candidates, i, max, candidate)
    {
        size_t alike = count_alike(candidates, candidate, &is_first);

        bool is_chosen = is_fate(candidate, WEIR_SLICE("chosen"));

        if (!is_first || (is_chosen && weir_fact_text(candidate, "until").len == 0))
            continue;
        say(tell, WEIR_EXPLAIN_NEXT_LINE);
        if (alike > 1)
            say_candidates(tell, candidates, candidate, alike);
        else
            say_candidate(tell, candidate);
    }
    if (omitted > 0)
        (void)fprintf(tell->out, WEIR_EXPLAIN_NEXT_LINE "(%llu more candidates are not told)",
                      (unsigned long long)omitted);
}

/* What it was for, where the sentences around it do not say so. */
static void say_purpose(const struct telling *tell)
{
    struct weir_slice purpose = text_of(tell, "for");

    if (purpose.len == 0 || weir_slice_eq(purpose, WEIR_SLICE("attempt")) ||
        weir_slice_eq(purpose, WEIR_SLICE("retry")))
        return;
    purpose = weir_words_of_purpose(purpose);
    say(tell, weir_slice_starts(purpose, WEIR_SLICE("to ")) ? " " : " as ");
    weir_cli_print_slice(tell->out, purpose);
}

static void tell_PICKED(const struct telling *tell)
{
    bool is_somebody = text_of(tell, "deployment").len > 0;

    if (is_somebody)
        say_deployment(tell);
    else
        say(tell, "nobody");
    say(tell, is_somebody ? " is chosen in " : " can be chosen in ");
    say_text(tell, "group");
    say_purpose(tell);
    if (is_somebody && text_of(tell, "strategy").len > 0) {
        say(tell, ", by ");
        say_text(tell, "strategy");
    }
    say_why_not(tell);
}

/* ---- attempts ---- */

static void tell_ATTEMPT_STARTED(const struct telling *tell)
{
    say_attempt(tell);
    say(tell, " begins");
}

static void say_what_follows(const struct telling *tell)
{
    double wait_ms = weir_fact_number(tell->event, "wait_ms", 0);

    if (!weir_fact_true(tell->event, "will_retry")) {
        say(tell, "; no retry follows");
        return;
    }
    say(tell, "; a retry follows ");
    if (wait_ms > 0) {
        say(tell, "after a wait of ");
        say_duration(tell, wait_ms);
    } else {
        say(tell, "at once");
    }
}

static void tell_ATTEMPT_FAILED(const struct telling *tell)
{
    double duration_ms = weir_fact_number(tell->event, "duration_ms", -1);

    say_attempt(tell);
    if (duration_ms >= 0) {
        say(tell, " failed after ");
        say_duration(tell, duration_ms);
        say(tell, ": ");
    } else {
        say(tell, " failed: ");
    }
    weir_words_failure(tell->out, yyjson_obj_get(tell->event, "failure"));
    say_what_follows(tell);
}

static void tell_ATTEMPT_REFUSED(const struct telling *tell)
{
    say_deployment(tell);
    say(tell, " is not asked: a limit of its is used up");
    say_what_follows(tell);
}

static void tell_RETRY(const struct telling *tell)
{
    double waited_ms = weir_fact_number(tell->event, "waited_ms", 0);

    (void)fprintf(tell->out, "retry %llu of at most %llu in ", (unsigned long long)number_of(tell, "number"),
                  (unsigned long long)number_of(tell, "max"));
    say_text(tell, "group");
    if (waited_ms > 0) {
        say(tell, ", after a wait of ");
        say_duration(tell, waited_ms);
    }
}

static void tell_RETRY_REFUSED(const struct telling *tell)
{
    bool is_hedge = weir_slice_eq(text_of(tell, "what"), WEIR_SLICE("hedge"));

    (void)fprintf(tell->out, "no %s: the retry budget of ", is_hedge ? "second attempt" : "retry");
    say_text(tell, "group");
    (void)fprintf(tell->out, " is spent (%llu retries and hedges for %llu requests in ten seconds)",
                  (unsigned long long)number_of(tell, "spent"),
                  (unsigned long long)number_of(tell, "requests"));
}

static void tell_HEDGED(const struct telling *tell)
{
    say_attempt(tell);
    say(tell, " has given nothing for ");
    say_duration(tell, weir_fact_number(tell->event, "waited_ms", 0));
    say(tell, ": another one begins beside it");
}

static void tell_HEDGE_LOST(const struct telling *tell)
{
    say_attempt(tell);
    (void)fprintf(tell->out, " is stopped: attempt %llu has answered first",
                  (unsigned long long)number_of(tell, "winner"));
}

/* ---- hops and cooldowns ---- */

static void tell_FALLBACK(const struct telling *tell)
{
    yyjson_val *cause = yyjson_obj_get(tell->event, "cause");
    struct weir_slice hop = text_of(tell, "hop");

    say_text(tell, "source");
    say(tell, " is given up");
    if (cause != NULL) {
        say(tell, " after ");
        weir_words_failure(tell->out, cause);
    }
    if (weir_slice_eq(hop, WEIR_SLICE("order"))) {
        (void)fprintf(tell->out, ": on to its deployments of order %.0f",
                      weir_fact_number(tell->event, "order", 0));
        return;
    }
    say(tell, weir_slice_eq(hop, WEIR_SLICE("sibling")) ? ": on to those that have not failed yet in "
                                                        : ": fallback to ");
    say_text(tell, "target");
}

static void tell_COOLING_WAIT(const struct telling *tell)
{
    say(tell, "everyone cools down and no fallback is left: waits ");
    say_duration(tell, weir_fact_number(tell->event, "wait_ms", 0));
    say(tell, " for the first to be back");
}

static void tell_COOLDOWN_SET(const struct telling *tell)
{
    uint64_t number = number_of(tell, "number");

    say_deployment(tell);
    say(tell, " is taken out of every pick for ");
    say_duration(tell, weir_fact_number(tell->event, "length_s", 0) * 1000);
    say(tell, ", until ");
    weir_cli_print_slice(tell->out, weir_clock_of(text_of(tell, "until")));
    say(tell, ": ");
    weir_cli_print_slice(tell->out, weir_words_of_rule(text_of(tell, "rule")));
    if (number > 1)
        (void)fprintf(tell->out, "; its cooldown number %llu in a row", (unsigned long long)number);
    if (weir_fact_true(tell->event, "capped"))
        say(tell, "; the provider had asked for longer than the cap");
}

/* ---- streams and ends ---- */

static void tell_STREAM_BROKEN(const struct telling *tell)
{
    say(tell, "the stream of ");
    say_attempt(tell);
    say(tell, " broke: ");
    weir_words_failure(tell->out, yyjson_obj_get(tell->event, "failure"));
    say(tell, weir_fact_true(tell->event, "committed") ? "; the caller has a part of it"
                                                       : "; the caller has nothing of it");
}

static void tell_STREAM_RECOVERED(const struct telling *tell)
{
    say(tell, "the stream that broke is served after all, by ");
    say_attempt(tell);
}

static void tell_STREAM_CONTINUED(const struct telling *tell)
{
    say_attempt(tell);
    (void)fprintf(tell->out, " carries on the text of attempt %llu, of which the caller has %llu bytes",
                  (unsigned long long)number_of(tell, "broken"),
                  (unsigned long long)number_of(tell, "text_bytes"));
}

static void tell_SUCCEEDED(const struct telling *tell)
{
    say(tell, "the answer is complete");
    if (text_of(tell, "deployment").len > 0) {
        say(tell, ", by ");
        say_deployment(tell);
    }
}

static void tell_FAILED(const struct telling *tell)
{
    say(tell, "the call fails: ");
    weir_words_failure(tell->out, yyjson_obj_get(tell->event, "failure"));
}

/* ---- the story ---- */

static void tell_event(const struct weir_explain_out *to, yyjson_val *event)
{
    static const struct {
        struct weir_slice name;
        void (*tell)(const struct telling *tell);
    } sentences[] = {
#define X(event, name, prose) {WEIR_SLICE_INIT(name), tell_##event},
#include <weir/tbl/events.h>
#undef X
    };
    const struct telling tell = {.out = to->out, .event = event, .colour = to->colour};
    struct weir_slice kind = weir_fact_text(event, "kind");
    char ms[WEIR_DURATION_MAX];
    struct weir_slice at = weir_duration_text(weir_fact_number(event, "ms", 0) / 1000, ms);

    (void)fprintf(to->out, "%*s%.*s  ", WEIR_EXPLAIN_TIME_COLUMNS - (int)at.len, "", (int)at.len, at.ptr);
    for (size_t i = 0; i < sizeof(sentences) / sizeof(*sentences); i++) {
        if (weir_slice_eq(kind, sentences[i].name)) {
            sentences[i].tell(&tell);
            (void)fputc('\n', to->out);
            return;
        }
    }
    weir_cli_print_slice(to->out, kind);
    (void)fputc('\n', to->out);
}

/* Refused before anybody was looked for: what was asked for is no name. */
static bool is_unknown(yyjson_val *events)
{
    yyjson_val *failure = yyjson_obj_get(yyjson_arr_get_first(events), "failure");

    return yyjson_arr_size(events) == 1 &&
           weir_slice_eq(weir_fact_text(failure, "kind"), WEIR_SLICE("bad_request")) &&
           weir_slice_eq(weir_fact_text(failure, "origin"), WEIR_SLICE("router"));
}

void weir_explain_call(const struct weir_explain_out *to, yyjson_val *call)
{
    yyjson_val *events = yyjson_obj_get(call, "events");
    uint64_t lost = weir_fact_count(call, "events_lost");
    yyjson_val *event;
    size_t i, max;

    weir_words_call(to, call);
    (void)fputc('\n', to->out);
    yyjson_arr_foreach(events, i, max, event) tell_event(to, event);
    if (is_unknown(events))
        (void)fprintf(to->out, "%*snothing is called so; GET /v1/models has the names\n",
                      WEIR_EXPLAIN_TIME_COLUMNS + 2 + 2, "");
    if (max == 0)
        (void)fputs("It never came to a deployment: nothing happened that could be told.\n", to->out);
    if (lost > 0)
        (void)fprintf(to->out, "%*s(%llu events are lost: there was no room for them)\n",
                      WEIR_EXPLAIN_TIME_COLUMNS + 2, "", (unsigned long long)lost);
}
