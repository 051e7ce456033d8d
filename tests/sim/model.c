/*
 * Straight from the pages: router-semantics 3 (names), 8 and 10 (retries), 15 and 16 (cooldowns).  Nothing
 * here is shared with the engine but its public types.
 */
#include "model.h"

#include "base/slice.h"
#include "base/time.h"

#include "race_model.h"

#define BUCKET_NS (10 * WEIR_NS_PER_S)

void model_window(const struct model_deployment *deployment, uint64_t now_ns, size_t *ret_successes,
                  size_t *ret_failures)
{
    *ret_successes = 0;
    *ret_failures = 0;
    for (size_t i = 0; i < deployment->entry_count; i++) {
        const struct model_entry *entry = &deployment->entries[i];

        if (entry->time_ns / BUCKET_NS + 6 <= now_ns / BUCKET_NS)
            continue;
        ++*(entry->success ? ret_successes : ret_failures);
    }
}

static void enter(struct model_deployment *deployment, const struct kit *kit, uint64_t now_ns, bool success)
{
    if (deployment->entry_count == MODEL_ENTRIES_MAX)
        kit_die(kit, "the model is full");
    deployment->entries[deployment->entry_count++] = (struct model_entry){now_ns, success};
}

static struct model_deployment *of(struct model *model, const struct kit_config *config,
                                   const struct kit_deployment *deployment)
{
    return &model->deployments[deployment - config->deployments];
}

void model_success(struct model *model, const struct kit_call *call, const struct kit_deployment *deployment,
                   uint64_t now_ns)
{
    if (call->request.request.caller_credentials)
        return;
    enter(of(model, call->config, deployment), call->kit, now_ns, true);
    of(model, call->config, deployment)->cooldowns = 0;
}

weir_policy_field model_field(const struct weir_policy *policy, const struct weir_failure *failure,
                              bool retries)
{
    const struct weir_kind_row *row = weir_kind_row(failure->kind);
    const weir_policy_field *fields = retries ? row->retry_fields : row->fails_fields;

    if (retries && failure->status == 404 && policy->count[WEIR_POLICY_NOT_FOUND] != WEIR_UNSET)
        return WEIR_POLICY_NOT_FOUND;
    for (size_t i = 0; i < 2; i++) {
        if (fields[i] != WEIR_POLICY_NONE && policy->count[fields[i]] != WEIR_UNSET)
            return fields[i];
    }
    return WEIR_POLICY_NONE;
}

/* Counters are kept to the millisecond: their end is rounded up to the next one. */
static uint64_t round_up(uint64_t ns)
{
    return (ns + WEIR_NS_PER_MS - 1) / WEIR_NS_PER_MS * WEIR_NS_PER_MS;
}

static bool is_over(struct model_counter *counter, uint32_t limit, uint64_t life_ns, uint64_t now_ns)
{
    if (counter->count == 0 || now_ns >= counter->end_ns)
        *counter = (struct model_counter){round_up(now_ns + life_ns), 0};
    return ++counter->count > limit;
}

static size_t group_size(const struct kit_config *config, struct weir_slice group)
{
    size_t size = 0;

    for (size_t i = 0; i < config->deployment_count; i++)
        size += weir_slice_eq(config->deployments[i].spec.group, group);
    return size;
}

static bool error_rate_cools(const struct kit_config *config, const struct kit_deployment *deployment,
                             const struct model_deployment *state, int status, uint64_t now_ns,
                             weir_cooldown_rule *ret_rule)
{
    bool has_siblings = group_size(config, deployment->spec.group) > 1;
    size_t successes;
    size_t failures;

    model_window(state, now_ns, &successes, &failures);
    if (status == 429 && has_siblings) {
        *ret_rule = WEIR_COOLDOWN_RATE_LIMITED;
    } else if (successes == 0 && failures >= config->router.single_failure_minimum) {
        *ret_rule = WEIR_COOLDOWN_ALL_FAILED;
    } else if (has_siblings && failures + successes >= config->router.failure_min_requests &&
               (double)failures > config->router.failure_threshold * (double)(failures + successes)) {
        *ret_rule = WEIR_COOLDOWN_FAILURE_SHARE;
    } else if (status == 401 || status == 404) {
        *ret_rule = WEIR_COOLDOWN_NOT_RETRYABLE;
    } else {
        return false;
    }
    return true;
}

