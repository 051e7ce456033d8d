/*
 * How one of the candidates is chosen: the vtable of a strategy (router-semantics 6).
 *
 * A strategy sees one tier and the filters that are on; it chooses among the members that no filter drops.
 * It takes no lock, allocates nothing, keeps nothing, and uses no randomness but the call's: what it looks at
 * is entered in live state for every attempt (charge.h).  Threads: any, at once.
 */
#ifndef WEIR_ENGINE_STRATEGY_STRATEGY_H
#define WEIR_ENGINE_STRATEGY_STRATEGY_H

#include <stdbool.h>
#include <stdint.h>

#include <weir/slice.h>
#include <weir/snapshot.h>

#include "base/rand.h"
#include "engine/pick/filter.h"

struct weir_sort_key;

/* No member passes the filters, or the strategy has no use for any that does. */
#define WEIR_PICK_NONE UINT32_MAX

/* The index of a member of candidates->tier, or WEIR_PICK_NONE. */
typedef uint32_t weir_strategy_pick(const struct weir_candidates *candidates, struct weir_rand *rand);

/*
 * With which odds the pick would take each member: odds has a zero for each member of the tier, scratch as
 * many keys.  Worked out from the same numbers as the pick; together they make 1, or 0 where it finds nobody.
 */
typedef void weir_strategy_odds(const struct weir_candidates *candidates, double *odds,
                                struct weir_sort_key *scratch);

struct weir_strategy_row {
    struct weir_slice name; /* as `routing_strategy` spells it */
    weir_strategy_pick *pick;
    weir_strategy_odds *odds;
    bool wants_room; /* only those whose limits of the minute leave room are of use to it (room.h) */
};

/* NULL for a number that names no strategy that can pick: PRIORITY only sets orders.  Lives for ever. */
const struct weir_strategy_row *weir_strategy_of(weir_strategy strategy);

/* Whether the strategy can pick and its arguments make sense. */
bool weir_strategy_is_valid(const struct weir_strategy_spec *spec);

weir_strategy_pick weir_pick_simple_shuffle;
weir_strategy_pick weir_pick_least_busy;
weir_strategy_pick weir_pick_by_usage;
weir_strategy_pick weir_pick_by_latency;
weir_strategy_pick weir_pick_by_cost;
weir_strategy_pick weir_pick_lar1;
weir_strategy_pick weir_pick_p2c_ewma;

weir_strategy_odds weir_odds_simple_shuffle;
weir_strategy_odds weir_odds_least_busy;
weir_strategy_odds weir_odds_by_usage;
weir_strategy_odds weir_odds_by_latency;
weir_strategy_odds weir_odds_by_cost;
weir_strategy_odds weir_odds_lar1;
weir_strategy_odds weir_odds_p2c_ewma;

/* A member of a tier at random.  Even but for one part in 2^32 / count. */
static inline uint32_t weir_draw_member(uint32_t count, struct weir_rand *rand)
{
    return (uint32_t)((weir_rand_u64(rand) >> 32) * count >> 32);
}

#endif
