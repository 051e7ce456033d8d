/*
 * Which deployments may be chosen (router-semantics 4), and the choosing of one.
 *
 * Every filter that looks at one candidate at a time is a row of tbl/filters.h; which rows are on is a set of
 * bits.  filter.c applies them in the order of the table, tier by tier.
 */
#ifndef WEIR_ENGINE_FILTER_H
#define WEIR_ENGINE_FILTER_H

#include <stdbool.h>
#include <stdint.h>

#include <weir/call.h>
#include <weir/snapshot.h>

#include "base/rand.h"
#include "base/slice.h"
#include "engine/live/health.h"
#include "engine/live/live.h"
#include "engine/live/usage.h"
#include "engine/pick/access.h"
#include "engine/snapshot/resolve.h"
#include "engine/snapshot/snapshot.h"

/* A set of deployments by slot: one bit each.  words NULL: empty. */
struct weir_slot_set {
    uint64_t *words;
};

static inline size_t weir_slot_set_words(uint32_t slots)
{
    return ((size_t)slots + 63) / 64;
}

static inline bool weir_slot_set_has(const struct weir_slot_set *set, uint32_t slot)
{
    return set->words != NULL && (set->words[slot / 64] >> slot % 64 & 1) != 0;
}

static inline void weir_slot_set_remove(struct weir_slot_set *set, uint32_t slot)
{
    if (set->words != NULL)
        set->words[slot / 64] &= ~(UINT64_C(1) << slot % 64);
}

enum weir_filter {
#define X(filter, drops) WEIR_FILTER_##filter,
#include "engine/tbl/filters.h"
#undef X
    WEIR_FILTERS
};

#define WEIR_FILTER_BIT(filter) (1U << WEIR_FILTER_##filter)

/* What a strategy chooses from. */
struct weir_candidates {
    const weir_snapshot *snapshot;
    const struct weir_request *request;
    const struct weir_live *live;
    const struct weir_tier *tier;
    struct weir_slot_set pool;     /* the deployments that the request's tags leave */
    struct weir_slot_set failed;   /* the deployments that failed in this call */
    struct weir_slot_set excluded; /* those that must not be offered */
    uint64_t prompt_tokens;        /* that the prompt has for sure (decisions 37) */
    uint64_t dice;                 /* of the pick, for those that are held back */
    uint64_t now_ns;
    uint64_t minute;                           /* of the wall clock; see usage.h */
    const struct weir_strategy_spec *strategy; /* that chooses among them */
    struct weir_slice group;                   /* that serves */
    unsigned filters;                          /* WEIR_FILTER_BIT of those that are on */
};

static inline bool weir_filter_shut(const struct weir_candidates *c, uint32_t member)
{
    return weir_access_is_shut(&c->tier->members[member]->spec, c->request->team, c->minute);
}

static inline bool weir_filter_no_route(const struct weir_candidates *c, uint32_t member)
{
    return (c->request->route & ~c->tier->members[member]->spec.routes) != 0;
}

static inline bool weir_filter_no_web_search(const struct weir_candidates *c, uint32_t member)
{
    return c->tier->members[member]->spec.no_web_search;
}

static inline bool weir_filter_too_long(const struct weir_candidates *c, uint32_t member)
{
    return c->prompt_tokens > c->tier->members[member]->spec.max_input_tokens;
}

static inline bool weir_filter_no_requests_left(const struct weir_candidates *c, uint32_t member)
{
    return weir_usage_of(c->live, c->tier->slots[member], WEIR_USAGE_REQUESTS, c->minute) >=
           c->tier->members[member]->spec.minute.requests;
}

static inline bool weir_filter_out_of_region(const struct weir_candidates *c, uint32_t member)
{
    struct weir_slice region = c->tier->members[member]->spec.region;

    return region.len > 0 && c->request->region.len > 0 && !weir_slice_eq(region, c->request->region);
}

