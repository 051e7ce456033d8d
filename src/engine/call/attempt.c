/*
 * An attempt from its step to its end, and that end's entry in the counters.
 *
 * The end of an attempt is entered when the host tells it, so that every later pick of any call sees it; what
 * the call does about it is decided when the host asks for the next step.
 */
#include "engine/call/attempt.h"

#include "base/slice.h"
#include "base/time.h"
#include "engine/call/charge.h"
#include "engine/call/hedge.h"
#include "engine/failure.h"
#include "engine/live/budget.h"
#include "engine/router.h"

static struct weir_attempt *new_attempt(struct weir_call *call)
{
    struct weir_attempt *attempt = call->spare_attempts, **last = &call->attempts;

    if (attempt != NULL)
        call->spare_attempts = attempt->next;
    else
        attempt = weir_arena_alloc(&call->arena, sizeof(*attempt));
    if (attempt == NULL)
        return NULL;
    *attempt = (struct weir_attempt){.frame = call->frame};
    while (*last != NULL)
        last = &(*last)->next;
    *last = attempt;
    return attempt;
}

/* A loop that is not the frame's first one is told of when it has found somebody to try. */
static void announce(struct weir_call *call, const weir_deployment *deployment)
{
    const struct weir_frame *frame = call->frame;
    bool is_order = frame->loop.mode == WEIR_PICK_ORDER;
    struct weir_event *event;

    if (frame->loop.begun || frame->loop.mode == WEIR_PICK_LOWEST)
        return;
    event = weir_event_add(&call->events, WEIR_EVENT_FALLBACK, call->now_ns);
    event->group = frame->from.group;
    event->deployment = deployment->spec.id;
    event->u.fallback.kind = is_order ? WEIR_HOP_ORDER : WEIR_HOP_SIBLING;
    event->u.fallback.source = frame->from.group;
    event->u.fallback.target = frame->from.group;
    event->u.fallback.order = is_order ? frame->loop.order : WEIR_UNSET_ORDER;
    event->u.fallback.depth = call->hops;
    event->u.fallback.level = frame->level;
    event->u.fallback.cause = frame->latest.failure;
}

static struct weir_start start_of(struct weir_call *call, const weir_deployment *deployment,
                                  const struct weir_attempt_limits *limits, bool holds)
{
    const struct weir_frame *frame = call->frame;

    return (struct weir_start){.deployment = deployment,
                               .group = frame->from.group,
                               .model = weir_resolve_provider_model(&call->arena, &frame->from, deployment),
                               .overrides =
                                   frame->target == NULL ? WEIR_SLICE_EMPTY : frame->target->overrides,
                               .hop = call->hops,
                               .limit_ns = limits->timeout_ns == WEIR_TIME_NEVER ? 0 : limits->timeout_ns,
                               .holds = holds};
}

/* The limits of an attempt that would be made now. */
static struct weir_attempt_limits limits_of(const struct weir_call *call, const weir_deployment *deployment)
{
    const struct weir_target *target = call->frame->target;
    struct weir_attempt_limits limits;

    weir_limits_find(target == NULL ? NULL : &target->controls, &call->request.controls,
                     &deployment->spec.limits, call->request.stream, &limits);
    /* The caller has content already: there is nothing to hold any more back for. */
    if (weir_call_is_continuing(call))
        limits.hold = (struct weir_stream_hold){.said = false};
    return limits;
}

uint64_t weir_attempt_deadline(const struct weir_call *call, const weir_deployment *deployment)
{
    return weir_time_add(call->began_ns, limits_of(call, deployment).call_deadline_ns);
}

/* The first attempt in a group is a request of it. */
static void count_request(struct weir_call *call, const weir_deployment *deployment)
{
    struct weir_budget *budget = deployment->group->budget;

    if (budget != NULL && !call->frame->attempted)
        weir_budget_count(budget, call->now_ns);
    call->frame->attempted = true;
}

