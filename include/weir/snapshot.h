/*
 * The immutable configuration of the router: groups, deployments, aliases, chains, policies.
 *
 * A host fills a builder and builds a snapshot from it.  A snapshot is never changed afterwards and is
 * reference counted, so any number of threads may read it; each reader holds a reference of its own.  What
 * the router remembers between requests is not here but in the router (router.h), keyed by deployment id.
 *
 * All slices given to a builder are copied.  Times are nanoseconds.  One thread at a time uses a builder.
 */
#ifndef WEIR_SNAPSHOT_H
#define WEIR_SNAPSHOT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <weir/attr.h>
#include <weir/failure.h>
#include <weir/mem.h>
#include <weir/slice.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct weir_snapshot_builder weir_snapshot_builder;
typedef struct weir_snapshot weir_snapshot;
typedef struct weir_deployment weir_deployment;

/* "Not said", for counts, durations and orders. */
#define WEIR_UNSET       UINT32_MAX
#define WEIR_UNSET_NS    UINT64_MAX
#define WEIR_UNSET_ORDER INT32_MAX

/* A switch that some level may leave to the next one. */
typedef enum weir_flag { WEIR_FLAG_UNSAID, WEIR_FLAG_ON, WEIR_FLAG_OFF } weir_flag;

/* Counts per policy field, WEIR_UNSET where the policy says nothing (router-semantics 10, 16.2). */
struct weir_policy {
    uint32_t count[WEIR_POLICY_FIELDS];
};

/* The least speed of a stream (beyond.md 1): broken off as a timeout when, grace_ns after its first content,
 * the last window_ns brought fewer than tokens_per_s times their seconds.  A content delta is a token. */
struct weir_stream_rate {
    double tokens_per_s; /* negative: not said; 0: off */
    uint64_t window_ns;  /* measured in sixteenths, so a stream may live that much longer */
    uint64_t grace_ns;
};

/* The commit window of a stream (beyond.md 2): content is held until it ends. */
struct weir_stream_hold {
    bool said;
    uint32_t tokens;    /* it ends with that many content deltas; 0: no window; WEIR_UNSET: not by number */
    uint64_t window_ns; /* or so long after the first; WEIR_UNSET_NS: not by time; both: with the answer */
};

/*
 * Limits on the time of calls, attempts and streams.  Every field is found by itself: what the hop's target
 * says, else the request, the deployment, the deployment's own group, the router (router-semantics 25).  A
 * limit of 0 is none.
 */
struct weir_limits {
    uint64_t timeout_ns;        /* one attempt; of a stream: as the next one where that is not said */
    uint64_t stream_timeout_ns; /* until a stream's first chunk */
    uint64_t ttft_timeout_ns;   /* until a stream's first content; a plain call: until its response head */
    uint64_t stream_idle_timeout_ns; /* silence between a stream's first chunk, its contents and its finish */
    uint64_t call_deadline_ns;       /* the whole call: attempts, waits and hops (beyond.md 1) */
    struct weir_stream_rate min_stream_rate;
    struct weir_stream_hold stream_hold;
};

/* Nothing said: WEIR_UNSET_NS, a negative rate, no hold. */
#define WEIR_LIMITS_NONE                                                                                     \
    ((struct weir_limits){WEIR_UNSET_NS,                                                                     \
                          WEIR_UNSET_NS,                                                                     \
                          WEIR_UNSET_NS,                                                                     \
                          WEIR_UNSET_NS,                                                                     \
                          WEIR_UNSET_NS,                                                                     \
                          {-1, WEIR_UNSET_NS, WEIR_UNSET_NS},                                                \
                          {false, WEIR_UNSET, WEIR_UNSET_NS}})

/* A second attempt beside one that has given nothing for so long. */
struct weir_hedge {
    uint64_t after_ns; /* WEIR_UNSET_NS: not said; 0: never */
    uint32_t max;      /* that run beside one attempt */
};

#define WEIR_CONTROLS_NONE                                                                                   \
    ((struct weir_controls){WEIR_UNSET, WEIR_LIMITS_NONE, false, {WEIR_UNSET_NS, 1}, WEIR_UNSET_NS})

