/*
 * Model: each item of routing_groups becomes one group of the engine; what spans several items (a name or a
 * model that stands twice) is known by the maps of one pass.  What is wrong refuses the start; a member that
 * does not exist is a warning, since the deployments of a group may be left out for a mistake of their own.
 */
#include "config/routing.h"

#include <weir/error.h>

#include "base/map.h"
#include "base/slice.h"
#include "config/groups.h"
#include "config/strategy.h"
#include "config/value.h"

struct reading {
    struct weir_loader *loader;
    const struct weir_path *list;
    struct weir_map names;  /* of routing groups, to their key's node */
    struct weir_map owners; /* a model to the node of the routing group that has it */
};

/* One item. */
struct item {
    const struct weir_yaml *node;
    struct weir_path path;
    struct weir_routing_group group;
    struct weir_map places; /* a model's first place in group.models */
};

static const struct weir_yaml *router_key(const struct weir_loader *loader, struct weir_slice key)
{
    return weir_yaml_get(weir_yaml_get(loader->root, weir_section_key(WEIR_SECTION_ROUTER)), key);
}

static int refuse(const struct reading *reading, const struct weir_yaml *node, const struct weir_path *path,
                  struct weir_slice what, struct weir_slice more)
{
    WEIR_REPORT(reading->loader, FATAL, node, path, what, more);
    return WEIR_CONFIG_REFUSED;
}

static int expect(const struct reading *reading, const struct weir_yaml *node, const struct weir_path *path,
                  struct weir_slice expected)
{
    WEIR_REPORT(reading->loader, FATAL, node, path, WEIR_SLICE("found "), weir_yaml_kind_name(node),
                WEIR_SLICE(", expected "), expected);
    return WEIR_CONFIG_REFUSED;
}

static void tell_keys(const struct reading *reading, const struct item *item)
{
    for (size_t i = 0; i < item->node->count; i++) {
        const struct weir_yaml *key = item->node->pairs[i].key;
        struct weir_path here = {&item->path, key->text, 0};

        if (weir_loader_find(reading->loader, WEIR_SECTION_RGROUP, key->text) == NULL)
            weir_loader_unread_key(reading->loader, WEIR_SECTION_RGROUP, key, &here);
    }
}

static int read_name(struct reading *reading, struct item *item)
{
    struct weir_path path = {&item->path, WEIR_SLICE("group_name"), 0};
    struct weir_yaml *node = weir_yaml_get(item->node, path.key);
    int rv;

    if (node == NULL)
        return refuse(reading, item->node, &item->path, WEIR_SLICE("no group_name"), WEIR_SLICE_EMPTY);
    if (node->kind != WEIR_YAML_TEXT || node->text.len == 0)
        return expect(reading, node, &path, WEIR_SLICE("a name that is not empty"));
    if (weir_slice_eq(node->text, WEIR_SLICE("default")))
        return refuse(reading, node, &path, WEIR_SLICE("the name default is taken: it stands for all groups"),
                      WEIR_SLICE(" that are in no routing group"));
    rv = weir_map_add(&reading->names, node->text, node);
    if (rv == WEIR_MAP_EXISTS)
        return refuse(reading, node, &path, WEIR_SLICE("another routing group has this name"),
                      WEIR_SLICE_EMPTY);
    item->group.name = node->text;
    return rv;
}

static int read_strategy(struct reading *reading, struct item *item)
{
    struct weir_path path = {&item->path, WEIR_SLICE("routing_strategy"), 0};
    struct weir_path args = {&item->path, WEIR_SLICE("routing_strategy_args"), 0};
    const struct weir_yaml *node = weir_yaml_get(item->node, path.key);
    weir_strategy strategy = WEIR_STRATEGY_SIMPLE_SHUFFLE;
    int rv;

    if (node == NULL)
        return refuse(reading, item->node, &item->path, WEIR_SLICE("no routing_strategy"), WEIR_SLICE_EMPTY);
    rv = weir_strategy_read(reading->loader, node, &path, true, &strategy);
    weir_strategy_spec_init(&item->group.strategy, strategy);
    reading->loader->shuffles |= rv == 0 && strategy == WEIR_STRATEGY_SIMPLE_SHUFFLE;
    return rv != 0 ? rv
                   : weir_strategy_args_read(reading->loader, weir_yaml_get(item->node, args.key), &args,
                                             &item->group.strategy);
}

