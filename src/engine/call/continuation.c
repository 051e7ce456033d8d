/*
 * A continuation is a walk of its own that starts from the frame whose attempt broke, its *base*: along the
 * chain for the failure, through the base's own group, at last back to the deployment that broke, as its
 * `continue_to` says.  Everywhere it offers only deployments that take the text so far as the start of their
 * answer and do not cool down, each once in the call and with one attempt: nothing is retried, nothing waits.
 *
 * An attempt that gives content is committed, and the call goes on with it; when that breaks in its turn, its
 * frame is the next base.  When there is no way on the caller is told the first break, for the later ones
 * are not what happened to the answer that was asked for.
 */
#include "engine/call/continuation.h"

#include "engine/call/attempt.h"
#include "engine/call/pick.h"
#include "engine/call/retry.h"
#include "engine/call/walk.h"

/* Whether the broken answer is one that may be carried on at all. */
static bool may_continue(const struct weir_call *call, const struct weir_attempt *cut)
{
    return call->snapshot->spec.continuation && call->request.stream && call->request.may_continue &&
           !call->request.disable_fallbacks && !call->other && call->text_bytes > 0 &&
           call->text_bytes <= WEIR_CONTINUE_TEXT_MAX && cut->failure.origin != WEIR_ORIGIN_CLIENT_GONE &&
           weir_retry_mends(&cut->failure, weir_resolution_size(&cut->frame->from));
}

void weir_continuation_begin(struct weir_call *call, const struct weir_attempt *cut)
{
    struct weir_continuation *c = &call->continuation;
    uint32_t slot = cut->deployment->slot;

    if (!weir_call_is_continuing(call))
        c->first = weir_attempt_loss(cut);
    if (!may_continue(call, cut)) {
        weir_call_fail(call, &c->first);
        return;
    }
    /* What broke before was not tried for itself: it may carry on another's text. */
    if (c->itself_is_left)
        weir_slot_set_remove(&c->tried, c->deployment->slot);
    c->base = cut->frame;
    c->failure = cut->failure;
    c->attempt = cut->number;
    c->deployment = cut->deployment;
    c->next_source = 0;
    c->itself_is_left = cut->deployment->spec.supports_prefill && !weir_slot_set_has(&c->tried, slot);
    weir_call_mark(call, &c->tried, slot);
    call->state = WEIR_CALL_CONTINUE;
}

void weir_continuation_lose(struct weir_call *call, const struct weir_attempt *broken)
{
    call->frame->latest = weir_attempt_loss(broken);
    if (broken->failure.kind == WEIR_KIND_GUARDRAIL)
        weir_call_fail(call, &call->continuation.first);
    else
        call->state = WEIR_CALL_CONTINUE;
}

static enum weir_turn start(struct weir_call *call, const weir_deployment *deployment,
                            struct weir_step *ret_step)
{
    weir_call_mark(call, &call->continuation.tried, deployment->slot);
    return weir_attempt_start(call, deployment, WEIR_STEP_CONTINUE, ret_step);
}

/* A deployment of the top frame's name that may carry the text on; NULL: none (any more). */
static const weir_deployment *pick(struct weir_call *call)
{
    return weir_pick_deployment(call, WEIR_PICK_CONTINUATION, WEIR_UNSET_ORDER, &call->continuation.tried);
}

/* A target of the walk: its deployments, then its own chain. */
static enum weir_turn continue_in_target(struct weir_call *call, struct weir_step *ret_step)
{
    const struct weir_frame *frame = call->frame;
    const weir_deployment *deployment = pick(call);
    weir_kind kind = frame->attempted ? frame->latest.failure.kind : call->continuation.failure.kind;

    if (deployment != NULL)
        return start(call, deployment, ret_step);
    return weir_walk_begin(call, kind) ? WEIR_TURN_AGAIN : weir_walk_back(call);
}

static enum weir_turn continue_in_group(struct weir_call *call, struct weir_step *ret_step)
{
    const weir_deployment *deployment = pick(call);

    if (deployment != NULL)
        return start(call, deployment, ret_step);
    call->continuation.next_source++;
    return WEIR_TURN_AGAIN;
}

/* The last way of those that lead through the group: what broke is offered again. */
static enum weir_turn continue_by_itself(struct weir_call *call, struct weir_step *ret_step)
{
    struct weir_continuation *c = &call->continuation;
    const weir_deployment *deployment = NULL;
    bool is_listed = false;

    for (size_t i = 0; i < WEIR_CONTINUE_SOURCES; i++)
        is_listed |= c->deployment->continue_to[i] == WEIR_CONTINUE_GROUP;
    if (is_listed && c->itself_is_left) {
        weir_slot_set_remove(&c->tried, c->deployment->slot);
        deployment = pick(call);
        c->itself_is_left = deployment != NULL && deployment != c->deployment;
    }
    if (deployment != NULL)
        return start(call, deployment, ret_step);
    weir_call_fail(call, &c->first);
    return WEIR_TURN_AGAIN;
}

enum weir_turn weir_state_continue(struct weir_call *call, struct weir_step *ret_step)
{
    struct weir_continuation *c = &call->continuation;

    if (call->tries >= WEIR_CALL_TRIES_MAX) {
        weir_call_fail(call, &c->first);
        return WEIR_TURN_AGAIN;
    }
    if (call->now_ns >= call->deadline_ns) {
        weir_call_fail_late(call);
        return WEIR_TURN_AGAIN;
    }
    if (call->frame != c->base)
        return continue_in_target(call, ret_step);
    if (c->next_source < WEIR_CONTINUE_SOURCES) {
        switch (c->deployment->continue_to[c->next_source]) {
        case WEIR_CONTINUE_FALLBACK:
            c->next_source++;
            (void)weir_walk_begin(call, c->failure.kind);
            return WEIR_TURN_AGAIN;
        case WEIR_CONTINUE_GROUP:
            return continue_in_group(call, ret_step);
        case WEIR_CONTINUE_NOWHERE:
            break;
        }
    }
    return continue_by_itself(call, ret_step);
}
