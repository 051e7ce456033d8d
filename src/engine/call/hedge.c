/*
 * The race is decided when the host tells the news, not when it asks for the next step: what a loser says
 * after the winner is late news.  An attempt that fails while others run leaves them the race; only the
 * failure of the last one is the retry loop's business.
 */
#include "engine/call/hedge.h"

#include <string.h>

#include "base/time.h"
#include "engine/call/attempt.h"
#include "engine/call/pick.h"
#include "engine/call/retry.h"
#include "engine/snapshot/resilience.h"

/* What the target of the hop says, else the request, else the group. */
static const struct weir_hedge *hedge_of(const struct weir_call *call, const weir_deployment *deployment)
{
    const struct weir_target *target = call->frame->target;

    if (target != NULL && target->controls.hedge.after_ns != WEIR_UNSET_NS)
        return &target->controls.hedge;
    if (call->request.controls.hedge.after_ns != WEIR_UNSET_NS)
        return &call->request.controls.hedge;
    return &deployment->group->resilience.hedge;
}

/* Sets when the next one joins, if so many more may. */
static void arm(struct weir_call *call, const struct weir_hedge *hedge, uint32_t left)
{
    call->race.left = left;
    call->race.at_ns = left == 0 ? WEIR_TIME_NEVER : weir_time_add(call->now_ns, hedge->after_ns);
}

void weir_hedge_arm(struct weir_call *call, const weir_deployment *deployment, weir_step_kind kind)
{
    const struct weir_hedge *hedge = hedge_of(call, deployment);
    bool on = weir_hedge_is_on(hedge) && kind == WEIR_STEP_START && !call->request.stateful &&
              call->frame->from.set != NULL;

    arm(call, hedge, on ? hedge->max : 0);
}

static void lose(struct weir_call *call, struct weir_attempt *loser, const struct weir_attempt *winner)
{
    struct weir_event *event = weir_attempt_event(call, loser, WEIR_EVENT_HEDGE_LOST, call->now_ns);

    event->u.hedge_lost.winner = winner->number;
    weir_attempt_stop(call, loser);
    loser->cancel = true;
}

void weir_hedge_settle(struct weir_call *call, const struct weir_attempt *attempt)
{
    if (!weir_stream_has_answered(&attempt->stream))
        return;
    call->race.at_ns = WEIR_TIME_NEVER;
    for (struct weir_attempt *a = call->attempts; a != NULL; a = a->next)
        if (a != attempt && weir_stream_runs(&a->stream))
            lose(call, a, attempt);
}

bool weir_hedge_has_rival(const struct weir_call *call, const struct weir_attempt *attempt)
{
    for (const struct weir_attempt *a = call->attempts; a != NULL; a = a->next)
        if (a != attempt && a->stream.state != WEIR_STREAM_STOPPED)
            return true;
    return false;
}

/* Those that failed or run; false: no memory. */
static bool exclude(struct weir_call *call)
{
    size_t words = weir_slot_set_words(call->snapshot->slot_limit);
    struct weir_slot_set *set = &call->race.excluded;

    weir_call_make_set(call, set);
    if (set->words == NULL)
        return false;
    if (call->failed.words == NULL)
        memset(set->words, 0, words * sizeof(*set->words));
    else
        memcpy(set->words, call->failed.words, words * sizeof(*set->words));
    for (const struct weir_attempt *a = call->attempts; a != NULL; a = a->next)
        weir_call_mark(call, set, a->deployment->slot);
    return true;
}

enum weir_turn weir_hedge_start(struct weir_call *call, struct weir_step *ret_step)
{
    const struct weir_attempt *first = call->attempts;
    const struct weir_hedge *hedge = hedge_of(call, first->deployment);
    const weir_deployment *deployment;
    uint32_t left = call->race.left - 1;
    uint64_t deadline_ns = call->deadline_ns;
    struct weir_event *event;
    enum weir_turn turn;

    call->race.at_ns = WEIR_TIME_NEVER;
    if (call->tries >= WEIR_CALL_TRIES_MAX || !exclude(call))
        return WEIR_TURN_AGAIN;
    deployment = weir_pick_deployment(call, WEIR_PICK_HEDGE, weir_attempt_order(first), &call->race.excluded);
    if (deployment == NULL || call->now_ns >= weir_attempt_deadline(call, deployment) ||
        !weir_retry_pay(call, first->deployment, first->number, WEIR_REFUSED_HEDGE))
        return WEIR_TURN_AGAIN;
    event = weir_attempt_event(call, first, WEIR_EVENT_HEDGED, call->now_ns);
    event->u.hedged.waited_ns = call->now_ns - first->stream.began_ns;
    turn = weir_attempt_start(call, deployment, WEIR_STEP_START, ret_step);
    if (turn != WEIR_TURN_STEP)
        weir_retry_unpay(call, first->deployment);
    /* A second attempt gives the call no more time, and one that was not made no other. */
    if (turn != WEIR_TURN_STEP || deadline_ns < call->deadline_ns)
        call->deadline_ns = deadline_ns;
    arm(call, hedge, left);
    return turn;
}
