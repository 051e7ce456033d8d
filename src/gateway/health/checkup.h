/*
 * Asking some deployments now, for one page: on the worker that the page is asked of, so many at once as in
 * the background.  What comes of it is for the page alone; the router is not told.
 *
 * A checkup belongs to its job and lies in the job's arena.
 */
#ifndef WEIR_GATEWAY_CHECKUP_H
#define WEIR_GATEWAY_CHECKUP_H

#include <stdbool.h>
#include <stddef.h>

#include <weir/attr.h>
#include <weir/slice.h>

struct weir_checkup;
struct weir_job;

/* Called from the loop, between weir_job_enter and weir_job_leave, when all have answered or not. */
typedef void weir_checkup_done_fn(struct weir_job *job);

/* What came of one deployment. */
struct weir_checkup_result {
    bool wanted; /* filled by who begins: it is to be asked */
    bool failed;
    struct weir_slice text; /* of the failure */
};

/* A worker makes only so many at once. */
#define WEIR_CHECKUP_BUSY 1

/*
 * Asks those of the setup's deployments that are wanted, whose probes must be able; results has a place for
 * each, by its number in the snapshot, and lives as long as the job.  done is called unless the checkup is
 * left before, and not from inside.  0, WEIR_CHECKUP_BUSY, or WEIR_ERR_NOMEM.
 */
WEIR_MUST_USE int weir_checkup_begin(struct weir_job *job, struct weir_checkup_result *results,
                                     weir_checkup_done_fn *done);

/* The client is gone, or the job goes back.  Does nothing to a job without one. */
void weir_checkup_leave(struct weir_job *job);

#endif
