/*
 * A snapshot is filled by builder.c; here it is made, cut into tiers, read, and freed.
 *
 * Tiers are stretches of one array of the unblocked members, sorted by order: n log n for any orders.
 */
#include "engine/snapshot/snapshot.h"

#include <string.h>

#include <weir/error.h>

#include "base/slice.h"
#include "engine/snapshot/resilience.h"
#include "engine/snapshot/resolve.h"
#include "engine/snapshot/sort.h"

enum { ARENA_BLOCK_BYTES = 16 * 1024 };

static const size_t arena_max_bytes = (size_t)1 << 30;

int weir_snapshot_new(const struct weir_mem *mem, weir_snapshot **ret_snapshot)
{
    weir_snapshot *s = mem->alloc(mem->user, sizeof(*s));
    const struct weir_mem *in_arena;

    if (s == NULL)
        return WEIR_ERR_NOMEM;
    *s = (weir_snapshot){.mem = mem, .refs = 1};
    weir_arena_init(&s->arena, mem, ARENA_BLOCK_BYTES, arena_max_bytes);
    in_arena = weir_arena_mem(&s->arena);
    weir_map_init(&s->by_id, in_arena, WEIR_SNAPSHOT_NAMES_MAX);
    weir_map_init(&s->by_group, in_arena, WEIR_SNAPSHOT_NAMES_MAX);
    weir_map_init(&s->by_model, in_arena, WEIR_SNAPSHOT_NAMES_MAX);
    weir_map_init(&s->by_alias, in_arena, WEIR_SNAPSHOT_NAMES_MAX);
    weir_map_init(&s->by_routing, in_arena, WEIR_SNAPSHOT_NAMES_MAX);
    weir_map_init(&s->routed, in_arena, WEIR_SNAPSHOT_NAMES_MAX);
    weir_map_init(&s->retry_policies, in_arena, WEIR_SNAPSHOT_NAMES_MAX);
    weir_map_init(&s->group_specs, in_arena, WEIR_SNAPSHOT_NAMES_MAX);
    for (size_t kind = 0; kind < WEIR_LIST_KINDS; kind++)
        for (size_t source = 0; source < WEIR_LIST_SOURCES; source++)
            weir_map_init(&s->lists[kind][source].by_group, in_arena, WEIR_SNAPSHOT_NAMES_MAX);
    *ret_snapshot = s;
    return 0;
}

weir_snapshot *weir_snapshot_ref(weir_snapshot *snapshot)
{
    atomic_fetch_add_explicit(&snapshot->refs, 1, memory_order_relaxed);
    return snapshot;
}

void weir_snapshot_unref(weir_snapshot *snapshot)
{
    const struct weir_mem *mem;

    if (snapshot == NULL || atomic_fetch_sub_explicit(&snapshot->refs, 1, memory_order_acq_rel) != 1)
        return;
    mem = snapshot->mem;
    weir_arena_deinit(&snapshot->arena);
    mem->free(mem->user, snapshot, sizeof(*snapshot));
}

int32_t weir_set_order_of(const struct weir_set *set, const weir_deployment *deployment)
{
    const int32_t *order = weir_map_get(&set->orders, deployment->spec.group);

    return order == NULL ? deployment->spec.order : *order;
}

/* The number that sorts as the order does. */
static uint64_t rank_of_order(int32_t order)
{
    return (uint64_t)((int64_t)order - INT32_MIN);
}

/* The unblocked members by rising order, for the tiers to share; *ret_count says how many.  Members of one
 * order keep the configuration's sequence.  NULL: no memory. */
static const weir_deployment **sort_members(struct weir_arena *arena, const struct weir_set *set,
                                            uint32_t *ret_count)
{
    const weir_deployment **sorted = weir_arena_zalloc(arena, set->count, sizeof(*sorted));
    struct weir_sort_key *keys = weir_arena_zalloc(arena, set->count, sizeof(*keys));
    uint32_t count = 0;

    if (weir_arena_failed(arena))
        return NULL;
    for (uint32_t i = 0; i < set->count; i++)
        if (!set->members[i]->spec.blocked)
            keys[count++] = (struct weir_sort_key){rank_of_order(weir_set_order_of(set, set->members[i])), i};
    weir_sort(keys, count);
    for (uint32_t i = 0; i < count; i++)
        sorted[i] = set->members[keys[i].place];
    *ret_count = count;
    return sorted;
}

