/*
 * One value of the tree as the type that its row asks for.
 *
 * Numbers and booleans may be in quotes (a variable's value always is text), numbers may stand where text is
 * wanted.  Messages say what was found and expected; they never repeat what came from a variable or may be a
 * secret.
 */
#ifndef WEIR_CONFIG_VALUE_H
#define WEIR_CONFIG_VALUE_H

#include <stdbool.h>
#include <stdint.h>

#include <weir/attr.h>
#include <weir/slice.h>

#include "config/loader.h"

/* The value does not fit its row: a diagnostic of the given severity says so, and out is unchanged. */
#define WEIR_VALUE_WRONG 2

/*
 * Reads node into out, which is of the C type of the row.  A null value is the same as no value: out stays.
 * 0, WEIR_VALUE_WRONG or negative.
 */
WEIR_MUST_USE int weir_value_read(struct weir_loader *loader, const struct weir_setting_row *row,
                                  const struct weir_yaml *node, const struct weir_path *path,
                                  enum weir_severity severity, void *out);

/* The row's default into out; the "not set" of the type where it has none. */
void weir_value_default(const struct weir_setting_row *row, void *out);

/* A whole number from 0 to max, written as a number or in quotes; false when it is not. */
bool weir_value_whole(const struct weir_yaml *node, double max, uint64_t *ret_value);

/* Says what was found and what is expected; WEIR_VALUE_WRONG. */
WEIR_MUST_USE int weir_value_complain(struct weir_loader *loader, const struct weir_setting_row *row,
                                      const struct weir_yaml *node, const struct weir_path *path,
                                      enum weir_severity severity);

#endif
