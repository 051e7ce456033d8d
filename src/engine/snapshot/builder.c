/*
 * The builder is an unfinished snapshot: everything added is copied into the snapshot's arena at once, names
 * go into its maps, and building only cuts the groups into tiers and puts the wildcards in order.
 *
 * Memory that runs out shows in the arena's sticky flag; a builder whose arena failed refuses everything
 * afterwards and can only be freed.
 */
#include <weir/snapshot.h>

#include <math.h>
#include <string.h>

#include <weir/error.h>

#include "base/bag.h"
#include "base/slice.h"
#include "base/time.h"
#include "engine/snapshot/limits.h"
#include "engine/snapshot/policy.h"
#include "engine/snapshot/pools.h"
#include "engine/snapshot/resilience.h"
#include "engine/snapshot/routing.h"
#include "engine/snapshot/sharing.h"
#include "engine/snapshot/snapshot.h"
#include "engine/snapshot/wildcard.h"
#include "engine/strategy/strategy.h"

struct weir_snapshot_builder {
    const struct weir_mem *mem;
    weir_snapshot *snapshot; /* NULL: nothing was added yet */
    struct weir_router_spec spec;
    struct weir_bag deployments;
    struct weir_bag groups;
    struct weir_bag models;
    struct weir_bag aliases;
    struct weir_bag routings;
    struct weir_bag chains[WEIR_LIST_KINDS][WEIR_LIST_SOURCES];
};

int weir_snapshot_builder_new(const struct weir_mem *mem, weir_snapshot_builder **ret_builder)
{
    weir_snapshot_builder *b = mem->alloc(mem->user, sizeof(*b));

    if (b == NULL)
        return WEIR_ERR_NOMEM;
    *b = (weir_snapshot_builder){.mem = mem};
    weir_router_spec_init(&b->spec);
    *ret_builder = b;
    return 0;
}

void weir_snapshot_builder_free(weir_snapshot_builder *builder)
{
    if (builder == NULL)
        return;
    weir_snapshot_unref(builder->snapshot);
    builder->mem->free(builder->mem->user, builder, sizeof(*builder));
}

/* Makes sure that there is a snapshot to add to. */
static int begin(weir_snapshot_builder *b)
{
    if (b->snapshot == NULL)
        return weir_snapshot_new(b->mem, &b->snapshot);
    return weir_arena_failed(&b->snapshot->arena) ? WEIR_ERR_NOMEM : 0;
}

static int end(const weir_snapshot_builder *b)
{
    return weir_arena_failed(&b->snapshot->arena) ? WEIR_ERR_NOMEM : 0;
}

/* Files what was made under a name that the map does not have, unless making it ran out of memory. */
static int add_name(const weir_snapshot_builder *b, struct weir_map *map, struct weir_slice name, void *value)
{
    int r = end(b);

    if (r == 0)
        r = weir_map_add(map, name, value);
    return r > 0 ? WEIR_ERR_INTERNAL : r;
}

/* Adds one to the set of that name, making it when it is new.  NULL only when memory ran out. */
static struct weir_set *count_in(weir_snapshot *s, struct weir_map *by_name, struct weir_bag *all,
                                 struct weir_slice name)
{
    struct weir_set *set = weir_map_get(by_name, name);

    if (set == NULL) {
        set = weir_arena_zalloc(&s->arena, 1, sizeof(*set));
        if (set == NULL)
            return NULL;
        set->name = name;
        if (weir_map_add(by_name, name, set) != 0 || weir_bag_add(all, &s->arena, set) != 0)
            return NULL;
    }
    set->count++;
    return set;
}

static bool spec_is_valid(const struct weir_deployment_spec *spec)
{
    return spec->id.len > 0 && spec->group.len > 0 && spec->model.len > 0 && isfinite(spec->weight) &&
           isfinite(spec->rpm) && isfinite(spec->tpm) && isfinite(spec->input_cost) &&
           isfinite(spec->output_cost) && isfinite(spec->limits.min_stream_rate.tokens_per_s) &&
           weir_wildcard_stars(spec->group) <= WEIR_WILDCARD_STARS_MAX;
}

