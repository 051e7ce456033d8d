/*
 * The inside of a snapshot: what the engine reads on every call.
 *
 * Everything lies in one arena and is constant once built, except the slots, which weir_router_adopt fills in
 * before the first call.  A *set* is what a name can stand for: a group (or wildcard pattern), or all
 * deployments of one provider model.  A set's usable deployments are cut into *tiers*, one for each `order`;
 * each tier carries the running sums of its weights, so that a pick is one binary search.
 *
 * Invariants (weir_snapshot_validate): members keep the order of the configuration; tiers rise by order, hold
 * each unblocked member once and no blocked one; running sums never fall; an id finds its own deployment.
 */
#ifndef WEIR_ENGINE_SNAPSHOT_H
#define WEIR_ENGINE_SNAPSHOT_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <weir/attr.h>
#include <weir/mem.h>
#include <weir/router.h>
#include <weir/slice.h>
#include <weir/snapshot.h>

#include "base/arena.h"
#include "base/map.h"

/* The sources of simple-shuffle's weights, first to last: weight, rpm, tpm (router-semantics 6.1). */
enum { WEIR_WEIGHT_SOURCES = 3 };

/* The most stars that the name of a wildcard group may have. */
enum { WEIR_WILDCARD_STARS_MAX = 16 };

/* The most names of one sort in a snapshot: deployments, groups, aliases, chains of a list. */
enum { WEIR_SNAPSHOT_NAMES_MAX = 1000 * 1000 };

struct weir_budget;
struct weir_set;

struct weir_deployment {
    struct weir_deployment_spec spec; /* slices point into the arena; its group's and router's limits too */
    const weir_continue_to *continue_to; /* WEIR_CONTINUE_SOURCES of them: its group's, or the router's */
    const struct weir_set *group;        /* its own group, whose size the cooldown rules take (decisions 6) */
    double weights[WEIR_WEIGHT_SOURCES];
    uint32_t slot;                /* of its live state */
    uint32_t number;              /* of the deployment in its snapshot */
    struct weir_slice lasting_id; /* the id, living as long as the router; after adoption */
    unsigned shares;              /* WEIR_SHARED_BIT of what other processes are told of it */
};

struct weir_tier {
    int32_t order;
    uint32_t count;
    const weir_deployment **members;      /* a part of what the set's tiers share */
    uint32_t *slots;                      /* of the members */
    bool rising;                          /* the slots rise from member to member */
    double greatest[WEIR_WEIGHT_SOURCES]; /* weight of a member */
    double *sums[WEIR_WEIGHT_SOURCES];    /* running sums of weight / greatest; NULL: all are zero */
    /* The members as COST and LAR1 look at them: cheapest first, or by class; of other strategies NULL. */
    uint32_t *ranking;
};

struct weir_set {
    struct weir_slice name;
    struct weir_slice lasting_name; /* of a group: the same, living as long as the router; after adoption */
    struct weir_resilience resilience; /* of a group; what it does not say is the router's */
    struct weir_budget *budget;        /* of a group that has one; after adoption */
    uint32_t count;
    const weir_deployment **members; /* all, in the order of the configuration */
    uint32_t tier_count;
    struct weir_tier *tiers; /* the unblocked ones, lowest order first */
    struct weir_map orders;  /* of a priority group: int32_t by the name of a member's group */
    const struct weir_strategy_spec *strategy;
    struct weir_map pools;   /* struct weir_set by tag; see pools.h */
    weir_flag tag_filtering; /* what the members say of tags (router-semantics 20) */
    bool tag_fail_open;
    bool has_tags;          /* some member has tags, or a pattern of them */
    bool has_tag_patterns;  /* some member has a pattern */
    bool has_web_search;    /* some usable member serves it */
    bool has_windows;       /* some member is reserved at times */
    uint64_t routes_served; /* kinds of call that some usable member serves */
    uint64_t routes_lacked; /* kinds of call that some usable member does not serve */
    bool probed;            /* of a group: probes are about it (17) */
    bool has_health;        /* picks leave out members whose probes fail */
};

