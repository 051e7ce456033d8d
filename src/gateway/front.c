/*
 * A job begins with the head of a request.  Refusals are answered at once, so a large body that nobody wants
 * is never read; the server lingers so that the client can read why.
 */
#include "gateway/front.h"

#include "base/slice.h"
#include "base/time.h"
#include "config/config.h"
#include "gateway/answer/pieces.h"
#include "gateway/answer/reply.h"
#include "gateway/attempt/upcall.h"
#include "gateway/driver.h"
#include "gateway/endpoint/calls.h"
#include "gateway/endpoint/cooldowns.h"
#include "gateway/endpoint/events.h"
#include "gateway/endpoint/explain.h"
#include "gateway/endpoint/health.h"
#include "gateway/endpoint/metrics.h"
#include "gateway/endpoint/models.h"
#include "gateway/endpoint/readiness.h"
#include "gateway/endpoint/reload.h"
#include "gateway/endpoint/state.h"
#include "gateway/gateway.h"
#include "gateway/job.h"
#include "gateway/observe.h"
#include "gateway/request/auth.h"
#include "gateway/request/paths.h"
#include "gateway/setup.h"
#include "gateway/span/trace.h"
#include "gateway/turns.h"
#include "gateway/worker.h"
#include "wire/http1_read.h"

/* A page of another origin asks what it may do: everything, as in LiteLLM. */
static void answer_preflight(struct weir_job *job, const struct weir_http1_head *head)
{
    struct weir_buf *lines = weir_reply_lines(job);
    struct weir_slice asked = weir_http1_value(head, WEIR_SLICE("access-control-request-headers"));
    int r =
        weir_buf_append(lines, WEIR_SLICE("access-control-allow-methods: GET, HEAD, POST, DELETE, OPTIONS\r\n"
                                          "access-control-max-age: 600\r\n"));

    if (r == 0)
        r = weir_headers_put(lines, WEIR_SLICE("access-control-allow-headers"),
                             asked.len > 0 ? asked : WEIR_SLICE("*"));
    job->access.status = 204;
    if (r < 0)
        weir_exchange_abort(job->exchange);
    else
        weir_exchange_respond(job->exchange, 204, weir_buf_slice(lines), NULL, 0);
}

static void answer_unknown(struct weir_job *job, const struct weir_http1_head *head)
{
    struct weir_problem problem;

    if (WEIR_REFUSE(&problem, &job->arena, 404, WEIR_SLICE_EMPTY, WEIR_SLICE("Unknown request URL: "),
                    head->method, WEIR_SLICE(" "), head->path) == WEIR_REFUSED)
        weir_reply_problem(job, &problem);
    else
        weir_reply_status(job, 404, WEIR_SLICE("Unknown request URL"));
}

static void answer_method(struct weir_job *job, const struct weir_path *path)
{
    const struct weir_error_reply error = {.status = 405,
                                           .message = WEIR_SLICE("The path does not take this method"),
                                           .type = weir_error_type(405)};

    /* The lines have room for it. */
    (void)!weir_headers_put(weir_reply_lines(job), WEIR_SLICE("allow"), weir_path_allow(path->methods));
    weir_reply_error(job, &error);
}

static void answer_stranger(struct weir_job *job)
{
    const struct weir_error_reply error = {
        .status = 401,
        .message = WEIR_SLICE("Authentication Error: the request must carry the gateway's key, as "
                              "\"Authorization: Bearer KEY\", \"x-api-key: KEY\" or \"api-key: KEY\""),
        .type = weir_error_type(401)};

    /* The lines have room for it. */
    (void)!weir_headers_put(weir_reply_lines(job), WEIR_SLICE("www-authenticate"), WEIR_SLICE("Bearer"));
    weir_reply_error(job, &error);
}

static bool encoded(const struct weir_http1_head *head)
{
    struct weir_slice coding = weir_http1_value(head, WEIR_SLICE("content-encoding"));

    return coding.len > 0 && !weir_slice_eq_ci(coding, WEIR_SLICE("identity"));
}

