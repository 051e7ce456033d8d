/*
 * A pick goes through the tiers from the lowest order up and lets the strategy choose in the first one that
 * has a candidate.  Within a tier the deployments that failed in this call are avoided, unless that leaves
 * nobody: the skip never empties the list.  Nor does the ramp, which holds back what has cooled down lately;
 * but it may leave a tier to the next one, as a cooldown does.  When everything cools down and health-check
 * routing allows it, the same is done again without the cooldown filter (decisions 15).
 */
#include "engine/pick/filter.h"

#include "engine/live/quota.h"
#include "engine/pick/tags.h"
#include "engine/strategy/strategy.h"

/* Of the picks, right after a cooldown with a ramp behind it. */
static const double first_share = 0.1;

/* The checks before the call (router-semantics 18). */
static const unsigned pre_call =
    WEIR_FILTER_BIT(CONTEXT) | WEIR_FILTER_BIT(RPM) | WEIR_FILTER_BIT(REGION) | WEIR_FILTER_BIT(PARAMETERS);

bool weir_filter_drops(const struct weir_candidates *c, uint32_t member)
{
#define X(filter, drops)                                                                                     \
    if ((c->filters & WEIR_FILTER_BIT(filter)) != 0 && drops(c, member))                                     \
        return true;
#include "engine/tbl/filters.h"
#undef X
    return false;
}

enum weir_filter weir_filter_first(const struct weir_candidates *c, uint32_t member)
{
#define X(filter, drops)                                                                                     \
    if ((c->filters & WEIR_FILTER_BIT(filter)) != 0 && drops(c, member))                                     \
        return WEIR_FILTER_##filter;
#include "engine/tbl/filters.h"
#undef X
    return WEIR_FILTERS;
}

uint32_t weir_filter_next(const struct weir_candidates *c, uint32_t member)
{
    while (member < c->tier->count) {
        if (weir_filter_begins_run(c, member) && weir_filter_run_is_cooling(c, member))
            member += WEIR_LIVE_RUN_SLOTS;
        else if (weir_filter_keeps(c, member))
            break;
        else
            member++;
    }
    return member < c->tier->count ? member : c->tier->count;
}

bool weir_filter_held_back(const struct weir_candidates *c, uint32_t member)
{
    uint64_t until_ns = weir_live_until(c->live, c->tier->slots[member]);
    uint64_t ramp_ns = c->tier->members[member]->group->resilience.cooldown_ramp_ns;
    struct weir_rand rand;
    double share;

    if (until_ns == 0 || c->now_ns < until_ns || c->now_ns - until_ns >= ramp_ns)
        return false;
    share = first_share + (1 - first_share) * (double)(c->now_ns - until_ns) / (double)ramp_ns;
    /* However often one pick asks, it gets the same answer. */
    weir_rand_init(&rand, c->dice ^ c->tier->slots[member]);
    return weir_rand_unit(&rand) >= share;
}

unsigned weir_filter_lifted(const struct weir_pick *pick, unsigned filters)
{
    if (pick->failed.words == NULL || (filters & WEIR_FILTER_BIT(SKIP)) == 0)
        return filters;
    return filters & ~(WEIR_FILTER_BIT(RAMP) | WEIR_FILTER_BIT(SKIP));
}

static const weir_deployment *pick_in_tier(struct weir_candidates *c, struct weir_rand *rand)
{
    weir_strategy_pick *pick = weir_strategy_of(c->strategy->strategy)->pick;
    bool skips = (c->filters & WEIR_FILTER_BIT(SKIP)) != 0 && c->failed.words != NULL;
    uint32_t member = pick(c, rand);

    /* Rather one that is held back than one that failed. */
    if (member == WEIR_PICK_NONE && skips && (c->filters & WEIR_FILTER_BIT(RAMP)) != 0) {
        c->filters &= ~WEIR_FILTER_BIT(RAMP);
        member = pick(c, rand);
    }
    if (member == WEIR_PICK_NONE && skips) {
        c->filters &= ~WEIR_FILTER_BIT(SKIP);
        member = pick(c, rand);
    }
    return member == WEIR_PICK_NONE ? NULL : c->tier->members[member];
}

