/*
 * Reading chains, aliases and policies of groups.
 *
 * Model: the lists of both sections are read alike and given to the engine with their source, which decides
 * which one holds.  Names are checked in a second walk, when the snapshot can say what it knows.
 */
#include "config/chains.h"

#include <string.h>

#include <weir/error.h>

#include "base/slice.h"
#include "base/time.h"
#include "config/value.h"
#include "config/yaml/tree_json.h"

struct list_row {
    struct weir_slice key;
    weir_list_kind kind;
};

static const struct list_row lists[] = {
    {WEIR_SLICE_INIT("fallbacks"), WEIR_LIST_GENERIC},
    {WEIR_SLICE_INIT("context_window_fallbacks"), WEIR_LIST_CONTEXT_WINDOW},
    {WEIR_SLICE_INIT("content_policy_fallbacks"), WEIR_LIST_CONTENT_POLICY},
};

static const struct {
    enum weir_section section;
    weir_list_source source;
} origins[] = {{WEIR_SECTION_ROUTER, WEIR_SOURCE_ROUTER}, {WEIR_SECTION_LITELLM, WEIR_SOURCE_PROCESS}};

enum { LISTS = sizeof(lists) / sizeof(*lists), ORIGINS = sizeof(origins) / sizeof(*origins) };

/* The keys of a dict target that say how its hop is routed; the others change the request. */
static const struct weir_setting_row retries_row = {
    .type = WEIR_VALUE_U32, .max = 1000000, .key = WEIR_SLICE_INIT("num_retries")};
static const struct weir_setting_row request_timeout_row = {
    .type = WEIR_VALUE_SECONDS, .min = 0.001, .max = 2592000, .key = WEIR_SLICE_INIT("request_timeout")};
static const struct weir_setting_row hidden_row = {.type = WEIR_VALUE_BOOL, .key = WEIR_SLICE_INIT("hidden")};
static const struct weir_setting_row retry_policy_row = {.type = WEIR_VALUE_RETRIES};

static int refuse(struct weir_loader *loader, const struct weir_yaml *node, const struct weir_path *path,
                  struct weir_slice expected)
{
    WEIR_REPORT(loader, FATAL, node, path, WEIR_SLICE("found "), weir_yaml_kind_name(node),
                WEIR_SLICE(", expected "), expected);
    return WEIR_CONFIG_REFUSED;
}

static int read_control(struct weir_loader *loader, const struct weir_yaml *map, const struct weir_path *path,
                        const struct weir_setting_row *row, void *out)
{
    const struct weir_yaml *node = weir_yaml_get(map, row->key);
    struct weir_path here = {path, row->key, 0};
    int rv = node == NULL ? 0 : weir_value_read(loader, row, node, &here, WEIR_SEVERITY_FATAL, out);

    return rv == WEIR_VALUE_WRONG ? WEIR_CONFIG_REFUSED : rv;
}

static bool is_control(struct weir_loader *loader, struct weir_slice key)
{
    return weir_loader_find(loader, WEIR_SECTION_LIMIT, key) != NULL || weir_slice_eq(key, retries_row.key) ||
           weir_slice_eq(key, request_timeout_row.key) || weir_slice_eq(key, WEIR_SLICE("model"));
}

/* The keys of a dict target that change the request of its hop, as JSON; empty when there are none. */
static struct weir_slice overrides_of(struct weir_loader *loader, const struct weir_yaml *map)
{
    struct weir_yaml rest = *map;

    rest.count = 0;
    rest.pairs = weir_arena_zalloc(loader->arena, map->count + 1, sizeof(*rest.pairs));
    for (size_t i = 0; rest.pairs != NULL && i < map->count; i++)
        if (!is_control(loader, map->pairs[i].key->text))
            rest.pairs[rest.count++] = map->pairs[i];
    return rest.count == 0 ? WEIR_SLICE_EMPTY : weir_tree_json(&rest, false, loader->arena);
}

/* The limits of a dict target; `timeout` beats its second spelling. */
static int read_target_limits(struct weir_loader *loader, const struct weir_yaml *map,
                              const struct weir_path *path, struct weir_limits *limits)
{
    int rv = read_control(loader, map, path, &request_timeout_row, &limits->timeout_ns);

    for (int id = 0; rv == 0 && id < WEIR_LIMITS; id++) {
        const struct weir_setting_row *row = weir_schema_limit((enum weir_limit_id)id);

        rv = read_control(loader, map, path, row, (char *)limits + row->offset);
    }
    return rv;
}

