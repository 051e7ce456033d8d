/*
 * A request has weights for a few deployments, so each of them is looked up and found among the members,
 * once to add up and once to choose.  A candidate without a weight gets nothing.
 */
#include "engine/strategy/own_weights.h"

#include <float.h>

#include "base/slice.h"

/* The weight of one entry, and whose it is; 0: it is nobody's among the candidates. */
static double weight_of(const struct weir_candidates *c, const struct weir_weight *entry,
                        uint32_t *ret_member)
{
    const weir_deployment *deployment;

    if (!(entry->weight > 0 && entry->weight <= DBL_MAX) || !weir_slice_eq(entry->group, c->group))
        return 0;
    deployment = weir_map_get(&c->snapshot->by_id, entry->id);
    for (uint32_t i = 0; deployment != NULL && i < c->tier->count; i++) {
        if (c->tier->members[i] != deployment)
            continue;
        *ret_member = i;
        return weir_filter_keeps(c, i) ? entry->weight : 0;
    }
    return 0;
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
