/*
 * The bits of a word, from the highest: the probe has failed, there was one, it was another process's, kind
 * of the failure, its status, time.
 */
#include "engine/live/health.h"

enum { STATUS_BITS = 10, STATUS_SHIFT = WEIR_HEALTH_MS_BITS, KIND_SHIFT = STATUS_SHIFT + STATUS_BITS };

#define KNOWN       (UINT64_C(1) << 62)
#define ELSEWHERE   (UINT64_C(1) << 61)
#define KIND_MASK   UINT64_C(0x1f)
#define STATUS_MASK ((UINT64_C(1) << STATUS_BITS) - 1)

_Static_assert(WEIR_KIND_COUNT - 1 <= KIND_MASK, "a kind of failure fits in its bits");

static uint64_t word_of(const struct weir_health *health)
{
    uint64_t word = KNOWN | (health->probed_ns / WEIR_NS_PER_MS & WEIR_HEALTH_MS_MASK);

    if (health->elsewhere)
        word |= ELSEWHERE;
    if (health->healthy)
        return word;
    return word | WEIR_HEALTH_BAD | (uint64_t)health->kind << KIND_SHIFT |
           ((uint64_t)health->status & STATUS_MASK) << STATUS_SHIFT;
}

static _Atomic uint64_t *place_of(const struct weir_live *live, uint32_t slot)
{
    return &live->blocks[slot / WEIR_LIVE_BLOCK_SLOTS]->health[slot % WEIR_LIVE_BLOCK_SLOTS];
}

bool weir_health_enter(struct weir_live *live, uint32_t slot, const struct weir_health *health)
{
    _Atomic uint64_t *at = place_of(live, slot);
    uint64_t old = atomic_load_explicit(at, memory_order_relaxed), word = word_of(health);

    do {
        if ((old & WEIR_HEALTH_MS_MASK) > (word & WEIR_HEALTH_MS_MASK))
            return false;
    } while (
        !atomic_compare_exchange_weak_explicit(at, &old, word, memory_order_relaxed, memory_order_relaxed));
    return true;
}

struct weir_health weir_health_of(const struct weir_live *live, uint32_t slot)
{
    uint64_t word = atomic_load_explicit(place_of(live, slot), memory_order_relaxed);

    return (struct weir_health){.known = (word & KNOWN) != 0,
                                .healthy = (word & KNOWN) != 0 && (word & WEIR_HEALTH_BAD) == 0,
                                .elsewhere = (word & ELSEWHERE) != 0,
                                .kind = (weir_kind)(word >> KIND_SHIFT & KIND_MASK),
                                .status = (int)(word >> STATUS_SHIFT & STATUS_MASK),
                                .probed_ns = (word & WEIR_HEALTH_MS_MASK) * WEIR_NS_PER_MS};
}

bool weir_health_counts(const struct weir_health *health, const weir_snapshot *snapshot, uint64_t now_ns)
{
    return health->known && weir_health_is_fresh(health->probed_ns / WEIR_NS_PER_MS,
                                                 weir_snapshot_router(snapshot)->health_staleness_ns, now_ns);
}
