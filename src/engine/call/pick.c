/*
 * From a name to a deployment: what the frame's name stands for, and which of the candidates is tried next.
 *
 * Testing flags fail an attempt here, before there is one.
 */
#include "engine/call/pick.h"

#include "engine/call/attempt.h"
#include "engine/call/call.h"
#include "engine/call/cool.h"
#include "engine/call/fallback.h"
#include "engine/call/retry.h"
#include "engine/call/walk.h"
#include "engine/pick/note.h"
#include "engine/pick/tags.h"
#include "engine/router.h"
#include "engine/strategy/strategy.h"

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
    if (weir_call_is_continuing(call)) {
        if (r != 0)
            return weir_walk_back(call);
        call->state = WEIR_CALL_CONTINUE;
        return WEIR_TURN_AGAIN;
    }
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
    uint64_t end =
        weir_filter_soonest_end(&call->request, &call->router->live, &call->frame->from, call->now_ns);

    return end == UINT64_MAX ? call->snapshot->spec.cooldown_ns : end - call->now_ns;
}

static struct weir_pick pick_of(struct weir_call *call)
{
    return (struct weir_pick){.snapshot = call->snapshot,
                              .request = &call->request,
                              .live = &call->router->live,
                              .from = &call->frame->from,
                              .pool = call->pool,
                              .failed = call->failed,
                              .excluded = call->failed,
                              .now_ns = call->now_ns,
                              .mode = WEIR_PICK_LOWEST,
                              .order = WEIR_UNSET_ORDER};
}

/* The longest prompt that a deployment of the name takes, and how long this one is. */
static struct weir_limit_story prompt_story(const struct weir_call *call)
{
    const struct weir_set *set = call->frame->from.set;
    struct weir_limit_story story = {.what = WEIR_SLICE("max_input_tokens"),
                                     .usage = call->request.prompt_tokens};

    for (uint32_t i = 0; i < set->count; i++) {
        const struct weir_deployment_spec *spec = &set->members[i]->spec;

        if (spec->blocked || spec->max_input_tokens == WEIR_UNSET_NS ||
            spec->max_input_tokens < story.limit || weir_call_is_shut(call, set->members[i], call->now_ns))
            continue;
        story.deployment = spec->id;
        story.limit = spec->max_input_tokens;
    }
    return story;
}

/* What the caller is told where the filters left nobody. */
static void refuse(struct weir_call *call)
{
    const struct weir_pick pick = pick_of(call);
    weir_reason reason = weir_filter_why(&pick);
    struct weir_failure failure;

    if (reason == WEIR_REASON_PROMPT_TOO_LONG) {
        failure = router_failure(WEIR_KIND_CONTEXT_WINDOW);
    } else if (reason == WEIR_REASON_UNSUITABLE) {
        failure = router_failure(WEIR_KIND_BAD_REQUEST);
    } else if (reason == WEIR_REASON_TAGS) {
        failure = router_failure(WEIR_KIND_API_ERROR);
        failure.status = 401;
    } else {
        failure = router_failure(WEIR_KIND_RATE_LIMIT);
        failure.retry_after_ns = time_to_soonest_end(call);
    }
    weir_retry_give_up(call, &failure, reason);
    if (reason == WEIR_REASON_PROMPT_TOO_LONG)
        call->frame->latest.limit = prompt_story(call);
    if (reason == WEIR_REASON_NO_DEPLOYMENTS && weir_filter_is_starved(&pick))
        weir_cool_note(call, NULL);
}

/* No candidate is left for the loop. */
static void nobody(struct weir_call *call)
{
    struct weir_frame *frame = call->frame;

    call->state = WEIR_CALL_LEAVE;
    if (frame->loop.mode == WEIR_PICK_ORDER)
        frame->last_order = frame->loop.order;
    else if (frame->loop.mode == WEIR_PICK_SIBLINGS)
        frame->phase = WEIR_PHASE_CHAIN;
    else if (frame->from.set == NULL)
        give_up(call, WEIR_KIND_SERVICE_UNAVAILABLE, WEIR_REASON_PAUSED);
    else
        refuse(call);
}

