/*
 * A deployment is well when its newest check went well, as far as there is one that counts, and when it may
 * be picked: when it is neither cooling down nor paused.
 */
#include "gateway/endpoint/health.h"

#include <weir/error.h>
#include <weir/router.h>
#include <weir/snapshot.h>

#include "base/slice.h"
#include "base/text.h"
#include "config/config.h"
#include "gateway/answer/reply.h"
#include "gateway/gateway.h"
#include "gateway/health/checkup.h"
#include "gateway/job.h"
#include "gateway/request/parameter.h"
#include "gateway/setup.h"
#include "gateway/worker.h"
#include "provider/endpoint.h"
#include "wire/json_write.h"

enum { LIST_MAX = 8 * 1024 * 1024 };

/* What is asked for, and what was found by asking. */
struct weir_health_page {
    struct weir_slice model;             /* empty: all */
    struct weir_checkup_result *results; /* NULL: nobody is asked for the page */
};

static const struct weir_config_deployment *config_of(const weir_deployment *deployment)
{
    return weir_deployment_user(deployment);
}

static bool is_shown(const struct weir_job *job, const struct weir_health_page *page,
                     const weir_deployment *deployment)
{
    if (job->setup->config->settings.health_skip_unchecked && config_of(deployment)->probe.unchecked)
        return false;
    return page->model.len == 0 || weir_slice_eq(weir_deployment_group(deployment), page->model) ||
           weir_slice_eq(weir_deployment_id(deployment), page->model);
}

/* ---- how one is ---- */

/* "RateLimitError (429)" behind something; a status of 0 is not known. */
static struct weir_slice failure_text(struct weir_job *job, struct weir_slice before, weir_kind kind,
                                      int status)
{
    char digits[WEIR_TEXT_U64_MAX];
    const struct weir_slice parts[] = {before, weir_kind_row(kind)->class_name, WEIR_SLICE(" ("),
                                       weir_text_u64(status > 0 ? (uint64_t)status : 0, digits),
                                       WEIR_SLICE(")")};

    return weir_arena_join(&job->arena, parts, status > 0 ? sizeof(parts) / sizeof(parts[0]) : 2);
}

/* What is wrong with it; empty: nothing. */
static struct weir_slice complaint(struct weir_job *job, const struct weir_health_page *page, size_t number)
{
    const weir_deployment *deployment = weir_snapshot_deployment(job->setup->snapshot, number);
    const struct weir_checkup_result *result = page->results == NULL ? NULL : &page->results[number];
    uint64_t now_ns = weir_job_now(job);
    struct weir_live_view view;

    if (weir_deployment_blocked(deployment))
        return WEIR_SLICE("it is paused");
    if (result != NULL && result->wanted && result->failed)
        return result->text;
    weir_router_view(job->worker->gateway->router, deployment, now_ns, &view);
    if (result == NULL && !config_of(deployment)->probe.unchecked &&
        weir_health_counts(&view.health, job->setup->snapshot, now_ns) && !view.health.healthy)
        return failure_text(job, WEIR_SLICE_EMPTY, view.health.kind, view.health.status);
    if (view.cooldown_until_ns > now_ns && view.cooldown_rule == WEIR_COOLDOWN_BY_HAND)
        return WEIR_SLICE("it cools down, set by hand");
    if (view.cooldown_until_ns > now_ns)
        return failure_text(job, WEIR_SLICE("it cools down after "), view.cooldown_kind,
                            view.cooldown_status);
    return WEIR_SLICE_EMPTY;
}

/* ---- the page ---- */

static void put_deployment(struct weir_json_writer *writer, const weir_deployment *deployment, bool details,
                           struct weir_slice wrong)
{
    const struct weir_endpoint *endpoint = config_of(deployment)->endpoint;

    weir_json_open(writer, '{');
    weir_json_put_text_member(writer, WEIR_SLICE("model_name"), weir_deployment_group(deployment));
    weir_json_put_text_member(writer, WEIR_SLICE("model"), weir_deployment_model(deployment));
    weir_json_put_text_member(writer, WEIR_SLICE("model_id"), weir_deployment_id(deployment));
    if (details && endpoint->base.len > 0)
        weir_json_put_text_member(writer, WEIR_SLICE("api_base"), endpoint->base);
    if (details && wrong.len > 0)
        weir_json_put_text_member(writer, WEIR_SLICE("error"), wrong);
    weir_json_close(writer, '}');
}

