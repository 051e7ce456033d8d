/*
 * Looking things up in the tree, and writing paths.
 */
#include "config/yaml/tree.h"

#include "base/slice.h"
#include "base/text.h"

const struct weir_yaml_pair *weir_yaml_pair(const struct weir_yaml *map, struct weir_slice key)
{
    if (map == NULL || map->kind != WEIR_YAML_MAP)
        return NULL;
    for (size_t i = 0; i < map->count; i++)
        if (weir_slice_eq(map->pairs[i].key->text, key))
            return &map->pairs[i];
    return NULL;
}

struct weir_yaml *weir_yaml_get(const struct weir_yaml *map, struct weir_slice key)
{
    const struct weir_yaml_pair *pair = weir_yaml_pair(map, key);

    return pair == NULL || pair->value->kind == WEIR_YAML_NULL ? NULL : pair->value;
}

struct weir_yaml *weir_yaml_over(const struct weir_yaml *top, const struct weir_yaml *bottom,
                                 struct weir_arena *arena)
{
    struct weir_yaml *both = weir_arena_zalloc(arena, 1, sizeof(*both));

    if (both == NULL)
        return NULL;
    *both = *top;
    both->count = 0;
    both->pairs = weir_arena_zalloc(arena, top->count + bottom->count + 1, sizeof(*both->pairs));
    if (both->pairs == NULL)
        return NULL;
    for (size_t i = 0; i < top->count; i++)
        if (top->pairs[i].value->kind != WEIR_YAML_NULL)
            both->pairs[both->count++] = top->pairs[i];
    for (size_t i = 0; i < bottom->count; i++)
        if (weir_yaml_get(top, bottom->pairs[i].key->text) == NULL)
            both->pairs[both->count++] = bottom->pairs[i];
    return both;
}

static bool is_null(const struct weir_yaml *node)
{
    return node == NULL || node->kind == WEIR_YAML_NULL;
}

static bool same_pairs(const struct weir_yaml *a, const struct weir_yaml *b)
{
    for (size_t i = 0; i < a->count; i++)
        if (!weir_slice_eq(a->pairs[i].key->text, b->pairs[i].key->text) ||
            !weir_yaml_same(a->pairs[i].value, b->pairs[i].value))
            return false;
    return true;
}

static bool same_items(const struct weir_yaml *a, const struct weir_yaml *b)
{
    for (size_t i = 0; i < a->count; i++)
        if (!weir_yaml_same(a->items[i], b->items[i]))
            return false;
    return true;
}

bool weir_yaml_same(const struct weir_yaml *a, const struct weir_yaml *b)
{
    if (is_null(a) || is_null(b))
        return is_null(a) && is_null(b);
    if (a->kind != b->kind || a->count != b->count)
        return false;
    if (a->kind == WEIR_YAML_MAP)
        return same_pairs(a, b);
    if (a->kind == WEIR_YAML_LIST)
        return same_items(a, b);
    return weir_slice_eq(a->text, b->text) && weir_slice_eq(a->written, b->written);
}

struct weir_slice weir_yaml_kind_name(const struct weir_yaml *node)
{
    static const struct weir_slice names[] = {
        [WEIR_YAML_NULL] = WEIR_SLICE_INIT("nothing"), [WEIR_YAML_BOOL] = WEIR_SLICE_INIT("a boolean"),
        [WEIR_YAML_INT] = WEIR_SLICE_INIT("a number"), [WEIR_YAML_FLOAT] = WEIR_SLICE_INIT("a number"),
        [WEIR_YAML_TEXT] = WEIR_SLICE_INIT("text"),    [WEIR_YAML_LIST] = WEIR_SLICE_INIT("a list"),
        [WEIR_YAML_MAP] = WEIR_SLICE_INIT("a map"),
    };

    if (node != NULL && node->date)
        return WEIR_SLICE("a date");
    return node == NULL ? names[WEIR_YAML_NULL] : names[node->kind];
}

static size_t path_depth(const struct weir_path *path)
{
    size_t depth = 0;

    for (; path != NULL; path = path->up)
        depth++;
    return depth;
}

struct weir_slice weir_path_text(const struct weir_path *path, struct weir_arena *arena)
{
    size_t depth = path_depth(path), at = depth * 3;
    struct weir_slice *parts = weir_arena_zalloc(arena, at + 1, sizeof(*parts));

    if (parts == NULL)
        return WEIR_SLICE_EMPTY;
    for (; path != NULL; path = path->up) {
        char digits[WEIR_TEXT_U64_MAX];

        at -= 3;
        if (path->key.ptr != NULL) {
            parts[at] = path->up == NULL ? WEIR_SLICE("") : WEIR_SLICE(".");
            parts[at + 1] = path->key;
            continue;
        }
        parts[at] = WEIR_SLICE("[");
        parts[at + 1] = weir_arena_copy(arena, weir_text_u64(path->index, digits));
        parts[at + 2] = WEIR_SLICE("]");
    }
    return weir_arena_join(arena, parts, depth * 3);
}
