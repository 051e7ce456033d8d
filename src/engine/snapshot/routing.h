/*
 * Routing groups in a snapshot that is being built (router-semantics 7).
 */
#ifndef WEIR_ENGINE_ROUTING_H
#define WEIR_ENGINE_ROUTING_H

#include <stdbool.h>

#include <weir/snapshot.h>

#include "engine/snapshot/snapshot.h"

/* Whether the group may stand in a configuration at all. */
bool weir_routing_is_valid(const struct weir_routing_group *group);

/*
 * A copy in the snapshot's arena, known there by its name and as the one that sets the strategy of its
 * models.  0, WEIR_ERR_INVALID when another one does that for a model, or WEIR_ERR_NOMEM; after a failure the
 * snapshot is as it was, but for memory.
 */
WEIR_MUST_USE int weir_routing_add(weir_snapshot *snapshot, const struct weir_routing_group *group,
                                   struct weir_routing **ret_routing);

/* The strategy that picks among the deployments of a model group. */
const struct weir_strategy_spec *weir_routing_strategy(const weir_snapshot *snapshot,
                                                       struct weir_slice model_group);

/* Fills the set of each routing group, once the groups have their members.  Failure shows in the arena. */
void weir_routing_build(weir_snapshot *snapshot);

#endif
