/*
 * The host of engine_kit.h: performs the steps of a call from a script and tells it what happened, moving the
 * virtual time to whatever comes first: a piece of an answer, the caller leaving, or the call's expiry.
 *
 * Everything that call.h promises of the order of steps is checked here, so each test checks it.
 */
#include "engine_host.h"

#include <inttypes.h>
#include <string.h>

#include "base/slice.h"
#include "base/time.h"

#define STEPS_MAX 20000

/* An attempt that was refused has no step: the story tells of it all the same. */
static void tell_refused(struct kit_call *call, const struct weir_event *event)
{
    kit_tell(call, "%s%.*s!", call->story_len == 0 ? "" : " ", S(event->deployment));
    call->told_of = 0;
}

/* The candidates of a pick are the call's only until it goes on. */
static void keep_candidates(struct kit_call *call, struct weir_event *event)
{
    struct weir_candidate *kept = call->noted + call->noted_count;

    if (event->kind != WEIR_EVENT_PICKED)
        return;
    call->noted_count += event->u.picked.count;
    if (call->noted_count > KIT_NOTED_MAX)
        kit_die(call->kit, "more than %d candidates", KIT_NOTED_MAX);
    if (event->u.picked.count > 0)
        memcpy(kept, event->u.picked.candidates, event->u.picked.count * sizeof(*kept));
    event->u.picked.candidates = kept;
}

static void drain_events(struct kit_call *call)
{
    struct weir_event event;
    char text[512];

    while (weir_call_event(call->call, &event)) {
        if (call->event_count == KIT_EVENTS_MAX)
            kit_die(call->kit, "more than %d events", KIT_EVENTS_MAX);
        if (event.time_ns != call->kit->now_ns)
            kit_die(call->kit, "an event of another time than now");
        keep_candidates(call, &event);
        call->events[call->event_count++] = event;
        if (call->kit->on_event != NULL)
            call->kit->on_event(call, &event);
        kit_event_text(&event, text, sizeof(text));
        kit_note(call->kit, "  event %s\n", text);
        if (event.kind == WEIR_EVENT_ATTEMPT_REFUSED)
            tell_refused(call, &event);
    }
}

static struct kit_attempt *running_attempt(struct kit_call *call, uint32_t number, const char *step)
{
    if (number == 0 || number > call->attempt_count)
        kit_die(call->kit, "%s of attempt %" PRIu32 ", which does not exist", step, number);
    return &call->attempts[number];
}

static void schedule(struct kit_call *call, struct kit_attempt *attempt)
{
    const struct kit_piece *piece;

    if (attempt->piece == attempt->answer->count) {
        attempt->due_ns = UINT64_MAX;
        return;
    }
    piece = &attempt->answer->pieces[attempt->piece];
    attempt->due_ns =
        piece->kind == KIT_HANG ? UINT64_MAX : weir_time_add(call->kit->now_ns, piece->delay_ns);
}

/* What must hold before an attempt may start: nothing was committed, or the attempt carries that on. */
static void check_start(struct kit_call *call, const struct weir_step *step)
{
    const struct weir_request *request = &call->request.request;
    uintptr_t index = (uintptr_t)weir_deployment_user(step->u.start.deployment);

    if (step->attempt != call->attempt_count + 1)
        kit_die(call->kit, "attempt %" PRIu32 " follows %" PRIu32, step->attempt, call->attempt_count);
    if (call->attempt_count == KIT_ATTEMPTS_MAX)
        kit_die(call->kit, "more than %d attempts", KIT_ATTEMPTS_MAX);
    if (index == 0 || index > call->config->deployment_count)
        kit_die(call->kit, "a start on a deployment of another snapshot");
    if ((step->kind == WEIR_STEP_CONTINUE) != (call->committed != 0))
        kit_die(call->kit, "a start after a commit, or a continuation before it");
    if (call->committed == 0)
        return;
    if (!request->may_continue || !call->config->router.continuation || request->disable_fallbacks)
        kit_die(call->kit, "a continuation that is not allowed");
    if (call->other || call->text_bytes == 0 || call->text_bytes > KIT_CONTINUE_MAX_BYTES)
        kit_die(call->kit, "a continuation of what cannot be continued");
    if (!call->config->deployments[index - 1].spec.supports_prefill)
        kit_die(call->kit, "a continuation on a deployment that takes no prefill");
}

