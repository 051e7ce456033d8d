/*
 * An attempt is `told` once the engine knows its end, or has cancelled it; whatever its source says after
 * that is ignored.  A stream is told finished at its end marker, though its connection may still have to be
 * read to its end to be used again: it lingers for a moment, then the connection is closed.
 *
 * Bytes on their way to the client are the source's, and go before the source does.
 */
#include "gateway/attempt/upcall.h"

#include "base/container.h"
#include "base/slice.h"
#include "config/config.h"
#include "gateway/attempt/mishap.h"
#include "gateway/attempt/upcall_stream.h"
#include "gateway/continuation/continued.h"
#include "gateway/deliver.h"
#include "gateway/driver.h"
#include "gateway/gateway.h"
#include "gateway/job.h"
#include "gateway/metrics/count.h"
#include "gateway/setup.h"
#include "gateway/worker.h"
#include "wire/http1_read.h"
#include "wire/json_read.h"

enum { ERROR_BODY_MAX = 256 * 1024, LINGER_NS = 500 * 1000 * 1000, EXCERPT_MAX = 64 * 1024 };

struct weir_upcall *weir_upcall_find(struct weir_job *job, uint32_t number)
{
    struct weir_upcall *upcall = job->attempts;

    while (upcall != NULL && upcall->number != number)
        upcall = upcall->next;
    return upcall;
}

bool weir_upcall_quiet(const struct weir_upcall *upcall)
{
    return !weir_fetch_active(&upcall->fetch) && !upcall->sim.active;
}

void weir_upcall_release(struct weir_upcall *upcall)
{
    weir_loop_cancel(upcall->job->worker->loop, &upcall->linger);
    weir_sse_deinit(&upcall->sse);
    weir_buf_deinit(&upcall->held);
    weir_buf_deinit(&upcall->body);
    weir_continued_deinit(upcall->continued);
}

void weir_upcall_enter(struct weir_upcall *upcall)
{
    weir_job_enter(upcall->job);
    upcall->entered = true;
}

void weir_upcall_leave(struct weir_upcall *upcall)
{
    upcall->entered = false;
    weir_job_leave(upcall->job);
}

static void stop_source(struct weir_upcall *upcall)
{
    weir_loop_cancel(upcall->job->worker->loop, &upcall->linger);
    if (weir_fetch_active(&upcall->fetch))
        weir_fetch_cancel(&upcall->fetch);
    weir_sim_cancel(&upcall->sim);
    upcall->head = NULL;
}

static void on_linger(struct weir_timer *timer)
{
    struct weir_upcall *upcall = WEIR_CONTAINER(timer, struct weir_upcall, linger);

    weir_upcall_enter(upcall);
    if (upcall->told)
        stop_source(upcall);
    else
        weir_upcall_stream_over(upcall, WEIR_MISHAP_STREAM_CUT);
    weir_upcall_leave(upcall);
}

void weir_upcall_init(struct weir_upcall *upcall, struct weir_job *job, uint32_t number)
{
    const struct weir_mem *budget = weir_budget_mem(&job->worker->gateway->budget);
    const struct weir_settings *settings = &job->setup->config->settings;

    upcall->job = job;
    upcall->number = number;
    upcall->stream = job->asked.request.stream;
    upcall->started_ns = weir_job_now(upcall->job);
    weir_timer_init(&upcall->linger, on_linger);
    weir_buf_init(&upcall->body, budget, (size_t)settings->max_response_bytes);
    weir_buf_init(&upcall->held, budget, (size_t)settings->stream_hold_max_bytes);
    weir_sse_init(&upcall->sse, budget, (size_t)settings->max_event_bytes);
}

void weir_upcall_record(struct weir_upcall *upcall, const struct weir_verdict *verdict)
{
    struct weir_job *job = upcall->job;
    struct weir_failed *failed = weir_arena_zalloc(&job->arena, 1, sizeof(*failed));

    if (failed == NULL)
        return;
    *failed = (struct weir_failed){.next = job->failed,
                                   .attempt = upcall->number,
                                   .upstream = upcall->upstream,
                                   .limit_ns = upcall->limit_ns,
                                   .verdict = *verdict,
                                   .provider_lines = upcall->provider_lines};
    /* These are parts of the body, which goes before the job does. */
    failed->verdict.text = weir_arena_copy(&job->arena, verdict->text);
    failed->verdict.type = weir_arena_copy(&job->arena, verdict->type);
    failed->verdict.param = weir_arena_copy(&job->arena, verdict->param);
    failed->verdict.inner_error = weir_arena_copy(&job->arena, verdict->inner_error);
    job->failed = failed;
}