/* What a strategy ranks a member by; prices are above zero, so their bits sort as they do. */
static uint64_t rank_of(weir_strategy strategy, const weir_deployment *d)
{
    double cost = weir_deployment_cost(d);
    uint64_t rank = (uint64_t)d->spec.lar1_class;

    if (strategy == WEIR_STRATEGY_COST)
        memcpy(&rank, &cost, sizeof(rank));
    return rank;
}

static void rank_members(struct weir_arena *arena, struct weir_tier *tier, weir_strategy strategy)
{
    struct weir_sort_key *keys;

    if (strategy != WEIR_STRATEGY_COST && strategy != WEIR_STRATEGY_LAR1)
        return;
    keys = weir_arena_zalloc(arena, tier->count, sizeof(*keys));
    tier->ranking = weir_arena_zalloc(arena, tier->count, sizeof(*tier->ranking));
    if (weir_arena_failed(arena))
        return;
    for (uint32_t i = 0; i < tier->count; i++)
        keys[i] = (struct weir_sort_key){rank_of(strategy, tier->members[i]), i};
    weir_sort(keys, tier->count);
    for (uint32_t i = 0; i < tier->count; i++)
        tier->ranking[i] = keys[i].place;
}

static void sum_weights(struct weir_arena *arena, struct weir_tier *tier, size_t source)
{
    double greatest = 0, sum = 0;

    for (uint32_t i = 0; i < tier->count; i++)
        if (tier->members[i]->weights[source] > greatest)
            greatest = tier->members[i]->weights[source];
    tier->greatest[source] = greatest;
    if (greatest <= 0)
        return;
    tier->sums[source] = weir_arena_zalloc(arena, tier->count, sizeof(*tier->sums[source]));
    for (uint32_t i = 0; tier->sums[source] != NULL && i < tier->count; i++)
        tier->sums[source][i] = sum += weir_tier_weight(tier, i, source);
}

static void fill_tier(struct weir_arena *arena, struct weir_tier *tier, const struct weir_set *set)
{
    tier->order = weir_set_order_of(set, tier->members[0]);
    rank_members(arena, tier, set->strategy->strategy);
    tier->slots = weir_arena_zalloc(arena, tier->count, sizeof(*tier->slots));
    for (size_t source = 0; source < WEIR_WEIGHT_SOURCES; source++)
        sum_weights(arena, tier, source);
}

/* What holds for the set because of one of its members. */
static void note_facts(struct weir_set *set)
{
    for (uint32_t i = 0; i < set->count; i++) {
        const struct weir_deployment_spec *spec = &set->members[i]->spec;

        if (set->tag_filtering == WEIR_FLAG_UNSAID)
            set->tag_filtering = spec->tag_filtering;
        set->tag_fail_open |= spec->tag_fail_open;
        set->has_tags |= spec->tag_count > 0 || spec->has_tag_pattern;
        set->has_tag_patterns |= spec->has_tag_pattern;
        if (spec->blocked)
            continue;
        set->routes_served |= spec->routes;
        set->routes_lacked |= ~spec->routes;
        set->has_web_search |= !spec->no_web_search;
        set->has_windows |= spec->window_count > 0;
    }
}

/* Whether the member has another order than the one before it. */
static bool begins_tier(const struct weir_set *set, const weir_deployment **sorted, uint32_t i)
{
    return i == 0 || weir_set_order_of(set, sorted[i]) != weir_set_order_of(set, sorted[i - 1]);
}

void weir_snapshot_make_tiers(weir_snapshot *snapshot, struct weir_set *set)
{
    struct weir_arena *arena = &snapshot->arena;
    uint32_t count = 0, tier = 0;
    const weir_deployment **sorted = sort_members(arena, set, &count);

    note_facts(set);
    for (uint32_t i = 0; i < count; i++)
        set->tier_count += begins_tier(set, sorted, i);
    set->tiers = weir_arena_zalloc(arena, set->tier_count, sizeof(*set->tiers));
    if (weir_arena_failed(arena))
        return;
    for (uint32_t i = 0; i < count; i++) {
        tier += i > 0 && begins_tier(set, sorted, i);
        if (set->tiers[tier].count++ == 0)
            set->tiers[tier].members = &sorted[i];
    }
    for (uint32_t i = 0; i < set->tier_count; i++)
        fill_tier(arena, &set->tiers[i], set);
}

static void place_tier_slots(struct weir_tier *tier)
{
    tier->rising = true;
    for (uint32_t m = 0; m < tier->count; m++) {
        tier->slots[m] = tier->members[m]->slot;
        tier->rising = tier->rising && (m == 0 || tier->slots[m] > tier->slots[m - 1]);
    }
}

