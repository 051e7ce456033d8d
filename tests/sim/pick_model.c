/* A pick is looked at when its event comes, at the time of the pick: nothing has changed in between. */
#include "pick_model.h"

#include "base/slice.h"

#include "look_back.h"
#include "model.h"

enum { NOBODY = -1 };

/* A pick as the rules see it; deployments by their places in the configuration. */
struct pick {
    const struct kit_call *call;
    const struct weir_event *event;
    uint64_t set;
    uint64_t failed;
    uint64_t warm; /* of the set: neither blocked nor cooling */
    bool is_id;
    bool is_bound; /* to one order */
    int chosen;
};

static const struct weir_deployment_spec *spec_of(const struct pick *pick, int at)
{
    return &pick->call->config->deployments[at].spec;
}

static bool has(uint64_t set, int at)
{
    return at != NOBODY && (set >> at & 1) != 0;
}

static bool is_policy_set(const struct weir_policy *policy)
{
    for (int i = 0; i < WEIR_POLICY_FIELDS; i++) {
        if (policy->count[i] != WEIR_UNSET)
            return true;
    }
    return false;
}

static struct pick pick_of(const struct kit_call *call, const struct weir_event *event)
{
    const struct weir_event *hop = look_back_hop(call);
    weir_pick_purpose purpose = event->u.picked.purpose;
    struct pick pick = {.call = call,
                        .event = event,
                        .set = model_resolve(call->config, event->group),
                        .failed = look_back_failed(call, call->attempt_count + 1),
                        .is_id = model_is_id(call->config, event->group),
                        .chosen = NOBODY};

    pick.warm = look_back_usable(call, pick.set, false);
    pick.is_bound = purpose == WEIR_PICK_FOR_ORDER || purpose == WEIR_PICK_FOR_HEDGE ||
                    (purpose == WEIR_PICK_FOR_RETRY && hop != NULL && hop->u.fallback.kind == WEIR_HOP_ORDER);
    for (size_t i = 0; i < call->config->deployment_count; i++) {
        if (event->deployment.len > 0 &&
            weir_slice_eq(call->config->deployments[i].spec.id, event->deployment))
            pick.chosen = (int)i;
    }
    return pick;
}

/* The candidate's place in the configuration: they come in that order. */
static int place_of(const struct pick *pick, uint32_t number)
{
    for (size_t i = 0; i < pick->call->config->deployment_count; i++) {
        if (has(pick->set, (int)i) && number-- == 0)
            return (int)i;
    }
    return NOBODY;
}

/* ---- what holds always ---- */

/* A refused attempt has no number, and counts as failed all the same. */
static bool was_refused(const struct kit_call *call, struct weir_slice id)
{
    for (size_t i = 0; i < call->event_count; i++) {
        if (call->events[i].kind == WEIR_EVENT_ATTEMPT_REFUSED &&
            weir_slice_eq(call->events[i].deployment, id))
            return true;
    }
    return false;
}

static void check_fact(const struct pick *pick, int at, weir_fate fate)
{
    const struct weir_request *request = &pick->call->request.request;
    const struct weir_deployment_spec *spec = spec_of(pick, at);
    bool is_true = true;

    if (fate == WEIR_FATE_BLOCKED)
        is_true = spec->blocked;
    else if (fate == WEIR_FATE_REGION)
        is_true = spec->region.len > 0 && !weir_slice_eq(spec->region, request->region);
    else if (fate == WEIR_FATE_PARAMETERS)
        is_true = (request->parameters & ~spec->parameters) != 0;
    else if (fate == WEIR_FATE_CONTEXT)
        is_true = request->prompt_tokens > spec->max_input_tokens;
    else if (fate == WEIR_FATE_WEB_SEARCH)
        is_true = request->web_search && spec->no_web_search;
    else if (fate == WEIR_FATE_ROUTE)
        is_true = (request->route & ~spec->routes) != 0;
    else if (fate == WEIR_FATE_PREFILL)
        is_true = !spec->supports_prefill && pick->event->u.picked.purpose == WEIR_PICK_FOR_CONTINUATION;
    else if (fate == WEIR_FATE_SKIP)
        is_true = has(pick->failed, at) || was_refused(pick->call, spec->id);
    else if (fate == WEIR_FATE_NO_ROOM)
        is_true = spec->minute.requests != WEIR_UNSET_NS || spec->minute.tokens != WEIR_UNSET_NS;
    else if (fate == WEIR_FATE_LATER_ORDER && pick->chosen != NOBODY)
        is_true = spec->order > spec_of(pick, pick->chosen)->order;
    if (!is_true)
        kit_die(pick->call->kit, "candidate %d: what is said of it (%d) is not true", at, (int)fate);
}

void pick_check(const struct kit_call *call, const struct weir_event *event)
{
    const struct pick pick = pick_of(call, event);
    uint32_t size = (uint32_t)__builtin_popcountll(pick.set);

    if (event->u.picked.count != size || event->u.picked.omitted != 0)
        kit_die(call->kit, "%u candidates of %u", event->u.picked.count, size);
    if (event->deployment.len > 0 && !has(pick.set, pick.chosen))
        kit_die(call->kit, "one was chosen that the name does not stand for");
    for (uint32_t i = 0; i < event->u.picked.count; i++) {
        const struct weir_candidate *candidate = &event->u.picked.candidates[i];
        int at = place_of(&pick, i);

        if (!weir_slice_eq(candidate->deployment, spec_of(&pick, at)->id))
            kit_die(call->kit, "candidate %u is not the one whose turn it is", i);
        if ((candidate->fate == WEIR_FATE_CHOSEN) != (at == pick.chosen))
            kit_die(call->kit, "another one was chosen than the event names");
        check_fact(&pick, at, candidate->fate);
    }
}