static int classify(struct weir_upcall *upcall, weir_mishap mishap, struct weir_slice text,
                    struct weir_verdict *ret_verdict)
{
    const struct weir_endpoint *endpoint = upcall->upstream->endpoint;
    const struct weir_mishap_report report = {.provider = endpoint->provider,
                                              .mishap = mishap,
                                              .status = upcall->head == NULL ? 0 : (int)upcall->head->status,
                                              .head = upcall->head,
                                              .body = weir_slice_sub(text, 0, EXCERPT_MAX),
                                              .secret = endpoint->api_key,
                                              .wall_now_s =
                                                  (int64_t)weir_loop_wall_s(upcall->job->worker->loop)};
    int r = weir_classify(&report, &upcall->job->arena, ret_verdict);

    if (r == 0)
        weir_upcall_record(upcall, ret_verdict);
    return r;
}

/* The end, for better or worse.  What is on its way to the client is the source's bytes: it goes now. */
static void end(struct weir_upcall *upcall)
{
    upcall->told = true;
    upcall->ended_ns = weir_job_now(upcall->job);
    if (upcall->committed)
        weir_deliver_flush(upcall->job);
    else if (!upcall->complete)
        weir_upcall_drop_held(upcall);
    stop_source(upcall);
}

/* What it has not made anything of yet: the call may go on for long without it. */
static void drop_unread(struct weir_upcall *upcall)
{
    if (upcall->entered)
        return;
    weir_sse_deinit(&upcall->sse);
    weir_buf_deinit(&upcall->body);
}

void weir_upcall_cancel(struct weir_upcall *upcall, weir_mishap what)
{
    struct weir_verdict verdict;

    if (upcall->told) {
        stop_source(upcall);
        return;
    }
    if (!upcall->complete)
        (void)!classify(upcall, what, WEIR_SLICE_EMPTY, &verdict);
    end(upcall);
    drop_unread(upcall);
}

void weir_upcall_fail(struct weir_upcall *upcall, weir_mishap mishap, struct weir_slice text)
{
    struct weir_verdict verdict = {.failure = {WEIR_KIND_INTERNAL, 500, 0, WEIR_ORIGIN_PROVIDER}};

    if (upcall->told)
        return;
    /* Without memory for the words the facts above must do. */
    if (classify(upcall, mishap, text, &verdict) != 0)
        verdict.failure.origin = WEIR_ORIGIN_ROUTER;
    end(upcall);
    weir_driver_on_failed(upcall, &verdict.failure);
}

void weir_upcall_fail_here(struct weir_upcall *upcall)
{
    const struct weir_failure failure = {WEIR_KIND_SERVICE_UNAVAILABLE, 503, 0, WEIR_ORIGIN_ROUTER};
    const struct weir_verdict verdict = {.failure = failure,
                                         .text =
                                             WEIR_SLICE("weir is at the limit of its memory or connections"),
                                         .type = WEIR_SLICE("internal_server_error")};

    if (upcall->told)
        return;
    weir_upcall_record(upcall, &verdict);
    end(upcall);
    weir_driver_on_failed(upcall, &failure);
}

bool weir_upcall_is_empty(const struct weir_upcall *upcall)
{
    return upcall->refuses_empty && !upcall->has_content && upcall->usage.completion_tokens == 0 &&
           weir_json_spells(upcall->finish, WEIR_SLICE("stop"));
}

void weir_upcall_finish(struct weir_upcall *upcall)
{
    if (upcall->told)
        return;
    upcall->told = true;
    upcall->ended_ns = weir_job_now(upcall->job);
    if (!weir_upcall_quiet(upcall))
        weir_loop_arm(upcall->job->worker->loop, &upcall->linger, upcall->ended_ns + LINGER_NS);
    weir_driver_on_finished(upcall);
}

static bool is_success(const struct weir_upcall *upcall)
{
    return upcall->head != NULL && upcall->head->status >= 200 && upcall->head->status < 300;
}

void weir_upcall_on_head(struct weir_upcall *upcall, const struct weir_http1_head *head)
{
    upcall->head = head;
    upcall->provider_lines = weir_headers_of_provider(head, &upcall->job->arena);
    weir_count_remaining(upcall->upstream, head);
    if (upcall->told || !is_success(upcall))
        return;
    weir_driver_on_opened(upcall);
}

