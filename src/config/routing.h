/*
 * How deployments are chosen: the router's strategy, and routing groups with strategies of their own
 * (router-semantics 6 and 7).
 */
#ifndef WEIR_CONFIG_ROUTING_H
#define WEIR_CONFIG_ROUTING_H

#include <weir/attr.h>

#include "config/loader.h"

/* After the settings and before the snapshot is built: the router's strategy to loader->strategy, the groups
 * to the builder.  0, WEIR_CONFIG_REFUSED or negative. */
WEIR_MUST_USE int weir_routing_read(struct weir_loader *loader);

/* Warns of members that are no groups, and of weighted failover that no strategy has; once the snapshot is
 * built. */
void weir_routing_check(struct weir_loader *loader);

#endif
