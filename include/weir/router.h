/*
 * The router: what is remembered between requests, shared by all threads of a process.
 *
 * Live state is keyed by deployment id and lies in slots that are stable over reloads: a cooldown set under
 * one snapshot holds under the next.  All of it is atomic; calls on different threads may use one router at
 * once.
 */
#ifndef WEIR_ROUTER_H
#define WEIR_ROUTER_H

#include <stdbool.h>
#include <stdint.h>

#include <weir/attr.h>
#include <weir/event.h>
#include <weir/failure.h>
#include <weir/mem.h>
#include <weir/snapshot.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct weir_router weir_router;

/*
 * A router whose choices follow from the seed: the same seed, calls, inputs and times give the same steps.
 * The allocator must outlive it and, if several threads begin calls, be thread-safe.  0 or WEIR_ERR_NOMEM.
 */
WEIR_EXPORT WEIR_MUST_USE int weir_router_new(const struct weir_mem *mem, uint64_t seed,
                                              weir_router **ret_router);

/* After the last call is freed and the last snapshot of it unreferenced.  Accepts NULL. */
WEIR_EXPORT void weir_router_free(weir_router *router);

/*
 * Gives each deployment of the snapshot its slot of live state, old or new.  To be done once before the first
 * call on that snapshot, by one thread at a time; calls on other snapshots may run meanwhile.  A snapshot
 * belongs to one router. 0, WEIR_ERR_NOMEM, or WEIR_ERR_LIMIT after a million different ids; the snapshot
 * cannot be used then.
 */
WEIR_EXPORT WEIR_MUST_USE int weir_router_adopt(weir_router *router, weir_snapshot *snapshot);

/*
 * Says what time it is: wall_ns since 1970 in UTC at the monotonic now_ns.  Minutes of limits and usage are
 * the wall clock's, so a host says it at start and whenever the two may have drifted apart.  Thread-safe.
 * Before that minutes begin with the monotonic clock's.
 */
WEIR_EXPORT void weir_router_set_wall(weir_router *router, uint64_t wall_ns, uint64_t now_ns);

/* What is counted by the minute. */
typedef enum weir_usage_kind {
    WEIR_USAGE_REQUESTS,
    WEIR_USAGE_TOKENS,
    WEIR_USAGE_INPUT,
    WEIR_USAGE_OUTPUT,
    WEIR_USAGES
} weir_usage_kind;

/* Of what speed is the speed: of whole answers, or of the first content of streams. */
typedef enum weir_pace { WEIR_PACE_WHOLE, WEIR_PACE_FIRST, WEIR_PACES } weir_pace;

/* What a deployment was used for in one minute. */
struct weir_minute_usage {
    uint64_t requests;
    uint64_t tokens;
    uint64_t input_tokens;
    uint64_t output_tokens;
};

/* What the newest probe of a deployment has found (router-semantics 17). */
struct weir_health {
    bool known; /* false: nothing yet */
    bool healthy;
    bool elsewhere; /* another process has probed it */
    weir_kind kind; /* of the failure, where it is not healthy */
    int status;
    uint64_t probed_ns; /* when it ended */
};

/* The name of a process among those that share their state; the rest of a longer one is cut off. */
enum { WEIR_PROCESS_NAME_BYTES = 47 };
struct weir_process_name {
    uint8_t len;
    char text[WEIR_PROCESS_NAME_BYTES];
};

/* The newest failure of an attempt that is a deployment's own affair, whether or not it counted. */
struct weir_last_failure {
    bool known; /* false: there was none yet */
    weir_kind kind;
    int status;
    uint64_t at_ns; /* cut to milliseconds */
};

