/*
 * Where a call goes when a retry loop is given up (router-semantics 11.1, 11.4, 13; decisions 11 to 13).
 *
 * A frame goes through three phases and never back: the orders above the tier that failed last, the siblings
 * that did not fail yet, the chain.  Its latest failure decides at every turn, so a context window error in
 * the second order goes to the chain at once.  Whatever is tried is remembered by name and overrides, so the
 * walk ends: every target serves at most once in a call.
 */
#include "engine/call/walk.h"

#include <string.h>

#include "base/slice.h"
#include "engine/call/cool.h"
#include "engine/call/fallback.h"

bool weir_walk_try(struct weir_call *call, struct weir_slice name, struct weir_slice overrides)
{
    struct weir_tried *tried;

    for (tried = call->tried; tried != NULL; tried = tried->next)
        if (weir_slice_eq(tried->name, name) && weir_slice_eq(tried->overrides, overrides))
            return false;
    tried = weir_arena_alloc(&call->arena, sizeof(*tried));
    if (tried == NULL)
        return false;
    *tried = (struct weir_tried){call->tried, name, overrides};
    call->tried = tried;
    call->tried_count++;
    return true;
}

/* Notes the failure with which a group is left, for those who want to hear of all of them. */
static void note_failure(struct weir_call *call, struct weir_frame *frame)
{
    size_t cap = call->failure_cap == 0 ? 4 : call->failure_cap * 2;
    struct weir_hop_failure *bigger;

    if (frame->left)
        return;
    frame->left = true;
    if (call->failure_count == call->failure_cap) {
        bigger = weir_arena_zalloc(&call->arena, cap, sizeof(*bigger));
        if (bigger == NULL)
            return;
        if (call->failure_count > 0)
            memcpy(bigger, call->failures, call->failure_count * sizeof(*bigger));
        call->failures = bigger;
        call->failure_cap = cap;
    }
    call->failures[call->failure_count++] =
        (struct weir_hop_failure){frame->from.group, frame->first.failure, frame->first.reason,
                                  frame->first.limit, frame->first.attempt};
}

enum weir_turn weir_walk_back(struct weir_call *call)
{
    struct weir_frame *frame = call->frame;

    if (frame == call->continuation.base) {
        call->state = WEIR_CALL_CONTINUE;
        return WEIR_TURN_AGAIN;
    }
    if (!weir_call_is_continuing(call))
        note_failure(call, frame);
    if (frame == &call->root) {
        if (!weir_cool_begin(call))
            weir_call_fail(call, &frame->first);
        return WEIR_TURN_AGAIN;
    }
    call->frame = frame->below;
    frame->below = call->spare_frames;
    call->spare_frames = frame;
    call->state = WEIR_CALL_WALK;
    return WEIR_TURN_AGAIN;
}

static void begin_loop(struct weir_call *call, enum weir_pick_mode mode, int32_t order)
{
    struct weir_frame *frame = call->frame;

    if (frame->loop.limit_known && frame->loop.mode != WEIR_PICK_SIBLINGS)
        frame->owing = frame->loop;
    frame->loop = (struct weir_loop){.mode = mode, .order = order};
    call->state = WEIR_CALL_PICK;
}

/* Siblings are drawn by weight, so only the strategy that weighs has them (router-semantics 13.2). */
static bool has_siblings(const struct weir_call *call, const struct weir_set *set)
{
    return call->snapshot->spec.weighted_failover && set->strategy->strategy == WEIR_STRATEGY_SIMPLE_SHUFFLE;
}

/* The next loop inside the same group; false when there is none. */
static bool next_in_group(struct weir_call *call)
{
    struct weir_frame *frame = call->frame;
    const struct weir_tier *tier;

    if (frame->phase == WEIR_PHASE_CHAIN || !frame->attempted || frame->from.set == NULL ||
        weir_fallback_own_list(frame->latest.failure.kind) != WEIR_LIST_GENERIC)
        return false;
    tier = weir_set_tier_above(frame->from.set, frame->last_order);
    if (frame->phase == WEIR_PHASE_ORDERS && tier != NULL) {
        begin_loop(call, WEIR_PICK_ORDER, tier->order);
        return true;
    }
    frame->phase = WEIR_PHASE_SIBLINGS;
    if (!has_siblings(call, frame->from.set))
        return false;
    begin_loop(call, WEIR_PICK_SIBLINGS, WEIR_UNSET_ORDER);
    return true;
}

enum weir_turn weir_state_leave(struct weir_call *call, struct weir_step *ret_step)
{
    struct weir_frame *frame = call->frame;

