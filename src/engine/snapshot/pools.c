/*
 * A member is counted in the pools of its tags first and entered then, so each pool's array is made once.  A
 * tag that a member says twice is counted twice and entered once.
 */
#include "engine/snapshot/pools.h"

/* The pool of the tag, which is made if need be; NULL: no memory. */
static struct weir_set *pool_of(struct weir_arena *arena, struct weir_set *set, struct weir_slice tag)
{
    struct weir_set *pool = weir_map_get(&set->pools, tag);

    if (pool != NULL)
        return pool;
    pool = weir_arena_zalloc(arena, 1, sizeof(*pool));
    if (pool == NULL)
        return NULL;
    *pool = (struct weir_set){.name = tag, .strategy = set->strategy, .orders = set->orders};
    return weir_map_add(&set->pools, tag, pool) == 0 ? pool : NULL;
}

static void count_members(struct weir_arena *arena, struct weir_set *set)
{
    struct weir_set *pool;

    for (uint32_t i = 0; i < set->count && !weir_arena_failed(arena); i++) {
        const struct weir_deployment_spec *spec = &set->members[i]->spec;

        for (size_t t = 0; !spec->blocked && t < spec->tag_count; t++) {
            pool = pool_of(arena, set, spec->tags[t]);
            if (pool == NULL)
                return;
            pool->count++;
        }
    }
}

static void enter(struct weir_set *pool, const weir_deployment *member)
{
    if (pool->count == 0 || pool->members[pool->count - 1] != member)
        pool->members[pool->count++] = member;
}

static void enter_members(struct weir_set *set)
{
    for (uint32_t i = 0; i < set->count; i++) {
        const struct weir_deployment_spec *spec = &set->members[i]->spec;

        for (size_t t = 0; !spec->blocked && t < spec->tag_count; t++)
            enter(weir_map_get(&set->pools, spec->tags[t]), set->members[i]);
    }
}

void weir_pools_build(weir_snapshot *snapshot, struct weir_set *set)
{
    struct weir_arena *arena = &snapshot->arena;
    const struct weir_map_entry *entry;
    struct weir_set *pool;

    if (!weir_has_pools(set))
        return;
    weir_map_init(&set->pools, weir_arena_mem(arena), SIZE_MAX);
    count_members(arena, set);
    for (size_t at = 0; (entry = weir_map_next(&set->pools, &at)) != NULL;) {
        pool = entry->value;
        pool->members = weir_arena_zalloc(arena, pool->count, sizeof(*pool->members));
        pool->count = 0;
    }
    if (weir_arena_failed(arena))
        return;
    enter_members(set);
    for (size_t at = 0; (entry = weir_map_next(&set->pools, &at)) != NULL;)
        weir_snapshot_make_tiers(snapshot, entry->value);
}
