/*
 * What the odds of strategies have in common: one is sure, some are equal, or the lower numbers win.
 */
#ifndef WEIR_ENGINE_STRATEGY_ODDS_H
#define WEIR_ENGINE_STRATEGY_ODDS_H

#include <stdint.h>

#include "engine/snapshot/sort.h"
#include "engine/strategy/strategy.h"

typedef uint64_t weir_odds_number(const struct weir_candidates *c, uint32_t member);

/* A strategy that leaves nothing to chance: all to the one that it picks. */
void weir_odds_sure(const struct weir_candidates *c, weir_strategy_pick *pick, double *odds);

/* The lowest number of a candidate that fits (NULL: all do); UINT64_MAX: there is none. */
uint64_t weir_odds_lowest(const struct weir_candidates *c, weir_odds_number *number_of,
                          bool (*fits)(const struct weir_candidates *c, uint32_t member));

/* Adds the share evenly to those of them whose number is not above the bound. */
void weir_odds_within(const struct weir_candidates *c, weir_odds_number *number_of,
                      bool (*fits)(const struct weir_candidates *c, uint32_t member), uint64_t bound,
                      double share, double *odds);

/* The candidates by their numbers, the lowest first, into scratch.  Returns how many. */
uint32_t weir_odds_sort(const struct weir_candidates *c, weir_odds_number *number_of,
                        struct weir_sort_key *scratch);

/* The end of the keys from the given one on that have the same number as it. */
static inline uint32_t weir_odds_equals(const struct weir_sort_key *keys, uint32_t count, uint32_t from)
{
    uint32_t end = from + 1;

    while (end < count && keys[end].rank == keys[from].rank)
        end++;
    return end;
}

#endif
