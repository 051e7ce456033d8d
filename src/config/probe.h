/*
 * How the deployment of an entry is asked whether it answers (RS 17).
 */
#ifndef WEIR_CONFIG_PROBE_H
#define WEIR_CONFIG_PROBE_H

#include "config/config.h"
#include "config/loader.h"
#include "config/settings.h"

/* deployment has its group and its model. */
void weir_probe_read(const struct weir_settings *settings, const struct weir_deployment_settings *s,
                     struct weir_config_deployment *deployment);

/* After the snapshot was built: says which settings of health checks come to nothing. */
void weir_probe_check(struct weir_loader *loader);

#endif
