/*
 * Why weir refuses a request by itself, before or without a provider: status, message, and the field that is
 * to blame.
 */
#ifndef WEIR_GATEWAY_PROBLEM_H
#define WEIR_GATEWAY_PROBLEM_H

#include <stddef.h>

#include <weir/attr.h>
#include <weir/slice.h>

#include "base/arena.h"

struct weir_problem {
    int status;
    struct weir_slice message;
    struct weir_slice param; /* empty: none */
};

/* The request is refused; the problem that was returned says why. */
#define WEIR_REFUSED 1

/*
 * Sets a problem whose message is the parts joined in the arena; param must live as long.  Returns
 * WEIR_REFUSED, or WEIR_ERR_NOMEM when the arena is full, to be returned by the caller.
 */
WEIR_MUST_USE int weir_problem_set(struct weir_problem *problem, struct weir_arena *arena, int status,
                                   struct weir_slice param, const struct weir_slice *parts, size_t count);

/* weir_problem_set with the parts as arguments. */
#define WEIR_REFUSE(problem, arena, status, param, ...)                                                      \
    weir_problem_set((problem), (arena), (status), (param), (const struct weir_slice[]){__VA_ARGS__},        \
                     sizeof((const struct weir_slice[]){__VA_ARGS__}) / sizeof(struct weir_slice))

#endif
