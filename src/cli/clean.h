/*
 * Text of others on a terminal: what it holds must not steer it, and how many columns it takes.
 *
 * Control characters (those of C1 too), marks that turn the direction of writing, separators of lines and
 * bytes that are no UTF-8 become "?".  Pure, but for the widths, which are those of the locale (LC_CTYPE).
 */
#ifndef WEIR_CLI_CLEAN_H
#define WEIR_CLI_CLEAN_H

#include <stdbool.h>
#include <stddef.h>

#include <weir/slice.h>

/* The next character of the text as it may be shown: a part of the text, or "?", which lives for ever.  Takes
 * it off the front; false at the end. */
bool weir_clean_next(struct weir_slice *rest, struct weir_slice *ret_shown);

/* The columns that a character of weir_clean_next takes: 0 (it joins the one before), 1 or 2; -1 where the
 * locale cannot show it. */
int weir_clean_columns(struct weir_slice character);

#endif