static const struct weir_slice *copy_tags(struct weir_arena *arena, const struct weir_slice *tags,
                                          size_t count)
{
    struct weir_slice *copies = weir_arena_zalloc(arena, count, sizeof(*copies));

    for (size_t i = 0; copies != NULL && i < count; i++)
        copies[i] = weir_arena_copy(arena, tags[i]);
    return copies;
}

static const struct weir_access_window *copy_windows(struct weir_arena *arena,
                                                     const struct weir_access_window *windows, size_t count)
{
    struct weir_access_window *copies = weir_arena_zalloc(arena, count, sizeof(*copies));

    for (size_t i = 0; copies != NULL && i < count; i++) {
        size_t changes = windows[i].zone.count;
        struct weir_zone_change *zone = weir_arena_zalloc(arena, changes, sizeof(*zone));

        copies[i] = windows[i];
        copies[i].teams = copy_tags(arena, windows[i].teams, windows[i].team_count);
        copies[i].zone.changes = zone;
        if (zone != NULL && changes > 0)
            memcpy(zone, windows[i].zone.changes, changes * sizeof(*zone));
    }
    return copies;
}

/* A weight below zero draws no traffic, like none. */
static double at_least_zero(double weight)
{
    return weight > 0 ? weight : 0;
}

int weir_snapshot_add_deployment(weir_snapshot_builder *builder, const struct weir_deployment_spec *spec)
{
    weir_snapshot *s;
    weir_deployment *d;
    int r;

    if (!spec_is_valid(spec))
        return WEIR_ERR_INVALID;
    r = begin(builder);
    if (r < 0)
        return r;
    s = builder->snapshot;
    if (weir_map_get(&s->by_id, spec->id) != NULL)
        return WEIR_SNAPSHOT_EXISTS;
    d = weir_arena_zalloc(&s->arena, 1, sizeof(*d));
    if (d == NULL)
        return WEIR_ERR_NOMEM;
    d->spec = *spec;
    d->spec.id = weir_arena_copy(&s->arena, spec->id);
    d->spec.group = weir_arena_copy(&s->arena, spec->group);
    d->spec.model = weir_arena_copy(&s->arena, spec->model);
    d->spec.region = weir_arena_copy(&s->arena, spec->region);
    d->spec.tags = copy_tags(&s->arena, spec->tags, spec->tag_count);
    d->spec.windows = copy_windows(&s->arena, spec->windows, spec->window_count);
    d->weights[0] = at_least_zero(spec->weight);
    d->weights[1] = at_least_zero(spec->rpm);
    d->weights[2] = at_least_zero(spec->tpm);
    r = add_name(builder, &s->by_id, d->spec.id, d);
    if (r == 0)
        r = weir_bag_add(&builder->deployments, &s->arena, d);
    if (r != 0)
        return r;
    d->group = count_in(s, &s->by_group, &builder->groups, d->spec.group);
    (void)count_in(s, &s->by_model, &builder->models, d->spec.model);
    return end(builder);
}

int weir_snapshot_add_alias(weir_snapshot_builder *builder, struct weir_slice alias, struct weir_slice target,
                            bool hidden)
{
    struct weir_alias *a;
    int r;

    if (alias.len == 0 || target.len == 0)
        return WEIR_ERR_INVALID;
    r = begin(builder);
    if (r < 0)
        return r;
    if (weir_map_get(&builder->snapshot->by_alias, alias) != NULL)
        return WEIR_SNAPSHOT_EXISTS;
    a = weir_arena_zalloc(&builder->snapshot->arena, 1, sizeof(*a));
    if (a == NULL)
        return WEIR_ERR_NOMEM;
    a->name = weir_arena_copy(&builder->snapshot->arena, alias);
    a->target = weir_arena_copy(&builder->snapshot->arena, target);
    a->hidden = hidden;
    r = add_name(builder, &builder->snapshot->by_alias, a->name, a);
    return r != 0 ? r : weir_bag_add(&builder->aliases, &builder->snapshot->arena, a);
}

