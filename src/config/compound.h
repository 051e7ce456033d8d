/*
 * Values that are maps, lists, or names from a table; the part of weir_value_read that needs more than one
 * scalar.
 */
#ifndef WEIR_CONFIG_COMPOUND_H
#define WEIR_CONFIG_COMPOUND_H

#include <stdbool.h>
#include <stdint.h>

#include <weir/attr.h>

#include "config/loader.h"

/* Whether values of the row are read here. */
bool weir_compound_is(const struct weir_setting_row *row);

/* As weir_value_read, of such a row; node is not null. */
WEIR_MUST_USE int weir_compound_read(struct weir_loader *loader, const struct weir_setting_row *row,
                                     const struct weir_yaml *node, const struct weir_path *path,
                                     enum weir_severity severity, void *out);

/* The bit of one name of alert_types; 0, with a warning, where there is no such type. */
uint32_t weir_compound_alert_type(struct weir_loader *loader, const struct weir_yaml *node,
                                  const struct weir_path *path);

#endif