/* A routing group: its own set, and how its models' sets are picked from (router-semantics 7). */
struct weir_routing {
    struct weir_routing_group spec; /* copied into the arena */
    struct weir_set set;            /* of all members; empty: none of the models exists */
};

struct weir_alias {
    struct weir_slice name;
    struct weir_slice target;
    bool hidden;
};

/* One configured list: its chains in order, and the same by group. */
struct weir_list {
    struct weir_chain *chains;
    size_t count;
    struct weir_map by_group; /* struct weir_chain */
};

struct weir_default_chain {
    const struct weir_target *targets;
    size_t count;
};

struct weir_snapshot {
    const struct weir_mem *mem;
    _Atomic uint32_t refs;
    struct weir_arena arena;
    const weir_router *router; /* who adopted it; NULL: nobody yet */
    struct weir_router_spec spec;
    bool has_retry_policy;
    bool has_fails_policy;
    bool has_ramp;   /* a group has one */
    bool has_health; /* a group may have the binary filter (17) */

    weir_deployment **deployments;
    size_t deployment_count;
    struct weir_map by_id; /* weir_deployment */
    uint32_t slot_limit;   /* greater than every slot; after adoption */

    struct weir_set **groups;
    size_t group_count;
    struct weir_map by_group;    /* struct weir_set */
    struct weir_set **wildcards; /* the most specific first */
    size_t wildcard_count;
    struct weir_set **models; /* by provider model */
    size_t model_count;
    struct weir_map by_model; /* struct weir_set */

    struct weir_alias **aliases;
    size_t alias_count;
    struct weir_map by_alias; /* struct weir_alias */
    struct weir_routing **routings;
    size_t routing_count;
    struct weir_map by_routing; /* struct weir_routing by name */
    struct weir_map routed;     /* the same by the models that it sets the strategy of */

    struct weir_list lists[WEIR_LIST_KINDS][WEIR_LIST_SOURCES];
    struct weir_default_chain defaults[WEIR_LIST_SOURCES];
    struct weir_map retry_policies; /* struct weir_policy by group */
    struct weir_map group_specs;    /* struct weir_group_spec by group */
};

/* An empty snapshot with one reference, to be filled by the builder.  0 or WEIR_ERR_NOMEM. */
WEIR_MUST_USE int weir_snapshot_new(const struct weir_mem *mem, weir_snapshot **ret_snapshot);

/*
 * Cuts the members of a set, which are complete, into tiers.  Failure shows in the arena's flag, as for all
 * that is built in it.
 */
void weir_snapshot_make_tiers(weir_snapshot *snapshot, struct weir_set *set);

/* The order that a deployment has in the set: what the set gives its group, or its own. */
int32_t weir_set_order_of(const struct weir_set *set, const weir_deployment *deployment);

/* What a token in and a token out cost together; a price that is not known is 5 (router-semantics 6.6). */
static inline double weir_deployment_cost(const weir_deployment *deployment)
{
    double input = deployment->spec.input_cost, output = deployment->spec.output_cost;

    return (input > 0 ? input : 5) + (output > 0 ? output : 5);
}

/* A member's weight from a source as a part of the tier's greatest, so that no sum overflows. */
static inline double weir_tier_weight(const struct weir_tier *tier, uint32_t member, size_t source)
{
    return tier->sums[source] == NULL ? 0 : tier->members[member]->weights[source] / tier->greatest[source];
}

/* Copies the slots of the deployments to where picks read them. */
void weir_snapshot_place_slots(weir_snapshot *snapshot);

/* The part of an estimate of tokens that is there for sure: nobody is dropped for what may be its error
 * (decisions 37). */
static inline uint64_t weir_snapshot_sure_tokens(const weir_snapshot *snapshot, uint64_t estimate)
{
    double sure = (double)estimate * (1 - snapshot->spec.token_margin);

    return sure > 0 ? (uint64_t)sure : 0;
}

/* The first tier above an order, or NULL. */
const struct weir_tier *weir_set_tier_above(const struct weir_set *set, int32_t order);

bool weir_snapshot_validate(const weir_snapshot *snapshot);

#endif
