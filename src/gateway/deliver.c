/*
 * Whole answers are lent to the exchange as three slices around the model's name.  Streams begin with the
 * first write, so that status, headers, what was held and the first content are one system call.
 */
#include "gateway/deliver.h"

#include <weir/error.h>

#include "base/slice.h"
#include "config/config.h"
#include "gateway/answer/fallback_errors.h"
#include "gateway/answer/reply.h"
#include "gateway/attempt/upcall.h"
#include "gateway/attempt/upstream.h"
#include "gateway/gateway.h"
#include "gateway/job.h"
#include "gateway/keepalive.h"
#include "gateway/setup.h"
#include "gateway/worker.h"
#include "wire/json_read.h"

enum { FAILURE_EVENT_MAX = 64 * 1024 };

/* ---- header lines ---- */

/* Of all attempts that gave a part of the answer. */
static struct weir_cost cost_of(const struct weir_job *job, const struct weir_upcall *upcall)
{
    return weir_cost_add(job->so_far.before_cost, weir_cost_of(upcall, &upcall->usage));
}

static struct weir_answer_facts facts_of(const struct weir_job *job, const struct weir_upcall *upcall,
                                         const struct weir_summary *summary, struct weir_cost cost)
{
    const struct weir_router_spec *router = weir_snapshot_router(job->setup->snapshot);
    uint64_t ended = upcall->ended_ns == 0 ? weir_job_now(job) : upcall->ended_ns;
    uint64_t duration = weir_job_now(job) - job->begun_ns;
    uint64_t waited = ended - upcall->started_ns;

    return (struct weir_answer_facts){.id_line = upcall->upstream->id_line,
                                      .base_line = upcall->base_line.len > 0 ? upcall->base_line
                                                                             : upcall->upstream->base_line,
                                      .provider_lines = upcall->provider_lines,
                                      .group = summary->group,
                                      .retries = summary->retries,
                                      .max_retries = summary->max_retries,
                                      .hops = summary->hops,
                                      .max_hops = router->max_fallbacks,
                                      .duration_ns = duration,
                                      .cost = cost,
                                      .overhead_ns = duration > waited ? duration - waited : 0};
}

static void note_success(struct weir_job *job, const struct weir_upcall *upcall,
                         const struct weir_summary *summary)
{
    job->access.status = 200;
    job->access.group = summary->group;
    job->access.deployment = upcall->upstream->id;
    job->access.retries = summary->retries;
    job->access.fallbacks = summary->hops;
    job->access.kind = WEIR_SLICE_EMPTY;
}

static void note_end(struct weir_job *job, const struct weir_upcall *upcall, struct weir_cost cost)
{
    job->access.cost = cost.known ? cost.picodollars : 0;
    /* Of all attempts that gave a part of the answer. */
    job->access.prompt_tokens = job->so_far.before.prompt_tokens + upcall->usage.prompt_tokens;
    job->access.completion_tokens = job->so_far.before.completion_tokens + upcall->usage.completion_tokens;
    job->access.finish = upcall->finish;
    job->access.upstream_ns = upcall->ended_ns - upcall->started_ns;
}

/* The lines of a successful answer; negative: they do not fit. */
static int success_lines(struct weir_job *job, const struct weir_upcall *upcall, struct weir_cost cost,
                         struct weir_slice type_line, struct weir_summary *ret_summary)
{
    struct weir_buf *lines = weir_reply_lines(job);
    struct weir_answer_facts facts;
    int r;

    weir_call_summary(job->call, ret_summary);
    note_success(job, upcall, ret_summary);
    facts = facts_of(job, upcall, ret_summary, cost);
    r = weir_headers_of_success(&facts, lines);
    if (r == 0 && !upcall->stream)
        r = weir_fallback_errors_line(job, ret_summary, lines);
    return r == 0 ? weir_buf_append(lines, type_line) : r;
}

/* ---- streams ---- */

static void give_up_client(struct weir_job *job)
{
    job->part_count = 0;
    job->begin_lines = WEIR_SLICE_EMPTY;
    job->access.end = WEIR_SLICE("cut");
    if (job->exchange != NULL)
        weir_exchange_abort(job->exchange);
}

void weir_deliver_flush(struct weir_job *job)
{
    size_t count = job->part_count;
    int r;

    if (count == 0 && job->begin_lines.len == 0)
        return;
    job->part_count = 0;
    job->sent_ns = weir_job_now(job);
    if (job->exchange == NULL)
        return;
    if (job->begin_lines.len > 0)
        r = weir_exchange_begin(job->exchange, 200, job->begin_lines, job->parts, count);
    else
        r = weir_exchange_write(job->exchange, job->parts, count);
    job->begin_lines = WEIR_SLICE_EMPTY;
    if (job->server != NULL)
        weir_upcall_drop_held(job->server);
    if (r == WEIR_EXCHANGE_FULL && job->server != NULL)
        weir_upcall_pause(job->server);
    else if (r < 0)
        give_up_client(job);
}

