/*
 * From a name to a running attempt, and from an attempt's end to its entry in the counters.
 *
 * The end of an attempt is entered when the host tells it, so that every later pick of any call sees it; what
 * the call does about it is decided when the host asks for the next step.
 */
#include "engine/call.h"

#include "base/slice.h"
#include "base/time.h"
#include "engine/fallback.h"
#include "engine/router.h"

static struct weir_failure router_failure(weir_kind kind)
{
    return (struct weir_failure){
        .kind = kind, .status = weir_kind_row(kind)->status, .origin = WEIR_ORIGIN_ROUTER};
}

static void give_up(struct weir_call *call, weir_kind kind, weir_reason reason)
{
    struct weir_failure failure = router_failure(kind);

    weir_retry_give_up(call, &failure, reason);
}

/* The first target of "*" stands in for a name that stands for nothing, unless it was tried already. */
static int resolve_by_star(struct weir_call *call, struct weir_frame *frame)
{
    const struct weir_target *star = call->request.disable_fallbacks ? NULL : weir_fallback_star(call);
    struct weir_resolution found;

    if (star == NULL || weir_resolve(call->snapshot, star->model, WEIR_SLICE_EMPTY, &found) != 0 ||
        !weir_walk_try(call, found.group, WEIR_SLICE_EMPTY))
        return WEIR_RESOLVE_UNKNOWN;
    frame->from = found;
    return 0;
}

enum weir_turn weir_state_resolve(struct weir_call *call, struct weir_step *ret_step)
{
    struct weir_frame *frame = call->frame;
    bool is_root = frame == &call->root;
    struct weir_slice qualified = is_root ? call->request.qualified_model : WEIR_SLICE_EMPTY;
    int r;

    (void)ret_step;
    frame->from.group = weir_resolve_alias(call->snapshot, frame->name);
    /* The asked group is the first of those that no chain may lead to again. */
    if (is_root)
        (void)weir_walk_try(call, frame->from.group, WEIR_SLICE_EMPTY);
    if (is_root && call->request.specific_deployment)
        r = weir_resolve_model(call->snapshot, frame->name, &frame->from);
    else
        r = weir_resolve(call->snapshot, frame->name, qualified, &frame->from);
    if (r != 0)
        r = resolve_by_star(call, frame);
    call->state = WEIR_CALL_PICK;
    if (r != 0)
        give_up(call, WEIR_KIND_BAD_REQUEST, WEIR_REASON_UNKNOWN_MODEL);
    return WEIR_TURN_AGAIN;
}

/* A testing flag that fails the asked group before any attempt (router-semantics 12); false: none does. */
static bool mock_before_attempt(struct weir_call *call)
{
    unsigned mock = call->frame == &call->root && !call->frame->loop.begun ? call->request.mock : 0;
    weir_kind kind;

    if ((mock & WEIR_MOCK_FALLBACKS) != 0)
        kind = WEIR_KIND_INTERNAL;
    else if ((mock & WEIR_MOCK_CONTEXT_WINDOW) != 0)
        kind = WEIR_KIND_CONTEXT_WINDOW;
    else if ((mock & WEIR_MOCK_CONTENT_POLICY) != 0)
        kind = WEIR_KIND_CONTENT_POLICY;
    else
        return false;
    give_up(call, kind, WEIR_REASON_MOCK);
    return true;
}

/* A testing flag that fails this attempt; false: none does. */
static bool mock_attempt(struct weir_call *call)
{
    struct weir_failure failure;

    if ((call->request.mock & WEIR_MOCK_TIMEOUT) != 0 && call->frame == &call->root)
        failure = router_failure(WEIR_KIND_TIMEOUT);
    else if ((call->request.mock & WEIR_MOCK_RATE_LIMIT) != 0 && !call->frame->mocked)
        failure = router_failure(WEIR_KIND_RATE_LIMIT);
    else
        return false;
    call->frame->mocked = true;
    call->frame->loop.begun = true;
    call->tries++;
    weir_retry_judge(call, &failure, WEIR_REASON_MOCK, NULL);
    return true;
}

static uint64_t time_to_soonest_end(const struct weir_call *call)
{
    uint64_t end = weir_filter_soonest_end(&call->router->live, &call->frame->from, call->now_ns);

    return end == UINT64_MAX ? call->snapshot->spec.cooldown_ns : end - call->now_ns;
}

/* No candidate is left for the loop. */
static void nobody(struct weir_call *call)
{
    struct weir_frame *frame = call->frame;
    struct weir_failure failure = router_failure(WEIR_KIND_RATE_LIMIT);

    call->state = WEIR_CALL_LEAVE;
    if (frame->loop.mode == WEIR_PICK_ORDER) {
        frame->last_order = frame->loop.order;
    } else if (frame->loop.mode == WEIR_PICK_SIBLINGS) {
        frame->phase = WEIR_PHASE_CHAIN;
    } else if (frame->from.set == NULL) {
        give_up(call, WEIR_KIND_SERVICE_UNAVAILABLE, WEIR_REASON_PAUSED);
    } else {
        failure.retry_after_ns = time_to_soonest_end(call);
        weir_retry_give_up(call, &failure, WEIR_REASON_NO_DEPLOYMENTS);
    }
}

static struct weir_attempt *new_attempt(struct weir_call *call)
{
    struct weir_attempt *attempt = call->spare_attempts, **last = &call->attempts;

    if (attempt != NULL)
        call->spare_attempts = attempt->next;
    else
        attempt = weir_arena_alloc(&call->arena, sizeof(*attempt));
    if (attempt == NULL)
        return NULL;
    *attempt = (struct weir_attempt){.number = call->attempts_started + 1, .frame = call->frame};
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
}