/* What is remembered of one deployment; a consistent enough picture for a page, not a transaction. */
struct weir_live_view {
    uint64_t cooldown_until_ns; /* 0, or in the past: not cooling; what follows is meaningful while it does */
    uint64_t cooldown_set_ns;   /* when it was set, or learned of, and for how long from then on */
    uint64_t cooldown_length_ns;
    weir_kind cooldown_kind; /* of the failure that set it; by hand: SERVICE_UNAVAILABLE, 503 */
    int cooldown_status;
    weir_cooldown_rule cooldown_rule;     /* WEIR_COOLDOWN_RULES: another process's affair */
    bool cooldown_elsewhere;              /* another process has set it ... */
    struct weir_process_name cooldown_by; /* ... which is this one, or who set it by hand; empty: unknown */
    uint32_t cooldowns;                   /* in a row, without a success between */
    uint32_t successes;                   /* in the last 60 seconds */
    uint32_t failures;                    /* likewise */
    uint32_t running;                     /* attempts of this process */
    uint32_t running_elsewhere;           /* of the others, as far as it is known */
    struct weir_last_failure last_failure;
    struct weir_health health;
    struct weir_minute_usage minute; /* of the minute that is, of all processes */
    double latency_s;                /* mean of the samples that latency-based-routing has; 0: none */
    double ttft_s;
};

/* Thread-safe.  The deployment's snapshot must have been adopted by the router. */
WEIR_EXPORT void weir_router_view(const weir_router *router, const weir_deployment *deployment,
                                  uint64_t now_ns, struct weir_live_view *ret_view);

/*
 * Which deployments may be picked as they stand, whatever a request asks for and whichever order is tried:
 * those that are not blocked and that probes and cooldowns do not keep from the picks of their group, which
 * ignore either where it would leave nobody and the rules say so.  ret_eligible has a place for each
 * deployment of the snapshot, which must have been adopted by the router.  Thread-safe.
 */
WEIR_EXPORT void weir_router_eligible(const weir_router *router, const weir_snapshot *snapshot,
                                      uint64_t now_ns, bool *ret_eligible);

/* Whether that is the result of a probe, and picks by health still go by it: it is not older than the
 * snapshot's health_staleness_ns.  Thread-safe. */
WEIR_EXPORT bool weir_health_counts(const struct weir_health *health, const weir_snapshot *snapshot,
                                    uint64_t now_ns);

/* A counter of allowed fails (router-semantics 16) beside a limit that it is measured by. */
struct weir_fails_view {
    weir_cooldown_rule rule; /* DEPLOYMENT_POLICY, DEPLOYMENT_FAILS, ROUTER_POLICY or ROUTER_FAILS */
    weir_policy_field field; /* of a policy; WEIR_POLICY_NONE: the rule has no fields */
    weir_kind kind;          /* of DEPLOYMENT_POLICY: the first of those that are counted together */
    uint32_t count;          /* of this process; more than the limit cools it */
    uint32_t limit;
    uint64_t end_ns; /* of the counter's life */
};

enum { WEIR_FAILS_VIEWS_MAX = WEIR_KIND_COUNT + WEIR_POLICY_FIELDS + 2 };

/* The counters of a deployment that count something now, once for each limit that they are measured by; the
 * snapshot is the deployment's.  Returns how many.  Thread-safe. */
WEIR_EXPORT size_t weir_router_fails(const weir_router *router, const weir_snapshot *snapshot,
                                     const weir_deployment *deployment, uint64_t now_ns,
                                     struct weir_fails_view ret_views[WEIR_FAILS_VIEWS_MAX]);

/* A cooldown by hand lasts no longer: a year. */
#define WEIR_COOL_MAX_NS (UINT64_C(366) * 24 * 3600 * 1000 * 1000 * 1000)

/*
 * Cools a deployment down by hand, from now on and for that long, whatever cooldown it has: an administrator
 * may shorten one (decisions 7).  Other processes hear of it as of every cooldown, where cooldowns are
 * shared. It is none in the row of those that failures set.  by: who it was, for the event and the view;
 * copied, up to WEIR_PROCESS_NAME_BYTES.  0, or WEIR_ERR_INVALID where the length is 0 or above
 * WEIR_COOL_MAX_NS. Thread-safe, as the next one.
 */
WEIR_EXPORT WEIR_MUST_USE int weir_router_cool(weir_router *router, const weir_deployment *deployment,
                                               uint64_t length_ns, struct weir_slice by, uint64_t now_ns);

/* Ends a deployment's cooldown by hand, whoever has set it, here and in other processes.  Returns whether it
 * was cooling down. */
WEIR_EXPORT bool weir_router_lift(weir_router *router, const weir_deployment *deployment,
                                  struct weir_slice by, uint64_t now_ns);

#ifdef __cplusplus
}
#endif

#endif
