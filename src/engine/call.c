/*
 * The call itself: its beginning and end, the loop over its states, and what can be read of it.
 *
 * The machine is a table of states (tbl/steps.h), one function each.  A function either gives the host a
 * step, or changes the state and lets the loop go on, or has nothing to do.  Every state that changes another
 * without a step uses something up that does not grow back (a try, a target, a tier), so the loop ends; the
 * bound on its turns turns a mistake in that reasoning into an error instead of a hang.
 */
#include "engine/call.h"

#include <weir/error.h>

#include "base/slice.h"
#include "base/time.h"
#include "engine/router.h"

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
    *request = (struct weir_request){.controls = WEIR_CONTROLS_NONE};
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
                        .began_ns = now_ns,
                        .now_ns = now_ns};
    call->root.name = request->model;
    call->frame = &call->root;
    weir_arena_init(&call->arena, mem, ARENA_BLOCK_BYTES, arena_max_bytes);
    weir_event_queue_init(&call->events, &call->arena);
    weir_router_seed_call(router, &call->rand);
    *ret_call = call;
    return 0;
}

void weir_call_free(weir_call *call)
{
    if (call == NULL)
        return;
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

static void fail_for(struct weir_call *call, weir_kind kind, int status, weir_origin origin,
                     weir_reason reason)
{
    struct weir_loss loss = {.failure = {.kind = kind, .status = status, .origin = origin}, .reason = reason};

    if (!is_ending(call))
        weir_call_fail(call, &loss);
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

enum weir_turn weir_state_fail(struct weir_call *call, struct weir_step *ret_step)
{
    const struct weir_frame *frame = call->committed ? call->frame : &call->root;
    struct weir_attempt *a = call->attempts;
    struct weir_event *event;
    bool runs;

    if (a != NULL) {
        runs = a->state == WEIR_ATTEMPT_RUNNING || a->cancel;
        *ret_step = (struct weir_step){.kind = WEIR_STEP_CANCEL, .attempt = a->number};
        weir_attempt_drop(call, a);
        return runs ? WEIR_TURN_STEP : WEIR_TURN_AGAIN;
    }
    event = weir_event_add(&call->events, WEIR_EVENT_FAILED, call->now_ns);
    event->attempt = call->end.attempt;
    event->group = frame->from.group;
    event->u.failed.failure = call->end.failure;
    *ret_step = (struct weir_step){.kind = WEIR_STEP_FAIL};
    ret_step->u.fail = (struct weir_fail){.failure = call->end.failure,
                                          .reason = call->end.reason,
                                          .attempt = call->end.attempt,
                                          .group = frame->from.group,
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

static uint64_t next_deadline(const struct weir_call *call)
{
    uint64_t soonest = WEIR_TIME_NEVER;

    for (const struct weir_attempt *a = call->attempts; a != NULL; a = a->next) {
        if (a->state != WEIR_ATTEMPT_RUNNING || (a->content && !a->committed))
            return call->now_ns;
        if (!a->paused && a->deadline_ns < soonest)
            soonest = a->deadline_ns;
    }
    return soonest;
}

uint64_t weir_call_expiry(const weir_call *call)
{
    if (call->state == WEIR_CALL_OVER || (call->state == WEIR_CALL_ASK && call->asking))
        return WEIR_TIME_NEVER;
    if (call->state == WEIR_CALL_WAIT)
        return call->frame->loop.wait_until_ns;
    return call->state == WEIR_CALL_RUN ? next_deadline(call) : call->now_ns;
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

size_t weir_call_cooling(const weir_call *call, struct weir_slice group, uint64_t now_ns,
                         struct weir_slice *ret_ids, size_t max)
{
    struct weir_resolution found = call->root.from;
    size_t count = 0;
    int r =
        weir_slice_eq(group, found.group) ? 0 : weir_resolve(call->snapshot, group, WEIR_SLICE_EMPTY, &found);

    if (r != 0 || found.set == NULL)
        return 0;
    for (uint32_t i = 0; i < found.set->count; i++) {
        if (!weir_live_is_cooling(&call->router->live, found.set->members[i]->slot, now_ns))
            continue;
        if (count < max)
            ret_ids[count] = found.set->members[i]->spec.id;
        count++;
    }
    return count;
}
