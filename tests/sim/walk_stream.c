/*
 * Every order of events up to a depth, against a caller that believes all that it is told (caller_model.h).
 *
 * What may happen next to a call (a piece of an answer, its end, a break, time, a pause, the caller leaving)
 * is a choice; a play is a number for each choice, and plays are counted up like the digits of a number until
 * every one of them was had.  Where the depth is reached nothing more comes, and time goes on to the end.
 *
 * Beside what the caller complains of must hold, after every event:
 *   - the call wants to be woken in the future or never, and when nothing comes any more it ends;
 *   - late news of attempts that are over change nothing;
 *   - of two that run neither has answered;
 *   - observers are told of the same attempts, breaks, continuations and end; all memory comes back.
 */
#include <inttypes.h>
#include <stdlib.h>

#include "base/time.h"

#include "caller_model.h"
#include "engine_kit.h"

#define DEPTH_MAX 16
#define STEPS_MAX 1000

/* What may happen; the names are printed when a play fails. */
#define EVENTS(X)                                                                                            \
    X(OPENED, "opened")                                                                                      \
    X(ROLE, "role")                                                                                          \
    X(TEXT, "text")                                                                                          \
    X(TOOL, "tool")                                                                                          \
    X(FINISH, "finish")                                                                                      \
    X(END, "end")                                                                                            \
    X(ERROR, "error")                                                                                        \
    X(REFUSAL, "refusal")                                                                                    \
    X(RESET, "reset")                                                                                        \
    X(PAUSE, "pause or resume")                                                                              \
    X(TIMER, "timer")                                                                                        \
    X(GONE, "client gone")                                                                                   \
    X(YES, "yes")                                                                                            \
    X(NO, "no")

enum event {
#define X(event, name) EVENT_##event,
    EVENTS(X)
#undef X
        EVENT_KINDS
};

static const char *const event_names[EVENT_KINDS] = {
#define X(event, name) [EVENT_##event] = (name),
    EVENTS(X)
#undef X
};

struct play {
    weir_router *router;
    weir_snapshot *snapshot;
    const char *config;
    bool may_continue;
    bool may_hedge;
    struct kit_request request;
    unsigned depth;
    unsigned choices[DEPTH_MAX];       /* the digits of the play ... */
    unsigned choice_counts[DEPTH_MAX]; /* ... and how far each may be counted */
    struct {
        enum event event;
        uint32_t number; /* of the attempt; 0: of none */
    } events[DEPTH_MAX];
    unsigned chosen;
    uint64_t plays;
    struct test_mem mem;
    weir_call *call;
    uint64_t now_ns; /* never goes back, from one play to the next neither */
    struct caller caller;
};

__attribute__((noreturn)) static void broken(const struct play *play, const char *what)
{
    fprintf(stderr, "\n%s\n  ", play->config);
    for (unsigned i = 0; i < play->chosen; i++)
        fprintf(stderr, "%s%s %" PRIu32, i == 0 ? "" : ", ", event_names[play->events[i].event],
                play->events[i].number);
    fprintf(stderr, "\n  %s\n", what);
    fail();
    abort();
}

/* ---- the host ---- */

static void check_rest(const struct play *play)
{
    const struct caller *caller = &play->caller;
    uint64_t expiry = weir_call_expiry(play->call);
    bool waits = caller_running(caller, 0) != 0 || caller->asked;

    if (caller->over && (caller_running(caller, 0) != 0 || expiry != UINT64_MAX))
        broken(play, "the call is over and something of it runs");
    if (!caller->over && expiry <= play->now_ns)
        broken(play, "the call wants to be woken in the past");
    if (!caller->over && !waits && expiry == UINT64_MAX)
        broken(play, "the call waits for nothing");
}

static void pump(struct play *play)
{
    for (int i = 0; i < STEPS_MAX; i++) {
        struct weir_step step;

        if (weir_call_next(play->call, play->now_ns, &step) != 0)
            broken(play, "weir_call_next fails");
        if (step.kind == WEIR_STEP_NONE) {
            caller_check_rest(&play->caller);
            if (play->caller.complaint != NULL)
                broken(play, play->caller.complaint);
            check_rest(play);
            return;
        }
        caller_perform(&play->caller, &step);
        if (play->caller.complaint != NULL)
            broken(play, play->caller.complaint);
    }
    broken(play, "steps without end");
}

