/*
 * Redis away is no reason not to be ready: calls do without it.
 */
#include "gateway/endpoint/readiness.h"

#include <weir/router.h>
#include <weir/snapshot.h>

#include "base/time.h"
#include "config/config.h"
#include "gateway/answer/reply.h"
#include "gateway/gateway.h"
#include "gateway/job.h"
#include "gateway/request/auth.h"
#include "gateway/setup.h"
#include "gateway/worker.h"
#include "wire/json_write.h"

enum { PAGE_MAX = 4096 };

void weir_health_live(struct weir_job *job)
{
    weir_reply_json(job, 200, WEIR_SLICE("\"I'm alive!\""));
}

static bool draining(const struct weir_job *job)
{
    return atomic_load_explicit(&job->worker->gateway->draining, memory_order_relaxed);
}

static bool redis_up(const struct weir_job *job)
{
    return atomic_load_explicit(&job->worker->gateway->redis_up, memory_order_relaxed);
}

static struct weir_slice redis_word(const struct weir_job *job)
{
    if (!job->worker->gateway->shares)
        return WEIR_SLICE("not configured");
    return redis_up(job) ? WEIR_SLICE("connected") : WEIR_SLICE("away");
}

static struct weir_slice checks_word(const struct weir_job *job)
{
    static const struct weir_slice words[] = {[WEIR_DUTY_NONE] = WEIR_SLICE_INIT("by this process"),
                                              [WEIR_DUTY_ASKING] = WEIR_SLICE_INIT("by nobody yet"),
                                              [WEIR_DUTY_MINE] = WEIR_SLICE_INIT("by this process for all"),
                                              [WEIR_DUTY_OTHERS] = WEIR_SLICE_INIT("by another process"),
                                              [WEIR_DUTY_ALONE] =
                                                  WEIR_SLICE_INIT("by this process, since Redis is away")};
    struct weir_board_view view;

    if (!job->setup->config->settings.health_checks)
        return WEIR_SLICE("off");
    weir_board_read(&job->worker->gateway->board, &view);
    return words[view.duty];
}

static void put_member(struct weir_json_writer *writer, struct weir_slice name, struct weir_slice text)
{
    weir_json_put_key(writer, name);
    weir_json_put_string(writer, text);
}

void weir_health_ready(struct weir_job *job)
{
    struct weir_json_writer writer;
    struct weir_buf body;

    if (draining(job)) {
        weir_reply_json(job, 503, WEIR_SLICE("{\"status\":\"unhealthy\"}"));
        return;
    }
    if (!weir_auth_allows(weir_exchange_head(job->exchange), job->setup->config->settings.master_key)) {
        weir_reply_json(job, 200, WEIR_SLICE("{\"status\":\"healthy\"}"));
        return;
    }
    weir_buf_init(&body, weir_arena_mem(&job->arena), PAGE_MAX);
    weir_json_writer_init(&writer, &body);
    weir_json_open(&writer, '{');
    put_member(&writer, WEIR_SLICE("status"), WEIR_SLICE("healthy"));
    put_member(&writer, WEIR_SLICE("db"), WEIR_SLICE("Not connected"));
    put_member(&writer, WEIR_SLICE("redis"), redis_word(job));
    put_member(&writer, WEIR_SLICE("health_checks"), checks_word(job));
    weir_json_close(&writer, '}');
    weir_reply_written(job, &writer, &body);
}

/* ---- who makes the health checks ---- */

/* The age of the newest result; WEIR_TIME_NEVER: there is none. */
static uint64_t newest_age(const struct weir_job *job)
{
    const weir_snapshot *snapshot = job->setup->snapshot;
    uint64_t now_ns = weir_job_now(job), age_ns = WEIR_TIME_NEVER;

    for (size_t i = 0; i < weir_snapshot_deployment_count(snapshot); i++) {
        struct weir_live_view view;
        uint64_t age;

        weir_router_view(job->worker->gateway->router, weir_snapshot_deployment(snapshot, i), now_ns, &view);
        if (!view.health.known)
            continue;
        age = now_ns > view.health.probed_ns ? now_ns - view.health.probed_ns : 0;
        age_ns = age < age_ns ? age : age_ns;
    }
    return age_ns;
}

static void put_text_or_null(struct weir_json_writer *writer, struct weir_slice name, struct weir_slice text)
{
    weir_json_put_key(writer, name);
    if (text.len > 0)
        weir_json_put_string(writer, text);
    else
        weir_json_put_null(writer);
}

static void put_status(const struct weir_job *job, struct weir_json_writer *writer)
{
    uint64_t staleness_ns = weir_snapshot_router(job->setup->snapshot)->health_staleness_ns;
    uint64_t age_ns = newest_age(job);
    struct weir_board_view view;

    weir_board_read(&job->worker->gateway->board, &view);
    weir_json_open(writer, '{');
    put_member(writer, WEIR_SLICE("pod_id"), (struct weir_slice){view.name, view.name_len});
    weir_json_put_bool_member(writer, WEIR_SLICE("redis_available"), redis_up(job));
    weir_json_put_u64_member(writer, WEIR_SLICE("lock_ttl"), WEIR_DUTY_LOCK_S);
    weir_json_put_u64_member(writer, WEIR_SLICE("cache_ttl"),
                             (staleness_ns + staleness_ns / 2) / WEIR_NS_PER_S);
    put_text_or_null(writer, WEIR_SLICE("lock_owner"), (struct weir_slice){view.owner, view.owner_len});
    weir_json_put_bool_member(writer, WEIR_SLICE("lock_in_progress"), view.owner_len > 0);
    weir_json_put_bool_member(writer, WEIR_SLICE("cache_available"), age_ns != WEIR_TIME_NEVER);
    weir_json_put_key(writer, WEIR_SLICE("cache_age_seconds"));
    if (age_ns == WEIR_TIME_NEVER)
        weir_json_put_null(writer);
    else
        weir_json_put_fixed(writer, age_ns / WEIR_NS_PER_MS, 3);
    weir_json_close(writer, '}');
}

void weir_health_shared(struct weir_job *job)
{
    const struct weir_settings *settings = &job->setup->config->settings;
    bool shared = settings->health_checks && settings->health_shared;
    struct weir_json_writer writer;
    struct weir_buf body;

    weir_buf_init(&body, weir_arena_mem(&job->arena), PAGE_MAX);
    weir_json_writer_init(&writer, &body);
    weir_json_open(&writer, '{');
    weir_json_put_bool_member(&writer, WEIR_SLICE("shared_health_check_enabled"), shared);
    if (shared && job->worker->gateway->shares) {
        weir_json_put_key(&writer, WEIR_SLICE("status"));
        put_status(job, &writer);
    } else {
        put_member(&writer, WEIR_SLICE("message"),
                   shared ? WEIR_SLICE("Redis is not configured: each process makes its own health checks")
                          : WEIR_SLICE("Health checks are not shared"));
    }
    weir_json_close(&writer, '}');
    weir_reply_written(job, &writer, &body);
}
