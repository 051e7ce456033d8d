/*
 * Environment variables in a configuration: `os.environ/NAME` as the whole value of a key (RS 2, decisions
 * 22).
 */
#ifndef WEIR_CONFIG_VARIABLES_H
#define WEIR_CONFIG_VARIABLES_H

#include <stdbool.h>

#include <weir/attr.h>
#include <weir/slice.h>

#include "config/loader.h"

/* Reads the section environment_variables; to be done first. */
WEIR_MUST_USE int weir_variables_section(struct weir_loader *loader);

/*
 * Puts the values of variables in their places, in all that is read.  A missing one becomes null, with what
 * decisions 22 says for its place; what looks like a variable and is none gets a warning.
 */
WEIR_MUST_USE int weir_variables_replace(struct weir_loader *loader);

/* The value of a variable: of the section first, then of the environment.  False: unset or empty. */
bool weir_variables_get(const struct weir_config *config, struct weir_slice name,
                        struct weir_slice *ret_value);

#endif
