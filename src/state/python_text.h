/*
 * Values that programs in Python leave in Redis: the text of a dict as str() writes it, or JSON (RS 22).
 *
 * One reader takes both, since their grammars do not contradict each other: strings in either quotes with the
 * escapes of both, True and true, None and null, tuples beside lists, numbers with underscores nowhere.  Text
 * that is neither is refused as a whole; depth and memory are bounded (by the arena).  Strings come out as
 * UTF-8; a lone surrogate becomes U+FFFD.
 *
 * Writing gives either form of any value, in the spelling of the library that would have written it, so that
 * entries that are none of our business survive a change of their neighbours.
 */
#ifndef WEIR_STATE_PYTHON_TEXT_H
#define WEIR_STATE_PYTHON_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <weir/attr.h>
#include <weir/slice.h>

#include "base/arena.h"
#include "base/buf.h"

enum weir_value_kind {
    WEIR_VALUE_NONE,
    WEIR_VALUE_BOOL,
    WEIR_VALUE_NUMBER,
    WEIR_VALUE_TEXT,
    WEIR_VALUE_LIST, /* a tuple too */
    WEIR_VALUE_MAP
};

struct weir_value {
    enum weir_value_kind kind;
    bool truth;               /* BOOL */
    double number;            /* NUMBER */
    struct weir_slice text;   /* TEXT: its bytes; NUMBER: its spelling */
    struct weir_slice key;    /* of an item of a map; a key that is no string is refused */
    struct weir_value *first; /* LIST, MAP: the items in order */
    struct weir_value *next;
    size_t count;
};

enum { WEIR_VALUE_DEPTH_MAX = 16 };

/* The text is in neither form, nests too deeply or has too much in it for the arena (whose flag tells). */
#define WEIR_VALUE_UNREADABLE 1

/* Reads the whole text.  0 or WEIR_VALUE_UNREADABLE.  Value and strings lie in the arena and in text. */
WEIR_MUST_USE int weir_value_read(struct weir_arena *arena, struct weir_slice text,
                                  const struct weir_value **ret_value);

/* The item of a map with that key (the last one, when there are several), or NULL; NULL for other kinds. */
const struct weir_value *weir_value_get(const struct weir_value *map, struct weir_slice key);

enum weir_value_form { WEIR_VALUE_AS_PYTHON, WEIR_VALUE_AS_JSON };

/* The form that a text is in: Python's when it cannot be JSON.  For text that weir_value_read has taken. */
enum weir_value_form weir_value_form_of(struct weir_slice text);

/* Append in that form; 0 or negative.  A number is written as the shortest text that reads back the same. */
WEIR_MUST_USE int weir_value_write(struct weir_buf *buf, enum weir_value_form form,
                                   const struct weir_value *value);
WEIR_MUST_USE int weir_value_write_text(struct weir_buf *buf, enum weir_value_form form,
                                        struct weir_slice text);
WEIR_MUST_USE int weir_value_write_number(struct weir_buf *buf, double number);

#endif
