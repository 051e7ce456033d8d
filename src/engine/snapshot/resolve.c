/*
 * The order of router-semantics 3: an id counts only where no group has the name; an alias beats a group of
 * its name and is put through once; then the routing group, the group, the most specific wildcard, the
 * provider's model.
 */
#include "engine/snapshot/resolve.h"

#include "base/slice.h"
#include "engine/snapshot/wildcard.h"

static bool is_group(const weir_snapshot *s, struct weir_slice name)
{
    return weir_map_get(&s->by_group, name) != NULL;
}

static int found_set(const struct weir_set *set, struct weir_slice name, struct weir_resolution *ret)
{
    if (set == NULL)
        return WEIR_RESOLVE_UNKNOWN;
    *ret = (struct weir_resolution){
        .group = name, .set = set, .is_wildcard = weir_wildcard_stars(set->name) > 0, .matched = name};
    return 0;
}

/* A routing group of which no model exists stands for nothing. */
static int resolve_routing(const weir_snapshot *s, struct weir_slice name, struct weir_resolution *ret)
{
    const struct weir_routing *routing = weir_map_get(&s->by_routing, name);

    if (routing == NULL || routing->set.count == 0)
        return WEIR_RESOLVE_UNKNOWN;
    *ret = (struct weir_resolution){.group = name, .set = &routing->set, .matched = name};
    return 0;
}

static int resolve_id(const weir_snapshot *s, struct weir_slice name, struct weir_resolution *ret)
{
    const weir_deployment *d = is_group(s, name) ? NULL : weir_map_get(&s->by_id, name);

    if (d == NULL)
        return WEIR_RESOLVE_UNKNOWN;
    *ret = (struct weir_resolution){.group = name, .only = d};
    return 0;
}

static int resolve_wildcard(const weir_snapshot *s, struct weir_slice group, struct weir_slice name,
                            struct weir_resolution *ret)
{
    struct weir_slice captures[WEIR_WILDCARD_STARS_MAX];

    for (size_t i = 0; name.len > 0 && i < s->wildcard_count; i++) {
        if (!weir_wildcard_match(s->wildcards[i]->name, name, captures))
            continue;
        *ret = (struct weir_resolution){
            .group = group, .set = s->wildcards[i], .is_wildcard = true, .matched = name};
        return 0;
    }
    return WEIR_RESOLVE_UNKNOWN;
}

struct weir_slice weir_resolve_alias(const weir_snapshot *snapshot, struct weir_slice name)
{
    const struct weir_alias *alias = weir_map_get(&snapshot->by_alias, name);
    struct weir_resolution by_id;

    return alias == NULL || resolve_id(snapshot, name, &by_id) == 0 ? name : alias->target;
}

int weir_resolve_model(const weir_snapshot *snapshot, struct weir_slice name, struct weir_resolution *ret)
{
    const struct weir_set *set = weir_map_get(&snapshot->by_model, name);

    if (set == NULL)
        return WEIR_RESOLVE_UNKNOWN;
    *ret = (struct weir_resolution){.group = name, .set = set};
    return 0;
}

int weir_resolve(const weir_snapshot *snapshot, struct weir_slice name, struct weir_slice qualified,
                 struct weir_resolution *ret)
{
    struct weir_slice target = weir_resolve_alias(snapshot, name);
    bool is_alias = !weir_slice_eq(target, name);

    if (resolve_id(snapshot, target, ret) == 0 || resolve_routing(snapshot, target, ret) == 0 ||
        found_set(weir_map_get(&snapshot->by_group, target), target, ret) == 0 ||
        resolve_wildcard(snapshot, target, target, ret) == 0 ||
        resolve_wildcard(snapshot, target, is_alias ? WEIR_SLICE_EMPTY : qualified, ret) == 0)
        return 0;
    return weir_resolve_model(snapshot, target, ret);
}

struct weir_slice weir_resolve_provider_model(struct weir_arena *arena, const struct weir_resolution *found,
                                              const weir_deployment *deployment)
{
    if (!found->is_wildcard)
        return deployment->spec.model;
    return weir_wildcard_fill(arena, deployment->spec.model, found->set->name, found->matched);
}

uint32_t weir_resolution_size(const struct weir_resolution *found)
{
    return found->set == NULL ? 1 : found->set->count;
}
