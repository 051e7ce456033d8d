/*
 * A snapshot is filled by builder.c; here it is made, cut into tiers, read, and freed.
 *
 * Tiers are found by taking the next higher order again and again: a pass over the members for each order,
 * since groups with many orders do not occur and sorting would need memory of its own.
 */
#include "engine/snapshot.h"

#include <weir/error.h>

#include "base/slice.h"
#include "engine/resolve.h"

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
    weir_map_init(&s->by_id, in_arena);
    weir_map_init(&s->by_group, in_arena);
    weir_map_init(&s->by_model, in_arena);
    weir_map_init(&s->by_alias, in_arena);
    weir_map_init(&s->retry_policies, in_arena);
    for (size_t kind = 0; kind < WEIR_LIST_KINDS; kind++)
        for (size_t source = 0; source < WEIR_LIST_SOURCES; source++)
            weir_map_init(&s->lists[kind][source].by_group, in_arena);
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

static int32_t order_of(const weir_deployment *d)
{
    return d->spec.order;
}

/* The least order above the given one among the unblocked members, and how many have it. */
static uint32_t next_order(const struct weir_set *set, int64_t above, int32_t *ret_order)
{
    uint32_t count = 0;

    for (uint32_t i = 0; i < set->count; i++) {
        const weir_deployment *d = set->members[i];

        if (d->spec.blocked || order_of(d) <= above)
            continue;
        if (count == 0 || order_of(d) < *ret_order) {
            *ret_order = order_of(d);
            count = 0;
        }
        count += order_of(d) == *ret_order;
    }
    return count;
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

static void fill_tier(struct weir_arena *arena, const struct weir_set *set, struct weir_tier *tier)
{
    uint32_t at = 0;

    tier->members = weir_arena_zalloc(arena, tier->count, sizeof(*tier->members));
    tier->slots = weir_arena_zalloc(arena, tier->count, sizeof(*tier->slots));
    if (weir_arena_failed(arena))
        return;
    for (uint32_t i = 0; i < set->count; i++)
        if (!set->members[i]->spec.blocked && order_of(set->members[i]) == tier->order)
            tier->members[at++] = set->members[i];
    for (size_t source = 0; source < WEIR_WEIGHT_SOURCES; source++)
        sum_weights(arena, tier, source);
}

void weir_snapshot_make_tiers(weir_snapshot *snapshot, struct weir_set *set)
{
    struct weir_arena *arena = &snapshot->arena;
    int64_t above = INT64_MIN;
    int32_t order = 0;

    while (next_order(set, above, &order) > 0) {
        set->tier_count++;
        above = order;
    }
    set->tiers = weir_arena_zalloc(arena, set->tier_count, sizeof(*set->tiers));
    above = INT64_MIN;
    for (uint32_t i = 0; i < set->tier_count && !weir_arena_failed(arena); i++) {
        set->tiers[i].count = next_order(set, above, &order);
        set->tiers[i].order = order;
        fill_tier(arena, set, &set->tiers[i]);
        above = order;
    }
}

static void place_tier_slots(struct weir_tier *tier)
{
    tier->rising = true;
    for (uint32_t m = 0; m < tier->count; m++) {
        tier->slots[m] = tier->members[m]->slot;
        tier->rising = tier->rising && (m == 0 || tier->slots[m] > tier->slots[m - 1]);
    }
}

static void place_slots(struct weir_set *const *sets, size_t count)
{
    for (size_t i = 0; i < count; i++)
        for (uint32_t t = 0; t < sets[i]->tier_count; t++)
            place_tier_slots(&sets[i]->tiers[t]);
}

void weir_snapshot_place_slots(weir_snapshot *snapshot)
{
    place_slots(snapshot->groups, snapshot->group_count);
    place_slots(snapshot->models, snapshot->model_count);
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

static bool tier_validate(const struct weir_tier *tier)
{
    for (uint32_t i = 0; i < tier->count; i++)
        if (order_of(tier->members[i]) != tier->order || tier->members[i]->spec.blocked)
            return false;
    for (size_t source = 0; source < WEIR_WEIGHT_SOURCES; source++)
        for (uint32_t i = 1; tier->sums[source] != NULL && i < tier->count; i++)
            if (tier->sums[source][i] < tier->sums[source][i - 1])
                return false;
    return tier->count > 0;
}

static bool set_validate(const struct weir_set *set)
{
    uint32_t usable = 0, in_tiers = 0;

    for (uint32_t i = 0; i < set->count; i++)
        usable += !set->members[i]->spec.blocked;
    for (uint32_t i = 0; i < set->tier_count; i++) {
        if (!tier_validate(&set->tiers[i]) || (i > 0 && set->tiers[i].order <= set->tiers[i - 1].order))
            return false;
        in_tiers += set->tiers[i].count;
    }
    return usable == in_tiers && set->count > 0;
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
    return members == snapshot->deployment_count && weir_map_validate(&snapshot->by_id) &&
           weir_map_validate(&snapshot->by_group) && weir_map_validate(&snapshot->by_model) &&
           weir_map_validate(&snapshot->by_alias);
}
