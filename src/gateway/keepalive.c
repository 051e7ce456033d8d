/*
 * The timer is left alone while bytes flow: it looks, when it fires, how long ago the last ones went, and is
 * armed for the rest.  A client that has not taken what was sent before gets no comment on top of it.
 */
#include "gateway/keepalive.h"

#include "base/container.h"
#include "base/slice.h"
#include "base/time.h"
#include "config/config.h"
#include "gateway/attempt/upcall.h"
#include "gateway/deliver.h"
#include "gateway/job.h"
#include "gateway/setup.h"
#include "gateway/worker.h"

static void begin(struct weir_job *job, uint64_t every_ns)
{
    job->ping_every_ns = every_ns;
    weir_loop_arm(job->worker->loop, &job->ping_timer,
                  every_ns == 0 ? WEIR_TIME_NEVER : weir_time_add(weir_job_now(job), every_ns));
}

void weir_keepalive_begin(struct weir_job *job)
{
    uint64_t every_ns = job->setup->config->settings.sse_ping_ns;

    job->sent_ns = job->begun_ns;
    if (job->asked.request.stream && !job->over && every_ns != WEIR_UNSET_NS)
        begin(job, every_ns);
}

void weir_keepalive_commit(struct weir_job *job, const struct weir_upcall *upcall)
{
    const struct weir_config_deployment *deployment = upcall->deployment;
    bool own = deployment->keepalive_by_caller && job->asked.keepalive_ns != WEIR_UNSET_NS;

    if (upcall->stream)
        begin(job, own ? job->asked.keepalive_ns : deployment->keepalive_ns);
}

static void ping(struct weir_job *job)
{
    if (!weir_exchange_begun(job->exchange))
        weir_deliver_open(job);
    else if (weir_exchange_queued(job->exchange) > 0)
        return;
    weir_deliver_add(job, WEIR_SLICE(": ping\n\n"));
    weir_deliver_flush(job);
}

void weir_keepalive_on_timer(struct weir_timer *timer)
{
    struct weir_job *job = WEIR_CONTAINER(timer, struct weir_job, ping_timer);
    uint64_t now_ns = weir_job_now(job);

    if (job->over || job->exchange == NULL)
        return;
    weir_job_enter(job);
    if (now_ns >= weir_time_add(job->sent_ns, job->ping_every_ns)) {
        ping(job);
        job->sent_ns = now_ns;
    }
    if (job->exchange != NULL)
        weir_loop_arm(job->worker->loop, &job->ping_timer, weir_time_add(job->sent_ns, job->ping_every_ns));
    weir_job_leave(job);
}
