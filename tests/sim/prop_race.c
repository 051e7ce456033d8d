/*
 * What races leave behind, in any order of news: whoever wins, loses, fails, runs out of time or is left by
 * its caller, a deployment holds for the attempts that run what they reserved, and of all others what they
 * used.  A loser has used nothing.
 *
 * A few calls race at once on deployments with fewer slots and tokens than they would take.  A book is kept
 * of each attempt beside the engine's, and after every input the two are compared: that which an input ends
 * is ended in the input itself, before anybody asks for the next step.
 */
#include <string.h>

#include <weir/mem_libc.h>
#include <weir/weir.h>

#include "base/rand.h"
#include "base/slice.h"
#include "base/time.h"

#include "unit.h"

enum { PLAYS = 1500, INPUTS = 80, CALLS = 3, DEPLOYMENTS = 4, ATTEMPTS_MAX = 32, SLOTS = 2 };

/* What an attempt reserves, and what a whole answer tells. */
enum { INPUT = 30, OUTPUT = 20, TOLD_INPUT = 7, TOLD_OUTPUT = 9, INPUT_LIMIT = 250 };

#define START_NS (1000 * WEIR_NS_PER_S)

struct tried {
    uintptr_t deployment;
    uint64_t deltas;
    bool runs;
};

struct raced {
    weir_call *call; /* NULL: none at the moment */
    bool stream;
    uint32_t count;
    struct tried attempts[ATTEMPTS_MAX]; /* by number, from 1 */
};

/* What a deployment's attempts that are over have used. */
struct book {
    uint64_t requests;
    uint64_t input;
    uint64_t output;
};

struct play {
    weir_router *router;
    weir_snapshot *snapshot;
    struct weir_rand rand;
    uint64_t now_ns;
    struct raced calls[CALLS];
    struct book books[DEPLOYMENTS];
};

/* What the plays came to, so that it is known that they tried it. */
struct tally {
    unsigned lost;
    unsigned refused;
    unsigned cancelled;
    unsigned answered;
};

static bool once_in(struct play *play, uint64_t times)
{
    return weir_rand_below(&play->rand, times) == 0;
}

static void add_deployments(weir_snapshot_builder *builder, struct weir_rand *rand)
{
    static const char *const ids[DEPLOYMENTS] = {"d0", "d1", "d2", "d3"};

    for (uintptr_t i = 0; i < DEPLOYMENTS; i++) {
        struct weir_deployment_spec spec;

        weir_deployment_spec_init(&spec);
        spec.id = weir_slice_str(ids[i]);
        spec.group = WEIR_SLICE("g");
        spec.model = WEIR_SLICE("openai/m");
        spec.user = (void *)i;
        spec.max_parallel = SLOTS;
        spec.minute.input_tokens = INPUT_LIMIT;
        spec.minute.output_tokens = 10 * INPUT_LIMIT;
        spec.limits.timeout_ns = (1 + weir_rand_below(rand, 6)) * WEIR_NS_PER_S;
        assert_int_equal(weir_snapshot_add_deployment(builder, &spec), 0);
    }
}

static void open_play(struct play *play, uint64_t seed)
{
    weir_snapshot_builder *builder = NULL;
    struct weir_router_spec spec;

    *play = (struct play){.now_ns = START_NS};
    weir_rand_init(&play->rand, seed);
    assert_int_equal(weir_router_new(weir_mem_libc(), seed, &play->router), 0);
    weir_router_set_wall(play->router, 0, START_NS);
    assert_int_equal(weir_snapshot_builder_new(weir_mem_libc(), &builder), 0);
    add_deployments(builder, &play->rand);
    weir_router_spec_init(&spec);
    spec.num_retries = (uint32_t)weir_rand_below(&play->rand, 3);
    spec.token_margin = 0;
    spec.enforce_minute_limits = true;
    spec.disable_cooldowns = weir_rand_below(&play->rand, 4) != 0;
    spec.resilience.hedge = (struct weir_hedge){WEIR_NS_PER_S / 2, (uint32_t)weir_rand_below(&play->rand, 4)};
    spec.limits.call_deadline_ns = (4 + weir_rand_below(&play->rand, 8)) * WEIR_NS_PER_S;
    weir_snapshot_set_router(builder, &spec);
    assert_int_equal(weir_snapshot_build(builder, &play->snapshot), 0);
    weir_snapshot_builder_free(builder);
    assert_int_equal(weir_router_adopt(play->router, play->snapshot), 0);
}

