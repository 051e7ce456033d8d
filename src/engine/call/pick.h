/*
 * The pick of a call: a deployment of the top frame's name.
 */
#ifndef WEIR_ENGINE_PICK_H
#define WEIR_ENGINE_PICK_H

#include <weir/snapshot.h>

#include "engine/call/call.h"
#include "engine/pick/filter.h"

/*
 * Chooses a deployment in one of the modes; NULL when no candidate is left.  excluded is a set of the call's,
 * looked at in the modes that exclude; order of WEIR_PICK_ORDER.
 */
const weir_deployment *weir_pick_deployment(struct weir_call *call, enum weir_pick_mode mode, int32_t order,
                                            const struct weir_slot_set *excluded);

/* The pick of the top frame's set or id in that mode, its pool made where tags route; dice are to be set
 * where the snapshot has a ramp. */
struct weir_pick weir_pick_prepare(struct weir_call *call, enum weir_pick_mode mode, int32_t order,
                                   const struct weir_slot_set *excluded);

/* When the soonest of those that may serve the top frame's set cools down no more, which may be now;
 * UINT64_MAX: there are none. */
uint64_t weir_pick_soonest_return(struct weir_call *call);

#endif
