/*
 * Counts cost traffic, so only those are shared that something looks at: usage where a limit of the minute or
 * a strategy does, attempts that run and samples of speed where a strategy does.
 */
#include "engine/snapshot/sharing.h"

#include <weir/shared.h>

static bool has_minute_limit(const struct weir_minute_limits *minute)
{
    return minute->requests != WEIR_UNSET_NS || minute->tokens != WEIR_UNSET_NS ||
           minute->input_tokens != WEIR_UNSET_NS || minute->output_tokens != WEIR_UNSET_NS;
}

/* What a strategy looks at. */
static unsigned kinds_of(weir_strategy strategy)
{
    if (strategy == WEIR_STRATEGY_LEAST_BUSY)
        return WEIR_SHARED_BIT(RUNNING);
    if (strategy == WEIR_STRATEGY_USAGE)
        return WEIR_SHARED_BIT(USAGE);
    return strategy == WEIR_STRATEGY_LATENCY ? WEIR_SHARED_BIT(LATENCY) : 0;
}

static void note_strategy(const weir_snapshot *s, const struct weir_set *set)
{
    unsigned kinds = kinds_of(set->strategy->strategy);
    weir_deployment *d;

    for (uint32_t i = 0; kinds != 0 && i < set->count; i++) {
        d = weir_map_get(&s->by_id, set->members[i]->spec.id);
        d->shares |= kinds;
    }
}

static void note_kinds(weir_snapshot *snapshot)
{
    for (size_t i = 0; i < snapshot->deployment_count; i++) {
        weir_deployment *d = snapshot->deployments[i];

        if (!snapshot->spec.disable_cooldowns && d->spec.cooldown_ns != 0)
            d->shares |= WEIR_SHARED_BIT(LIFT) | WEIR_SHARED_BIT(COOLDOWN) | WEIR_SHARED_BIT(FAILS);
        if (weir_deployment_is_probed(d))
            d->shares |= WEIR_SHARED_BIT(HEALTH);
        if (has_minute_limit(&d->spec.minute))
            d->shares |= WEIR_SHARED_BIT(USAGE);
    }
    for (size_t i = 0; i < snapshot->group_count; i++)
        note_strategy(snapshot, snapshot->groups[i]);
    for (size_t i = 0; i < snapshot->routing_count; i++)
        if (snapshot->routings[i]->set.count > 0)
            note_strategy(snapshot, &snapshot->routings[i]->set);
}

static void note_groups(weir_snapshot *snapshot)
{
    struct weir_router_spec *spec = &snapshot->spec;
    bool all = spec->health_group_count == 0;
    struct weir_set *group;

    for (size_t i = 0; i < snapshot->group_count; i++)
        snapshot->groups[i]->probed = all;
    for (size_t i = 0; i < spec->health_group_count; i++) {
        group = weir_map_get(&snapshot->by_group, spec->health_groups[i]);
        if (group != NULL)
            group->probed = true;
    }
    /* With a policy failed probes are counted instead, but for groups that are listed (17). */
    snapshot->has_health = spec->health_check_routing && !(all && snapshot->has_fails_policy);
    spec->health_groups = NULL;
    spec->health_group_count = 0;
}

static void note_set(const weir_snapshot *s, struct weir_set *set)
{
    for (uint32_t i = 0; i < set->count; i++)
        set->has_health |= s->has_health && weir_deployment_is_probed(set->members[i]);
}

static void note_sets(weir_snapshot *snapshot)
{
    for (size_t i = 0; i < snapshot->group_count; i++)
        note_set(snapshot, snapshot->groups[i]);
    for (size_t i = 0; i < snapshot->model_count; i++)
        note_set(snapshot, snapshot->models[i]);
    for (size_t i = 0; i < snapshot->routing_count; i++)
        note_set(snapshot, &snapshot->routings[i]->set);
}

void weir_sharing_build(weir_snapshot *snapshot)
{
    note_groups(snapshot);
    note_sets(snapshot);
    note_kinds(snapshot);
}

bool weir_snapshot_has_strategy(const weir_snapshot *snapshot, weir_strategy strategy)
{
    for (size_t i = 0; i < snapshot->group_count; i++)
        if (snapshot->groups[i]->strategy->strategy == strategy)
            return true;
    for (size_t i = 0; i < snapshot->routing_count; i++)
        if (snapshot->routings[i]->set.count > 0 && snapshot->routings[i]->set.strategy->strategy == strategy)
            return true;
    return false;
}

bool weir_deployment_is_probed(const weir_deployment *deployment)
{
    return deployment->group->probed && !deployment->spec.never_probed;
}
