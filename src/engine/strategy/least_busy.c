/*
 * least-busy: the candidate with the fewest attempts running, those of other processes among them, evenly
 * among equals (router-semantics 6.2).
 *
 * Counts of running attempts rise and fall all the time, so nothing found about a large tier holds for long,
 * and going through it takes longer than a pick may.  Up to EXACT_MAX members all are looked at.  Above, a
 * sample is: an idle member ends it, as nobody can be less busy, else the least busy of the sample is taken.
 * Of SAMPLE members drawn the best is among the best twentieth of the tier but once in five times.
 */
#include <math.h>

#include "engine/live/usage.h"
#include "engine/strategy/lowest.h"
#include "engine/strategy/odds.h"

enum { EXACT_MAX = 128, SAMPLE = 32 };

static uint64_t running(const struct weir_candidates *c, uint32_t member)
{
    return weir_usage_running_all(c->live, c->tier->slots[member]);
}

/* The least busy of some members; WEIR_PICK_NONE when none of them passes the filters. */
static uint32_t sample(const struct weir_candidates *c, struct weir_rand *rand)
{
    uint32_t best = WEIR_PICK_NONE, member;
    uint64_t least = UINT64_MAX, number;

    for (int i = 0; i < SAMPLE && least > 0; i++) {
        member = weir_draw_member(c->tier->count, rand);
        number = running(c, member);
        if (number < least && weir_filter_keeps(c, member)) {
            least = number;
            best = member;
        }
    }
    return best;
}

/* The least busy of all candidates: whole runs that cool down are passed over. */
static uint32_t search(const struct weir_candidates *c, struct weir_rand *rand)
{
    struct weir_reservoir equals = {0, 0};
    uint32_t best = WEIR_PICK_NONE;
    uint64_t least = UINT64_MAX, number;

    for (uint32_t i = weir_filter_next(c, 0); i < c->tier->count; i = weir_filter_next(c, i + 1)) {
        number = running(c, i);
        if (number > least || (number == least && !weir_reservoir_takes(&equals, rand)))
            continue;
        if (number < least)
            weir_reservoir_begin(&equals, rand);
        least = number;
        best = i;
    }
    return best;
}

uint32_t weir_pick_least_busy(const struct weir_candidates *c, struct weir_rand *rand)
{
    uint32_t member = c->tier->count > EXACT_MAX ? sample(c, rand) : WEIR_PICK_NONE;

    return member != WEIR_PICK_NONE ? member : search(c, rand);
}

/* The odds that a sample has none of the first so many of the members. */
static double misses(const struct weir_candidates *c, uint32_t count)
{
    return pow(1 - (double)count / c->tier->count, SAMPLE);
}

/* A sample goes to the least busy of those that are in it: evenly, for draws are. */
static void odds_of_sample(const struct weir_candidates *c, double *odds, const struct weir_sort_key *keys,
                           uint32_t count)
{
    for (uint32_t from = 0, end; from < count; from = end) {
        end = weir_odds_equals(keys, count, from);
        for (uint32_t i = from; i < end; i++)
            odds[keys[i].place] = (misses(c, from) - misses(c, end)) / (end - from);
    }
}

void weir_odds_least_busy(const struct weir_candidates *c, double *odds, struct weir_sort_key *scratch)
{
    double searched = 1;
    uint32_t count;

    if (c->tier->count > EXACT_MAX) {
        count = weir_odds_sort(c, running, scratch);
        odds_of_sample(c, odds, scratch, count);
        searched = misses(c, count);
    }
    weir_odds_within(c, running, NULL, weir_odds_lowest(c, running, NULL), searched, odds);
}