/* ---- the book ---- */

/* The end of an attempt that told no usage: with content its prompt was used, and more of the answer than
 * was reserved only where more came. */
static void end(struct play *play, struct tried *tried)
{
    struct book *book = &play->books[tried->deployment];

    if (!tried->runs)
        return;
    tried->runs = false;
    if (tried->deltas == 0)
        return;
    book->input += INPUT;
    book->output += tried->deltas > OUTPUT ? tried->deltas : OUTPUT;
}

/* The attempt has given what others raced for. */
static void end_others(struct play *play, struct raced *raced, uint32_t winner)
{
    for (uint32_t i = 1; i <= raced->count; i++)
        if (i != winner)
            end(play, &raced->attempts[i]);
}

static void check_deployment(const struct play *play, size_t index)
{
    const struct book *book = &play->books[index];
    struct weir_live_view view;
    uint32_t running = 0;

    for (size_t i = 0; i < CALLS; i++)
        for (uint32_t n = 1; n <= play->calls[i].count; n++)
            running += play->calls[i].attempts[n].runs && play->calls[i].attempts[n].deployment == index;
    weir_router_view(play->router, weir_snapshot_deployment(play->snapshot, index), play->now_ns, &view);
    assert_int_equal(view.running, running);
    assert_true(running <= SLOTS);
    assert_int_equal(view.minute.requests, book->requests);
    assert_int_equal(view.minute.input_tokens, book->input + running * INPUT);
    assert_int_equal(view.minute.output_tokens, book->output + running * OUTPUT);
    assert_true(view.minute.input_tokens <= INPUT_LIMIT);
}

static void check(const struct play *play)
{
    for (size_t i = 0; i < DEPLOYMENTS; i++)
        check_deployment(play, i);
}

/* ---- the host ---- */

static void leave(struct play *play, struct raced *raced)
{
    weir_call_free(raced->call);
    end_others(play, raced, 0);
    *raced = (struct raced){.call = NULL};
}

static void count_events(struct tally *tally, weir_call *call)
{
    struct weir_event event;

    while (weir_call_event(call, &event)) {
        tally->lost += event.kind == WEIR_EVENT_HEDGE_LOST;
        tally->refused += event.kind == WEIR_EVENT_ATTEMPT_REFUSED;
    }
}

static void start(struct play *play, struct raced *raced, const struct weir_step *step)
{
    struct tried *tried = &raced->attempts[++raced->count];

    assert_true(raced->count < ATTEMPTS_MAX && step->attempt == raced->count);
    *tried =
        (struct tried){.deployment = (uintptr_t)weir_deployment_user(step->u.start.deployment), .runs = true};
    play->books[tried->deployment].requests++;
}

/* Takes steps until there is nothing to do; of a call that is over nothing runs. */
static void follow(struct play *play, struct raced *raced, struct tally *tally)
{
    struct weir_step step = {.kind = WEIR_STEP_START};

    while (step.kind != WEIR_STEP_NONE) {
        assert_int_equal(weir_call_next(raced->call, play->now_ns, &step), 0);
        count_events(tally, raced->call);
        if (step.kind == WEIR_STEP_START)
            start(play, raced, &step);
        else if (step.kind == WEIR_STEP_CANCEL)
            end(play, &raced->attempts[step.attempt]);
        else if (step.kind == WEIR_STEP_DELIVER || step.kind == WEIR_STEP_FAIL)
            break;
    }
    check(play);
    if (step.kind == WEIR_STEP_NONE)
        return;
    tally->answered += step.kind == WEIR_STEP_DELIVER;
    for (uint32_t i = 1; i <= raced->count; i++)
        assert_false(raced->attempts[i].runs);
    leave(play, raced);
}

static void begin(struct play *play, struct raced *raced, struct tally *tally)
{
    struct weir_request request;

    weir_request_init(&request);
    request.model = WEIR_SLICE("g");
    request.stream = raced->stream = once_in(play, 2);
    request.prompt_tokens = INPUT;
    request.max_output_tokens = OUTPUT;
    assert_int_equal(
        weir_call_begin(play->router, play->snapshot, &request, weir_mem_libc(), play->now_ns, &raced->call),
        0);
    follow(play, raced, tally);
}

/* ---- news ---- */

