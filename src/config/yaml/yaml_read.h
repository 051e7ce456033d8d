/*
 * Reading a YAML file into a tree: the events of libyaml, resolved as PyYAML's safe_load does it (YAML 1.1
 * scalars, anchors, merge keys).
 *
 * Depth, input and the size of the tree with its aliases written out are bounded.  Of a key that stands twice
 * in a map the last holds, with a warning.
 */
#ifndef WEIR_CONFIG_YAML_READ_H
#define WEIR_CONFIG_YAML_READ_H

#include <weir/attr.h>
#include <weir/slice.h>

#include "base/arena.h"
#include "config/diag.h"
#include "config/yaml/tree.h"

enum {
    WEIR_YAML_BYTES_MAX = 16 * 1024 * 1024, /* of one file */
    WEIR_YAML_NODES_MAX = 1000 * 1000,      /* of the tree with its aliases written out */
    WEIR_YAML_DEPTH_MAX = 64
};

/* The file cannot be used; a fatal diagnostic says why. */
#define WEIR_YAML_REFUSED 1

/*
 * Reads one document whose top is a map.  file names it in places and must live as long as the arena, as must
 * text.  0, WEIR_YAML_REFUSED or negative.
 */
WEIR_MUST_USE int weir_yaml_read(struct weir_slice text, struct weir_slice file, struct weir_arena *arena,
                                 struct weir_diags *diags, struct weir_yaml **ret_root);

#endif
