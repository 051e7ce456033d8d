/*
 * The decisions themselves are functions of one failure's facts (struct weir_retry_case) and know no call;
 * the second half of the file collects those facts from a call and acts on the answer.
 */
#include "engine/call/retry.h"

#include "base/slice.h"
#include "base/time.h"
#include "engine/call/attempt.h"
#include "engine/call/call.h"
#include "engine/call/cool.h"
#include "engine/call/fallback.h"
#include "engine/live/budget.h"
#include "engine/router.h"
#include "engine/snapshot/policy.h"

static const uint64_t retry_after_max_ns = 60 * WEIR_NS_PER_S;

/* The field of the policy that names the failure; WEIR_POLICY_NONE: it does not (router-semantics 10). */
static weir_policy_field named_field(const struct weir_retry_case *c)
{
    if (c->policy == NULL)
        return WEIR_POLICY_NONE;
    if (c->failure->status == 404 && c->policy->count[WEIR_POLICY_NOT_FOUND] != WEIR_UNSET)
        return WEIR_POLICY_NOT_FOUND;
    return weir_policy_find(c->policy, weir_kind_row(c->failure->kind)->retry_fields);
}

uint32_t weir_retry_limit(const struct weir_retry_case *c)
{
    weir_policy_field field = named_field(c);

    if (c->asked == 0)
        return 0;
    if (field != WEIR_POLICY_NONE)
        return c->policy->count[field];
    if (c->policy != NULL && c->policy->count[WEIR_POLICY_DEFAULT] != WEIR_UNSET)
        return c->policy->count[WEIR_POLICY_DEFAULT];
    if (c->asked != WEIR_UNSET)
        return c->asked;
    if (c->deployment != NULL && c->deployment->spec.num_retries != WEIR_UNSET)
        return c->deployment->spec.num_retries;
    return c->router->num_retries;
}

/* A refusal of the credentials: pointless to repeat where nobody else has others. */
static bool is_refusal(const struct weir_failure *failure)
{
    return failure->kind == WEIR_KIND_AUTH || failure->kind == WEIR_KIND_PERMISSION ||
           failure->status == 401 || failure->status == 403;
}

static bool status_is_retryable(int status)
{
    return status < 400 || status >= 500 || status == 401 || status == 403 || status == 408 ||
           status == 409 || status == 429;
}

/* Whether the same may go well another time in a group of so many deployments. */
static bool is_passing(const struct weir_failure *failure, uint32_t size)
{
    return failure->kind != WEIR_KIND_NOT_FOUND && status_is_retryable(failure->status) &&
           !(is_refusal(failure) && size == 1);
}

bool weir_retry_mends(const struct weir_failure *failure, uint32_t size)
{
    return failure->kind == WEIR_KIND_RATE_LIMIT ||
           (failure->kind != WEIR_KIND_GUARDRAIL && is_passing(failure, size));
}

bool weir_retry_is_worth(const struct weir_retry_case *c)
{
    /* This covers a rate limit with nothing healthy left, whether or not fallbacks exist. */
    if (c->failure->kind == WEIR_KIND_GUARDRAIL || !c->healthy)
        return false;
    if (named_field(c) != WEIR_POLICY_NONE)
        return true;
    return !c->own_list && is_passing(c->failure, c->size);
}

static uint64_t exponential(const struct weir_router_spec *router, uint32_t doublings)
{
    uint64_t wait = router->initial_retry_delay_ns;

    while (doublings-- > 0 && wait < router->max_retry_delay_ns && wait > 0)
        wait = weir_time_add(wait, wait);
    return wait < router->max_retry_delay_ns ? wait : router->max_retry_delay_ns;
}