static int read_dict_target(struct weir_loader *loader, const struct weir_yaml *map,
                            const struct weir_path *path, struct weir_target *target)
{
    const struct weir_yaml *model = weir_yaml_get(map, WEIR_SLICE("model"));
    int rv;

    if (model == NULL || model->kind != WEIR_YAML_TEXT)
        return refuse(loader, model == NULL ? map : model, path,
                      WEIR_SLICE("the target's group under `model`: {model: GROUP, ...}"));
    target->model = model->text;
    target->overrides = overrides_of(loader, map);
    rv = read_control(loader, map, path, &retries_row, &target->controls.num_retries);
    if (rv == 0)
        rv = read_target_limits(loader, map, path, &target->controls.limits);
    return rv;
}

/* A list of targets: names of groups, or maps with a model. */
static int read_targets(struct weir_loader *loader, const struct weir_yaml *list,
                        const struct weir_path *path, struct weir_target **ret_targets)
{
    struct weir_target *targets = weir_arena_zalloc(loader->arena, list->count + 1, sizeof(*targets));
    int rv = targets == NULL ? WEIR_ERR_NOMEM : 0;

    for (size_t i = 0; rv == 0 && i < list->count; i++) {
        const struct weir_yaml *item = list->items[i];
        struct weir_path here = {path, WEIR_SLICE_EMPTY, i};

        targets[i].controls = WEIR_CONTROLS_NONE;
        targets[i].model = item->text;
        if (item->kind == WEIR_YAML_MAP)
            rv = read_dict_target(loader, item, &here, &targets[i]);
        else if (item->kind != WEIR_YAML_TEXT || item->text.len == 0)
            rv = refuse(loader, item, &here, WEIR_SLICE("the name of a group, or {model: GROUP, ...}"));
    }
    if (rv == 0)
        *ret_targets = targets;
    return rv;
}

static int read_chain(struct weir_loader *loader, const struct weir_yaml *item, const struct weir_path *path,
                      weir_list_kind kind, weir_list_source source)
{
    const struct weir_slice shape =
        WEIR_SLICE("a map from one group to a list of groups, such as `- group-a: [group-b, group-c]`");
    struct weir_target *targets = NULL;
    struct weir_path here = {path, WEIR_SLICE_EMPTY, 0};
    struct weir_chain chain;
    int rv;

    if (item->kind != WEIR_YAML_MAP)
        return refuse(loader, item, path, shape);
    if (item->count != 1) {
        WEIR_REPORT(loader, FATAL, item, path, WEIR_SLICE("found a map of "),
                    item->count == 0 ? WEIR_SLICE("no key") : WEIR_SLICE("several keys"),
                    WEIR_SLICE(", expected "), shape);
        return WEIR_CONFIG_REFUSED;
    }
    here.key = item->pairs[0].key->text;
    if (item->pairs[0].value->kind != WEIR_YAML_LIST)
        return refuse(loader, item->pairs[0].value, &here, shape);
    rv = read_targets(loader, item->pairs[0].value, &here, &targets);
    if (rv != 0)
        return rv;
    chain = (struct weir_chain){here.key, targets, item->pairs[0].value->count};
    rv = weir_snapshot_add_chain(loader->builder, kind, source, &chain);
    if (rv == WEIR_ERR_INVALID)
        return refuse(loader, item->pairs[0].key, path, shape);
    if (rv == WEIR_SNAPSHOT_EXISTS)
        WEIR_REPORT(loader, WARNING, item, path, WEIR_SLICE("a second entry for `"), chain.group,
                    WEIR_SLICE("`, never used: the first one holds"));
    return rv == WEIR_SNAPSHOT_EXISTS ? 0 : rv;
}

static int read_list(struct weir_loader *loader, const struct weir_yaml *section, size_t origin,
                     const struct list_row *row)
{
    const struct weir_yaml *list = weir_yaml_get(section, row->key);
    struct weir_path top = {NULL, weir_section_key(origins[origin].section), 0};
    struct weir_path path = {&top, row->key, 0};
    int rv = 0;

    if (list == NULL)
        return 0;
    if (list->kind != WEIR_YAML_LIST)
        return refuse(loader, list, &path,
                      WEIR_SLICE("a list of maps from one group to a list of groups, such as "
                                 "`- group-a: [group-b, group-c]`"));
    for (size_t i = 0; rv == 0 && i < list->count; i++) {
        struct weir_path here = {&path, WEIR_SLICE_EMPTY, i};

        rv = read_chain(loader, list->items[i], &here, row->kind, origins[origin].source);
    }
    return rv;
}

