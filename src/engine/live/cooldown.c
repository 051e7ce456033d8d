/*
 * Three questions, in this order: does the failure count at all (its origin, the skip checks); which rule
 * speaks for it (the first of the allowed-fails settings that says something about the kind, else the error
 * rates); does that rule cool the deployment now, and for how long.
 */
#include "engine/live/cooldown.h"

#include <math.h>

#include "base/slice.h"
#include "base/time.h"
#include "engine/live/ledger.h"
#include "engine/live/shared.h"
#include "engine/snapshot/policy.h"
#include "engine/snapshot/snapshot.h"

/* A failure on a deployment, as the rules see it. */
struct subject {
    struct weir_live *live;
    const struct weir_router_spec *router;
    const weir_deployment *deployment;
    const struct weir_failure *failure;
    uint64_t now_ns;
    weir_policy_field own_field; /* of the deployment's policy that speaks for the kind */
};

/* Whether the failure is kept out of every counter (router-semantics 15.3). */
static bool is_skipped(const struct subject *s)
{
    int status = s->failure->status;

    if (s->router->disable_cooldowns || s->deployment->spec.cooldown_ns == 0)
        return true;
    if (s->own_field != WEIR_POLICY_NONE)
        return false;
    return status >= 400 && status < 500 && status != 401 && status != 404 && status != 408 && status != 429;
}

/* The life of an allowed-fails counter: never Retry-After (decisions 5). */
static uint64_t counter_life(const struct subject *s)
{
    uint64_t own = s->deployment->spec.cooldown_ns;

    return own != WEIR_UNSET_NS ? own : s->router->cooldown_ns;
}

/* The counter of the kind's class: kinds that share a class share it. */
static unsigned class_counter(weir_kind kind)
{
    unsigned first = 0;

    while (!weir_slice_eq(weir_kind_row((weir_kind)first)->class_name, weir_kind_row(kind)->class_name))
        first++;
    return WEIR_LIVE_COUNTER_CLASS + first;
}

/* Counts the failure and says whether the count is over the limit. */
static bool is_over(const struct subject *s, unsigned counter, uint32_t limit)
{
    const struct weir_shared_limit noted = {
        .failure = s->failure, .counter = counter, .limit = limit, .life_ns = counter_life(s)};
    uint32_t count;

    weir_shared_note_limit(s->live, s->deployment->slot, &noted);
    count = weir_live_count(s->live, s->deployment->slot, counter, noted.life_ns, s->now_ns);
    weir_shared_mark(s->live, s->deployment->slot, WEIR_SHARED_BIT(FAILS));
    return count > limit;
}

/* The error-rate rules (router-semantics 15.5).  Returns whether one of them cools. */
static bool error_rate_says(const struct subject *s, weir_cooldown_rule *ret_rule)
{
    struct weir_live_window window = weir_live_window(s->live, s->deployment->slot, s->now_ns);
    uint64_t total = (uint64_t)window.successes + window.failures;
    bool has_siblings = s->deployment->group->count > 1;
    int status = s->failure->status;

    if (status == 429 && has_siblings)
        *ret_rule = WEIR_COOLDOWN_RATE_LIMITED;
    else if (window.successes == 0 && total >= s->router->single_failure_minimum)
        *ret_rule = WEIR_COOLDOWN_ALL_FAILED;
    else if (has_siblings && total >= s->router->failure_min_requests &&
             window.failures > s->router->failure_threshold * (double)total)
        *ret_rule = WEIR_COOLDOWN_FAILURE_SHARE;
    else if (status == 401 || status == 404)
        *ret_rule = WEIR_COOLDOWN_NOT_RETRYABLE;
    else
        return false;
    return true;
}

/* The first setting that says something about the kind decides alone (decisions 5). */
static bool rules_say(const struct subject *s, weir_cooldown_rule *ret_rule)
{
    const struct weir_deployment_spec *own = &s->deployment->spec;
    weir_policy_field field =
        weir_policy_find(&s->router->allowed_fails_policy, weir_kind_row(s->failure->kind)->fails_fields);

    if (s->own_field != WEIR_POLICY_NONE) {
        *ret_rule = WEIR_COOLDOWN_DEPLOYMENT_POLICY;
        return is_over(s, class_counter(s->failure->kind), own->allowed_fails_policy.count[s->own_field]);
    }
    if (own->allowed_fails != WEIR_UNSET) {
        *ret_rule = WEIR_COOLDOWN_DEPLOYMENT_FAILS;
        return is_over(s, WEIR_LIVE_COUNTER_DEPLOYMENT, own->allowed_fails);
    }
    if (field != WEIR_POLICY_NONE) {
        *ret_rule = WEIR_COOLDOWN_ROUTER_POLICY;
        return is_over(s, WEIR_LIVE_COUNTER_ROUTER, s->router->allowed_fails_policy.count[field]);
    }
    if (s->router->allowed_fails != WEIR_UNSET) {
        *ret_rule = WEIR_COOLDOWN_ROUTER_FAILS;
        return is_over(s, WEIR_LIVE_COUNTER_ROUTER, s->router->allowed_fails);
    }
    return error_rate_says(s, ret_rule);
}

