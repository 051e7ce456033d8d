/*
 * A run is driven by one timer.  A whole answer is made when it fires; a stream sends the tokens that are due
 * by the clock, so that a late timer is made up for and the speed holds on average.
 *
 * A request whose last message is the assistant's own, and an answer that is carried on, begin the text: what
 * is said goes on behind them.
 *
 * Failures are spread over the calls of a deployment by counting: the n-th fails when n * ratio passes a
 * whole number.
 */
#include "gateway/attempt/sim.h"

#include <weir/error.h>
#include <weir/snapshot.h>

#include "base/container.h"
#include "base/slice.h"
#include "base/time.h"
#include "gateway/attempt/upcall.h"
#include "gateway/attempt/upstream.h"
#include "gateway/continuation/continued.h"
#include "gateway/gateway.h"
#include "gateway/job.h"
#include "gateway/worker.h"
#include "provider/endpoint.h"
#include "provider/sim.h"
#include "wire/json_read.h"

enum { TICK_NS = 5 * 1000 * 1000, BATCH_MAX = 64 * 1024, BODY_MAX = 8 * 1024 * 1024, BYTES_A_TOKEN = 4 };

static weir_loop *loop_of(const struct weir_sim_run *run)
{
    return run->upcall->job->worker->loop;
}

static void arm(struct weir_sim_run *run, uint64_t at_ns)
{
    if (!run->paused)
        weir_loop_arm(loop_of(run), &run->timer, at_ns);
}

static void send_head(struct weir_sim_run *run, unsigned status, struct weir_slice type)
{
    run->head_sent = true;
    run->fields[0] = (struct weir_http1_field){WEIR_SLICE("content-type"), type};
    run->head =
        (struct weir_http1_head){.status = status, .minor = 1, .fields = run->fields, .field_count = 1};
    if (run->fails && run->retry_after_ns > 0) {
        struct weir_slice value = weir_text_fixed(run->retry_after_ns / WEIR_NS_PER_MS, 3, run->retry_after);

        run->fields[run->head.field_count++] = (struct weir_http1_field){WEIR_SLICE("retry-after"), value};
    }
    weir_upcall_on_head(run->upcall, &run->head);
}

/* A whole answer: head, body, end. */
static void answer_whole(struct weir_sim_run *run, unsigned status, struct weir_slice body)
{
    struct weir_upcall *upcall = run->upcall;

    run->active = false;
    send_head(run, status, WEIR_SLICE("application/json"));
    weir_upcall_on_body(upcall, body);
    weir_upcall_on_done(upcall);
}

static void answer_failure(struct weir_sim_run *run)
{
    if (run->error == WEIR_KIND_CONNECTION) {
        run->active = false;
        weir_upcall_on_broken(run->upcall, WEIR_MISHAP_CONNECT);
        return;
    }
    answer_whole(run, (unsigned)weir_kind_row(run->error)->status, weir_sim_error(run->error));
}

static void answer_plain(struct weir_sim_run *run)
{
    struct weir_buf body;

    if (run->raw.len > 0) {
        answer_whole(run, 200, run->raw);
        return;
    }
    weir_buf_init(&body, run->upcall->job->worker->gateway->mem, BODY_MAX);
    if (weir_sim_body(&run->words, &body) == 0) {
        answer_whole(run, 200, weir_buf_slice(&body));
    } else {
        run->active = false;
        weir_upcall_on_broken(run->upcall, WEIR_MISHAP_TOO_LARGE);
    }
    weir_buf_deinit(&body);
}

/* ---- streams ---- */

/* Tokens that may have been sent by now. */
static uint64_t due(const struct weir_sim_run *run, uint64_t now_ns)
{
    if (run->tokens_per_second <= 0)
        return UINT64_MAX;
    return 1 + (uint64_t)(weir_time_to_s(now_ns - run->first_ns) * run->tokens_per_second);
}

/* The end of a stream: its last chunks, or a break. */
static void end_stream(struct weir_sim_run *run, struct weir_buf *out)
{
    struct weir_upcall *upcall = run->upcall;

    run->active = false;
    weir_buf_clear(out);
    if (run->tokens == run->break_after) {
        weir_upcall_on_broken(upcall, WEIR_MISHAP_CUT_OFF);
        return;
    }
    if (weir_sim_last_chunks(&run->words, run->include_usage, run->tokens, out) == 0)
        weir_upcall_on_body(upcall, weir_buf_slice(out));
    weir_upcall_on_done(upcall);
}

/* One chunk more; false at the end of the text, or where the stream is to break. */
static bool next_token(struct weir_sim_run *run, struct weir_buf *out)
{
    struct weir_slice token = weir_sim_token(run->words.text, run->at);

    if (token.len == 0 || run->tokens == run->break_after || weir_sim_chunk(&run->words, token, out) < 0)
        return false;
    run->at += token.len;
    run->tokens++;
    return true;
}

