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

/* Whether the pick has gone through the deployment's tier, and by which filters; a fate other than ELIGIBLE:
 * it has not. */
static weir_fate fate_of_tier(const struct weir_pick *pick, const struct weir_trail *trail,
                              const weir_deployment *chosen, const weir_deployment *deployment,
                              unsigned *ret_filters)
{
    const struct weir_set *set = pick->from->set;
    bool is_bound = pick->mode == WEIR_PICK_ORDER || pick->mode == WEIR_PICK_HEDGE;
    int32_t order, tried;

    *ret_filters = trail->filters;
    if (set == NULL || (chosen == NULL && !is_bound)) {
        *ret_filters = weir_filter_lifted(pick, trail->filters);
        return WEIR_FATE_ELIGIBLE;
    }
    order = weir_set_order_of(set, deployment);
    tried = is_bound ? pick->order : weir_set_order_of(set, chosen);
    if (order > tried)
        return WEIR_FATE_LATER_ORDER;
    if (order < tried && is_bound)
        return WEIR_FATE_EARLIER_ORDER;
    *ret_filters =
        order < tried || chosen == NULL ? weir_filter_lifted(pick, trail->filters) : trail->last_filters;
    return WEIR_FATE_ELIGIBLE;
}

/* The first filter that drops the deployment; WEIR_FILTERS: none does. */
static enum weir_filter dropped_by(const struct weir_pick *pick, const struct weir_trail *trail,
                                   const weir_deployment *deployment, const struct weir_candidates *c)
{
    enum weir_filter first = weir_filter_first(c, 0);
    const struct weir_set *set = pick->from->set;

    /* What the tags leave is a set of its own where there is one for them. */
    if (set != NULL && first > WEIR_FILTER_TAGS && (c->filters & WEIR_FILTER_BIT(TAGS)) == 0 &&
        !weir_tags_has(trail->set, set, deployment))
        return WEIR_FILTER_TAGS;
    return first;
}

weir_fate weir_note_fate(const struct weir_pick *pick, const struct weir_trail *trail,
                         const weir_deployment *chosen, const weir_deployment *deployment)
{
    uint32_t slot = deployment->slot;
    const struct weir_tier tier = {.count = 1, .members = &deployment, .slots = &slot};
    struct weir_candidates c;
    enum weir_filter filter;
    unsigned filters;
    weir_fate fate;

    if (deployment == chosen)
        return WEIR_FATE_CHOSEN;
    if (deployment->spec.blocked)
        return WEIR_FATE_BLOCKED;
    fate = fate_of_tier(pick, trail, chosen, deployment, &filters);
    if (fate != WEIR_FATE_ELIGIBLE)
        return fate;
    c = weir_filter_candidates(pick, filters);
    c.tier = &tier;
    filter = dropped_by(pick, trail, deployment, &c);
    if (filter != WEIR_FILTERS)
        return fates[filter];
    return weir_strategy_of(c.strategy->strategy)->wants_room && !weir_has_room(&c, 0) ? WEIR_FATE_NO_ROOM
                                                                                       : WEIR_FATE_NOT_CHOSEN;
}

static void note(const struct weir_pick *pick, const struct weir_trail *trail, const weir_deployment *chosen,
                 const weir_deployment *deployment, struct weir_candidate *ret_candidate)
{
    uint64_t until_ns = weir_live_until(pick->live, deployment->slot);

    *ret_candidate = (struct weir_candidate){.deployment = deployment->spec.id,
                                             .fate = weir_note_fate(pick, trail, chosen, deployment),
                                             .until_ns = until_ns > pick->now_ns ? until_ns : 0};
}

uint32_t weir_note_pick(const struct weir_pick *pick, const struct weir_trail *trail,
                        const weir_deployment *chosen, uint32_t max, struct weir_candidate *ret_candidates)
{
    const struct weir_set *set = pick->from->set;
    const weir_deployment *const *members = set == NULL ? &pick->from->only : set->members;
    uint32_t size = set == NULL ? 1 : set->count, count = size < max ? size : max;
    bool has_chosen = chosen == NULL;

    for (uint32_t i = 0; i < count; i++) {
        note(pick, trail, chosen, members[i], &ret_candidates[i]);
        has_chosen = has_chosen || members[i] == chosen;
    }
    if (!has_chosen)
        note(pick, trail, chosen, chosen, &ret_candidates[count - 1]);
    return count;
}
