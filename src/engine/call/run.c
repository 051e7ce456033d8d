/*
 * What the host tells of attempts, and what the call makes of it while they run.
 *
 * Opening ends an attempt for nobody: a stream that breaks before its content went out is a failed attempt
 * like any other, and the window of the error rates gets an attempt when it is over (decisions 1).  Content
 * is committed, once, when the host asks for a step; from then on the end of the attempt is the call's end,
 * unless another carries on what the caller has.
 */
#include "engine/call/attempt.h"
#include "engine/call/call.h"
#include "engine/call/continuation.h"
#include "engine/call/fallback.h"
#include "engine/call/hedge.h"
#include "engine/call/retry.h"

void weir_call_on_opened(weir_call *call, uint32_t attempt, uint64_t now_ns)
{
    struct weir_attempt *a = weir_attempt_running(call, attempt);

    weir_call_note_time(call, now_ns);
    if (a == NULL)
        return;
    weir_stream_feed(&a->stream, WEIR_STREAM_ON_OPENED);
    weir_hedge_settle(call, a);
}

/* What the caller has of the answer. */
static void note_shown(struct weir_call *call, uint64_t text_bytes, bool other)
{
    call->text_bytes += text_bytes;
    call->other |= other;
}

void weir_call_on_chunk(weir_call *call, uint32_t attempt, const struct weir_stream_chunk *chunk,
                        uint64_t now_ns)
{
    struct weir_attempt *a = weir_attempt_running(call, attempt);

    weir_call_note_time(call, now_ns);
    if (a == NULL)
        return;
    weir_stream_chunk(&a->stream, chunk, call->now_ns);
    weir_hedge_settle(call, a);
    if (a->committed)
        note_shown(call, chunk->text_bytes, chunk->other);
}

void weir_call_on_paused(weir_call *call, uint32_t attempt, bool paused, uint64_t now_ns)
{
    struct weir_attempt *a = weir_attempt_running(call, attempt);

    weir_call_note_time(call, now_ns);
    if (a != NULL)
        weir_stream_pause(&a->stream, paused, call->now_ns);
}

/* Whether a filtered answer is to be had elsewhere (router-semantics 11.5). */
static bool is_refused(const struct weir_call *call, const struct weir_attempt *a,
                       const struct weir_outcome *outcome)
{
    return outcome->content_filtered && !call->request.stream && !a->stream.content &&
           !call->request.disable_fallbacks && weir_fallback_has_content_policy(call, a->frame);
}

void weir_call_on_finished(weir_call *call, uint32_t attempt, const struct weir_outcome *outcome,
                           uint64_t now_ns)
{
    struct weir_attempt *a = weir_attempt_running(call, attempt);
    const struct weir_failure filtered = {.kind = WEIR_KIND_CONTENT_POLICY,
                                          .status = weir_kind_row(WEIR_KIND_CONTENT_POLICY)->status,
                                          .origin = WEIR_ORIGIN_PROVIDER};

    weir_call_note_time(call, now_ns);
    if (a == NULL)
        return;
    if (is_refused(call, a, outcome))
        weir_attempt_fail(call, a, WEIR_STREAM_ON_FAILED, &filtered, WEIR_REASON_CONTENT_FILTERED);
    else
        weir_attempt_finish(call, a, WEIR_STREAM_ON_FINISHED, outcome);
    weir_hedge_settle(call, a);
}

void weir_call_on_failed(weir_call *call, uint32_t attempt, const struct weir_failure *failure,
                         uint64_t now_ns)
{
    struct weir_attempt *a = weir_attempt_running(call, attempt);

    weir_call_note_time(call, now_ns);
    if (a != NULL)
        weir_attempt_fail(call, a, WEIR_STREAM_ON_FAILED, failure, WEIR_REASON_ATTEMPT);
}

/* Ends the attempts whose own limits have passed, and after their finish reason those of a call whose time is
 * up.  Returns whether that time is up for one that goes on. */
static bool end_overdue(struct weir_call *call)
{
    struct weir_failure timeout = {.kind = WEIR_KIND_TIMEOUT,
                                   .status = weir_kind_row(WEIR_KIND_TIMEOUT)->status};
    bool is_up = call->now_ns >= call->deadline_ns, by_caller = false, goes_on = false;

    for (struct weir_attempt *a = call->attempts; a != NULL; a = a->next) {
        if (!weir_stream_runs(&a->stream))
            continue;
        if (!weir_stream_is_late(&a->stream, call->now_ns, &by_caller) &&
            !(is_up && a->stream.state == WEIR_STREAM_ENDING)) {
            goes_on = true;
            continue;
        }
        timeout.origin = by_caller ? WEIR_ORIGIN_CALLER_LIMIT : WEIR_ORIGIN_PROVIDER;
        a->cancel = true;
        weir_attempt_fail(call, a, WEIR_STREAM_ON_LATE, &timeout, WEIR_REASON_TIMEOUT);
    }
    return is_up && goes_on;
}

