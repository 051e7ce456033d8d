/* Numbers that change while they are looked at make the odds a little wrong, and nothing else. */
#include "engine/strategy/odds.h"

#include <stddef.h>

void weir_odds_sure(const struct weir_candidates *c, weir_strategy_pick *pick, double *odds)
{
    struct weir_rand rand;
    uint32_t member;

    weir_rand_init(&rand, 0);
    member = pick(c, &rand);
    if (member != WEIR_PICK_NONE)
        odds[member] = 1;
}

uint64_t weir_odds_lowest(const struct weir_candidates *c, weir_odds_number *number_of,
                          bool (*fits)(const struct weir_candidates *c, uint32_t member))
{
    uint64_t lowest = UINT64_MAX, number;

    for (uint32_t i = weir_filter_next(c, 0); i < c->tier->count; i = weir_filter_next(c, i + 1)) {
        number = number_of(c, i);
        if (number < lowest && (fits == NULL || fits(c, i)))
            lowest = number;
    }
    return lowest;
}

void weir_odds_within(const struct weir_candidates *c, weir_odds_number *number_of,
                      bool (*fits)(const struct weir_candidates *c, uint32_t member), uint64_t bound,
                      double share, double *odds)
{
    uint32_t count = 0;

    /* Once to count them, once to share. */
    for (int turn = 0; turn < 2; turn++)
        for (uint32_t i = weir_filter_next(c, 0); i < c->tier->count; i = weir_filter_next(c, i + 1)) {
            if (number_of(c, i) > bound || (fits != NULL && !fits(c, i)))
                continue;
            if (turn == 0)
                count++;
            else if (count > 0)
                odds[i] += share / count;
        }
}

uint32_t weir_odds_sort(const struct weir_candidates *c, weir_odds_number *number_of,
                        struct weir_sort_key *scratch)
{
    uint32_t count = 0;

    for (uint32_t i = weir_filter_next(c, 0); i < c->tier->count; i = weir_filter_next(c, i + 1))
        scratch[count++] = (struct weir_sort_key){.rank = number_of(c, i), .place = i};
    weir_sort(scratch, count);
    return count;
}
