/*
 * `additional_drop_params`: members of requests that a deployment's provider never gets.
 *
 * A path names a member ("response_format") or a part of one: "tools[*].input_examples", "tools[0].strict",
 * "metadata.trace".  Pure.
 */
#ifndef WEIR_PROVIDER_DROP_H
#define WEIR_PROVIDER_DROP_H

#include <stdbool.h>
#include <stddef.h>

#include <weir/attr.h>
#include <weir/slice.h>

#include "base/arena.h"
#include "wire/json_scan.h"

struct weir_drops {
    const struct weir_slice *paths;
    size_t count;
};

/* A name, and behind it at most 16 of ".name", "[number]" and "[*]". */
bool weir_drop_path_ok(struct weir_slice path);

/* A member of that name goes as a whole. */
bool weir_drops_member(const struct weir_drops *drops, struct weir_slice name);

/* The value of the member is to be *ret_text instead, JSON in the arena. */
#define WEIR_DROP_PART 1

/* What becomes of a member that does not go as a whole: 0 (it stays as it is), WEIR_DROP_PART or
 * WEIR_ERR_NOMEM. */
WEIR_MUST_USE int weir_drops_part(const struct weir_drops *drops, const struct weir_json_item *member,
                                  struct weir_arena *arena, struct weir_slice *ret_text);

#endif
