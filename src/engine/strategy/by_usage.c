/*
 * usage-based-routing-v2: the candidate with the fewest tokens this minute, evenly among equals, of those
 * whose limits leave room for the request (router-semantics 6.3).  `usage-based-routing` is the same.
 */
#include "engine/live/usage.h"
#include "engine/strategy/lowest.h"
#include "engine/strategy/odds.h"
#include "engine/strategy/room.h"

enum { DRAWS = 16 };

static uint64_t tokens(const struct weir_candidates *c, uint32_t member)
{
    return weir_usage_of(c->live, c->tier->slots[member], WEIR_USAGE_TOKENS, c->minute);
}

static const _Atomic uint64_t *even(const struct weir_live_block *block)
{
    return block->usage[WEIR_USAGE_TOKENS][0];
}

static const _Atomic uint64_t *odd(const struct weir_live_block *block)
{
    return block->usage[WEIR_USAGE_TOKENS][1];
}

static bool suffice(const struct weir_candidates *c, uint32_t slot)
{
    (void)c;
    (void)slot;
    return true;
}

static inline bool is_above(const struct weir_candidates *c, uint64_t word, uint64_t number)
{
    uint64_t count = word - (c->minute << WEIR_USAGE_COUNT_BITS);

    return count <= WEIR_USAGE_COUNT_MAX && count > number;
}

WEIR_LOWEST_INLINE uint32_t pick(const struct weir_candidates *c, const struct weir_lowest_by *by,
                                 struct weir_rand *rand)
{
    uint32_t member = weir_lowest_draw(c, by, 0, DRAWS, rand);

    return member != WEIR_PICK_NONE ? member : weir_lowest_of(c, by, rand);
}

uint32_t weir_pick_by_usage(const struct weir_candidates *c, struct weir_rand *rand)
{
    static const struct weir_lowest_by in_even = {tokens, weir_has_room, even, suffice, is_above},
                                       in_odd = {tokens, weir_has_room, odd, suffice, is_above};

    return c->minute % 2 == 0 ? pick(c, &in_even, rand) : pick(c, &in_odd, rand);
}

void weir_odds_by_usage(const struct weir_candidates *c, double *odds, struct weir_sort_key *scratch)
{
    (void)scratch;
    weir_odds_within(c, tokens, weir_has_room, weir_odds_lowest(c, tokens, weir_has_room), 1, odds);
}
