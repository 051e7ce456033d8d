/*
 * The search that several strategies share: the candidate with the lowest number, evenly among equals.
 *
 * A number of a tier's member is cheap to read, the filters and limits are not, so they are asked only of a
 * member whose number would do.  Equals are settled as they come by reservoir sampling: of n of them each is
 * kept with the odds of 1 / n, and how many are passed over until the next is taken is drawn at once.
 */
#ifndef WEIR_ENGINE_STRATEGY_LOWEST_H
#define WEIR_ENGINE_STRATEGY_LOWEST_H

#include <stdbool.h>
#include <stdint.h>

#include "engine/strategy/strategy.h"

/* One of many, evenly, of which nobody knows how many will come. */
struct weir_reservoir {
    double count;
    double next; /* the number of the one that is taken next */
};

/* The first of new ones has come: it is taken. */
static inline void weir_reservoir_begin(struct weir_reservoir *r, struct weir_rand *rand)
{
    r->count = 1;
    r->next = 1 + 1 / (1 - weir_rand_unit(rand));
}

/* Another has come; whether it takes the place of the one before. */
static inline bool weir_reservoir_takes(struct weir_reservoir *r, struct weir_rand *rand)
{
    if (++r->count < r->next)
        return false;
    r->next = 1 + r->count / (1 - weir_rand_unit(rand));
    return true;
}

typedef uint64_t weir_number_of(const struct weir_candidates *c, uint32_t member);
typedef bool weir_member_fits(const struct weir_candidates *c, uint32_t member);

/*
 * The candidate with the lowest number among those that fit, evenly among equals; WEIR_PICK_NONE.  Numbers
 * may change meanwhile.  Written to be inlined with both functions.
 */
static inline __attribute__((always_inline)) uint32_t weir_lowest(const struct weir_candidates *c,
                                                                  weir_number_of *number_of,
                                                                  weir_member_fits *fits,
                                                                  struct weir_rand *rand)
{
    struct weir_reservoir equals = {0, 0};
    uint64_t least = UINT64_MAX, number;
    uint32_t best = WEIR_PICK_NONE;

    for (uint32_t i = 0; i < c->tier->count; i++) {
        number = number_of(c, i);
        if (number > least || !weir_filter_keeps(c, i) || !fits(c, i))
            continue;
        if (number == least && best != WEIR_PICK_NONE) {
            best = weir_reservoir_takes(&equals, rand) ? i : best;
            continue;
        }
        weir_reservoir_begin(&equals, rand);
        least = number;
        best = i;
    }
    return best;
}

/*
 * A few draws before the search: whoever has the number 0 cannot be beaten, and draws are even.  In a large
 * tier that has many such members the search is spared.  WEIR_PICK_NONE: none was drawn.
 */
static inline __attribute__((always_inline)) uint32_t weir_draw_zero(const struct weir_candidates *c,
                                                                     weir_number_of *number_of,
                                                                     weir_member_fits *fits,
                                                                     struct weir_rand *rand)
{
    enum { SMALL_TIER = 32, DRAWS = 4 };
    uint32_t member;

    for (int i = 0; c->tier->count > SMALL_TIER && i < DRAWS; i++) {
        member = weir_draw_member(c->tier->count, rand);
        if (number_of(c, member) == 0 && weir_filter_keeps(c, member) && fits(c, member))
            return member;
    }
    return WEIR_PICK_NONE;
}

#endif