/* The provider's Retry-After, up to the cap. */
static uint64_t asked_for(const struct subject *s, bool *ret_capped)
{
    uint64_t retry_after = s->failure->retry_after_ns, cap = s->router->cooldown_cap_ns;

    *ret_capped = retry_after > cap;
    return *ret_capped ? cap : retry_after;
}

/* The deployment's own length, then the provider's, then the router's. */
static uint64_t length_of(const struct subject *s, bool *ret_capped)
{
    *ret_capped = false;
    if (s->deployment->spec.cooldown_ns != WEIR_UNSET_NS)
        return s->deployment->spec.cooldown_ns;
    return s->failure->retry_after_ns == 0 ? s->router->cooldown_ns : asked_for(s, ret_capped);
}

/* What a row of cooldowns makes of the length: never less than it was, nor than what the provider asks for
 * (beyond 4). */
static void grow(const struct subject *s, struct weir_cooldown *cooldown)
{
    const struct weir_cooldown_growth *growth = &s->deployment->group->resilience.cooldown_growth;
    double grown = (double)cooldown->length_ns * pow(growth->factor, cooldown->number - 1);
    uint64_t most = growth->max_ns;
    bool capped;

    if (growth->factor <= 1)
        return;
    if (grown < (double)most)
        most = (uint64_t)grown;
    if (most > cooldown->length_ns)
        cooldown->length_ns = most;
    if (asked_for(s, &capped) > cooldown->length_ns)
        cooldown->length_ns = asked_for(s, &cooldown->capped);
}

/* The number of the cooldown that is to be set: what is added to one that runs belongs to it. */
static uint32_t number_of(const struct subject *s)
{
    uint32_t before = weir_live_cooldowns(s->live, s->deployment->slot);

    return before > 0 && weir_live_is_cooling(s->live, s->deployment->slot, s->now_ns) ? before : before + 1;
}

static struct subject subject_of(struct weir_live *live, const weir_snapshot *snapshot,
                                 const weir_deployment *deployment, const struct weir_failure *failure,
                                 uint64_t now_ns)
{
    return (struct subject){.live = live,
                            .router = &snapshot->spec,
                            .deployment = deployment,
                            .failure = failure,
                            .now_ns = now_ns,
                            .own_field = weir_policy_find(&deployment->spec.allowed_fails_policy,
                                                          weir_kind_row(failure->kind)->fails_fields)};
}

/* The cooldown that the rule sets. */
static struct weir_cooldown cooldown_by(const struct subject *s, weir_cooldown_rule rule)
{
    struct weir_cooldown cooldown = {.rule = rule};

    cooldown.length_ns = length_of(s, &cooldown.capped);
    cooldown.number = number_of(s);
    grow(s, &cooldown);
    cooldown.until_ns = weir_time_add(s->now_ns, cooldown.length_ns);
    return cooldown;
}

/* Returns whether it was written. */
static bool write_cooldown(const struct subject *s, const struct weir_cooldown *cooldown)
{
    if (!weir_live_cool(s->live, s->deployment->slot, cooldown->until_ns, s->failure, cooldown->rule,
                        s->now_ns))
        return false;
    weir_shared_mark(s->live, s->deployment->slot, WEIR_SHARED_BIT(COOLDOWN));
    return true;
}

bool weir_cooldown_count(struct weir_live *live, const weir_snapshot *snapshot,
                         const weir_deployment *deployment, const struct weir_failure *failure,
                         uint64_t now_ns, struct weir_cooldown *ret_cooldown)
{
    struct subject s = subject_of(live, snapshot, deployment, failure, now_ns);
    struct weir_cooldown cooldown;
    weir_cooldown_rule rule;

    if (failure->origin != WEIR_ORIGIN_PROVIDER || is_skipped(&s))
        return false;
    weir_live_enter(live, deployment->slot, false, now_ns);
    if (!rules_say(&s, &rule))
        return false;
    cooldown = cooldown_by(&s, rule);
    if (!write_cooldown(&s, &cooldown))
        return false;
    *ret_cooldown = cooldown;
    return true;
}

