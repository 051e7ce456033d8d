/*
 * One entry of model_list while it is read.
 */
#ifndef WEIR_CONFIG_ENTRY_H
#define WEIR_CONFIG_ENTRY_H

#include "config/loader.h"
#include "config/settings.h"
#include "provider/endpoint.h"

struct weir_config_entry {
    const struct weir_yaml *node;
    const struct weir_yaml *params; /* litellm_params, with the values of its credential */
    const struct weir_yaml *info;   /* model_info; NULL: none */
    struct weir_path path;          /* model_list[i]; up points into the caller */
    struct weir_path params_path;
    struct weir_path info_path;
    struct weir_deployment_settings settings;
};

/* The entry cannot be used; an error says why. */
#define WEIR_ENTRY_SKIPPED 3

/* The entry is well formed, but nobody here can serve it: its provider has no dialect yet, or a variable has
 * a value that does not fit; a diagnostic says so. */
#define WEIR_ENTRY_UNSERVED 4

/*
 * A value that does not fit is a mistake of the file, unless it comes from the environment of this machine.
 */
static inline enum weir_severity weir_entry_severity(const struct weir_yaml *node)
{
    return node->variable ? WEIR_SEVERITY_WARNING : WEIR_SEVERITY_ERROR;
}

#endif
