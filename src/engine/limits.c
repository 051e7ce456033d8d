/* A level is taken after all that stand above it, so whatever is said already stays. */
#include "engine/limits.h"

#include <stdbool.h>

#define X(field, member, is_said_)                                                                           \
    static bool says_##member(const struct weir_limits *limits)                                              \
    {                                                                                                        \
        const __typeof__(limits->member) it = limits->member;                                                \
        return is_said_;                                                                                     \
    }
#include "engine/tbl/limit_fields.h"
#undef X

unsigned weir_limits_take(struct weir_limits *limits, const struct weir_limits *from)
{
    unsigned taken = 0;

#define X(field, member, is_said)                                                                            \
    if (!says_##member(limits) && says_##member(from)) {                                                     \
        limits->member = from->member;                                                                       \
        taken |= WEIR_LIMIT_BIT(field);                                                                      \
    }
#include "engine/tbl/limit_fields.h"
#undef X
    return taken;
}
