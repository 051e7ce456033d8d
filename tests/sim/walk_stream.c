/*
 * Every order of events up to a depth, against a caller that believes all that it is told.
 *
 * What may happen next to a call (a piece of an answer, its end, a break, time, a pause, the caller leaving)
 * is a choice; a play is a number for each choice, and plays are counted up like the digits of a number until
 * every one of them was had.  Where the depth is reached nothing more comes, and time goes on to the end.
 *
 * The caller is a host in small: it holds what an attempt gives until COMMIT and passes on what comes after
 * it, drops the role of an attempt that continues, and ends with DELIVER or FAIL.  What it has put out, and
 * what it was asked to do, is checked after every step:
 *   - one role and one finish reason at most, and no finish reason without a whole answer;
 *   - nothing after an error, and no error but at the end;
 *   - the text of one attempt only, or of attempts that continue one another, of which all but the last
 * broke;
 *   - one attempt at a time; none runs when the call is over, and all memory is back;
 *   - the call wants to be woken in the future or never, and when nothing comes any more it ends;
 *   - late news of attempts that are over change nothing.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/slice.h"
#include "base/time.h"

#include "engine_kit.h"

#define DEPTH_MAX    16
#define ATTEMPTS_MAX 64
#define STEPS_MAX    1000

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

/* One attempt as the caller sees it. */
struct attempt {
    bool running;
    bool opened;
    bool paused;
    bool continues;
    bool committed;
    bool has_role;
    bool is_finished; /* gave a finish reason */
    bool is_complete; /* gave a finish reason or its end */
    bool is_broken;
    /* held until it is committed */
    uint32_t texts;
    uint32_t tools;
};

/* What the caller's client has got. */
struct output {
    uint32_t roles;
    uint32_t texts;
    uint32_t tools;
    uint32_t finishes;
    uint32_t errors;
    uint32_t speaker; /* the attempt that spoke last; 0: none did */
};

struct play {
    weir_router *router;
    weir_snapshot *snapshot;
    const char *config;
    bool may_continue;
    struct kit_request request;
    unsigned depth;
    unsigned choices[DEPTH_MAX];       /* the digits of the play ... */
    unsigned choice_counts[DEPTH_MAX]; /* ... and how far each may be counted */
    enum event events[DEPTH_MAX];
    unsigned chosen;
    uint64_t plays;

    struct test_mem mem;
    weir_call *call;
    uint64_t now_ns;
    bool over;
    bool gone;
    bool asked;
    struct weir_ask ask;
    struct attempt attempts[ATTEMPTS_MAX + 1]; /* by number */
    uint32_t attempt_count;
    struct output output;
};

__attribute__((format(printf, 2, 3), noreturn)) static void broken(const struct play *play,
                                                                   const char *format, ...)
{
    va_list args;

    fprintf(stderr, "\n%s\n", play->config);
    for (unsigned i = 0; i < play->chosen; i++)
        fprintf(stderr, "%s%s", i == 0 ? "  " : ", ", event_names[play->events[i]]);
    fprintf(stderr, "\n  ");
    va_start(args, format);
    vfprintf(stderr, format, args);
    va_end(args);
    fputc('\n', stderr);
    fail();
    abort();
}

/* ---- the caller's output ---- */

static void check_output(const struct play *play)
{
    const struct output *out = &play->output;

    if (out->roles > 1)
        broken(play, "a second role");
    if (out->finishes > 1)
        broken(play, "a second finish reason");
    if (out->errors > 1 || (out->errors == 1 && !play->over))
        broken(play, "an error that is not the end");
    /* to a caller who has left nothing is said any more */
    if (out->errors == 1 && out->finishes == 1 && !play->gone)
        broken(play, "an error beside a finish reason");
}

static void speak(struct play *play, uint32_t number)
{
    const struct attempt *speaker = &play->attempts[number];
    struct output *out = &play->output;

    if (out->errors > 0)
        broken(play, "content after an error");
    if (out->speaker != number && out->speaker != 0 &&
        (!speaker->continues || !play->attempts[out->speaker].is_broken))
        broken(play, "the text of attempt %" PRIu32 " mixed into that of %" PRIu32, number, out->speaker);
    out->speaker = number;
}

/* Passes on what is held, or what has just come. */
static void flush(struct play *play, uint32_t number)
{
    struct attempt *attempt = &play->attempts[number];
    struct output *out = &play->output;

    if (attempt->texts > 0 || attempt->tools > 0)
        speak(play, number);
    if (attempt->has_role && !attempt->continues)
        out->roles++;
    out->texts += attempt->texts;
    out->tools += attempt->tools;
    out->finishes += attempt->is_finished;
    attempt->has_role = false;
    attempt->texts = 0;
    attempt->tools = 0;
    attempt->is_finished = false;
}