static inline bool weir_filter_lacks_parameters(const struct weir_candidates *c, uint32_t member)
{
    return (c->request->parameters & ~c->tier->members[member]->spec.parameters) != 0;
}

static inline bool weir_filter_out_of_pool(const struct weir_candidates *c, uint32_t member)
{
    return !weir_slot_set_has(&c->pool, c->tier->slots[member]);
}

static inline bool weir_filter_no_prefill(const struct weir_candidates *c, uint32_t member)
{
    return !c->tier->members[member]->spec.supports_prefill;
}

static inline bool weir_filter_unhealthy(const struct weir_candidates *c, uint32_t member)
{
    return weir_deployment_is_probed(c->tier->members[member]) &&
           weir_health_is_bad(c->live, c->tier->slots[member], c->snapshot->spec.health_staleness_ns,
                              c->now_ns);
}

static inline bool weir_filter_cooling(const struct weir_candidates *c, uint32_t member)
{
    return weir_live_is_cooling(c->live, c->tier->slots[member], c->now_ns);
}

/* Whether the pick leaves out a member whose cooldown ended not long ago (beyond 4). */
bool weir_filter_held_back(const struct weir_candidates *c, uint32_t member);

static inline bool weir_filter_excluded(const struct weir_candidates *c, uint32_t member)
{
    return weir_slot_set_has(&c->excluded, c->tier->slots[member]);
}

static inline bool weir_filter_failed(const struct weir_candidates *c, uint32_t member)
{
    return weir_slot_set_has(&c->failed, c->tier->slots[member]);
}

/* Whether a filter that is on drops the member: of all of them. */
bool weir_filter_drops(const struct weir_candidates *c, uint32_t member);

/* Whether no filter that is on drops the member.  Which one does is nobody's question, so those that every
 * pick has come first, and mostly alone. */
static inline bool weir_filter_keeps(const struct weir_candidates *c, uint32_t member)
{
    const unsigned usual = WEIR_FILTER_BIT(COOLDOWN) | WEIR_FILTER_BIT(SKIP);

    if ((c->filters & WEIR_FILTER_BIT(COOLDOWN)) != 0 && weir_filter_cooling(c, member))
        return false;
    if ((c->filters & WEIR_FILTER_BIT(SKIP)) != 0 && weir_filter_failed(c, member))
        return false;
    return (c->filters & ~usual) == 0 || !weir_filter_drops(c, member);
}

/* Whether a run of slots begins at the member that is the tier's alone, one member after the other. */
static inline bool weir_filter_begins_run(const struct weir_candidates *c, uint32_t member)
{
    const struct weir_tier *tier = c->tier;
    uint32_t last = member + WEIR_LIVE_RUN_SLOTS - 1;

    return tier->slots[member] % WEIR_LIVE_RUN_SLOTS == 0 && tier->rising && last < tier->count &&
           tier->slots[last] == tier->slots[member] + WEIR_LIVE_RUN_SLOTS - 1;
}

/* Whether all members of the run that begins there are dropped because they cool down. */
static inline bool weir_filter_run_is_cooling(const struct weir_candidates *c, uint32_t member)
{
    return (c->filters & WEIR_FILTER_BIT(COOLDOWN)) != 0 &&
           weir_live_run_is_cooling(c->live, c->tier->slots[member], c->now_ns);
}

/* The first member from the given one on that no filter drops; the tier's count when there is none. */
uint32_t weir_filter_next(const struct weir_candidates *c, uint32_t member);

/* Which deployments a pick is about. */
enum weir_pick_mode {
    WEIR_PICK_LOWEST,       /* the lowest order that has a candidate */
    WEIR_PICK_ORDER,        /* one order, and no other */
    WEIR_PICK_SIBLINGS,     /* what is neither excluded nor cools down, lowest order first */
    WEIR_PICK_CONTINUATION, /* the same of what takes a prefill; an id is no exception */
    WEIR_PICK_HEDGE         /* one order, of what is neither excluded nor cools down */
};