/* decisions 23 */
static bool wants_key(const struct weir_job *job, const struct weir_path_row *row)
{
    const struct weir_settings *settings = &job->setup->config->settings;

    switch (row->access) {
    case WEIR_ACCESS_OPEN:
        return false;
    case WEIR_ACCESS_METRICS:
        return settings->metrics_want_key || settings->general_metrics_want_key;
    case WEIR_ACCESS_KEY:
        break;
    }
    return true;
}

/* Answers what needs no body; true when it did. */
static bool refuse_early(struct weir_job *job, const struct weir_http1_head *head)
{
    struct weir_path path;
    int r;

    if (weir_slice_eq(head->method, WEIR_SLICE("OPTIONS"))) {
        answer_preflight(job, head);
        return true;
    }
    r = weir_path_find(head->method, head->path, &path);
    if (r == WEIR_PATH_UNKNOWN)
        answer_unknown(job, head);
    else if (wants_key(job, path.row) && !weir_auth_allows(head, job->setup->config->settings.master_key))
        answer_stranger(job);
    else if (r == WEIR_PATH_METHOD)
        answer_method(job, &path);
    else if (encoded(head))
        weir_reply_status(job, 415, WEIR_SLICE("encoded request bodies are not taken; send it as it is"));
    else
        return false;
    return true;
}

static void on_head(void *user, weir_exchange *exchange)
{
    const struct weir_http1_head *head = weir_exchange_head(exchange);
    struct weir_worker *worker = user;
    struct weir_job *job = weir_job_new(worker, exchange);

    if (job == NULL) {
        weir_exchange_abort(exchange);
        return;
    }
    weir_exchange_set_user(exchange, job);
    weir_job_enter(job);
    job->cors = weir_http1_find(head, WEIR_SLICE("origin")) != NULL;
    /* A copy: the job may outlive the exchange. */
    job->access.peer = weir_arena_copy(&job->arena, weir_exchange_peer(exchange));
    (void)refuse_early(job, head);
    weir_job_leave(job);
}

/* Tells the router the wall clock's time, by which its minutes go, unless that was done of late. */
static void tell_wall(struct weir_worker *worker)
{
    const uint64_t every_ns = 10 * WEIR_NS_PER_S;
    uint64_t now_ns = weir_loop_now(worker->loop);

    if (now_ns < worker->wall_due_ns)
        return;
    worker->wall_due_ns = weir_time_add(now_ns, every_ns);
    weir_router_set_wall(worker->gateway->router, weir_loop_wall_ns(worker->loop), now_ns);
}

static void serve(struct weir_job *job, const struct weir_path *path)
{
    switch (path->row->service) {
    case WEIR_SERVICE_CALL:
        tell_wall(job->worker);
        weir_trace_begin(job, weir_exchange_head(job->exchange));
        weir_turns_enter(job, path);
        return;
    case WEIR_SERVICE_MODELS:
        weir_models_list(job);
        return;
    case WEIR_SERVICE_MODEL:
        weir_models_one(job, path->name);
        return;
    case WEIR_SERVICE_MODEL_INFO:
        weir_models_info(job);
        return;
    case WEIR_SERVICE_HEALTH:
        weir_health_deployments(job);
        return;
    case WEIR_SERVICE_SHARED:
        weir_health_shared(job);
        return;
    case WEIR_SERVICE_LIVE:
        weir_health_live(job);
        return;
    case WEIR_SERVICE_READY:
        weir_health_ready(job);
        return;
    case WEIR_SERVICE_CALLS:
        weir_calls_list(job);
        return;
    case WEIR_SERVICE_STORY:
        weir_calls_one(job, path->name);
        return;
    case WEIR_SERVICE_STATE:
        weir_state_page(job);
        return;
    case WEIR_SERVICE_EXPLAIN:
        weir_explain_page(job);
        return;
    case WEIR_SERVICE_COOL:
        weir_cooldowns_set(job, path->name);
        return;
    case WEIR_SERVICE_LIFT:
        weir_cooldowns_lift(job, path->name);
        return;
    case WEIR_SERVICE_METRICS:
        weir_metrics_page(job);
        return;
    case WEIR_SERVICE_RELOAD:
        weir_reload_begin(job);
        return;
    case WEIR_SERVICE_EVENTS:
        weir_events_begin(job);
        return;
    }
}

