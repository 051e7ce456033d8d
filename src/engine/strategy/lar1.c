/*
 * lar1: the class of deployment that the caller's evidence asks for (router-semantics 6.7).
 *
 * What nobody has verified goes to a smart model in the cloud and what concerns memory to a fast one; else
 * the surer the caller is, the humbler the class.  The first candidate of the class serves, in the order of
 * the configuration, or the first of all.  The members of a tier are ranked by class when it is built.
 */
#include "engine/strategy/odds.h"
#include "engine/strategy/strategy.h"

static weir_lar1_class class_of(const struct weir_lar1 *evidence, const struct weir_strategy_spec *spec)
{
    if (evidence->is_unverified)
        return WEIR_LAR1_CLOUD_SMART;
    if (evidence->is_memory)
        return WEIR_LAR1_CLOUD_FAST;
    if (evidence->confidence < spec->confidence_low)
        return WEIR_LAR1_CLOUD_SMART;
    if (evidence->confidence < spec->confidence_medium)
        return WEIR_LAR1_CLOUD_FAST;
    return evidence->confidence < spec->confidence_high ? WEIR_LAR1_LOCAL : WEIR_LAR1_DEEP;
}

/* The first rank of the class, or of one that comes after it. */
static uint32_t first_rank(const struct weir_tier *tier, unsigned wanted)
{
    uint32_t from = 0, count = tier->count, half;

    while (count > 0) {
        half = count / 2;
        if (tier->members[tier->ranking[from + half]]->spec.lar1_class >= wanted) {
            count = half;
        } else {
            from += half + 1;
            count -= half + 1;
        }
    }
    return from;
}

uint32_t weir_pick_lar1(const struct weir_candidates *c, struct weir_rand *rand)
{
    const struct weir_tier *tier = c->tier;
    weir_lar1_class wanted = class_of(&c->request->lar1, c->strategy);
    uint32_t last = first_rank(tier, (unsigned)wanted + 1), first;

    (void)rand;
    for (uint32_t i = first_rank(tier, wanted); i < last; i++)
        if (weir_filter_keeps(c, tier->ranking[i]))
            return tier->ranking[i];
    first = weir_filter_next(c, 0);
    return first < tier->count ? first : WEIR_PICK_NONE;
}

void weir_odds_lar1(const struct weir_candidates *c, double *odds, struct weir_sort_key *scratch)
{
    (void)scratch;
    weir_odds_sure(c, weir_pick_lar1, odds);
}