/* The first kind that is shown by the same class; an own policy counts by class (router-semantics 16.1). */
static weir_kind class_of(weir_kind kind)
{
    int first = 0;

    while (!weir_slice_eq(weir_kind_row((weir_kind)first)->class_name, weir_kind_row(kind)->class_name))
        first++;
    return (weir_kind)first;
}

static bool rules_cool(const struct kit_config *config, const struct kit_deployment *deployment,
                       struct model_deployment *state, const struct weir_failure *failure, uint64_t now_ns,
                       weir_cooldown_rule *ret_rule)
{
    const struct weir_deployment_spec *own = &deployment->spec;
    const struct weir_router_spec *router = &config->router;
    uint64_t life = own->cooldown_ns != WEIR_UNSET_NS ? own->cooldown_ns : router->cooldown_ns;
    weir_policy_field own_field = model_field(&own->allowed_fails_policy, failure, false);
    weir_policy_field field = model_field(&router->allowed_fails_policy, failure, false);

    if (own_field != WEIR_POLICY_NONE) {
        *ret_rule = WEIR_COOLDOWN_DEPLOYMENT_POLICY;
        return is_over(&state->classes[class_of(failure->kind)], own->allowed_fails_policy.count[own_field],
                       life, now_ns);
    }
    if (own->allowed_fails != WEIR_UNSET) {
        *ret_rule = WEIR_COOLDOWN_DEPLOYMENT_FAILS;
        return is_over(&state->own, own->allowed_fails, life, now_ns);
    }
    if (field != WEIR_POLICY_NONE) {
        *ret_rule = WEIR_COOLDOWN_ROUTER_POLICY;
        return is_over(&state->router, router->allowed_fails_policy.count[field], life, now_ns);
    }
    if (router->allowed_fails != WEIR_UNSET) {
        *ret_rule = WEIR_COOLDOWN_ROUTER_FAILS;
        return is_over(&state->router, router->allowed_fails, life, now_ns);
    }
    return error_rate_cools(config, deployment, state, failure->status, now_ns, ret_rule);
}

static bool is_counted(const struct kit_call *call, const struct kit_deployment *deployment,
                       const struct weir_failure *failure)
{
    int status = failure->status;

    if (failure->origin != WEIR_ORIGIN_PROVIDER || call->request.request.caller_credentials)
        return false;
    if (call->config->router.disable_cooldowns || deployment->spec.cooldown_ns == 0)
        return false;
    if (model_field(&deployment->spec.allowed_fails_policy, failure, false) != WEIR_POLICY_NONE)
        return true;
    return status >= 500 || status == 401 || status == 404 || status == 408 || status == 429;
}

static uint32_t number_of(const struct model_deployment *state, uint64_t now_ns)
{
    return state->cooldowns > 0 && state->until_ns > now_ns ? state->cooldowns : state->cooldowns + 1;
}

/* The n-th cooldown in a row lasts factor^(n-1) times as long, within its bounds (beyond 4). */
static uint64_t grow(const struct kit_config *config, const struct kit_deployment *deployment,
                     const struct weir_failure *failure, uint64_t length, uint32_t number)
{
    const struct weir_cooldown_growth growth = race_resilience(config, deployment).cooldown_growth;
    uint64_t asked = failure->retry_after_ns < config->router.cooldown_cap_ns
                         ? failure->retry_after_ns
                         : config->router.cooldown_cap_ns;
    double grown = (double)length;

    if (growth.factor <= 1)
        return length;
    while (--number > 0 && grown < (double)growth.max_ns)
        grown *= growth.factor;
    if (grown > (double)growth.max_ns)
        grown = (double)growth.max_ns;
    if ((uint64_t)grown > length)
        length = (uint64_t)grown;
    return length > asked ? length : asked;
}

