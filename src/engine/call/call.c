/*
 * The call itself: its beginning and end, the loop over its states, and what can be read of it.
 *
 * The machine is a table of states (tbl/steps.h), one function each.  A function either gives the host a
 * step, or changes the state and lets the loop go on, or has nothing to do.  Every state that changes another
 * without a step uses something up that does not grow back (a try, a target, a tier), so the loop ends; the
 * bound on its turns turns a mistake in that reasoning into an error instead of a hang.
 */
#include "engine/call/call.h"

#include <weir/error.h>

#include "base/slice.h"
#include "base/time.h"
#include "engine/call/attempt.h"
#include "engine/call/charge.h"
#include "engine/live/usage.h"
#include "engine/pick/access.h"
#include "engine/router.h"
#include "engine/snapshot/limits.h"

enum { ARENA_BLOCK_BYTES = 2048, TURNS_MAX = 1 << 20 };

static const size_t arena_max_bytes = (size_t)8 << 20;

typedef enum weir_turn (*state_fn)(struct weir_call *call, struct weir_step *ret_step);

static const state_fn states[WEIR_CALL_STATES] = {
#define X(state, function, prose) [WEIR_CALL_##state] = function,
#include "engine/tbl/steps.h"
#undef X
};

void weir_request_init(struct weir_request *request)
{
    *request = (struct weir_request){.lar1 = {.confidence = 0.5}, .controls = WEIR_CONTROLS_NONE};
}

int weir_call_begin(weir_router *router, weir_snapshot *snapshot, const struct weir_request *request,
                    const struct weir_mem *mem, uint64_t now_ns, weir_call **ret_call)
{
    weir_call *call;

    if (request->model.len == 0 || snapshot->router != router)
        return WEIR_ERR_INVALID;
    call = mem->alloc(mem->user, sizeof(*call));
    if (call == NULL)
        return WEIR_ERR_NOMEM;
    *call = (weir_call){.router = router,
                        .snapshot = weir_snapshot_ref(snapshot),
                        .mem = mem,
                        .request = *request,
                        .state = WEIR_CALL_RESOLVE,
                        .race = {.at_ns = WEIR_TIME_NEVER},
                        .began_ns = now_ns,
                        .now_ns = now_ns};
    call->root.name = request->model;
    call->frame = &call->root;
    weir_arena_init(&call->arena, mem, ARENA_BLOCK_BYTES, arena_max_bytes);
    weir_event_queue_init(&call->events, &call->arena);
    weir_router_seed_call(router, &call->rand);
    call->deadline_ns =
        weir_time_add(now_ns, weir_limits_call_deadline(&request->controls.limits, &snapshot->spec.limits));
    *ret_call = call;
    return 0;
}

void weir_call_free(weir_call *call)
{
    if (call == NULL)
        return;
    for (struct weir_attempt *a = call->attempts; a != NULL; a = a->next)
        weir_charge_end(call, a);
    weir_arena_deinit(&call->arena);
    weir_snapshot_unref(call->snapshot);
    call->mem->free(call->mem->user, call, sizeof(*call));
}

uint32_t weir_call_num_retries(const struct weir_call *call, const struct weir_frame *frame)
{
    uint32_t hop = frame->target == NULL ? WEIR_UNSET : frame->target->controls.num_retries;

    return hop != WEIR_UNSET ? hop : call->request.controls.num_retries;
}

void weir_call_fail(struct weir_call *call, const struct weir_loss *loss)
{
    call->end = *loss;
    call->lost = true;
    call->state = WEIR_CALL_FAIL;
}

static bool is_ending(const struct weir_call *call)
{
    return call->state == WEIR_CALL_FAIL || call->state == WEIR_CALL_OVER;
}

/* The group that a failure is told of which is not a group's: the one that serves, or else the asked one. */
static struct weir_slice group_of(const struct weir_call *call)
{
    return call->committed ? call->frame->from.group : call->root.from.group;
}

