/*
 * How an answer comes in: opened, first chunk, content, finished, broken.
 *
 * Opening ends an attempt for nobody: a stream that breaks before content went out is a failed attempt like
 * any other, and the window of the error rates gets an attempt when it is over (decisions 1).  Content is
 * committed, once, when the host asks for a step; from then on the attempt's end is the call's end.
 */
#include "engine/call.h"

#include "base/time.h"
#include "engine/fallback.h"
#include "engine/limits.h"
#include "engine/router.h"

uint64_t weir_stream_limit(const struct weir_call *call, const struct weir_frame *frame,
                           const weir_deployment *deployment, bool *ret_by_caller)
{
    const struct weir_controls *request = &call->request.controls;
    struct weir_limits limits = WEIR_LIMITS_NONE;
    unsigned callers = 0, bit = WEIR_LIMIT_BIT(TIMEOUT), taken;
    uint64_t limit_ns;

    if (frame->target != NULL) {
        taken = weir_limits_take(&limits, &frame->target->controls.limits);
        callers |= frame->target->controls.by_caller ? taken : 0;
    }
    taken = weir_limits_take(&limits, &request->limits);
    callers |= request->by_caller ? taken : 0;
    (void)weir_limits_take(&limits, &deployment->spec.limits);
    limit_ns = limits.timeout_ns;
    if (call->request.stream && limits.stream_timeout_ns != WEIR_UNSET_NS) {
        limit_ns = limits.stream_timeout_ns;
        bit = WEIR_LIMIT_BIT(STREAM_TIMEOUT);
    }
    *ret_by_caller = (callers & bit) != 0;
    return limit_ns;
}

void weir_call_on_opened(weir_call *call, uint32_t attempt, uint64_t now_ns)
{
    struct weir_attempt *a = weir_attempt_running(call, attempt);

    weir_call_note_time(call, now_ns);
    if (a != NULL)
        a->opened = true;
}

void weir_call_on_chunk(weir_call *call, uint32_t attempt, const struct weir_stream_chunk *chunk,
                        uint64_t now_ns)
{
    struct weir_attempt *a = weir_attempt_running(call, attempt);

    weir_call_note_time(call, now_ns);
    if (a == NULL)
        return;
    a->opened = true;
    if (call->request.stream)
        a->deadline_ns = WEIR_TIME_NEVER;
    if (chunk->deltas > 0 || chunk->full)
        a->content = true;
}

void weir_call_on_paused(weir_call *call, uint32_t attempt, bool paused, uint64_t now_ns)
{
    struct weir_attempt *a = weir_attempt_running(call, attempt);

    weir_call_note_time(call, now_ns);
    if (a == NULL || a->paused == paused)
        return;
    a->paused = paused;
    if (a->deadline_ns != WEIR_TIME_NEVER)
        a->deadline_ns = weir_time_add(call->now_ns, a->limit_ns);
}

/* Whether a filtered answer is to be had elsewhere (router-semantics 11.5). */
static bool is_refused(const struct weir_call *call, const struct weir_attempt *a,
                       const struct weir_outcome *outcome)
{
    return outcome->content_filtered && !call->request.stream && !a->content &&
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
    if (is_refused(call, a, outcome)) {
        weir_attempt_fail(call, a, &filtered, WEIR_REASON_CONTENT_FILTERED);
        return;
    }
    a->state = WEIR_ATTEMPT_FINISHED;
    a->ended_ns = call->now_ns;
    a->outcome = *outcome;
    if (!call->request.caller_credentials)
        weir_live_enter(&call->router->live, a->deployment->slot, true, call->now_ns);
}

void weir_call_on_failed(weir_call *call, uint32_t attempt, const struct weir_failure *failure,
                         uint64_t now_ns)
{
    struct weir_attempt *a = weir_attempt_running(call, attempt);

    weir_call_note_time(call, now_ns);
    if (a != NULL)
        weir_attempt_fail(call, a, failure, WEIR_REASON_ATTEMPT);
}