/* A model has one strategy, so it is in one group; who asks for a priority group goes by the order alone. */
static int claim(struct reading *reading, struct item *item, struct weir_yaml *node, struct weir_slice *model,
                 const struct weir_path *path)
{
    int rv;

    if (node->kind != WEIR_YAML_TEXT || node->text.len == 0)
        return expect(reading, node, path, WEIR_SLICE("the name of a group"));
    *model = node->text;
    rv = weir_map_add(&item->places, node->text, model);
    if (rv < 0)
        return rv;
    if (rv == WEIR_MAP_EXISTS) {
        WEIR_REPORT(reading->loader, WARNING, node, path, WEIR_SLICE("named before in this list"));
        return 0;
    }
    if (item->group.strategy.strategy == WEIR_STRATEGY_PRIORITY)
        return 0;
    rv = weir_map_add(&reading->owners, node->text, node);
    return rv == WEIR_MAP_EXISTS
               ? refuse(reading, node, path, node->text, WEIR_SLICE(" is in a routing group already"))
               : rv;
}

static int read_models(struct reading *reading, struct item *item)
{
    struct weir_path path = {&item->path, WEIR_SLICE("models"), 0};
    const struct weir_yaml *list = weir_yaml_get(item->node, path.key);
    struct weir_slice *models;

    if (list == NULL)
        return refuse(reading, item->node, &item->path, WEIR_SLICE("no models"), WEIR_SLICE_EMPTY);
    if (list->kind != WEIR_YAML_LIST || list->count == 0)
        return expect(reading, list, &path, WEIR_SLICE("a list of groups that is not empty"));
    models = weir_arena_zalloc(reading->loader->arena, list->count, sizeof(*models));
    if (models == NULL)
        return WEIR_ERR_NOMEM;
    for (size_t i = 0; i < list->count; i++) {
        struct weir_path here = {&path, WEIR_SLICE_EMPTY, i};
        int rv = claim(reading, item, list->items[i], &models[i], &here);

        if (rv != 0)
            return rv;
    }
    item->group.models = models;
    item->group.count = list->count;
    return 0;
}

static int read_priority(struct reading *reading, const struct item *item, const struct weir_yaml_pair *pair,
                         const struct weir_path *path, int32_t *priorities)
{
    static const struct weir_setting_row row = {.type = WEIR_VALUE_I32, .min = -1000000, .max = 1000000};
    struct weir_path here = {path, pair->key->text, 0};
    const struct weir_slice *model = weir_map_get(&item->places, pair->key->text);
    int32_t number = WEIR_UNSET_ORDER;
    int rv = weir_value_read(reading->loader, &row, pair->value, &here, WEIR_SEVERITY_FATAL, &number);

    if (rv != 0)
        return rv == WEIR_VALUE_WRONG ? WEIR_CONFIG_REFUSED : rv;
    if (model != NULL)
        priorities[model - item->group.models] = number;
    else
        WEIR_REPORT(reading->loader, WARNING, pair->key, &here, WEIR_SLICE("not one of the group's models"));
    return 0;
}

static int read_priorities(struct reading *reading, struct item *item)
{
    struct weir_path path = {&item->path, WEIR_SLICE("model_priorities"), 0};
    const struct weir_yaml *map = weir_yaml_get(item->node, path.key);
    int32_t *priorities;
    int rv = 0;

    if (item->group.strategy.strategy != WEIR_STRATEGY_PRIORITY) {
        if (map != NULL)
            WEIR_REPORT(reading->loader, WARNING, map, &path,
                        WEIR_SLICE("only the strategy priority looks at them; no effect"));
        return 0;
    }
    if (map == NULL)
        return refuse(reading, item->node, &item->path,
                      WEIR_SLICE("no model_priorities, which the strategy "), WEIR_SLICE("priority goes by"));
    if (map->kind != WEIR_YAML_MAP)
        return expect(reading, map, &path, WEIR_SLICE("a map of groups to whole numbers"));
    priorities = weir_arena_zalloc(reading->loader->arena, item->group.count, sizeof(*priorities));
    if (priorities == NULL)
        return WEIR_ERR_NOMEM;
    for (size_t i = 0; i < item->group.count; i++)
        priorities[i] = WEIR_UNSET_ORDER;
    for (size_t i = 0; rv == 0 && i < map->count; i++)
        rv = read_priority(reading, item, &map->pairs[i], &path, priorities);
    item->group.priorities = priorities;
    return rv;
}