static int read_default_fallbacks(struct weir_loader *loader, const struct weir_yaml *section, size_t origin)
{
    struct weir_slice key = WEIR_SLICE("default_fallbacks");
    const struct weir_yaml *list = weir_yaml_get(section, key);
    struct weir_path top = {NULL, weir_section_key(origins[origin].section), 0};
    struct weir_path path = {&top, key, 0};
    struct weir_target *targets = NULL;
    int rv;

    if (list == NULL)
        return 0;
    if (list->kind != WEIR_YAML_LIST)
        return refuse(loader, list, &path, WEIR_SLICE("a list of groups, such as [group-b, group-c]"));
    rv = list->count == 0 ? 0 : read_targets(loader, list, &path, &targets);
    if (rv != 0 || list->count == 0)
        return rv;
    return weir_snapshot_set_default_fallbacks(loader->builder, origins[origin].source, targets, list->count);
}

/* One alias; a wrong one is left out with an error. */
static int read_alias(struct weir_loader *loader, const struct weir_yaml_pair *pair,
                      const struct weir_path *path)
{
    const struct weir_yaml *target = pair->value;
    bool hidden = false;
    int rv = 0;

    if (target->kind == WEIR_YAML_MAP) {
        rv = read_control(loader, target, path, &hidden_row, &hidden);
        target = weir_yaml_get(target, WEIR_SLICE("model"));
    }
    if (rv != 0)
        return rv;
    if (target == NULL || target->kind != WEIR_YAML_TEXT || target->text.len == 0 ||
        pair->key->text.len == 0) {
        WEIR_REPORT(loader, ERROR, pair->value, path, WEIR_SLICE("found "), weir_yaml_kind_name(pair->value),
                    WEIR_SLICE(", expected a group, or {model: GROUP, hidden: true}; the alias is left out"));
        return 0;
    }
    rv = weir_snapshot_add_alias(loader->builder, pair->key->text, target->text, hidden);
    return rv == WEIR_SNAPSHOT_EXISTS ? 0 : rv;
}

static int read_group_policy(struct weir_loader *loader, const struct weir_yaml_pair *pair,
                             const struct weir_path *path)
{
    struct weir_policy policy;
    int rv;

    if (pair->value->kind == WEIR_YAML_NULL)
        return 0;
    weir_policy_init(&policy);
    rv = weir_value_read(loader, &retry_policy_row, pair->value, path, WEIR_SEVERITY_FATAL, &policy);
    if (rv == WEIR_VALUE_WRONG)
        return WEIR_CONFIG_REFUSED;
    if (rv == 0)
        rv = weir_snapshot_add_retry_policy(loader->builder, pair->key->text, &policy);
    return rv == WEIR_SNAPSHOT_EXISTS ? 0 : rv;
}

typedef int read_pair_fn(struct weir_loader *loader, const struct weir_yaml_pair *pair,
                         const struct weir_path *path);

/* The name that answers report instead of another (RS 3.10). */
static int read_rename(struct weir_loader *loader, const struct weir_yaml_pair *pair,
                       const struct weir_path *path)
{
    int rv;

    if (pair->value->kind == WEIR_YAML_NULL)
        return 0;
    if (pair->value->kind != WEIR_YAML_TEXT || pair->value->text.len == 0)
        return refuse(loader, pair->value, path, WEIR_SLICE("the name to report instead"));
    rv = weir_map_add(&loader->config->renames, pair->key->text, &pair->value->text);
    return rv == WEIR_MAP_EXISTS ? 0 : rv;
}

/* A map of a section, pair by pair. */
static int read_map(struct weir_loader *loader, enum weir_section section, struct weir_slice key,
                    struct weir_slice expected, read_pair_fn *read_pair)
{
    struct weir_path top = {NULL, weir_section_key(section), 0};
    struct weir_path path = {&top, key, 0};
    const struct weir_yaml *map = weir_yaml_get(weir_yaml_get(loader->root, top.key), key);
    int rv = 0;

    if (map == NULL)
        return 0;
    if (map->kind != WEIR_YAML_MAP)
        return refuse(loader, map, &path, expected);
    for (size_t i = 0; rv == 0 && i < map->count; i++) {
        struct weir_path here = {&path, map->pairs[i].key->text, 0};

        rv = read_pair(loader, &map->pairs[i], &here);
    }
    return rv;
}

int weir_chains_read(struct weir_loader *loader)
{
    int rv = 0;

    for (size_t o = 0; rv == 0 && o < ORIGINS; o++) {
        const struct weir_yaml *section = weir_yaml_get(loader->root, weir_section_key(origins[o].section));

        for (size_t i = 0; rv == 0 && i < LISTS; i++)
            rv = read_list(loader, section, o, &lists[i]);
        if (rv == 0)
            rv = read_default_fallbacks(loader, section, o);
    }
    if (rv == 0)
        rv = read_map(loader, WEIR_SECTION_ROUTER, WEIR_SLICE("model_group_alias"),
                      WEIR_SLICE("a map of names to groups"), read_alias);
    if (rv == 0)
        rv = read_map(loader, WEIR_SECTION_ROUTER, WEIR_SLICE("model_group_retry_policy"),
                      WEIR_SLICE("a map of groups to retry policies"), read_group_policy);
    if (rv == 0)
        rv = read_map(loader, WEIR_SECTION_LITELLM, WEIR_SLICE("model_alias_map"),
                      WEIR_SLICE("a map of model names to the names to report"), read_rename);
    return rv;
}