/* ---- steps ---- */

static uint32_t running(const struct play *play)
{
    return play->attempt_count > 0 && play->attempts[play->attempt_count].running ? play->attempt_count : 0;
}

static void do_start(struct play *play, const struct weir_step *step)
{
    bool continues = step->kind == WEIR_STEP_CONTINUE;

    if (running(play) != 0)
        broken(play, "an attempt beside another");
    if (step->attempt != play->attempt_count + 1 || step->attempt > ATTEMPTS_MAX)
        broken(play, "attempt %" PRIu32 " after %" PRIu32, step->attempt, play->attempt_count);
    if (continues != (play->output.speaker != 0))
        broken(play, "a continuation before content, or a start after it");
    if (continues && (!play->may_continue || play->output.tools > 0 || play->output.texts == 0))
        broken(play, "a continuation of what may not be continued");
    play->attempts[++play->attempt_count] = (struct attempt){.running = true, .continues = continues};
}

static void do_commit(struct play *play, struct attempt *attempt, uint32_t number)
{
    if (attempt->committed || (!attempt->running && !attempt->is_complete))
        broken(play, "a commit of attempt %" PRIu32 " too many", number);
    if (attempt->texts + attempt->tools == 0)
        broken(play, "a commit without content");
    attempt->committed = true;
    flush(play, number);
}

static void do_cancel(struct play *play, struct attempt *attempt, uint32_t number)
{
    if (!attempt->running)
        broken(play, "attempt %" PRIu32 " is cancelled and does not run", number);
    attempt->running = false;
    attempt->is_broken = !attempt->is_complete;
}

static void do_deliver(struct play *play, struct attempt *attempt, uint32_t number)
{
    if (attempt->running || !attempt->is_complete)
        broken(play, "attempt %" PRIu32 " is delivered and not complete", number);
    flush(play, number);
    /* an answer that ended without a finish reason of its own is complete all the same */
    play->output.finishes = play->output.finishes == 0 ? 1 : play->output.finishes;
    play->over = true;
}

static void do_fail(struct play *play, const struct weir_fail *fail)
{
    if (fail->committed != (play->output.speaker != 0))
        broken(play, "a failure that says the wrong thing of what has gone out");
    play->output.errors++;
    play->over = true;
}

static void perform(struct play *play, const struct weir_step *step)
{
    struct attempt *attempt = &play->attempts[step->attempt <= play->attempt_count ? step->attempt : 0];

    if (play->over)
        broken(play, "a step after the end");
    switch (step->kind) {
    case WEIR_STEP_START:
    case WEIR_STEP_CONTINUE:
        do_start(play, step);
        break;
    case WEIR_STEP_CANCEL:
        do_cancel(play, attempt, step->attempt);
        break;
    case WEIR_STEP_ASK:
        play->asked = true;
        play->ask = step->u.ask;
        break;
    case WEIR_STEP_COMMIT:
        do_commit(play, attempt, step->attempt);
        break;
    case WEIR_STEP_DELIVER:
        do_deliver(play, attempt, step->attempt);
        break;
    case WEIR_STEP_FAIL:
        do_fail(play, &step->u.fail);
        break;
    case WEIR_STEP_NONE:
    default:
        broken(play, "an unknown step");
    }
    check_output(play);
}

static void check_rest(const struct play *play)
{
    uint64_t expiry = weir_call_expiry(play->call);

    if (play->over && (running(play) != 0 || expiry != UINT64_MAX))
        broken(play, "the call is over and something of it runs");
    if (!play->over && expiry <= play->now_ns)
        broken(play, "the call wants to be woken in the past");
    if (!play->over && running(play) == 0 && !play->asked && expiry == UINT64_MAX)
        broken(play, "the call waits for nothing");
}

static void pump(struct play *play)
{
    for (int i = 0; i < STEPS_MAX; i++) {
        struct weir_step step;

        if (weir_call_next(play->call, play->now_ns, &step) != 0)
            broken(play, "weir_call_next fails");
        if (step.kind == WEIR_STEP_NONE) {
            check_rest(play);
            return;
        }
        perform(play, &step);
    }
    broken(play, "steps without end");
}

