/*
 * The turns of a worker's calls: the process's admission (admission.h) with the loop's clock and tasks, and
 * the answers to those that get none.
 *
 * Calls to models take turns; the pages about the gateway itself do not.  A call has its turn until its job
 * goes back: a plain call that outlives its client keeps it, since the work is still in hand.
 */
#ifndef WEIR_GATEWAY_TURNS_H
#define WEIR_GATEWAY_TURNS_H

struct weir_job;
struct weir_path;
struct weir_timer;
struct weir_worker;

/* The worker's loop must exist before the first call comes. */
void weir_turns_init(struct weir_worker *worker);

/* The job's request, which is a call to a model by that path, is complete: begins the call, lets it wait, or
 * answers 503.  From between weir_job_enter and weir_job_leave. */
void weir_turns_enter(struct weir_job *job, const struct weir_path *path);

/* A job's turn_timer: it has waited for the longest that it may. */
void weir_turns_on_timer(struct weir_timer *timer);

/* The client is gone, or the job goes back.  May be called again. */
void weir_turns_leave(struct weir_job *job);

/* After the last job: nobody wakes the worker any more, and nothing is left with its loop. */
void weir_turns_close(struct weir_worker *worker);

#endif
