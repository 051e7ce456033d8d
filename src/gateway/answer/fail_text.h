/*
 * The words of a call that failed (router-semantics 8.8, 11.4, 16.4, 25): what the first group's failure was,
 * and, where `expose_router_debug_in_errors` holds, what the router did about it.
 *
 * The engine says which failure it is and why; the texts were kept here as the attempts failed.
 */
#ifndef WEIR_GATEWAY_FAIL_TEXT_H
#define WEIR_GATEWAY_FAIL_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <weir/attr.h>
#include <weir/call.h>
#include <weir/router.h>

#include "base/arena.h"
#include "gateway/answer/error_reply.h"
#include "provider/classify.h"

struct weir_upstream;

/* What is remembered of an attempt that failed; in the arena of its call. */
struct weir_failed {
    struct weir_failed *next; /* the one before it */
    uint32_t attempt;
    const struct weir_upstream *upstream;
    uint64_t limit_ns; /* that the attempt had */
    struct weir_verdict verdict;
    struct weir_slice provider_lines; /* see weir_headers_of_provider */
};

/* The record of an attempt, or NULL. */
const struct weir_failed *weir_failed_find(const struct weir_failed *newest, uint32_t attempt);

enum { WEIR_FAIL_COOLING_MAX = 32, WEIR_FAIL_USAGE_MAX = 32 };

/* What a deployment was used for in the minute that is, and how much it may be. */
struct weir_fail_usage {
    struct weir_slice id;
    struct weir_minute_usage used;
    struct weir_minute_limits limits;
};

struct weir_fail_story {
    const struct weir_fail *fail;
    const struct weir_summary *summary;
    const struct weir_failed *failed;                  /* newest first */
    bool debug;                                        /* expose_router_debug_in_errors */
    bool pre_call_checks;                              /* they are on */
    struct weir_slice cooling[WEIR_FAIL_COOLING_MAX];  /* ids of the group that are cooling down */
    size_t cooling_count;                              /* of them given here */
    const struct weir_request *request;                /* its tags, parameters and region; NULL: not told */
    struct weir_fail_usage usage[WEIR_FAIL_USAGE_MAX]; /* of WEIR_REASON_USAGE: the group's deployments */
    size_t usage_count;
};

/* The error for the caller; texts are in the arena or live for ever.  0 or WEIR_ERR_NOMEM. */
WEIR_MUST_USE int weir_fail_error(const struct weir_fail_story *story, struct weir_arena *arena,
                                  struct weir_error_reply *ret_error);

/* The error of one group that was left, without the router's additions; for include_fallback_errors. */
WEIR_MUST_USE int weir_fail_hop_error(const struct weir_hop_failure *hop, const struct weir_failed *failed,
                                      struct weir_arena *arena, struct weir_error_reply *ret_error);

/* Whole seconds until a caller may come back, for the failures of the gateway's own limits; 0: not told. */
uint64_t weir_fail_retry_after_s(const struct weir_fail *fail);

#endif
