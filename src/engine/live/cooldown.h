/*
 * Which failures count against a deployment, and when it is taken out of every pick (router-semantics 15, 16;
 * decisions 1 to 7).
 */
#ifndef WEIR_ENGINE_COOLDOWN_H
#define WEIR_ENGINE_COOLDOWN_H

#include <stdbool.h>
#include <stdint.h>

#include <weir/event.h>
#include <weir/failure.h>
#include <weir/shared.h>
#include <weir/snapshot.h>

#include "engine/live/live.h"

/* A cooldown that was written. */
struct weir_cooldown {
    weir_cooldown_rule rule;
    uint64_t length_ns;
    uint64_t until_ns;
    bool capped;
    uint32_t number; /* in the row of cooldowns */
};

/*
 * Enters a failed attempt in the deployment's counters, unless its origin or a skip check keeps it out, and
 * cools the deployment down when a rule says so.  Returns whether a cooldown was written: one that ends
 * before the deployment's present one is not.
 */
bool weir_cooldown_count(struct weir_live *live, const weir_snapshot *snapshot,
                         const weir_deployment *deployment, const struct weir_failure *failure,
                         uint64_t now_ns, struct weir_cooldown *ret_cooldown);

/*
 * The same where all processes together have counted more failures than the change's limit: it cools the
 * deployment down, unless it was cooled for that already.
 */
bool weir_cooldown_shared(struct weir_live *live, const weir_snapshot *snapshot,
                          const weir_deployment *deployment, const struct weir_change *change,
                          uint64_t now_ns, struct weir_cooldown *ret_cooldown);

/* See weir_router_fails. */
size_t weir_cooldown_fails(const struct weir_live *live, const weir_snapshot *snapshot,
                           const weir_deployment *deployment, uint64_t now_ns,
                           struct weir_fails_view ret_views[WEIR_FAILS_VIEWS_MAX]);

#endif
