/*
 * Model: the limits of a group, and how it shares the load of failure, go to the engine, which merges them
 * with the router's; what the gateway acts on is looked up by each deployment as it is read.
 */
#include "config/groups.h"

#include <weir/error.h>

#include "base/slice.h"
#include "config/near.h"
#include "config/value.h"

enum { SUGGESTIONS_MAX = 32 };

static const struct weir_yaml *find_groups(const struct weir_loader *loader)
{
    return weir_yaml_get(weir_yaml_get(loader->root, weir_section_key(WEIR_SECTION_WEIR)),
                         WEIR_SLICE("groups"));
}

static int refuse(struct weir_loader *loader, const struct weir_yaml *node, const struct weir_path *path,
                  struct weir_slice expected)
{
    WEIR_REPORT(loader, FATAL, node, path, WEIR_SLICE("found "), weir_yaml_kind_name(node),
                WEIR_SLICE(", expected "), expected);
    return WEIR_CONFIG_REFUSED;
}

static void begin_settings(struct weir_group_settings *settings)
{
    for (size_t i = 0; i < weir_schema_count(); i++) {
        const struct weir_setting_row *row = weir_schema_row(i);

        if (row->section == WEIR_SECTION_GROUP && row->status == WEIR_ROW_READ)
            weir_value_default(row, (char *)settings + row->offset);
    }
}

static int read_key(struct weir_loader *loader, const struct weir_yaml_pair *pair,
                    const struct weir_path *path, struct weir_group_settings *settings)
{
    const struct weir_setting_row *row = weir_loader_find(loader, WEIR_SECTION_GROUP, pair->key->text);
    struct weir_path here = {path, pair->key->text, 0};
    int rv;

    if (row == NULL || row->status != WEIR_ROW_READ) {
        weir_loader_unread_key(loader, WEIR_SECTION_GROUP, pair->key, &here);
        return 0;
    }
    rv =
        weir_value_read(loader, row, pair->value, &here, WEIR_SEVERITY_FATAL, (char *)settings + row->offset);
    return rv == WEIR_VALUE_WRONG ? WEIR_CONFIG_REFUSED : rv;
}

static int add_group(struct weir_loader *loader, struct weir_slice group,
                     const struct weir_group_settings *settings)
{
    struct weir_group_spec spec;
    int rv;

    weir_group_spec_init(&spec);
#define LIMIT(key, member, type, unit, min, max, prose, router) spec.limits.member = settings->member;
#include "config/tbl/limits.h"
#define SHARE(key, member, type, unit, min, max, prose) spec.resilience.member = settings->member;
#include "config/tbl/resilience.h"
    for (size_t i = 0; i < WEIR_CONTINUE_SOURCES; i++)
        spec.continue_to[i] = settings->continue_to.to[i];
    rv = weir_snapshot_add_group(loader->builder, group, &spec);
    return rv == WEIR_SNAPSHOT_EXISTS ? WEIR_ERR_INTERNAL : rv;
}

static int read_group(struct weir_loader *loader, const struct weir_yaml_pair *pair,
                      const struct weir_path *path)
{
    struct weir_path here = {path, pair->key->text, 0};
    struct weir_group_settings *settings;
    int rv = 0;

    if (pair->value->kind == WEIR_YAML_NULL)
        return 0;
    if (pair->key->text.len == 0 || pair->value->kind != WEIR_YAML_MAP)
        return refuse(loader, pair->value, &here, WEIR_SLICE("a group with a map of its settings"));
    settings = weir_arena_zalloc(loader->arena, 1, sizeof(*settings));
    if (settings == NULL)
        return WEIR_ERR_NOMEM;
    begin_settings(settings);
    for (size_t i = 0; rv == 0 && i < pair->value->count; i++)
        rv = read_key(loader, &pair->value->pairs[i], &here, settings);
    if (rv == 0)
        rv = weir_map_add(&loader->groups, pair->key->text, settings);
    return rv == 0 ? add_group(loader, pair->key->text, settings) : rv;
}

int weir_groups_read(struct weir_loader *loader)
{
    struct weir_path top = {NULL, weir_section_key(WEIR_SECTION_WEIR), 0};
    struct weir_path path = {&top, WEIR_SLICE("groups"), 0};
    const struct weir_yaml *map = find_groups(loader);
    int worst = 0;

    if (map == NULL)
        return 0;
    if (map->kind != WEIR_YAML_MAP)
        return refuse(loader, map, &path, WEIR_SLICE("a map of groups to maps of settings"));
    weir_map_init(&loader->groups, loader->arena->mem, map->count);
    for (size_t i = 0; i < map->count; i++) {
        int rv = read_group(loader, &map->pairs[i], &path);

        if (rv < 0)
            return rv;
        worst = rv > worst ? rv : worst;
    }
    return worst;
}

const struct weir_group_settings *weir_groups_find(const struct weir_loader *loader, struct weir_slice group)
{
    return loader->groups.mem == NULL ? NULL : weir_map_get(&loader->groups, group);
}

/* The group that was meant; empty: none is near. */
static struct weir_slice nearest_group(const weir_snapshot *snapshot, struct weir_slice name)
{
    struct weir_slice best = WEIR_SLICE_EMPTY;
    size_t limit = weir_near_limit(name, weir_loader_near_limit(name));

    for (size_t i = 0; limit > 0 && i < weir_snapshot_group_count(snapshot); i++) {
        struct weir_slice group = weir_snapshot_group_name(snapshot, i);
        size_t distance = weir_near_distance(group, name, limit);

        if (distance > limit)
            continue;
        best = group;
        limit = distance - 1;
    }
    return best;
}

void weir_groups_check_name(struct weir_loader *loader, const struct weir_yaml *node,
                            const struct weir_path *path)
{
    struct weir_slice near = WEIR_SLICE_EMPTY;

    if (weir_snapshot_has_group(loader->config->snapshot, node->text))
        return;
    /* Each search looks at all groups: a file that is wrong throughout is not told of every one. */
    if (loader->unknown_groups++ < SUGGESTIONS_MAX)
        near = nearest_group(loader->config->snapshot, node->text);
    if (near.len > 0)
        WEIR_REPORT(loader, WARNING, node, path, WEIR_SLICE("no group has this name, did you mean "), near,
                    WEIR_SLICE("?"));
    else
        WEIR_REPORT(loader, WARNING, node, path, WEIR_SLICE("no group has this name: never used"));
}

void weir_groups_check(struct weir_loader *loader)
{
    struct weir_path top = {NULL, weir_section_key(WEIR_SECTION_WEIR), 0};
    struct weir_path path = {&top, WEIR_SLICE("groups"), 0};
    const struct weir_yaml *map = find_groups(loader);

    for (size_t i = 0; map != NULL && i < map->count; i++) {
        struct weir_path here = {&path, map->pairs[i].key->text, 0};

        weir_groups_check_name(loader, map->pairs[i].key, &here);
    }
}