/* What could be wrong with it was found before. */
static int add(const struct reading *reading, const struct weir_routing_group *group)
{
    int rv = weir_snapshot_add_routing_group(reading->loader->builder, group);

    return rv > 0 ? WEIR_ERR_INTERNAL : rv;
}

static int read_members(struct reading *reading, struct item *item)
{
    int rv = read_name(reading, item);

    if (rv == 0)
        rv = read_strategy(reading, item);
    if (rv == 0)
        rv = read_models(reading, item);
    if (rv == 0)
        rv = read_priorities(reading, item);
    return rv == 0 ? add(reading, &item->group) : rv;
}

static int read_item(struct reading *reading, const struct weir_yaml *node, size_t index)
{
    struct item item = {.node = node, .path = {reading->list, WEIR_SLICE_EMPTY, index}};
    int rv;

    if (node->kind != WEIR_YAML_MAP)
        return expect(reading, node, &item.path,
                      WEIR_SLICE("a map with group_name, models and "
                                 "routing_strategy"));
    tell_keys(reading, &item);
    weir_map_init(&item.places, reading->loader->arena->mem, node->nodes);
    rv = read_members(reading, &item);
    weir_map_deinit(&item.places);
    return rv;
}

static int read_items(struct reading *reading, const struct weir_yaml *list)
{
    int worst = 0;

    for (size_t i = 0; i < list->count; i++) {
        int rv = read_item(reading, list->items[i], i);

        if (rv < 0)
            return rv;
        worst = rv > worst ? rv : worst;
    }
    return worst;
}

static int read_groups(struct weir_loader *loader)
{
    struct weir_path top = {NULL, weir_section_key(WEIR_SECTION_ROUTER), 0};
    struct weir_path path = {&top, WEIR_SLICE("routing_groups"), 0};
    struct reading reading = {.loader = loader, .list = &path};
    const struct weir_yaml *list = router_key(loader, path.key);
    int rv;

    if (list == NULL)
        return 0;
    if (list->kind != WEIR_YAML_LIST)
        return expect(&reading, list, &path, WEIR_SLICE("a list of routing groups"));
    weir_map_init(&reading.names, loader->arena->mem, list->count);
    weir_map_init(&reading.owners, loader->arena->mem, list->nodes);
    rv = read_items(&reading, list);
    weir_map_deinit(&reading.owners);
    weir_map_deinit(&reading.names);
    return rv;
}

int weir_routing_read(struct weir_loader *loader)
{
    struct weir_path top = {NULL, weir_section_key(WEIR_SECTION_ROUTER), 0};
    struct weir_path path = {&top, WEIR_SLICE("routing_strategy_args"), 0};
    int rv, args;

    weir_strategy_spec_init(&loader->strategy, loader->config->settings.strategy);
    loader->shuffles = loader->strategy.strategy == WEIR_STRATEGY_SIMPLE_SHUFFLE;
    args = weir_strategy_args_read(loader, router_key(loader, path.key), &path, &loader->strategy);
    rv = args < 0 ? args : read_groups(loader);
    return rv < 0 || rv > args ? rv : args;
}

/* Siblings are drawn by weight, which one strategy does alone (RS 13.2). */
static void check_failover(struct weir_loader *loader, const struct weir_path *top)
{
    struct weir_path path = {top, WEIR_SLICE("enable_weighted_failover"), 0};

    if (loader->config->settings.weighted_failover && !loader->shuffles)
        WEIR_REPORT(
            loader, WARNING, router_key(loader, path.key), &path,
            WEIR_SLICE("only the strategy simple-shuffle has it, which nothing here uses; no effect"));
}

void weir_routing_check(struct weir_loader *loader)
{
    struct weir_path top = {NULL, weir_section_key(WEIR_SECTION_ROUTER), 0};
    struct weir_path path = {&top, WEIR_SLICE("routing_groups"), 0};
    const struct weir_yaml *list = router_key(loader, path.key);

    check_failover(loader, &top);
    for (size_t i = 0; list != NULL && i < list->count; i++) {
        struct weir_path item = {&path, WEIR_SLICE_EMPTY, i};
        struct weir_path models = {&item, WEIR_SLICE("models"), 0};
        const struct weir_yaml *members = weir_yaml_get(list->items[i], models.key);

        for (size_t m = 0; m < members->count; m++) {
            struct weir_path here = {&models, WEIR_SLICE_EMPTY, m};

            weir_groups_check_name(loader, members->items[m], &here);
        }
    }
}
