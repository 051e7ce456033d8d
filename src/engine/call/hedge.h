/*
 * Hedging: a second attempt beside one that has given nothing for too long (beyond 4).
 *
 * An attempt that a retry loop makes begins a *race* of its own.  While nobody in it has answered, more
 * attempts join it one after another, each on a deployment that neither runs nor has failed in the call.
 * Whoever answers first, with content or, of a plain call, with a response head, has won: the others are
 * stopped there and then, which is neither a success nor a failure of theirs.
 */
#ifndef WEIR_ENGINE_HEDGE_H
#define WEIR_ENGINE_HEDGE_H

#include <stdbool.h>

#include <weir/call.h>

#include "engine/call/call.h"

struct weir_attempt;

/* Begins the race of an attempt that starts now, with a step of the kind; a continuation has none. */
void weir_hedge_arm(struct weir_call *call, const weir_deployment *deployment, weir_step_kind kind);

/* Looks whether the attempt has answered; if so the race is over. */
void weir_hedge_settle(struct weir_call *call, const struct weir_attempt *attempt);

/* Whether another attempt may still answer in the place of this one. */
bool weir_hedge_has_rival(const struct weir_call *call, const struct weir_attempt *attempt);

/* Another attempt is due: starts it, unless nobody is left to try or the retry budget is spent. */
enum weir_turn weir_hedge_start(struct weir_call *call, struct weir_step *ret_step);

#endif