/* An attempt that is over says everything once more. */
static void tell_late_news(struct play *play)
{
    const struct weir_stream_chunk chunk = {.deltas = 1, .text_bytes = 1, .finish = true};
    const struct weir_failure failure = {.kind = WEIR_KIND_INTERNAL, .status = 500};
    const struct weir_outcome outcome = {.prompt_tokens = 1};
    uint32_t number = running(play) != 0 ? play->attempt_count - 1 : play->attempt_count;
    uint64_t expiry = weir_call_expiry(play->call);
    struct weir_step step;

    weir_call_on_chunk(play->call, number, &chunk, play->now_ns);
    weir_call_on_finished(play->call, number, &outcome, play->now_ns);
    weir_call_on_failed(play->call, number, &failure, play->now_ns);
    if (weir_call_next(play->call, play->now_ns, &step) != 0 || step.kind != WEIR_STEP_NONE ||
        weir_call_expiry(play->call) != expiry)
        broken(play, "late news of attempt %" PRIu32 " are heard", number);
}

/* ---- events ---- */

static void tell_chunk(struct play *play, uint32_t number, enum event event)
{
    struct attempt *attempt = &play->attempts[number];
    const struct weir_stream_chunk chunk = {.deltas = event == EVENT_TEXT || event == EVENT_TOOL,
                                            .text_bytes = event == EVENT_TEXT,
                                            .other = event == EVENT_TOOL,
                                            .finish = event == EVENT_FINISH};

    attempt->opened = true;
    attempt->has_role |= event == EVENT_ROLE;
    attempt->texts += event == EVENT_TEXT;
    attempt->tools += event == EVENT_TOOL;
    attempt->is_finished |= event == EVENT_FINISH;
    attempt->is_complete |= event == EVENT_FINISH;
    weir_call_on_chunk(play->call, number, &chunk, play->now_ns);
    if (attempt->committed)
        flush(play, number);
    check_output(play);
}

static void tell_failure(struct play *play, uint32_t number, enum event event)
{
    const struct weir_failure failure = {
        .kind = event == EVENT_RESET     ? WEIR_KIND_CONNECTION
                : event == EVENT_REFUSAL ? WEIR_KIND_BAD_REQUEST
                                         : WEIR_KIND_INTERNAL,
        .status = event == EVENT_REFUSAL ? 400 : 500,
    };

    play->attempts[number].running = false;
    play->attempts[number].is_broken = !play->attempts[number].is_complete;
    weir_call_on_failed(play->call, number, &failure, play->now_ns);
}

static void happen(struct play *play, enum event event)
{
    const struct weir_outcome outcome = {.prompt_tokens = 1};
    uint32_t number = running(play);
    struct attempt *attempt = &play->attempts[number];

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
        attempt->running = false;
        attempt->is_complete = true;
        weir_call_on_finished(play->call, number, &outcome, play->now_ns);
        break;
    case EVENT_ERROR:
    case EVENT_REFUSAL:
    case EVENT_RESET:
        tell_failure(play, number, event);
        break;
    case EVENT_PAUSE:
        attempt->paused = !attempt->paused;
        weir_call_on_paused(play->call, number, attempt->paused, play->now_ns);
        break;
    case EVENT_TIMER:
        play->now_ns = weir_call_expiry(play->call);
        break;
    case EVENT_GONE:
        play->gone = true;
        weir_call_on_client_gone(play->call, play->now_ns);
        break;
    case EVENT_YES:
    case EVENT_NO:
        play->asked = false;
        weir_call_on_answer(play->call, play->ask.id, event == EVENT_YES ? WEIR_ANSWER_YES : WEIR_ANSWER_NO,
                            play->now_ns);
        break;
    case EVENT_KINDS:
    default:
        broken(play, "an unknown event");
    }
}

/* What may happen now; returns how much of it there is. */
static unsigned possible(const struct play *play, enum event events[EVENT_KINDS])
{
    const struct attempt *attempt = &play->attempts[running(play)];
    unsigned count = 0;

    for (int event = 0; event < EVENT_KINDS; event++) {
        bool may = attempt->running;

        if (event == EVENT_OPENED)
            may = attempt->running && !attempt->opened;
        else if (event == EVENT_ROLE)
            may = attempt->running && !attempt->has_role && attempt->texts + attempt->tools == 0 &&
                  !attempt->committed && !attempt->is_complete;
        else if (event == EVENT_TEXT || event == EVENT_TOOL || event == EVENT_FINISH)
            may = attempt->running && !attempt->is_complete;
        else if (event == EVENT_TIMER)
            may = weir_call_expiry(play->call) != UINT64_MAX;
        else if (event == EVENT_GONE)
            may = !play->gone;
        else if (event == EVENT_YES || event == EVENT_NO)
            may = play->asked;
        if (may)
            events[count++] = (enum event)event;
    }
    return count;
}

/* ---- plays ---- */