/* What a request, or the dict form of a fallback target, says of its own routing (router-semantics 2.7). */
struct weir_controls {
    uint32_t num_retries; /* WEIR_UNSET: not said; 0 turns retries and retry policies off */
    struct weir_limits limits;
    bool by_caller;          /* the limits are the caller's own: running out of them counts against nobody */
    struct weir_hedge hedge; /* what is said beats the group's */
    uint64_t all_cooling_wait_ns; /* likewise, of the asked group: a target's says nothing */
};

/* One step of a chain: a group, alias, wildcard name or deployment id, and what it changes for its hop. */
struct weir_target {
    struct weir_slice model;
    /* The host's own text for the other keys of a dict target (JSON here): opaque to the engine, handed
       back in the step that starts an attempt; empty: none. */
    struct weir_slice overrides;
    struct weir_controls controls;
};

/* The ordered targets of one group; "*" stands for every group that has no entry of its own. */
struct weir_chain {
    struct weir_slice group;
    const struct weir_target *targets;
    size_t count; /* 0: the group falls back to nothing, "*" neither (decisions 14) */
};

typedef enum weir_list_presence {
    WEIR_LIST_ABSENT, /* the field is not there: the router's list holds */
    WEIR_LIST_NULL,   /* the field is null: no list (decisions 14) */
    WEIR_LIST_GIVEN   /* a list, perhaps without entries */
} weir_list_presence;

/* A request's own list.  The plain form (names without a group) is one chain for "*". */
struct weir_chain_list {
    weir_list_presence presence;
    const struct weir_chain *chains;
    size_t count;
};

/* Which list a failure takes (router-semantics 11.1). */
typedef enum weir_list_kind {
    WEIR_LIST_GENERIC,        /* fallbacks */
    WEIR_LIST_CONTEXT_WINDOW, /* context_window_fallbacks */
    WEIR_LIST_CONTENT_POLICY, /* content_policy_fallbacks */
    WEIR_LIST_KINDS
} weir_list_kind;

/* Whose list it is: the router's own, or the process settings that serve when the router has none. */
typedef enum weir_list_source { WEIR_SOURCE_ROUTER, WEIR_SOURCE_PROCESS, WEIR_LIST_SOURCES } weir_list_source;

/* How one of the candidates is chosen (router-semantics 6). */
typedef enum weir_strategy {
#define X(strategy, name, other_name, prose) WEIR_STRATEGY_##strategy,
#include <weir/tbl/strategies.h>
#undef X
    WEIR_STRATEGY_COUNT
} weir_strategy;

/* A strategy with its arguments; those that it does not know are not looked at.  Begin with
 * weir_strategy_spec_init. */
struct weir_strategy_spec {
    weir_strategy strategy;
    uint64_t ttl_ns;              /* LATENCY: samples count for so long after the newest of them; 3600 s */
    double lowest_latency_buffer; /* LATENCY: chosen among those within (1 + this) of the lowest; 0 */
    uint32_t
        max_latency_samples;  /* LATENCY: the newest so many count; 10, at most WEIR_LATENCY_SAMPLES_MAX */
    double confidence_low;    /* LAR1: 0.3 ... */
    double confidence_medium; /* 0.5 ... */
    double confidence_high;   /* 0.7; 0 < low < medium < high < 1 */
    uint64_t decay_ns;        /* P2C_EWMA: how long a peak is remembered; 10 s */
};

enum { WEIR_LATENCY_SAMPLES_MAX = 32 };

/* A set of model groups with a strategy of its own, which may itself be asked for (router-semantics 7). */
struct weir_routing_group {
    struct weir_slice name;
    const struct weir_slice *models; /* names of model groups; those that do not exist are left out */
    const int32_t *priorities; /* PRIORITY: the order that a member's deployments have in it; else NULL */
    size_t count;
    struct weir_strategy_spec strategy;
};

/* Classes of LAR1 (`model_info.type`; router-semantics 6.7). */
typedef enum weir_lar1_class {
    WEIR_LAR1_NONE,
    WEIR_LAR1_CLOUD_SMART,
    WEIR_LAR1_CLOUD_FAST,
    WEIR_LAR1_LOCAL,
    WEIR_LAR1_DEEP
} weir_lar1_class;

