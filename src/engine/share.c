/*
 * What a host's background thread asks of the router: changes to tell, what to learn, probes, and the events
 * of all these.
 *
 * Events wait in a ring, and several threads may put them there and take them.
 */
#include <weir/shared.h>

#include <weir/error.h>

#include "base/slice.h"
#include "base/time.h"
#include "engine/failure.h"
#include "engine/live/cooldown.h"
#include "engine/live/health.h"
#include "engine/live/ledger.h"
#include "engine/live/shared.h"
#include "engine/router.h"
#include "engine/snapshot/snapshot.h"

static const struct weir_slice event_names[WEIR_ROUTER_EVENT_KINDS] = {
#define X(event, name, prose) [WEIR_ROUTER_EVENT_##event] = WEIR_SLICE_INIT(name),
#include <weir/tbl/router_events.h>
#undef X
};

struct weir_slice weir_router_event_name(weir_router_event_kind kind)
{
    return (unsigned)kind < WEIR_ROUTER_EVENT_KINDS ? event_names[kind] : WEIR_SLICE("unknown");
}

void weir_router_tell(weir_router *router, const struct weir_router_event *event)
{
    weir_spin_lock(&router->lock);
    if (router->event_count < WEIR_ROUTER_EVENTS_MAX) {
        router->events[(router->event_first + router->event_count) % WEIR_ROUTER_EVENTS_MAX] = *event;
        router->event_count++;
    }
    weir_spin_unlock(&router->lock);
}

bool weir_router_event(weir_router *router, struct weir_router_event *ret_event)
{
    bool is_there;

    weir_spin_lock(&router->lock);
    is_there = router->event_count > 0;
    if (is_there) {
        *ret_event = router->events[router->event_first];
        router->event_first = (router->event_first + 1) % WEIR_ROUTER_EVENTS_MAX;
        router->event_count--;
    }
    weir_spin_unlock(&router->lock);
    return is_there;
}

struct weir_router_event weir_router_event_about(weir_router_event_kind kind,
                                                 const weir_deployment *deployment, uint64_t now_ns)
{
    return (struct weir_router_event){.kind = kind,
                                      .time_ns = now_ns,
                                      .deployment = deployment->lasting_id,
                                      .group = deployment->group->lasting_name};
}

static void tell_cooldown(weir_router *router, const weir_deployment *deployment,
                          const struct weir_failure *failure, const struct weir_cooldown *cooldown,
                          uint64_t now_ns)
{
    struct weir_router_event event =
        weir_router_event_about(WEIR_ROUTER_EVENT_COOLDOWN_SET, deployment, now_ns);

    event.failure = failure->kind;
    event.status = failure->status;
    event.rule = cooldown->rule;
    event.length_ns = cooldown->length_ns;
    weir_router_tell(router, &event);
}

int weir_router_share(weir_router *router, void (*notify)(void *user), void *user)
{
    return weir_shared_begin(&router->live, notify, user);
}

unsigned weir_router_shares(const weir_router *router, const weir_deployment *deployment)
{
    return router->live.shared == NULL ? 0 : deployment->shares;
}

static bool shares(const weir_router *router, const weir_deployment *deployment, weir_shared_kind kind)
{
    return (weir_router_shares(router, deployment) >> kind & 1) != 0;
}

size_t weir_router_take_changes(weir_router *router, uint64_t now_ns, struct weir_change *changes, size_t max)
{
    return weir_ledger_take(&router->live, now_ns, changes, max);
}

static void cool_if_over(weir_router *router, const weir_snapshot *snapshot, const struct weir_change *change,
                         uint64_t count, uint64_t now_ns)
{
    const weir_deployment *deployment = weir_snapshot_find_deployment(snapshot, change->id);
    struct weir_cooldown cooldown;

    if (deployment != NULL && count > change->u.fails.limit &&
        weir_cooldown_shared(&router->live, snapshot, deployment, change, now_ns, &cooldown))
        tell_cooldown(router, deployment, &change->u.fails.failure, &cooldown, now_ns);
}

void weir_router_change_done(weir_router *router, const weir_snapshot *snapshot,
                             const struct weir_change *change, uint64_t count, uint64_t now_ns)
{
    if (change->kind == WEIR_SHARED_FAILS)
        cool_if_over(router, snapshot, change, count, now_ns);
    else
        weir_ledger_done(&router->live, change, count);
}

void weir_router_change_undone(weir_router *router, const struct weir_change *change)
{
    weir_ledger_undone(&router->live, change);
}

void weir_router_change_unknown(weir_router *router, const struct weir_change *change)
{
    weir_ledger_unknown(&router->live, change);
}

void weir_router_tell_again(weir_router *router)
{
    if (router->live.shared != NULL)
        weir_ledger_again(&router->live);
}

