/*
 * What an entry of model_list says, as the engine takes it and as the gateway does.
 */
#ifndef WEIR_CONFIG_SPEC_H
#define WEIR_CONFIG_SPEC_H

#include <weir/snapshot.h>

#include "config/config.h"
#include "config/loader.h"
#include "config/settings.h"

/* For the engine; the deployment, with its id, model and endpoint, becomes its user's pointer and gets what
 * is known of its model. */
void weir_spec_of_router(const struct weir_loader *loader, const struct weir_deployment_settings *s,
                         struct weir_config_deployment *deployment, struct weir_deployment_spec *ret_spec);

/* What becomes of its streams, with what its group and the router say where it says nothing. */
void weir_spec_of_stream(const struct weir_loader *loader, const struct weir_deployment_settings *s,
                         struct weir_config_deployment *deployment);

#endif
