/*
 * Where what happens is told to all who watch: each event of a call, the end of each request, and what the
 * router has to say beside any call.  Logs, metrics and traces are fed from here and nowhere else, so that
 * they cannot disagree.
 *
 * Nothing here waits or may fail the request.
 */
#ifndef WEIR_GATEWAY_OBSERVE_H
#define WEIR_GATEWAY_OBSERVE_H

#include <weir/event.h>

#include "net/loop.h"

struct weir_gateway;
struct weir_access;
struct weir_job;
struct weir_setup;
struct weir_worker;

/* Each event of the job's call, in their order.  On the thread of the job's worker, as the next. */
void weir_observe_event(struct weir_job *job, const struct weir_event *event);

/* Once, when the job is over: what job->access tells is complete, and the call, if there was one, still
 * there. */
void weir_observe_end(struct weir_job *job);

/*
 * What has happened outside of any call (weir/shared.h): takes it from the router, in its order.  Due after
 * whatever may cause it.  From any thread; setup and loop are the calling thread's.
 */
void weir_observe_router(struct weir_gateway *gateway, const struct weir_setup *setup, weir_loop *loop);

/* A request whose head could not be read: it has no job, and nothing but this. */
void weir_observe_headless(struct weir_worker *worker, const struct weir_access *access);

#endif
