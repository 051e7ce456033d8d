/*
 * The explanation asks the same functions as a call, through a call that never takes a step: it stands where
 * a call stands after it has found what its name stands for.  So it cannot tell another story than calls
 * have.
 *
 * A pick is made first, which shows the tier that is chosen from and by which filters; the strategy says the
 * odds there.  Only the ramp throws dice before that, so where there is one it is done for several throws.
 */
#include <weir/explain.h>

#include <weir/error.h>

#include "base/slice.h"
#include "engine/call/call.h"
#include "engine/call/fallback.h"
#include "engine/call/pick.h"
#include "engine/call/retry.h"
#include "engine/live/quota.h"
#include "engine/pick/note.h"
#include "engine/router.h"
#include "engine/snapshot/sort.h"
#include "engine/strategy/strategy.h"

enum { THROWS = 64, ARENA_BLOCK_BYTES = 16384 };

static const size_t arena_max_bytes = (size_t)256 << 20;

static const struct weir_slice names[WEIR_RESOLUTIONS] = {
#define X(how, name, prose) [WEIR_BY_##how] = WEIR_SLICE_INIT(name),
#include <weir/tbl/resolutions.h>
#undef X
};

struct weir_slice weir_resolution_name(weir_resolution_how how)
{
    return (unsigned)how < WEIR_RESOLUTIONS ? names[how] : WEIR_SLICE("unknown");
}

/* An explanation in the making. */
struct explaining {
    struct weir_call call;
    struct weir_pick pick;
    struct weir_trail trail; /* of the last throw ... */
    const weir_deployment *chosen;
    double *odds; /* by slot, of all throws */
};

/* ---- what the name stands for ---- */

static weir_resolution_how how_of_set(const struct weir_call *call)
{
    const weir_snapshot *snapshot = call->snapshot;
    const struct weir_resolution *from = &call->root.from;
    const struct weir_routing *routing = weir_map_get(&snapshot->by_routing, from->group);

    if (from->set == NULL)
        return WEIR_BY_ID;
    if (from->is_wildcard)
        return WEIR_BY_PATTERN;
    if (routing != NULL && from->set == &routing->set)
        return WEIR_BY_ROUTING_GROUP;
    return weir_map_get(&snapshot->by_group, from->group) == from->set ? WEIR_BY_GROUP : WEIR_BY_MODEL;
}

static weir_resolution_how resolve(struct weir_call *call)
{
    const struct weir_request *request = &call->request;
    struct weir_resolution found;
    struct weir_step step;
    int r = request->specific_deployment
                ? weir_resolve_model(call->snapshot, request->model, &found)
                : weir_resolve(call->snapshot, request->model, request->qualified_model, &found);

    (void)weir_state_resolve(call, &step);
    if (call->state != WEIR_CALL_PICK)
        return WEIR_BY_UNKNOWN;
    if (r != 0)
        return WEIR_BY_FALLBACK_STAR;
    return !request->specific_deployment && !weir_slice_eq(call->root.from.group, request->model)
               ? WEIR_BY_ALIAS
               : how_of_set(call);
}

/* ---- odds ---- */

static const struct weir_tier *tier_of(const struct weir_set *set, const weir_deployment *deployment)
{
    int32_t order = weir_set_order_of(set, deployment);

    for (uint32_t i = 0; i < set->tier_count; i++)
        if (set->tiers[i].order == order)
            return &set->tiers[i];
    return NULL;
}

/* Adds the odds of the tier that the last throw chose from. */
static void add_tier(struct explaining *e, double share)
{
    struct weir_resolution from = e->call.root.from;
    struct weir_pick pick = e->pick;
    struct weir_candidates c;
    struct weir_sort_key *scratch;
    double *odds, sum = 0;

    from.set = e->trail.set;
    pick.from = &from;
    c = weir_filter_candidates(&pick, e->trail.last_filters);
    c.tier = tier_of(from.set, e->chosen);
    if (c.tier == NULL)
        return;
    odds = weir_arena_zalloc(&e->call.arena, c.tier->count, sizeof(*odds));
    scratch = weir_arena_zalloc(&e->call.arena, c.tier->count, sizeof(*scratch));
    if (odds == NULL || scratch == NULL)
        return;
    weir_strategy_of(c.strategy->strategy)->odds(&c, odds, scratch);
    /* What other threads have changed since the pick may have made the sum another than 1. */
    for (uint32_t i = 0; i < c.tier->count; i++)
        sum += odds[i];
    for (uint32_t i = 0; i < c.tier->count && sum > 0; i++)
        e->odds[c.tier->slots[i]] += odds[i] * share / sum;
}

