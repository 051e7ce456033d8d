/*
 * What an attempt charges to its deployment in live state, and leaves there when it ends.
 *
 * It begins only where the deployment's limits leave something for it (quota.h), and counts as running until
 * it ends.  A success leaves its tokens and how fast it was; a timeout that is not the caller's own, that it
 * was slow.  A call with credentials of the caller's own neither takes from the limits of the shared
 * deployment nor says anything about it.
 */
#ifndef WEIR_ENGINE_CHARGE_H
#define WEIR_ENGINE_CHARGE_H

#include "engine/call/attempt.h"
#include "engine/call/call.h"
#include "engine/live/quota.h"

/* At the beginning of an attempt.  0, or WEIR_QUOTA_REFUSED with the refusal: it must not begin. */
WEIR_MUST_USE int weir_charge_begin(struct weir_call *call, struct weir_attempt *attempt,
                                    struct weir_refusal *ret_refusal);

/* At its end, whatever that is: it runs no more.  Again it does nothing. */
void weir_charge_end(struct weir_call *call, struct weir_attempt *attempt);

/* The end was a success, with the attempt's outcome. */
void weir_charge_success(struct weir_call *call, struct weir_attempt *attempt);

/* The end was the attempt's failure. */
void weir_charge_failure(struct weir_call *call, const struct weir_attempt *attempt);

#endif
