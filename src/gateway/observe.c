/* One line for each observer; what it makes of the news is its own affair. */
#include "gateway/observe.h"

#include "gateway/gateway.h"
#include "gateway/job.h"
#include "gateway/log/access_log.h"
#include "gateway/log/call_notes.h"
#include "gateway/setup.h"
#include "gateway/story/draft.h"
#include "gateway/story/stories.h"
#include "gateway/worker.h"

void weir_observe_event(struct weir_job *job, const struct weir_event *event)
{
    weir_call_notes_event(job, event);
    if (job->draft != NULL)
        weir_draft_add(job->draft, event);
}

/* Calls are told, and what was refused; not the pages that went well. */
static bool is_told(const struct weir_job *job)
{
    return job->access.route.len > 0 || job->access.status >= 400;
}

/* For all who keep it for a while; without memory for it nobody does. */
static void keep_story(struct weir_job *job)
{
    struct weir_worker *worker = job->worker;
    struct weir_story *story;

    if (job->draft == NULL || !job->setup->keeps_stories)
        return;
    story = weir_draft_end(job->draft, &job->access, weir_job_now(job), weir_loop_wall_ns(worker->loop),
                           worker->gateway->mem);
    if (story == NULL)
        return;
    weir_stories_put(&worker->gateway->stories, story);
    weir_story_unref(story);
}

void weir_observe_end(struct weir_job *job)
{
    if (!is_told(job))
        return;
    weir_call_notes_end(job);
    weir_access_log_write(job->worker->gateway->log, job->worker->index, &job->access);
    keep_story(job);
}