static void find_odds(struct explaining *e)
{
    const weir_snapshot *snapshot = e->call.snapshot;
    int throws = snapshot->has_ramp && e->call.root.from.set != NULL ? THROWS : 1;
    struct weir_rand rand;

    weir_rand_init(&rand, 1);
    for (int i = 0; i < throws; i++) {
        e->pick.dice = weir_rand_u64(&rand);
        e->chosen = weir_filter_pick(&e->pick, &rand, &e->trail);
        if (e->chosen != NULL && e->call.root.from.set == NULL)
            e->odds[e->chosen->slot] = 1;
        else if (e->chosen != NULL)
            add_tier(e, 1.0 / throws);
    }
}

/* ---- candidates ---- */

/* Whether the deployment would refuse the attempt that it was chosen for, and why. */
static weir_fate refusal_of(const struct explaining *e, const weir_deployment *d)
{
    const struct weir_live *live = e->pick.live;

    if (e->call.request.caller_credentials)
        return WEIR_FATE_ELIGIBLE;
    if (weir_usage_running(live, d->slot) >= d->spec.max_parallel)
        return WEIR_FATE_NO_SLOT;
    return e->call.snapshot->spec.enforce_minute_limits &&
                   weir_quota_is_spent(live, d, weir_usage_minute(live, e->pick.now_ns))
               ? WEIR_FATE_LIMIT_SPENT
               : WEIR_FATE_ELIGIBLE;
}

static struct weir_explained explain(const struct explaining *e, const weir_deployment *d)
{
    const struct weir_set *set = e->call.root.from.set;
    uint64_t until_ns = weir_live_until(e->pick.live, d->slot);
    double odds = e->odds[d->slot];

    return (struct weir_explained){.deployment = d,
                                   .order = set == NULL ? d->spec.order : weir_set_order_of(set, d),
                                   .fate = odds > 0 || d == e->chosen
                                               ? refusal_of(e, d)
                                               : weir_note_fate(&e->pick, &e->trail, e->chosen, d),
                                   .until_ns = until_ns > e->pick.now_ns ? until_ns : 0,
                                   .odds = odds};
}

static int explain_candidates(const struct explaining *e, const struct weir_mem *mem,
                              struct weir_explanation *explanation)
{
    const struct weir_resolution *from = &e->call.root.from;
    const weir_deployment *const *members = from->set == NULL ? &from->only : from->set->members;
    uint32_t size = weir_resolution_size(from), max = e->call.request.note_candidates, count;
    struct weir_explained *candidates;

    max = max < WEIR_EXPLAINED_MAX ? max : WEIR_EXPLAINED_MAX;
    count = size < max ? size : max;
    for (uint32_t i = 0; i < size; i++)
        explanation->eligible += e->odds[members[i]->slot] > 0;
    explanation->omitted = size - count;
    if (count == 0)
        return 0;
    candidates = mem->alloc(mem->user, count * sizeof(*candidates));
    if (candidates == NULL)
        return WEIR_ERR_NOMEM;
    for (uint32_t i = 0; i < count; i++)
        candidates[i] = explain(e, members[i]);
    explanation->candidates = candidates;
    explanation->count = count;
    return 0;
}

static int explain_pick(struct explaining *e, const struct weir_mem *mem,
                        struct weir_explanation *explanation)
{
    struct weir_call *call = &e->call;

