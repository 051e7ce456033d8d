/*
 * JSON as a tree, by yyjson, in an arena: for small values whose shape the sender chooses.
 *
 * Not for request bodies and stream chunks as wholes (wire/json_scan.h).  The tree, its strings too, lives as
 * long as the arena; it must not be freed by yyjson_doc_free.
 */
#ifndef WEIR_WIRE_JSON_TREE_H
#define WEIR_WIRE_JSON_TREE_H

#include <weir/attr.h>
#include <weir/slice.h>

#include "base/arena.h"
#include "wire/json_scan.h"

#include <yyjson.h>

/* 0, WEIR_JSON_BAD (half a surrogate pair is bad here too), or WEIR_ERR_NOMEM.  *ret_root is never NULL. */
WEIR_MUST_USE int weir_json_tree(struct weir_slice text, struct weir_arena *arena, yyjson_val **ret_root);

/* The text of a string; empty for NULL and other types.  The loan is that of the tree. */
struct weir_slice weir_json_tree_text(yyjson_val *value);

#endif