    (void)ret_step;
    if (!frame->has_first)
        frame->first = frame->latest;
    frame->has_first = true;
    if (frame->latest.failure.kind == WEIR_KIND_GUARDRAIL) {
        note_failure(call, frame);
        weir_call_fail(call, &call->root.first);
        return WEIR_TURN_AGAIN;
    }
    if (call->now_ns >= call->deadline_ns) {
        weir_call_fail_late(call);
        return WEIR_TURN_AGAIN;
    }
    if (call->request.disable_fallbacks || call->tries >= WEIR_CALL_TRIES_MAX)
        return weir_walk_back(call);
    if (next_in_group(call))
        return WEIR_TURN_AGAIN;
    frame->phase = WEIR_PHASE_CHAIN;
    note_failure(call, frame);
    return weir_walk_begin(call, frame->latest.failure.kind) ? WEIR_TURN_AGAIN : weir_walk_back(call);
}

bool weir_walk_begin(struct weir_call *call, weir_kind kind)
{
    if (!weir_fallback_chain(call, call->frame, kind, &call->frame->chain))
        return false;
    call->frame->next_target = 0;
    call->state = WEIR_CALL_WALK;
    return true;
}

/* The target that the walk of the top frame has come to. */
static const struct weir_target *target_of(const struct weir_call *call)
{
    return &call->frame->chain.targets[call->frame->next_target - 1];
}

/* What a frame is left for: in a continuation the break, where no attempt was made on the way. */
static struct weir_failure cause_of(const struct weir_call *call, const struct weir_frame *source)
{
    bool is_break =
        weir_call_is_continuing(call) && (source == call->continuation.base || !source->attempted);

    return is_break ? call->continuation.failure : source->latest.failure;
}

static enum weir_turn hop(struct weir_call *call)
{
    struct weir_frame *source = call->frame, *frame = call->spare_frames;
    const struct weir_target *target = target_of(call);
    struct weir_event *event;

    if (frame != NULL)
        call->spare_frames = frame->below;
    else
        frame = weir_arena_alloc(&call->arena, sizeof(*frame));
    if (frame == NULL)
        return WEIR_TURN_AGAIN;
    *frame = (struct weir_frame){
        .below = source, .level = source->level + 1, .name = target->model, .target = target};
    call->frame = frame;
    call->hops++;
    call->tries++;
    call->state = WEIR_CALL_RESOLVE;
    event = weir_event_add(&call->events, WEIR_EVENT_FALLBACK, call->now_ns);
    event->group = source->from.group;
    event->u.fallback.kind = WEIR_HOP_GROUP;
    event->u.fallback.source = source->from.group;
    event->u.fallback.target = weir_resolve_alias(call->snapshot, target->model);
    event->u.fallback.order = WEIR_UNSET_ORDER;
    event->u.fallback.depth = call->hops;
    event->u.fallback.level = source->level;
    event->u.fallback.cause = cause_of(call, source);
    return WEIR_TURN_AGAIN;
}

/* A hop that stays in the group, or comes back to the asked one, is nothing to ask about. */
static bool must_ask(const struct weir_call *call, struct weir_slice target)
{
    return call->snapshot->spec.ask_before_hop != 0 && !weir_slice_eq(target, call->frame->from.group) &&
           !weir_slice_eq(target, call->root.from.group);
}

static enum weir_turn ask(struct weir_call *call, struct weir_slice target, struct weir_step *ret_step)
{
    call->asking = true;
    call->asks++;
    call->state = WEIR_CALL_ASK;
    *ret_step = (struct weir_step){.kind = WEIR_STEP_ASK};
    ret_step->u.ask = (struct weir_ask){.id = call->asks,
                                        .questions = call->snapshot->spec.ask_before_hop,
                                        .source = call->frame->from.group,
                                        .target = target};
    return WEIR_TURN_STEP;
}

/* Whether the call may look at one more target. */
static bool may_go_on(const struct weir_call *call)
{
    return call->hops < call->snapshot->spec.max_fallbacks && call->tries < WEIR_CALL_TRIES_MAX &&
           call->tried_count < WEIR_CALL_TARGETS_MAX;
}

enum weir_turn weir_state_walk(struct weir_call *call, struct weir_step *ret_step)
{
    struct weir_frame *frame = call->frame;
    struct weir_slice name;

    while (may_go_on(call) && frame->next_target < frame->chain.count) {
        frame->next_target++;
        name = weir_resolve_alias(call->snapshot, target_of(call)->model);
        if (weir_walk_try(call, name, target_of(call)->overrides))
            return must_ask(call, name) ? ask(call, name, ret_step) : hop(call);
    }
    return weir_walk_back(call);
}

enum weir_turn weir_state_ask(struct weir_call *call, struct weir_step *ret_step)
{
    (void)ret_step;
    if (call->now_ns >= call->deadline_ns) {
        weir_call_fail_late(call);
        return WEIR_TURN_AGAIN;
    }
    if (call->asking)
        return WEIR_TURN_IDLE;
    if (call->answer == WEIR_ANSWER_YES)
        return hop(call);
    call->state = WEIR_CALL_WALK;
    return WEIR_TURN_AGAIN;
}

void weir_call_on_answer(weir_call *call, uint32_t ask_id, weir_answer answer, uint64_t now_ns)
{
    weir_call_note_time(call, now_ns);
    if (!call->asking || ask_id != call->asks)
        return;
    call->asking = false;
    call->answer = answer;
}