static void place_tiers_slots(const struct weir_set *set)
{
    for (uint32_t t = 0; t < set->tier_count; t++)
        place_tier_slots(&set->tiers[t]);
}

static void place_set_slots(const struct weir_set *set)
{
    const struct weir_map_entry *pool;

    place_tiers_slots(set);
    for (size_t at = 0; (pool = weir_map_next(&set->pools, &at)) != NULL;)
        place_tiers_slots(pool->value);
}

static void place_slots(struct weir_set *const *sets, size_t count)
{
    for (size_t i = 0; i < count; i++)
        place_set_slots(sets[i]);
}

void weir_snapshot_place_slots(weir_snapshot *snapshot)
{
    place_slots(snapshot->groups, snapshot->group_count);
    place_slots(snapshot->models, snapshot->model_count);
    for (size_t i = 0; i < snapshot->routing_count; i++)
        place_set_slots(&snapshot->routings[i]->set);
}

const struct weir_tier *weir_set_tier_above(const struct weir_set *set, int32_t order)
{
    for (uint32_t i = 0; i < set->tier_count; i++)
        if (set->tiers[i].order > order)
            return &set->tiers[i];
    return NULL;
}

size_t weir_snapshot_deployment_count(const weir_snapshot *snapshot)
{
    return snapshot->deployment_count;
}

const weir_deployment *weir_snapshot_deployment(const weir_snapshot *snapshot, size_t index)
{
    return snapshot->deployments[index];
}

const weir_deployment *weir_snapshot_find_deployment(const weir_snapshot *snapshot, struct weir_slice id)
{
    return weir_map_get(&snapshot->by_id, id);
}

size_t weir_snapshot_group_count(const weir_snapshot *snapshot)
{
    return snapshot->group_count;
}

struct weir_slice weir_snapshot_group_name(const weir_snapshot *snapshot, size_t index)
{
    return snapshot->groups[index]->name;
}

bool weir_snapshot_has_group(const weir_snapshot *snapshot, struct weir_slice name)
{
    return weir_map_get(&snapshot->by_group, name) != NULL;
}

size_t weir_snapshot_alias_count(const weir_snapshot *snapshot)
{
    return snapshot->alias_count;
}

struct weir_slice weir_snapshot_alias_name(const weir_snapshot *snapshot, size_t index, bool *ret_hidden)
{
    *ret_hidden = snapshot->aliases[index]->hidden;
    return snapshot->aliases[index]->name;
}

const struct weir_router_spec *weir_snapshot_router(const weir_snapshot *snapshot)
{
    return &snapshot->spec;
}

struct weir_slice weir_deployment_id(const weir_deployment *deployment)
{
    return deployment->spec.id;
}

struct weir_slice weir_deployment_group(const weir_deployment *deployment)
{
    return deployment->spec.group;
}

struct weir_slice weir_deployment_model(const weir_deployment *deployment)
{
    return deployment->spec.model;
}

const struct weir_minute_limits *weir_deployment_minute_limits(const weir_deployment *deployment)
{
    return &deployment->spec.minute;
}

bool weir_deployment_blocked(const weir_deployment *deployment)
{
    return deployment->spec.blocked;
}

void *weir_deployment_user(const weir_deployment *deployment)
{
    return deployment->spec.user;
}

bool weir_snapshot_knows(const weir_snapshot *snapshot, struct weir_slice model)
{
    struct weir_resolution found;

    return weir_resolve(snapshot, model, WEIR_SLICE_EMPTY, &found) == 0;
}

struct weir_slice weir_snapshot_group_of(const weir_snapshot *snapshot, struct weir_slice model,
                                         struct weir_slice qualified)
{
    struct weir_resolution found;

    if (weir_resolve(snapshot, model, qualified, &found) != 0)
        return WEIR_SLICE_EMPTY;
    if (found.only != NULL)
        return found.only->spec.group;
    return weir_map_get(&snapshot->by_group, found.set->name) == found.set ? found.set->name
                                                                           : WEIR_SLICE_EMPTY;
}

/* The strategies that look at what the limits of the minute leave. */
static bool looks_at_room(const struct weir_strategy_spec *spec)
{
    return spec->strategy == WEIR_STRATEGY_USAGE || spec->strategy == WEIR_STRATEGY_LATENCY ||
           spec->strategy == WEIR_STRATEGY_COST;
}

