/*
 * `default_litellm_params`: what is said of every call, whichever deployment serves it
 * (router-semantics 2.4).
 */
#ifndef WEIR_CONFIG_CALL_PARAMS_H
#define WEIR_CONFIG_CALL_PARAMS_H

#include <weir/attr.h>

#include "config/loader.h"

/*
 * The part of it that lies over the params of each deployment; *ret_params stays NULL where it says nothing.
 * 0, WEIR_CONFIG_REFUSED with a fatal diagnostic where it is no map, or negative.
 */
WEIR_MUST_USE int weir_call_params_read(struct weir_loader *loader, const struct weir_yaml **ret_params);

#endif
