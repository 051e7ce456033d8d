/*
 * GET /metrics: what the process counts, in the text format that Prometheus reads.
 */
#ifndef WEIR_GATEWAY_ENDPOINT_METRICS_H
#define WEIR_GATEWAY_ENDPOINT_METRICS_H

struct weir_job;

/* Answers the job's client. */
void weir_metrics_page(struct weir_job *job);

#endif