/* Nothing comes any more: time alone must end the call. */
static void run_out(struct play *play)
{
    for (int i = 0; !play->over && i < STEPS_MAX; i++) {
        uint32_t number = running(play);

        if (play->asked)
            happen(play, EVENT_YES);
        else if (play->attempts[number].paused)
            happen(play, EVENT_PAUSE);
        else if (weir_call_expiry(play->call) == UINT64_MAX)
            broken(play, "the call waits for ever");
        else
            happen(play, EVENT_TIMER);
        pump(play);
    }
    if (!play->over)
        broken(play, "the call does not end");
}

static void check_events(struct play *play)
{
    uint32_t counts[WEIR_EVENT_KINDS] = {0};
    uint32_t commits = 0;
    uint32_t breaks = 0;
    struct weir_event event;

    while (weir_call_event(play->call, &event))
        counts[event.kind]++;
    for (uint32_t i = 1; i <= play->attempt_count; i++) {
        commits += play->attempts[i].committed && play->attempts[i].continues;
        breaks += play->attempts[i].opened && play->attempts[i].is_broken;
    }
    if (counts[WEIR_EVENT_SUCCEEDED] != (play->output.errors == 0) ||
        counts[WEIR_EVENT_FAILED] != play->output.errors)
        broken(play, "the events tell another end");
    if (counts[WEIR_EVENT_ATTEMPT_STARTED] != play->attempt_count)
        broken(play, "the events tell of other attempts");
    if (counts[WEIR_EVENT_STREAM_CONTINUED] != commits)
        broken(play, "the events tell of other continuations");
    if (counts[WEIR_EVENT_STREAM_BROKEN] != breaks)
        broken(play, "the events tell of other breaks");
}

static void play_once(struct play *play)
{
    play->over = play->gone = play->asked = false;
    play->attempt_count = 0;
    play->attempts[0] = (struct attempt){.running = false};
    play->output = (struct output){0};
    play->chosen = 0;
    test_mem_init(&play->mem, 0);
    if (weir_call_begin(play->router, play->snapshot, &play->request.request, &play->mem.mem, play->now_ns,
                        &play->call) != 0)
        broken(play, "no call");
    pump(play);
    while (!play->over && play->chosen < play->depth) {
        enum event events[EVENT_KINDS];
        unsigned count = possible(play, events);
        enum event event = events[play->choices[play->chosen]];

        play->choice_counts[play->chosen] = count;
        play->events[play->chosen++] = event;
        happen(play, event);
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

/* Counts the play up; false when it was the last one.  Digits behind the ones that were used start anew. */
static bool count_up(struct play *play)
{
    unsigned used = play->chosen;

    for (unsigned i = used; i < play->depth; i++)
        play->choices[i] = 0;
    while (used > 0) {
        unsigned digit = used - 1;

        if (++play->choices[digit] < play->choice_counts[digit])
            return true;
        play->choices[digit] = 0;
        used--;
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

/* A hold, and whether streams that broke after content may be continued. */
#define LIMITS "ttft=4 idle=3 timeout=5 jitter=0 initial=1 no_cooldowns "

static const char *const holds[] = {"", "hold=2/2 ", "hold=all "};
static const char *const continuations[] = {"", "continuation targets=group,fallback "};
static const char *const deployments[] = {
    "d1 g w=1 prefill; d2 g w=0 prefill",
    "d1 g prefill; b B prefill; c C; fallbacks g: C B",
};

static void an_order_of_events_never_confuses_the_caller(void **state)
{
    uint64_t plays = 0;
    (void)state;

    for (size_t d = 0; d < 2; d++) {
        for (size_t h = 0; h < 3; h++) {
            for (size_t c = 0; c < 2; c++) {
                char config[512];

                snprintf(config, sizeof(config), "%s; router retries=1 " LIMITS "%s%s", deployments[d],
                         holds[h], continuations[c]);
                plays += walk(config, "g stream continue", depth);
            }
        }
    }
    print_message("%" PRIu64 " orders of up to %u events\n", plays, depth);
}

static void nor_with_a_deadline_and_questions(void **state)
{
    uint64_t plays;
    (void)state;

    plays = walk("d1 g w=1 prefill; d2 g w=0 prefill; b B prefill; fallbacks g: B\n"
                 "router retries=1 " LIMITS "deadline=7 ask=both continuation targets=fallback,group",
                 "g stream continue", depth);
    print_message("%" PRIu64 " orders of up to %u events\n", plays, depth);
}

int main(int argc, char **argv)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_order_of_events_never_confuses_the_caller),
        cmocka_unit_test(nor_with_a_deadline_and_questions),
    };

    depth = argc == 2 ? (unsigned)strtoul(argv[1], NULL, 10) : 0;
    if (depth == 0 || depth > DEPTH_MAX) {
        fprintf(stderr, "usage: walk_stream DEPTH\n");
        return 2;
    }
    return cmocka_run_group_tests(tests, NULL, NULL);
}
