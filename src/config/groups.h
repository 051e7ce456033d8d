/*
 * weir_settings.groups: what is set for the deployments of one group (beyond.md).
 */
#ifndef WEIR_CONFIG_GROUPS_H
#define WEIR_CONFIG_GROUPS_H

#include <weir/attr.h>
#include <weir/slice.h>

#include "config/loader.h"

/* Before the deployments are read. */
WEIR_MUST_USE int weir_groups_read(struct weir_loader *loader);

/* What is set for the group; NULL: nothing. */
const struct weir_group_settings *weir_groups_find(const struct weir_loader *loader, struct weir_slice group);

/* Warns of names that are no group's; once the snapshot is built. */
void weir_groups_check(struct weir_loader *loader);

/* The same for one name that should be a group's, whoever says it. */
void weir_groups_check_name(struct weir_loader *loader, const struct weir_yaml *node,
                            const struct weir_path *path);

#endif
