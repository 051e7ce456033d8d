/*
 * cost-based-routing: the cheapest candidate, the earliest in the configuration among equals, of those whose
 * limits leave room for the request (router-semantics 6.6).
 *
 * Prices do not change while a snapshot lives, so the members of a tier are ranked by them when it is built.
 * Mostly one of the first ranks serves; when many do not, the rest is gone through by members, which passes
 * over whole runs that cool down.
 */
#include "engine/strategy/odds.h"
#include "engine/strategy/room.h"
#include "engine/strategy/strategy.h"

enum { RANKS_TRIED = 64 };

/* The member among the candidates that stands first in the ranking. */
static uint32_t search(const struct weir_candidates *c)
{
    const struct weir_tier *tier = c->tier;
    uint32_t best = WEIR_PICK_NONE;

    for (uint32_t i = weir_filter_next(c, 0); i < tier->count; i = weir_filter_next(c, i + 1))
        if ((best == WEIR_PICK_NONE ||
             weir_deployment_cost(tier->members[i]) < weir_deployment_cost(tier->members[best])) &&
            weir_has_room(c, i))
            best = i;
    return best;
}

uint32_t weir_pick_by_cost(const struct weir_candidates *c, struct weir_rand *rand)
{
    const struct weir_tier *tier = c->tier;

    (void)rand;
    for (uint32_t i = 0; i < tier->count && i < RANKS_TRIED; i++)
        if (weir_filter_keeps(c, tier->ranking[i]) && weir_has_room(c, tier->ranking[i]))
            return tier->ranking[i];
    return tier->count <= RANKS_TRIED ? WEIR_PICK_NONE : search(c);
}

void weir_odds_by_cost(const struct weir_candidates *c, double *odds, struct weir_sort_key *scratch)
{
    (void)scratch;
    weir_odds_sure(c, weir_pick_by_cost, odds);
}
