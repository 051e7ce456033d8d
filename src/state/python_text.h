/*
 * Values that programs in Python leave in Redis: the text of a dict as str() writes it, or JSON (RS 22).
 *
 * One reader takes both, since what they have in common means the same; what only one of them has (single
 * quotes, True, None, tuples; true, null) tells which it is, and a mixture is neither.  Text that is neither
 * is refused as a whole; depth is bounded, and memory by the arena.  Strings come out as UTF-8; a lone
 * surrogate becomes U+FFFD.
 */
#ifndef WEIR_STATE_PYTHON_TEXT_H
#define WEIR_STATE_PYTHON_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <weir/attr.h>
#include <weir/slice.h>

#include "base/arena.h"

enum weir_literal_kind {
    WEIR_LITERAL_NONE,
    WEIR_LITERAL_BOOL,
    WEIR_LITERAL_NUMBER,
    WEIR_LITERAL_TEXT,
    WEIR_LITERAL_LIST, /* a tuple too */
    WEIR_LITERAL_MAP
};

struct weir_literal {
    enum weir_literal_kind kind;
    bool truth;             /* BOOL */
    double number;          /* NUMBER */
    struct weir_slice text; /* TEXT: its bytes; NUMBER: its spelling, empty in one that was made here */
    struct weir_slice key;  /* of an item of a map */
    const struct weir_literal *first; /* LIST, MAP: the items in order */
    const struct weir_literal *next;  /* of the same list or map */
    size_t count;
};

enum weir_literal_form { WEIR_LITERAL_AS_JSON, WEIR_LITERAL_AS_PYTHON };

enum { WEIR_LITERAL_DEPTH_MAX = 16 };

/* The text is in neither form, has a key that is no string, nests too deeply, or has too much in it for the
 * arena (whose flag tells). */
#define WEIR_LITERAL_UNREADABLE 1

/*
 * Reads the whole text.  0 with the value, and in *ret_form (which may be NULL) Python's form if it cannot be
 * JSON; or WEIR_LITERAL_UNREADABLE.  Values and strings lie in the arena and in text.
 */
WEIR_MUST_USE int weir_literal_read(struct weir_arena *arena, struct weir_slice text,
                                    const struct weir_literal **ret_value, enum weir_literal_form *ret_form);

/* The item of a map with that key (the last one, when there are several), or NULL; NULL for other kinds too.
 */
const struct weir_literal *weir_literal_get(const struct weir_literal *map, struct weir_slice key);

#endif
