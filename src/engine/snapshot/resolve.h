/*
 * What a name stands for (router-semantics 3).
 */
#ifndef WEIR_ENGINE_RESOLVE_H
#define WEIR_ENGINE_RESOLVE_H

#include <stdbool.h>

#include <weir/attr.h>
#include <weir/slice.h>
#include <weir/snapshot.h>

#include "base/arena.h"
#include "engine/snapshot/snapshot.h"

/* The candidates of a name: a set, or one deployment that was asked by its id. */
struct weir_resolution {
    struct weir_slice group;     /* what serves: the name, an alias put through */
    const struct weir_set *set;  /* NULL: an id was asked */
    const weir_deployment *only; /* NULL: a set was found */
    bool is_wildcard;
    struct weir_slice matched; /* what matched the wildcard: the name, or its qualified spelling */
};

/* The name stands for nothing. */
#define WEIR_RESOLVE_UNKNOWN 1

/*
 * Finds what the name stands for.  qualified is another spelling tried on wildcards; may be empty.  The
 * slices of the result are parts of the arguments or of the snapshot.  0 or WEIR_RESOLVE_UNKNOWN.
 */
WEIR_MUST_USE int weir_resolve(const weir_snapshot *snapshot, struct weir_slice name,
                               struct weir_slice qualified, struct weir_resolution *ret);

/*
 * The deployments whose provider model equals the name (`specific_deployment`).  0 or WEIR_RESOLVE_UNKNOWN.
 */
WEIR_MUST_USE int weir_resolve_model(const weir_snapshot *snapshot, struct weir_slice name,
                                     struct weir_resolution *ret);

/* The name with an alias put through: the key by which a call remembers what it tried. */
struct weir_slice weir_resolve_alias(const weir_snapshot *snapshot, struct weir_slice name);

/* The provider's model to ask of one of the candidates, wildcards filled in; see weir_wildcard_fill. */
struct weir_slice weir_resolve_provider_model(struct weir_arena *arena, const struct weir_resolution *found,
                                              const weir_deployment *deployment);

/* How many deployments the name stands for: an id is a set of one (decisions 6). */
uint32_t weir_resolution_size(const struct weir_resolution *found);

#endif
