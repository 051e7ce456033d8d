/*
 * What a request for a name would do now: whom the name stands for, who may be chosen and with which odds,
 * and why the others may not, how failures would be retried, and where they would lead (beyond.md 7).
 *
 * Nothing is changed by it, and nothing is counted: a request that comes right after finds what is told here,
 * as far as no other one comes between.
 */
#ifndef WEIR_EXPLAIN_H
#define WEIR_EXPLAIN_H

#include <stdbool.h>
#include <stdint.h>

#include <weir/attr.h>
#include <weir/call.h>
#include <weir/candidate.h>
#include <weir/failure.h>
#include <weir/mem.h>
#include <weir/router.h>
#include <weir/snapshot.h>

#ifdef __cplusplus
extern "C" {
#endif

/* How a name came to stand for what it does (router-semantics 3). */
typedef enum weir_resolution_how {
#define X(how, name, prose) WEIR_BY_##how,
#include <weir/tbl/resolutions.h>
#undef X
    WEIR_RESOLUTIONS
} weir_resolution_how;

/* "group", "alias", ...  Lives for ever; thread-safe. */
WEIR_EXPORT struct weir_slice weir_resolution_name(weir_resolution_how how);

struct weir_explained {
    const weir_deployment *deployment;
    int32_t order; /* in the set that the name stands for; WEIR_UNSET_ORDER: none is said */
    /* ELIGIBLE: a pick may choose it; NO_SLOT, LIMIT_SPENT: it may too, and would be refused then; else what
       keeps it from being chosen, as of a pick that is made (candidate.h). */
    weir_fate fate;
    uint64_t until_ns; /* the end of its cooldown, whatever its fate; 0: it does not cool down */
    double odds;       /* from 0 to 1, of the first pick */
};

/* The chain that a failure would take; its targets live as long as the snapshot and the request. */
struct weir_explained_chain {
    bool is_own; /* the list of that kind of failure is configured; else it is the generic one's */
    const struct weir_target *targets;
    size_t count;
};

struct weir_explanation {
    weir_resolution_how how;
    struct weir_slice group;           /* that serves: an alias put through; of FALLBACK_STAR the target's */
    struct weir_slice pattern;         /* that the name, or what its alias stands for, matches; empty: none */
    struct weir_slice strategy;        /* that chooses; empty: an id was asked, or the name is unknown */
    struct weir_explained *candidates; /* the first, in the order of the configuration */
    uint32_t count;
    uint32_t omitted;  /* that the name stands for besides */
    uint32_t eligible; /* that may be chosen, those that are omitted among them */
    /* How often the first failure of a kind, with the kind's own status, would be retried by a deployment
       that says nothing of it; 0: not at all. */
    uint32_t retries[WEIR_KIND_COUNT];
    struct weir_explained_chain chains[WEIR_LIST_KINDS];
    uint32_t max_fallbacks; /* hops to other groups; 0: none, or the request wants none */
};

enum { WEIR_EXPLAINED_MAX = 10000 };

/*
 * Explains a request.  request->note_candidates says how many candidates are told of, up to
 * WEIR_EXPLAINED_MAX.  The odds are those of the strategy's rule, worked out and not tried.  Where a ramp
 * holds somebody back they are the mean of 64 throws of its dice.  Time grows with n log n of the group.
 *
 * The snapshot must have been adopted by the router.  What the explanation points to comes from mem and is
 * freed by weir_explanation_deinit.  0, WEIR_ERR_NOMEM or WEIR_ERR_INVALID (as weir_call_begin). Thread-safe.
 */
WEIR_EXPORT WEIR_MUST_USE int weir_router_explain(weir_router *router, weir_snapshot *snapshot,
                                                  const struct weir_request *request,
                                                  const struct weir_mem *mem, uint64_t now_ns,
                                                  struct weir_explanation *ret_explanation);

WEIR_EXPORT void weir_explanation_deinit(struct weir_explanation *explanation, const struct weir_mem *mem);

#ifdef __cplusplus
}
#endif

#endif
