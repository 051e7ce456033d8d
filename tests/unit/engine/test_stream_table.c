/*
 * Every row of engine/tbl/stream.h, driven through a call.
 *
 * The state in which an input leaves a stream is not to be seen, but its clocks are: with a limit of its own
 * for each of them, the time at which a stream that falls silent is broken off, and what becomes of it then,
 * tell the state.  What each row should lead to is written down here a second time; a row that is new has no
 * entry and fails.
 */
#include "engine_kit.h"

#include <stdio.h>

#include "base/time.h"

enum state {
    NOWHERE, /* what is not written down leads there */
#define WEIR_STREAM_STATE(state, stream_clocks, plain_clocks, prose) IN_##state,
#define WEIR_STREAM_END(state, prose)                                IN_##state,
#include "engine/tbl/stream.h"
    STATES
};

static const char *const state_names[STATES] = {
#define WEIR_STREAM_STATE(state, stream_clocks, plain_clocks, prose) [IN_##state] = #state,
#define WEIR_STREAM_END(state, prose)                                [IN_##state] = #state,
#include "engine/tbl/stream.h"
};

enum input {
#define WEIR_STREAM_INPUT(input, prose) ON_##input,
#include "engine/tbl/stream.h"
    INPUTS
};

/* What the rules say (reliability.md, Streams; router-semantics 14; decisions 29; beyond.md 1 and 2). */
static const enum state expected[STATES][INPUTS] = {
    [IN_ASKED] = {[ON_OPENED] = IN_OPEN,
                  [ON_CHUNK] = IN_BEGUN,
                  [ON_CONTENT] = IN_HOLDING,
                  [ON_WINDOW_OVER] = IN_ASKED,
                  [ON_FINISH] = IN_ENDING,
                  [ON_FINISHED] = IN_DONE,
                  [ON_FAILED] = IN_BROKEN,
                  [ON_LATE] = IN_BROKEN,
                  [ON_STOP] = IN_STOPPED},
    [IN_OPEN] = {[ON_OPENED] = IN_OPEN,
                 [ON_CHUNK] = IN_BEGUN,
                 [ON_CONTENT] = IN_HOLDING,
                 [ON_WINDOW_OVER] = IN_OPEN,
                 [ON_FINISH] = IN_ENDING,
                 [ON_FINISHED] = IN_DONE,
                 [ON_FAILED] = IN_BROKEN,
                 [ON_LATE] = IN_BROKEN,
                 [ON_STOP] = IN_STOPPED},
    [IN_BEGUN] = {[ON_OPENED] = IN_BEGUN,
                  [ON_CHUNK] = IN_BEGUN,
                  [ON_CONTENT] = IN_HOLDING,
                  [ON_WINDOW_OVER] = IN_BEGUN,
                  [ON_FINISH] = IN_ENDING,
                  [ON_FINISHED] = IN_DONE,
                  [ON_FAILED] = IN_BROKEN,
                  [ON_LATE] = IN_BROKEN,
                  [ON_STOP] = IN_STOPPED},
    [IN_HOLDING] = {[ON_OPENED] = IN_HOLDING,
                    [ON_CHUNK] = IN_HOLDING,
                    [ON_CONTENT] = IN_HOLDING,
                    [ON_WINDOW_OVER] = IN_FLOWING,
                    [ON_FINISH] = IN_ENDING,
                    [ON_FINISHED] = IN_DONE,
                    [ON_FAILED] = IN_BROKEN,
                    [ON_LATE] = IN_BROKEN,
                    [ON_STOP] = IN_STOPPED},
    [IN_FLOWING] = {[ON_OPENED] = IN_FLOWING,
                    [ON_CHUNK] = IN_FLOWING,
                    [ON_CONTENT] = IN_FLOWING,
                    [ON_WINDOW_OVER] = IN_FLOWING,
                    [ON_FINISH] = IN_ENDING,
                    [ON_FINISHED] = IN_DONE,
                    [ON_FAILED] = IN_CUT,
                    [ON_LATE] = IN_CUT,
                    [ON_STOP] = IN_STOPPED},
    [IN_ENDING] = {[ON_OPENED] = IN_ENDING,
                   [ON_CHUNK] = IN_ENDING,
                   [ON_CONTENT] = IN_ENDING,
                   [ON_WINDOW_OVER] = IN_ENDING,
                   [ON_FINISH] = IN_ENDING,
                   [ON_FINISHED] = IN_DONE,
                   [ON_FAILED] = IN_DONE,
                   [ON_LATE] = IN_DONE,
                   [ON_STOP] = IN_STOPPED},
};