/* The rule that a counter of allowed fails stands for. */
static weir_cooldown_rule rule_of(const struct subject *s, unsigned counter)
{
    if (counter == WEIR_LIVE_COUNTER_DEPLOYMENT)
        return WEIR_COOLDOWN_DEPLOYMENT_FAILS;
    if (counter != WEIR_LIVE_COUNTER_ROUTER)
        return WEIR_COOLDOWN_DEPLOYMENT_POLICY;
    return weir_policy_find(&s->router->allowed_fails_policy,
                            weir_kind_row(s->failure->kind)->fails_fields) == WEIR_POLICY_NONE
               ? WEIR_COOLDOWN_ROUTER_FAILS
               : WEIR_COOLDOWN_ROUTER_POLICY;
}

bool weir_cooldown_shared(struct weir_live *live, const weir_snapshot *snapshot,
                          const weir_deployment *deployment, const struct weir_change *change,
                          uint64_t now_ns, struct weir_cooldown *ret_cooldown)
{
    struct subject s = subject_of(live, snapshot, deployment, &change->u.fails.failure, now_ns);
    struct weir_cooldown cooldown;

    if (is_skipped(&s))
        return false;
    cooldown = cooldown_by(&s, rule_of(&s, change->u.fails.counter));
    if (weir_ledger_cools_already(live, deployment->slot, cooldown.until_ns, now_ns) ||
        !write_cooldown(&s, &cooldown))
        return false;
    *ret_cooldown = cooldown;
    return true;
}

/* The views of a deployment's counters that are being listed. */
struct listed {
    const struct weir_live *live;
    uint32_t slot;
    uint64_t now_ns;
    struct weir_fails_view *views;
    size_t count;
};

static void list(struct listed *listed, unsigned counter, const struct weir_fails_view *view)
{
    uint64_t word = weir_live_counter(listed->live, listed->slot, counter);
    struct weir_fails_view *at = &listed->views[listed->count];

    if (weir_live_counter_end_ms(word) <= listed->now_ns / WEIR_NS_PER_MS)
        return;
    *at = *view;
    at->count = weir_live_counter_count(word);
    at->end_ns = weir_live_counter_end_ms(word) * WEIR_NS_PER_MS;
    listed->count++;
}

/* Kinds that share a class have one counter, which the first of them stands for. */
static void list_classes(struct listed *listed, const struct weir_policy *policy)
{
    for (int kind = 0; kind < WEIR_KIND_COUNT; kind++) {
        weir_policy_field field = weir_policy_find(policy, weir_kind_row((weir_kind)kind)->fails_fields);
        struct weir_fails_view view = {
            .rule = WEIR_COOLDOWN_DEPLOYMENT_POLICY, .field = field, .kind = (weir_kind)kind};

        if (field == WEIR_POLICY_NONE ||
            class_counter((weir_kind)kind) != (unsigned)(WEIR_LIVE_COUNTER_CLASS + kind))
            continue;
        view.limit = policy->count[field];
        list(listed, class_counter((weir_kind)kind), &view);
    }
}

/* The router's limits are many, and measure one counter. */
static void list_router(struct listed *listed, const struct weir_router_spec *router)
{
    struct weir_fails_view view = {.rule = WEIR_COOLDOWN_ROUTER_POLICY};

    for (int field = 0; field < WEIR_POLICY_FIELDS; field++) {
        view.field = (weir_policy_field)field;
        view.limit = router->allowed_fails_policy.count[field];
        if (view.limit != WEIR_UNSET && weir_policy_field_key(view.field, false).len > 0)
            list(listed, WEIR_LIVE_COUNTER_ROUTER, &view);
    }
    view = (struct weir_fails_view){
        .rule = WEIR_COOLDOWN_ROUTER_FAILS, .field = WEIR_POLICY_NONE, .limit = router->allowed_fails};
    if (router->allowed_fails != WEIR_UNSET)
        list(listed, WEIR_LIVE_COUNTER_ROUTER, &view);
}

size_t weir_cooldown_fails(const struct weir_live *live, const weir_snapshot *snapshot,
                           const weir_deployment *deployment, uint64_t now_ns,
                           struct weir_fails_view ret_views[WEIR_FAILS_VIEWS_MAX])
{
    const struct weir_deployment_spec *own = &deployment->spec;
    struct listed listed = {.live = live, .slot = deployment->slot, .now_ns = now_ns, .views = ret_views};
    const struct weir_fails_view view = {
        .rule = WEIR_COOLDOWN_DEPLOYMENT_FAILS, .field = WEIR_POLICY_NONE, .limit = own->allowed_fails};

    list_classes(&listed, &own->allowed_fails_policy);
    if (own->allowed_fails != WEIR_UNSET)
        list(&listed, WEIR_LIVE_COUNTER_DEPLOYMENT, &view);
    else
        list_router(&listed, &snapshot->spec);
    return listed.count;
}