struct weir_candidates weir_filter_candidates(const struct weir_pick *pick, unsigned filters)
{
    return (struct weir_candidates){
        .snapshot = pick->snapshot,
        .request = pick->request,
        .live = pick->live,
        .pool = pick->pool,
        .failed = pick->failed,
        .excluded = pick->excluded,
        .prompt_tokens = weir_snapshot_sure_tokens(pick->snapshot, pick->request->prompt_tokens),
        .minute = weir_usage_minute(pick->live, pick->now_ns),
        .strategy = pick->from->set == NULL ? pick->from->only->group->strategy : pick->from->set->strategy,
        .group = pick->from->group,
        .dice = pick->dice,
        .now_ns = pick->now_ns,
        .filters = filters};
}

static const weir_deployment *pick_with(const struct weir_pick *pick, unsigned filters,
                                        struct weir_rand *rand, struct weir_trail *trail)
{
    const struct weir_set *set = pick->from->set;
    const weir_deployment *chosen = NULL;

    *trail = (struct weir_trail){set, filters, filters};

    for (uint32_t i = 0; chosen == NULL && i < set->tier_count; i++) {
        struct weir_candidates c = weir_filter_candidates(pick, filters);

        c.tier = &set->tiers[i];
        if ((pick->mode != WEIR_PICK_ORDER && pick->mode != WEIR_PICK_HEDGE) ||
            set->tiers[i].order == pick->order)
            chosen = pick_in_tier(&c, rand);
        trail->last_filters = c.filters;
    }
    return chosen;
}

bool weir_filter_leaves_any(const struct weir_pick *pick, const struct weir_set *set, unsigned filters)
{
    struct weir_candidates c = weir_filter_candidates(pick, filters);

    for (uint32_t i = 0; i < set->tier_count; i++) {
        c.tier = &set->tiers[i];
        if (weir_filter_next(&c, 0) < c.tier->count)
            return true;
    }
    return false;
}

static bool leaves_any(const struct weir_pick *pick, unsigned filters)
{
    return weir_filter_leaves_any(pick, pick->from->set, filters);
}

/* The filters that come before that of cooldowns. */
static unsigned before_cooldown(unsigned filters)
{
    return filters & (WEIR_FILTER_BIT(COOLDOWN) - 1);
}

static bool may_ignore_cooldowns(const struct weir_pick *pick, unsigned filters)
{
    return pick->snapshot->spec.health_check_routing && pick->snapshot->has_fails_policy &&
           !leaves_any(pick, before_cooldown(filters) | WEIR_FILTER_BIT(COOLDOWN));
}

/* The filters that the request brings, and that of probes unless it would leave nobody. */
static unsigned filters_of(const struct weir_pick *pick)
{
    const struct weir_set *set = pick->from->set;
    uint64_t route = pick->request->route;
    unsigned filters = set->has_windows ? WEIR_FILTER_BIT(ACCESS) : 0;

    if ((route & set->routes_served) != 0 && (route & set->routes_lacked) != 0)
        filters |= WEIR_FILTER_BIT(ROUTE);
    if (pick->request->web_search && set->has_web_search)
        filters |= WEIR_FILTER_BIT(WEB_SEARCH);
    if (pick->from->set->has_health && leaves_any(pick, filters | WEIR_FILTER_BIT(HEALTH)))
        filters |= WEIR_FILTER_BIT(HEALTH);
    if (pick->snapshot->spec.pre_call_checks)
        filters |= pre_call;
    if (weir_tags_route(pick))
        filters |= WEIR_FILTER_BIT(TAGS);
    return filters;
}

/* The filters that come before that of the tags. */
static unsigned before_tags(unsigned filters)
{
    return filters & (WEIR_FILTER_BIT(TAGS) - 1);
}

