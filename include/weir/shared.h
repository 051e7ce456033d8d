/*
 * What several processes share of the live state, so that they act as one router (router-semantics 22,
 * decisions 33, 34), and what is learned of deployments outside of any call: probes (17).
 *
 * No I/O happens here: a host carries what changed to a store that all processes use, and brings back what
 * the store answers.  Calls never wait for it.  They leave a mark at a deployment whose state has changed,
 * and what is to be told is worked out when the host takes it: so changes coalesce, whatever the traffic
 * there is at most one of a sort waiting for each deployment, and nothing is lost while the store is away.
 *
 *     notify  -> weir_router_take_changes -> the host sends them
 *     an answer came                       -> weir_router_change_done
 *     surely not carried out               -> weir_router_change_undone: it waits to be taken again
 *     nobody knows                         -> weir_router_change_unknown
 *     the store was read                   -> weir_router_learn_*
 *
 * Counts are kept apart as this process's own and those elsewhere: what counts is the sum.  The number that
 * the store gives holds what this process has told so far; the rest of it is elsewhere.  Therefore answers
 * and readings must be given in the order in which the store gave them, as one connection does.
 *
 * Threads: all functions here are for one thread at a time, the host's background thread, beside any number
 * of calls and an adopting thread.  Exceptions say so.
 */
#ifndef WEIR_SHARED_H
#define WEIR_SHARED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <weir/attr.h>
#include <weir/event.h>
#include <weir/failure.h>
#include <weir/router.h>
#include <weir/slice.h>
#include <weir/snapshot.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef enum weir_shared_kind {
#define X(kind, name, prose) WEIR_SHARED_##kind,
#include <weir/tbl/shared_kinds.h>
#undef X
    WEIR_SHARED_KINDS
} weir_shared_kind;

#define WEIR_SHARED_BIT(kind) (1U << WEIR_SHARED_##kind)

/*
 * Begins to share: before the first snapshot is adopted, and for the rest of the router's life.  notify is
 * called by the thread that makes the first change after a time without any, calls' threads among them, and
 * not again until changes were taken; it must be quick, and must not call the engine.  0 or WEIR_ERR_NOMEM.
 */
WEIR_EXPORT WEIR_MUST_USE int weir_router_share(weir_router *router, void (*notify)(void *user), void *user);

/* Which kinds are shared of a deployment: WEIR_SHARED_BIT of each; nothing where the router does not share.
 * Follows from the deployment's limits and the strategies of its sets.  Thread-safe. */
WEIR_EXPORT unsigned weir_router_shares(const weir_router *router, const weir_deployment *deployment);

/* One thing to be told. */
struct weir_change {
    weir_shared_kind kind;
    uint32_t slot; /* the engine's own */
    /* Of the deployment, which the present snapshot need not have.  Lives as long as the router. */
    struct weir_slice id;
    union {
        struct {
            weir_kind kind; /* of the failure that set it */
            int status;
            uint64_t length_ns; /* that it was given when it was set */
            uint64_t remaining_ns;
        } cooldown;
        struct {
            struct weir_slice suffix; /* of the counter's key (16.1); empty: none.  Lives for ever */
            uint32_t amount;
            uint64_t life_ns;            /* of the counter, from its first failure */
            struct weir_failure failure; /* that has the lowest limit of those counted ... */
            uint32_t limit;              /* ... which is this */
            unsigned counter;            /* the engine's own, and so is the next */
            uint64_t end_ms;
        } fails;
        struct {
            weir_usage_kind usage;
            uint64_t minute; /* of the wall clock in UTC, since 1970 */
            int64_t amount;
        } usage;
        struct {
            int64_t amount;
        } running;
        struct {
            weir_pace pace;
            uint32_t count;  /* the oldest first; as router-semantics 6.5 counts them */
            uint32_t before; /* the engine's own */
            float samples[WEIR_LATENCY_SAMPLES_MAX];
        } latency;
        struct weir_health health;
    } u; /* of LIFT: nothing; the cooldown that comes after it, if any, holds */
};

/* A deployment has at most so many changes at once. */
enum { WEIR_CHANGES_MAX = 48 };

/*
 * Takes what has changed since it was taken last, deployment by deployment: up to max changes, which must be
 * WEIR_CHANGES_MAX at least, in the order of their kinds for each.  Returns how many.  More may wait when
 * fewer than WEIR_CHANGES_MAX places are left; notify is called again only for what changes after the last of
 * them was taken.  What has no meaning any more is left out: a cooldown that is over, a minute before the
 * last.
 */
WEIR_EXPORT size_t weir_router_take_changes(weir_router *router, uint64_t now_ns, struct weir_change *changes,
                                            size_t max);

/*
 * A change was carried out.  count: what the store counts since (of FAILS, USAGE, RUNNING; else ignored).  A
 * shared count of failures above the limit cools the deployment down (16.1); the snapshot says how long, and
 * nothing happens if it does not have the deployment.
 */
