/* One line for each observer; what it makes of the news is its own affair. */
#include "gateway/observe.h"

#include "gateway/gateway.h"
#include "gateway/job.h"
#include "gateway/log/access_log.h"
#include "gateway/log/call_notes.h"
#include "gateway/worker.h"

void weir_observe_event(struct weir_job *job, const struct weir_event *event)
{
    weir_call_notes_event(job, event);
}

/* Calls are told, and what was refused; not the pages that went well. */
static bool is_told(const struct weir_job *job)
{
    return job->access.route.len > 0 || job->access.status >= 400;
}

void weir_observe_end(struct weir_job *job)
{
    if (!is_told(job))
        return;
    weir_call_notes_end(job);
    weir_access_log_write(job->worker->gateway->log, job->worker->index, &job->access);
}
