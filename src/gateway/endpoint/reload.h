/*
 * POST /weir/reload: asks the main thread for a reload and answers with what came of it.
 */
#ifndef WEIR_GATEWAY_ENDPOINT_RELOAD_H
#define WEIR_GATEWAY_ENDPOINT_RELOAD_H

struct weir_asking;
struct weir_job;
struct weir_worker;

/* Answers later: 200 with JSON, 400 with what is wrong, 503 while weir drains.  From between weir_job_enter
 * and weir_job_leave. */
void weir_reload_begin(struct weir_job *job);

/* The job goes back; whether it has asked or not. */
void weir_reload_leave(struct weir_job *job);

/* After the worker's loop is freed: forgets what was asked and not answered. */
void weir_reload_drop(struct weir_worker *worker);

#endif
