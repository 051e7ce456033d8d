/*
 * Deployments that are reserved for some teams at some hours (router-semantics 3 and 21).
 */
#ifndef WEIR_ENGINE_ACCESS_H
#define WEIR_ENGINE_ACCESS_H

#include <stdbool.h>
#include <stdint.h>

#include <weir/slice.h>
#include <weir/snapshot.h>

/* Whether a window of the deployment is open that none of the open ones lets the team through.  minute is
 * that of the wall clock, since 1970 in UTC; team empty: the caller has none. */
bool weir_access_is_shut(const struct weir_deployment_spec *spec, struct weir_slice team, uint64_t minute);

#endif