static void start(struct weir_call *call, struct weir_attempt *attempt, const weir_deployment *deployment,
                  struct weir_step *ret_step)
{
    struct weir_frame *frame = call->frame;
    uint64_t limit_ns = weir_stream_limit(call, frame, deployment, &attempt->by_caller);
    struct weir_event *event;

    announce(call, deployment);
    frame->loop.begun = true;
    frame->attempted = true;
    call->tries++;
    call->attempts_started++;
    call->state = WEIR_CALL_RUN;
    attempt->deployment = deployment;
    attempt->started_ns = call->now_ns;
    attempt->limit_ns = limit_ns;
    attempt->deadline_ns = weir_time_add(call->now_ns, limit_ns);
    event = weir_event_add(&call->events, WEIR_EVENT_ATTEMPT_STARTED, call->now_ns);
    event->attempt = attempt->number;
    event->group = frame->from.group;
    event->deployment = deployment->spec.id;
    *ret_step = (struct weir_step){.kind = WEIR_STEP_START, .attempt = attempt->number};
    ret_step->u.start =
        (struct weir_start){.deployment = deployment,
                            .group = frame->from.group,
                            .model = weir_resolve_provider_model(&call->arena, &frame->from, deployment),
                            .overrides = frame->target == NULL ? WEIR_SLICE_EMPTY : frame->target->overrides,
                            .hop = call->hops,
                            .limit_ns = limit_ns};
}

enum weir_turn weir_state_pick(struct weir_call *call, struct weir_step *ret_step)
{
    const struct weir_frame *frame = call->frame;
    struct weir_pick pick = {.snapshot = call->snapshot,
                             .live = &call->router->live,
                             .from = &frame->from,
                             .failed = call->failed,
                             .now_ns = call->now_ns,
                             .mode = frame->loop.mode,
                             .order = frame->loop.order};
    const weir_deployment *deployment;
    struct weir_attempt *attempt;

    if (mock_before_attempt(call) || mock_attempt(call))
        return WEIR_TURN_AGAIN;
    deployment = weir_filter_pick(&pick, &call->rand);
    if (deployment == NULL) {
        nobody(call);
        return WEIR_TURN_AGAIN;
    }
    attempt = new_attempt(call);
    if (attempt == NULL)
        return WEIR_TURN_AGAIN;
    start(call, attempt, deployment, ret_step);
    return WEIR_TURN_STEP;
}

struct weir_attempt *weir_attempt_running(const struct weir_call *call, uint32_t number)
{
    for (struct weir_attempt *a = call->attempts; a != NULL; a = a->next)
        if (a->number == number)
            return a->state == WEIR_ATTEMPT_RUNNING ? a : NULL;
    return NULL;
}

static void mark_failed(struct weir_call *call, uint32_t slot)
{
    size_t words = (call->snapshot->slot_limit + 63) / 64;

    if (call->failed.words == NULL)
        call->failed.words = weir_arena_zalloc(&call->arena, words, sizeof(*call->failed.words));
    if (call->failed.words != NULL)
        call->failed.words[slot / 64] |= UINT64_C(1) << slot % 64;
}

/* What the host says, with a kind and a status that exist. */
static struct weir_failure sane(const struct weir_failure *told)
{
    struct weir_failure failure = *told;

    if ((unsigned)failure.kind >= WEIR_KIND_COUNT)
        failure.kind = WEIR_KIND_INTERNAL;
    if (failure.status < 400 || failure.status > 599)
        failure.status = weir_kind_row(failure.kind)->status;
    return failure;
}

void weir_attempt_fail(struct weir_call *call, struct weir_attempt *attempt,
                       const struct weir_failure *failure, weir_reason reason)
{
    attempt->state = WEIR_ATTEMPT_FAILED;
    attempt->failure = sane(failure);
    attempt->reason = reason;
    attempt->ended_ns = call->now_ns;
    attempt->frame->last_order = attempt->deployment->spec.order;
    mark_failed(call, attempt->deployment->slot);
    if (!call->request.caller_credentials)
        attempt->cooled = weir_cooldown_count(&call->router->live, call->snapshot, attempt->deployment,
                                              &attempt->failure, call->now_ns, &attempt->cooldown);
}

void weir_attempt_report(struct weir_call *call, const struct weir_attempt *attempt, bool will_retry,
                         uint64_t wait_ns)
{
    struct weir_event *event = weir_event_add(&call->events, WEIR_EVENT_ATTEMPT_FAILED, call->now_ns);

    event->attempt = attempt->number;
    event->group = attempt->frame->from.group;
    event->deployment = attempt->deployment->spec.id;
    event->u.attempt_failed.failure = attempt->failure;
    event->u.attempt_failed.will_retry = will_retry;
    event->u.attempt_failed.wait_ns = wait_ns;
    event->u.attempt_failed.duration_ns = attempt->ended_ns - attempt->started_ns;
    if (!attempt->cooled)
        return;
    event = weir_event_add(&call->events, WEIR_EVENT_COOLDOWN_SET, attempt->ended_ns);
    event->attempt = attempt->number;
    /* A cooldown is the deployment's own group's affair, whatever name was asked. */
    event->group = attempt->deployment->spec.group;
    event->deployment = attempt->deployment->spec.id;
    event->u.cooldown_set.failure = attempt->failure;
    event->u.cooldown_set.rule = attempt->cooldown.rule;
    event->u.cooldown_set.length_ns = attempt->cooldown.length_ns;
    event->u.cooldown_set.until_ns = attempt->cooldown.until_ns;
    event->u.cooldown_set.capped = attempt->cooldown.capped;
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