bool model_failure(struct model *model, const struct kit_call *call, const struct kit_deployment *deployment,
                   const struct weir_failure *failure, uint64_t now_ns, weir_cooldown_rule *ret_rule,
                   uint64_t *ret_until_ns)
{
    const struct kit_config *config = call->config;
    struct model_deployment *state = of(model, config, deployment);
    uint64_t length = deployment->spec.cooldown_ns;

    if (!is_counted(call, deployment, failure))
        return false;
    enter(state, call->kit, now_ns, false);
    if (!rules_cool(config, deployment, state, failure, now_ns, ret_rule))
        return false;
    if (length == WEIR_UNSET_NS) {
        length = failure->retry_after_ns;
        if (length > config->router.cooldown_cap_ns)
            length = config->router.cooldown_cap_ns;
        if (length == 0)
            length = config->router.cooldown_ns;
    }
    length = grow(config, deployment, failure, length, number_of(state, now_ns));
    if (now_ns + length <= state->until_ns)
        return false;
    state->cooldowns = number_of(state, now_ns);
    state->until_ns = now_ns + length;
    *ret_until_ns = state->until_ns;
    return true;
}

/* Whether the pattern, in which a star stands for anything, is a prefix of the name. */
static bool covers(struct weir_slice pattern, struct weir_slice name)
{
    if (pattern.len == 0)
        return true;
    if (pattern.ptr[0] == '*') {
        for (size_t i = 0; i <= name.len; i++) {
            if (covers(weir_slice_sub(pattern, 1, pattern.len), weir_slice_sub(name, i, name.len)))
                return true;
        }
        return false;
    }
    return name.len > 0 && name.ptr[0] == pattern.ptr[0] &&
           covers(weir_slice_sub(pattern, 1, pattern.len), weir_slice_sub(name, 1, name.len));
}

static uint64_t members(const struct kit_config *config, struct weir_slice group)
{
    uint64_t set = 0;

    for (size_t i = 0; i < config->deployment_count; i++) {
        if (weir_slice_eq(config->deployments[i].spec.group, group))
            set |= UINT64_C(1) << i;
    }
    return set;
}

static const struct kit_deployment *by_id(const struct kit_config *config, struct weir_slice name)
{
    for (size_t i = 0; i < config->deployment_count; i++) {
        if (weir_slice_eq(config->deployments[i].spec.id, name))
            return &config->deployments[i];
    }
    return NULL;
}

bool model_is_id(const struct kit_config *config, struct weir_slice name)
{
    return members(config, name) == 0 && by_id(config, name) != NULL;
}

uint64_t model_resolve(const struct kit_config *config, struct weir_slice name)
{
    struct weir_slice best = WEIR_SLICE_EMPTY;
    uint64_t set = members(config, name);

    if (set != 0)
        return set;
    if (by_id(config, name) != NULL)
        return UINT64_C(1) << (by_id(config, name) - config->deployments);
    for (size_t i = 0; i < config->deployment_count; i++) {
        struct weir_slice group = config->deployments[i].spec.group;

        if (weir_slice_find_char(group, '*') != WEIR_SLICE_NONE && covers(group, name) &&
            group.len > best.len)
            best = group;
    }
    return best.len == 0 ? 0 : members(config, best);
}

static const struct weir_policy *find_policy(const struct weir_group_policy *policies, size_t count,
                                             struct weir_slice group)
{
    for (size_t i = 0; i < count; i++) {
        if (weir_slice_eq(policies[i].group, group))
            return &policies[i].policy;
    }
    return NULL;
}