/* How a stream comes into a state, where its content is held until it is complete or too much. */
static const char *const ways[STATES] = {
    [IN_ASKED] = "",
    [IN_OPEN] = "open,",
    [IN_BEGUN] = "open,chunk,",
    [IN_HOLDING] = "open,chunk,text,",
    [IN_FLOWING] = "open,chunk,text&full,",
    [IN_ENDING] = "open,chunk,text,finish,",
};

/* An input as a piece of the answer; "": time passes, or the caller leaves. */
static const char *const pieces[INPUTS] = {
    [ON_OPENED] = "open,", [ON_CHUNK] = "chunk,",   [ON_CONTENT] = "text,",
    [ON_WINDOW_OVER] = "", [ON_FINISH] = "finish,", [ON_FINISHED] = "ok,",
    [ON_FAILED] = "502,",  [ON_LATE] = "",          [ON_STOP] = "",
};

struct row {
    enum state state;
    enum input input;
    enum state next;
};

/* Limits that are told apart by their ends. */
enum { TIMEOUT_S = 10, TTFT_S = 20, IDLE_S = 30, TAIL_S = 5 };

static struct kit *kit_of_row(const struct row *row)
{
    char config[256];

    snprintf(config, sizeof(config),
             "d g stream_timeout=%d ttft=%d idle=%d hold=%s : %s%shang; router retries=0\n", TIMEOUT_S,
             TTFT_S, IDLE_S, row->input == ON_WINDOW_OVER ? "/2" : "all", ways[row->state],
             pieces[row->input]);
    return kit_new(1, config);
}

/* The state of a stream whose clock ran out. */
static enum state state_of_clock(const struct kit_call *call, unsigned seconds)
{
    const struct weir_event *broken = kit_event(call, WEIR_EVENT_STREAM_BROKEN, 0);

    switch (seconds) {
    case TIMEOUT_S:
        return broken == NULL ? IN_ASKED : IN_OPEN;
    case TTFT_S:
        return IN_BEGUN;
    case IDLE_S:
        return call->committed == 0 ? IN_HOLDING : IN_FLOWING;
    default:
        return NOWHERE;
    }
}

static enum state observed_state(const struct kit_call *call, enum input input)
{
    unsigned seconds = (unsigned)((call->kit->now_ns - call->begun_ns) / WEIR_NS_PER_S);
    bool is_late = call->fail.reason == WEIR_REASON_TIMEOUT;

    if (call->end == KIT_DELIVERED)
        return seconds == TAIL_S && input != ON_LATE ? IN_ENDING : IN_DONE;
    if (call->fail.reason == WEIR_REASON_CLIENT_GONE)
        return IN_STOPPED;
    if (is_late && input != ON_LATE)
        return state_of_clock(call, seconds);
    return call->committed == 0 ? IN_BROKEN : IN_CUT;
}

/* What an end means to the counters and to observers. */
static void check_end(const struct kit_call *call)
{
    const struct weir_event *broken = kit_event(call, WEIR_EVENT_STREAM_BROKEN, 0);
    struct weir_live_view view = kit_view(call->kit, "d");
    bool is_stopped = call->end == KIT_FAILED && call->fail.reason == WEIR_REASON_CLIENT_GONE;

    assert_int_equal(view.successes, call->end == KIT_DELIVERED);
    assert_int_equal(view.failures, call->end == KIT_FAILED && !is_stopped);
    if (broken == NULL)
        return;
    assert_int_equal(call->end, KIT_FAILED);
    assert_int_equal(broken->u.stream_broken.committed, call->committed != 0);
}

static void the_row_leads_where_the_rules_say(void **state)
{
    const struct row *row = *state;
    WEIR_CLEANUP(kit_close) struct kit *kit = kit_of_row(row);
    struct kit_call *call;
    enum state next;

    assert_int_equal(row->next, expected[row->state][row->input]);
    call = kit_begin(kit, row->input == ON_STOP ? "g stream gone=1" : "g stream");
    kit_run(call);
    next = observed_state(call, row->input);
    if (next != row->next)
        kit_die(kit, "leads to %s", next == NOWHERE ? "nothing that is known" : state_names[next]);
    check_end(call);
}

/* ---- the ends, out of which nothing leads ---- */

