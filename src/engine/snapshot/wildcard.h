/*
 * Wildcard names: `*` captures anything, every other character stands for itself (router-semantics 3).
 *
 * Source: "Match is anchored at the start only": what follows a pattern's last literal is not looked at.
 */
#ifndef WEIR_ENGINE_WILDCARD_H
#define WEIR_ENGINE_WILDCARD_H

#include <stdbool.h>
#include <stddef.h>

#include <weir/slice.h>

#include "base/arena.h"

/* How many stars a name holds; 0: it is no wildcard. */
size_t weir_wildcard_stars(struct weir_slice pattern);

/* Longer text first, then more special characters. */
bool weir_wildcard_is_more_specific(struct weir_slice a, struct weir_slice b);

/*
 * Whether the name matches; ret_captures (room for every star of the pattern) gets what each star stands
 * for, each as long as the ones before it allow.  The captures are parts of the name.
 */
bool weir_wildcard_match(struct weir_slice pattern, struct weir_slice name, struct weir_slice *ret_captures);

/*
 * A provider's model with the captures of the name put in for its stars, from left to right.  A model without
 * stars stays as it is; with more captures than stars the name itself is the model.  In the arena, or part of
 * an argument; empty with the arena's flag set when there is no room.
 */
struct weir_slice weir_wildcard_fill(struct weir_arena *arena, struct weir_slice model,
                                     struct weir_slice pattern, struct weir_slice name);

#endif
