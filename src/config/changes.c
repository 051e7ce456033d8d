/*
 * Deployments are compared by what is shown of them and by what is sent to them (a key is not shown);
 * settings as they are written, key by key of the sections, which covers the parts that have no member as
 * well.  What needs a restart is compared by value, since the value is what holds on.
 */
#include "config/changes.h"

#include <string.h>

#include <weir/error.h>

#include "base/map.h"
#include "base/slice.h"
#include "config/schema.h"
#include "config/yaml/tree.h"
#include "provider/endpoint.h"

void weir_changes_note(struct weir_change_list *list, struct weir_slice name, struct weir_arena *arena)
{
    if (list->count < WEIR_CHANGES_NAMES_MAX)
        list->names[list->count] = weir_arena_copy(arena, name);
    list->count++;
}

static void note_key(struct weir_change_list *list, struct weir_slice section, struct weir_slice key,
                     struct weir_arena *arena)
{
    const struct weir_slice parts[] = {section, WEIR_SLICE("."), key};
    size_t first = section.len > 0 ? 0 : 2;

    if (list->count < WEIR_CHANGES_NAMES_MAX)
        list->names[list->count] = weir_arena_join(arena, parts + first, 3 - first);
    list->count++;
}

/* ---- what needs a restart ---- */

static const size_t sizes[] = {
#define X(type, expected) [WEIR_VALUE_##type] = sizeof(WEIR_SETTING_TYPE_##type),
    WEIR_VALUE_TABLE(X)
#undef X
};

static bool is_text(enum weir_value_type type)
{
    return type == WEIR_VALUE_TEXT || type == WEIR_VALUE_NAME || type == WEIR_VALUE_SECRET ||
           type == WEIR_VALUE_PLACE || type == WEIR_VALUE_OBJECT;
}

static bool same_value(enum weir_value_type type, const void *a, const void *b)
{
    const struct weir_slice *text_a = a;
    const struct weir_slice *text_b = b;

    return is_text(type) ? weir_slice_eq(*text_a, *text_b) : memcmp(a, b, sizes[type]) == 0;
}

static void copy_value(enum weir_value_type type, void *to, const void *from, struct weir_arena *arena)
{
    struct weir_slice *text = to;

    memcpy(to, from, sizes[type]);
    if (is_text(type) && text->len > 0)
        *text = weir_arena_copy(arena, *text);
}

int weir_config_hold(struct weir_config *config, const struct weir_config *running, struct weir_arena *arena,
                     struct weir_config_changes *changes)
{
    for (size_t i = 0; i < WEIR_SETTING_COUNT; i++) {
        const struct weir_setting_row *row = weir_schema_row(i);
        char *value = (char *)&config->settings + row->offset;
        const char *held = (const char *)&running->settings + row->offset;

        if (!row->at_start || same_value(row->type, value, held))
            continue;
        note_key(&changes->held, weir_section_key(row->section), row->key, arena);
        copy_value(row->type, value, held, &config->arena);
    }
    return weir_arena_failed(arena) || weir_arena_failed(&config->arena) ? WEIR_ERR_NOMEM : 0;
}

/* ---- deployments ---- */

static bool same_deployment(const struct weir_config_deployment *a, const struct weir_config_deployment *b)
{
    return weir_slice_eq(a->info, b->info) && weir_slice_eq(a->group, b->group) &&
           weir_slice_eq(a->endpoint->base, b->endpoint->base) &&
           weir_slice_eq(a->endpoint->fields[0], b->endpoint->fields[0]);
}

static int by_id(const struct weir_config *config, struct weir_map *ret_map)
{
    weir_map_init(ret_map, config->mem, config->deployment_count);
    for (size_t i = 0; i < config->deployment_count; i++) {
        int r = weir_map_add(ret_map, config->deployments[i]->id, config->deployments[i]);

        if (r < 0)
            return r;
    }
    return 0;
}

static void compare_maps(const struct weir_config *before, const struct weir_config *now,
                         const struct weir_map *old_ids, const struct weir_map *new_ids,
                         struct weir_arena *arena, struct weir_config_changes *changes)
{
    for (size_t i = 0; i < now->deployment_count; i++) {
        const struct weir_config_deployment *deployment = now->deployments[i];
        const struct weir_config_deployment *old = weir_map_get(old_ids, deployment->id);

        if (old == NULL)
            weir_changes_note(&changes->added, deployment->id, arena);
        else if (!same_deployment(old, deployment))
            weir_changes_note(&changes->changed, deployment->id, arena);
    }
    for (size_t i = 0; i < before->deployment_count; i++)
        if (weir_map_get(new_ids, before->deployments[i]->id) == NULL)
            weir_changes_note(&changes->removed, before->deployments[i]->id, arena);
}