void weir_deliver_add(struct weir_job *job, struct weir_slice bytes)
{
    struct weir_slice *last = job->part_count == 0 ? NULL : &job->parts[job->part_count - 1];

    if (bytes.len == 0)
        return;
    if (last != NULL && last->ptr + last->len == bytes.ptr) {
        last->len += bytes.len;
        return;
    }
    if (job->part_count == WEIR_JOB_PARTS)
        weir_deliver_flush(job);
    job->parts[job->part_count++] = bytes;
}

/* The start of a plain answer that is too large to be held, with the name where it can be found. */
static void add_large(struct weir_job *job, const struct weir_upcall *upcall)
{
    struct weir_slice body = weir_buf_slice(&upcall->body);
    struct weir_json_value model;
    size_t before;

    if (weir_json_find(body, WEIR_SLICE("model"), &model) != 0 || model.type != WEIR_JSON_STRING) {
        weir_deliver_add(job, body);
        return;
    }
    before = (size_t)(model.text.ptr - body.ptr);
    weir_deliver_add(job, weir_slice_sub(body, 0, before));
    weir_deliver_add(job, upcall->reported);
    weir_deliver_add(job, weir_slice_sub(body, before + model.text.len, body.len));
}

#define STREAM_TYPE                                                                                          \
    WEIR_SLICE("content-type: text/event-stream; charset=utf-8\r\n"                                          \
               "cache-control: no-cache\r\n")

/* The lines are copied: the room is shared, and the first bytes may come a moment later. */
static bool keep_begin_lines(struct weir_job *job)
{
    job->begin_lines = weir_arena_copy(&job->arena, weir_buf_slice(&job->worker->lines));
    return job->begin_lines.len > 0;
}

/* A stream's head may have gone already, for pings or for the attempt that this one continues. */
static bool is_begun(const struct weir_job *job)
{
    return job->exchange != NULL && weir_exchange_begun(job->exchange);
}

void weir_deliver_open(struct weir_job *job)
{
    job->access.status = 200;
    if (weir_buf_append(weir_reply_lines(job), STREAM_TYPE) < 0 || !keep_begin_lines(job))
        give_up_client(job);
}

void weir_deliver_commit(struct weir_job *job, struct weir_upcall *upcall)
{
    struct weir_slice type_line =
        upcall->stream ? STREAM_TYPE : WEIR_SLICE("content-type: application/json\r\n");
    struct weir_summary summary;
    const struct weir_cost unknown = {false, 0}; /* the head goes out before all is used */
    int r = success_lines(job, upcall, unknown, type_line, &summary);

    if (!is_begun(job) && (r < 0 || !keep_begin_lines(job))) {
        give_up_client(job);
        return;
    }
    job->access.held_bytes += weir_buf_len(&upcall->held);
    if (upcall->stream) {
        weir_deliver_add(job, weir_buf_slice(&upcall->held));
        if (upcall->continued == NULL)
            weir_deliver_add(job, weir_fallback_errors_event(job, &summary));
    } else {
        add_large(job, upcall);
    }
    weir_keepalive_commit(job, upcall);
}

/* The rest of what was added goes with the end of the stream. */
static void end_stream(struct weir_job *job, struct weir_slice last)
{
    weir_deliver_add(job, last);
    if (job->begin_lines.len > 0)
        weir_deliver_flush(job);
    if (job->exchange == NULL)
        return;
    weir_exchange_end(job->exchange, job->parts, job->part_count);
    job->part_count = 0;
}

/* ---- ends ---- */

static void answer_plain(struct weir_job *job, struct weir_upcall *upcall, struct weir_cost cost)
{
    struct weir_slice body = weir_buf_slice(&upcall->body);
    const struct weir_json_value *model = &upcall->answer.model;
    struct weir_slice parts[3] = {body};
    struct weir_summary summary;

    if (success_lines(job, upcall, cost, WEIR_SLICE("content-type: application/json\r\n"), &summary) < 0) {
        give_up_client(job);
        return;
    }
    if (model->type == WEIR_JSON_STRING) {
        size_t before = (size_t)(model->text.ptr - body.ptr);

        parts[0] = weir_slice_sub(body, 0, before);
        parts[1] = upcall->reported;
        parts[2] = weir_slice_sub(body, before + model->text.len, body.len);
    }
    if (job->exchange != NULL)
        weir_exchange_respond(job->exchange, 200, weir_buf_slice(&job->worker->lines), parts, 3);
}

