/* A policy is an array of counts by field; which fields speak for a kind is said by the table of kinds. */
#include "engine/snapshot/policy.h"

#include <stddef.h>

void weir_policy_init(struct weir_policy *policy)
{
    for (size_t i = 0; i < WEIR_POLICY_FIELDS; i++)
        policy->count[i] = WEIR_UNSET;
}

weir_policy_field weir_policy_find(const struct weir_policy *policy, const weir_policy_field fields[2])
{
    for (size_t i = 0; i < 2; i++)
        if (fields[i] != WEIR_POLICY_NONE && policy->count[fields[i]] != WEIR_UNSET)
            return fields[i];
    return WEIR_POLICY_NONE;
}

bool weir_policy_is_set(const struct weir_policy *policy)
{
    for (size_t i = 0; i < WEIR_POLICY_FIELDS; i++)
        if (policy->count[i] != WEIR_UNSET)
            return true;
    return false;
}