static void do_start(struct kit_call *call, const struct weir_step *step)
{
    struct kit *kit = call->kit;
    uintptr_t index = (uintptr_t)weir_deployment_user(step->u.start.deployment);
    struct kit_deployment *deployment;
    struct kit_attempt *attempt;
    size_t turn;

    check_start(call, step);
    deployment = &call->config->deployments[index - 1];
    attempt = &call->attempts[++call->attempt_count];
    kit_note(kit, "%s %" PRIu32 " %.*s group=%.*s model=%.*s overrides=%.*s hop=%" PRIu32 "\n",
             step->kind == WEIR_STEP_CONTINUE ? "continue" : "start", step->attempt, S(deployment->spec.id),
             S(step->u.start.group), S(step->u.start.model), S(step->u.start.overrides), step->u.start.hop);
    kit_tell(call, "%s%.*s%s", call->story_len == 0 ? "" : " ", S(deployment->spec.id),
             step->kind == WEIR_STEP_CONTINUE ? ">" : "");
    turn = deployment->calls < deployment->answer_count ? deployment->calls : deployment->answer_count - 1;
    deployment->calls++;
    call->told_of = step->attempt;
    *attempt = (struct kit_attempt){.deployment = deployment,
                                    .answer = &deployment->answers[turn],
                                    .running = true,
                                    .continues = step->kind == WEIR_STEP_CONTINUE,
                                    .start = step->u.start};
    schedule(call, attempt);
    if (kit->on_start != NULL)
        kit->on_start(call, deployment);
}

static void do_cancel(struct kit_call *call, const struct weir_step *step)
{
    struct kit_attempt *attempt = running_attempt(call, step->attempt, "cancel");

    if (!attempt->running)
        kit_die(call->kit, "cancel of attempt %" PRIu32 ", which does not run", step->attempt);
    attempt->running = false;
    kit_note(call->kit, "cancel %" PRIu32 "\n", step->attempt);
    kit_tell_of(call, step->attempt, ":cancel");
}

static weir_answer answer_to(const struct kit_call *call, struct weir_slice target)
{
    for (size_t i = 0; i < call->config->reply_count; i++) {
        if (weir_slice_eq(call->config->replies[i].target, target))
            return call->config->replies[i].answer;
    }
    return WEIR_ANSWER_YES;
}

static void do_ask(struct kit_call *call, const struct weir_step *step)
{
    kit_note(call->kit, "ask %" PRIu32 " %.*s>%.*s questions=%u\n", step->u.ask.id, S(step->u.ask.source),
             S(step->u.ask.target), step->u.ask.questions);
    if (call->question.open)
        kit_die(call->kit, "a question while another is open");
    if ((step->u.ask.questions & ~call->config->router.ask_before_hop) != 0 || step->u.ask.questions == 0)
        kit_die(call->kit, "questions that nobody wants answered");
    call->question.open = true;
    call->question.ask = step->u.ask;
}

/* What an attempt was told and has committed is the caller's. */
static void show(struct kit_call *call, struct kit_attempt *attempt)
{
    call->text_bytes += attempt->text_bytes;
    call->other |= attempt->other;
    attempt->text_bytes = 0;
}

static void do_commit(struct kit_call *call, const struct weir_step *step)
{
    struct kit_attempt *attempt = running_attempt(call, step->attempt, "commit");

    if (attempt->committed || (call->committed != 0 && !attempt->continues))
        kit_die(call->kit, "a commit too many");
    if (!attempt->running && !attempt->is_complete)
        kit_die(call->kit, "a commit of attempt %" PRIu32 ", which failed", step->attempt);
    if (!attempt->has_content)
        kit_die(call->kit, "a commit of attempt %" PRIu32 ", which has no content", step->attempt);
    attempt->committed = true;
    call->committed = step->attempt;
    show(call, attempt);
    kit_note(call->kit, "commit %" PRIu32 "\n", step->attempt);
    kit_tell_of(call, step->attempt, "*");
}

static void do_deliver(struct kit_call *call, const struct weir_step *step)
{
    const struct kit_attempt *attempt = running_attempt(call, step->attempt, "deliver");

    if (call->committed != 0 && call->committed != step->attempt && !attempt->continues)
        kit_die(call->kit, "delivers another attempt than it committed");
    if (attempt->running || !attempt->is_complete)
        kit_die(call->kit, "delivers attempt %" PRIu32 ", which is not complete", step->attempt);
    call->delivered = step->attempt;
    call->end = KIT_DELIVERED;
    kit_note(call->kit, "deliver %" PRIu32 "\n", step->attempt);
    kit_tell_of(call, step->attempt, ":ok");
}

