/*
 * Numbers as the rows of the tables want them, whether they stand in the file or in a request.
 */
#ifndef WEIR_CONFIG_NUMBER_H
#define WEIR_CONFIG_NUMBER_H

#include <stdbool.h>

#include <weir/slice.h>

#include "base/arena.h"
#include "config/schema.h"

/* Without a fraction, and small enough to be told apart from its neighbours. */
bool weir_number_is_whole(double value);

/* The number into out, of the C type of the row, one of numbers; false when it does not fit its bounds. */
bool weir_number_put(const struct weir_setting_row *row, double value, void *out);

/* The nearer bound of the row in place of a number outside them. */
double weir_number_clamp(const struct weir_setting_row *row, double value);

/* As one would write it; in the arena. */
struct weir_slice weir_number_text(double value, struct weir_arena *arena);

/* " from 0 to 1000", or the empty slice where any number will do; in the arena. */
struct weir_slice weir_number_range(const struct weir_setting_row *row, struct weir_arena *arena);

#endif
