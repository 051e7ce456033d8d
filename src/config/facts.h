/*
 * What is known of the models of deployments, from the deployment itself, the model map and the built-in
 * table (provider/model_facts.h).
 */
#ifndef WEIR_CONFIG_FACTS_H
#define WEIR_CONFIG_FACTS_H

#include <weir/attr.h>
#include <weir/slice.h>
#include <weir/snapshot.h>

#include "config/config.h"
#include "config/loader.h"
#include "config/settings.h"

/* Reads `weir_settings.model_map`, if there is one.  0, WEIR_CONFIG_REFUSED or negative. */
WEIR_MUST_USE int weir_facts_read_map(struct weir_loader *loader);

/* What is known of an entry's model, to the deployment, which has its model and endpoint, and to the engine's
 * spec of it. */
void weir_facts_read(const struct weir_loader *loader, const struct weir_deployment_settings *s,
                     struct weir_config_deployment *deployment, struct weir_deployment_spec *spec);

#endif
