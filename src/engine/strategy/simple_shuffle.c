/*
 * simple-shuffle: a random candidate, by the request's own weights, else weight, else rpm, else tpm, else
 * uniformly (router-semantics 6.1).
 *
 * Most members pass the filters, so a member is drawn from the whole tier and drawn again when a filter drops
 * it: what is accepted has the odds of the weights among the candidates alone, and no candidate is looked at
 * but the drawn ones.  After a few misses the tier is gone through twice: once to add up the candidates'
 * weights, once to find the one that the drawn number falls on.
 */
#include "engine/strategy/strategy.h"

#include <stdbool.h>
#include <stddef.h>

#include "engine/strategy/own_weights.h"

enum { DRAWS_SMALL = 3, DRAWS_LARGE = 12, LARGE_TIER = 256 };

/* The first source that any member has; WEIR_WEIGHT_SOURCES: none. */
static size_t source_of(const struct weir_tier *tier)
{
    size_t source = 0;

    while (source < WEIR_WEIGHT_SOURCES && tier->sums[source] == NULL)
        source++;
    return source;
}

/* The first member whose running sum is above x. */
static uint32_t find_above(const double *sums, uint32_t count, double x)
{
    uint32_t from = 0, middle;

    while (count > 1) {
        middle = count / 2;
        if (sums[from + middle - 1] > x) {
            count = middle;
        } else {
            from += middle;
            count -= middle;
        }
    }
    return from;
}

static uint32_t draw_from_all(const struct weir_tier *tier, size_t source, struct weir_rand *rand)
{
    const double *sums;
    double x;

    if (source == WEIR_WEIGHT_SOURCES)
        return (uint32_t)weir_rand_below(rand, tier->count);
    sums = tier->sums[source];
    x = weir_rand_unit(rand) * sums[tier->count - 1];
    /* Rounding may reach the total, where only a member without weight might stand. */
    return find_above(sums, tier->count, x < sums[tier->count - 1] ? x : 0);
}

/* What the candidates of a tier have between them. */
struct totals {
    uint32_t first; /* member among them */
    uint32_t count;
    double weights[WEIR_WEIGHT_SOURCES];
};

static void add_up(const struct weir_candidates *c, struct totals *totals)
{
    *totals = (struct totals){0};
    for (uint32_t i = weir_filter_next(c, 0); i < c->tier->count; i = weir_filter_next(c, i + 1)) {
        if (totals->count++ == 0)
            totals->first = i;
        for (size_t source = 0; source < WEIR_WEIGHT_SOURCES; source++)
            totals->weights[source] += weir_tier_weight(c->tier, i, source);
    }
}

/* The candidate on which x falls when the candidates lie side by side, each as wide as its weight.  The last
 * one that has a weight takes what rounding, or a cooldown set meanwhile, leaves over. */
static uint32_t find_candidate(const struct weir_candidates *c, uint32_t first, size_t source, double x)
{
    uint32_t last = WEIR_PICK_NONE;
    double weight;

    for (uint32_t i = first; i < c->tier->count; i = weir_filter_next(c, i + 1)) {
        weight = source == WEIR_WEIGHT_SOURCES ? 1 : weir_tier_weight(c->tier, i, source);
        if (weight <= 0)
            continue;
        last = i;
        if (x < weight)
            break;
        x -= weight;
    }
    return last;
}

/* The weights are those of the candidates: a source that only dropped members have is no source. */
static uint32_t draw_from_candidates(const struct weir_candidates *c, struct weir_rand *rand)
{
    struct totals totals;
    size_t source = 0;

    add_up(c, &totals);
    if (totals.count <= 1)
        return totals.count == 0 ? WEIR_PICK_NONE : totals.first;
    while (source < WEIR_WEIGHT_SOURCES && totals.weights[source] <= 0)
        source++;
    if (source == WEIR_WEIGHT_SOURCES)
        return find_candidate(c, totals.first, source, (double)weir_rand_below(rand, totals.count));
    return find_candidate(c, totals.first, source, weir_rand_unit(rand) * totals.weights[source]);
}

uint32_t weir_pick_simple_shuffle(const struct weir_candidates *candidates, struct weir_rand *rand)
{
    const struct weir_tier *tier = candidates->tier;
    size_t source = source_of(tier);
    int draws = tier->count < LARGE_TIER ? DRAWS_SMALL : DRAWS_LARGE;
    uint32_t member =
        candidates->request->weight_count > 0 ? weir_pick_by_own_weights(candidates, rand) : WEIR_PICK_NONE;

    if (member != WEIR_PICK_NONE)
        return member;
    for (int i = 0; i < draws; i++) {
        member = draw_from_all(tier, source, rand);
        if (weir_filter_keeps(candidates, member))
            return member;
    }
    return draw_from_candidates(candidates, rand);
}

void weir_odds_simple_shuffle(const struct weir_candidates *c, double *odds, struct weir_sort_key *scratch)
{
    struct totals totals;
    size_t source = 0;

    (void)scratch;
    if (c->request->weight_count > 0 && weir_odds_by_own_weights(c, odds))
        return;
    add_up(c, &totals);
    if (totals.count == 0)
        return;
    while (source < WEIR_WEIGHT_SOURCES && totals.weights[source] <= 0)
        source++;
    for (uint32_t i = weir_filter_next(c, 0); i < c->tier->count; i = weir_filter_next(c, i + 1))
        odds[i] = source == WEIR_WEIGHT_SOURCES
                      ? 1.0 / totals.count
                      : weir_tier_weight(c->tier, i, source) / totals.weights[source];
}