static void stream_on(struct weir_sim_run *run, struct weir_buf *out)
{
    uint64_t now = weir_loop_now(loop_of(run));
    uint64_t may = due(run, now);
    bool more = true;

    while (more && run->tokens < may && weir_buf_len(out) < BATCH_MAX)
        more = next_token(run, out);
    if (weir_buf_len(out) > 0) {
        weir_upcall_on_body(run->upcall, weir_buf_slice(out));
        weir_upcall_on_flush(run->upcall);
    }
    if (!run->active) /* cancelled meanwhile */
        return;
    if (more)
        arm(run, run->tokens < may ? now : now + TICK_NS);
    else
        end_stream(run, out);
}

static void answer_stream(struct weir_sim_run *run)
{
    struct weir_buf out;

    weir_buf_init(&out, run->upcall->job->worker->gateway->mem, BODY_MAX);
    if (!run->head_sent) {
        run->first_ns = weir_loop_now(loop_of(run));
        send_head(run, 200, WEIR_SLICE("text/event-stream"));
        if (weir_sim_first_chunk(&run->words, &out) < 0)
            weir_buf_clear(&out);
    }
    if (run->active)
        stream_on(run, &out);
    weir_buf_deinit(&out);
}

static void on_timer(struct weir_timer *timer)
{
    struct weir_sim_run *run = WEIR_CONTAINER(timer, struct weir_sim_run, timer);

    weir_upcall_enter(run->upcall);
    if (run->fails)
        answer_failure(run);
    else if (run->upcall->stream)
        answer_stream(run);
    else
        answer_plain(run);
    weir_upcall_leave(run->upcall);
}

/* ---- beginning ---- */

/* The inputs of an embeddings request: one, or one for each element of the list that is not a token. */
static uint64_t count_inputs(const struct weir_asked *asked)
{
    struct weir_json_value input;
    struct weir_json_cursor cursor;
    struct weir_json_item item;
    uint64_t count = 0;

    if (weir_json_find(asked->body, WEIR_SLICE("input"), &input) != 0 || input.type != WEIR_JSON_ARRAY ||
        weir_json_enter(&cursor, input.text, WEIR_JSON_DEPTH_MAX) != 0)
        return 1;
    while (weir_json_next(&cursor, &item) == WEIR_JSON_ITEM)
        if (item.value.type != WEIR_JSON_NUMBER)
            count++;
    return count == 0 ? 1 : count;
}

static bool wants_usage(const struct weir_asked *asked)
{
    struct weir_json_value value;
    bool wanted = false;

    return weir_json_find(asked->body, WEIR_SLICE("stream_options.include_usage"), &value) == 0 &&
           weir_json_bool(&value, &wanted) == 0 && wanted;
}

/* "litellm.RateLimitError" names an error (router-semantics 12). */
static bool names_error(struct weir_slice text, weir_kind *ret_kind)
{
    struct weir_slice prefix = WEIR_SLICE("litellm.");

    if (!weir_slice_starts(text, prefix))
        return false;
    text = weir_slice_sub(text, prefix.len, text.len);
    for (unsigned k = 0; k < WEIR_KIND_COUNT; k++)
        if (weir_slice_eq(weir_kind_row((weir_kind)k)->class_name, text)) {
            *ret_kind = (weir_kind)k;
            return true;
        }
    return false;
}

/* 0 with its text, WEIR_JSON_OTHER where it is none, or negative. */
static int read_mock(const struct weir_endpoint *endpoint, struct weir_arena *arena,
                     struct weir_json_value *ret_mock, struct weir_slice *ret_text)
{
    size_t bad_at;

    if (weir_json_check(endpoint->mock_response, WEIR_JSON_DEPTH_MAX, ret_mock, &bad_at) != 0)
        return WEIR_ERR_MALFORMED;
    return weir_json_string(ret_mock, arena, ret_text);
}

static int use_mock(struct weir_sim_run *run, const struct weir_endpoint *endpoint)
{
    struct weir_json_value mock;
    int r = read_mock(endpoint, &run->upcall->job->arena, &mock, &run->words.text);

    run->break_after = WEIR_UNSET;
    if (r == 0)
        run->fails = names_error(run->words.text, &run->error);
    else if (r == WEIR_JSON_OTHER && mock.type == WEIR_JSON_OBJECT && !run->upcall->stream)
        run->raw = mock.text;
    else if (r == WEIR_JSON_OTHER)
        run->words.text = mock.text;
    return r < 0 ? r : 0;
}

static bool fails_now(const struct weir_sim *sim, uint64_t number)
{
    double before = (double)(number - 1) * sim->error_ratio;
    double after = (double)number * sim->error_ratio;

    return sim->fails && (uint64_t)after > (uint64_t)before;
}

static uint64_t next_number(struct weir_upstream *upstream)
{
    return 1 + atomic_fetch_add_explicit(&upstream->simulated, 1, memory_order_relaxed);
}

