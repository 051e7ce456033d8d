/*
 * Strategies as they are written: their names, and `routing_strategy_args` (router-semantics 6).
 */
#ifndef WEIR_CONFIG_STRATEGY_H
#define WEIR_CONFIG_STRATEGY_H

#include <stdbool.h>

#include <weir/attr.h>
#include <weir/snapshot.h>

#include "config/loader.h"

/* A name; of_group: of a routing group, which may have `priority`.  An unknown one refuses the start and is
 * told with the valid ones.  0 or WEIR_CONFIG_REFUSED. */
WEIR_MUST_USE int weir_strategy_read(struct weir_loader *loader, const struct weir_yaml *node,
                                     const struct weir_path *path, bool of_group, weir_strategy *out);

/* The arguments into spec, which has its strategy and the defaults; map may be NULL.  0, WEIR_CONFIG_REFUSED
 * or negative. */
WEIR_MUST_USE int weir_strategy_args_read(struct weir_loader *loader, const struct weir_yaml *map,
                                          const struct weir_path *path, struct weir_strategy_spec *spec);

#endif