/* The attempt ends before it has begun: what follows is what follows any failure. */
static void refuse(struct weir_call *call, struct weir_attempt *attempt, const struct weir_refusal *refusal)
{
    attempt->limit = refusal->limit;
    weir_attempt_fail(call, attempt, WEIR_STREAM_ON_FAILED, &refusal->failure, refusal->reason);
}

enum weir_turn weir_attempt_start(struct weir_call *call, const weir_deployment *deployment,
                                  weir_step_kind kind, struct weir_step *ret_step)
{
    const struct weir_attempt_limits limits = limits_of(call, deployment);
    struct weir_refusal refusal;
    struct weir_attempt *attempt;

    call->deadline_ns = weir_time_add(call->began_ns, limits.call_deadline_ns);
    if (call->now_ns >= call->deadline_ns) {
        weir_call_fail_late(call);
        return WEIR_TURN_AGAIN;
    }
    attempt = new_attempt(call);
    if (attempt == NULL)
        return WEIR_TURN_AGAIN;
    announce(call, deployment);
    call->frame->loop.begun = true;
    count_request(call, deployment);
    call->tries++;
    call->state = WEIR_CALL_RUN;
    attempt->deployment = deployment;
    attempt->continues = kind == WEIR_STEP_CONTINUE;
    weir_stream_begin(&attempt->stream, &limits, !call->request.stream, call->now_ns);
    if (weir_charge_begin(call, attempt, &refusal) != 0) {
        refuse(call, attempt, &refusal);
        return WEIR_TURN_AGAIN;
    }
    weir_hedge_arm(call, deployment, kind);
    attempt->number = ++call->attempts_started;
    (void)weir_attempt_event(call, attempt, WEIR_EVENT_ATTEMPT_STARTED, call->now_ns);
    *ret_step = (struct weir_step){.kind = kind, .attempt = attempt->number};
    ret_step->u.start =
        start_of(call, deployment, &limits, limits.hold.tokens > 0 && limits.hold.window_ns > 0);
    return WEIR_TURN_STEP;
}

struct weir_attempt *weir_attempt_running(const struct weir_call *call, uint32_t number)
{
    for (struct weir_attempt *a = call->attempts; a != NULL; a = a->next)
        if (a->number == number)
            return weir_stream_runs(&a->stream) ? a : NULL;
    return NULL;
}

void weir_attempt_finish(struct weir_call *call, struct weir_attempt *attempt, enum weir_stream_input input,
                         const struct weir_outcome *outcome)
{
    weir_stream_feed(&attempt->stream, input);
    attempt->ended_ns = call->now_ns;
    attempt->outcome = *outcome;
    weir_charge_end(call, attempt);
    weir_charge_success(call, attempt);
    if (!call->request.caller_credentials)
        weir_live_enter(&call->router->live, attempt->deployment->slot, true, call->now_ns);
}

void weir_attempt_stop(struct weir_call *call, struct weir_attempt *attempt)
{
    weir_stream_feed(&attempt->stream, WEIR_STREAM_ON_STOP);
    attempt->ended_ns = call->now_ns;
    weir_charge_end(call, attempt);
}

int32_t weir_attempt_order(const struct weir_attempt *attempt)
{
    const struct weir_set *set = attempt->frame->from.set;

    return set == NULL ? attempt->deployment->spec.order : weir_set_order_of(set, attempt->deployment);
}

