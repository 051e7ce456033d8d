/*
 * What is wrong with a configuration, and where: a bounded list of diagnostics.
 *
 * A diagnostic reads `file:line:column: path: severity: what is wrong, what was expected`.  Texts never hold
 * a secret or the value of an environment variable; whoever adds one sees to it.  After the maximum further
 * ones are counted only.  Everything in the list lives as long as the list.
 */
#ifndef WEIR_CONFIG_DIAG_H
#define WEIR_CONFIG_DIAG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <weir/attr.h>
#include <weir/mem.h>
#include <weir/slice.h>

#include "base/arena.h"

/* Diagnostics that are kept; the rest is counted. */
enum { WEIR_DIAGS_MAX = 1000 };

enum weir_severity {
    WEIR_SEVERITY_WARNING, /* loaded, perhaps not as meant */
    WEIR_SEVERITY_ERROR,   /* a part is left out; the rest is loaded */
    WEIR_SEVERITY_FATAL    /* nothing is loaded: serve refuses to start */
};

/* A place in a file; line 0: no place (a default, the environment). */
struct weir_place {
    struct weir_slice file; /* the path as it was given or included */
    uint32_t line;          /* from 1 */
    uint32_t column;        /* from 1, in characters */
};

struct weir_diag {
    enum weir_severity severity;
    struct weir_place place;
    struct weir_slice path; /* "router_settings.num_retries", "model_list[3]"; may be empty */
    struct weir_slice text;
};

struct weir_diags {
    struct weir_arena arena;
    struct weir_diag *list;
    size_t count; /* kept */
    size_t cap;
    size_t counts[3]; /* of each severity, kept or not */
};

void weir_diags_init(struct weir_diags *diags, const struct weir_mem *mem);

/* Accepts a zeroed list. */
void weir_diags_deinit(struct weir_diags *diags);

/*
 * Adds one; its text is the parts joined.  A second one of the same place and text is dropped (an anchored
 * map is read once for each use).  Out of memory only loses the diagnostic: its severity is still counted.
 */
void weir_diags_add(struct weir_diags *diags, enum weir_severity severity, const struct weir_place *place,
                    struct weir_slice path, const struct weir_slice *parts, size_t part_count);

/* weir_diags_add with the parts as arguments. */
#define WEIR_DIAG(diags, severity, place, path, ...)                                                         \
    weir_diags_add((diags), (severity), (place), (path), (const struct weir_slice[]){__VA_ARGS__},           \
                   sizeof((const struct weir_slice[]){__VA_ARGS__}) / sizeof(struct weir_slice))

/* By file in the order in which files were met, then line, then column; stable. */
void weir_diags_sort(struct weir_diags *diags);

/* Errors and fatal ones, kept or not. */
size_t weir_diags_errors(const struct weir_diags *diags);

/* `file:line:column: path: severity: text` on one line; empty where the arena has no room. */
struct weir_slice weir_diag_text(const struct weir_diag *diag, struct weir_arena *arena);

/* "warning", "error"; a fatal one is an error to a reader. */
struct weir_slice weir_severity_name(enum weir_severity severity);

#endif