static int compare_deployments(const struct weir_config *before, const struct weir_config *now,
                               struct weir_arena *arena, struct weir_config_changes *changes)
{
    WEIR_CLEANUP(weir_map_deinit) struct weir_map old_ids = {0};
    WEIR_CLEANUP(weir_map_deinit) struct weir_map new_ids = {0};
    int r = by_id(before, &old_ids);

    if (r == 0)
        r = by_id(now, &new_ids);
    if (r == 0)
        compare_maps(before, now, &old_ids, &new_ids, arena, changes);
    return r;
}

/* ---- settings ---- */

/* Sections that are told otherwise. */
static bool is_told(struct weir_slice key)
{
    return weir_slice_eq(key, WEIR_SLICE("model_list")) || weir_slice_eq(key, WEIR_SLICE("include"));
}

static const struct weir_yaml *value_of(const struct weir_yaml *map, struct weir_slice key)
{
    return map == NULL || map->kind != WEIR_YAML_MAP ? NULL : weir_yaml_get(map, key);
}

static bool is_noted(const struct weir_change_list *list, struct weir_slice section, struct weir_slice key)
{
    for (size_t i = 0; i < list->count && i < WEIR_CHANGES_NAMES_MAX; i++) {
        struct weir_slice name = list->names[i];

        if (name.len == section.len + 1 + key.len && weir_slice_starts(name, section) &&
            weir_slice_ends(name, key))
            return true;
    }
    return false;
}

static void note_unless_held(struct weir_config_changes *changes, struct weir_slice section,
                             struct weir_slice key, struct weir_arena *arena)
{
    if (!is_noted(&changes->held, section, key))
        note_key(&changes->settings, section, key, arena);
}

/* The keys of `a` that are written in another way in `b`, or only there where `missing` is wanted. */
static void compare_section(struct weir_slice section, const struct weir_yaml *a, const struct weir_yaml *b,
                            bool missing_only, struct weir_arena *arena, struct weir_config_changes *changes)
{
    for (size_t i = 0; i < a->count; i++) {
        struct weir_slice key = a->pairs[i].key->text;
        const struct weir_yaml *other = value_of(b, key);

        if (missing_only ? other == NULL && a->pairs[i].value->kind != WEIR_YAML_NULL
                         : !weir_yaml_same(value_of(a, key), other))
            note_unless_held(changes, section, key, arena);
    }
}

static void compare_top(struct weir_slice key, const struct weir_yaml *old, const struct weir_yaml *new,
                        struct weir_arena *arena, struct weir_config_changes *changes)
{
    bool maps = (old == NULL || old->kind == WEIR_YAML_MAP) && (new == NULL || new->kind == WEIR_YAML_MAP);

    if (!maps) {
        if (!weir_yaml_same(old, new))
            note_key(&changes->settings, WEIR_SLICE_EMPTY, key, arena);
        return;
    }
    if (new != NULL)
        compare_section(key, new, old, false, arena, changes);
    if (old != NULL)
        compare_section(key, old, new, true, arena, changes);
}

static void compare_settings(const struct weir_yaml *before, const struct weir_yaml *now,
                             struct weir_arena *arena, struct weir_config_changes *changes)
{
    for (size_t i = 0; i < now->count; i++) {
        struct weir_slice key = now->pairs[i].key->text;

        if (!is_told(key))
            compare_top(key, value_of(before, key), value_of(now, key), arena, changes);
    }
    for (size_t i = 0; i < before->count; i++) {
        struct weir_slice key = before->pairs[i].key->text;

        if (!is_told(key) && weir_yaml_pair(now, key) == NULL)
            compare_top(key, value_of(before, key), NULL, arena, changes);
    }
}

int weir_config_compare(const struct weir_config *before, const struct weir_config *now,
                        struct weir_arena *arena, struct weir_config_changes *changes)
{
    int r = compare_deployments(before, now, arena, changes);

    if (r < 0)
        return r;
    compare_settings(before->root, now->root, arena, changes);
    return weir_arena_failed(arena) ? WEIR_ERR_NOMEM : 0;
}