/* A plain answer that is too large to be held goes to the client as it comes (decisions 24). */
static void pass_large(struct weir_upcall *upcall, struct weir_slice bytes)
{
    if (!upcall->has_content) {
        upcall->has_content = true;
        weir_driver_on_chunk(upcall, &(struct weir_stream_chunk){.deltas = 1, .other = true});
    }
    if (upcall->told || !upcall->committed)
        return;
    weir_deliver_add(upcall->job, bytes);
    weir_deliver_flush(upcall->job);
    weir_buf_deinit(&upcall->body); /* sent, or queued */
}

static void read_error(struct weir_upcall *upcall, struct weir_slice bytes)
{
    size_t room = ERROR_BODY_MAX - weir_buf_len(&upcall->body);

    if (weir_buf_append(&upcall->body, weir_slice_sub(bytes, 0, room)) < 0 || bytes.len >= room)
        weir_upcall_fail(upcall, WEIR_MISHAP_ANSWER, weir_buf_slice(&upcall->body));
}

static void read_plain(struct weir_upcall *upcall, struct weir_slice bytes)
{
    if (upcall->committed || bytes.len > upcall->body.max - weir_buf_len(&upcall->body))
        pass_large(upcall, bytes);
    else if (weir_buf_append(&upcall->body, bytes) < 0)
        weir_upcall_fail_here(upcall);
}

void weir_upcall_on_body(struct weir_upcall *upcall, struct weir_slice bytes)
{
    if (upcall->told)
        return;
    if (!is_success(upcall))
        read_error(upcall, bytes);
    else if (upcall->stream)
        weir_upcall_stream_body(upcall, bytes);
    else
        read_plain(upcall, bytes);
}

void weir_upcall_on_flush(struct weir_upcall *upcall)
{
    weir_deliver_flush(upcall->job);
}

static void judge_plain(struct weir_upcall *upcall)
{
    struct weir_slice body = weir_buf_slice(&upcall->body);
    int r;

    if (upcall->committed) {
        weir_upcall_finish(upcall);
        return;
    }
    r = weir_read_answer(upcall->upstream->endpoint, upcall->job->route, body, &upcall->answer);
    if (r != 0) {
        weir_upcall_fail(upcall, weir_mishap_of_answer(r), body);
        return;
    }
    upcall->usage = upcall->answer.usage;
    upcall->finish = weir_arena_copy(&upcall->job->arena, upcall->answer.finish);
    upcall->has_content = !upcall->answer.empty;
    upcall->content_filtered = upcall->answer.content_filtered;
    if (weir_upcall_is_empty(upcall))
        weir_upcall_fail(upcall, WEIR_MISHAP_EMPTY, WEIR_SLICE_EMPTY);
    else
        weir_upcall_finish(upcall);
}

void weir_upcall_on_done(struct weir_upcall *upcall)
{
    if (upcall->told)
        return;
    if (!is_success(upcall))
        weir_upcall_fail(upcall, WEIR_MISHAP_ANSWER, weir_buf_slice(&upcall->body));
    else if (upcall->stream)
        weir_upcall_stream_done(upcall);
    else
        judge_plain(upcall);
}

void weir_upcall_on_broken(struct weir_upcall *upcall, weir_mishap mishap)
{
    if (upcall->told)
        return;
    if (upcall->stream && is_success(upcall))
        weir_upcall_stream_over(upcall, mishap);
    else
        weir_upcall_fail(upcall, mishap, WEIR_SLICE_EMPTY);
}

void weir_upcall_pause(struct weir_upcall *upcall)
{
    if (upcall->told || upcall->paused)
        return;
    upcall->paused = true;
    if (upcall->simulated)
        weir_sim_pause(&upcall->sim);
    else
        weir_fetch_pause(&upcall->fetch);
    weir_driver_on_paused(upcall, true);
}

void weir_upcall_resume(struct weir_upcall *upcall)
{
    if (!upcall->paused)
        return;
    upcall->paused = false;
    if (upcall->simulated)
        weir_sim_resume(&upcall->sim);
    else if (weir_fetch_active(&upcall->fetch))
        weir_fetch_resume(&upcall->fetch);
    weir_driver_on_paused(upcall, false);
}
