/*
 * The routes that tell which models there are: /v1/models, /v1/models/{id}, /v1/model/info.
 */
#ifndef WEIR_GATEWAY_MODELS_H
#define WEIR_GATEWAY_MODELS_H

#include <weir/slice.h>

struct weir_job;

/* Groups, wildcard patterns among them, and aliases that are not hidden. */
void weir_models_list(struct weir_job *job);

/* One of them, or 404; name is as it stands in the path. */
void weir_models_one(struct weir_job *job, struct weir_slice name);

/* The deployments as they are configured, without secrets. */
void weir_models_info(struct weir_job *job);

#endif
