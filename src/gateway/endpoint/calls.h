/*
 * The routes that tell of calls that are over: /weir/calls and /weir/calls/{id} (beyond 7).
 */
#ifndef WEIR_GATEWAY_CALLS_H
#define WEIR_GATEWAY_CALLS_H

#include <weir/slice.h>

struct weir_job;

/* The newest, by the filters of the query. */
void weir_calls_list(struct weir_job *job);

/* All of one, or 404; id is as it stands in the path. */
void weir_calls_one(struct weir_job *job, struct weir_slice id);

#endif