/* ---- what the rules give ---- */

/* Nobody is left without cooldowns, and they are to be ignored then (decisions 15). */
static bool ignores_cooldowns(const struct pick *pick)
{
    weir_pick_purpose purpose = pick->event->u.picked.purpose;

    return pick->warm == 0 && pick->call->config->router.health_check_routing &&
           is_policy_set(&pick->call->config->router.allowed_fails_policy) &&
           (purpose == WEIR_PICK_FOR_ATTEMPT || purpose == WEIR_PICK_FOR_RETRY ||
            purpose == WEIR_PICK_FOR_ORDER);
}

/* The order that was tried: the chosen one's, or else that of whoever is said to have been looked at. */
static int32_t tried_order(const struct pick *pick)
{
    const struct weir_event *event = pick->event;

    if (pick->chosen != NOBODY)
        return spec_of(pick, pick->chosen)->order;
    for (uint32_t i = 0; pick->is_bound && i < event->u.picked.count; i++) {
        weir_fate fate = event->u.picked.candidates[i].fate;

        if (fate != WEIR_FATE_BLOCKED && fate != WEIR_FATE_LATER_ORDER && fate != WEIR_FATE_EARLIER_ORDER)
            return spec_of(pick, place_of(pick, i))->order;
    }
    return WEIR_UNSET_ORDER;
}

/* Why one that neither cools down nor is of another order was not chosen. */
static weir_fate fate_of_warm(const struct pick *pick, int at, weir_fate said)
{
    switch (pick->event->u.picked.purpose) {
    case WEIR_PICK_FOR_CONTINUATION:
        if (!spec_of(pick, at)->supports_prefill)
            return WEIR_FATE_PREFILL;
        /* where a continuation has been is the walk's affair, but it has been there */
        return said == WEIR_FATE_EXCLUSION && has(pick->failed, at)        ? said
               : has(pick->failed, at) && !has(pick->failed, pick->chosen) ? WEIR_FATE_SKIP
                                                                           : WEIR_FATE_NOT_CHOSEN;
    case WEIR_PICK_FOR_SIBLING:
    case WEIR_PICK_FOR_HEDGE:
        return has(pick->failed, at) ? WEIR_FATE_EXCLUSION : WEIR_FATE_NOT_CHOSEN;
    case WEIR_PICK_FOR_ATTEMPT:
    case WEIR_PICK_FOR_RETRY:
    case WEIR_PICK_FOR_ORDER:
    case WEIR_PICK_PURPOSES:
    default:
        return has(pick->failed, at) && pick->chosen != NOBODY && !has(pick->failed, pick->chosen)
                   ? WEIR_FATE_SKIP
                   : WEIR_FATE_NOT_CHOSEN;
    }
}

static weir_fate expected(const struct pick *pick, int at, weir_fate said)
{
    int32_t order = spec_of(pick, at)->order, tried = tried_order(pick);
    bool cools = !pick->is_id || pick->event->u.picked.purpose == WEIR_PICK_FOR_CONTINUATION;

    if (at == pick->chosen)
        return WEIR_FATE_CHOSEN;
    if (spec_of(pick, at)->blocked)
        return WEIR_FATE_BLOCKED;
    if (!pick->is_id && (pick->chosen != NOBODY || pick->is_bound) && order > tried)
        return WEIR_FATE_LATER_ORDER;
    if (!pick->is_id && pick->is_bound && order < tried)
        return WEIR_FATE_EARLIER_ORDER;
    if (cools && !has(pick->warm, at) && !ignores_cooldowns(pick))
        return WEIR_FATE_COOLDOWN;
    return fate_of_warm(pick, at, said);
}

void pick_check_fates(const struct kit_call *call, const struct weir_event *event)
{
    const struct pick pick = pick_of(call, event);

    for (uint32_t i = 0; i < event->u.picked.count; i++) {
        weir_fate said = event->u.picked.candidates[i].fate;
        int at = place_of(&pick, i);
        weir_fate fate = expected(&pick, at, said);

        if (said != fate)
            kit_die(call->kit, "candidate %d: fate %d, expected %d", at, (int)said, (int)fate);
        if (fate == WEIR_FATE_NOT_CHOSEN &&
            (pick.chosen == NOBODY || spec_of(&pick, at)->order != spec_of(&pick, pick.chosen)->order))
            kit_die(call->kit, "candidate %d is left, and was not taken", at);
    }
}

void pick_check_attempt(const struct kit_call *call, const struct weir_event *event)
{
    const struct weir_event *picked = NULL;

    for (size_t i = 0; i < call->event_count; i++) {
        if (call->events[i].kind == WEIR_EVENT_PICKED)
            picked = &call->events[i];
    }
    if (picked == NULL || !weir_slice_eq(picked->deployment, event->deployment))
        kit_die(call->kit, "an attempt on another deployment than the one that was picked");
}
