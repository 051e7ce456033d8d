/*
 * All waits of a call together may last as long as the group allows one to, counted from the first: whoever
 * comes out of one may find that others were quicker, and that the deployment cools down again.
 */
#include "engine/call/cool.h"

#include "base/time.h"
#include "engine/call/attempt.h"
#include "engine/call/pick.h"
#include "engine/call/retry.h"

void weir_cool_note(struct weir_call *call, const weir_deployment *failed)
{
    struct weir_frame *frame = call->frame;
    bool sibling = frame->loop.mode == WEIR_PICK_SIBLINGS;

    frame->starved =
        (struct weir_starved){.is = true, .failed = failed, .loop = sibling ? frame->owing : frame->loop};
}

static void tell(struct weir_call *call, uint64_t wait_ns)
{
    struct weir_event *event = weir_event_add(&call->events, WEIR_EVENT_COOLING_WAIT, call->now_ns);

    event->group = call->root.from.group;
    event->u.cooling_wait.wait_ns = wait_ns;
}

/* How long the call may wait, by what the request says or else the asked group; an id has no group to wait
 * for. */
static uint64_t limit_of(const struct weir_call *call)
{
    uint64_t asked_ns = call->request.controls.all_cooling_wait_ns;

    if (call->root.from.set == NULL)
        return 0;
    return asked_ns != WEIR_UNSET_NS ? asked_ns : call->root.from.set->resilience.all_cooling_wait_ns;
}

/* Whether waiting is an answer to what ended the frame's latest loop. */
static bool may_wait(const struct weir_call *call)
{
    return call->root.starved.is && limit_of(call) > 0 && call->tries < WEIR_CALL_TRIES_MAX;
}

bool weir_cool_begin(struct weir_call *call)
{
    struct weir_frame *root = &call->root;
    const weir_deployment *failed = root->starved.failed;
    uint64_t end_ns;

    if (!may_wait(call))
        return false;
    end_ns = weir_pick_soonest_return(call);
    if (call->cool_limit_ns == 0)
        call->cool_limit_ns = weir_time_add(call->now_ns, limit_of(call));
    if (end_ns > call->cool_limit_ns || end_ns >= call->deadline_ns)
        return false;
    if (failed != NULL && !weir_retry_pay(call, failed, root->latest.attempt, WEIR_REFUSED_RETRY))
        return false;
    root->loop = root->starved.loop;
    root->loop.mode = WEIR_PICK_LOWEST;
    root->loop.wait_ns = end_ns - call->now_ns;
    root->loop.wait_until_ns = end_ns;
    call->state = WEIR_CALL_COOL;
    tell(call, root->loop.wait_ns);
    return true;
}

enum weir_turn weir_state_cool(struct weir_call *call, struct weir_step *ret_step)
{
    struct weir_frame *root = &call->root;

    (void)ret_step;
    if (call->now_ns < root->loop.wait_until_ns)
        return WEIR_TURN_IDLE;
    /* What follows is what the caller is told. */
    root->has_first = false;
    root->starved.is = false;
    call->state = WEIR_CALL_PICK;
    if (root->starved.failed != NULL)
        weir_retry_begin(call);
    return WEIR_TURN_AGAIN;
}
