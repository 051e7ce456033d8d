/*
 * model_list: each entry to a deployment of the snapshot and the endpoint that goes with it (RS 2.1 to 2.3).
 */
#ifndef WEIR_CONFIG_DEPLOYMENTS_H
#define WEIR_CONFIG_DEPLOYMENTS_H

#include <weir/attr.h>

#include "config/loader.h"

/*
 * Adds all entries to the builder and to the configuration.  A bad one is left out with an error; where
 * ignore_invalid_deployments is false, that refuses the whole.  0, WEIR_CONFIG_REFUSED or negative.
 */
WEIR_MUST_USE int weir_deployments_read(struct weir_loader *loader);

#endif