static bool is_shut(const struct weir_request *request, const struct weir_live *live,
                    const weir_deployment *d, uint64_t now_ns)
{
    return d->spec.window_count > 0 &&
           weir_access_is_shut(&d->spec, request->team, weir_usage_minute(live, now_ns));
}

/* The deployment that was asked by its id. */
static const weir_deployment *pick_only(const struct weir_pick *pick, struct weir_trail *trail)
{
    const weir_deployment *only = pick->from->only;

    *trail = (struct weir_trail){.filters = WEIR_FILTER_BIT(ACCESS)};
    if (pick->mode == WEIR_PICK_CONTINUATION)
        trail->filters |= WEIR_FILTER_BIT(COOLDOWN) | WEIR_FILTER_BIT(PREFILL) | WEIR_FILTER_BIT(EXCLUSION);
    if (only->spec.blocked || is_shut(pick->request, pick->live, only, pick->now_ns))
        return NULL;
    if (pick->mode == WEIR_PICK_CONTINUATION &&
        (!only->spec.supports_prefill || weir_slot_set_has(&pick->excluded, only->slot) ||
         weir_live_is_cooling(pick->live, only->slot, pick->now_ns)))
        return NULL;
    return only;
}

/* A pick among those of a set that the tags leave. */
static const weir_deployment *pick_by_tags(const struct weir_pick *pick, unsigned filters,
                                           struct weir_rand *rand, struct weir_trail *trail)
{
    unsigned before = before_tags(filters) & ~WEIR_FILTER_BIT(RAMP);
    struct weir_resolution from = *pick->from;
    struct weir_pick in_pool = *pick;

    *trail = (struct weir_trail){NULL, filters, filters};
    if (weir_tags_pool(pick, before, &from.set) != 0)
        return weir_tags_fill(pick, before) ? pick_with(pick, filters, rand, trail) : NULL;
    in_pool.from = &from;
    trail->filters = filters & ~WEIR_FILTER_BIT(TAGS);
    return from.set == NULL ? NULL : pick_with(&in_pool, trail->filters, rand, trail);
}

/* A pick among the deployments of a set. */
static const weir_deployment *pick_of_set(const struct weir_pick *pick, unsigned filters,
                                          struct weir_rand *rand, struct weir_trail *trail)
{
    return (filters & WEIR_FILTER_BIT(TAGS)) != 0 ? pick_by_tags(pick, filters, rand, trail)
                                                  : pick_with(pick, filters, rand, trail);
}

const weir_deployment *weir_filter_pick(const struct weir_pick *pick, struct weir_rand *rand,
                                        struct weir_trail *ret_trail)
{
    unsigned filters, ramp;
    const weir_deployment *chosen;

    if (pick->from->set == NULL)
        return pick_only(pick, ret_trail);
    filters = filters_of(pick) | WEIR_FILTER_BIT(COOLDOWN);
    ramp = pick->snapshot->has_ramp ? WEIR_FILTER_BIT(RAMP) : 0;
    switch (pick->mode) {
    case WEIR_PICK_SIBLINGS:
        return pick_of_set(pick, filters | WEIR_FILTER_BIT(EXCLUSION), rand, ret_trail);
    case WEIR_PICK_HEDGE:
        return pick_of_set(pick, filters | ramp | WEIR_FILTER_BIT(EXCLUSION), rand, ret_trail);
    case WEIR_PICK_CONTINUATION:
        filters |= WEIR_FILTER_BIT(EXCLUSION) | WEIR_FILTER_BIT(PREFILL) | WEIR_FILTER_BIT(SKIP);
        return pick_of_set(pick, filters, rand, ret_trail);
    case WEIR_PICK_LOWEST:
    case WEIR_PICK_ORDER:
        break;
    }
    filters |= WEIR_FILTER_BIT(SKIP);
    chosen = pick_of_set(pick, filters | ramp, rand, ret_trail);
    if (chosen == NULL && ramp != 0)
        chosen = pick_of_set(pick, filters, rand, ret_trail);
    if (chosen == NULL && may_ignore_cooldowns(pick, filters))
        chosen = pick_of_set(pick, filters & ~WEIR_FILTER_BIT(COOLDOWN), rand, ret_trail);
    return chosen;
}

