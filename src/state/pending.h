/*
 * The commands of one connection that wait for their answers, in the order in which those will come: a ring
 * that grows up to a maximum and gives its memory back when the connection is over.  Pure.
 */
#ifndef WEIR_STATE_PENDING_H
#define WEIR_STATE_PENDING_H

#include <stddef.h>
#include <stdint.h>

#include <weir/attr.h>
#include <weir/mem.h>

#include "state/redis.h"

struct weir_pending_item {
    struct weir_redis_sink sink;
    uint64_t by_ns; /* when its answer is late */
};

struct weir_pending {
    const struct weir_mem *mem;
    struct weir_pending_item *items;
    size_t cap; /* a power of two, or 0 */
    size_t first;
    size_t count;
    size_t max;
};

/* Allocates nothing yet. */
void weir_pending_init(struct weir_pending *pending, const struct weir_mem *mem, size_t max);

/* Nothing may wait any more.  Accepts a zeroed one; usable afterwards. */
void weir_pending_deinit(struct weir_pending *pending);

/* Room for one more: 0, WEIR_ERR_LIMIT or WEIR_ERR_NOMEM. */
WEIR_MUST_USE int weir_pending_reserve(struct weir_pending *pending);

/* Adds at the end, after weir_pending_reserve. */
void weir_pending_put(struct weir_pending *pending, struct weir_pending_item item);

/* The one whose answer comes next, or NULL; lives until the next put or take. */
const struct weir_pending_item *weir_pending_first(const struct weir_pending *pending);

/* Takes that one out; only when there is one. */
struct weir_pending_item weir_pending_take(struct weir_pending *pending);

#endif