/* Limits of a minute, of the wall clock's in UTC; WEIR_UNSET_NS: none (router-semantics 19). */
struct weir_minute_limits {
    uint64_t requests;
    uint64_t tokens;
    uint64_t input_tokens;
    uint64_t output_tokens;
};

/* How many retries and hedges a group's calls may make (beyond.md 4): as many in the last ten seconds as
 * ratio times the requests of that time, and min_per_s times ten beside. */
struct weir_retry_budget {
    bool said;
    double ratio; /* negative: as many as they will */
    double min_per_s;
};

/* Each cooldown in a row, without a success between, lasts factor times as long as the one before it. */
struct weir_cooldown_growth {
    double factor; /* negative: not said; 1: no longer than the one before */
    uint64_t max_ns;
};

/* How the load of failure is shared (beyond.md 4).  Every field is found by itself: what the group says, else
 * the router. */
struct weir_resilience {
    struct weir_retry_budget retry_budget;
    struct weir_hedge hedge;
    uint64_t all_cooling_wait_ns; /* of a call with nowhere else to go, for a cooldown to end; 0: none */
    struct weir_cooldown_growth cooldown_growth;
    uint64_t cooldown_ramp_ns; /* after a cooldown a deployment is offered more and more often; 0: at once */
};

/* Nothing said: WEIR_UNSET_NS, a negative factor, no budget. */
#define WEIR_RESILIENCE_NONE                                                                                 \
    ((struct weir_resilience){                                                                               \
        {false, 0, 0}, {WEIR_UNSET_NS, 1}, WEIR_UNSET_NS, {-1, WEIR_UNSET_NS}, WEIR_UNSET_NS})

/* Questions that the host answers before a hop to another group (router-semantics 11.4); bits of
 * ask_before_hop. */
enum { WEIR_ASK_ACCESS = 1, WEIR_ASK_BUDGET = 2 };

/* Where a stream that broke after content may go on (beyond.md 3). */
enum { WEIR_CONTINUE_SOURCES = 2 };
typedef enum weir_continue_to {
    WEIR_CONTINUE_NOWHERE,
    WEIR_CONTINUE_FALLBACK, /* the chain for the failure */
    /* The others of the group that broke; and after every other way the deployment that broke itself. */
    WEIR_CONTINUE_GROUP
} weir_continue_to;

/* What is set for a model group (beyond.md); begin with weir_group_spec_init. */
struct weir_group_spec {
    struct weir_limits limits;
    struct weir_resilience resilience;
    /* As in weir_router_spec; WEIR_CONTINUE_NOWHERE first: as there. */
    weir_continue_to continue_to[WEIR_CONTINUE_SOURCES];
};

/* From a minute on, counted from 1970 in UTC, the clocks of a place are so far ahead of UTC. */
struct weir_zone_change {
    int64_t since_min;
    int32_t ahead_min;
};

/* The clocks of a place: UTC before the first of its changes, which rise. */
struct weir_zone {
    const struct weir_zone_change *changes;
    size_t count;
};

/* While it is open the deployment is for these teams alone.  Minutes of the place's day; the end is not in
 * it, and one before the start is that of the next day. */
struct weir_access_window {
    uint32_t start_min;
    uint32_t end_min;
    struct weir_zone zone;
    const struct weir_slice *teams;
    size_t team_count;
};