/* Why the checks before the call left nobody of those that came through the filters before them. */
static weir_reason why_checks(const struct weir_pick *pick, unsigned before)
{
    /* A minute passes, so whoever is left without that limit counts first. */
    if (leaves_any(pick, before | (pre_call & ~WEIR_FILTER_BIT(RPM))))
        return WEIR_REASON_NO_DEPLOYMENTS;
    if (leaves_any(pick, before | WEIR_FILTER_BIT(REGION) | WEIR_FILTER_BIT(PARAMETERS)))
        return WEIR_REASON_PROMPT_TOO_LONG;
    return WEIR_REASON_UNSUITABLE;
}

weir_reason weir_filter_why(const struct weir_pick *pick)
{
    unsigned filters = filters_of(pick), before = before_cooldown(filters);

    if (!may_ignore_cooldowns(pick, filters))
        before |= WEIR_FILTER_BIT(COOLDOWN);
    if (!leaves_any(pick, before))
        return WEIR_REASON_NO_DEPLOYMENTS;
    if ((filters & pre_call) != 0 && !leaves_any(pick, before | pre_call))
        return why_checks(pick, before);
    if ((filters & WEIR_FILTER_BIT(TAGS)) != 0 && !weir_tags_fill(pick, before_tags(before | filters)))
        return weir_tags_fill(pick, before_tags(filters)) ? WEIR_REASON_NO_DEPLOYMENTS : WEIR_REASON_TAGS;
    return pick->from->set->strategy->strategy == WEIR_STRATEGY_USAGE ? WEIR_REASON_USAGE
                                                                      : WEIR_REASON_NO_DEPLOYMENTS;
}

void weir_filter_standing(const struct weir_pick *pick, bool *ret_eligible)
{
    const struct weir_set *set = pick->from->set;
    unsigned filters = filters_of(pick), standing = filters & WEIR_FILTER_BIT(HEALTH);
    struct weir_candidates c;

    if (!may_ignore_cooldowns(pick, filters))
        standing |= WEIR_FILTER_BIT(COOLDOWN);
    for (uint32_t i = 0; i < set->count; i++)
        ret_eligible[set->members[i]->number] = false;
    c = weir_filter_candidates(pick, standing);
    for (uint32_t i = 0; i < set->tier_count; i++) {
        c.tier = &set->tiers[i];
        for (uint32_t m = weir_filter_next(&c, 0); m < c.tier->count; m = weir_filter_next(&c, m + 1))
            ret_eligible[c.tier->members[m]->number] = true;
    }
}

bool weir_filter_is_starved(const struct weir_pick *pick)
{
    unsigned filters = filters_of(pick);

    if ((filters & WEIR_FILTER_BIT(TAGS)) != 0 && !weir_tags_fill(pick, before_tags(filters)))
        return false;
    return leaves_any(pick, filters) && !leaves_any(pick, filters | WEIR_FILTER_BIT(COOLDOWN));
}

/* When the first of the tier's candidates may be picked. */
static uint64_t tier_soonest_return(const struct weir_candidates *c)
{
    uint64_t soonest = UINT64_MAX, until;

    for (uint32_t i = weir_filter_next(c, 0); i < c->tier->count; i = weir_filter_next(c, i + 1)) {
        until = weir_live_until(c->live, c->tier->slots[i]);
        soonest = until < soonest ? until : soonest;
    }
    return soonest;
}

