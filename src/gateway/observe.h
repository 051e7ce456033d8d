/*
 * Where what happens is told to all who watch: each event of a call, the end of each request, and what the
 * router has to say beside any call.  Logs, metrics and traces are fed from here and nowhere else, so that
 * they cannot disagree.
 *
 * On the thread of the job's worker; nothing here waits or may fail the request.
 */
#ifndef WEIR_GATEWAY_OBSERVE_H
#define WEIR_GATEWAY_OBSERVE_H

#include <weir/event.h>

struct weir_job;

/* Each event of the job's call, in their order. */
void weir_observe_event(struct weir_job *job, const struct weir_event *event);

/* Once, when the job is over: what job->access tells is complete, and the call, if there was one, still
 * there. */
void weir_observe_end(struct weir_job *job);

#endif
