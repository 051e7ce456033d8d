/*
 * What a deployment allows: attempts at once, and requests and tokens a minute (router-semantics 19).
 *
 * Whoever begins an attempt takes a part of each limit that holds, or nothing at all.  A request counts once;
 * tokens of input and output are reserved as they are expected and put right when the answer tells.  What a
 * limit of all tokens allows is known only afterwards: it refuses once the usage has reached it.
 */
#ifndef WEIR_ENGINE_QUOTA_H
#define WEIR_ENGINE_QUOTA_H

#include <stdbool.h>
#include <stdint.h>

#include <weir/attr.h>
#include <weir/call.h>

#include "engine/live/live.h"
#include "engine/snapshot/snapshot.h"

/* What an attempt holds of the limits of its deployment. */
struct weir_quota {
    bool running;    /* one of the attempts at once */
    uint64_t minute; /* in which it began */
    uint64_t input;  /* tokens that are reserved in that minute; 0: none */
    uint64_t output;
};

/* Which limits of the minute hold for an attempt. */
enum weir_quota_rule {
    WEIR_QUOTA_FREE,     /* none: it is only counted */
    WEIR_QUOTA_REQUESTS, /* usage-based routing: that of the requests (6.3) */
    WEIR_QUOTA_ALL       /* `enforce_model_rate_limits` */
};

/* What is known of an attempt before it begins. */
struct weir_quota_ask {
    enum weir_quota_rule rule;
    uint64_t input; /* tokens; 0: unknown, which counts as one */
    uint64_t output;
    uint64_t now_ns;
};

/* Why an attempt must not begin. */
struct weir_refusal {
    struct weir_failure failure;
    weir_reason reason;
    struct weir_limit_story limit;
};

/* A limit is used up; nothing was taken. */
#define WEIR_QUOTA_REFUSED 1

/* Takes what an attempt on the deployment needs.  0, or WEIR_QUOTA_REFUSED with the refusal. */
WEIR_MUST_USE int weir_quota_take(struct weir_live *live, const weir_deployment *deployment,
                                  const struct weir_quota_ask *ask, struct weir_quota *ret_quota,
                                  struct weir_refusal *ret_refusal);

/* The attempt has ended: it is no longer one of those at once.  Again it does nothing. */
void weir_quota_end(struct weir_live *live, uint32_t slot, struct weir_quota *quota);

/* Counts what the attempt used, in the place of what was reserved for it. */
void weir_quota_settle(struct weir_live *live, uint32_t slot, struct weir_quota *quota, uint64_t input,
                       uint64_t output, uint64_t now_ns);

/* Whether a limit of the minute leaves nothing for another attempt. */
bool weir_quota_is_spent(const struct weir_live *live, const weir_deployment *deployment, uint64_t minute);

#endif
