/*
 * Files and `include`.
 *
 * Model: a chain of open files, innermost first, each with the tree that is being completed.  A file that
 * stands in its own chain is a cycle.  Paths are relative to the file that names them.
 * Invariant: loader->root is the tree of the main file, with what was included merged into it.
 */
#include "config/yaml/source.h"

#include <weir/error.h>

#include "base/slice.h"
#include "config/file.h"
#include "config/yaml/yaml_read.h"

struct source {
    const struct source *outer;
    struct weir_slice path; /* ends with NUL, which is not counted */
    size_t depth;
    struct weir_file_stamp stamp;
};

struct reading {
    struct weir_loader *loader;
    size_t files;
};

/* Whose value names the file; NULL node: the command line. */
struct named_by {
    const struct weir_yaml *node;
    const struct weir_path *path;
};

static int refuse(struct reading *reading, const struct named_by *by, struct weir_slice file,
                  struct weir_slice what)
{
    struct weir_place place = {file, 1, 1};

    if (by->node != NULL)
        WEIR_REPORT(reading->loader, FATAL, by->node, by->path, WEIR_SLICE("cannot include "), file,
                    WEIR_SLICE(": "), what);
    else
        WEIR_DIAG(reading->loader->diags, WEIR_SEVERITY_FATAL, &place, WEIR_SLICE_EMPTY,
                  WEIR_SLICE("cannot read the file: "), what);
    return WEIR_CONFIG_REFUSED;
}

static int read_file(struct reading *reading, const struct named_by *by, struct source *source,
                     struct weir_slice *ret_text)
{
    struct weir_slice why;
    int rv = weir_file_read(source->path, WEIR_YAML_BYTES_MAX, reading->loader->arena, &source->stamp,
                            ret_text, &why);

    if (rv == 0)
        weir_loader_note_file(reading->loader, source->path, &source->stamp);
    return rv == WEIR_FILE_REFUSED ? refuse(reading, by, source->path, why) : rv;
}

static bool in_chain(const struct source *source)
{
    for (const struct source *outer = source->outer; outer != NULL; outer = outer->outer)
        if (outer->stamp.device == source->stamp.device && outer->stamp.inode == source->stamp.inode)
            return true;
    return false;
}

static int append_list(struct weir_arena *arena, struct weir_yaml *list, const struct weir_yaml *more)
{
    struct weir_yaml **items =
        weir_arena_zalloc(arena, list->count + more->count + 1, sizeof(struct weir_yaml *));

    if (items == NULL)
        return WEIR_ERR_NOMEM;
    for (size_t i = 0; i < list->count; i++)
        items[i] = list->items[i];
    for (size_t i = 0; i < more->count; i++)
        items[list->count + i] = more->items[i];
    list->items = items;
    list->count += more->count;
    return 0;
}

static int append_pair(struct weir_arena *arena, struct weir_yaml *map, const struct weir_yaml_pair *pair)
{
    struct weir_yaml_pair *pairs = weir_arena_zalloc(arena, map->count + 1, sizeof(*pairs));

    if (pairs == NULL)
        return WEIR_ERR_NOMEM;
    for (size_t i = 0; i < map->count; i++)
        pairs[i] = map->pairs[i];
    pairs[map->count++] = *pair;
    map->pairs = pairs;
    return 0;
}

static int merge_pair(struct weir_loader *loader, struct weir_yaml *into, const struct weir_yaml_pair *pair)
{
    struct weir_path path = {NULL, pair->key->text, 0};

    for (size_t i = 0; i < into->count; i++) {
        struct weir_yaml_pair *old = &into->pairs[i];

        if (!weir_slice_eq(old->key->text, pair->key->text))
            continue;
        if (old->value->kind == WEIR_YAML_LIST && pair->value->kind == WEIR_YAML_LIST)
            return append_list(loader->arena, old->value, pair->value);
        if (old->value->kind != WEIR_YAML_NULL)
            WEIR_REPORT(loader, WARNING, old->key, &path, WEIR_SLICE("replaced wholly by the included "),
                        pair->key->place.file);
        *old = *pair;
        return 0;
    }
    return append_pair(loader->arena, into, pair);
}

