/*
 * Walking over JSON text without building anything: where each value lies, and whether the text is JSON.
 *
 * This is the only reader on the paths that every request and every streamed chunk takes: it allocates
 * nothing and tells positions, which splicing needs and yyjson does not keep.  Where a value is small and its
 * shape is the caller's to choose (a request's `fallbacks`, a provider's error body), a tree by
 * wire/json_tree.h is easier to read.  Typed reads of what is found here are in wire/json_read.h.
 *
 *     weir_json_enter(&c, body, depth);
 *     while ((r = weir_json_next(&c, &m)) == WEIR_JSON_ITEM)
 *         if (weir_json_key_is(&m, WEIR_SLICE("model"))) ...
 *     r == 0: all of it was looked at and is valid; WEIR_JSON_BAD: c.at - c.start is where it is not
 *
 * Validity is RFC 8259: UTF-8 is checked, NaN, comments and trailing commas are refused, one value and white
 * space only.  A \u escape may name half of a surrogate pair, as the grammar allows and as streams that cut
 * between the halves need; reading it as text gives U+FFFD.  Keys are not compared with each other.
 *
 * Slices are parts of the text.  Pure.
 */
#ifndef WEIR_WIRE_JSON_SCAN_H
#define WEIR_WIRE_JSON_SCAN_H

#include <stdbool.h>
#include <stddef.h>

#include <weir/attr.h>
#include <weir/slice.h>

/* The most containers that can be open at once, and what to give where no smaller limit is wanted. */
#define WEIR_JSON_DEPTH_MAX 1024

typedef enum weir_json_type {
    WEIR_JSON_NOTHING, /* no value: what a zeroed struct weir_json_value is */
    WEIR_JSON_NULL,
    WEIR_JSON_FALSE,
    WEIR_JSON_TRUE,
    WEIR_JSON_NUMBER,
    WEIR_JSON_STRING,
    WEIR_JSON_ARRAY,
    WEIR_JSON_OBJECT
} weir_json_type;

struct weir_json_value {
    struct weir_slice text; /* with quotes or brackets, without white space around */
    weir_json_type type;
    bool escaped; /* a string with at least one backslash */
};

/* A member of an object; for an element of an array the key is empty with a NULL ptr. */
struct weir_json_item {
    struct weir_slice key; /* between its quotes, as written */
    bool key_escaped;
    struct weir_json_value value;
};

struct weir_json_cursor {
    const char *start;
    const char *at;
    const char *end;
    unsigned depth_left; /* for containers inside */
    bool object;         /* else an array */
    bool first;
    bool over;
    bool bad;
    bool inside; /* of a container that was gone into: what follows it belongs to another cursor */
};

/* Conditions of the functions that read JSON. */
#define WEIR_JSON_ITEM  1
#define WEIR_JSON_BAD   2 /* the text is not JSON, or nests too deep */
#define WEIR_JSON_OTHER 3 /* it is, but of another type than was asked for */
#define WEIR_JSON_NONE  4 /* nothing is there */

/*
 * Checks a whole text of any type.  0 sets *ret_value (the text without white space around it); WEIR_JSON_BAD
 * sets *ret_bad_at to the offset of the first byte that is wrong (the length when more was expected).
 * max_depth counts open containers, at most WEIR_JSON_DEPTH_MAX.
 */
WEIR_MUST_USE int weir_json_check(struct weir_slice text, unsigned max_depth,
                                  struct weir_json_value *ret_value, size_t *ret_bad_at);

/* Starts a walk over the object or array in text.  0, WEIR_JSON_OTHER: it begins with neither bracket. */
WEIR_MUST_USE int weir_json_enter(struct weir_json_cursor *cursor, struct weir_slice text,
                                  unsigned max_depth);

/*
 * WEIR_JSON_ITEM with the next member or element, checked to its end; 0 at the end, after which nothing but
 * white space follows; WEIR_JSON_BAD.  Stopping earlier leaves the rest unchecked.
 */
WEIR_MUST_USE int weir_json_next(struct weir_json_cursor *cursor, struct weir_json_item *ret_item);

/*
 * Going into a value instead of over it, so that a text which is read at several depths is scanned once:
 *
 *     while ((r = weir_json_step(&outer, &m)) == WEIR_JSON_ITEM)
 *         if (it is the container that is looked for) {
 *             weir_json_into(&outer, &inner);
 *             ... walk inner ...
 *             r = weir_json_out(&outer, &inner);
 *         } else {
 *             r = weir_json_over(&outer, &m);
 *         }
 *
 * weir_json_step is weir_json_next, but it stops in front of an array or object: the item then has the
 * value's type and no text, and one of the two ways on must be taken before the next step.
 */
WEIR_MUST_USE int weir_json_step(struct weir_json_cursor *cursor, struct weir_json_item *ret_item);

/* The part of weir_json_over for a container. */
WEIR_MUST_USE int weir_json_over_container(struct weir_json_cursor *cursor, struct weir_json_item *item);

/* Completes the item of a step; does nothing where it is complete.  0 or WEIR_JSON_BAD. */
static inline WEIR_MUST_USE int weir_json_over(struct weir_json_cursor *cursor, struct weir_json_item *item)
{
    if (item->value.type < WEIR_JSON_ARRAY || item->value.text.len > 0)
        return 0;
    return weir_json_over_container(cursor, item);
}

/* Starts a walk in the array or object that a step has stopped at.  The cursor is not used until out. */
void weir_json_into(const struct weir_json_cursor *cursor, struct weir_json_cursor *ret_inner);

/* Checks what inner has not walked, and takes the cursor behind it.  0 or WEIR_JSON_BAD. */
WEIR_MUST_USE int weir_json_out(struct weir_json_cursor *cursor, struct weir_json_cursor *inner);

/* The bytes of a member from the quote of its key to the end of its value. */
static inline struct weir_slice weir_json_item_text(const struct weir_json_item *item)
{
    const char *from = item->key.ptr == NULL ? item->value.text.ptr : item->key.ptr - 1;

    return (struct weir_slice){from, (size_t)(item->value.text.ptr + item->value.text.len - from)};
}

#endif
