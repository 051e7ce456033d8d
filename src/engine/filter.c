/*
 * A pick goes through the tiers from the lowest order up and lets the strategy choose in the first one that
 * has a candidate.  Within a tier the deployments that failed in this call are avoided, unless that leaves
 * nobody: the skip never empties the list.  When everything cools down and health-check routing allows it,
 * the same is done again without the cooldown filter (decisions 15).
 */
#include "engine/filter.h"

#include "engine/strategy/strategy.h"

/* Whether a run of slots begins at the member, is the tier's alone, and cools down as a whole. */
static bool run_is_cooling(const struct weir_candidates *c, uint32_t member)
{
    const struct weir_tier *tier = c->tier;
    uint32_t slot = tier->slots[member], last = member + WEIR_LIVE_RUN_SLOTS - 1;

    return tier->rising && last < tier->count && tier->slots[last] == slot + WEIR_LIVE_RUN_SLOTS - 1 &&
           weir_live_run_is_cooling(c->live, slot, c->now_ns);
}

uint32_t weir_filter_next(const struct weir_candidates *c, uint32_t member)
{
    bool by_runs = (c->filters & WEIR_FILTER_BIT(COOLDOWN)) != 0;

    while (member < c->tier->count) {
        if (by_runs && c->tier->slots[member] % WEIR_LIVE_RUN_SLOTS == 0 && run_is_cooling(c, member))
            member += WEIR_LIVE_RUN_SLOTS;
        else if (weir_filter_keeps(c, member))
            break;
        else
            member++;
    }
    return member < c->tier->count ? member : c->tier->count;
}

static const weir_deployment *pick_in_tier(struct weir_candidates *c, const struct weir_pick *pick,
                                           struct weir_rand *rand)
{
    uint32_t member = weir_strategy_of(pick->from->set->strategy->strategy)->pick(c, rand);

    if (member == WEIR_PICK_NONE && (c->filters & WEIR_FILTER_BIT(SKIP)) != 0 && c->failed.words != NULL) {
        c->filters &= ~WEIR_FILTER_BIT(SKIP);
        member = weir_strategy_of(pick->from->set->strategy->strategy)->pick(c, rand);
    }
    return member == WEIR_PICK_NONE ? NULL : c->tier->members[member];
}

static const weir_deployment *pick_with(const struct weir_pick *pick, unsigned filters,
                                        struct weir_rand *rand)
{
    const struct weir_set *set = pick->from->set;
    const weir_deployment *chosen = NULL;

    for (uint32_t i = 0; chosen == NULL && i < set->tier_count; i++) {
        struct weir_candidates c = {.snapshot = pick->snapshot,
                                    .request = pick->request,
                                    .live = pick->live,
                                    .tier = &set->tiers[i],
                                    .failed = pick->failed,
                                    .excluded = pick->excluded,
                                    .now_ns = pick->now_ns,
                                    .filters = filters};

        if (pick->mode != WEIR_PICK_ORDER || set->tiers[i].order == pick->order)
            chosen = pick_in_tier(&c, pick, rand);
    }
    return chosen;
}

static bool may_ignore_cooldowns(const struct weir_pick *pick)
{
    return pick->snapshot->spec.health_check_routing && pick->snapshot->has_fails_policy &&
           !weir_filter_any_healthy(pick->live, pick->from, pick->now_ns);
}

/* The deployment that was asked by its id. */
static const weir_deployment *pick_only(const struct weir_pick *pick)
{
    const weir_deployment *only = pick->from->only;

    if (only->spec.blocked)
        return NULL;
    if (pick->mode == WEIR_PICK_CONTINUATION &&
        (!only->spec.supports_prefill || weir_slot_set_has(&pick->excluded, only->slot) ||
         weir_live_is_cooling(pick->live, only->slot, pick->now_ns)))
        return NULL;
    return only;
}

const weir_deployment *weir_filter_pick(const struct weir_pick *pick, struct weir_rand *rand)
{
    const unsigned sibling = WEIR_FILTER_BIT(COOLDOWN) | WEIR_FILTER_BIT(EXCLUSION);
    const weir_deployment *chosen;

    if (pick->from->set == NULL)
        return pick_only(pick);
    if (pick->mode == WEIR_PICK_SIBLINGS)
        return pick_with(pick, sibling, rand);
    if (pick->mode == WEIR_PICK_CONTINUATION)
        return pick_with(pick, sibling | WEIR_FILTER_BIT(PREFILL) | WEIR_FILTER_BIT(SKIP), rand);
    chosen = pick_with(pick, WEIR_FILTER_BIT(COOLDOWN) | WEIR_FILTER_BIT(SKIP), rand);
    if (chosen == NULL && may_ignore_cooldowns(pick))
        chosen = pick_with(pick, WEIR_FILTER_BIT(SKIP), rand);
    return chosen;
}

static bool tier_any_healthy(const struct weir_live *live, const struct weir_tier *tier, uint64_t now_ns)
{
    const struct weir_candidates c = {
        .live = live, .tier = tier, .now_ns = now_ns, .filters = WEIR_FILTER_BIT(COOLDOWN)};

    return weir_filter_next(&c, 0) < tier->count;
}

bool weir_filter_any_healthy(const struct weir_live *live, const struct weir_resolution *from,
                             uint64_t now_ns)
{
    if (from->set == NULL)
        return !from->only->spec.blocked && !weir_live_is_cooling(live, from->only->slot, now_ns);
    for (uint32_t i = 0; i < from->set->tier_count; i++)
        if (tier_any_healthy(live, &from->set->tiers[i], now_ns))
            return true;
    return false;
}

static uint64_t tier_soonest_end(const struct weir_live *live, const struct weir_tier *tier, uint64_t now_ns)
{
    uint64_t soonest = UINT64_MAX, until;

    for (uint32_t i = 0; i < tier->count; i++) {
        until = weir_live_until(live, tier->slots[i]);
        if (until > now_ns && until < soonest)
            soonest = until;
    }
    return soonest;
}

uint64_t weir_filter_soonest_end(const struct weir_live *live, const struct weir_resolution *from,
                                 uint64_t now_ns)
{
    uint64_t soonest = UINT64_MAX, end;

    for (uint32_t i = 0; from->set != NULL && i < from->set->tier_count; i++) {
        end = tier_soonest_end(live, &from->set->tiers[i], now_ns);
        soonest = end < soonest ? end : soonest;
    }
    return soonest;
}
