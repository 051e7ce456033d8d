/*
 * How one deployment is, as a JSON object: what the router remembers of it, for /weir/state (beyond.md 7).
 */
#ifndef WEIR_GATEWAY_DEPLOYMENT_STATE_H
#define WEIR_GATEWAY_DEPLOYMENT_STATE_H

#include <stdint.h>

#include <weir/router.h>
#include <weir/slice.h>
#include <weir/snapshot.h>

#include "wire/json_write.h"

/* What the page knows of it beside that. */
struct weir_deployment_state {
    const weir_router *router;
    const weir_snapshot *snapshot;
    const weir_deployment *deployment; /* with its configuration as its user */
    struct weir_slice why;             /* it may not be picked now; empty: it may */
    int32_t order;                     /* WEIR_UNSET_ORDER: none */
    double odds;                       /* of the next pick */
    uint64_t now_ns;
    uint64_t wall_ns; /* the wall clock's time at now_ns */
};

/* Appends the object; returns how many attempts of this process run on the deployment. */
uint32_t weir_deployment_state_json(struct weir_json_writer *writer,
                                    const struct weir_deployment_state *state);

#endif