static bool targets_are_valid(const struct weir_target *targets, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (targets[i].model.len == 0)
            return false;
    return true;
}

static struct weir_target *copy_targets(struct weir_arena *arena, const struct weir_target *targets,
                                        size_t count)
{
    struct weir_target *copies = weir_arena_zalloc(arena, count, sizeof(*copies));

    for (size_t i = 0; copies != NULL && i < count; i++) {
        copies[i] = targets[i];
        copies[i].model = weir_arena_copy(arena, targets[i].model);
        copies[i].overrides = weir_arena_copy(arena, targets[i].overrides);
    }
    return copies;
}

int weir_snapshot_add_chain(weir_snapshot_builder *builder, weir_list_kind list, weir_list_source source,
                            const struct weir_chain *chain)
{
    struct weir_arena *arena;
    struct weir_map *by_group;
    struct weir_chain *c;
    int r;

    if (chain->group.len == 0 || !targets_are_valid(chain->targets, chain->count))
        return WEIR_ERR_INVALID;
    r = begin(builder);
    if (r < 0)
        return r;
    arena = &builder->snapshot->arena;
    by_group = &builder->snapshot->lists[list][source].by_group;
    if (weir_map_get(by_group, chain->group) != NULL)
        return WEIR_SNAPSHOT_EXISTS;
    c = weir_arena_zalloc(arena, 1, sizeof(*c));
    if (c == NULL)
        return WEIR_ERR_NOMEM;
    c->group = weir_arena_copy(arena, chain->group);
    c->targets = copy_targets(arena, chain->targets, chain->count);
    c->count = chain->count;
    r = add_name(builder, by_group, c->group, c);
    return r != 0 ? r : weir_bag_add(&builder->chains[list][source], arena, c);
}

int weir_snapshot_set_default_fallbacks(weir_snapshot_builder *builder, weir_list_source source,
                                        const struct weir_target *targets, size_t count)
{
    struct weir_default_chain *defaults;
    int r;

    if (!targets_are_valid(targets, count))
        return WEIR_ERR_INVALID;
    r = begin(builder);
    if (r < 0)
        return r;
    defaults = &builder->snapshot->defaults[source];
    *defaults = (struct weir_default_chain){copy_targets(&builder->snapshot->arena, targets, count), count};
    return end(builder);
}

int weir_snapshot_add_retry_policy(weir_snapshot_builder *builder, struct weir_slice group,
                                   const struct weir_policy *policy)
{
    struct weir_arena *arena;
    struct weir_slice name;
    struct weir_policy *copy;
    int r;

    if (group.len == 0)
        return WEIR_ERR_INVALID;
    r = begin(builder);
    if (r < 0)
        return r;
    if (weir_map_get(&builder->snapshot->retry_policies, group) != NULL)
        return WEIR_SNAPSHOT_EXISTS;
    arena = &builder->snapshot->arena;
    name = weir_arena_copy(arena, group);
    copy = weir_arena_zalloc(arena, 1, sizeof(*copy));
    if (copy == NULL)
        return WEIR_ERR_NOMEM;
    *copy = *policy;
    return add_name(builder, &builder->snapshot->retry_policies, name, copy);
}

int weir_snapshot_add_group(weir_snapshot_builder *builder, struct weir_slice group,
                            const struct weir_group_spec *spec)
{
    struct weir_arena *arena;
    struct weir_slice name;
    struct weir_group_spec *copy;
    int r;

    if (group.len == 0 || !isfinite(spec->limits.min_stream_rate.tokens_per_s) ||
        !weir_resilience_is_valid(&spec->resilience))
        return WEIR_ERR_INVALID;
    r = begin(builder);
    if (r < 0)
        return r;
    if (weir_map_get(&builder->snapshot->group_specs, group) != NULL)
        return WEIR_SNAPSHOT_EXISTS;
    arena = &builder->snapshot->arena;
    name = weir_arena_copy(arena, group);
    copy = weir_arena_alloc(arena, sizeof(*copy));
    if (copy == NULL)
        return WEIR_ERR_NOMEM;
    *copy = *spec;
    return add_name(builder, &builder->snapshot->group_specs, name, copy);
}

