/*
 * The walk along a chain of targets (router-semantics 11.4), as retry loops and continuations use it.
 */
#ifndef WEIR_ENGINE_WALK_H
#define WEIR_ENGINE_WALK_H

#include <stdbool.h>

#include <weir/failure.h>

#include "engine/call/call.h"

/* Notes that the call tried a target; false when it had before. */
bool weir_walk_try(struct weir_call *call, struct weir_slice name, struct weir_slice overrides);

/* Begins the walk along the chain that a failure of the kind takes from the top frame; false: has none. */
bool weir_walk_begin(struct weir_call *call, weir_kind kind);

/* The top frame has no way on: the one below takes its next target, or what was walked from ends. */
enum weir_turn weir_walk_back(struct weir_call *call);

#endif
