/*
 * Whose turn it is to be asked whether it answers: each once in an interval, so many at once (RS 17).
 *
 * Targets are numbers from 0 on.  The rota reads no clock and asks nobody; its owner does both:
 *
 *     init, and expect for those that need not be asked at once -> begin
 *     next, while it gives one -> the owner asks -> end
 *     due: when to try next again
 *
 * A target whose answer takes longer than the interval misses a turn.  One thread.
 */
#ifndef WEIR_GATEWAY_ROTA_H
#define WEIR_GATEWAY_ROTA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <weir/attr.h>
#include <weir/mem.h>

struct weir_rota_turn {
    uint64_t due_ns;
    size_t target;
};

struct weir_rota {
    const struct weir_mem *mem;
    struct weir_rota_turn *turns; /* a ring, from the one that is due first */
    bool *asked;                  /* by target: it is being asked */
    size_t count;
    size_t first;
    size_t most; /* that may be asked at once */
    size_t busy; /* that are, strangers among them */
    uint64_t interval_ns;
};

/* All are due at once.  0 or WEIR_ERR_NOMEM; weir_rota_deinit is due in every case. */
WEIR_MUST_USE int weir_rota_init(struct weir_rota *ret_rota, const struct weir_mem *mem, size_t count,
                                 uint64_t interval_ns, size_t most);

/* Accepts a zeroed one. */
void weir_rota_deinit(struct weir_rota *rota);

/* Before begin: the target is due then, or an interval from now if that is earlier. */
void weir_rota_expect(struct weir_rota *rota, size_t target, uint64_t due_ns, uint64_t now_ns);

/* Before begin: the target is being asked already. */
void weir_rota_resume(struct weir_rota *rota, size_t target);

/* Before begin: somebody who is no target any more is still being asked. */
void weir_rota_add_stranger(struct weir_rota *rota);

void weir_rota_begin(struct weir_rota *rota);

/* A target that is to be asked now; false: none. */
bool weir_rota_next(struct weir_rota *rota, uint64_t now_ns, size_t *ret_target);

/* A target that was asked has answered, or not; a stranger likewise. */
void weir_rota_end(struct weir_rota *rota, size_t target);
void weir_rota_end_stranger(struct weir_rota *rota);

/* When next may give one; WEIR_TIME_NEVER: not before an end. */
uint64_t weir_rota_due(const struct weir_rota *rota);

/* When the target at that place of the ring is due; for who makes a new rota.  index is below count. */
struct weir_rota_turn weir_rota_turn_at(const struct weir_rota *rota, size_t index);

#endif
