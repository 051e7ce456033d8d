/*
 * A pick keeps nothing of what it looks at, so what became of a candidate is worked out again afterwards, at
 * the same time and by the filters that were on in the end.  What other threads have changed in between shows
 * in that; the chosen one is the chosen one whatever they did.
 */
#include "engine/pick/note.h"

#include "engine/pick/tags.h"
#include "engine/strategy/room.h"
#include "engine/strategy/strategy.h"

static const weir_fate fates[WEIR_FILTERS] = {
#define X(filter, drops) [WEIR_FILTER_##filter] = WEIR_FATE_##filter,
#include "engine/tbl/filters.h"
#undef X
};

/* A pick that is being told of. */
struct noting {
    const struct weir_pick *pick;
    const struct weir_trail *trail;
    const weir_deployment *chosen;
    bool is_bound;   /* to one order */
    bool has_orders; /* some candidates may be of another order than the one that was tried ... */
    int32_t tried;   /* ... which is this */
    bool wants_room;
    struct weir_candidates c; /* of one candidate at a time */
};

static struct noting begin(const struct weir_pick *pick, const struct weir_trail *trail,
                           const weir_deployment *chosen)
{
    const struct weir_set *set = pick->from->set;
    struct noting n = {.pick = pick,
                       .trail = trail,
                       .chosen = chosen,
                       .is_bound = pick->mode == WEIR_PICK_ORDER || pick->mode == WEIR_PICK_HEDGE,
                       .c = weir_filter_candidates(pick, 0)};

    n.wants_room = weir_strategy_of(n.c.strategy->strategy)->wants_room;
    n.has_orders = set != NULL && (chosen != NULL || n.is_bound) && (set->tier_count > 1 || n.is_bound);
    if (n.has_orders)
        n.tried = n.is_bound ? pick->order : weir_set_order_of(set, chosen);
    return n;
}

/* Whether the pick has gone through the deployment's tier, and by which filters; a fate other than ELIGIBLE:
 * it has not. */
static weir_fate fate_of_tier(const struct noting *n, const weir_deployment *deployment,
                              unsigned *ret_filters)
{
    int32_t order = n->has_orders ? weir_set_order_of(n->pick->from->set, deployment) : n->tried;

    if (order > n->tried)
        return WEIR_FATE_LATER_ORDER;
    if (order < n->tried && n->is_bound)
        return WEIR_FATE_EARLIER_ORDER;
    *ret_filters = order < n->tried || n->chosen == NULL ? weir_filter_lifted(n->pick, n->trail->filters)
                                                         : n->trail->last_filters;
    return WEIR_FATE_ELIGIBLE;
}

/* What the tags leave is a set of its own where there is one for them. */
static bool is_out_of_pool(const struct noting *n, const weir_deployment *deployment)
{
    const struct weir_set *set = n->pick->from->set;

    return n->trail->set != set && (n->c.filters & WEIR_FILTER_BIT(TAGS)) == 0 &&
           !weir_tags_has(n->trail->set, set, deployment);
}

static weir_fate fate_of(struct noting *n, const weir_deployment *deployment)
{
    const struct weir_tier tier = {.count = 1,
                                   .members = (const weir_deployment *[]){deployment},
                                   .slots = (uint32_t[]){deployment->slot}};
    enum weir_filter filter;
    weir_fate fate;

    if (deployment == n->chosen)
        return WEIR_FATE_CHOSEN;
    if (deployment->spec.blocked)
        return WEIR_FATE_BLOCKED;
    fate = fate_of_tier(n, deployment, &n->c.filters);
    if (fate != WEIR_FATE_ELIGIBLE)
        return fate;
    n->c.tier = &tier;
    filter = weir_filter_keeps(&n->c, 0) ? WEIR_FILTERS : weir_filter_first(&n->c, 0);
    if (filter > WEIR_FILTER_TAGS && is_out_of_pool(n, deployment))
        filter = WEIR_FILTER_TAGS;
    if (filter != WEIR_FILTERS)
        return fates[filter];
    return n->wants_room && !weir_has_room(&n->c, 0) ? WEIR_FATE_NO_ROOM : WEIR_FATE_NOT_CHOSEN;
}

weir_fate weir_note_fate(const struct weir_pick *pick, const struct weir_trail *trail,
                         const weir_deployment *chosen, const weir_deployment *deployment)
{
    struct noting n = begin(pick, trail, chosen);

    return fate_of(&n, deployment);
}

static void note(struct noting *n, const weir_deployment *deployment, struct weir_candidate *ret_candidate)
{
    uint64_t until_ns = weir_live_until(n->pick->live, deployment->slot);

    *ret_candidate = (struct weir_candidate){.deployment = deployment->spec.id,
                                             .fate = fate_of(n, deployment),
                                             .until_ns = until_ns > n->pick->now_ns ? until_ns : 0};
}

uint32_t weir_note_pick(const struct weir_pick *pick, const struct weir_trail *trail,
                        const weir_deployment *chosen, uint32_t max, struct weir_candidate *ret_candidates)
{
    const struct weir_set *set = pick->from->set;
    const weir_deployment *const *members = set == NULL ? &pick->from->only : set->members;
    uint32_t size = set == NULL ? 1 : set->count, count = size < max ? size : max;
    struct noting n = begin(pick, trail, chosen);
    bool has_chosen = chosen == NULL;

    for (uint32_t i = 0; i < count; i++) {
        note(&n, members[i], &ret_candidates[i]);
        has_chosen = has_chosen || members[i] == chosen;
    }
    if (!has_chosen)
        note(&n, chosen, &ret_candidates[count - 1]);
    return count;
}
