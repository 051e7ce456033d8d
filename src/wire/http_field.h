/*
 * Small readers for the values of HTTP header fields and for request targets.  Pure; slices returned are
 * parts of the arguments unless an arena is named.
 */
#ifndef WEIR_WIRE_HTTP_FIELD_H
#define WEIR_WIRE_HTTP_FIELD_H

#include <stdbool.h>

#include <weir/attr.h>
#include <weir/slice.h>

#include "base/arena.h"

/* A token of RFC 9110 5.6.2: at least one character, none of them a blank, control or delimiter. */
bool weir_http_is_token(struct weir_slice s);

/* The first control character (the tab is one) from p on, or end. */
const char *weir_http_find_control(const char *p, const char *end);

/* May stand in a field value: no control characters but the tab. */
bool weir_http_is_value(struct weir_slice s);

/*
 * Takes the next member of a comma-separated list, without its parameters, off the front; false at the end.
 */
bool weir_http_list_next(struct weir_slice *rest, struct weir_slice *ret_member);

/*
 * The value of a parameter: of "timeout=5, max=100" (separator ',') or of "text/x; charset=utf-8" (';').
 * Names without case; quotes around the value are dropped, escapes inside are not undone.  Empty when absent.
 */
struct weir_slice weir_http_parameter(struct weir_slice value, char separator, struct weir_slice name);

/* The text is not validly percent-encoded. */
#define WEIR_HTTP_BAD_ESCAPE 1

/*
 * One path segment or query value with its %XX undone ('+' stays itself); without any, *ret_text is the
 * argument itself, else a copy in the arena.  An incomplete %XX and %00 are WEIR_HTTP_BAD_ESCAPE.
 */
WEIR_MUST_USE int weir_http_unescape(struct weir_slice text, struct weir_arena *arena,
                                     struct weir_slice *ret_text);

/*
 * The still encoded value of the first parameter of that name in a query "a=1&b=2"; false when there is none.
 */
bool weir_http_query_find(struct weir_slice query, struct weir_slice name, struct weir_slice *ret_value);

#endif
