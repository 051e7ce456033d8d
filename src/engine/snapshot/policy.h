/*
 * Looking a kind of failure up in a retry policy or an allowed-fails policy (router-semantics 10, 16.2).
 */
#ifndef WEIR_ENGINE_POLICY_H
#define WEIR_ENGINE_POLICY_H

#include <stdbool.h>

#include <weir/failure.h>
#include <weir/snapshot.h>

/* The first of the fields that the policy sets; WEIR_POLICY_NONE when it sets neither. */
weir_policy_field weir_policy_find(const struct weir_policy *policy, const weir_policy_field fields[2]);

/* Whether the policy says anything at all. */
bool weir_policy_is_set(const struct weir_policy *policy);

#endif
