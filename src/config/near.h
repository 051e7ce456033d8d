/*
 * How far one name is from another, for "did you mean".
 */
#ifndef WEIR_CONFIG_NEAR_H
#define WEIR_CONFIG_NEAR_H

#include <stddef.h>

#include <weir/slice.h>

/* Longer names are never near anything. */
enum { WEIR_NEAR_NAME_MAX = 64 };

/*
 * Letters to insert, drop, change, or swap with their neighbour to make b of a (the restricted
 * Damerau-Levenshtein distance), whatever the case of the letters.  More than limit, or a name too long:
 * limit + 1.
 */
size_t weir_near_distance(struct weir_slice a, struct weir_slice b, size_t limit);

/* How many wrong letters are still a slip of the pen in a name that long: at most limit, and less than half
 * of the name. */
size_t weir_near_limit(struct weir_slice name, size_t limit);

#endif