void weir_attempt_fail(struct weir_call *call, struct weir_attempt *attempt, enum weir_stream_input input,
                       const struct weir_failure *failure, weir_reason reason)
{
    if (weir_stream_next(attempt->stream.state, input) == WEIR_STREAM_DONE) {
        weir_attempt_finish(call, attempt, input, &(struct weir_outcome){.content_filtered = false});
        return;
    }
    weir_stream_feed(&attempt->stream, input);
    attempt->failure = weir_failure_sane(failure);
    attempt->reason = reason;
    attempt->ended_ns = call->now_ns;
    weir_charge_end(call, attempt);
    weir_charge_failure(call, attempt);
    attempt->frame->last_order = weir_attempt_order(attempt);
    weir_call_mark(call, &call->failed, attempt->deployment->slot);
    if (call->request.caller_credentials)
        return;
    if (attempt->failure.origin == WEIR_ORIGIN_PROVIDER)
        weir_live_note_failure(&call->router->live, attempt->deployment->slot, &attempt->failure,
                               call->now_ns);
    attempt->cooled = weir_cooldown_count(&call->router->live, call->snapshot, attempt->deployment,
                                          &attempt->failure, call->now_ns, &attempt->cooldown);
}

struct weir_event *weir_attempt_event(struct weir_call *call, const struct weir_attempt *attempt,
                                      weir_event_kind kind, uint64_t time_ns)
{
    struct weir_event *event = weir_event_add(&call->events, kind, time_ns);

    event->attempt = attempt->number;
    event->group = attempt->frame->from.group;
    event->deployment = attempt->deployment->spec.id;
    return event;
}

void weir_attempt_report_broken(struct weir_call *call, const struct weir_attempt *attempt,
                                const struct weir_failure *failure)
{
    struct weir_event *event;

    if (!call->request.stream || !attempt->stream.opened)
        return;
    event = weir_attempt_event(call, attempt, WEIR_EVENT_STREAM_BROKEN, call->now_ns);
    event->u.stream_broken.failure = *failure;
    event->u.stream_broken.stream = weir_stream_facts(&attempt->stream, attempt->ended_ns);
    event->u.stream_broken.committed = attempt->committed;
}

void weir_attempt_report(struct weir_call *call, const struct weir_attempt *attempt, bool will_retry,
                         uint64_t wait_ns)
{
    struct weir_event *event;

    weir_attempt_report_broken(call, attempt, &attempt->failure);
    event = weir_attempt_event(call, attempt,
                               attempt->number == 0 ? WEIR_EVENT_ATTEMPT_REFUSED : WEIR_EVENT_ATTEMPT_FAILED,
                               call->now_ns);
    event->u.attempt_failed.failure = attempt->failure;
    event->u.attempt_failed.will_retry = will_retry;
    event->u.attempt_failed.wait_ns = wait_ns;
    event->u.attempt_failed.duration_ns = attempt->ended_ns - attempt->stream.began_ns;
    if (!attempt->cooled)
        return;
    event = weir_attempt_event(call, attempt, WEIR_EVENT_COOLDOWN_SET, attempt->ended_ns);
    /* A cooldown is the deployment's own group's affair, whatever name was asked. */
    event->group = attempt->deployment->spec.group;
    event->u.cooldown_set.failure = attempt->failure;
    event->u.cooldown_set.rule = attempt->cooldown.rule;
    event->u.cooldown_set.length_ns = attempt->cooldown.length_ns;
    event->u.cooldown_set.until_ns = attempt->cooldown.until_ns;
    event->u.cooldown_set.capped = attempt->cooldown.capped;
    event->u.cooldown_set.number = attempt->cooldown.number;
}

struct weir_loss weir_attempt_loss(const struct weir_attempt *attempt)
{
    return (struct weir_loss){.failure = attempt->failure,
                              .reason = attempt->reason,
                              .limit = attempt->limit,
                              .group = attempt->frame->from.group,
                              .attempt = attempt->number,
                              .retries = attempt->frame->loop.retries,
                              .max_retries = attempt->frame->loop.limit};
}

void weir_attempt_drop(struct weir_call *call, struct weir_attempt *attempt)
{
    struct weir_attempt **at = &call->attempts;

    while (*at != attempt)
        at = &(*at)->next;
    *at = attempt->next;
    attempt->next = call->spare_attempts;
    call->spare_attempts = attempt;
}