/* The name that this hop was asked by: another than the group's where "*" stood in for it. */
static struct weir_slice asked_name(const struct kit_call *call)
{
    struct weir_slice name = call->request.request.model;

    for (size_t i = 0; i < call->event_count; i++) {
        if (call->events[i].kind == WEIR_EVENT_FALLBACK && call->events[i].u.fallback.kind == WEIR_HOP_GROUP)
            name = call->events[i].u.fallback.target;
    }
    return name;
}

static const struct weir_policy *policy_of(const struct kit_call *call, struct weir_slice group)
{
    const struct weir_request *request = &call->request.request;
    const struct kit_config *config = call->config;
    const struct weir_policy *policy =
        find_policy(request->retry_policies, request->retry_policy_count, group);

    if (policy == NULL)
        policy = find_policy(request->retry_policies, request->retry_policy_count, asked_name(call));
    if (policy == NULL)
        policy = find_policy(config->policies, config->policy_count, group);
    if (policy == NULL)
        policy = find_policy(config->policies, config->policy_count, asked_name(call));
    return policy == NULL ? &config->router.retry_policy : policy;
}

uint32_t model_retries(const struct kit_call *call, struct weir_slice group,
                       const struct kit_deployment *deployment, const struct weir_failure *failure)
{
    const struct weir_policy *policy = policy_of(call, group);
    uint32_t asked = call->request.request.controls.num_retries;
    weir_policy_field field = model_field(policy, failure, true);

    if (asked == 0)
        return 0;
    if (field != WEIR_POLICY_NONE)
        return policy->count[field];
    if (policy->count[WEIR_POLICY_DEFAULT] != WEIR_UNSET)
        return policy->count[WEIR_POLICY_DEFAULT];
    if (asked != WEIR_UNSET)
        return asked;
    if (deployment->spec.num_retries != WEIR_UNSET)
        return deployment->spec.num_retries;
    return call->config->router.num_retries;
}

static bool is_configured(const struct kit_call *call, weir_list_kind list)
{
    weir_list_presence presence = call->request.request.lists[list].presence;

    if (presence != WEIR_LIST_ABSENT)
        return presence == WEIR_LIST_GIVEN;
    for (size_t i = 0; i < call->config->chain_count; i++) {
        if (call->config->chains[i].list == list)
            return true;
    }
    return false;
}

bool model_is_worth(const struct kit_call *call, struct weir_slice group, const struct weir_failure *failure)
{
    uint64_t set = model_resolve(call->config, group);
    size_t size = (size_t)__builtin_popcountll(set);
    size_t healthy = 0;
    int status = failure->status;

    for (size_t i = 0; i < call->config->deployment_count; i++) {
        if ((set >> i & 1) != 0 && !call->config->deployments[i].spec.blocked) {
            struct weir_live_view view;

            weir_router_view(call->kit->router, weir_snapshot_deployment(call->kit->snapshot, i),
                             call->kit->now_ns, &view);
            healthy += view.cooldown_until_ns <= call->kit->now_ns;
        }
    }
    if (failure->kind == WEIR_KIND_GUARDRAIL || healthy == 0)
        return false;
    if (model_field(policy_of(call, group), failure, true) != WEIR_POLICY_NONE)
        return true;
    if (failure->kind == WEIR_KIND_CONTEXT_WINDOW && is_configured(call, WEIR_LIST_CONTEXT_WINDOW))
        return false;
    if (failure->kind == WEIR_KIND_CONTENT_POLICY && is_configured(call, WEIR_LIST_CONTENT_POLICY))
        return false;
    if (failure->kind == WEIR_KIND_NOT_FOUND)
        return false;
    if (size == 1 && (status == 401 || status == 403 || failure->kind == WEIR_KIND_AUTH ||
                      failure->kind == WEIR_KIND_PERMISSION))
        return false;
    return status >= 500 || status == 401 || status == 403 || status == 408 || status == 409 || status == 429;
}
