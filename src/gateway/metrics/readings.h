/*
 * What is looked up when /metrics is asked for: how deployments of the configuration stand, and what their
 * owners in the process have counted.
 */
#ifndef WEIR_GATEWAY_METRICS_READINGS_H
#define WEIR_GATEWAY_METRICS_READINGS_H

#include <stdbool.h>
#include <stdint.h>

#include <weir/snapshot.h>

#include "gateway/metrics/table.h"

struct weir_gateway;
struct weir_setup;

struct weir_reading_source {
    struct weir_gateway *gateway;
    const struct weir_setup *setup;
    uint64_t now_ns;                   /* on the clock of the router */
    const weir_deployment *deployment; /* of the setup; of readings of the process: NULL */
    bool eligible;                     /* the deployment, as weir_router_eligible says */
};

/* The value in the metric's unit; false: there is none.  May read what the system tells of the process. */
bool weir_reading_value(weir_reading reading, const struct weir_reading_source *source, uint64_t *ret_value);

/* The labels of a reading's only line from this source. */
void weir_reading_labels(const struct weir_reading_source *source, struct weir_label_values *ret_values);

#endif
