/*
 * latency-based-routing: evenly among the candidates whose mean latency is within (1 + buffer) of the lowest,
 * of those whose limits leave room for the request (router-semantics 6.5).
 *
 * A streamed request goes by the time to the first content where a deployment has samples of it.  Whoever
 * has no samples has the latency 0, so new deployments come first.
 */
#include <string.h>

#include "engine/latency.h"
#include "engine/strategy/lowest.h"
#include "engine/strategy/room.h"

static inline uint32_t key_of(const struct weir_candidates *c, uint32_t member, enum weir_pace pace)
{
    return weir_latency_key(c->live, c->tier->slots[member], pace, weir_latency_ticks(c->strategy->ttl_ns),
                            weir_latency_tick(c->now_ns));
}

static uint64_t whole(const struct weir_candidates *c, uint32_t member)
{
    return key_of(c, member, WEIR_PACE_WHOLE);
}

static uint64_t first(const struct weir_candidates *c, uint32_t member)
{
    uint32_t key = key_of(c, member, WEIR_PACE_FIRST);

    return key != 0 ? key : key_of(c, member, WEIR_PACE_WHOLE);
}

/* The key of a latency that is (1 + buffer) times as high. */
static uint64_t with_buffer(uint64_t key, double buffer)
{
    uint32_t bits = (uint32_t)key;
    float latency;

    memcpy(&latency, &bits, sizeof(latency));
    latency = (float)((double)latency * (1 + buffer));
    memcpy(&bits, &latency, sizeof(bits));
    return bits;
}

/* One of the candidates up to the bound, evenly; the one that is known when it is the only one. */
static uint32_t one_of(const struct weir_candidates *c, weir_number_of *number_of, uint64_t bound,
                       uint32_t known, struct weir_rand *rand)
{
    struct weir_reservoir equals = {0, 1};

    for (uint32_t i = 0; i < c->tier->count; i++)
        if (number_of(c, i) <= bound && weir_filter_keeps(c, i) && weir_has_room(c, i) &&
            weir_reservoir_takes(&equals, rand))
            known = i;
    return known;
}

static inline __attribute__((always_inline)) uint32_t pick(const struct weir_candidates *c,
                                                           weir_number_of *number_of, struct weir_rand *rand)
{
    double buffer = c->strategy->lowest_latency_buffer;
    uint32_t member = weir_draw_zero(c, number_of, weir_has_room, rand);

    if (member == WEIR_PICK_NONE)
        member = weir_lowest(c, number_of, weir_has_room, rand);
    if (member == WEIR_PICK_NONE || !(buffer > 0))
        return member;
    return one_of(c, number_of, with_buffer(number_of(c, member), buffer), member, rand);
}

uint32_t weir_pick_by_latency(const struct weir_candidates *c, struct weir_rand *rand)
{
    return c->request->stream ? pick(c, first, rand) : pick(c, whole, rand);
}