uint64_t weir_retry_wait(const struct weir_retry_case *c, uint32_t retries, struct weir_rand *rand)
{
    uint64_t wait = c->failure->retry_after_ns;

    if (c->size != 1 && c->healthy)
        return 0;
    if (wait == 0 || wait > retry_after_max_ns) {
        wait = exponential(c->router, retries);
        wait = wait > c->router->retry_after_ns ? wait : c->router->retry_after_ns;
    }
    return weir_time_add(wait, weir_rand_below(rand, c->router->jitter_ns));
}

/* The request's policy for the group, else the configured one for the group, else the router's. */
static const struct weir_policy *policy_of(const struct weir_call *call, const struct weir_frame *frame)
{
    const struct weir_request *request = &call->request;
    struct weir_slice names[WEIR_FALLBACK_FRAME_NAMES];
    size_t count = weir_fallback_frame_names(frame, names);
    const struct weir_policy *policy;

    for (size_t n = 0; n < count; n++)
        for (size_t i = 0; i < request->retry_policy_count; i++)
            if (weir_slice_eq(request->retry_policies[i].group, names[n]))
                return &request->retry_policies[i].policy;
    for (size_t n = 0; n < count; n++) {
        policy = weir_map_get(&call->snapshot->retry_policies, names[n]);
        if (policy != NULL)
            return policy;
    }
    return call->snapshot->has_retry_policy ? &call->snapshot->spec.retry_policy : NULL;
}

static bool has_own_list(const struct weir_call *call, weir_kind kind)
{
    weir_list_kind list = weir_fallback_own_list(kind);

    return list != WEIR_LIST_GENERIC && weir_fallback_is_configured(call, list);
}

static struct weir_retry_case case_of(const struct weir_call *call, const struct weir_failure *failure,
                                      const struct weir_attempt *attempt)
{
    const struct weir_frame *frame = call->frame;

    return (struct weir_retry_case){.failure = failure,
                                    .router = &call->snapshot->spec,
                                    .deployment = attempt == NULL ? NULL : attempt->deployment,
                                    .policy = policy_of(call, frame),
                                    .asked = weir_call_num_retries(call, frame),
                                    .size = weir_resolution_size(&frame->from),
                                    .healthy = weir_filter_any_healthy(call->snapshot, &call->request,
                                                                       &call->router->live, &frame->from,
                                                                       call->now_ns),
                                    .own_list = has_own_list(call, failure->kind)};
}

uint32_t weir_retry_prospect(const struct weir_call *call, weir_kind kind)
{
    const struct weir_failure failure = {
        .kind = kind, .status = weir_kind_row(kind)->status, .origin = WEIR_ORIGIN_PROVIDER};
    struct weir_retry_case c = case_of(call, &failure, NULL);

    return weir_retry_is_worth(&c) ? weir_retry_limit(&c) : 0;
}

/* Whether it would be retried, did not all of them cool down. */
static bool lacks_health_alone(const struct weir_call *call, struct weir_retry_case c)
{
    c.healthy = true;
    return !weir_filter_any_warm(&call->request, &call->router->live, &call->frame->from, call->now_ns) &&
           weir_retry_is_worth(&c);
}

static void lose(struct weir_call *call, const struct weir_failure *failure, weir_reason reason,
                 const struct weir_attempt *attempt)
{
    call->frame->latest =
        (struct weir_loss){.failure = *failure,
                           .reason = reason,
                           .limit = attempt == NULL ? (struct weir_limit_story){.usage = 0} : attempt->limit,
                           .group = call->frame->from.group,
                           .attempt = attempt == NULL ? 0 : attempt->number,
                           .retries = call->frame->loop.retries,
                           .max_retries = call->frame->loop.limit};
    call->frame->starved.is = false;
}

