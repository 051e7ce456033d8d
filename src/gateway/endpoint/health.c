/* A deployment counts as healthy while it can be picked: neither cooling down nor paused.  Nobody is asked.
 */
#include "gateway/endpoint/health.h"

#include <weir/router.h>
#include <weir/snapshot.h>

#include "config/config.h"
#include "gateway/answer/reply.h"
#include "gateway/gateway.h"
#include "gateway/job.h"
#include "gateway/setup.h"
#include "gateway/worker.h"
#include "wire/json_write.h"

enum { LIST_MAX = 8 * 1024 * 1024 };

static bool healthy(const struct weir_job *job, const weir_deployment *deployment)
{
    uint64_t now = weir_job_now(job);
    struct weir_live_view view;

    weir_router_view(job->worker->gateway->router, deployment, now, &view);
    return view.cooldown_until_ns <= now && !weir_deployment_blocked(deployment);
}

static void put_deployment(struct weir_json_writer *writer, const weir_deployment *deployment)
{
    weir_json_open(writer, '{');
    weir_json_put_key(writer, WEIR_SLICE("model_name"));
    weir_json_put_string(writer, weir_deployment_group(deployment));
    weir_json_put_key(writer, WEIR_SLICE("model"));
    weir_json_put_string(writer, weir_deployment_model(deployment));
    weir_json_put_key(writer, WEIR_SLICE("model_id"));
    weir_json_put_string(writer, weir_deployment_id(deployment));
    weir_json_close(writer, '}');
}

/* The list of those that are healthy, or of those that are not; returns how many. */
static uint64_t put_list(const struct weir_job *job, struct weir_json_writer *writer, bool wanted)
{
    const weir_snapshot *snapshot = job->setup->snapshot;
    uint64_t count = 0;

    weir_json_open(writer, '[');
    for (size_t i = 0; i < weir_snapshot_deployment_count(snapshot); i++) {
        const weir_deployment *deployment = weir_snapshot_deployment(snapshot, i);

        if (healthy(job, deployment) != wanted)
            continue;
        put_deployment(writer, deployment);
        count++;
    }
    weir_json_close(writer, ']');
    return count;
}

void weir_health_deployments(struct weir_job *job)
{
    struct weir_json_writer writer;
    struct weir_buf body;
    uint64_t well;
    uint64_t unwell;

    weir_buf_init(&body, weir_arena_mem(&job->arena), LIST_MAX);
    weir_json_writer_init(&writer, &body);
    weir_json_open(&writer, '{');
    weir_json_put_key(&writer, WEIR_SLICE("healthy_endpoints"));
    well = put_list(job, &writer, true);
    weir_json_put_key(&writer, WEIR_SLICE("unhealthy_endpoints"));
    unwell = put_list(job, &writer, false);
    weir_json_put_key(&writer, WEIR_SLICE("healthy_count"));
    weir_json_put_u64(&writer, well);
    weir_json_put_key(&writer, WEIR_SLICE("unhealthy_count"));
    weir_json_put_u64(&writer, unwell);
    weir_json_close(&writer, '}');
    weir_reply_written(job, &writer, &body);
}

void weir_health_live(struct weir_job *job)
{
    weir_reply_json(job, 200, WEIR_SLICE("\"I'm alive!\""));
}

void weir_health_ready(struct weir_job *job)
{
    if (atomic_load_explicit(&job->worker->gateway->draining, memory_order_relaxed))
        weir_reply_json(job, 503, WEIR_SLICE("{\"status\":\"unhealthy\"}"));
    else
        weir_reply_json(job, 200, WEIR_SLICE("{\"status\":\"healthy\"}"));
}