static void fail_for(struct weir_call *call, weir_kind kind, int status, weir_origin origin,
                     weir_reason reason)
{
    struct weir_loss loss = {.failure = {.kind = kind, .status = status, .origin = origin},
                             .reason = reason,
                             .group = group_of(call)};

    if (is_ending(call))
        return;
    call->stop = loss.failure;
    weir_call_fail(call, &loss);
}

void weir_call_fail_late(struct weir_call *call)
{
    const struct weir_frame *root = &call->root;
    struct weir_loss loss = {.failure = {.kind = WEIR_KIND_TIMEOUT,
                                         .status = weir_kind_row(WEIR_KIND_TIMEOUT)->status,
                                         .origin = WEIR_ORIGIN_ROUTER},
                             .reason = WEIR_REASON_TIMEOUT,
                             .group = group_of(call)};

    call->stop = loss.failure;
    if (!call->committed && root->has_first)
        loss = root->first;
    else if (!call->committed && root->latest.failure.status != 0)
        loss = root->latest;
    weir_call_fail(call, &loss);
}

void weir_call_make_set(struct weir_call *call, struct weir_slot_set *set)
{
    size_t words = weir_slot_set_words(call->snapshot->slot_limit);

    if (set->words == NULL)
        set->words = weir_arena_zalloc(&call->arena, words, sizeof(*set->words));
}

void weir_call_mark(struct weir_call *call, struct weir_slot_set *set, uint32_t slot)
{
    weir_call_make_set(call, set);
    if (set->words != NULL)
        set->words[slot / 64] |= UINT64_C(1) << slot % 64;
}

int weir_call_next(weir_call *call, uint64_t now_ns, struct weir_step *ret_step)
{
    enum weir_turn turn;

    weir_call_note_time(call, now_ns);
    for (int i = 0; i < TURNS_MAX; i++) {
        if (weir_arena_failed(&call->arena))
            fail_for(call, WEIR_KIND_INTERNAL, 500, WEIR_ORIGIN_ROUTER, WEIR_REASON_NOMEM);
        turn = states[call->state](call, ret_step);
        if (turn == WEIR_TURN_STEP)
            return 0;
        if (turn == WEIR_TURN_AGAIN)
            continue;
        *ret_step = (struct weir_step){.kind = WEIR_STEP_NONE};
        return 0;
    }
    call->state = WEIR_CALL_OVER;
    return WEIR_ERR_INTERNAL;
}

void weir_call_on_client_gone(weir_call *call, uint64_t now_ns)
{
    weir_call_note_time(call, now_ns);
    /* Whatever runs is neither a success nor a failure: FAIL cancels it. */
    if (call->request.stream || call->snapshot->spec.cancel_on_disconnect)
        fail_for(call, WEIR_KIND_API_ERROR, 499, WEIR_ORIGIN_CLIENT_GONE, WEIR_REASON_CLIENT_GONE);
}

/* Stops an attempt, which is neither a success nor a failure of its own.  Returns whether the host must be
 * told. */
static bool stop(struct weir_call *call, struct weir_attempt *a)
{
    bool is_complete = a->stream.state == WEIR_STREAM_ENDING;

    if (!weir_stream_runs(&a->stream))
        return a->cancel;
    weir_attempt_stop(call, a);
    if (!is_complete)
        weir_attempt_report_broken(call, a, &call->stop);
    return true;
}

enum weir_turn weir_state_fail(struct weir_call *call, struct weir_step *ret_step)
{
    struct weir_attempt *a = call->attempts;
    struct weir_event *event;
    bool must_tell;

    if (a != NULL) {
        *ret_step = (struct weir_step){.kind = WEIR_STEP_CANCEL, .attempt = a->number};
        must_tell = stop(call, a);
        weir_attempt_drop(call, a);
        return must_tell ? WEIR_TURN_STEP : WEIR_TURN_AGAIN;
    }
    event = weir_event_add(&call->events, WEIR_EVENT_FAILED, call->now_ns);
    event->attempt = call->end.attempt;
    event->group = call->end.group;
    event->u.failed.failure = call->end.failure;
    *ret_step = (struct weir_step){.kind = WEIR_STEP_FAIL};
    ret_step->u.fail = (struct weir_fail){.failure = call->end.failure,
                                          .reason = call->end.reason,
                                          .limit = call->end.limit,
                                          .attempt = call->end.attempt,
                                          .group = call->end.group,
                                          .committed = call->committed};
    call->state = WEIR_CALL_OVER;
    return WEIR_TURN_STEP;
}

