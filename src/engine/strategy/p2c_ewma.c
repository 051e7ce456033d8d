/*
 * p2c-ewma: of two candidates drawn at random the one with the lower load, which is the peak of its latency,
 * as it has decayed, times the attempts that run and the one to come; weir's own, after Finagle's peak EWMA.
 *
 * Two draws suffice for loads to stay even whatever the number of deployments, and never send everybody to
 * the one that is best for a moment, as a choice of the lowest does.  A streamed request goes by the time to
 * the first content.  Whoever has answered nothing yet is tried at once, but by one request: while that runs
 * its load is above every other.
 */
#include <string.h>

#include "engine/live/latency.h"
#include "engine/live/usage.h"
#include "engine/strategy/odds.h"
#include "engine/strategy/strategy.h"

enum { DRAWS = 16 };

static const double unknown_load = 1e12;

static double load_of(const struct weir_candidates *c, uint32_t member)
{
    uint32_t slot = c->tier->slots[member];
    double running = weir_usage_running(c->live, slot),
           peak = weir_latency_peak(c->live, slot, c->request->stream ? WEIR_PACE_FIRST : WEIR_PACE_WHOLE,
                                    c->strategy->decay_ns, c->now_ns);

    return peak == 0 && running > 0 ? unknown_load * running : peak * (running + 1);
}

/* Draws until two different candidates are found, which mostly is at once.  Returns how many were. */
static uint32_t draw_two(const struct weir_candidates *c, struct weir_rand *rand, uint32_t ret_two[2])
{
    uint32_t found = 0, member;

    for (int i = 0; i < DRAWS && found < 2; i++) {
        member = weir_draw_member(c->tier->count, rand);
        if ((found == 0 || member != ret_two[0]) && weir_filter_keeps(c, member))
            ret_two[found++] = member;
    }
    return found;
}

/* Two of the candidates, evenly and in any order, by going through all.  Returns how many there are, up to
 * two.
 */
static uint32_t search_two(const struct weir_candidates *c, struct weir_rand *rand, uint32_t ret_two[2])
{
    uint32_t count = 0, place, turn = weir_draw_member(2, rand);

    for (uint32_t i = weir_filter_next(c, 0); i < c->tier->count; i = weir_filter_next(c, i + 1)) {
        count++;
        place = count <= 2 ? count - 1 : weir_draw_member(count, rand);
        if (place < 2)
            ret_two[place ^ turn] = i;
    }
    if (count == 1)
        ret_two[0] = ret_two[turn];
    return count < 2 ? count : 2;
}

uint32_t weir_pick_p2c_ewma(const struct weir_candidates *c, struct weir_rand *rand)
{
    uint32_t two[2];
    uint32_t found = draw_two(c, rand, two);

    if (found < 2)
        found = search_two(c, rand, two);
    if (found < 2)
        return found == 0 ? WEIR_PICK_NONE : two[0];
    return load_of(c, two[1]) < load_of(c, two[0]) ? two[1] : two[0];
}

/* Loads are not negative, and so are in the order of their bits. */
static uint64_t bits_of_load(const struct weir_candidates *c, uint32_t member)
{
    double load = load_of(c, member);
    uint64_t bits;

    memcpy(&bits, &load, sizeof(bits));
    return bits;
}

/* Of the n - 1 pairs that a candidate may be in it wins those with a higher load, and half of those with an
 * equal one. */
void weir_odds_p2c_ewma(const struct weir_candidates *c, double *odds, struct weir_sort_key *scratch)
{
    uint32_t count = weir_odds_sort(c, bits_of_load, scratch);
    double pairs = (double)count * (count - 1.0) / 2;

    if (count == 1)
        odds[scratch[0].place] = 1;
    for (uint32_t from = 0, end; count > 1 && from < count; from = end) {
        end = weir_odds_equals(scratch, count, from);
        for (uint32_t i = from; i < end; i++)
            odds[scratch[i].place] = (count - end + (end - from - 1) / 2.0) / pairs;
    }
}
