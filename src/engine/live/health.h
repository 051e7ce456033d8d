/*
 * What probes have found of deployments (router-semantics 17).
 *
 * A result is one word: the end of the probe in milliseconds, and what it was.  Threads: any, at once.
 */
#ifndef WEIR_ENGINE_HEALTH_H
#define WEIR_ENGINE_HEALTH_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include <weir/router.h>

#include "base/time.h"
#include "engine/live/live.h"

enum { WEIR_HEALTH_MS_BITS = 46 };
#define WEIR_HEALTH_MS_MASK ((UINT64_C(1) << WEIR_HEALTH_MS_BITS) - 1)
#define WEIR_HEALTH_BAD     (UINT64_C(1) << 63)

/* Whether a probe of that time, on the router's clock, is not older than that. */
static inline bool weir_health_is_fresh(uint64_t probed_ms, uint64_t staleness_ns, uint64_t now_ns)
{
    return now_ns / WEIR_NS_PER_MS <= probed_ms + staleness_ns / WEIR_NS_PER_MS;
}

/* Whether the newest probe has failed and is fresh. */
static inline bool weir_health_is_bad(const struct weir_live *live, uint32_t slot, uint64_t staleness_ns,
                                      uint64_t now_ns)
{
    const struct weir_live_block *block = live->blocks[slot / WEIR_LIVE_BLOCK_SLOTS];
    uint64_t word = atomic_load_explicit(&block->health[slot % WEIR_LIVE_BLOCK_SLOTS], memory_order_relaxed);

    return (word & WEIR_HEALTH_BAD) != 0 &&
           weir_health_is_fresh(word & WEIR_HEALTH_MS_MASK, staleness_ns, now_ns);
}

/* Enters a result, unless a newer one is known.  Returns whether it was entered. */
bool weir_health_enter(struct weir_live *live, uint32_t slot, const struct weir_health *health);

/* The newest result. */
struct weir_health weir_health_of(const struct weir_live *live, uint32_t slot);

#endif