static void do_fail(struct kit_call *call, const struct weir_step *step)
{
    if (step->u.fail.committed != (call->committed != 0))
        kit_die(call->kit, "fail says the wrong thing about the commit");
    if (step->u.fail.attempt > call->attempt_count)
        kit_die(call->kit, "fail names attempt %" PRIu32 ", which does not exist", step->u.fail.attempt);
    if (step->u.fail.failure.status < 400 || step->u.fail.failure.status > 599)
        kit_die(call->kit, "fail with status %d", step->u.fail.failure.status);
    call->fail = step->u.fail;
    call->end = KIT_FAILED;
    kit_note(call->kit, "fail %d reason=%d attempt=%" PRIu32 " group=%.*s retry_after=%g%s\n",
             step->u.fail.failure.status, step->u.fail.reason, step->u.fail.attempt, S(step->u.fail.group),
             weir_time_to_s(step->u.fail.failure.retry_after_ns), step->u.fail.committed ? " committed" : "");
    kit_tell(call, "%sfail%s:%d", call->story_len == 0 ? "" : " ", step->u.fail.committed ? "*" : "",
             step->u.fail.failure.status);
}

static void perform(struct kit_call *call, const struct weir_step *step)
{
    if (call->end != KIT_RUNNING)
        kit_die(call->kit, "a step %d after the end", (int)step->kind);
    if (call->kit->on_step != NULL)
        call->kit->on_step(call, step);
    switch (step->kind) {
    case WEIR_STEP_START:
    case WEIR_STEP_CONTINUE:
        do_start(call, step);
        break;
    case WEIR_STEP_CANCEL:
        do_cancel(call, step);
        break;
    case WEIR_STEP_ASK:
        do_ask(call, step);
        break;
    case WEIR_STEP_COMMIT:
        do_commit(call, step);
        break;
    case WEIR_STEP_DELIVER:
        do_deliver(call, step);
        break;
    case WEIR_STEP_FAIL:
        do_fail(call, step);
        break;
    case WEIR_STEP_NONE:
    default:
        kit_die(call->kit, "an unknown step %d", (int)step->kind);
    }
}

/* Of several that run none has answered. */
static void check_race(const struct kit_call *call)
{
    uint32_t running = 0;
    uint32_t answered = 0;

    for (uint32_t i = 1; i <= call->attempt_count; i++) {
        running += call->attempts[i].running;
        answered += call->attempts[i].running && call->attempts[i].has_answered;
    }
    if (running > 1 && answered > 0)
        kit_die(call->kit, "a loser runs on");
}

/* What must hold whenever the call has nothing more to say for now. */
static void check_rest(struct kit_call *call)
{
    struct weir_summary summary = kit_summary(call);

    check_race(call);
    if (summary.attempts != call->attempt_count)
        kit_die(call->kit, "summary: %" PRIu32 " attempts", summary.attempts);
    /* where memory ran out events may be missing */
    if (!call->mem.failed && kit_event_count(call, WEIR_EVENT_ATTEMPT_STARTED) != call->attempt_count)
        kit_die(call->kit, "AttemptStarted is not said of each attempt");
    if (!call->mem.failed && (kit_event_count(call, WEIR_EVENT_SUCCEEDED) != (call->end == KIT_DELIVERED) ||
                              kit_event_count(call, WEIR_EVENT_FAILED) != (call->end == KIT_FAILED)))
        kit_die(call->kit, "Succeeded and Failed do not fit the end");
    if (call->end == KIT_RUNNING && weir_call_expiry(call->call) <= call->kit->now_ns)
        kit_die(call->kit, "the call wants to be woken at once, for ever");
    if (call->end != KIT_RUNNING && weir_call_expiry(call->call) != UINT64_MAX)
        kit_die(call->kit, "the call wants to be woken after its end");
    for (uint32_t i = 1; call->end != KIT_RUNNING && i <= call->attempt_count; i++) {
        if (call->attempts[i].running)
            kit_die(call->kit, "the call has ended, attempt %" PRIu32 " has not", i);
    }
}

