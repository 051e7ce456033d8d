/*
 * usage-based-routing-v2: the candidate with the fewest tokens this minute, evenly among equals, of those
 * whose limits leave room for the request (router-semantics 6.3).  `usage-based-routing` is the same.
 */
#include "engine/strategy/lowest.h"
#include "engine/strategy/room.h"
#include "engine/usage.h"

static uint64_t tokens(const struct weir_candidates *c, uint32_t member)
{
    return weir_usage_of(c->live, c->tier->slots[member], WEIR_USAGE_TOKENS, c->minute);
}

uint32_t weir_pick_by_usage(const struct weir_candidates *c, struct weir_rand *rand)
{
    uint32_t member = weir_draw_zero(c, tokens, weir_has_room, rand);

    return member != WEIR_PICK_NONE ? member : weir_lowest(c, tokens, weir_has_room, rand);
}