static void tell(const struct kit_call *call, uint32_t attempt, enum input input)
{
    const struct weir_failure failure = {.kind = WEIR_KIND_INTERNAL, .status = 500};
    struct weir_stream_chunk chunk = {
        .deltas = input == ON_CONTENT, .finish = input == ON_FINISH, .full = input == ON_WINDOW_OVER};
    const struct weir_outcome outcome = {.prompt_tokens = 1};
    uint64_t now_ns = call->kit->now_ns;

    switch (input) {
    case ON_OPENED:
        weir_call_on_opened(call->call, attempt, now_ns);
        break;
    case ON_CHUNK:
    case ON_CONTENT:
    case ON_FINISH:
    case ON_WINDOW_OVER:
        weir_call_on_chunk(call->call, attempt, &chunk, now_ns);
        break;
    case ON_FINISHED:
        weir_call_on_finished(call->call, attempt, &outcome, now_ns);
        break;
    case ON_FAILED:
        weir_call_on_failed(call->call, attempt, &failure, now_ns);
        break;
    case ON_LATE:
    case ON_STOP:
    case INPUTS:
    default:
        weir_call_on_paused(call->call, attempt, true, now_ns);
        break;
    }
}

/* Everything is told of the first attempt once more; a call that runs must go on as if nothing had been. */
static void expect_deaf(const char *config, const char *request, const char *story)
{
    KIT(kit, config);
    struct kit_call *call = kit_begin(kit, request);
    struct weir_live_view before;
    struct weir_live_view after;

    kit_run_until(call, KIT_EPOCH_NS + weir_time_from_s(1));
    before = kit_view(kit, "d");
    for (int input = 0; input < INPUTS; input++) {
        struct weir_step step;

        tell(call, 1, (enum input)input);
        assert_int_equal(weir_call_next(call->call, kit->now_ns, &step), 0);
        assert_int_equal(step.kind, WEIR_STEP_NONE);
    }
    after = kit_view(kit, "d");
    assert_int_equal(after.successes, before.successes);
    assert_int_equal(after.failures, before.failures);
    kit_run(call);
    assert_string_equal(call->story, story);
}

static void nothing_leads_out_of_done(void **state)
{
    (void)state;
    expect_deaf("d g : text,ok", "g stream", "d*:ok");
    expect_deaf("d g : text,finish,502", "g stream", "d*:502:ok");
}

static void nothing_leads_out_of_broken(void **state)
{
    (void)state;
    expect_deaf("d g w=1 : chunk,502; d2 g w=0 : text+2,ok", "g stream", "d:502 d2*:ok");
    expect_deaf("d g w=1 ttft=0.5 : chunk,hang; d2 g w=0 : text+2,ok", "g stream", "d:cancel d2*:ok");
    expect_deaf("d g : chunk,502; router retries=0", "g stream", "d:502 fail:502");
}

static void nothing_leads_out_of_cut(void **state)
{
    (void)state;
    expect_deaf("d g : text,502", "g stream", "d*:502 fail*:502");
    expect_deaf("d g : text,502; b B prefill : text+2,ok; router continuation; fallbacks g: B",
                "g stream continue", "d*:502 b>*:ok");
}

static void nothing_leads_out_of_stopped(void **state)
{
    (void)state;
    expect_deaf("d g : text,hang", "g stream gone=0.5", "d*:cancel fail*:499");
    expect_deaf("d g : hang; router deadline=0.5", "g stream", "d:cancel fail:408");
}

int main(void)
{
    static struct row rows[] = {
#define WEIR_STREAM_ROW(state, input, next, prose) {IN_##state, ON_##input, IN_##next},
#include "engine/tbl/stream.h"
    };
    static const char *const names[] = {
#define WEIR_STREAM_ROW(state, input, next, prose) #state ", " #input ": " prose,
#include "engine/tbl/stream.h"
    };
    enum { ROWS = sizeof(rows) / sizeof(*rows) };
    static const struct CMUnitTest ends[] = {
        cmocka_unit_test(nothing_leads_out_of_done),
        cmocka_unit_test(nothing_leads_out_of_broken),
        cmocka_unit_test(nothing_leads_out_of_cut),
        cmocka_unit_test(nothing_leads_out_of_stopped),
    };
    static struct CMUnitTest tests[ROWS];

    for (size_t i = 0; i < ROWS; i++)
        tests[i] = (struct CMUnitTest){
            .name = names[i], .test_func = the_row_leads_where_the_rules_say, .initial_state = &rows[i]};
    return cmocka_run_group_tests_name("rows", tests, NULL, NULL) +
           cmocka_run_group_tests_name("ends", ends, NULL, NULL);
}
