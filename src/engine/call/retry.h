/*
 * How often a failure is retried, whether it is worth it, and after which wait (router-semantics 8 to 10).
 */
#ifndef WEIR_ENGINE_RETRY_H
#define WEIR_ENGINE_RETRY_H

#include <stdbool.h>
#include <stdint.h>

#include <weir/call.h>
#include <weir/event.h>
#include <weir/failure.h>
#include <weir/snapshot.h>

#include "base/rand.h"

struct weir_attempt;

/* All that the decisions about one failure rest on. */
struct weir_retry_case {
    const struct weir_failure *failure;
    const struct weir_router_spec *router;
    const weir_deployment *deployment; /* that failed; NULL: none did */
    const struct weir_policy *policy;  /* in force for the group; NULL: none */
    uint32_t asked;                    /* retries that the request asks for; WEIR_UNSET: not said */
    uint32_t size;                     /* deployments of the name */
    bool healthy;                      /* one of them neither cools down nor is blocked */
    bool own_list;                     /* the kind has a fallback list of its own, and one is configured */
};

/* N: how many retries follow the first attempt, from its failure. */
uint32_t weir_retry_limit(const struct weir_retry_case *c);

/* Whether another attempt may mend the failure. */
bool weir_retry_is_worth(const struct weir_retry_case *c);

/*
 * Whether the facts of a failure alone make it worth another attempt in a group of so many deployments; a
 * rate limit always is (decisions 31).
 */
bool weir_retry_mends(const struct weir_failure *failure, uint32_t size);

/* The wait before the retry, when so many were made before. */
uint64_t weir_retry_wait(const struct weir_retry_case *c, uint32_t retries, struct weir_rand *rand);

/* How often a failure of the kind would be retried in the top frame as it stands, had a deployment without a
 * word of its own failed with the kind's status; 0: not at all. */
uint32_t weir_retry_prospect(const struct weir_call *call, weir_kind kind);

/* Decides between another attempt in the top frame's loop and giving it up; reports the attempt, if there was
 * one. */
void weir_retry_judge(struct weir_call *call, const struct weir_failure *failure, weir_reason reason,
                      const struct weir_attempt *attempt);

/* Notes and reports a failed attempt beside which others run that may answer in its place. */
void weir_retry_note(struct weir_call *call, const struct weir_attempt *attempt);

/* Begins the retry that was waited for. */
void weir_retry_begin(struct weir_call *call);

/*
 * Takes a retry or a hedge of an attempt on the deployment from the retry budget of that one's group.  When
 * it is spent observers are told, and false is returned.
 */
bool weir_retry_pay(struct weir_call *call, const weir_deployment *deployment, uint32_t attempt,
                    weir_refused what);

/* Gives back what was paid just now, for an attempt that was not made. */
void weir_retry_unpay(struct weir_call *call, const weir_deployment *deployment);

/* Gives the loop up without a retry, for a failure that no attempt had. */
void weir_retry_give_up(struct weir_call *call, const struct weir_failure *failure, weir_reason reason);

#endif
