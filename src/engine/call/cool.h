/*
 * Waiting for the end of a cooldown where nothing else is left to do (beyond 4).
 */
#ifndef WEIR_ENGINE_COOL_H
#define WEIR_ENGINE_COOL_H

#include <stdbool.h>

#include "engine/call/call.h"

/* The top frame's loop ends for want of a deployment that does not cool down: as a pick, or before a retry
 * for the failure of one (else NULL). */
void weir_cool_note(struct weir_call *call, const weir_deployment *failed);

/*
 * The asked group's frame has no way on.  When cooldowns alone have ended its latest loop, and the first of
 * them ends in time, the call waits for that and true is returned.
 */
bool weir_cool_begin(struct weir_call *call);

#endif
