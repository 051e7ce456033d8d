/*
 * Pages made from the tables of settings.
 */
#ifndef WEIR_CONFIG_REFERENCE_H
#define WEIR_CONFIG_REFERENCE_H

#include <stdio.h>

#include <weir/attr.h>

/* docs/configuration.md.  0, or WEIR_ERR_IO. */
WEIR_MUST_USE int weir_reference_page(FILE *out);

/* Every setting with its default, as a configuration file that changes nothing.  0, or WEIR_ERR_IO. */
WEIR_MUST_USE int weir_reference_defaults(FILE *out);

#endif
