/*
 * The tree that a YAML file becomes: nodes with their places, and paths for messages.
 *
 * An alias is the same node again, so the tree is a graph without cycles; its size when written out is
 * bounded (yaml_read.h).  Nodes live in an arena and are changed only by config/variables.h.
 */
#ifndef WEIR_CONFIG_TREE_H
#define WEIR_CONFIG_TREE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <weir/slice.h>

#include "base/arena.h"
#include "config/diag.h"

enum weir_yaml_kind {
    WEIR_YAML_NULL,
    WEIR_YAML_BOOL,
    WEIR_YAML_INT,
    WEIR_YAML_FLOAT,
    WEIR_YAML_TEXT,
    WEIR_YAML_LIST,
    WEIR_YAML_MAP
};

struct weir_yaml_pair {
    struct weir_yaml *key; /* a scalar */
    struct weir_yaml *value;
};

struct weir_yaml {
    enum weir_yaml_kind kind;
    bool quoted;   /* not plain: a number in it is meant as text, or came from a variable */
    bool date;     /* TEXT that is a date to YAML: not good for a name */
    bool variable; /* written as `os.environ/NAME`: the value came from there, or is missing */
    bool visited;  /* config/variables.h has been here */
    struct weir_place place;
    struct weir_slice text;    /* of a scalar: its value as text */
    struct weir_slice written; /* the same as it stands in the file */
    bool boolean;
    int64_t integer;
    double number; /* of INT and FLOAT */
    size_t count;
    struct weir_yaml **items;     /* of a LIST */
    struct weir_yaml_pair *pairs; /* of a MAP, in order, without duplicates, merged ones first */
    uint64_t nodes;               /* this and all below it, aliases written out */
};

/* A path for messages, from the inside out; parts are borrowed. */
struct weir_path {
    const struct weir_path *up; /* NULL: the top of the file */
    struct weir_slice key;      /* ptr NULL: a list's item */
    size_t index;
};

/* "model_list[3].litellm_params.rpm", in the arena; the top is empty. */
struct weir_slice weir_path_text(const struct weir_path *path, struct weir_arena *arena);

/* The pair with that key, or NULL; map may be NULL or anything but a map. */
const struct weir_yaml_pair *weir_yaml_pair(const struct weir_yaml *map, struct weir_slice key);

/* The value of that key; NULL when it is not there or null: for a setting that is the same. */
struct weir_yaml *weir_yaml_get(const struct weir_yaml *map, struct weir_slice key);

/*
 * A map with the pairs of top, and those of bottom whose keys top lacks; null values are left out, and a null
 * in top hides nothing.  NULL: no memory.
 */
struct weir_yaml *weir_yaml_over(const struct weir_yaml *top, const struct weir_yaml *bottom,
                                 struct weir_arena *arena);

/* Whether both mean the same, from the same words: a variable with the same value, keys in the same order.  A
 * node that is not there is as null. */
bool weir_yaml_same(const struct weir_yaml *a, const struct weir_yaml *b);

/* "a map", "text", "nothing": what was found, for messages. */
struct weir_slice weir_yaml_kind_name(const struct weir_yaml *node);

#endif