static void answer_question(struct kit_call *call)
{
    static const char *const names[] = {"yes", "no", "unknown"};
    weir_answer answer = answer_to(call, call->question.ask.target);

    call->question.open = false;
    kit_note(call->kit, "answer %s\n", names[answer]);
    kit_tell(call, "%s?%.*s=%s", call->story_len == 0 ? "" : " ", S(call->question.ask.target),
             names[answer]);
    weir_call_on_answer(call->call, call->question.ask.id, answer, call->kit->now_ns);
    drain_events(call);
}

/* Performs steps until there is none; answers questions at once. */
void kit_pump(struct kit_call *call)
{
    struct weir_step step;
    bool was_running = call->end == KIT_RUNNING;

    call->kit->speaking = call->number;
    for (size_t i = 0; i < STEPS_MAX; i++) {
        int rc = weir_call_next(call->call, call->kit->now_ns, &step);

        if (rc != 0)
            kit_die(call->kit, "weir_call_next: %d", rc);
        drain_events(call);
        if (step.kind != WEIR_STEP_NONE) {
            if (call->is_quiet)
                kit_die(call->kit, "a step %d after a chunk that asked for none", (int)step.kind);
            perform(call, &step);
            continue;
        }
        call->is_quiet = false;
        if (!call->question.open) {
            check_rest(call);
            if (was_running && call->end != KIT_RUNNING)
                call->kit->running--;
            return;
        }
        answer_question(call);
    }
    kit_die(call->kit, "steps without end");
}

static void feed_failure(struct kit_call *call, uint32_t number, const struct weir_failure *failure)
{
    kit_note(call->kit, "tell %" PRIu32 " failed %.*s %d retry_after=%g origin=%.*s\n", number,
             S(weir_kind_row(failure->kind)->name), failure->status, weir_time_to_s(failure->retry_after_ns),
             S(weir_origin_name(failure->origin)));
    kit_tell_of(call, number, ":%d", failure->status);
    weir_call_on_failed(call->call, number, failure, call->kit->now_ns);
}

static void note_chunk(struct kit *kit, uint32_t number, const struct weir_stream_chunk *chunk)
{
    kit_note(kit, "tell %" PRIu32 " %s", number, chunk->deltas == 0 ? "chunk" : "content");
    if (chunk->deltas > 1)
        kit_note_more(kit, " deltas=%" PRIu32, chunk->deltas);
    if (chunk->text_bytes > 0)
        kit_note_more(kit, " text=%" PRIu32, chunk->text_bytes);
    kit_note_more(kit, "%s%s%s\n", chunk->other ? " other" : "", chunk->finish ? " finish" : "",
                  chunk->full ? " full" : "");
}

static void feed_chunk(struct kit_call *call, uint32_t number, const struct weir_stream_chunk *told)
{
    struct kit_attempt *attempt = &call->attempts[number];
    struct weir_stream_chunk chunk = *told;

    if (!call->request.request.stream) {
        if (told->deltas == 0)
            return;
        chunk = (struct weir_stream_chunk){.deltas = 1, .other = true};
    }
    note_chunk(call->kit, number, &chunk);
    attempt->has_content |= chunk.deltas > 0 || chunk.full;
    attempt->is_complete |= chunk.finish;
    attempt->has_answered |= attempt->has_content || chunk.finish;
    attempt->other |= chunk.other;
    attempt->text_bytes += chunk.text_bytes;
    if (attempt->committed)
        show(call, attempt);
    weir_call_on_chunk(call->call, number, &chunk, call->kit->now_ns);
    call->is_quiet = weir_call_expiry(call->call) > call->kit->now_ns;
}

static void feed_end(struct kit_call *call, uint32_t number, const struct weir_outcome *told, bool filtered)
{
    struct weir_outcome outcome = *told;

    outcome.content_filtered = filtered;
    kit_note(call->kit, "tell %" PRIu32 " %s\n", number, filtered ? "filtered" : "ok");
    if (filtered)
        kit_tell_of(call, number, ":filtered");
    call->attempts[number].is_complete = true;
    call->attempts[number].has_answered = true;
    weir_call_on_finished(call->call, number, &outcome, call->kit->now_ns);
}