void weir_deliver_answer(struct weir_job *job, struct weir_upcall *upcall)
{
    struct weir_cost cost = cost_of(job, upcall);

    note_end(job, upcall, cost);
    if (!upcall->stream && !upcall->committed) {
        answer_plain(job, upcall, cost);
        return;
    }
    if (!upcall->committed) /* a stream that has ended without content */
        weir_deliver_commit(job, upcall);
    if (job->exchange == NULL)
        return;
    end_stream(job, upcall->stream ? WEIR_SLICE("data: [DONE]\n\n") : WEIR_SLICE_EMPTY);
}

/* What the deployments of the group were used for this minute. */
static void tell_usage(const struct weir_job *job, struct weir_fail_story *story)
{
    const weir_deployment *members[WEIR_FAIL_USAGE_MAX];
    size_t count = weir_call_members(job->call, story->fail->group, members, WEIR_FAIL_USAGE_MAX);

    for (size_t i = 0; i < count && i < WEIR_FAIL_USAGE_MAX; i++) {
        struct weir_live_view view;

        weir_router_view(job->worker->gateway->router, members[i], weir_job_now(job), &view);
        story->usage[story->usage_count++] = (struct weir_fail_usage){
            weir_deployment_id(members[i]), view.minute, *weir_deployment_minute_limits(members[i])};
    }
}

static int make_error(struct weir_job *job, const struct weir_fail *fail, struct weir_error_reply *ret_error)
{
    struct weir_fail_story story = {.fail = fail,
                                    .failed = job->failed,
                                    .request = &job->asked.request,
                                    .pre_call_checks =
                                        weir_snapshot_router(job->setup->snapshot)->pre_call_checks,
                                    .debug = job->setup->config->settings.expose_router_debug};
    struct weir_summary summary;
    size_t cooling;

    weir_call_summary(job->call, &summary);
    story.summary = &summary;
    if (fail->reason == WEIR_REASON_NO_DEPLOYMENTS) {
        cooling = weir_call_cooling(job->call, fail->group, weir_job_now(job), story.cooling,
                                    WEIR_FAIL_COOLING_MAX);
        story.cooling_count = cooling < WEIR_FAIL_COOLING_MAX ? cooling : WEIR_FAIL_COOLING_MAX;
    }
    if (fail->reason == WEIR_REASON_USAGE)
        tell_usage(job, &story);
    return weir_fail_error(&story, &job->arena, ret_error);
}

static void fail_stream(struct weir_job *job, const struct weir_error_reply *error)
{
    struct weir_buf event;

    job->access.end = WEIR_SLICE("cut");
    weir_buf_init(&event, weir_arena_mem(&job->arena), FAILURE_EVENT_MAX);
    if (!job->asked.request.stream || weir_error_write_event(error, &event) < 0)
        give_up_client(job);
    else
        end_stream(job, weir_buf_slice(&event));
}

/* Which failed attempt's head and deployment the answer tells of. */
static struct weir_answer_facts failure_facts(const struct weir_job *job, const struct weir_fail *fail)
{
    const struct weir_failed *failed = weir_failed_find(job->failed, fail->attempt);
    struct weir_answer_facts facts = {.retry_after_s = weir_fail_retry_after_s(fail)};

    if (failed != NULL) {
        facts.id_line = failed->upstream->id_line;
        facts.limit_ns = failed->limit_ns;
        facts.provider_lines = failed->provider_lines;
    }
    return facts;
}

static void note_failure(struct weir_job *job, const struct weir_fail *fail)
{
    struct weir_summary summary;

    weir_call_summary(job->call, &summary);
    job->access.retries = summary.retries;
    job->access.fallbacks = summary.hops;
    if (job->server == NULL && !is_begun(job))
        job->access.status = (uint64_t)fail->failure.status;
    job->access.group = fail->group;
    if (fail->reason == WEIR_REASON_CLIENT_GONE)
        job->access.status = 499;
    else
        job->access.kind = weir_kind_row(fail->failure.kind)->name;
}

void weir_deliver_failure(struct weir_job *job, const struct weir_fail *fail)
{
    struct weir_error_reply error = {
        .status = 500, .message = WEIR_SLICE("out of memory"), .type = WEIR_SLICE("internal_server_error")};
    struct weir_answer_facts facts;

    note_failure(job, fail);
    if (job->exchange == NULL)
        return;
    (void)make_error(job, fail, &error); /* else the words above */
    if (job->server != NULL || is_begun(job)) {
        fail_stream(job, &error);
        return;
    }
    facts = failure_facts(job, fail);
    if (weir_headers_of_failure(&facts, weir_reply_lines(job)) < 0)
        give_up_client(job);
    else
        weir_reply_error(job, &error);
}
