/*
 * The pools of a set: for each tag that members carry, a set of those members with tiers of its own.
 *
 * Tags do not change while a snapshot lives, so a request with one tag is picked for in the tag's pool at the
 * same cost as in a group that is that large (router-semantics 20).  A small set has none: it is gone through
 * as fast.
 */
#ifndef WEIR_ENGINE_POOLS_H
#define WEIR_ENGINE_POOLS_H

#include "engine/snapshot/snapshot.h"

enum { WEIR_POOLS_SET_MIN = 16 };

/* Whether the set has a pool for each tag of its members. */
static inline bool weir_has_pools(const struct weir_set *set)
{
    return set->count >= WEIR_POOLS_SET_MIN;
}

/*
 * Makes the pools of a set whose members, orders and strategy are complete.  They have no pools themselves.
 * Failure shows in the arena's flag.
 */
void weir_pools_build(weir_snapshot *snapshot, struct weir_set *set);

/* The unblocked members that carry the tag, or NULL: there are none. */
static inline const struct weir_set *weir_pool_of(const struct weir_set *set, struct weir_slice tag)
{
    return weir_map_get(&set->pools, tag);
}

#endif
