/*
 * GET /weir/events: all routing events of the process as server-sent events, from now on (beyond.md 7).
 *
 * What a reader does not take in time is dropped and told to it.  The streams end when weir drains, and when
 * a reload has changed the key that they were opened with.
 */
#ifndef WEIR_GATEWAY_EVENTS_H
#define WEIR_GATEWAY_EVENTS_H

struct weir_job;
struct weir_loop_task;
struct weir_worker;

/* `?kind=A,B` leaves events of these kinds.  From between weir_job_enter and weir_job_leave, as the next. */
void weir_events_begin(struct weir_job *job);

/* The client has taken what was written.  Does nothing to a job that does not listen, as the next. */
void weir_events_resume(struct weir_job *job);

/* The job goes back. */
void weir_events_leave(struct weir_job *job);

/* The worker has another setup. */
void weir_events_follow(struct weir_worker *worker);

/* The worker drains: ends its streams. */
void weir_events_end(struct weir_worker *worker);

/* Of the worker's port (feed.h): there may be something new. */
void weir_events_run(struct weir_loop_task *task);

#endif
