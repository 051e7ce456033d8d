/*
 * A deployment id gets a slot when a snapshot with it is adopted first, and keeps it: what is remembered of
 * the deployment survives every later snapshot, with or without it.  So does a group's retry budget.
 */
#include "engine/router.h"

#include <weir/error.h>

#include "engine/live/budget.h"
#include "engine/live/cooldown.h"
#include "engine/live/health.h"
#include "engine/live/latency.h"
#include "engine/live/ledger.h"
#include "engine/live/shared.h"
#include "engine/live/usage.h"
#include "engine/snapshot/snapshot.h"

enum { ARENA_BLOCK_BYTES = 4096 };

static const size_t arena_max_bytes = (size_t)1 << 30;

struct weir_slot {
    struct weir_slice id;
    uint32_t number;
};

int weir_router_new(const struct weir_mem *mem, uint64_t seed, weir_router **ret_router)
{
    weir_router *router = mem->alloc(mem->user, sizeof(*router));

    if (router == NULL)
        return WEIR_ERR_NOMEM;
    router->mem = mem;
    router->seed = seed;
    atomic_init(&router->calls, 0);
    weir_spin_init(&router->lock);
    router->event_first = 0;
    router->event_count = 0;
    weir_live_init(&router->live, mem);
    weir_arena_init(&router->arena, mem, ARENA_BLOCK_BYTES, arena_max_bytes);
    weir_map_init(&router->slots, mem, WEIR_SNAPSHOT_NAMES_MAX);
    weir_map_init(&router->budgets, mem, WEIR_SNAPSHOT_NAMES_MAX);
    weir_map_init(&router->groups, mem, WEIR_SNAPSHOT_NAMES_MAX);
    *ret_router = router;
    return 0;
}

void weir_router_free(weir_router *router)
{
    if (router == NULL)
        return;
    weir_map_deinit(&router->groups);
    weir_map_deinit(&router->budgets);
    weir_map_deinit(&router->slots);
    weir_arena_deinit(&router->arena);
    weir_live_deinit(&router->live);
    router->mem->free(router->mem->user, router, sizeof(*router));
}

static int add_slot(weir_router *router, struct weir_slice id, const struct weir_slot **ret_slot)
{
    struct weir_slot *slot = weir_arena_alloc(&router->arena, sizeof(*slot));
    int r;

    if (slot == NULL)
        return WEIR_ERR_NOMEM;
    slot->id = weir_arena_copy(&router->arena, id);
    if (slot->id.len == 0)
        return WEIR_ERR_NOMEM;
    r = weir_live_add(&router->live, &slot->number);
    if (r == 0 && router->live.shared != NULL)
        r = weir_shared_add(&router->live, slot->number, slot->id);
    if (r < 0)
        return r;
    r = weir_map_add(&router->slots, slot->id, slot);
    if (r != 0)
        return r < 0 ? r : WEIR_ERR_INTERNAL;
    *ret_slot = slot;
    return 0;
}

static int add_budget(weir_router *router, struct weir_slice group, struct weir_budget **ret_budget)
{
    struct weir_slice name = weir_arena_copy(&router->arena, group);
    struct weir_budget *budget = weir_arena_zalloc(&router->arena, 1, sizeof(*budget));
    int r;

    if (name.len == 0 || budget == NULL)
        return WEIR_ERR_NOMEM;
    r = weir_map_add(&router->budgets, name, budget);
    if (r != 0)
        return r < 0 ? r : WEIR_ERR_INTERNAL;
    *ret_budget = budget;
    return 0;
}

static int place_budgets(weir_router *router, weir_snapshot *snapshot)
{
    struct weir_set *group;
    int r;

    for (size_t i = 0; i < snapshot->group_count; i++) {
        group = snapshot->groups[i];
        if (group->resilience.retry_budget.ratio < 0)
            continue;
        group->budget = weir_map_get(&router->budgets, group->name);
        r = group->budget == NULL ? add_budget(router, group->name, &group->budget) : 0;
        if (r < 0)
            return r;
    }
    return 0;
}

