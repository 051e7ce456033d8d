/* Times are kept one by one and counted anew at each question. */
#include "race_model.h"

#include "base/slice.h"
#include "base/time.h"

#include "look_back.h"

/* ---- what holds ---- */

struct weir_resilience race_resilience(const struct kit_config *config,
                                       const struct kit_deployment *deployment)
{
    struct weir_resilience found = config->router.resilience;

    for (size_t i = 0; i < config->group_count; i++) {
        const struct weir_resilience *own = &config->groups[i].spec.resilience;

        if (!weir_slice_eq(config->groups[i].name, deployment->spec.group))
            continue;
        if (own->retry_budget.said)
            found.retry_budget = own->retry_budget;
        if (own->hedge.after_ns != WEIR_UNSET_NS)
            found.hedge = own->hedge;
        if (own->cooldown_growth.factor >= 0)
            found.cooldown_growth = own->cooldown_growth;
    }
    return found;
}

/* ---- budgets ---- */

static struct race_budget *budget_of(struct race_budgets *budgets, const struct kit_call *call,
                                     const struct kit_deployment *deployment)
{
    size_t i = 0;

    while (!weir_slice_eq(call->config->deployments[i].spec.group, deployment->spec.group))
        i++;
    return &budgets->of[i];
}

static void add(const struct kit_call *call, uint64_t times_ns[RACE_TIMES_MAX], size_t *count)
{
    if (*count == RACE_TIMES_MAX)
        kit_die(call->kit, "the model of budgets is full");
    times_ns[(*count)++] = call->kit->now_ns;
}

/* Of the second that is and the nine before it. */
static double recent(const struct kit_call *call, const uint64_t times_ns[RACE_TIMES_MAX], size_t count)
{
    double sum = 0;

    for (size_t i = 0; i < count; i++)
        sum += times_ns[i] / WEIR_NS_PER_S + 10 > call->kit->now_ns / WEIR_NS_PER_S;
    return sum;
}

static bool has_room(struct race_budgets *budgets, const struct kit_call *call,
                     const struct kit_deployment *deployment)
{
    const struct weir_resilience found = race_resilience(call->config, deployment);
    const struct race_budget *budget = budget_of(budgets, call, deployment);

    if (!found.retry_budget.said)
        return true;
    return recent(call, budget->spent_ns, budget->spent_count) + 1 <=
           found.retry_budget.ratio * recent(call, budget->requests_ns, budget->request_count) +
               found.retry_budget.min_per_s * 10 + 1e-9;
}

bool race_pay(struct race_budgets *budgets, const struct kit_call *call,
              const struct kit_deployment *deployment)
{
    struct race_budget *budget = budget_of(budgets, call, deployment);

    if (!has_room(budgets, call, deployment))
        return false;
    add(call, budget->spent_ns, &budget->spent_count);
    return true;
}

void race_refused(struct race_budgets *budgets, const struct kit_call *call, const struct weir_event *event)
{
    if (has_room(budgets, call, look_back_deployment(call, event)))
        kit_die(call->kit, "a retry or hedge is refused though the budget has it");
}

/* The first attempt since the call came to its group is a request of that. */
static bool is_request(const struct kit_call *call)
{
    for (size_t i = call->event_count - 1; i > 0; i--) {
        const struct weir_event *before = &call->events[i - 1];

        if (before->kind == WEIR_EVENT_ATTEMPT_STARTED)
            return false;
        if (before->kind == WEIR_EVENT_FALLBACK && before->u.fallback.kind == WEIR_HOP_GROUP)
            return true;
    }
    return true;
}

/* ---- races ---- */

bool race_joins(const struct kit_call *call)
{
    return call->event_count > 1 && call->events[call->event_count - 2].kind == WEIR_EVENT_HEDGED;
}

bool race_was_lost(const struct kit_call *call, uint32_t attempt)
{
    for (size_t i = 0; i < call->event_count; i++) {
        if (call->events[i].kind == WEIR_EVENT_HEDGE_LOST && call->events[i].attempt == attempt)
            return true;
    }
    return false;
}

static bool has_failed(const struct kit_call *call, uint32_t attempt)
{
    for (size_t i = 0; i < call->event_count; i++) {
        if (call->events[i].kind == WEIR_EVENT_ATTEMPT_FAILED && call->events[i].attempt == attempt)
            return true;
    }
    return false;
}

void race_started(struct race *race, struct race_budgets *budgets, const struct kit_call *call,
                  const struct weir_event *event)
{
    const struct kit_config *config = call->config;

    /* the host has not noted the attempt yet */
    for (size_t i = 0; is_request(call) && i < config->deployment_count; i++) {
        const struct kit_deployment *deployment = &config->deployments[i];
        struct race_budget *budget;

        if (!weir_slice_eq(deployment->spec.id, event->deployment))
            continue;
        budget = budget_of(budgets, call, deployment);
        add(call, budget->requests_ns, &budget->request_count);
    }
    if (!race_joins(call))
        race->first = event->attempt;
    race->last_ns = call->kit->now_ns;
}

void race_hedged(const struct race *race, struct race_budgets *budgets, const struct kit_call *call,
                 const struct weir_event *event)
{
    const struct kit_deployment *slow = look_back_deployment(call, event);
    const struct weir_hedge hedge = race_resilience(call->config, slow).hedge;

    if (call->request.request.stateful || call->committed != 0)
        kit_die(call->kit, "a second attempt where there may be one alone");
    if (hedge.after_ns == WEIR_UNSET_NS || hedge.after_ns == 0 ||
        call->attempt_count - race->first + 1 > hedge.max)
        kit_die(call->kit, "more attempts at once than are allowed");
    if (call->kit->now_ns != race->last_ns + hedge.after_ns)
        kit_die(call->kit, "a second attempt that is not due");
    for (uint32_t i = race->first; i <= call->attempt_count; i++) {
        if (call->attempts[i].running && call->attempts[i].has_answered)
            kit_die(call->kit, "a second attempt beside one that has answered");
    }
    if (!race_pay(budgets, call, slow))
        kit_die(call->kit, "a second attempt for which the budget has nothing left");
}

void race_lost(const struct race *race, const struct kit_call *call, const struct weir_event *event)
{
    uint32_t winner = event->u.hedge_lost.winner;

    if (winner < race->first || event->attempt < race->first || winner == event->attempt)
        kit_die(call->kit, "a race is lost to an attempt that was not in it");
    if (!call->attempts[winner].has_answered || call->attempts[event->attempt].has_answered)
        kit_die(call->kit, "a race is lost to an attempt that has not answered, or by one that has");
}

bool race_goes_on(const struct race *race, const struct kit_call *call, uint32_t but)
{
    for (uint32_t i = race->first; i <= call->attempt_count; i++) {
        if (i != but && !race_was_lost(call, i) && !has_failed(call, i))
            return true;
    }
    return false;
}
