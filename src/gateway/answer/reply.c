/*
 * Header lines are composed in the worker's room, since the server copies them at once; bodies are made in
 * the job's arena, since they are on loan until the last byte is sent.
 */
#include "gateway/answer/reply.h"

#include "base/slice.h"
#include "config/config.h"
#include "gateway/attempt/upcall.h"
#include "gateway/job.h"
#include "gateway/setup.h"
#include "gateway/story/trace.h"
#include "gateway/worker.h"
#include "wire/json_write.h"

enum { ERROR_MAX = 64 * 1024 };

void weir_reply_put_common(struct weir_buf *lines, struct weir_slice call_id, bool cors)
{
    (void)!weir_headers_put(lines, WEIR_SLICE("x-litellm-call-id"), call_id);
    if (cors)
        (void)!weir_buf_append(lines, WEIR_SLICE("access-control-allow-origin: *\r\n"
                                                 "access-control-expose-headers: *\r\n"));
}

/* What every answer of a call tells of its way; without room it is left out. */
static void put_way(struct weir_job *job, struct weir_buf *lines)
{
    (void)!weir_headers_put_u64(lines, WEIR_SLICE("x-weir-attempts"), job->access.attempts);
    if (!job->asked.explain || job->draft == NULL || weir_buf_append(lines, WEIR_SLICE("x-weir-trace: ")) < 0)
        return;
    (void)!weir_trace_write(job->draft, job->server == NULL ? 0 : job->server->number, weir_job_now(job),
                            lines);
    (void)!weir_buf_append(lines, WEIR_SLICE("\r\n"));
}

struct weir_buf *weir_reply_lines(struct weir_job *job)
{
    struct weir_buf *lines = &job->worker->lines;

    weir_buf_clear(lines);
    /* Room for this much is kept from one answer to the next. */
    weir_reply_put_common(lines, job->access.call_id, job->cors);
    if (job->access.route.len > 0)
        put_way(job, lines);
    return lines;
}

static void respond(struct weir_job *job, int status, struct weir_slice body)
{
    struct weir_buf *lines = &job->worker->lines;

    job->access.status = (uint64_t)status;
    if (job->exchange == NULL)
        return;
    if (weir_buf_append(lines, WEIR_SLICE("content-type: application/json\r\n")) < 0) {
        weir_exchange_abort(job->exchange);
        return;
    }
    weir_exchange_respond(job->exchange, status, weir_buf_slice(lines), &body, 1);
}

void weir_reply_json(struct weir_job *job, int status, struct weir_slice body)
{
    (void)weir_reply_lines(job);
    respond(job, status, body);
}

void weir_reply_error(struct weir_job *job, const struct weir_error_reply *error)
{
    struct weir_error_reply told = *error;
    struct weir_buf body;

    if (job->setup->config->settings.call_id_in_errors)
        told.call_id = job->access.call_id;
    weir_buf_init(&body, weir_arena_mem(&job->arena), ERROR_MAX);
    if (weir_error_write(&told, &body) == 0)
        respond(job, told.status, weir_buf_slice(&body));
    else
        respond(job, 500,
                WEIR_SLICE("{\"error\":{\"message\":\"out of memory\",\"type\":\"internal_server_error\","
                           "\"param\":null,\"code\":\"500\"}}"));
}

void weir_reply_problem(struct weir_job *job, const struct weir_problem *problem)
{
    const struct weir_error_reply error = {.status = problem->status,
                                           .message = problem->message,
                                           .type = weir_error_type(problem->status),
                                           .param = problem->param};
    struct weir_buf *lines = weir_reply_lines(job);

    if (problem->status == 503)
        (void)!weir_headers_put(lines, WEIR_SLICE("retry-after"), WEIR_SLICE("1"));
    weir_reply_error(job, &error);
}

void weir_reply_status(struct weir_job *job, int status, struct weir_slice message)
{
    const struct weir_problem problem = {status, message, WEIR_SLICE_EMPTY};

    weir_reply_problem(job, &problem);
}

void weir_reply_no_memory(struct weir_job *job)
{
    weir_reply_status(job, 503, WEIR_SLICE("weir is at the limit of its memory"));
}

void weir_reply_refusal(struct weir_job *job, int result, const struct weir_problem *problem)
{
    if (result == WEIR_REFUSED)
        weir_reply_problem(job, problem);
    else
        weir_reply_no_memory(job);
}

int weir_reply_open(struct weir_job *job, struct weir_slice type, const struct weir_slice *parts,
                    size_t count)
{
    struct weir_buf *lines = weir_reply_lines(job);
    int r = weir_headers_put(lines, WEIR_SLICE("content-type"), type);

    if (r == 0)
        r = weir_buf_append(lines, WEIR_SLICE("cache-control: no-cache\r\n"));
    if (r < 0)
        return r;
    job->access.status = 200;
    return weir_exchange_begin(job->exchange, 200, weir_buf_slice(lines), parts, count);
}

void weir_reply_written(struct weir_job *job, const struct weir_json_writer *writer,
                        const struct weir_buf *body)
{
    if (weir_json_writer_end(writer) == 0)
        weir_reply_json(job, 200, weir_buf_slice(body));
    else
        weir_reply_no_memory(job);
}
