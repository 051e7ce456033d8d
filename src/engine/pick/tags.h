/*
 * Tag routing: which of a name's candidates the tags of a request leave (router-semantics 20).
 */
#ifndef WEIR_ENGINE_TAGS_H
#define WEIR_ENGINE_TAGS_H

#include <stdbool.h>

#include "engine/pick/filter.h"

/* Whether tags route at all: by the request, else the set's deployments, else the router. */
bool weir_tags_route(const struct weir_pick *pick);

/*
 * Fills the pick's pool with the candidates that the tags leave, of all tiers; the filters are those that
 * come before the one of the tags.  Returns whether there are any.  Time grows with the size of the set.
 */
bool weir_tags_fill(const struct weir_pick *pick, unsigned filters);

#endif
