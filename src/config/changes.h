/*
 * From one configuration to the next: what is another in it, and what of it must wait for a restart.
 */
#ifndef WEIR_CONFIG_CHANGES_H
#define WEIR_CONFIG_CHANGES_H

#include <stddef.h>

#include <weir/attr.h>
#include <weir/slice.h>

#include "base/arena.h"
#include "config/config.h"

/* Names in a list that are kept; the rest is counted. */
enum { WEIR_CHANGES_NAMES_MAX = 100 };

struct weir_change_list {
    struct weir_slice names[WEIR_CHANGES_NAMES_MAX];
    size_t count; /* kept or not */
};

/* All zero: nothing changed. */
struct weir_config_changes {
    struct weir_change_list added; /* ids of deployments */
    struct weir_change_list removed;
    struct weir_change_list changed;
    struct weir_change_list settings; /* written differently: "router_settings.fallbacks" */
    struct weir_change_list held;     /* that hold as they were until a restart: "weir_settings.workers" */
};

/* Notes a name, which is copied into the arena. */
void weir_changes_note(struct weir_change_list *list, struct weir_slice name, struct weir_arena *arena);

/*
 * Brings the settings that need a restart back to what the running configuration has, and notes in
 * changes->held which would be another.  The configuration must not be in use yet.  0 or WEIR_ERR_NOMEM.
 */
WEIR_MUST_USE int weir_config_hold(struct weir_config *config, const struct weir_config *running,
                                   struct weir_arena *arena, struct weir_config_changes *changes);

/* Notes what else is another.  0 or WEIR_ERR_NOMEM. */
WEIR_MUST_USE int weir_config_compare(const struct weir_config *before, const struct weir_config *now,
                                      struct weir_arena *arena, struct weir_config_changes *changes);

#endif
