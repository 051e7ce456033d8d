/*
 * Each weight's deployment is looked up and found among the members, once to add up and once to choose, and
 * where the slots rise by halves: a client may send a thousand weights to a group of ten thousand.  A
 * candidate without a weight gets nothing.
 */
#include "engine/strategy/own_weights.h"

#include <float.h>

#include "base/slice.h"

/* The first member from which on the slots are not below the given one. */
static uint32_t first_from(const struct weir_tier *tier, uint32_t slot)
{
    uint32_t from = 0, count = tier->count, half;

    while (count > 0) {
        half = count / 2;
        if (tier->slots[from + half] < slot) {
            from += half + 1;
            count -= half + 1;
        } else {
            count = half;
        }
    }
    return from;
}

/* The deployment's place in the tier; the tier's count: it has none. */
static uint32_t place_of(const struct weir_tier *tier, const weir_deployment *deployment)
{
    uint32_t place = tier->rising ? first_from(tier, deployment->slot) : 0;

    while (!tier->rising && place < tier->count && tier->members[place] != deployment)
        place++;
    return place < tier->count && tier->members[place] == deployment ? place : tier->count;
}

/* The weight of one entry, and whose it is; 0: it is nobody's among the candidates. */
static double weight_of(const struct weir_candidates *c, const struct weir_weight *entry,
                        uint32_t *ret_member)
{
    const weir_deployment *deployment;
    uint32_t place;

    if (!(entry->weight > 0 && entry->weight <= DBL_MAX) || !weir_slice_eq(entry->group, c->group))
        return 0;
    deployment = weir_map_get(&c->snapshot->by_id, entry->id);
    place = deployment == NULL ? c->tier->count : place_of(c->tier, deployment);
    if (place == c->tier->count || !weir_filter_keeps(c, place))
        return 0;
    *ret_member = place;
    return entry->weight;
}

/* The greatest weight of a candidate: sums of parts of it do not overflow. */
static double greatest_weight(const struct weir_candidates *c)
{
    double greatest = 0, weight;
    uint32_t member;

    for (size_t i = 0; i < c->request->weight_count; i++) {
        weight = weight_of(c, &c->request->weights[i], &member);
        greatest = weight > greatest ? weight : greatest;
    }
    return greatest;
}

uint32_t weir_pick_by_own_weights(const struct weir_candidates *c, struct weir_rand *rand)
{
    double greatest = greatest_weight(c), sum = 0, part;
    uint32_t chosen = WEIR_PICK_NONE, member = 0;

    /* Each takes the place of the one before with the odds of its part of the sum so far. */
    for (size_t i = 0; greatest > 0 && i < c->request->weight_count; i++) {
        part = weight_of(c, &c->request->weights[i], &member) / greatest;
        sum += part;
        if (part > 0 && weir_rand_unit(rand) * sum < part)
            chosen = member;
    }
    return chosen;
}

bool weir_odds_by_own_weights(const struct weir_candidates *c, double *odds)
{
    double greatest = greatest_weight(c), sum = 0;
    uint32_t member = 0;

    for (size_t i = 0; greatest > 0 && i < c->request->weight_count; i++)
        sum += weight_of(c, &c->request->weights[i], &member) / greatest;
    for (size_t i = 0; sum > 0 && i < c->request->weight_count; i++) {
        double part = weight_of(c, &c->request->weights[i], &member) / greatest;

        if (part > 0)
            odds[member] += part / sum;
    }
    return sum > 0;
}
