/*
 * A routing group is a set of its own, made of the members of its models' groups, and the strategy of those
 * groups' sets.  PRIORITY is no way to choose but a way to order: its numbers become the orders of the set,
 * so what walks over orders walks over its models, and within one the router's strategy chooses.
 */
#include "engine/snapshot/routing.h"

#include <weir/error.h>

#include "base/slice.h"
#include "engine/snapshot/pools.h"
#include "engine/snapshot/wildcard.h"
#include "engine/strategy/strategy.h"

static bool is_priority(const struct weir_routing_group *group)
{
    return group->strategy.strategy == WEIR_STRATEGY_PRIORITY;
}

bool weir_routing_is_valid(const struct weir_routing_group *group)
{
    if (group->name.len == 0 || weir_slice_eq(group->name, WEIR_SLICE("default")))
        return false;
    for (size_t i = 0; i < group->count; i++)
        if (group->models[i].len == 0)
            return false;
    return is_priority(group) ? group->count == 0 || group->priorities != NULL
                              : weir_strategy_is_valid(&group->strategy);
}

/* The group with each model once, in the arena; seen is empty.  0 or WEIR_ERR_NOMEM. */
static int copy(struct weir_arena *arena, const struct weir_routing_group *group, struct weir_map *seen,
                struct weir_routing_group *ret_copied)
{
    struct weir_slice *models = weir_arena_zalloc(arena, group->count, sizeof(*models));
    int32_t *priorities = weir_arena_zalloc(arena, group->count, sizeof(*priorities));
    struct weir_routing_group copied = {.name = weir_arena_copy(arena, group->name),
                                        .strategy = group->strategy};
    int r;

    if (weir_arena_failed(arena))
        return WEIR_ERR_NOMEM;
    for (size_t i = 0; i < group->count; i++) {
        r = weir_map_add(seen, group->models[i], models);
        if (r < 0)
            return r;
        if (r == WEIR_MAP_EXISTS)
            continue;
        models[copied.count] = weir_arena_copy(arena, group->models[i]);
        priorities[copied.count++] = is_priority(group) ? group->priorities[i] : WEIR_UNSET_ORDER;
    }
    copied.models = models;
    copied.priorities = priorities;
    *ret_copied = copied;
    return weir_arena_failed(arena) ? WEIR_ERR_NOMEM : 0;
}

int weir_routing_add(weir_snapshot *snapshot, const struct weir_routing_group *group,
                     struct weir_routing **ret_routing)
{
    struct weir_routing *routing;
    struct weir_map seen;
    int r;

    for (size_t i = 0; !is_priority(group) && i < group->count; i++)
        if (weir_map_get(&snapshot->routed, group->models[i]) != NULL)
            return WEIR_ERR_INVALID;
    routing = weir_arena_zalloc(&snapshot->arena, 1, sizeof(*routing));
    if (routing == NULL)
        return WEIR_ERR_NOMEM;
    weir_map_init(&seen, snapshot->mem, WEIR_SNAPSHOT_NAMES_MAX);
    r = copy(&snapshot->arena, group, &seen, &routing->spec);
    weir_map_deinit(&seen);
    if (r < 0)
        return r;
    routing->set.name = routing->spec.name;
    r = weir_map_add(&snapshot->by_routing, routing->spec.name, routing);
    for (size_t i = 0; r == 0 && !is_priority(group) && i < routing->spec.count; i++)
        r = weir_map_add(&snapshot->routed, routing->spec.models[i], routing);
    if (r != 0)
        return r < 0 ? r : WEIR_ERR_INTERNAL;
    *ret_routing = routing;
    return 0;
}

const struct weir_strategy_spec *weir_routing_strategy(const weir_snapshot *snapshot,
                                                       struct weir_slice model_group)
{
    const struct weir_routing *routing = weir_map_get(&snapshot->routed, model_group);

    return routing == NULL ? &snapshot->spec.strategy : &routing->spec.strategy;
}

/* Nothing fills the stars of a provider's model when a routing group is asked for. */
static bool can_serve(const weir_deployment *deployment)
{
    return weir_wildcard_stars(deployment->spec.model) == 0;
}

static uint32_t count_members(const weir_snapshot *snapshot, const struct weir_routing *routing)
{
    const struct weir_set *group;
    uint32_t count = 0;

    for (size_t i = 0; i < routing->spec.count; i++) {
        group = weir_map_get(&snapshot->by_group, routing->spec.models[i]);
        count += group == NULL ? 0 : group->count;
    }
    return count;
}

static void add_members(struct weir_set *set, const struct weir_set *group)
{
    for (uint32_t i = 0; i < group->count; i++)
        if (can_serve(group->members[i]))
            set->members[set->count++] = group->members[i];
}

/* The priorities as the orders that the set gives its models. */
static void give_orders(struct weir_arena *arena, struct weir_routing *routing)
{
    const struct weir_routing_group *spec = &routing->spec;
    int32_t *orders = weir_arena_zalloc(arena, spec->count, sizeof(*orders));

    weir_map_init(&routing->set.orders, weir_arena_mem(arena), spec->count);
    for (size_t i = 0; orders != NULL && i < spec->count; i++) {
        orders[i] = spec->priorities[i];
        if (weir_map_add(&routing->set.orders, spec->models[i], &orders[i]) != 0)
            return;
    }
}

static void build(weir_snapshot *snapshot, struct weir_routing *routing)
{
    struct weir_arena *arena = &snapshot->arena;
    struct weir_set *set = &routing->set;
    const struct weir_set *group;

    set->members = weir_arena_zalloc(arena, count_members(snapshot, routing), sizeof(*set->members));
    set->strategy = is_priority(&routing->spec) ? &snapshot->spec.strategy : &routing->spec.strategy;
    if (is_priority(&routing->spec))
        give_orders(arena, routing);
    if (weir_arena_failed(arena))
        return;
    for (size_t i = 0; i < routing->spec.count; i++) {
        group = weir_map_get(&snapshot->by_group, routing->spec.models[i]);
        if (group != NULL)
            add_members(set, group);
    }
    weir_snapshot_make_tiers(snapshot, set);
    weir_pools_build(snapshot, set);
}

void weir_routing_build(weir_snapshot *snapshot)
{
    for (size_t i = 0; i < snapshot->routing_count; i++)
        build(snapshot, snapshot->routings[i]);
}
