/*
 * The books of the thread that carries live state to other processes and back: what was told of each slot,
 * and what is known of elsewhere (weir/shared.h).  All of it is worked out from the state itself and what was
 * told of it before, when it is taken.
 *
 * Threads: one at a time, beside any number that change live state.
 */
#ifndef WEIR_ENGINE_LEDGER_H
#define WEIR_ENGINE_LEDGER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <weir/shared.h>

#include "engine/live/latency.h"
#include "engine/live/live.h"

/* See weir_router_take_changes. */
size_t weir_ledger_take(struct weir_live *live, uint64_t now_ns, struct weir_change *changes, size_t max);

/* A change has come to the store, which counts so much now. */
void weir_ledger_done(struct weir_live *live, const struct weir_change *change, uint64_t count);
/* It has not. */
void weir_ledger_undone(struct weir_live *live, const struct weir_change *change);
/* Nobody knows. */
void weir_ledger_unknown(struct weir_live *live, const struct weir_change *change);

/* Marks what the store may have forgotten: cooldowns set here, and results of probes. */
void weir_ledger_again(struct weir_live *live);

void weir_ledger_learn_usage(struct weir_live *live, uint32_t slot, weir_usage_kind usage, uint64_t minute,
                             uint64_t count);
void weir_ledger_learn_running(struct weir_live *live, uint32_t slot, uint64_t count);

/* Samples that take the place of those that were told. */
void weir_ledger_learn_latency(struct weir_live *live, uint32_t slot, weir_pace pace,
                               const struct weir_latency_lesson *lesson, uint64_t now_ns);

/* A cooldown of another process. */
struct weir_ledger_cooldown {
    struct weir_failure cause;
    uint64_t until_ns;
    struct weir_slice by;
};

/* Returns whether it was set: not if it ends no later than the present one, give or take a tenth of a second.
 */
bool weir_ledger_learn_cooldown(struct weir_live *live, uint32_t slot,
                                const struct weir_ledger_cooldown *cooldown, uint64_t now_ns);

/* Whether the slot's cooldown was learned, and from whom.  Any thread. */
bool weir_ledger_whose(const struct weir_live *live, uint32_t slot, struct weir_process_name *ret_by);

/* Whether a cooldown until then would say nothing new. */
bool weir_ledger_cools_already(const struct weir_live *live, uint32_t slot, uint64_t until_ns,
                               uint64_t now_ns);

#endif