bool weir_snapshot_uses_prompt_tokens(const weir_snapshot *snapshot)
{
    const struct weir_router_spec *router = &snapshot->spec;
    bool room = looks_at_room(&router->strategy);
    bool tokens = router->strategy.strategy == WEIR_STRATEGY_USAGE;

    for (size_t i = 0; i < snapshot->routing_count; i++) {
        room |= looks_at_room(&snapshot->routings[i]->spec.strategy);
        tokens |= snapshot->routings[i]->spec.strategy.strategy == WEIR_STRATEGY_USAGE;
    }
    /* It weighs the tokens of the minute, limits or not, and for a stream that tells no usage those of the
       prompt are the estimate. */
    if (tokens)
        return true;
    for (size_t i = 0; i < snapshot->deployment_count; i++) {
        const struct weir_deployment_spec *d = &snapshot->deployments[i]->spec;

        if ((router->pre_call_checks && d->max_input_tokens != WEIR_UNSET_NS) ||
            (router->enforce_minute_limits &&
             (d->minute.input_tokens != WEIR_UNSET_NS || d->minute.tokens != WEIR_UNSET_NS)) ||
            (room && d->minute.tokens != WEIR_UNSET_NS))
            return true;
    }
    return false;
}

bool weir_snapshot_hedges(const weir_snapshot *snapshot)
{
    for (size_t i = 0; i < snapshot->group_count; i++)
        if (weir_hedge_is_on(&snapshot->groups[i]->resilience.hedge))
            return true;
    return false;
}

static bool ranking_validate(const struct weir_tier *tier, weir_strategy strategy)
{
    bool ranked = strategy == WEIR_STRATEGY_COST || strategy == WEIR_STRATEGY_LAR1;

    for (uint32_t i = 1; ranked && i < tier->count; i++)
        if (rank_of(strategy, tier->members[tier->ranking[i]]) <
            rank_of(strategy, tier->members[tier->ranking[i - 1]]))
            return false;
    return ranked == (tier->ranking != NULL);
}

static bool tier_validate(const struct weir_tier *tier, const struct weir_set *set)
{
    for (uint32_t i = 0; i < tier->count; i++)
        if (weir_set_order_of(set, tier->members[i]) != tier->order || tier->members[i]->spec.blocked)
            return false;
    for (size_t source = 0; source < WEIR_WEIGHT_SOURCES; source++)
        for (uint32_t i = 1; tier->sums[source] != NULL && i < tier->count; i++)
            if (tier->sums[source][i] < tier->sums[source][i - 1])
                return false;
    return tier->count > 0 && ranking_validate(tier, set->strategy->strategy);
}

static bool tiers_validate(const struct weir_set *set)
{
    uint32_t usable = 0, in_tiers = 0;

    for (uint32_t i = 0; i < set->count; i++)
        usable += !set->members[i]->spec.blocked;
    for (uint32_t i = 0; i < set->tier_count; i++) {
        if (!tier_validate(&set->tiers[i], set) || (i > 0 && set->tiers[i].order <= set->tiers[i - 1].order))
            return false;
        in_tiers += set->tiers[i].count;
    }
    return usable == in_tiers && set->count > 0;
}

static bool set_validate(const struct weir_set *set)
{
    const struct weir_map_entry *pool;

    for (size_t at = 0; (pool = weir_map_next(&set->pools, &at)) != NULL;)
        if (!tiers_validate(pool->value))
            return false;
    return tiers_validate(set) && weir_map_validate(&set->pools);
}

bool weir_snapshot_validate(const weir_snapshot *snapshot)
{
    size_t members = 0;

    for (size_t i = 0; i < snapshot->deployment_count; i++)
        if (weir_map_get(&snapshot->by_id, snapshot->deployments[i]->spec.id) != snapshot->deployments[i])
            return false;
    for (size_t i = 0; i < snapshot->group_count; i++) {
        if (!set_validate(snapshot->groups[i]))
            return false;
        members += snapshot->groups[i]->count;
    }
    for (size_t i = 0; i < snapshot->model_count; i++)
        if (!set_validate(snapshot->models[i]))
            return false;
    for (size_t i = 0; i < snapshot->routing_count; i++)
        if (snapshot->routings[i]->set.count > 0 && !set_validate(&snapshot->routings[i]->set))
            return false;
    return members == snapshot->deployment_count && weir_map_validate(&snapshot->by_id) &&
           weir_map_validate(&snapshot->by_group) && weir_map_validate(&snapshot->by_model) &&
           weir_map_validate(&snapshot->by_alias);
}