static int read_source(struct reading *reading, const struct named_by *by, struct source *source,
                       struct weir_slice text, struct weir_yaml **ret_root);

static int include_one(struct reading *reading, const struct source *source, struct weir_yaml *root,
                       const struct named_by *by)
{
    struct weir_arena *arena = reading->loader->arena;
    struct source inner = {.outer = source, .depth = source->depth + 1};
    struct weir_yaml *included;
    int rv;

    if (by->node->kind != WEIR_YAML_TEXT) {
        WEIR_REPORT(reading->loader, FATAL, by->node, by->path, WEIR_SLICE("found "),
                    weir_yaml_kind_name(by->node), WEIR_SLICE(", expected the path of a file"));
        return WEIR_CONFIG_REFUSED;
    }
    inner.path = weir_file_beside(source->path, by->node->text, arena);
    if (inner.path.len == 0)
        return WEIR_ERR_NOMEM;
    if (weir_slice_find_char(inner.path, '\0') != WEIR_SLICE_NONE)
        return refuse(reading, by, WEIR_SLICE("the file"), WEIR_SLICE("its path holds a NUL byte"));
    if (inner.depth > WEIR_SOURCE_DEPTH_MAX || ++reading->files > WEIR_SOURCE_FILES_MAX)
        return refuse(reading, by, inner.path, WEIR_SLICE("too many files, or too deep"));
    rv = read_source(reading, by, &inner, WEIR_SLICE_EMPTY, &included);
    for (size_t i = 0; rv == 0 && i < included->count; i++)
        if (!weir_slice_eq(included->pairs[i].key->text, WEIR_SLICE("include")))
            rv = merge_pair(reading->loader, root, &included->pairs[i]);
    return rv;
}

static int include_all(struct reading *reading, const struct source *source, struct weir_yaml *root)
{
    const struct weir_yaml *list = weir_yaml_get(root, WEIR_SLICE("include"));
    struct weir_path path = {NULL, WEIR_SLICE("include"), 0};
    int rv = 0;

    if (list == NULL)
        return 0;
    if (list->kind != WEIR_YAML_LIST) {
        WEIR_REPORT(reading->loader, FATAL, list, &path, WEIR_SLICE("found "), weir_yaml_kind_name(list),
                    WEIR_SLICE(", expected a list of paths: include: [other.yaml]"));
        return WEIR_CONFIG_REFUSED;
    }
    for (size_t i = 0; rv == 0 && i < list->count; i++) {
        struct weir_path item = {&path, WEIR_SLICE_EMPTY, i};

        rv = include_one(reading, source, root, &(struct named_by){list->items[i], &item});
    }
    return rv;
}

static int read_source(struct reading *reading, const struct named_by *by, struct source *source,
                       struct weir_slice text, struct weir_yaml **ret_root)
{
    struct weir_loader *loader = reading->loader;
    int rv = 0;

    if (text.ptr == NULL)
        rv = read_file(reading, by, source, &text);
    if (rv == 0 && in_chain(source))
        rv = refuse(reading, by, source->path, WEIR_SLICE("it includes itself"));
    if (rv == 0)
        rv = weir_yaml_read(text, source->path, loader->arena, loader->diags, ret_root);
    if (rv == WEIR_YAML_REFUSED)
        return WEIR_CONFIG_REFUSED;
    return rv != 0 ? rv : include_all(reading, source, *ret_root);
}

int weir_source_read(struct weir_loader *loader, const char *path, struct weir_slice text)
{
    struct reading reading = {loader, 1};
    struct source source = {.path = weir_file_beside(WEIR_SLICE_EMPTY, weir_slice_str(path), loader->arena)};

    if (source.path.ptr == NULL)
        return WEIR_ERR_NOMEM;
    return read_source(&reading, &(struct named_by){NULL, NULL}, &source, text, &loader->root);
}