uint64_t weir_router_learn_cooldown(weir_router *router, const weir_deployment *deployment,
                                    const struct weir_learned_cooldown *cooldown, uint64_t now_ns)
{
    const struct weir_ledger_cooldown learned = {.cause = {.kind = weir_failure_kind(cooldown->kind),
                                                           .status = cooldown->status,
                                                           .origin = WEIR_ORIGIN_PROVIDER},
                                                 .until_ns = weir_time_add(now_ns, cooldown->remaining_ns),
                                                 .by = cooldown->by};
    struct weir_router_event event;

    if (shares(router, deployment, WEIR_SHARED_COOLDOWN) &&
        weir_ledger_learn_cooldown(&router->live, deployment->slot, &learned, now_ns)) {
        event = weir_router_event_about(WEIR_ROUTER_EVENT_COOLDOWN_LEARNED, deployment, now_ns);
        event.failure = learned.cause.kind;
        event.status = learned.cause.status;
        event.length_ns = cooldown->remaining_ns;
        (void)weir_ledger_whose(&router->live, deployment->slot, &event.by);
        weir_router_tell(router, &event);
    }
    return weir_live_until(&router->live, deployment->slot);
}

bool weir_router_lift_cooldown(weir_router *router, const weir_deployment *deployment, uint64_t until_ns,
                               uint64_t now_ns)
{
    struct weir_router_event event =
        weir_router_event_about(WEIR_ROUTER_EVENT_COOLDOWN_LIFTED, deployment, now_ns);

    if (!weir_live_lift(&router->live, deployment->slot, until_ns, now_ns))
        return false;
    weir_router_tell(router, &event);
    return true;
}

void weir_router_learn_usage(weir_router *router, const weir_deployment *deployment, weir_usage_kind usage,
                             uint64_t minute, uint64_t count)
{
    if (shares(router, deployment, WEIR_SHARED_USAGE))
        weir_ledger_learn_usage(&router->live, deployment->slot, usage, minute, count);
}

void weir_router_learn_running(weir_router *router, const weir_deployment *deployment, uint64_t count)
{
    if (shares(router, deployment, WEIR_SHARED_RUNNING))
        weir_ledger_learn_running(&router->live, deployment->slot, count);
}

void weir_router_learn_latency(weir_router *router, const weir_deployment *deployment, weir_pace pace,
                               const float *samples, size_t count, uint64_t now_ns)
{
    const struct weir_latency_lesson lesson = {
        .samples = samples, .count = count, .strategy = deployment->group->strategy};

    if (shares(router, deployment, WEIR_SHARED_LATENCY))
        weir_ledger_learn_latency(&router->live, deployment->slot, pace, &lesson, now_ns);
}

/* Enters a result, and says so where it is another than the one before. */
static bool enter_health(weir_router *router, const weir_deployment *deployment,
                         const struct weir_health *health, uint64_t now_ns)
{
    struct weir_health before = weir_health_of(&router->live, deployment->slot);
    struct weir_router_event event =
        weir_router_event_about(WEIR_ROUTER_EVENT_HEALTH_CHANGED, deployment, now_ns);

    if (!weir_health_enter(&router->live, deployment->slot, health))
        return false;
    if (health->healthy == (before.healthy || !before.known))
        return true;
    event.healthy = health->healthy;
    event.failure = health->healthy ? (weir_kind)0 : health->kind;
    event.status = health->healthy ? 0 : health->status;
    weir_router_tell(router, &event);
    return true;
}

void weir_router_learn_health(weir_router *router, const weir_deployment *deployment,
                              const struct weir_health *health, uint64_t now_ns)
{
    struct weir_health learned = *health;

    learned.elsewhere = true;
    if (learned.probed_ns > now_ns)
        learned.probed_ns = now_ns;
    learned.kind = weir_failure_kind(learned.kind);
    (void)enter_health(router, deployment, &learned, now_ns);
}

static bool is_transient(const struct weir_failure *failure)
{
    return failure->status == 429 || failure->status == 408;
}

void weir_router_probe(weir_router *router, const weir_snapshot *snapshot, const weir_deployment *deployment,
                       const struct weir_failure *failure, uint64_t now_ns)
{
    struct weir_health health = {.healthy = failure == NULL, .probed_ns = now_ns};
    struct weir_failure counted;
    struct weir_cooldown cooldown;

    if (failure != NULL) {
        counted = weir_failure_sane(failure);
        counted.origin = WEIR_ORIGIN_PROVIDER;
        if (snapshot->spec.health_ignore_transient && is_transient(&counted))
            return;
        health.kind = counted.kind;
        health.status = counted.status;
    }
    if (enter_health(router, deployment, &health, now_ns))
        weir_shared_mark(&router->live, deployment->slot, WEIR_SHARED_BIT(HEALTH));
    if (failure != NULL && snapshot->spec.health_check_routing && snapshot->has_fails_policy &&
        weir_cooldown_count(&router->live, snapshot, deployment, &counted, now_ns, &cooldown))
        tell_cooldown(router, deployment, &counted, &cooldown, now_ns);
}
