/*
 * A few seats, each with one probe at a time; whoever is done takes the next deployment.  The checkup is over
 * when all seats are empty.
 */
#include "gateway/health/checkup.h"

#include <weir/error.h>

#include "base/container.h"
#include "base/slice.h"
#include "config/config.h"
#include "gateway/gateway.h"
#include "gateway/health/probe.h"
#include "gateway/job.h"
#include "gateway/worker.h"

enum { CHECKUPS_MAX = 4, TEXT_MAX = 300 };

struct place {
    struct weir_checkup *checkup;
    struct weir_probe probe;
    size_t number; /* of the deployment that is asked */
};

struct weir_checkup {
    struct weir_job *job;
    struct weir_checkup_result *results;
    weir_checkup_done_fn *done;
    size_t next; /* number of the first deployment that was not looked at */
    size_t busy;
    struct place *places;
    size_t place_count;
    struct weir_loop_task begun; /* where there is nobody to ask */
};

static void end(struct weir_checkup *checkup)
{
    struct weir_job *job = checkup->job;
    weir_checkup_done_fn *done = checkup->done;

    weir_checkup_leave(job);
    done(job);
}

/* The next deployment that is wanted is asked by that place; false when there is none. */
static bool ask_next(struct place *place);

static void on_done(struct weir_probe *probe, weir_probe_end how, const struct weir_verdict *verdict)
{
    struct place *place = WEIR_CONTAINER(probe, struct place, probe);
    struct weir_checkup *checkup = place->checkup;
    struct weir_job *job = checkup->job;
    struct weir_checkup_result *result = &checkup->results[place->number];

    weir_job_enter(job);
    result->failed = how != WEIR_PROBE_ANSWERED;
    if (how == WEIR_PROBE_FAILED)
        result->text = weir_arena_copy(&job->arena, weir_slice_sub(verdict->text, 0, TEXT_MAX));
    else if (how == WEIR_PROBE_UNKNOWN)
        result->text = WEIR_SLICE("weir could not ask it");
    checkup->busy--;
    if (!ask_next(place) && checkup->busy == 0)
        end(checkup);
    weir_job_leave(job);
}

static bool ask_next(struct place *place)
{
    struct weir_checkup *checkup = place->checkup;
    struct weir_worker *worker = checkup->job->worker;
    struct weir_setup *setup = checkup->job->setup;
    struct weir_probe_spec spec = {.loop = worker->loop,
                                   .client = worker->client,
                                   .mem = weir_budget_mem(&worker->gateway->budget),
                                   .setup = setup,
                                   .done = on_done};
    size_t count = weir_snapshot_deployment_count(setup->snapshot);

    while (checkup->next < count && !checkup->results[checkup->next].wanted)
        checkup->next++;
    if (checkup->next == count)
        return false;
    place->number = checkup->next++;
    spec.deployment = weir_snapshot_deployment(setup->snapshot, place->number);
    checkup->busy++;
    weir_probe_start(&place->probe, &spec);
    return true;
}

static void run_begun(struct weir_loop_task *task)
{
    struct weir_checkup *checkup = WEIR_CONTAINER(task, struct weir_checkup, begun);
    struct weir_job *job = checkup->job;

    weir_job_enter(job);
    end(checkup);
    weir_job_leave(job);
}

static size_t count_wanted(const struct weir_job *job, const struct weir_checkup_result *results)
{
    size_t wanted = 0;

    for (size_t i = 0; i < weir_snapshot_deployment_count(job->setup->snapshot); i++)
        wanted += results[i].wanted ? 1 : 0;
    return wanted;
}

int weir_checkup_begin(struct weir_job *job, struct weir_checkup_result *results, weir_checkup_done_fn *done)
{
    size_t wanted = count_wanted(job, results), most = job->setup->config->settings.health_concurrency;
    struct weir_checkup *checkup;

    if (job->worker->checkups >= CHECKUPS_MAX)
        return WEIR_CHECKUP_BUSY;
    checkup = weir_arena_zalloc(&job->arena, 1, sizeof(*checkup));
    if (checkup == NULL)
        return WEIR_ERR_NOMEM;
    *checkup = (struct weir_checkup){.job = job,
                                     .results = results,
                                     .done = done,
                                     .place_count = wanted < most ? wanted : most,
                                     .begun.run = run_begun};
    checkup->places = weir_arena_zalloc(&job->arena, checkup->place_count + 1, sizeof(*checkup->places));
    if (checkup->places == NULL)
        return WEIR_ERR_NOMEM;
    job->checkup = checkup;
    job->worker->checkups++;
    for (size_t i = 0; i < checkup->place_count; i++) {
        checkup->places[i].checkup = checkup;
        (void)ask_next(&checkup->places[i]);
    }
    if (checkup->place_count == 0)
        weir_loop_post(job->worker->loop, &checkup->begun);
    return 0;
}

void weir_checkup_leave(struct weir_job *job)
{
    struct weir_checkup *checkup = job->checkup;

    if (checkup == NULL)
        return;
    job->checkup = NULL;
    job->worker->checkups--;
    for (size_t i = 0; i < checkup->place_count; i++)
        weir_probe_cancel(&checkup->places[i].probe);
    if (checkup->begun.next != NULL)
        weir_loop_unpost(job->worker->loop, &checkup->begun);
}
