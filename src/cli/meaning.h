/*
 * What a configuration means, for people: groups, aliases, chains, numbers, and where these come from.
 */
#ifndef WEIR_CLI_MEANING_H
#define WEIR_CLI_MEANING_H

#include <stdbool.h>
#include <stddef.h>

#include <weir/attr.h>

#include "config/config.h"

struct weir_meaning_counts {
    size_t deployments; /* entries that are not served among them */
    size_t groups;
    size_t chains;
};

/* Prints it to stdout unless quiet, and counts.  0 or WEIR_ERR_NOMEM. */
WEIR_MUST_USE int weir_cli_meaning(const struct weir_config *config, bool quiet,
                                   struct weir_meaning_counts *ret_counts);

#endif