/* An attempt that is over says everything once more. */
static void tell_late_news(struct play *play)
{
    const struct weir_stream_chunk chunk = {.deltas = 1, .text_bytes = 1, .finish = true};
    const struct weir_failure failure = {.kind = WEIR_KIND_INTERNAL, .status = 500};
    const struct weir_outcome outcome = {.prompt_tokens = 1};
    const struct caller *caller = &play->caller;
    uint32_t number = caller->attempt_count;
    uint64_t expiry = weir_call_expiry(play->call);
    struct weir_step step;

    while (number > 0 && caller->attempts[number].running)
        number--;
    weir_call_on_chunk(play->call, number, &chunk, play->now_ns);
    weir_call_on_finished(play->call, number, &outcome, play->now_ns);
    weir_call_on_failed(play->call, number, &failure, play->now_ns);
    if (weir_call_next(play->call, play->now_ns, &step) != 0 || step.kind != WEIR_STEP_NONE ||
        weir_call_expiry(play->call) != expiry)
        broken(play, "late news are heard");
}

/* ---- events ---- */

static void tell_chunk(struct play *play, uint32_t number, enum event event)
{
    const struct weir_stream_chunk chunk = {.deltas = event == EVENT_TEXT || event == EVENT_TOOL,
                                            .text_bytes = event == EVENT_TEXT,
                                            .other = event == EVENT_TOOL,
                                            .finish = event == EVENT_FINISH};

    caller_hear(&play->caller, number, &chunk, event == EVENT_ROLE);
    weir_call_on_chunk(play->call, number, &chunk, play->now_ns);
    caller_pass_on(&play->caller, number);
}

static void tell_failure(struct play *play, uint32_t number, weir_kind kind)
{
    const struct weir_failure failure = {.kind = kind, .status = weir_kind_row(kind)->status};

    caller_end(&play->caller, number, false);
    weir_call_on_failed(play->call, number, &failure, play->now_ns);
}

static void tell_end(struct play *play, uint32_t number)
{
    const struct weir_outcome outcome = {.prompt_tokens = 1};

    caller_end(&play->caller, number, true);
    weir_call_on_finished(play->call, number, &outcome, play->now_ns);
}

static void answer(struct play *play, weir_answer answer)
{
    play->caller.asked = false;
    weir_call_on_answer(play->call, play->caller.ask.id, answer, play->now_ns);
}

static void happen(struct play *play, enum event event, uint32_t number)
{
    struct caller_attempt *attempt = &play->caller.attempts[number];

    switch (event) {
    case EVENT_OPENED:
        attempt->opened = true;
        weir_call_on_opened(play->call, number, play->now_ns);
        break;
    case EVENT_ROLE:
    case EVENT_TEXT:
    case EVENT_TOOL:
    case EVENT_FINISH:
        tell_chunk(play, number, event);
        break;
    case EVENT_END:
        tell_end(play, number);
        break;
    case EVENT_ERROR:
        tell_failure(play, number, WEIR_KIND_INTERNAL);
        break;
    case EVENT_REFUSAL:
        tell_failure(play, number, WEIR_KIND_BAD_REQUEST);
        break;
    case EVENT_RESET:
        tell_failure(play, number, WEIR_KIND_CONNECTION);
        break;
    case EVENT_PAUSE:
        attempt->paused = !attempt->paused;
        weir_call_on_paused(play->call, number, attempt->paused, play->now_ns);
        break;
    case EVENT_TIMER:
        play->now_ns = weir_call_expiry(play->call);
        break;
    case EVENT_GONE:
        play->caller.gone = true;
        weir_call_on_client_gone(play->call, play->now_ns);
        break;
    case EVENT_YES:
        answer(play, WEIR_ANSWER_YES);
        break;
    case EVENT_NO:
        answer(play, WEIR_ANSWER_NO);
        break;
    case EVENT_KINDS:
    default:
        broken(play, "an unknown event");
    }
    if (play->caller.complaint != NULL)
        broken(play, play->caller.complaint);
}

