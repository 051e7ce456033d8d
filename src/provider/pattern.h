/*
 * Looking for a phrase in the text of an error, where phrases carry numbers and vary in their blanks.
 *
 * In a pattern these characters stand for more than themselves; all others are literal:
 *
 *   #   one or more digits (commas between them allowed)
 *   ~   any number of blanks, '_' and '-'
 *   *   any text, up to 512 bytes
 *   %   the border of a word: nothing, where a letter, digit or '_' stands on one side only
 */
#ifndef WEIR_PROVIDER_PATTERN_H
#define WEIR_PROVIDER_PATTERN_H

#include <stdbool.h>

#include <weir/slice.h>

/* The pattern, which is not empty, fits somewhere in the text.  Case matters. */
bool weir_pattern_found(struct weir_slice pattern, struct weir_slice text);

#endif
