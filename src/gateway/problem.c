/* A problem's message is made once, in the arena of its request. */
#include "gateway/problem.h"

#include <weir/error.h>

int weir_problem_set(struct weir_problem *problem, struct weir_arena *arena, int status,
                     struct weir_slice param, const struct weir_slice *parts, size_t count)
{
    struct weir_slice message = weir_arena_join(arena, parts, count);

    if (message.len == 0)
        return WEIR_ERR_NOMEM;
    *problem = (struct weir_problem){status, message, param};
    return WEIR_REFUSED;
}
