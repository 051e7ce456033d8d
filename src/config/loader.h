/*
 * What the parts of the loader share while one configuration is read.
 *
 * Conventions of all parts: 0 done (though there may be diagnostics), WEIR_CONFIG_REFUSED with a fatal
 * diagnostic, or negative.  Everything is made in the configuration's arena.
 */
#ifndef WEIR_CONFIG_LOADER_H
#define WEIR_CONFIG_LOADER_H

#include <stdbool.h>
#include <stddef.h>

#include <weir/attr.h>
#include <weir/mem.h>
#include <weir/slice.h>
#include <weir/snapshot.h>

#include "base/arena.h"
#include "base/map.h"
#include "config/config.h"
#include "config/diag.h"
#include "config/schema.h"
#include "config/yaml/tree.h"

struct weir_loader {
    struct weir_config *config;
    struct weir_arena *arena; /* the configuration's */
    struct weir_diags *diags;
    struct weir_yaml *root; /* all files together */
    weir_snapshot_builder *builder;
    bool *told;                          /* by row: its key was said to be not supported already */
    struct weir_map keys[WEIR_SECTIONS]; /* what was found out about each key, by its text */
    struct weir_map groups;              /* a group's name to its weir_group_settings (config/groups.h) */
    unsigned unknown_groups;             /* names of groups that there are not, so far */
    struct weir_strategy_spec strategy;  /* the router's (config/routing.h) */
    bool shuffles;                       /* the router or a routing group has the strategy simple-shuffle */
    struct weir_slice consequence;       /* ends complaints of wrong values: "; the entry is skipped" */
};

/* One diagnostic at the place of node. */
#define WEIR_REPORT(loader, severity, node, path, ...)                                                       \
    WEIR_DIAG((loader)->diags, WEIR_SEVERITY_##severity, &(node)->place,                                     \
              weir_path_text((path), (loader)->arena), __VA_ARGS__)

/* Notes that the file was read; its path ends with NUL, which is not counted, and lives as long as the
 * configuration. */
void weir_loader_note_file(struct weir_loader *loader, struct weir_slice path,
                           const struct weir_file_stamp *stamp);

/* weir_schema_find, remembered: a file has the same keys again and again.  text outlives the loader. */
const struct weir_setting_row *weir_loader_find(struct weir_loader *loader, enum weir_section section,
                                                struct weir_slice text);

/* Whether another section reads a key that has no row in its own: it stands where it has no effect. */
bool weir_loader_is_elsewhere(struct weir_loader *loader, enum weir_section section, struct weir_slice text);

/*
 * Says what is wrong with a key that its section does not read: known and not supported, belongs elsewhere,
 * or unknown, with the nearest known name.  path is that of the key.
 */
void weir_loader_unread_key(struct weir_loader *loader, enum weir_section section,
                            const struct weir_yaml *key, const struct weir_path *path);

/* Gives the loader's maps back. */
void weir_loader_deinit(struct weir_loader *loader);

/* How many wrong letters make a key of an ordinary section "near". */
size_t weir_loader_near_limit(struct weir_slice key);

#endif
