/* A level is taken after all that stand above it, so whatever is said already stays. */
#include "engine/snapshot/resilience.h"

#include <math.h>

#define X(member, is_said_)                                                                                  \
    static bool says_##member(const struct weir_resilience *resilience)                                      \
    {                                                                                                        \
        const __typeof__(resilience->member) it = resilience->member;                                        \
                                                                                                             \
        return is_said_;                                                                                     \
    }
#include "engine/tbl/resilience_fields.h"
#undef X

void weir_resilience_take(struct weir_resilience *resilience, const struct weir_resilience *from)
{
#define X(member, is_said)                                                                                   \
    if (!says_##member(resilience))                                                                          \
        resilience->member = from->member;
#include "engine/tbl/resilience_fields.h"
#undef X
}

void weir_resilience_settle(struct weir_resilience *resilience)
{
    static const struct weir_resilience off = {
        .retry_budget = {true, -1, 0}, .hedge = {0, 0}, .cooldown_growth = {1, 0}};

    weir_resilience_take(resilience, &off);
}

bool weir_resilience_is_valid(const struct weir_resilience *resilience)
{
    return isfinite(resilience->retry_budget.ratio) && isfinite(resilience->retry_budget.min_per_s) &&
           isfinite(resilience->cooldown_growth.factor);
}