static weir_pick_purpose purpose_of(const struct weir_call *call, enum weir_pick_mode mode)
{
    if (mode == WEIR_PICK_CONTINUATION)
        return WEIR_PICK_FOR_CONTINUATION;
    if (mode == WEIR_PICK_HEDGE)
        return WEIR_PICK_FOR_HEDGE;
    if (mode == WEIR_PICK_SIBLINGS)
        return WEIR_PICK_FOR_SIBLING;
    if (call->frame->loop.retries > 0)
        return WEIR_PICK_FOR_RETRY;
    return mode == WEIR_PICK_ORDER ? WEIR_PICK_FOR_ORDER : WEIR_PICK_FOR_ATTEMPT;
}

/* Tells observers of a pick. */
static void tell(struct weir_call *call, const struct weir_pick *pick, const struct weir_trail *trail,
                 const weir_deployment *chosen)
{
    uint32_t max = call->request.note_candidates, size = weir_resolution_size(pick->from);
    struct weir_event *event = weir_event_add(&call->events, WEIR_EVENT_PICKED, call->now_ns);
    struct weir_candidate *room;

    max = max < WEIR_CANDIDATES_MAX ? max : WEIR_CANDIDATES_MAX;
    max = max < size ? max : size;
    room = weir_event_room(&call->events, event, max);
    event->group = call->frame->from.group;
    if (chosen != NULL)
        event->deployment = chosen->spec.id;
    event->u.picked.purpose = purpose_of(call, pick->mode);
    if (pick->from->set != NULL)
        event->u.picked.strategy = weir_strategy_of(pick->from->set->strategy->strategy)->name;
    if (room != NULL)
        event->u.picked.count = weir_note_pick(pick, trail, chosen, max, room);
    event->u.picked.candidates = room;
    event->u.picked.omitted = size - event->u.picked.count;
}

struct weir_pick weir_pick_prepare(struct weir_call *call, enum weir_pick_mode mode, int32_t order,
                                   const struct weir_slot_set *excluded)
{
    struct weir_pick pick = pick_of(call);

    if (call->frame->from.set != NULL && weir_tags_route(&pick))
        weir_call_make_set(call, &call->pool);
    pick.pool = call->pool;
    pick.excluded = *excluded;
    pick.mode = mode;
    pick.order = order;
    return pick;
}

const weir_deployment *weir_pick_deployment(struct weir_call *call, enum weir_pick_mode mode, int32_t order,
                                            const struct weir_slot_set *excluded)
{
    struct weir_pick pick = weir_pick_prepare(call, mode, order, excluded);
    const weir_deployment *chosen;
    struct weir_trail trail;

    pick.dice = call->snapshot->has_ramp ? weir_rand_u64(&call->rand) : 0;
    chosen = weir_filter_pick(&pick, &call->rand, &trail);
    if (call->request.note_candidates > 0)
        tell(call, &pick, &trail, chosen);
    return chosen;
}

uint64_t weir_pick_soonest_return(struct weir_call *call)
{
    const struct weir_pick pick = pick_of(call);

    return weir_filter_soonest_return(&pick);
}

enum weir_turn weir_state_pick(struct weir_call *call, struct weir_step *ret_step)
{
    const struct weir_loop *loop = &call->frame->loop;
    const weir_deployment *deployment;

    if (mock_before_attempt(call) || mock_attempt(call))
        return WEIR_TURN_AGAIN;
    deployment = weir_pick_deployment(call, loop->mode, loop->order, &call->failed);
    if (deployment == NULL) {
        nobody(call);
        return WEIR_TURN_AGAIN;
    }
    return weir_attempt_start(call, deployment, WEIR_STEP_START, ret_step);
}