enum weir_turn weir_state_over(struct weir_call *call, struct weir_step *ret_step)
{
    (void)call;
    (void)ret_step;
    return WEIR_TURN_IDLE;
}

/* When an attempt, or the call's own time, wants something to be done. */
static uint64_t next_due(const struct weir_call *call)
{
    uint64_t soonest_ns = call->deadline_ns < call->race.at_ns ? call->deadline_ns : call->race.at_ns, due_ns;

    for (const struct weir_attempt *a = call->attempts; a != NULL; a = a->next) {
        due_ns = weir_attempt_due(a, call->now_ns);
        soonest_ns = due_ns < soonest_ns ? due_ns : soonest_ns;
    }
    return soonest_ns;
}

uint64_t weir_call_expiry(const weir_call *call)
{
    if (call->state == WEIR_CALL_RUN)
        return next_due(call);
    if (call->state == WEIR_CALL_WAIT || call->state == WEIR_CALL_COOL)
        return call->frame->loop.wait_until_ns;
    if (call->state == WEIR_CALL_ASK && call->asking)
        return call->deadline_ns;
    return call->state == WEIR_CALL_OVER ? WEIR_TIME_NEVER : call->now_ns;
}

bool weir_call_event(weir_call *call, struct weir_event *ret_event)
{
    return weir_event_take(&call->events, ret_event);
}

void weir_call_summary(const weir_call *call, struct weir_summary *ret_summary)
{
    *ret_summary =
        (struct weir_summary){.group = call->frame->from.group,
                              .retries = call->lost ? call->end.retries : call->frame->loop.retries,
                              .max_retries = call->lost ? call->end.max_retries : call->frame->loop.limit,
                              .hops = call->hops,
                              .attempts = call->attempts_started,
                              .failures = call->failures,
                              .failure_count = call->failure_count};
}

/* What the group stands for, as the call sees it; false: nothing. */
static bool find_group(const struct weir_call *call, struct weir_slice group, struct weir_resolution *ret)
{
    *ret = call->root.from;
    return weir_slice_eq(group, ret->group) ||
           weir_resolve(call->snapshot, group, WEIR_SLICE_EMPTY, ret) == 0;
}

bool weir_call_is_shut(const struct weir_call *call, const weir_deployment *d, uint64_t now_ns)
{
    return weir_access_is_shut(&d->spec, call->request.team, weir_usage_minute(&call->router->live, now_ns));
}

size_t weir_call_members(const weir_call *call, struct weir_slice group, const weir_deployment **ret_members,
                         size_t max)
{
    struct weir_resolution found;
    size_t count = 0;

    if (!find_group(call, group, &found))
        return 0;
    if (found.set == NULL) {
        if (max > 0)
            ret_members[0] = found.only;
        return 1;
    }
    for (uint32_t i = 0; i < found.set->count; i++) {
        if (weir_call_is_shut(call, found.set->members[i], call->now_ns))
            continue;
        if (count < max)
            ret_members[count] = found.set->members[i];
        count++;
    }
    return count;
}

size_t weir_call_cooling(const weir_call *call, struct weir_slice group, uint64_t now_ns,
                         struct weir_slice *ret_ids, size_t max)
{
    struct weir_resolution found;
    size_t count = 0;

    if (!find_group(call, group, &found) || found.set == NULL)
        return 0;
    for (uint32_t i = 0; i < found.set->count; i++) {
        if (!weir_live_is_cooling(&call->router->live, found.set->members[i]->slot, now_ns) ||
            weir_call_is_shut(call, found.set->members[i], now_ns))
            continue;
        if (count < max)
            ret_ids[count] = found.set->members[i]->spec.id;
        count++;
    }
    return count;
}
