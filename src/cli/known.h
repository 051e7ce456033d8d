/*
 * What is known of a deployment's model and where it comes from, for people.
 */
#ifndef WEIR_CLI_KNOWN_H
#define WEIR_CLI_KNOWN_H

#include "config/config.h"

/* A line for each source that says something, on stdout; nothing where nothing is known. */
void weir_cli_print_known(const struct weir_config *config, const struct weir_config_deployment *deployment);

#endif