int weir_snapshot_add_routing_group(weir_snapshot_builder *builder, const struct weir_routing_group *group)
{
    struct weir_routing *routing;
    int r;

    if (!weir_routing_is_valid(group))
        return WEIR_ERR_INVALID;
    r = begin(builder);
    if (r < 0)
        return r;
    if (weir_map_get(&builder->snapshot->by_routing, group->name) != NULL)
        return WEIR_SNAPSHOT_EXISTS;
    r = weir_routing_add(builder->snapshot, group, &routing);
    return r != 0 ? r : weir_bag_add(&builder->routings, &builder->snapshot->arena, routing);
}

void weir_snapshot_set_router(weir_snapshot_builder *builder, const struct weir_router_spec *spec)
{
    builder->spec = *spec;
}

static bool router_is_valid(const struct weir_router_spec *spec)
{
    return weir_strategy_is_valid(&spec->strategy) && spec->failure_threshold >= 0 &&
           spec->failure_threshold <= 1 && spec->token_margin >= 0 && spec->token_margin <= 1 &&
           isfinite(spec->limits.min_stream_rate.tokens_per_s) && weir_resilience_is_valid(&spec->resilience);
}

static void fill_sets(weir_snapshot *s, struct weir_set **sets, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        sets[i]->members = weir_arena_zalloc(&s->arena, sets[i]->count, sizeof(*sets[i]->members));
        sets[i]->count = 0;
    }
}

static void add_member(struct weir_map *by_name, struct weir_slice name, const weir_deployment *d)
{
    struct weir_set *set = weir_map_get(by_name, name);

    set->members[set->count++] = d;
}

static void build_sets(weir_snapshot *s)
{
    fill_sets(s, s->groups, s->group_count);
    fill_sets(s, s->models, s->model_count);
    if (weir_arena_failed(&s->arena))
        return;
    for (size_t i = 0; i < s->deployment_count; i++) {
        s->deployments[i]->number = (uint32_t)i;
        add_member(&s->by_group, s->deployments[i]->spec.group, s->deployments[i]);
        add_member(&s->by_model, s->deployments[i]->spec.model, s->deployments[i]);
    }
    for (size_t i = 0; i < s->group_count; i++) {
        s->groups[i]->strategy = weir_routing_strategy(s, s->groups[i]->name);
        weir_snapshot_make_tiers(s, s->groups[i]);
        weir_pools_build(s, s->groups[i]);
    }
    for (size_t i = 0; i < s->model_count; i++) {
        s->models[i]->strategy = &s->spec.strategy;
        weir_snapshot_make_tiers(s, s->models[i]);
        weir_pools_build(s, s->models[i]);
    }
    weir_routing_build(s);
}

/* Insertion keeps patterns that are equally specific in the order of the configuration. */
static void build_wildcards(weir_snapshot *s)
{
    size_t at;

    s->wildcards = weir_arena_zalloc(&s->arena, s->group_count, sizeof(*s->wildcards));
    for (size_t i = 0; s->wildcards != NULL && i < s->group_count; i++) {
        if (weir_wildcard_stars(s->groups[i]->name) == 0)
            continue;
        for (at = s->wildcard_count++; at > 0; at--) {
            if (!weir_wildcard_is_more_specific(s->groups[i]->name, s->wildcards[at - 1]->name))
                break;
            s->wildcards[at] = s->wildcards[at - 1];
        }
        s->wildcards[at] = s->groups[i];
    }
}

