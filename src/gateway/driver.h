/*
 * The host of the engine: begins a job's call, does what its steps say, and tells it what happened.
 */
#ifndef WEIR_GATEWAY_DRIVER_H
#define WEIR_GATEWAY_DRIVER_H

#include <stdbool.h>

#include <weir/attr.h>
#include <weir/call.h>

#include "gateway/problem.h"

struct weir_upcall;
struct weir_job;
struct weir_path;
struct weir_timer;

/*
 * Reads the job's request and begins its call.  0, also when the call is over at once; WEIR_REFUSED with
 * *ret_problem: there is no call; or negative.  To be called within the job's brackets.
 */
WEIR_MUST_USE int weir_driver_begin(struct weir_job *job, const struct weir_path *path,
                                    struct weir_problem *ret_problem);

/* Says in the access log which kind of call the job is. */
void weir_driver_note_route(struct weir_job *job, const struct weir_path *path);

/* Gives job->asked.request its model's name with the provider that is inferred, for wildcards that were
 * written with one (router-semantics 3).  0 or WEIR_ERR_NOMEM. */
WEIR_MUST_USE int weir_driver_qualify(struct weir_job *job);

/* What attempts report; each may perform steps, among them ones that cancel the attempt itself. */
void weir_driver_on_opened(struct weir_upcall *upcall);
void weir_driver_on_chunk(struct weir_upcall *upcall, const struct weir_stream_chunk *chunk);
/* It is read no more because the client takes nothing, or is read again. */
void weir_driver_on_paused(struct weir_upcall *upcall, bool paused);
void weir_driver_on_finished(struct weir_upcall *upcall);
void weir_driver_on_failed(struct weir_upcall *upcall, const struct weir_failure *failure);

/* The client has left. */
void weir_driver_on_client_gone(struct weir_job *job);

/* The engine's time has come. */
void weir_driver_on_timer(struct weir_timer *timer);

#endif
