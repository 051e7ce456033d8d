/*
 * Typed reads of the values that wire/json_scan.h finds.
 *
 * No function allocates but weir_json_string, and that only for a string with escapes.  Values must come from
 * the scanner: their texts are taken to be valid.
 */
#ifndef WEIR_WIRE_JSON_READ_H
#define WEIR_WIRE_JSON_READ_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <weir/attr.h>
#include <weir/slice.h>

#include "base/arena.h"
#include "base/slice.h"
#include "wire/json_scan.h"

/* What stood between quotes, as written and with escapes in it, spells text. */
bool weir_json_spells(struct weir_slice raw, struct weir_slice text);

/* The key spells name; escapes count as what they spell (decisions 21). */
static inline bool weir_json_key_is(const struct weir_json_item *item, struct weir_slice name)
{
    if (item->key_escaped)
        return weir_json_spells(item->key, name);
    return item->key.ptr != NULL && weir_slice_eq(item->key, name);
}

/* The value is a string that spells text. */
bool weir_json_string_is(const struct weir_json_value *value, struct weir_slice text);

/* What stands between the quotes of a string, escapes as written; empty for other types. */
struct weir_slice weir_json_inside(const struct weir_json_value *value);

/*
 * Takes the next piece of text off the front of what stood between quotes and is not empty: the bytes before
 * an escape, or, in room, what the escape spells.  Never empty.
 */
struct weir_slice weir_json_piece(struct weir_slice *raw, char room[4]);

/* Undoes the escapes of what stood between quotes.  room has at least raw.len bytes; returns the length. */
size_t weir_json_decode(struct weir_slice raw, char *room);

/* How long the text is then; WEIR_SLICE_NONE: with half of a surrogate pair in it there is no text. */
size_t weir_json_decoded_len(struct weir_slice raw);

/*
 * The text of a string: a part of the source where it has no escapes, else a copy in the arena.
 * 0, WEIR_JSON_OTHER for other types, WEIR_ERR_NOMEM.
 */
WEIR_MUST_USE int weir_json_string(const struct weir_json_value *value, struct weir_arena *arena,
                                   struct weir_slice *ret_text);

/* The same for a key. */
WEIR_MUST_USE int weir_json_key(const struct weir_json_item *item, struct weir_arena *arena,
                                struct weir_slice *ret_text);

/*
 * 0, or WEIR_JSON_OTHER: another type, or (u64) a number that is negative, has a fraction, or is too large.
 */
WEIR_MUST_USE int weir_json_bool(const struct weir_json_value *value, bool *ret_bool);
WEIR_MUST_USE int weir_json_number(const struct weir_json_value *value, double *ret_number);
WEIR_MUST_USE int weir_json_u64(const struct weir_json_value *value, uint64_t *ret_number);

/*
 * The value at a path such as "choices.0.delta.content": a part names a member of an object or, in digits, an
 * element of an array; of members with the same name the first counts.  A name with a dot in it cannot be
 * said so: walk instead.  Looks no further than the value.  0, or WEIR_JSON_NONE: not there, or the text is
 * not JSON up to there.
 */
WEIR_MUST_USE int weir_json_find(struct weir_slice text, struct weir_slice path,
                                 struct weir_json_value *ret_value);

#endif
