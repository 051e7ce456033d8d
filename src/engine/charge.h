/*
 * What an attempt charges to its deployment in live state, and leaves there when it ends.
 *
 * While it runs it counts as running; it is a request of the minute in which it began.  A success leaves its
 * tokens and how fast it was; a timeout that is not the caller's own, that it was slow.  A call with
 * credentials of the caller's own says nothing about the shared deployment.
 */
#ifndef WEIR_ENGINE_CHARGE_H
#define WEIR_ENGINE_CHARGE_H

#include "engine/attempt.h"
#include "engine/call.h"

/* At the beginning of an attempt. */
void weir_charge_begin(struct weir_call *call, struct weir_attempt *attempt);

/* At its end, whatever that is: it runs no more.  Again it does nothing. */
void weir_charge_end(struct weir_call *call, struct weir_attempt *attempt);

/* The end was a success, with the attempt's outcome. */
void weir_charge_success(struct weir_call *call, const struct weir_attempt *attempt);

/* The end was the attempt's failure. */
void weir_charge_failure(struct weir_call *call, const struct weir_attempt *attempt);

#endif