static void feed_piece(struct kit_call *call, uint32_t number, const struct kit_piece *piece)
{
    uint64_t now_ns = call->kit->now_ns;

    switch (piece->kind) {
    case KIT_OPEN:
        kit_note(call->kit, "tell %" PRIu32 " open\n", number);
        call->attempts[number].has_answered |= !call->request.request.stream;
        weir_call_on_opened(call->call, number, now_ns);
        break;
    case KIT_CHUNK:
        feed_chunk(call, number, &piece->u.chunk);
        break;
    case KIT_PAUSE:
    case KIT_RESUME:
        kit_note(call->kit, "tell %" PRIu32 " %s\n", number, piece->kind == KIT_PAUSE ? "pause" : "resume");
        weir_call_on_paused(call->call, number, piece->kind == KIT_PAUSE, now_ns);
        break;
    case KIT_OK:
    case KIT_FILTERED:
        feed_end(call, number, &piece->u.outcome, piece->kind == KIT_FILTERED);
        break;
    case KIT_FAILURE:
        feed_failure(call, number, &piece->u.failure);
        break;
    case KIT_HANG:
    default:
        break;
    }
}

static void feed(struct kit_call *call, uint32_t number)
{
    struct kit_attempt *attempt = &call->attempts[number];
    const struct kit_piece *piece = &attempt->answer->pieces[attempt->piece];

    if (++attempt->times >= piece->times) {
        attempt->piece++;
        attempt->times = 0;
    }
    if (call->kit->on_tell != NULL)
        call->kit->on_tell(call, number, piece);
    attempt->running = piece->kind < KIT_OK;
    feed_piece(call, number, piece);
    if (attempt->running)
        schedule(call, attempt);
    drain_events(call);
}

/* The running attempt whose news comes first; 0: none runs. */
static uint32_t first_due(const struct kit_call *call)
{
    uint32_t first = 0;

    for (uint32_t i = 1; i <= call->attempt_count; i++) {
        if (call->attempts[i].running &&
            (first == 0 || call->attempts[i].due_ns < call->attempts[first].due_ns))
            first = i;
    }
    return first;
}

static uint64_t next_time(const struct kit_call *call)
{
    uint64_t time = weir_call_expiry(call->call);
    uint32_t first = first_due(call);

    if (first != 0 && call->attempts[first].due_ns < time)
        time = call->attempts[first].due_ns;
    if (call->gone_ns < time)
        time = call->gone_ns;
    return time;
}

/* Moves on to the next thing that happens. */
static void advance_to(struct kit_call *call, uint64_t time)
{
    struct kit *kit = call->kit;
    uint32_t first = first_due(call);

    kit->speaking = call->number;
    if (time > kit->now_ns && first == 0) {
        if (call->wait_count == KIT_WAITS_MAX)
            kit_die(kit, "more than %d waits", KIT_WAITS_MAX);
        kit_note(kit, "wait %.6f\n", weir_time_to_s(time - kit->now_ns));
        call->waits[call->wait_count++] = time - kit->now_ns;
    }
    if (time > kit->now_ns)
        kit->now_ns = time;
    if (first != 0 && call->attempts[first].due_ns <= kit->now_ns) {
        feed(call, first);
    } else if (call->gone_ns <= kit->now_ns) {
        call->gone_ns = UINT64_MAX;
        kit_note(kit, "the caller leaves\n");
        weir_call_on_client_gone(call->call, kit->now_ns);
        drain_events(call);
    }
    kit_pump(call);
}

void kit_run_until(struct kit_call *call, uint64_t until_ns)
{
    kit_pump(call);
    for (size_t i = 0; call->end == KIT_RUNNING && i < STEPS_MAX; i++) {
        uint64_t time = next_time(call);

        if (time > until_ns) {
            if (until_ns > call->kit->now_ns)
                call->kit->now_ns = until_ns;
            return;
        }
        if (time == UINT64_MAX)
            kit_die(call->kit, "the call is stuck: %s", call->story);
        advance_to(call, time);
    }
    if (call->end == KIT_RUNNING)
        kit_die(call->kit, "the call does not end");
}

void kit_run(struct kit_call *call)
{
    kit_run_until(call, UINT64_MAX);
}

void kit_run_all(struct kit *kit)
{
    while (kit->running > 0) {
        struct kit_call *first = NULL;

        for (struct kit_call *call = kit->calls; call != NULL; call = call->next) {
            if (call->end == KIT_RUNNING && (first == NULL || next_time(call) < next_time(first)))
                first = call;
        }
        if (first == NULL)
            kit_die(kit, "%zu calls run, yet none is there", kit->running);
        kit_run_until(first, next_time(first));
    }
}
