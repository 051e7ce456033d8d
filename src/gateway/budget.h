/*
 * One memory budget for all that requests make weir hold: bodies, held answers, held streams.
 *
 * The budget is an allocator that counts: beyond its maximum it answers NULL, and who asked refuses the
 * request with 503.  It is shared by all threads; an allocation costs one atomic addition.
 */
#ifndef WEIR_GATEWAY_BUDGET_H
#define WEIR_GATEWAY_BUDGET_H

#include <stdatomic.h>
#include <stddef.h>

#include <weir/mem.h>

struct weir_budget {
    const struct weir_mem *mem;
    atomic_size_t max;
    atomic_size_t used;
    struct weir_mem as_mem;
};

/* At most max_bytes of mem, which must be thread-safe, at once. */
void weir_budget_init(struct weir_budget *budget, const struct weir_mem *mem, size_t max_bytes);

/* Another maximum, which what is out already may exceed.  From any thread. */
void weir_budget_set_max(struct weir_budget *budget, size_t max_bytes);

/* All of it must have come back. */
void weir_budget_deinit(struct weir_budget *budget);

/* The budget as an allocator; thread-safe; lives as long as the budget. */
const struct weir_mem *weir_budget_mem(const struct weir_budget *budget);

size_t weir_budget_used(const struct weir_budget *budget);

#endif
