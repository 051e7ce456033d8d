/*
 * The sections of settings: router_settings, litellm_settings, general_settings, weir_settings, and the
 * variables that stand for constants.
 */
#ifndef WEIR_CONFIG_SECTIONS_H
#define WEIR_CONFIG_SECTIONS_H

#include <weir/attr.h>
#include <weir/snapshot.h>

#include "config/loader.h"

/* Every row's default into the settings of the configuration. */
void weir_sections_defaults(struct weir_settings *settings);

/* Reads all sections and says what is wrong with their keys and with those of the top level.  A value that
 * does not fit is fatal. */
WEIR_MUST_USE int weir_sections_read(struct weir_loader *loader);

/* The engine's numbers from the settings: the router's own, else the process's, else the constant.  The
 * strategy is left at its default: see config/routing.h. */
void weir_sections_router(const struct weir_settings *settings, struct weir_router_spec *ret_spec);

/* `background_health_check_model_groups`; without names: all groups. */
const struct weir_names *weir_sections_health_groups(const struct weir_settings *settings);

#endif