WEIR_EXPORT void weir_router_change_done(weir_router *router, const weir_snapshot *snapshot,
                                         const struct weir_change *change, uint64_t count, uint64_t now_ns);

/* A change was not carried out: it waits to be taken again, if it still has a meaning.  Does not notify: the
 * host knows when the store is back. */
WEIR_EXPORT void weir_router_change_undone(weir_router *router, const struct weir_change *change);

/* Nobody knows whether it was.  Counts and samples are taken as told, so that nothing is told twice; a
 * cooldown or a probe waits to be taken again. */
WEIR_EXPORT void weir_router_change_unknown(weir_router *router, const struct weir_change *change);

/* The store may have forgotten: cooldowns set here that still hold, and what was probed here, wait to be
 * taken again.  Does not notify. */
WEIR_EXPORT void weir_router_tell_again(weir_router *router);

/* A cooldown that another process has set. */
struct weir_learned_cooldown {
    uint64_t remaining_ns;
    weir_kind kind;
    int status;
    struct weir_slice by; /* the name of the process; empty: unknown.  Copied, up to its maximum */
};

/*
 * A cooldown stands in the store.  One that ends later holds (decisions 7), and a tenth of a second is no
 * difference.  Returns when the deployment's cooldown ends now.
 */
WEIR_EXPORT uint64_t weir_router_learn_cooldown(weir_router *router, const weir_deployment *deployment,
                                                const struct weir_learned_cooldown *cooldown,
                                                uint64_t now_ns);

/*
 * The cooldown has gone from the store before its time: it is over (decisions 34), if its end is still the
 * one that weir_router_learn_cooldown has returned when it was seen there last.  Returns whether it was
 * lifted.
 */
WEIR_EXPORT bool weir_router_lift_cooldown(weir_router *router, const weir_deployment *deployment,
                                           uint64_t until_ns, uint64_t now_ns);

/*
 * The store's count of a minute, or of attempts that run; 0: it has none.  When it is less than what this
 * process has told alone, the store has lost something, and the difference waits to be told again.
 */
WEIR_EXPORT void weir_router_learn_usage(weir_router *router, const weir_deployment *deployment,
                                         weir_usage_kind usage, uint64_t minute, uint64_t count);
WEIR_EXPORT void weir_router_learn_running(weir_router *router, const weir_deployment *deployment,
                                           uint64_t count);

/* The store's samples, the oldest first; those that were not yet taken here stay behind them. */
WEIR_EXPORT void weir_router_learn_latency(weir_router *router, const weir_deployment *deployment,
                                           weir_pace pace, const float *samples, size_t count,
                                           uint64_t now_ns);

/* What another process's probe has found.  The newest probe holds. */
WEIR_EXPORT void weir_router_learn_health(weir_router *router, const weir_deployment *deployment,
                                          const struct weir_health *health, uint64_t now_ns);

/*
 * A probe of the deployment has ended: failure NULL, it answered.  The result decides by the binary filter;
 * where an allowed-fails policy speaks, a failure is counted as that of a request (17).  Failures that the
 * router's spec calls transient change nothing.  Works whether the router shares or not.
 */
WEIR_EXPORT void weir_router_probe(weir_router *router, const weir_snapshot *snapshot,
                                   const weir_deployment *deployment, const struct weir_failure *failure,
                                   uint64_t now_ns);

typedef enum weir_router_event_kind {
#define X(event, name, prose) WEIR_ROUTER_EVENT_##event,
#include <weir/tbl/router_events.h>
#undef X
    WEIR_ROUTER_EVENT_KINDS
} weir_router_event_kind;

/* What happened outside of any call. */
struct weir_router_event {
    weir_router_event_kind kind;
    uint64_t time_ns;
    struct weir_slice deployment; /* id; this and the group live as long as the router */
    struct weir_slice group;
    /* Of COOLDOWN_SET and _LEARNED; of HEALTH_CHANGED where it is not healthy. */
    weir_kind failure;
    int status;
    weir_cooldown_rule rule; /* of COOLDOWN_SET */
    uint64_t length_ns;      /* of COOLDOWN_SET and _LEARNED */
    bool healthy;            /* of HEALTH_CHANGED */
    /* Of COOLDOWN_LEARNED: the process; of COOLDOWN_SET and _LIFTED: who did it by hand; empty: nobody, or
       nobody knows. */
    struct weir_process_name by;
};

/* Takes the oldest event; false when there is none.  At most 256 wait; what comes after those is lost.
 * Thread-safe. */
WEIR_EXPORT bool weir_router_event(weir_router *router, struct weir_router_event *ret_event);

/* "CooldownLearned", ...  Lives for ever; thread-safe. */
WEIR_EXPORT struct weir_slice weir_router_event_name(weir_router_event_kind kind);

#ifdef __cplusplus
}
#endif

#endif