static void on_request(void *user, weir_exchange *exchange)
{
    const struct weir_http1_head *head = weir_exchange_head(exchange);
    struct weir_job *job = weir_exchange_user(exchange);
    struct weir_path path;

    (void)user;
    weir_job_enter(job);
    if (weir_path_find(head->method, head->path, &path) == 0)
        serve(job, &path);
    else
        answer_unknown(job, head);
    weir_job_leave(job);
}

static void on_drain(void *user, weir_exchange *exchange)
{
    struct weir_job *job = weir_exchange_user(exchange);

    (void)user;
    weir_job_enter(job);
    if (job->server != NULL)
        weir_upcall_resume(job->server);
    weir_events_resume(job);
    weir_pieces_resume(job);
    weir_job_leave(job);
}

static void note_end(struct weir_job *job, enum weir_exchange_end end)
{
    switch (end) {
    case WEIR_EXCHANGE_GONE:
        job->access.end = WEIR_SLICE("gone");
        if (job->access.status == 0)
            job->access.status = 499;
        break;
    case WEIR_EXCHANGE_LATE:
        job->access.end = WEIR_SLICE("late");
        break;
    case WEIR_EXCHANGE_ABORTED:
        job->access.end = WEIR_SLICE("cut");
        break;
    case WEIR_EXCHANGE_REFUSED: /* the status says it */
    case WEIR_EXCHANGE_SENT:
        break;
    }
}

static void on_end(void *user, weir_exchange *exchange, enum weir_exchange_end end)
{
    struct weir_job *job = weir_exchange_user(exchange);

    (void)user;
    if (job == NULL)
        return;
    weir_job_enter(job);
    job->exchange = NULL;
    job->access.duration_ns = weir_job_now(job) - job->begun_ns;
    note_end(job, end);
    if (end != WEIR_EXCHANGE_SENT) {
        if (job->call == NULL)
            weir_turns_leave(job); /* nobody waits for it any more */
        weir_driver_on_client_gone(job);
        /* A call that runs on waits for nobody any more. */
        if (job->server != NULL)
            weir_upcall_resume(job->server);
    }
    weir_job_leave(job);
}

/* A request without a readable head has no job, but an id and a line in the log like any other. */
static void log_headless(struct weir_worker *worker, const weir_exchange *exchange, int status,
                         struct weir_slice call_id)
{
    const struct weir_access access = {
        .call_id = call_id, .peer = weir_exchange_peer(exchange), .status = (uint64_t)status};

    weir_observe_headless(worker, &access);
}

static void write_problem(void *user, const weir_exchange *exchange, int status, struct weir_slice reason,
                          struct weir_buf *fields, struct weir_buf *body)
{
    struct weir_worker *worker = user;
    struct weir_job *job = weir_exchange_user(exchange);
    struct weir_error_reply error = {.status = status, .message = reason, .type = weir_error_type(status)};
    char room[WEIR_CALL_ID_LEN];
    struct weir_slice call_id;

    if (job != NULL) {
        call_id = job->access.call_id;
        job->access.status = (uint64_t)status;
    } else {
        call_id = weir_job_call_id(worker, room);
        log_headless(worker, exchange, status, call_id);
    }
    if (worker->seat.setup->config->settings.call_id_in_errors)
        error.call_id = call_id;
    /* What does not fit is left out: the status tells enough. */
    weir_reply_put_common(fields, call_id, job != NULL && job->cors);
    if (weir_error_write(&error, body) < 0 ||
        weir_buf_append(fields, WEIR_SLICE("content-type: application/json\r\n")) < 0)
        return;
    if (status == 503)
        (void)!weir_buf_append(fields, WEIR_SLICE("retry-after: 1\r\n"));
}

struct weir_server_handler weir_front_handler(struct weir_worker *worker)
{
    return (struct weir_server_handler){.user = worker,
                                        .on_head = on_head,
                                        .on_request = on_request,
                                        .on_drain = on_drain,
                                        .on_end = on_end,
                                        .write_problem = write_problem};
}