/* Of the attempt of that number, or, where it is 0, of none. */
static bool may_happen(const struct play *play, enum event event, uint32_t number)
{
    const struct caller *caller = &play->caller;
    const struct caller_attempt *attempt = &caller->attempts[number];

    switch (event) {
    case EVENT_OPENED:
        return attempt->running && !attempt->opened;
    case EVENT_ROLE:
        /* the first chunk, if it comes at all */
        return attempt->running && !attempt->has_role && attempt->texts + attempt->tools == 0 &&
               !attempt->committed && !attempt->is_complete;
    case EVENT_TEXT:
    case EVENT_TOOL:
    case EVENT_FINISH:
        return attempt->running && !attempt->is_complete;
    case EVENT_END:
    case EVENT_ERROR:
    case EVENT_REFUSAL:
    case EVENT_RESET:
    case EVENT_PAUSE:
        return attempt->running;
    case EVENT_TIMER:
        return number == 0 && weir_call_expiry(play->call) != UINT64_MAX;
    case EVENT_GONE:
        return number == 0 && !caller->gone;
    case EVENT_YES:
    case EVENT_NO:
        return number == 0 && caller->asked;
    case EVENT_KINDS:
    default:
        return false;
    }
}

/* ---- plays ---- */

/* Chooses by the play's next digit among what may happen, and makes it happen. */
static void choose(struct play *play)
{
    const struct caller *caller = &play->caller;
    unsigned digit = play->chosen++, count = 0;
    uint32_t number = 0;

    do {
        for (int event = 0; event < EVENT_KINDS; event++) {
            if (!may_happen(play, (enum event)event, number) || count++ != play->choices[digit])
                continue;
            play->events[digit].event = (enum event)event;
            play->events[digit].number = number;
        }
        number = caller_running(caller, number);
    } while (number != 0);
    play->choice_counts[digit] = count;
    happen(play, play->events[digit].event, play->events[digit].number);
}

/* A running attempt that is paused; 0: there is none. */
static uint32_t paused(const struct caller *caller)
{
    uint32_t number = caller_running(caller, 0);

    while (number != 0 && !caller->attempts[number].paused)
        number = caller_running(caller, number);
    return number;
}

/* Nothing comes any more: time alone must end the call. */
static void run_out(struct play *play)
{
    const struct caller *caller = &play->caller;

    for (int i = 0; !caller->over && i < STEPS_MAX; i++) {
        if (caller->asked)
            happen(play, EVENT_YES, 0);
        else if (paused(caller) != 0)
            happen(play, EVENT_PAUSE, paused(caller));
        else if (weir_call_expiry(play->call) == UINT64_MAX)
            broken(play, "the call waits for ever");
        else
            happen(play, EVENT_TIMER, 0);
        pump(play);
    }
    if (!caller->over)
        broken(play, "the call does not end");
}

static void check_events(const struct play *play)
{
    const struct caller *caller = &play->caller;
    uint32_t counts[WEIR_EVENT_KINDS] = {0};
    uint32_t seams = 0;
    uint32_t breaks = 0;
    uint32_t losers = 0;
    struct weir_event event;

    while (weir_call_event(play->call, &event))
        counts[event.kind]++;
    for (uint32_t i = 1; i <= caller->attempt_count; i++) {
        seams += caller->attempts[i].committed && caller->attempts[i].continues;
        breaks += caller->attempts[i].opened && caller->attempts[i].is_broken;
        losers += caller->attempts[i].is_lost;
    }
    if (counts[WEIR_EVENT_SUCCEEDED] + counts[WEIR_EVENT_FAILED] != 1 ||
        counts[WEIR_EVENT_FAILED] != caller->output.errors)
        broken(play, "the events tell another end");
    if (counts[WEIR_EVENT_ATTEMPT_STARTED] != caller->attempt_count)
        broken(play, "the events tell of other attempts");
    if (counts[WEIR_EVENT_STREAM_CONTINUED] != seams)
        broken(play, "the events tell of other continuations");
    if (counts[WEIR_EVENT_HEDGE_LOST] != losers || counts[WEIR_EVENT_HEDGED] < losers)
        broken(play, "the events tell of other races");
    if (counts[WEIR_EVENT_STREAM_BROKEN] != breaks)
        broken(play, "the events tell of other breaks");
}

static void play_once(struct play *play)
{
    play->chosen = 0;
    caller_begin(&play->caller, play->may_continue, play->may_hedge);
    test_mem_init(&play->mem, 0);
    if (weir_call_begin(play->router, play->snapshot, &play->request.request, &play->mem.mem, play->now_ns,
                        &play->call) != 0)
        broken(play, "no call");
    pump(play);
    while (!play->caller.over && play->chosen < play->depth) {
        choose(play);
        pump(play);
        tell_late_news(play);
    }
    run_out(play);
    check_events(play);
    weir_call_free(play->call);
    if (play->mem.live_blocks != 0)
        broken(play, "memory is lost");
    play->plays++;
}