bool weir_sim_fails(const struct weir_endpoint *endpoint, struct weir_upstream *upstream,
                    struct weir_arena *arena, weir_kind *ret_kind)
{
    uint64_t number = next_number(upstream);
    struct weir_json_value mock;
    struct weir_slice text;

    if (endpoint->mock_response.len > 0)
        return read_mock(endpoint, arena, &mock, &text) == 0 && names_error(text, ret_kind);
    *ret_kind = endpoint->sim->error;
    return fails_now(endpoint->sim, number);
}

/* The content of the request's last message, where that is the assistant's. */
static int own_beginning(const struct weir_asked *asked, struct weir_arena *arena,
                         struct weir_slice *ret_text)
{
    struct weir_json_value messages, value, last = {0};
    struct weir_json_cursor cursor;
    struct weir_json_item item;

    *ret_text = WEIR_SLICE_EMPTY;
    if (weir_json_find(asked->body, WEIR_SLICE("messages"), &messages) != 0 ||
        messages.type != WEIR_JSON_ARRAY || weir_json_enter(&cursor, messages.text, WEIR_JSON_DEPTH_MAX) != 0)
        return 0;
    while (weir_json_next(&cursor, &item) == WEIR_JSON_ITEM)
        last = item.value;
    if (last.type != WEIR_JSON_OBJECT || weir_json_find(last.text, WEIR_SLICE("role"), &value) != 0 ||
        !weir_json_string_is(&value, WEIR_SLICE("assistant")) ||
        weir_json_find(last.text, WEIR_SLICE("content"), &value) != 0 || value.type != WEIR_JSON_STRING)
        return 0;
    return weir_json_string(&value, arena, ret_text);
}

static int begin_behind(struct weir_sim_run *run)
{
    const struct weir_continued *continued = run->upcall->continued;
    struct weir_job *job = run->upcall->job;
    struct weir_slice beginning, parts[2];
    int r = own_beginning(&job->asked, &job->arena, &parts[0]);

    parts[1] = continued == NULL ? WEIR_SLICE_EMPTY : continued->prefill;
    if (r < 0 || parts[0].len + parts[1].len == 0)
        return r;
    beginning = weir_arena_join(&job->arena, parts, 2);
    if (beginning.len == 0)
        return WEIR_ERR_NOMEM;
    if (weir_slice_starts(run->words.text, beginning))
        run->words.text = weir_slice_sub(run->words.text, beginning.len, run->words.text.len);
    return 0;
}

static int use_sim(struct weir_sim_run *run, const struct weir_endpoint *endpoint)
{
    const struct weir_sim *sim = endpoint->sim;
    const struct weir_slice parts[] = {WEIR_SLICE("This is "), endpoint->name,
                                       WEIR_SLICE(", a provider inside weir, speaking.")};

    run->words.text = sim->text.len > 0 ? sim->text
                                        : weir_arena_join(&run->upcall->job->arena, parts,
                                                          sizeof(parts) / sizeof(parts[0]));
    run->tokens_per_second = sim->tokens_per_second;
    run->break_after = sim->break_after_tokens;
    run->fails = fails_now(sim, run->words.number);
    run->error = sim->error;
    run->retry_after_ns = sim->retry_after_ns;
    return run->words.text.len == 0 ? WEIR_ERR_NOMEM : begin_behind(run);
}

int weir_sim_start(struct weir_sim_run *run, struct weir_upcall *upcall)
{
    const struct weir_endpoint *endpoint = upcall->upstream->endpoint;
    const struct weir_job *job = upcall->job;
    uint64_t number = next_number(upcall->upstream);
    uint64_t delay_ns = job->asked.mock_delay_ns;
    int r;

    *run = (struct weir_sim_run){.upcall = upcall,
                                 .words = {.route = job->route,
                                           .number = number,
                                           .created_s = weir_loop_wall_s(job->worker->loop),
                                           .model = upcall->reported,
                                           .prompt_tokens = job->asked.body.len / BYTES_A_TOKEN,
                                           .inputs = count_inputs(&job->asked)},
                                 .include_usage = wants_usage(&job->asked)};
    weir_timer_init(&run->timer, on_timer);
    if (endpoint->mock_response.len > 0) {
        r = use_mock(run, endpoint);
    } else {
        r = use_sim(run, endpoint);
        delay_ns = endpoint->sim->first_token_delay_ns;
    }
    if (r < 0)
        return r;
    run->active = true;
    arm(run, weir_loop_now(loop_of(run)) + delay_ns);
    return 0;
}

void weir_sim_cancel(struct weir_sim_run *run)
{
    if (run->upcall != NULL)
        weir_loop_cancel(loop_of(run), &run->timer);
    run->active = false;
}

void weir_sim_pause(struct weir_sim_run *run)
{
    run->paused = true;
    if (run->upcall != NULL)
        weir_loop_cancel(loop_of(run), &run->timer);
}

void weir_sim_resume(struct weir_sim_run *run)
{
    run->paused = false;
    if (run->active)
        arm(run, weir_loop_now(loop_of(run)));
}
