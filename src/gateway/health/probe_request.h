/*
 * The request that asks a deployment whether it answers: a short one, made by the code that makes all
 * requests.  Pure.
 */
#ifndef WEIR_GATEWAY_PROBE_REQUEST_H
#define WEIR_GATEWAY_PROBE_REQUEST_H

#include <weir/attr.h>

#include "base/arena.h"
#include "provider/dialect.h"

struct weir_config;
struct weir_config_deployment;

/* For a deployment whose probe is able, and is not answered from inside.  0 or as weir_build_request. */
WEIR_MUST_USE int weir_probe_build(const struct weir_config *config,
                                   const struct weir_config_deployment *deployment, struct weir_arena *arena,
                                   struct weir_upstream_request *ret_request);

#endif
