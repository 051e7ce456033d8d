/*
 * A part of the tree as JSON text.
 */
#ifndef WEIR_CONFIG_TREE_JSON_H
#define WEIR_CONFIG_TREE_JSON_H

#include <stdbool.h>
#include <stddef.h>

#include <weir/slice.h>

#include "base/arena.h"
#include "config/yaml/tree.h"
#include "wire/json_write.h"

/* Writes the value.  Numbers that JSON cannot say are null.  written: variables stand there as
 * `os.environ/NAME`. */
void weir_tree_json_put(struct weir_json_writer *writer, const struct weir_yaml *node, bool written);

/* The value as text in the arena; empty, with the arena's flag set, when there is no room. */
struct weir_slice weir_tree_json(const struct weir_yaml *node, bool written, struct weir_arena *arena);

#endif
