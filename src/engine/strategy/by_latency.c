/*
 * latency-based-routing: evenly among the candidates whose mean latency is within (1 + buffer) of the lowest,
 * of those whose limits leave room for the request (router-semantics 6.5).
 *
 * A streamed request goes by the time to the first content where a deployment has samples of it.  Whoever
 * has no samples has the latency 0, so new deployments come first.
 */
#include <string.h>

#include "engine/live/latency.h"
#include "engine/strategy/lowest.h"
#include "engine/strategy/odds.h"
#include "engine/strategy/room.h"

enum { DRAWS_FOR_UNSEEN = 16, DRAWS_IN_BUFFER = 160 };

static inline uint32_t key_of(const struct weir_candidates *c, uint32_t member, weir_pace pace)
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

static const _Atomic uint64_t *whole_words(const struct weir_live_block *block)
{
    return block->means[WEIR_PACE_WHOLE];
}

static const _Atomic uint64_t *first_words(const struct weir_live_block *block)
{
    return block->means[WEIR_PACE_FIRST];
}

/* None of the run's means is too old to count. */
static inline bool suffice(const struct weir_candidates *c, uint32_t slot, weir_pace pace)
{
    return weir_latency_run_counts(c->live, slot, pace, weir_latency_ticks(c->strategy->ttl_ns),
                                   weir_latency_tick(c->now_ns));
}

static bool whole_suffice(const struct weir_candidates *c, uint32_t slot)
{
    return suffice(c, slot, WEIR_PACE_WHOLE);
}

static bool first_suffice(const struct weir_candidates *c, uint32_t slot)
{
    return suffice(c, slot, WEIR_PACE_FIRST);
}

static inline bool is_above(const struct weir_candidates *c, uint64_t word, uint64_t number)
{
    (void)c;
    return word >> 32 > number;
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

WEIR_LOWEST_INLINE uint32_t pick(const struct weir_candidates *c, const struct weir_lowest_by *by,
                                 struct weir_rand *rand)
{
    double buffer = c->strategy->lowest_latency_buffer;
    uint32_t member = weir_lowest_draw(c, by, 0, DRAWS_FOR_UNSEEN, rand), lowest;
    uint64_t bound;

    if (member != WEIR_PICK_NONE)
        return member;
    lowest = weir_lowest_of(c, by, rand);
    if (lowest == WEIR_PICK_NONE || !(buffer > 0))
        return lowest;
    bound = with_buffer(by->number_of(c, lowest), buffer);
    member = weir_lowest_draw(c, by, bound, DRAWS_IN_BUFFER, rand);
    if (member == WEIR_PICK_NONE)
        member = weir_lowest_within(c, by, bound, rand);
    return member != WEIR_PICK_NONE ? member : lowest;
}

uint32_t weir_pick_by_latency(const struct weir_candidates *c, struct weir_rand *rand)
{
    static const struct weir_lowest_by by_whole = {whole, weir_has_room, whole_words, whole_suffice,
                                                   is_above},
                                       by_first = {first, weir_has_room, first_words, first_suffice,
                                                   is_above};

    return c->request->stream ? pick(c, &by_first, rand) : pick(c, &by_whole, rand);
}

void weir_odds_by_latency(const struct weir_candidates *c, double *odds, struct weir_sort_key *scratch)
{
    weir_odds_number *number_of = c->request->stream ? first : whole;
    uint64_t lowest = weir_odds_lowest(c, number_of, weir_has_room);

    (void)scratch;
    if (lowest != UINT64_MAX && c->strategy->lowest_latency_buffer > 0)
        lowest = with_buffer(lowest, c->strategy->lowest_latency_buffer);
    weir_odds_within(c, number_of, weir_has_room, lowest, 1, odds);
}