/* The list of those that are well, or of those that are not; returns how many. */
static uint64_t put_list(struct weir_job *job, const struct weir_health_page *page,
                         struct weir_json_writer *writer, bool wanted)
{
    const weir_snapshot *snapshot = job->setup->snapshot;
    bool details = job->setup->config->settings.health_details;
    uint64_t count = 0;

    weir_json_open(writer, '[');
    for (size_t i = 0; i < weir_snapshot_deployment_count(snapshot); i++) {
        const weir_deployment *deployment = weir_snapshot_deployment(snapshot, i);
        struct weir_slice wrong;

        if (!is_shown(job, page, deployment))
            continue;
        wrong = complaint(job, page, i);
        if ((wrong.len == 0) != wanted)
            continue;
        put_deployment(writer, deployment, details, wrong);
        count++;
    }
    weir_json_close(writer, ']');
    return count;
}

static void write_page(struct weir_job *job)
{
    const struct weir_health_page *page = job->health_page;
    struct weir_json_writer writer;
    struct weir_buf body;
    uint64_t well;
    uint64_t unwell;

    weir_buf_init(&body, weir_arena_mem(&job->arena), LIST_MAX);
    weir_json_writer_init(&writer, &body);
    weir_json_open(&writer, '{');
    weir_json_put_key(&writer, WEIR_SLICE("healthy_endpoints"));
    well = put_list(job, page, &writer, true);
    weir_json_put_key(&writer, WEIR_SLICE("unhealthy_endpoints"));
    unwell = put_list(job, page, &writer, false);
    weir_json_put_u64_member(&writer, WEIR_SLICE("healthy_count"), well);
    weir_json_put_u64_member(&writer, WEIR_SLICE("unhealthy_count"), unwell);
    weir_json_close(&writer, '}');
    weir_reply_written(job, &writer, &body);
}

static void begin_checkup(struct weir_job *job, struct weir_health_page *page)
{
    const weir_snapshot *snapshot = job->setup->snapshot;
    size_t count = weir_snapshot_deployment_count(snapshot);
    int r = 0;

    page->results = weir_arena_zalloc(&job->arena, count + 1, sizeof(*page->results));
    for (size_t i = 0; page->results != NULL && i < count; i++) {
        const weir_deployment *deployment = weir_snapshot_deployment(snapshot, i);

        page->results[i].wanted = is_shown(job, page, deployment) && config_of(deployment)->probe.able &&
                                  !weir_deployment_blocked(deployment);
    }
    if (page->results != NULL)
        r = weir_checkup_begin(job, page->results, write_page);
    if (r > 0)
        weir_reply_status(job, 503, WEIR_SLICE("the deployments are being asked for other requests already"));
    else if (r < 0 || page->results == NULL)
        weir_reply_no_memory(job);
}

/* 0, WEIR_REFUSED or negative. */
static int read_filter(struct weir_job *job, struct weir_health_page *page, struct weir_problem *ret_problem)
{
    const struct weir_slice name = WEIR_SLICE("model");
    int r = weir_parameter(job, name, &page->model, ret_problem);

    if (r != 0)
        return r == WEIR_PARAMETER_ABSENT ? 0 : r;
    for (size_t i = 0; i < weir_snapshot_deployment_count(job->setup->snapshot); i++)
        if (is_shown(job, page, weir_snapshot_deployment(job->setup->snapshot, i)))
            return 0;
    return WEIR_REFUSE(ret_problem, &job->arena, 404, name,
                       WEIR_SLICE("there is no deployment of that group or id"));
}

void weir_health_deployments(struct weir_job *job)
{
    struct weir_health_page *page = weir_arena_zalloc(&job->arena, 1, sizeof(*page));
    struct weir_problem problem;
    int r = page == NULL ? WEIR_ERR_NOMEM : read_filter(job, page, &problem);

    if (r != 0) {
        weir_reply_refusal(job, r, &problem);
        return;
    }
    job->health_page = page;
    if (job->setup->config->settings.health_checks)
        write_page(job);
    else
        begin_checkup(job, page);
}
