/* Every strategy that there is, by its number in a configuration. */
#include "engine/strategy/strategy.h"

#include <math.h>
#include <stddef.h>

#include "base/slice.h"

#define PICK_SIMPLE_SHUFFLE weir_pick_simple_shuffle
#define PICK_LEAST_BUSY     weir_pick_least_busy
#define PICK_USAGE          weir_pick_by_usage
#define PICK_LATENCY        weir_pick_by_latency
#define PICK_COST           weir_pick_by_cost
#define PICK_LAR1           weir_pick_lar1
#define PICK_P2C_EWMA       weir_pick_p2c_ewma
#define PICK_PRIORITY       NULL

#define ODDS_SIMPLE_SHUFFLE weir_odds_simple_shuffle
#define ODDS_LEAST_BUSY     weir_odds_least_busy
#define ODDS_USAGE          weir_odds_by_usage
#define ODDS_LATENCY        weir_odds_by_latency
#define ODDS_COST           weir_odds_by_cost
#define ODDS_LAR1           weir_odds_lar1
#define ODDS_P2C_EWMA       weir_odds_p2c_ewma
#define ODDS_PRIORITY       NULL

#define ROOM_SIMPLE_SHUFFLE false
#define ROOM_LEAST_BUSY     false
#define ROOM_USAGE          true
#define ROOM_LATENCY        true
#define ROOM_COST           true
#define ROOM_LAR1           false
#define ROOM_P2C_EWMA       false
#define ROOM_PRIORITY       false

static const struct weir_strategy_row rows[WEIR_STRATEGY_COUNT] = {
#define X(strategy, name_, other_name, prose)                                                                \
    [WEIR_STRATEGY_##strategy] = {.name = WEIR_SLICE_INIT(name_),                                            \
                                  .pick = PICK_##strategy,                                                   \
                                  .odds = ODDS_##strategy,                                                   \
                                  .wants_room = ROOM_##strategy},
#include <weir/tbl/strategies.h>
#undef X
};

const struct weir_strategy_row *weir_strategy_of(weir_strategy strategy)
{
    if ((unsigned)strategy >= WEIR_STRATEGY_COUNT || rows[strategy].pick == NULL)
        return NULL;
    return &rows[strategy];
}

bool weir_strategy_is_valid(const struct weir_strategy_spec *spec)
{
    return weir_strategy_of(spec->strategy) != NULL && spec->lowest_latency_buffer >= 0 &&
           isfinite(spec->lowest_latency_buffer) && spec->max_latency_samples > 0 &&
           spec->max_latency_samples <= WEIR_LATENCY_SAMPLES_MAX && spec->confidence_low > 0 &&
           spec->confidence_low < spec->confidence_medium &&
           spec->confidence_medium < spec->confidence_high && spec->confidence_high < 1 && spec->decay_ns > 0;
}