static int add_name(weir_router *router, struct weir_slice group, const struct weir_slice **ret_name)
{
    struct weir_slice *name = weir_arena_alloc(&router->arena, sizeof(*name));
    int r;

    if (name == NULL)
        return WEIR_ERR_NOMEM;
    *name = weir_arena_copy(&router->arena, group);
    if (name->len == 0)
        return WEIR_ERR_NOMEM;
    r = weir_map_add(&router->groups, *name, name);
    if (r != 0)
        return r < 0 ? r : WEIR_ERR_INTERNAL;
    *ret_name = name;
    return 0;
}

/* Events outlive the snapshot that they are about, so they take a group's name from the router. */
static int place_names(weir_router *router, const weir_snapshot *snapshot)
{
    const struct weir_slice *name;
    int r = 0;

    for (size_t i = 0; r == 0 && i < snapshot->group_count; i++) {
        name = weir_map_get(&router->groups, snapshot->groups[i]->name);
        if (name == NULL)
            r = add_name(router, snapshot->groups[i]->name, &name);
        if (r == 0)
            snapshot->groups[i]->lasting_name = *name;
    }
    return r;
}

int weir_router_adopt(weir_router *router, weir_snapshot *snapshot)
{
    const struct weir_slot *slot;
    int r = place_budgets(router, snapshot);

    if (r == 0)
        r = place_names(router, snapshot);
    if (r < 0)
        return r;
    for (size_t i = 0; i < snapshot->deployment_count; i++) {
        weir_deployment *d = snapshot->deployments[i];

        slot = weir_map_get(&router->slots, d->spec.id);
        if (slot == NULL) {
            r = add_slot(router, d->spec.id, &slot);
            if (r < 0)
                return r;
        }
        d->slot = slot->number;
        d->lasting_id = slot->id;
        if (router->live.shared != NULL)
            weir_shared_want(&router->live, d->slot, d->shares);
    }
    snapshot->slot_limit = router->live.slots;
    weir_snapshot_place_slots(snapshot);
    snapshot->router = router;
    return 0;
}

void weir_router_view(const weir_router *router, const weir_deployment *deployment, uint64_t now_ns,
                      struct weir_live_view *ret_view)
{
    const struct weir_live *live = &router->live;
    uint64_t ttl_ns = deployment->group->strategy->ttl_ns;

    weir_live_view(live, deployment->slot, now_ns, ret_view);
    ret_view->cooldown_elsewhere =
        live->shared != NULL && weir_ledger_whose(live, deployment->slot, &ret_view->cooldown_by);
    if (ret_view->cooldown_rule == WEIR_COOLDOWN_BY_HAND && !ret_view->cooldown_elsewhere)
        ret_view->cooldown_by = weir_live_name_read(weir_live_by_hand(live, deployment->slot));
    ret_view->running = weir_usage_running(live, deployment->slot);
    ret_view->running_elsewhere =
        (uint32_t)(weir_usage_running_all(live, deployment->slot) - ret_view->running);
    ret_view->health = weir_health_of(live, deployment->slot);
    ret_view->minute = weir_usage_view(live, deployment->slot, weir_usage_minute(live, now_ns));
    ret_view->latency_s = weir_latency_mean(live, deployment->slot, WEIR_PACE_WHOLE, ttl_ns, now_ns);
    ret_view->ttft_s = weir_latency_mean(live, deployment->slot, WEIR_PACE_FIRST, ttl_ns, now_ns);
}

size_t weir_router_fails(const weir_router *router, const weir_snapshot *snapshot,
                         const weir_deployment *deployment, uint64_t now_ns,
                         struct weir_fails_view ret_views[WEIR_FAILS_VIEWS_MAX])
{
    return weir_cooldown_fails(&router->live, snapshot, deployment, now_ns, ret_views);
}

void weir_router_set_wall(weir_router *router, uint64_t wall_ns, uint64_t now_ns)
{
    atomic_store_explicit(&router->live.wall_ahead_ns, wall_ns - now_ns, memory_order_relaxed);
}

void weir_router_seed_call(weir_router *router, struct weir_rand *ret_rand)
{
    uint64_t number = atomic_fetch_add_explicit(&router->calls, 1, memory_order_relaxed);

    /* The generator's own seeding makes near seeds unrelated; an odd factor keeps two calls' seeds apart. */
    weir_rand_init(ret_rand, router->seed ^ (number + 1) * UINT64_C(0xd1342543de82ef95));
}