/* Whether a group's name is the bare spelling of a provider-prefixed one, or the reverse (RS 11.3). */
static bool has_sibling(const weir_snapshot *snapshot, struct weir_slice name)
{
    size_t slash = weir_slice_find_char(name, '/');

    if (slash != WEIR_SLICE_NONE && weir_snapshot_knows(snapshot, weir_slice_sub(name, slash + 1, name.len)))
        return true;
    for (size_t i = 0; i < weir_snapshot_group_count(snapshot); i++) {
        struct weir_slice group = weir_snapshot_group_name(snapshot, i);

        if (group.len > name.len && weir_slice_ends(group, name) &&
            group.ptr[group.len - name.len - 1] == '/')
            return true;
    }
    return false;
}

static void check_name(struct weir_loader *loader, struct weir_slice name, bool source,
                       const struct weir_yaml *node, const struct weir_path *path)
{
    const weir_snapshot *snapshot = loader->config->snapshot;

    if (name.len == 0 || weir_snapshot_knows(snapshot, name))
        return;
    if (source && (weir_slice_eq(name, WEIR_SLICE("*")) || has_sibling(snapshot, name)))
        return;
    WEIR_REPORT(loader, WARNING, node, path, WEIR_SLICE("no group `"), node->variable ? node->written : name,
                source ? WEIR_SLICE("`: the entry is never used")
                       : WEIR_SLICE("`: a request that gets here fails"));
}

static void check_targets(struct weir_loader *loader, const struct weir_yaml *list,
                          const struct weir_path *path)
{
    for (size_t i = 0; list != NULL && list->kind == WEIR_YAML_LIST && i < list->count; i++) {
        const struct weir_yaml *item = list->items[i];
        struct weir_path here = {path, WEIR_SLICE_EMPTY, i};

        if (item->kind == WEIR_YAML_MAP)
            item = weir_yaml_get(item, WEIR_SLICE("model"));
        if (item != NULL)
            check_name(loader, item->text, false, item, &here);
    }
}

static void check_list(struct weir_loader *loader, const struct weir_yaml *list, const struct weir_path *path)
{
    for (size_t i = 0; list != NULL && i < list->count; i++) {
        const struct weir_yaml_pair *pair = &list->items[i]->pairs[0];
        struct weir_path here = {path, WEIR_SLICE_EMPTY, i};
        struct weir_path targets = {&here, pair->key->text, 0};

        check_name(loader, pair->key->text, true, list->items[i], &here);
        check_targets(loader, pair->value, &targets);
    }
}

static void check_router_map(struct weir_loader *loader, struct weir_slice key, bool keys)
{
    struct weir_path top = {NULL, weir_section_key(WEIR_SECTION_ROUTER), 0};
    struct weir_path path = {&top, key, 0};
    const struct weir_yaml *map = weir_yaml_get(weir_yaml_get(loader->root, top.key), key);

    for (size_t i = 0; map != NULL && i < map->count; i++) {
        const struct weir_yaml *node = keys ? map->pairs[i].key : map->pairs[i].value;
        struct weir_path here = {&path, map->pairs[i].key->text, 0};

        if (!keys && node->kind == WEIR_YAML_MAP)
            node = weir_yaml_get(node, WEIR_SLICE("model"));
        if (node != NULL && node->kind == WEIR_YAML_TEXT)
            check_name(loader, node->text, keys, node, &here);
    }
}

void weir_chains_check(struct weir_loader *loader)
{
    for (size_t o = 0; o < ORIGINS; o++) {
        struct weir_path top = {NULL, weir_section_key(origins[o].section), 0};
        const struct weir_yaml *section = weir_yaml_get(loader->root, top.key);

        for (size_t i = 0; i < LISTS; i++) {
            struct weir_path path = {&top, lists[i].key, 0};

            check_list(loader, weir_yaml_get(section, lists[i].key), &path);
        }
        check_targets(loader, weir_yaml_get(section, WEIR_SLICE("default_fallbacks")),
                      &(struct weir_path){&top, WEIR_SLICE("default_fallbacks"), 0});
    }
    check_router_map(loader, WEIR_SLICE("model_group_alias"), false);
    check_router_map(loader, WEIR_SLICE("model_group_retry_policy"), true);
}