static void end_overdue(struct weir_call *call)
{
    struct weir_failure timeout = {.kind = WEIR_KIND_TIMEOUT,
                                   .status = weir_kind_row(WEIR_KIND_TIMEOUT)->status};

    for (struct weir_attempt *a = call->attempts; a != NULL; a = a->next) {
        if (a->state != WEIR_ATTEMPT_RUNNING || a->paused || call->now_ns < a->deadline_ns)
            continue;
        timeout.origin = a->by_caller ? WEIR_ORIGIN_CALLER_LIMIT : WEIR_ORIGIN_PROVIDER;
        a->cancel = true;
        weir_attempt_fail(call, a, &timeout, WEIR_REASON_TIMEOUT);
    }
}

/* A stream that broke before content has been served by the attempt after all. */
static void tell_recovered(struct weir_call *call, const struct weir_attempt *a)
{
    struct weir_event *event;

    if (!call->broken)
        return;
    call->broken = false;
    event = weir_event_add(&call->events, WEIR_EVENT_STREAM_RECOVERED, call->now_ns);
    event->attempt = a->number;
    event->group = a->frame->from.group;
    event->deployment = a->deployment->spec.id;
}

static enum weir_turn commit(struct weir_call *call, struct weir_attempt *a, struct weir_step *ret_step)
{
    a->committed = true;
    call->committed = true;
    tell_recovered(call, a);
    *ret_step = (struct weir_step){.kind = WEIR_STEP_COMMIT, .attempt = a->number};
    return WEIR_TURN_STEP;
}

static enum weir_turn deliver(struct weir_call *call, const struct weir_attempt *a,
                              struct weir_step *ret_step)
{
    struct weir_event *event;

    tell_recovered(call, a);
    event = weir_event_add(&call->events, WEIR_EVENT_SUCCEEDED, call->now_ns);
    event->attempt = a->number;
    event->group = a->frame->from.group;
    event->deployment = a->deployment->spec.id;
    event->u.succeeded.prompt_tokens = a->outcome.prompt_tokens;
    event->u.succeeded.completion_tokens = a->outcome.completion_tokens;
    event->u.succeeded.duration_ns = call->now_ns - call->began_ns;
    call->state = WEIR_CALL_OVER;
    *ret_step = (struct weir_step){.kind = WEIR_STEP_DELIVER, .attempt = a->number};
    return WEIR_TURN_STEP;
}

static enum weir_turn lose(struct weir_call *call, struct weir_attempt *a)
{
    struct weir_loss loss = {.failure = a->failure,
                             .reason = a->reason,
                             .attempt = a->number,
                             .retries = a->frame->loop.retries,
                             .max_retries = a->frame->loop.limit};

    if (a->committed) {
        weir_attempt_report(call, a, false, 0);
        weir_call_fail(call, &loss);
    } else {
        call->broken |= call->request.stream && a->opened;
        weir_retry_judge(call, &loss.failure, loss.reason, a);
    }
    weir_attempt_drop(call, a);
    return WEIR_TURN_AGAIN;
}

enum weir_turn weir_state_run(struct weir_call *call, struct weir_step *ret_step)
{
    end_overdue(call);
    for (struct weir_attempt *a = call->attempts; a != NULL; a = a->next) {
        if (a->cancel) {
            a->cancel = false;
            *ret_step = (struct weir_step){.kind = WEIR_STEP_CANCEL, .attempt = a->number};
            return WEIR_TURN_STEP;
        }
        if (a->state == WEIR_ATTEMPT_FAILED)
            return lose(call, a);
        if (a->content && !a->committed)
            return commit(call, a, ret_step);
        if (a->state == WEIR_ATTEMPT_FINISHED)
            return deliver(call, a, ret_step);
    }
    return WEIR_TURN_IDLE;
}