/* Begin with weir_deployment_spec_init; id, group and model must be set (router-semantics 2.1 to 2.3). */
struct weir_deployment_spec {
    struct weir_slice id;      /* unique in the snapshot */
    struct weir_slice group;   /* `model_name`; may hold "*" (router-semantics 3) */
    struct weir_slice model;   /* `litellm_params.model`, with its provider; may hold "*" */
    double weight;             /* first source of simple-shuffle (6.1); 0, or less: none */
    double rpm;                /* second */
    double tpm;                /* third */
    int32_t order;             /* lowest first (13.1); WEIR_UNSET_ORDER: after all others */
    uint32_t num_retries;      /* after a failure of this one (8); WEIR_UNSET: the router's */
    struct weir_limits limits; /* what is not said: the group's, then the router's */
    bool supports_prefill;     /* takes a trailing assistant message as the start of its answer (14.4) */
    uint64_t cooldown_ns;      /* WEIR_UNSET_NS: by Retry-After, then the router (15.2); 0: never cooled */
    uint32_t allowed_fails;    /* more than so many cool it (16); WEIR_UNSET: see there */
    struct weir_policy allowed_fails_policy; /* the same by kind, and before it */
    struct weir_minute_limits minute;        /* of the minute; weights are written apart, above */
    uint32_t max_parallel;                   /* attempts at once; WEIR_UNSET: any number (19) */
    double input_cost;                       /* per token; 0 or less: unknown (6.6) */
    double output_cost;
    uint64_t max_input_tokens; /* WEIR_UNSET_NS: unknown (18) */
    uint64_t parameters;      /* bits of what the host numbers: parameters that it takes; all set: any (18) */
    struct weir_slice region; /* empty: any (18) */
    uint64_t routes;          /* likewise: kinds of call that it serves; all set: any (4) */
    bool no_web_search;       /* (4) */
    weir_lar1_class lar1_class;
    const struct weir_access_window *windows; /* `access_windows` (3): it is reserved while one is open */
    size_t window_count;
    const struct weir_slice *tags; /* (20) */
    size_t tag_count;
    bool has_tag_pattern;    /* weir_request.matches says whether a request fits it */
    weir_flag tag_filtering; /* of its group: the first deployment that says something decides (20) */
    bool tag_fail_open; /* of its group, likewise of any: constraints that nobody meets are left out (20) */
    bool blocked;       /* paused by an administrator */
    bool never_probed;  /* `disable_background_health_check`: no result of a probe removes it (17) */
    void *user;         /* the host's; returned by weir_deployment_user */
};

/* Begin with weir_router_spec_init; the numbers in the comments are its defaults (router-semantics 2.4). */
struct weir_router_spec {
    struct weir_strategy_spec strategy; /* WEIR_STRATEGY_SIMPLE_SHUFFLE */
    struct weir_resilience resilience;  /* nothing of it */
    bool enforce_minute_limits;         /* `enforce_model_rate_limits` (19); false */
    bool pre_call_checks;               /* (18); false */
    bool tag_filtering;                 /* `enable_tag_filtering` (20); false */
    bool tag_match_all;                 /* plain tags must all match (20); false */
    double token_margin;             /* estimates of prompt tokens may be so far off (decisions 37); 0.25 */
    uint32_t num_retries;            /* per group, after the first attempt; 2 */
    struct weir_policy retry_policy; /* retries by kind (10); says nothing */
    uint64_t retry_after_ns;         /* least wait without a Retry-After; 0 */
    uint64_t initial_retry_delay_ns; /* 0.5 s, doubled for each wait */
    uint64_t max_retry_delay_ns;     /* 8 s */
    uint64_t jitter_ns;              /* waits grow by [0, jitter); 0.75 s */
    uint32_t max_fallbacks;          /* hops to other groups in one call; 5; 0: none */
    bool weighted_failover;          /* siblings before any chain, with simple-shuffle (13.2); false */
    struct weir_limits limits;       /* timeout_ns 6000 s; nothing else said */
    bool continuation;               /* of streams that broke after content (14.3); false */
    weir_continue_to continue_to[WEIR_CONTINUE_SOURCES]; /* in that order; WEIR_CONTINUE_FALLBACK alone */
    uint64_t cooldown_ns;                                /* 5 s; 0 counts as unset */
    uint64_t cooldown_cap_ns;                            /* most that a Retry-After may cool; 1 h */
    bool disable_cooldowns;                              /* false */
    uint32_t allowed_fails; /* WEIR_UNSET unless written in the configuration (reliability.md) */
    struct weir_policy allowed_fails_policy; /* by kind (16); says nothing */
    double failure_threshold;                /* 0.5, of 0 to 1: cool above this share of failures ... */
    uint32_t failure_min_requests;           /* 5: ... of at least so many attempts */
    uint32_t single_failure_minimum; /* 1000: failures without one success that cool a lone deployment too */
    bool health_check_routing;    /* (17) with a policy: all cooling is answered by ignoring the cooldowns */
    bool health_ignore_transient; /* probes that fail with 429 or 408 change nothing; false */
    uint64_t health_staleness_ns; /* an older result of a probe counts as healthy; 600 s */
    const struct weir_slice *health_groups; /* `background_health_check_model_groups`; names that no group has
                                               are left out */
    size_t health_group_count;              /* 0: all groups */
    bool cancel_on_disconnect;              /* plain calls end, too, when the caller leaves */
    unsigned ask_before_hop;                /* WEIR_ASK_* bits; 0: hops are never asked about */
};

