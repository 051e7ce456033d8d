/*
 * How one of the candidates is chosen: the vtable of a strategy (router-semantics 6).
 *
 * A strategy sees one tier and the filters that are on; it chooses among the members that no filter drops.
 * It takes no lock, allocates nothing, and uses no randomness but the call's.  Threads: any, at once.
 */
#ifndef WEIR_ENGINE_STRATEGY_STRATEGY_H
#define WEIR_ENGINE_STRATEGY_STRATEGY_H

#include <stdint.h>

#include <weir/slice.h>
#include <weir/snapshot.h>

#include "base/rand.h"
#include "engine/filter.h"

/* No member passes the filters. */
#define WEIR_PICK_NONE UINT32_MAX

struct weir_strategy_row {
    struct weir_slice name; /* as `routing_strategy` spells it */
    /* The index of a member of candidates->tier, or WEIR_PICK_NONE. */
    uint32_t (*pick)(const struct weir_candidates *candidates, struct weir_rand *rand);
};

/* NULL for a number that names no strategy.  Lives for ever. */
const struct weir_strategy_row *weir_strategy_of(weir_strategy strategy);

extern const struct weir_strategy_row weir_simple_shuffle;

#endif