static void build_list(weir_snapshot *s, struct weir_list *list, const struct weir_bag *chains)
{
    list->chains = weir_arena_zalloc(&s->arena, chains->count, sizeof(*list->chains));
    for (size_t i = 0; list->chains != NULL && i < chains->count; i++)
        list->chains[list->count++] = *(const struct weir_chain *)chains->items[i];
}

static void take_pointers(weir_snapshot_builder *b)
{
    weir_snapshot *s = b->snapshot;

    s->deployments = (weir_deployment **)b->deployments.items;
    s->deployment_count = b->deployments.count;
    s->groups = (struct weir_set **)b->groups.items;
    s->group_count = b->groups.count;
    s->models = (struct weir_set **)b->models.items;
    s->model_count = b->models.count;
    s->aliases = (struct weir_alias **)b->aliases.items;
    s->alias_count = b->aliases.count;
    s->routings = (struct weir_routing **)b->routings.items;
    s->routing_count = b->routings.count;
}

static void take_spec(weir_snapshot_builder *b)
{
    weir_snapshot *s = b->snapshot;

    s->spec = b->spec;
    if (s->spec.cooldown_ns == 0 || s->spec.cooldown_ns == WEIR_UNSET_NS)
        s->spec.cooldown_ns = 5 * WEIR_NS_PER_S;
    s->has_retry_policy = weir_policy_is_set(&s->spec.retry_policy);
    s->has_fails_policy = weir_policy_is_set(&s->spec.allowed_fails_policy);
}

/* Gives each deployment what its group and the router say where it says nothing itself. */
static void build_defaults(weir_snapshot *s)
{
    const struct weir_group_spec *group;
    weir_deployment *d;

    for (size_t i = 0; i < s->deployment_count; i++) {
        d = s->deployments[i];
        d->continue_to = s->spec.continue_to;
        group = weir_map_get(&s->group_specs, d->spec.group);
        if (group != NULL)
            (void)weir_limits_take(&d->spec.limits, &group->limits);
        if (group != NULL && group->continue_to[0] != WEIR_CONTINUE_NOWHERE)
            d->continue_to = group->continue_to;
        (void)weir_limits_take(&d->spec.limits, &s->spec.limits);
    }
}

/* Gives each group what it says of the load of failure, else what the router says. */
static void build_resilience(weir_snapshot *s)
{
    const struct weir_group_spec *own;

    for (size_t i = 0; i < s->group_count; i++) {
        own = weir_map_get(&s->group_specs, s->groups[i]->name);
        s->groups[i]->resilience = own == NULL ? s->spec.resilience : own->resilience;
        weir_resilience_take(&s->groups[i]->resilience, &s->spec.resilience);
        weir_resilience_settle(&s->groups[i]->resilience);
        s->has_ramp |= s->groups[i]->resilience.cooldown_ramp_ns > 0;
    }
}

/* What remains of a builder whose snapshot has left it. */
static void empty(weir_snapshot_builder *b)
{
    *b = (weir_snapshot_builder){.mem = b->mem};
    weir_router_spec_init(&b->spec);
}

int weir_snapshot_build(weir_snapshot_builder *builder, weir_snapshot **ret_snapshot)
{
    weir_snapshot *s;
    int r;

    if (!router_is_valid(&builder->spec))
        return WEIR_ERR_INVALID;
    r = begin(builder);
    if (r < 0)
        return r;
    s = builder->snapshot;
    take_pointers(builder);
    take_spec(builder);
    build_defaults(s);
    build_resilience(s);
    build_sets(s);
    if (!weir_arena_failed(&s->arena))
        weir_sharing_build(s);
    build_wildcards(s);
    for (size_t kind = 0; kind < WEIR_LIST_KINDS; kind++)
        for (size_t source = 0; source < WEIR_LIST_SOURCES; source++)
            build_list(s, &s->lists[kind][source], &builder->chains[kind][source]);
    r = end(builder);
    if (r < 0)
        return r;
    empty(builder);
    *ret_snapshot = s;
    return 0;
}