struct weir_pick {
    const weir_snapshot *snapshot;
    const struct weir_request *request;
    const struct weir_live *live;
    const struct weir_resolution *from;
    struct weir_slot_set pool; /* written by the pick where tags route; must have words then */
    struct weir_slot_set failed;
    struct weir_slot_set excluded; /* of the last three modes */
    uint64_t dice;                 /* random where the snapshot has a ramp */
    uint64_t now_ns;
    enum weir_pick_mode mode;
    int32_t order; /* of WEIR_PICK_ORDER and WEIR_PICK_HEDGE */
};

/* How a pick went, for those who want to tell of it (note.h).  A pick may go through its tiers several times,
 * with fewer filters each time: this is the last one. */
struct weir_trail {
    const struct weir_set *set; /* that was picked from: the name's, or what the tags leave; NULL: nobody */
    unsigned filters;           /* that were on in the beginning */
    unsigned last_filters;      /* that were on where somebody was chosen */
};

/* The candidates of the pick behind those filters; their tier is to be set. */
struct weir_candidates weir_filter_candidates(const struct weir_pick *pick, unsigned filters);

/*
 * Chooses a deployment; NULL when no candidate is left.  An id is taken even while it cools down, but for a
 * continuation, and not when it is blocked.  Takes no lock and allocates nothing.
 */
const weir_deployment *weir_filter_pick(const struct weir_pick *pick, struct weir_rand *rand,
                                        struct weir_trail *ret_trail);

/* The filters that a tier is left with when it was gone through and has nobody. */
unsigned weir_filter_lifted(const struct weir_pick *pick, unsigned filters);

/* The first filter that is on and drops the member; WEIR_FILTERS: none does. */
enum weir_filter weir_filter_first(const struct weir_candidates *c, uint32_t member);

/*
 * Why a pick among the deployments of a set found nobody: WEIR_REASON_NO_DEPLOYMENTS, _USAGE, _TAGS,
 * _PROMPT_TOO_LONG or _UNSUITABLE.
 */
weir_reason weir_filter_why(const struct weir_pick *pick);

/* Whether the filters leave anybody of the set, which is the pick's or a pool of it. */
bool weir_filter_leaves_any(const struct weir_pick *pick, const struct weir_set *set, unsigned filters);

/* Tells by the numbers of the set's deployments which ones a pick may choose as they stand: which are not
 * blocked, and not dropped by the filters of probes and cooldowns that it goes by. */
void weir_filter_standing(const struct weir_pick *pick, bool *ret_eligible);

/* Whether cooldowns alone leave nobody of the set. */
bool weir_filter_is_starved(const struct weir_pick *pick);

/* When the first of a set's deployments that the other filters leave cools down no more, which may be now;
 * UINT64_MAX: they leave nobody. */
uint64_t weir_filter_soonest_return(const struct weir_pick *pick);

/*
 * These three look at what the caller may use alone (`access_windows`).
 *
 * Whether a deployment of the name is neither cooling down nor blocked, and has something left of its
 * enforced limits of the minute: `healthy` > 0 (router-semantics 5).
 */
bool weir_filter_any_healthy(const weir_snapshot *snapshot, const struct weir_request *request,
                             const struct weir_live *live, const struct weir_resolution *from,
                             uint64_t now_ns);

/* Whether a deployment of the name is neither cooling down nor blocked, whatever its limits leave. */
bool weir_filter_any_warm(const struct weir_request *request, const struct weir_live *live,
                          const struct weir_resolution *from, uint64_t now_ns);

/* When the first of the cooldowns in the set ends; UINT64_MAX when none of its usable deployments cools. */
uint64_t weir_filter_soonest_end(const struct weir_request *request, const struct weir_live *live,
                                 const struct weir_resolution *from, uint64_t now_ns);

#endif
