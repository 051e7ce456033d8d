/*
 * A question is an object of its own, since the main thread holds it while the job may go.  The worker keeps
 * a list of those that are out; who comes back is taken out of it, on the worker's thread.
 */
#include "gateway/endpoint/reload.h"

#include "base/container.h"
#include "base/slice.h"
#include "gateway/answer/reply.h"
#include "gateway/gateway.h"
#include "gateway/job.h"
#include "gateway/process/reload.h"
#include "gateway/worker.h"

struct weir_asking {
    struct weir_reload_ask ask;
    struct weir_asking *next; /* of the worker's */
    struct weir_worker *worker;
    struct weir_job *job; /* NULL: it is gone */
};

static void free_asking(struct weir_asking *asking)
{
    const struct weir_mem *mem = asking->worker->gateway->mem;

    weir_buf_deinit(&asking->ask.text);
    mem->free(mem->user, asking, sizeof(*asking));
}

static void take_out(struct weir_asking *asking)
{
    struct weir_asking **at = &asking->worker->askings;

    while (*at != asking)
        at = &(*at)->next;
    *at = asking->next;
}

static void tell(struct weir_job *job, const struct weir_reload_ask *ask)
{
    struct weir_slice text = weir_arena_copy(&job->arena, weir_buf_slice(&ask->text));

    if (ask->status == 200)
        weir_reply_json(job, 200, text);
    else
        weir_reply_status(job, ask->status, text);
}

static void on_done(struct weir_reload_ask *ask)
{
    struct weir_asking *asking = WEIR_CONTAINER(ask, struct weir_asking, ask);
    struct weir_job *job = asking->job;

    if (job != NULL) {
        weir_job_enter(job);
        job->asking = NULL;
        tell(job, ask);
        weir_job_leave(job);
    }
    take_out(asking);
    free_asking(asking);
}

void weir_reload_begin(struct weir_job *job)
{
    struct weir_worker *worker = job->worker;
    const struct weir_mem *mem = worker->gateway->mem;
    struct weir_asking *asking = mem->alloc(mem->user, sizeof(*asking));

    if (asking == NULL) {
        weir_reply_no_memory(job);
        return;
    }
    *asking = (struct weir_asking){.ask = {.loop = worker->loop, .done = on_done},
                                   .next = worker->askings,
                                   .worker = worker,
                                   .job = job};
    worker->askings = asking;
    job->asking = asking;
    weir_reload_ask(worker->gateway->reload, &asking->ask);
}

void weir_reload_leave(struct weir_job *job)
{
    if (job->asking != NULL)
        job->asking->job = NULL;
    job->asking = NULL;
}

void weir_reload_drop(struct weir_worker *worker)
{
    struct weir_asking *asking;

    while ((asking = worker->askings) != NULL) {
        worker->askings = asking->next;
        free_asking(asking);
    }
}