    if (call->root.from.set != NULL)
        explanation->strategy = weir_strategy_of(call->root.from.set->strategy->strategy)->name;
    e->odds = weir_arena_zalloc(&call->arena, call->snapshot->slot_limit, sizeof(*e->odds));
    e->pick = weir_pick_prepare(call, WEIR_PICK_LOWEST, WEIR_UNSET_ORDER, &call->failed);
    if (weir_arena_failed(&call->arena))
        return WEIR_ERR_NOMEM;
    find_odds(e);
    return weir_arena_failed(&call->arena) ? WEIR_ERR_NOMEM : explain_candidates(e, mem, explanation);
}

/* ---- failures ---- */

static void explain_failures(const struct weir_call *call, struct weir_explanation *explanation)
{
    static const weir_kind kinds[WEIR_LIST_KINDS] = {
        [WEIR_LIST_GENERIC] = WEIR_KIND_INTERNAL,
        [WEIR_LIST_CONTEXT_WINDOW] = WEIR_KIND_CONTEXT_WINDOW,
        [WEIR_LIST_CONTENT_POLICY] = WEIR_KIND_CONTENT_POLICY,
    };
    struct weir_chain chain;

    for (int kind = 0; kind < WEIR_KIND_COUNT && explanation->how != WEIR_BY_UNKNOWN; kind++)
        explanation->retries[kind] = weir_retry_prospect(call, (weir_kind)kind);
    if (call->request.disable_fallbacks)
        return;
    explanation->max_fallbacks = call->snapshot->spec.max_fallbacks;
    for (int list = 0; list < WEIR_LIST_KINDS; list++) {
        explanation->chains[list].is_own = weir_fallback_is_configured(call, (weir_list_kind)list);
        if (!weir_fallback_chain(call, &call->root, kinds[list], &chain))
            continue;
        explanation->chains[list].targets = chain.targets;
        explanation->chains[list].count = chain.count;
    }
}

int weir_router_explain(weir_router *router, weir_snapshot *snapshot, const struct weir_request *request,
                        const struct weir_mem *mem, uint64_t now_ns, struct weir_explanation *ret_explanation)
{
    struct explaining e = {.call = {.router = router,
                                    .snapshot = snapshot,
                                    .mem = mem,
                                    .request = *request,
                                    .state = WEIR_CALL_RESOLVE,
                                    .began_ns = now_ns,
                                    .now_ns = now_ns}};
    struct weir_explanation explanation = {.how = WEIR_BY_UNKNOWN};
    struct weir_call *call = &e.call;
    int r = 0;

    if (request->model.len == 0 || snapshot->router != router)
        return WEIR_ERR_INVALID;
    call->root.name = request->model;
    call->frame = &call->root;
    weir_arena_init(&call->arena, mem, ARENA_BLOCK_BYTES, arena_max_bytes);
    weir_event_queue_init(&call->events, &call->arena);
    explanation.how = resolve(call);
    explanation.group = call->root.from.group;
    if (explanation.how != WEIR_BY_UNKNOWN && call->root.from.is_wildcard)
        explanation.pattern = call->root.from.set->name;
    if (weir_arena_failed(&call->arena))
        r = WEIR_ERR_NOMEM;
    else if (explanation.how != WEIR_BY_UNKNOWN)
        r = explain_pick(&e, mem, &explanation);
    if (r == 0)
        explain_failures(call, &explanation);
    weir_arena_deinit(&call->arena);
    if (r == 0)
        *ret_explanation = explanation;
    return r;
}

void weir_explanation_deinit(struct weir_explanation *explanation, const struct weir_mem *mem)
{
    if (explanation->count > 0)
        mem->free(mem->user, explanation->candidates, explanation->count * sizeof(*explanation->candidates));
    explanation->count = 0;
}

void weir_router_eligible(const weir_router *router, const weir_snapshot *snapshot, uint64_t now_ns,
                          bool *ret_eligible)
{
    struct weir_request request;

    weir_request_init(&request);
    for (size_t i = 0; i < snapshot->group_count; i++) {
        const struct weir_resolution from = {.set = snapshot->groups[i], .group = snapshot->groups[i]->name};
        const struct weir_pick pick = {.snapshot = snapshot,
                                       .request = &request,
                                       .live = &router->live,
                                       .from = &from,
                                       .now_ns = now_ns,
                                       .mode = WEIR_PICK_LOWEST};

        weir_filter_standing(&pick, ret_eligible);
    }
}