uint64_t weir_filter_soonest_return(const struct weir_pick *pick)
{
    unsigned filters = filters_of(pick);
    struct weir_candidates c = weir_filter_candidates(pick, filters);
    uint64_t soonest = UINT64_MAX, end;

    if ((filters & WEIR_FILTER_BIT(TAGS)) != 0 && !weir_tags_fill(pick, before_tags(filters)))
        return UINT64_MAX;
    for (uint32_t i = 0; i < pick->from->set->tier_count; i++) {
        c.tier = &pick->from->set->tiers[i];
        end = tier_soonest_return(&c);
        soonest = end < soonest ? end : soonest;
    }
    return soonest > pick->now_ns ? soonest : pick->now_ns;
}

/* Whether nothing is left of an enforced limit of the minute. */
static bool is_spent(const weir_snapshot *snapshot, const struct weir_live *live, const weir_deployment *d,
                     uint64_t minute)
{
    return snapshot->spec.enforce_minute_limits && weir_quota_is_spent(live, d, minute);
}

/* The deployment of an id that the caller may use and that does not cool down. */
static bool is_warm(const struct weir_request *request, const struct weir_live *live,
                    const weir_deployment *d, uint64_t now_ns)
{
    return !d->spec.blocked && !weir_live_is_cooling(live, d->slot, now_ns) &&
           !is_shut(request, live, d, now_ns);
}

/* Those of the set that the caller may use, but for the filters that are given; their tier is to be set. */
static struct weir_candidates allowed_of(const struct weir_request *request, const struct weir_live *live,
                                         const struct weir_set *set, uint64_t now_ns, unsigned filters)
{
    return (struct weir_candidates){.request = request,
                                    .live = live,
                                    .now_ns = now_ns,
                                    .minute = weir_usage_minute(live, now_ns),
                                    .filters = filters | (set->has_windows ? WEIR_FILTER_BIT(ACCESS) : 0)};
}

bool weir_filter_any_healthy(const weir_snapshot *snapshot, const struct weir_request *request,
                             const struct weir_live *live, const struct weir_resolution *from,
                             uint64_t now_ns)
{
    struct weir_candidates c;

    if (from->set == NULL)
        return is_warm(request, live, from->only, now_ns) &&
               !is_spent(snapshot, live, from->only, weir_usage_minute(live, now_ns));
    c = allowed_of(request, live, from->set, now_ns, WEIR_FILTER_BIT(COOLDOWN));
    for (uint32_t i = 0; i < from->set->tier_count; i++) {
        c.tier = &from->set->tiers[i];
        for (uint32_t m = weir_filter_next(&c, 0); m < c.tier->count; m = weir_filter_next(&c, m + 1))
            if (!is_spent(snapshot, live, c.tier->members[m], c.minute))
                return true;
    }
    return false;
}

bool weir_filter_any_warm(const struct weir_request *request, const struct weir_live *live,
                          const struct weir_resolution *from, uint64_t now_ns)
{
    struct weir_candidates c;

    if (from->set == NULL)
        return is_warm(request, live, from->only, now_ns);
    c = allowed_of(request, live, from->set, now_ns, WEIR_FILTER_BIT(COOLDOWN));
    for (uint32_t i = 0; i < from->set->tier_count; i++) {
        c.tier = &from->set->tiers[i];
        if (weir_filter_next(&c, 0) < c.tier->count)
            return true;
    }
    return false;
}

uint64_t weir_filter_soonest_end(const struct weir_request *request, const struct weir_live *live,
                                 const struct weir_resolution *from, uint64_t now_ns)
{
    uint64_t soonest = UINT64_MAX, until;
    struct weir_candidates c;

    if (from->set == NULL)
        return soonest;
    c = allowed_of(request, live, from->set, now_ns, 0);
    for (uint32_t i = 0; i < from->set->tier_count; i++) {
        c.tier = &from->set->tiers[i];
        for (uint32_t m = weir_filter_next(&c, 0); m < c.tier->count; m = weir_filter_next(&c, m + 1)) {
            until = weir_live_until(live, c.tier->slots[m]);
            if (until > now_ns && until < soonest)
                soonest = until;
        }
    }
    return soonest;
}