/* A stream that broke before content has been served by the attempt after all. */
static void tell_recovered(struct weir_call *call, const struct weir_attempt *a)
{
    if (call->broken)
        (void)weir_attempt_event(call, a, WEIR_EVENT_STREAM_RECOVERED, call->now_ns);
    call->broken = false;
}

static void tell_continued(struct weir_call *call, const struct weir_attempt *a)
{
    struct weir_event *event = weir_attempt_event(call, a, WEIR_EVENT_STREAM_CONTINUED, call->now_ns);

    event->u.stream_continued.broken = call->continuation.attempt;
    event->u.stream_continued.text_bytes = call->text_bytes;
}

static enum weir_turn commit(struct weir_call *call, struct weir_attempt *a, struct weir_step *ret_step)
{
    a->committed = true;
    call->committed = true;
    tell_recovered(call, a);
    if (a->continues)
        tell_continued(call, a);
    note_shown(call, a->stream.text_bytes, a->stream.other);
    *ret_step = (struct weir_step){.kind = WEIR_STEP_COMMIT, .attempt = a->number};
    return WEIR_TURN_STEP;
}

static enum weir_turn deliver(struct weir_call *call, const struct weir_attempt *a,
                              struct weir_step *ret_step)
{
    struct weir_event *event;

    tell_recovered(call, a);
    event = weir_attempt_event(call, a, WEIR_EVENT_SUCCEEDED, call->now_ns);
    event->u.succeeded.prompt_tokens = a->outcome.prompt_tokens;
    event->u.succeeded.completion_tokens = a->outcome.completion_tokens;
    event->u.succeeded.duration_ns = call->now_ns - call->began_ns;
    event->u.succeeded.stream = weir_stream_facts(&a->stream, a->ended_ns);
    call->state = WEIR_CALL_OVER;
    *ret_step = (struct weir_step){.kind = WEIR_STEP_DELIVER, .attempt = a->number};
    return WEIR_TURN_STEP;
}

static enum weir_turn lose(struct weir_call *call, struct weir_attempt *a)
{
    if (weir_hedge_has_rival(call, a) && a->failure.kind != WEIR_KIND_GUARDRAIL) {
        call->broken |= call->request.stream && a->stream.opened;
        weir_retry_note(call, a);
    } else if (a->stream.state == WEIR_STREAM_CUT) {
        weir_attempt_report(call, a, false, 0);
        weir_continuation_begin(call, a);
    } else if (a->continues) {
        weir_attempt_report(call, a, false, 0);
        weir_continuation_lose(call, a);
    } else {
        call->broken |= call->request.stream && a->stream.opened;
        weir_retry_judge(call, &a->failure, a->reason, a);
    }
    weir_attempt_drop(call, a);
    return WEIR_TURN_AGAIN;
}

/* What failed beside one that is still running when the call's time is up has counted, so it is told. */
static void report_lost(struct weir_call *call)
{
    for (const struct weir_attempt *a = call->attempts; a != NULL; a = a->next)
        if (a->stream.state == WEIR_STREAM_BROKEN)
            weir_retry_note(call, a);
}

static enum weir_turn cancel(struct weir_attempt *a, struct weir_step *ret_step)
{
    a->cancel = false;
    *ret_step = (struct weir_step){.kind = WEIR_STEP_CANCEL, .attempt = a->number};
    return WEIR_TURN_STEP;
}

/* Deals with an attempt that is over. */
static enum weir_turn end(struct weir_call *call, struct weir_attempt *a, struct weir_step *ret_step)
{
    if (a->stream.state == WEIR_STREAM_DONE)
        return deliver(call, a, ret_step);
    if (a->stream.state != WEIR_STREAM_STOPPED)
        return lose(call, a);
    weir_attempt_drop(call, a);
    return WEIR_TURN_AGAIN;
}

/* Everything goes to the caller before the losers of a race are stopped, and those before the winner's end.
 */
enum weir_turn weir_state_run(struct weir_call *call, struct weir_step *ret_step)
{
    if (end_overdue(call)) {
        report_lost(call);
        weir_call_fail_late(call);
        return WEIR_TURN_AGAIN;
    }
    for (struct weir_attempt *a = call->attempts; a != NULL; a = a->next) {
        if (weir_stream_window_is_over(&a->stream, call->now_ns))
            weir_stream_feed(&a->stream, WEIR_STREAM_ON_WINDOW_OVER);
        if (weir_attempt_wants_commit(a))
            return commit(call, a, ret_step);
    }
    for (struct weir_attempt *a = call->attempts; a != NULL; a = a->next)
        if (a->cancel)
            return cancel(a, ret_step);
    for (struct weir_attempt *a = call->attempts; a != NULL; a = a->next)
        if (!weir_stream_runs(&a->stream))
            return end(call, a, ret_step);
    return call->now_ns < call->race.at_ns ? WEIR_TURN_IDLE : weir_hedge_start(call, ret_step);
}
