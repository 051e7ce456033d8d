/*
 * Whether a deployment's limits of the minute leave room for the request: asked by the strategies that look
 * at them (router-semantics 6.3, 6.5, 6.6).
 */
#ifndef WEIR_ENGINE_STRATEGY_ROOM_H
#define WEIR_ENGINE_STRATEGY_ROOM_H

#include <stdbool.h>
#include <stdint.h>

#include "base/time.h"
#include "engine/live/usage.h"
#include "engine/pick/filter.h"

/* One request more, and the tokens that its prompt has at least, are still inside the limits. */
static inline bool weir_has_room(const struct weir_candidates *c, uint32_t member)
{
    const struct weir_minute_limits *limits = &c->tier->members[member]->spec.minute;
    uint32_t slot = c->tier->slots[member];

    if (limits->requests != WEIR_UNSET_NS &&
        weir_usage_of(c->live, slot, WEIR_USAGE_REQUESTS, c->minute) >= limits->requests)
        return false;
    return limits->tokens == WEIR_UNSET_NS ||
           weir_time_add(weir_usage_of(c->live, slot, WEIR_USAGE_TOKENS, c->minute), c->prompt_tokens) <=
               limits->tokens;
}

#endif
