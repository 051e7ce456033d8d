/*
 * One line for each observer; what it makes of the news is its own affair.
 *
 * Events outside of calls are told under a lock, one after the other, whoever has caused them.
 */
#include "gateway/observe.h"

#include <weir/shared.h>

#include "gateway/alert/alerts.h"
#include "gateway/feed/tell.h"
#include "gateway/gateway.h"
#include "gateway/job.h"
#include "gateway/log/access_log.h"
#include "gateway/log/call_notes.h"
#include "gateway/metrics/count.h"
#include "gateway/setup.h"
#include "gateway/span/calls.h"
#include "gateway/story/draft.h"
#include "gateway/story/stories.h"
#include "gateway/worker.h"

void weir_observe_event(struct weir_job *job, const struct weir_event *event)
{
    weir_call_notes_event(job, event);
    if (job->draft != NULL)
        weir_draft_add(job->draft, event);
    weir_tell_event(job, event);
    weir_alerts_event(job, event);
    weir_count_event(job, event);
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

    if (job->draft == NULL || (!job->setup->keeps_stories && !job->trace.recorded))
        return;
    story = weir_draft_end(job->draft, &job->access, weir_job_now(job), weir_loop_wall_ns(worker->loop),
                           worker->gateway->mem);
    if (story == NULL)
        return;
    if (job->setup->keeps_stories)
        weir_stories_put(&worker->gateway->stories, story);
    if (job->trace.recorded)
        weir_span_calls_put(&worker->gateway->span_calls, story, job->setup, &job->trace,
                            job->access.attempts);
    weir_story_unref(story);
}

void weir_observe_end(struct weir_job *job)
{
    const struct weir_worker *worker = job->worker;

    if (!is_told(job))
        return;
    weir_call_notes_end(job);
    weir_alerts_end(job);
    weir_count_end(job);
    weir_access_log_write(worker->gateway->log, worker->index, &job->access, weir_loop_wall_ns(worker->loop));
    keep_story(job);
}

static void tell_router_event(struct weir_gateway *gateway, const struct weir_setup *setup,
                              const struct weir_router_event *event, uint64_t now_ns, uint64_t wall_ns)
{
    weir_count_router(&gateway->metrics, setup, event);
    weir_tell_router_event(gateway, event, now_ns, wall_ns);
    weir_alerts_router(&gateway->alerts, event);
}

void weir_observe_router(struct weir_gateway *gateway, const struct weir_setup *setup, weir_loop *loop)
{
    uint64_t now_ns = weir_loop_now(loop), wall_ns = weir_loop_wall_ns(loop);
    struct weir_router_event event;

    (void)pthread_mutex_lock(&gateway->router_events);
    while (weir_router_event(gateway->router, &event))
        tell_router_event(gateway, setup, &event, now_ns, wall_ns);
    (void)pthread_mutex_unlock(&gateway->router_events);
}

void weir_observe_headless(struct weir_worker *worker, const struct weir_access *access)
{
    weir_count_headless(worker, access);
    weir_access_log_write(worker->gateway->log, worker->index, access, weir_loop_wall_ns(worker->loop));
}