bool weir_retry_pay(struct weir_call *call, const weir_deployment *deployment, uint32_t attempt,
                    weir_refused what)
{
    const struct weir_set *group = deployment->group;
    const struct weir_retry_budget *limit = &group->resilience.retry_budget;
    struct weir_budget_use use;
    struct weir_event *event;

    if (limit->ratio < 0 || weir_budget_spend(group->budget, limit, call->now_ns))
        return true;
    use = weir_budget_use(group->budget, call->now_ns);
    event = weir_event_add(&call->events, WEIR_EVENT_RETRY_REFUSED, call->now_ns);
    event->attempt = attempt;
    event->group = call->frame->from.group;
    event->deployment = deployment->spec.id;
    event->u.retry_refused.what = what;
    event->u.retry_refused.requests = use.requests;
    event->u.retry_refused.spent = use.spent;
    return false;
}

void weir_retry_unpay(struct weir_call *call, const weir_deployment *deployment)
{
    if (deployment->group->resilience.retry_budget.ratio >= 0)
        weir_budget_give_back(deployment->group->budget, call->now_ns);
}

/* N is worked out at the first failure of a loop. */
static void find_limit(struct weir_loop *loop, const struct weir_retry_case *c)
{
    if (!loop->limit_known && loop->mode != WEIR_PICK_SIBLINGS)
        loop->limit = weir_retry_limit(c);
    loop->limit_known = true;
}

void weir_retry_note(struct weir_call *call, const struct weir_attempt *attempt)
{
    struct weir_retry_case c = case_of(call, &attempt->failure, attempt);

    find_limit(&call->frame->loop, &c);
    lose(call, &attempt->failure, attempt->reason, attempt);
    weir_attempt_report(call, attempt, false, 0);
}

void weir_retry_judge(struct weir_call *call, const struct weir_failure *failure, weir_reason reason,
                      const struct weir_attempt *attempt)
{
    struct weir_loop *loop = &call->frame->loop;
    const struct weir_loop *owing = loop->mode == WEIR_PICK_SIBLINGS ? &call->frame->owing : loop;
    struct weir_retry_case c = case_of(call, failure, attempt);
    bool is_left, again;

    find_limit(loop, &c);
    is_left = loop->retries < loop->limit && call->tries < WEIR_CALL_TRIES_MAX;
    again = is_left && weir_retry_is_worth(&c);
    loop->wait_ns = again ? weir_retry_wait(&c, loop->retries, &call->rand) : 0;
    loop->wait_until_ns = weir_time_add(call->now_ns, loop->wait_ns);
    /* A wait that leaves no time for its attempt is not begun (beyond 1). */
    again = again && loop->wait_until_ns < call->deadline_ns;
    again = again && (attempt == NULL ||
                      weir_retry_pay(call, attempt->deployment, attempt->number, WEIR_REFUSED_RETRY));
    loop->wait_ns = again ? loop->wait_ns : 0;
    if (attempt != NULL)
        weir_attempt_report(call, attempt, again, loop->wait_ns);
    lose(call, failure, reason, attempt);
    if (owing->retries < owing->limit && attempt != NULL && lacks_health_alone(call, c))
        weir_cool_note(call, attempt->deployment);
    call->state = again ? WEIR_CALL_WAIT : WEIR_CALL_LEAVE;
}

void weir_retry_give_up(struct weir_call *call, const struct weir_failure *failure, weir_reason reason)
{
    lose(call, failure, reason, NULL);
    call->state = WEIR_CALL_LEAVE;
}

void weir_retry_begin(struct weir_call *call)
{
    struct weir_loop *loop = &call->frame->loop;
    struct weir_event *event = weir_event_add(&call->events, WEIR_EVENT_RETRY, call->now_ns);

    loop->retries++;
    event->group = call->frame->from.group;
    event->u.retry.number = loop->retries;
    event->u.retry.max = loop->limit;
    event->u.retry.waited_ns = loop->wait_ns;
    call->state = WEIR_CALL_PICK;
}

enum weir_turn weir_state_wait(struct weir_call *call, struct weir_step *ret_step)
{
    (void)ret_step;
    if (call->now_ns < call->frame->loop.wait_until_ns)
        return WEIR_TURN_IDLE;
    weir_retry_begin(call);
    return WEIR_TURN_AGAIN;
}