static void open_answer(struct play *play, struct raced *raced, uint32_t number)
{
    weir_call_on_opened(raced->call, number, play->now_ns);
    if (!raced->stream && raced->attempts[number].runs)
        end_others(play, raced, number);
}

static void give_chunk(struct play *play, struct raced *raced, uint32_t number)
{
    struct weir_stream_chunk chunk = {.deltas = (uint32_t)weir_rand_below(&play->rand, 3) * 6};

    if (!raced->stream)
        return;
    weir_call_on_chunk(raced->call, number, &chunk, play->now_ns);
    if (!raced->attempts[number].runs || chunk.deltas == 0)
        return;
    raced->attempts[number].deltas += chunk.deltas;
    end_others(play, raced, number);
}

static void finish(struct play *play, struct raced *raced, uint32_t number)
{
    static const struct weir_outcome outcome = {.prompt_tokens = TOLD_INPUT,
                                                .completion_tokens = TOLD_OUTPUT};
    struct tried *tried = &raced->attempts[number];

    weir_call_on_finished(raced->call, number, &outcome, play->now_ns);
    if (!tried->runs)
        return;
    tried->runs = false;
    play->books[tried->deployment].input += TOLD_INPUT;
    play->books[tried->deployment].output += TOLD_OUTPUT;
    end_others(play, raced, number);
}

static void break_off(struct play *play, struct raced *raced, uint32_t number)
{
    static const struct weir_failure failures[] = {{WEIR_KIND_RATE_LIMIT, 429, 0, WEIR_ORIGIN_PROVIDER},
                                                   {WEIR_KIND_INTERNAL, 500, 0, WEIR_ORIGIN_PROVIDER}};

    weir_call_on_failed(raced->call, number, &failures[weir_rand_below(&play->rand, 2)], play->now_ns);
    end(play, &raced->attempts[number]);
}

/* Something happens to one of the attempts that there ever were in the call; late news must change nothing.
 */
static void tell(struct play *play, struct raced *raced)
{
    uint32_t number = 1 + (uint32_t)weir_rand_below(&play->rand, raced->count);
    uint64_t turn = weir_rand_below(&play->rand, 10);

    if (turn < 3)
        open_answer(play, raced, number);
    else if (turn < 6)
        give_chunk(play, raced, number);
    else if (turn < 8)
        break_off(play, raced, number);
    else
        finish(play, raced, number);
    check(play);
}

static void wake_all(struct play *play, struct tally *tally)
{
    for (size_t i = 0; i < CALLS; i++)
        if (play->calls[i].call != NULL && weir_call_expiry(play->calls[i].call) <= play->now_ns)
            follow(play, &play->calls[i], tally);
}

static void play_on(struct play *play, struct tally *tally)
{
    struct raced *raced = &play->calls[weir_rand_below(&play->rand, CALLS)];

    if (once_in(play, 2)) {
        play->now_ns += weir_rand_below(&play->rand, WEIR_NS_PER_S);
        wake_all(play, tally);
    }
    if (raced->call == NULL) {
        begin(play, raced, tally);
    } else if (once_in(play, 20)) {
        tally->cancelled++;
        leave(play, raced);
        check(play);
    } else if (once_in(play, 20)) {
        weir_call_on_client_gone(raced->call, play->now_ns);
        follow(play, raced, tally);
    } else if (raced->count > 0) {
        tell(play, raced);
        follow(play, raced, tally);
    }
}

static void races_give_back_what_they_do_not_use(void **state)
{
    struct tally tally = {.lost = 0};
    struct play play;
    (void)state;

    for (uint64_t seed = 1; seed <= PLAYS; seed++) {
        open_play(&play, seed);
        for (int i = 0; i < INPUTS; i++)
            play_on(&play, &tally);
        for (size_t i = 0; i < CALLS; i++)
            leave(&play, &play.calls[i]);
        check(&play);
        assert_true(play.now_ns < START_NS + 60 * WEIR_NS_PER_S);
        weir_snapshot_unref(play.snapshot);
        weir_router_free(play.router);
    }
    print_message("lost %u, refused %u, left %u, answered %u\n", tally.lost, tally.refused, tally.cancelled,
                  tally.answered);
    assert_true(tally.lost > PLAYS && tally.refused > PLAYS && tally.cancelled > PLAYS &&
                tally.answered > PLAYS);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {cmocka_unit_test(races_give_back_what_they_do_not_use)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
