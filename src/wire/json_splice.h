/*
 * Changing a few values of a JSON text without writing it anew.
 *
 * The edits name places that wire/json_scan.h found in the source.  The result is a list of slices, parts of
 * the source and texts of the caller, whose concatenation is the edited JSON; every byte that no edit names
 * stays as it was.  No byte is copied: source and texts must live as long as the parts are used.
 *
 * Edits come in any order and may be at any depth; an edit inside what another removes or replaces is an
 * error of the caller (WEIR_ERR_INVALID), as is a place outside the source.
 */
#ifndef WEIR_WIRE_JSON_SPLICE_H
#define WEIR_WIRE_JSON_SPLICE_H

#include <stddef.h>

#include <weir/attr.h>
#include <weir/slice.h>

#include "wire/json_scan.h"

#define WEIR_JSON_SPLICE_EDITS 64
/* Before, separator and text of each edit, and the rest of the source. */
#define WEIR_JSON_SPLICE_PARTS (3 * WEIR_JSON_SPLICE_EDITS + 1)

enum weir_json_edit_kind { WEIR_JSON_REPLACE, WEIR_JSON_REMOVE, WEIR_JSON_ADD };

struct weir_json_edit {
    size_t from; /* of the source; of an ADD the closing bracket, and to is the same */
    size_t to;
    struct weir_slice text;
    enum weir_json_edit_kind kind;
    unsigned order; /* of the calls, so that several ADDs stay in theirs */
};

struct weir_json_splice {
    struct weir_slice source;
    size_t edit_count;
    size_t part_count;
    size_t total_bytes; /* of all parts */
    struct weir_json_edit edits[WEIR_JSON_SPLICE_EDITS];
    struct weir_slice parts[WEIR_JSON_SPLICE_PARTS];
};

/* Starts over with a source that is valid JSON.  Also re-uses a splice for the next attempt. */
void weir_json_splice_init(struct weir_json_splice *splice, struct weir_slice source);

/*
 * Each: 0, WEIR_ERR_LIMIT (more than WEIR_JSON_SPLICE_EDITS), WEIR_ERR_INVALID (not a place in the source).
 */

/* The value becomes text, which is JSON. */
WEIR_MUST_USE int weir_json_splice_replace(struct weir_json_splice *splice,
                                           const struct weir_json_value *value, struct weir_slice text);

/* The member or element goes, with the comma that it no longer needs. */
WEIR_MUST_USE int weir_json_splice_remove(struct weir_json_splice *splice, const struct weir_json_item *item);

/*
 * The container gets more at its end: text is one or more members ("\"a\":1,\"b\":2") or elements, without a
 * comma at either end; empty text adds nothing.  Commas are set as what is left in the container asks for.
 */
WEIR_MUST_USE int weir_json_splice_add(struct weir_json_splice *splice,
                                       const struct weir_json_value *container, struct weir_slice text);

/* Makes parts, part_count and total_bytes from the edits.  0, or WEIR_ERR_INVALID: edits overlap. */
WEIR_MUST_USE int weir_json_splice_finish(struct weir_json_splice *splice);

#endif