/* Every field at its default. */
WEIR_EXPORT void weir_policy_init(struct weir_policy *policy);
WEIR_EXPORT void weir_deployment_spec_init(struct weir_deployment_spec *spec);
WEIR_EXPORT void weir_group_spec_init(struct weir_group_spec *spec);
WEIR_EXPORT void weir_strategy_spec_init(struct weir_strategy_spec *spec, weir_strategy strategy);
WEIR_EXPORT void weir_router_spec_init(struct weir_router_spec *spec);

/* 0 or WEIR_ERR_NOMEM. */
WEIR_EXPORT WEIR_MUST_USE int weir_snapshot_builder_new(const struct weir_mem *mem,
                                                        weir_snapshot_builder **ret_builder);
/* Accepts NULL. */
WEIR_EXPORT void weir_snapshot_builder_free(weir_snapshot_builder *builder);

/* The name, id or entry is taken already; nothing was added. */
#define WEIR_SNAPSHOT_EXISTS 1

/*
 * Each adds one thing; 0, WEIR_ERR_NOMEM, WEIR_ERR_INVALID (an empty name, id or model, a number that is not
 * finite, a group with more than sixteen stars) or, where a name can be taken, WEIR_SNAPSHOT_EXISTS.
 * Deployments keep the order in which they are added.
 */
WEIR_EXPORT WEIR_MUST_USE int weir_snapshot_add_deployment(weir_snapshot_builder *builder,
                                                           const struct weir_deployment_spec *spec);
/* An alias beats a group of the same name; hidden ones are not listed. */
WEIR_EXPORT WEIR_MUST_USE int weir_snapshot_add_alias(weir_snapshot_builder *builder, struct weir_slice alias,
                                                      struct weir_slice target, bool hidden);
/* A second chain for the same group of the same list gives WEIR_SNAPSHOT_EXISTS: the first holds. */
WEIR_EXPORT WEIR_MUST_USE int weir_snapshot_add_chain(weir_snapshot_builder *builder, weir_list_kind list,
                                                      weir_list_source source,
                                                      const struct weir_chain *chain);
/* `default_fallbacks` of either section: appended as "*" to the generic list that holds (decisions 14). */
WEIR_EXPORT WEIR_MUST_USE int weir_snapshot_set_default_fallbacks(weir_snapshot_builder *builder,
                                                                  weir_list_source source,
                                                                  const struct weir_target *targets,
                                                                  size_t count);
/* `model_group_retry_policy`: replaces the router's policy for that group. */
WEIR_EXPORT WEIR_MUST_USE int weir_snapshot_add_retry_policy(weir_snapshot_builder *builder,
                                                             struct weir_slice group,
                                                             const struct weir_policy *policy);
/* What holds for a group's deployments where they say nothing; a pattern is a group by its own name.  A
 * second one for the same group gives WEIR_SNAPSHOT_EXISTS.  The group need not exist. */
WEIR_EXPORT WEIR_MUST_USE int weir_snapshot_add_group(weir_snapshot_builder *builder, struct weir_slice group,
                                                      const struct weir_group_spec *spec);
/* A second routing group of a name gives WEIR_SNAPSHOT_EXISTS; the name `default`, a model that is in one
 * already (PRIORITY groups are not counted), or arguments that make no sense WEIR_ERR_INVALID.  Within a
 * PRIORITY group's orders the router's strategy chooses. */
WEIR_EXPORT WEIR_MUST_USE int weir_snapshot_add_routing_group(weir_snapshot_builder *builder,
                                                              const struct weir_routing_group *group);
/* The names of health_groups must live until the snapshot is built. */
WEIR_EXPORT void weir_snapshot_set_router(weir_snapshot_builder *builder,
                                          const struct weir_router_spec *spec);