/* Counts the play up; false when it was the last one.  Digits behind those that were used start anew. */
static bool count_up(struct play *play)
{
    unsigned digit = play->chosen;

    for (unsigned i = digit; i < play->depth; i++)
        play->choices[i] = 0;
    while (digit-- > 0) {
        if (++play->choices[digit] < play->choice_counts[digit])
            return true;
        play->choices[digit] = 0;
    }
    return false;
}

static uint64_t walk(const char *config_text, const char *request, unsigned depth)
{
    struct kit_config *config = malloc(sizeof(*config));
    struct play *play = calloc(1, sizeof(*play));
    struct test_mem mem;
    uint64_t plays;

    assert_non_null(config);
    assert_non_null(play);
    test_mem_init(&mem, 0);
    kit_parse_config(config, config_text);
    play->config = config_text;
    play->depth = depth;
    play->now_ns = KIT_EPOCH_NS;
    assert_int_equal(kit_build(config, &mem.mem, &play->snapshot), 0);
    assert_int_equal(weir_router_new(&mem.mem, 1, &play->router), 0);
    assert_int_equal(weir_router_adopt(play->router, play->snapshot), 0);
    kit_parse_request(&play->request, request);
    play->may_continue = config->router.continuation && play->request.request.may_continue;
    play->may_hedge = config->router.resilience.hedge.after_ns != WEIR_UNSET_NS;
    do {
        play_once(play);
    } while (count_up(play));
    plays = play->plays;
    kit_request_deinit(&play->request);
    weir_snapshot_unref(play->snapshot);
    weir_router_free(play->router);
    test_mem_assert_empty(&mem);
    kit_config_deinit(config);
    free(config);
    free(play);
    return plays;
}

static unsigned depth;

#define LIMITS "retries=1 ttft=4 idle=3 timeout=5 jitter=0 initial=1 no_cooldowns "

static void no_order_of_events_confuses_the_caller(void **state)
{
    static const char *const deployments[] = {"d1 g w=1 prefill; d2 g w=0 prefill",
                                              "d1 g prefill; b B prefill; c C; fallbacks g: C B"};
    static const char *const holds[] = {"", "hold=2/2 ", "hold=all "};
    static const char *const continuations[] = {"", "continuation targets=group,fallback "};
    uint64_t plays = 0;
    char config[256];
    (void)state;

    for (size_t i = 0; i < 12; i++) {
        snprintf(config, sizeof(config), "%s; router " LIMITS "%s%s", deployments[i / 6], holds[i / 2 % 3],
                 continuations[i % 2]);
        plays += walk(config, "g stream continue", depth);
    }
    print_message("%" PRIu64 " orders of up to %u events\n", plays, depth);
}

static void nor_with_a_deadline_and_questions(void **state)
{
    uint64_t plays;
    (void)state;

    plays = walk("d1 g w=1 prefill; d2 g w=0 prefill; b B prefill; fallbacks g: B\n"
                 "router " LIMITS "deadline=7 ask=both continuation targets=fallback,group",
                 "g stream continue", depth);
    print_message("%" PRIu64 " orders of up to %u events\n", plays, depth);
}

/* Two attempts say all that one may say, in every order. */
static void nor_with_two_attempts_at_once(void **state)
{
    static const char *const holds[] = {"", "hold=2/2 "};
    static const char *const continuations[] = {"", "continuation targets=group,fallback "};
    uint64_t plays = 0;
    char config[256];
    (void)state;

    for (size_t i = 0; i < 4; i++) {
        snprintf(config, sizeof(config), "d1 g w=1 prefill; d2 g w=0 prefill; router hedge=1 " LIMITS "%s%s",
                 holds[i / 2], continuations[i % 2]);
        plays += walk(config, "g stream continue", depth);
    }
    print_message("%" PRIu64 " orders of up to %u events\n", plays, depth);
}

int main(int argc, char **argv)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(no_order_of_events_confuses_the_caller),
        cmocka_unit_test(nor_with_a_deadline_and_questions),
        cmocka_unit_test(nor_with_two_attempts_at_once),
    };

    depth = argc == 2 ? (unsigned)strtoul(argv[1], NULL, 10) : 0;
    if (depth == 0 || depth > DEPTH_MAX) {
        fprintf(stderr, "usage: walk_stream DEPTH\n");
        return 2;
    }
    return cmocka_run_group_tests(tests, NULL, NULL);
}
