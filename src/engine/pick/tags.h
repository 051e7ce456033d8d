/*
 * Tag routing: which of a name's candidates the tags of a request leave (router-semantics 20).
 */
#ifndef WEIR_ENGINE_TAGS_H
#define WEIR_ENGINE_TAGS_H

#include <stdbool.h>

#include <weir/attr.h>

#include "engine/pick/filter.h"

/* Whether tags route at all: by the request, else the set's deployments, else the router. */
bool weir_tags_route(const struct weir_pick *pick);

/*
 * Fills the pick's pool with the candidates that the tags leave, of all tiers; the filters are those that
 * come before the one of the tags.  Returns whether there are any.  Time grows with the size of the set.
 */
bool weir_tags_fill(const struct weir_pick *pick, unsigned filters);

/* What the tags leave is no set that the snapshot has. */
#define WEIR_TAGS_MIXED 1

/*
 * Finds the set of what the tags leave, where it was made when the snapshot was built (snapshot/pools.h): for
 * plain tags of which the members carry at most one, and for none.  The filters are as above; NULL: nobody
 * is left.  0 or WEIR_TAGS_MIXED: weir_tags_fill finds out.
 */
WEIR_MUST_USE int weir_tags_pool(const struct weir_pick *pick, unsigned filters,
                                 const struct weir_set **ret_pool);

/* Whether the deployment, which is one of the set's, is one of what weir_tags_pool has found for it. */
bool weir_tags_has(const struct weir_set *pool, const struct weir_set *set,
                   const weir_deployment *deployment);

#endif