/*
 * Makes the snapshot, with one reference for the caller; the builder is empty afterwards and may be freed.
 * 0, WEIR_ERR_NOMEM, or WEIR_ERR_INVALID when the router's strategy is none of weir_strategy or
 * PRIORITY, an argument of it makes no sense, or failure_threshold or token_margin is not from 0 to 1.
 */
WEIR_EXPORT WEIR_MUST_USE int weir_snapshot_build(weir_snapshot_builder *builder,
                                                  weir_snapshot **ret_snapshot);

/* Thread-safe.  The last unref frees; NULL is accepted. */
WEIR_EXPORT weir_snapshot *weir_snapshot_ref(weir_snapshot *snapshot);
WEIR_EXPORT void weir_snapshot_unref(weir_snapshot *snapshot);

/* Reading.  All results live as long as the snapshot; indices run from 0 to the count. */
WEIR_EXPORT size_t weir_snapshot_deployment_count(const weir_snapshot *snapshot);
WEIR_EXPORT const weir_deployment *weir_snapshot_deployment(const weir_snapshot *snapshot, size_t index);
/* NULL when no deployment has the id. */
WEIR_EXPORT const weir_deployment *weir_snapshot_find_deployment(const weir_snapshot *snapshot,
                                                                 struct weir_slice id);
WEIR_EXPORT size_t weir_snapshot_group_count(const weir_snapshot *snapshot);
/* Groups in the order of their first deployment, wildcard patterns among them. */
WEIR_EXPORT struct weir_slice weir_snapshot_group_name(const weir_snapshot *snapshot, size_t index);
/* A group is called exactly so: no alias, and no name that a pattern matches. */
WEIR_EXPORT bool weir_snapshot_has_group(const weir_snapshot *snapshot, struct weir_slice name);
WEIR_EXPORT size_t weir_snapshot_alias_count(const weir_snapshot *snapshot);
WEIR_EXPORT struct weir_slice weir_snapshot_alias_name(const weir_snapshot *snapshot, size_t index,
                                                       bool *ret_hidden);
WEIR_EXPORT const struct weir_router_spec *weir_snapshot_router(const weir_snapshot *snapshot);

WEIR_EXPORT struct weir_slice weir_deployment_id(const weir_deployment *deployment);
WEIR_EXPORT struct weir_slice weir_deployment_group(const weir_deployment *deployment);
WEIR_EXPORT struct weir_slice weir_deployment_model(const weir_deployment *deployment);
WEIR_EXPORT const struct weir_minute_limits *weir_deployment_minute_limits(const weir_deployment *deployment);
/* Paused: never picked, and refused by its id. */
WEIR_EXPORT bool weir_deployment_blocked(const weir_deployment *deployment);
/* Probes ask it: its group is among those listed, if any are, and it is not left out of them (17). */
WEIR_EXPORT bool weir_deployment_is_probed(const weir_deployment *deployment);
WEIR_EXPORT void *weir_deployment_user(const weir_deployment *deployment);

/*
 * Whether a name can be routed at all (group, alias, id, wildcard, provider's model), for pages that list or
 * describe models; calls resolve for themselves.
 */
WEIR_EXPORT bool weir_snapshot_knows(const weir_snapshot *snapshot, struct weir_slice model);

/* The model group of a name: itself, an alias's, a pattern's, or that of the deployment whose id it is;
 * empty: it stands for several (a routing group, a provider's model) or for nothing.  qualified as in
 * weir_request. */
WEIR_EXPORT struct weir_slice weir_snapshot_group_of(const weir_snapshot *snapshot, struct weir_slice model,
                                                     struct weir_slice qualified);

/* Whether picks look at weir_request.prompt_tokens: a host need not estimate it where they do not. */
WEIR_EXPORT bool weir_snapshot_uses_prompt_tokens(const weir_snapshot *snapshot);

/* Whether the router or a routing group chooses by the strategy. */
WEIR_EXPORT bool weir_snapshot_has_strategy(const weir_snapshot *snapshot, weir_strategy strategy);

/* Whether any group hedges: a host need not look for stored state (weir_request.stateful) where none does. */
WEIR_EXPORT bool weir_snapshot_hedges(const weir_snapshot *snapshot);

#ifdef __cplusplus
}
#endif

#endif
