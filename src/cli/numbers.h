/*
 * The numbers of the router, for people, and which setting gave each.
 */
#ifndef WEIR_CLI_NUMBERS_H
#define WEIR_CLI_NUMBERS_H

#include "config/config.h"

/* On stdout. */
void weir_cli_print_numbers(const struct weir_config *config);

#endif
