/*
 * What a client is sent and when: delivery and its comments for silence, with a client and a clock that stand
 * in this file.
 */
#include "unit.h"

#include <string.h>

#include <weir/mem_libc.h>

#include "base/buf.h"
#include "base/time.h"
#include "config/config.h"
#include "gateway/attempt/upcall.h"
#include "gateway/attempt/upstream.h"
#include "gateway/deliver.h"
#include "gateway/gateway.h"
#include "gateway/job.h"
#include "gateway/keepalive.h"
#include "gateway/worker.h"

static struct weir_config config;
static struct weir_config_deployment deployment;
static struct weir_router_spec router;
static struct weir_gateway gateway;
static struct weir_setup setup;
static struct weir_worker worker;
static struct weir_upstream upstream;
static struct weir_upcall upcall;
static struct weir_job job;

/* The client: what it was sent, and how it takes it. */
static struct weir_buf got;
static char head[4096];
static int status;
static unsigned writes;
static size_t queued;
static int takes; /* what the next writes return */
static bool ended, aborted;

static uint64_t now_ns;
static uint64_t armed_ns;
static bool paused;

/* ---- the client, the clock, and the engine's facts ---- */

static void take_parts(const struct weir_slice *parts, size_t count)
{
    writes++;
    assert_int_equal(weir_buf_append_all(&got, parts, count), 0);
}

bool weir_exchange_begun(const weir_exchange *exchange)
{
    (void)exchange;
    return status != 0;
}

size_t weir_exchange_queued(const weir_exchange *exchange)
{
    (void)exchange;
    return queued;
}

int weir_exchange_begin(weir_exchange *exchange, int code, struct weir_slice fields,
                        const struct weir_slice *parts, size_t count)
{
    (void)exchange;
    assert_int_equal(status, 0);
    assert_in_range(fields.len, 1, sizeof(head) - 1);
    memcpy(head, fields.ptr, fields.len);
    status = code;
    take_parts(parts, count);
    return takes;
}

int weir_exchange_write(weir_exchange *exchange, const struct weir_slice *parts, size_t count)
{
    (void)exchange;
    assert_true(status != 0 && !ended);
    take_parts(parts, count);
    return takes;
}

void weir_exchange_end(weir_exchange *exchange, const struct weir_slice *parts, size_t count)
{
    (void)exchange;
    assert_true(status != 0 && !ended);
    take_parts(parts, count);
    ended = true;
}

void weir_exchange_respond(weir_exchange *exchange, int code, struct weir_slice fields,
                           const struct weir_slice *parts, size_t count)
{
    (void)exchange;
    (void)fields;
    status = code;
    take_parts(parts, count);
    ended = true;
}

void weir_exchange_abort(weir_exchange *exchange)
{
    (void)exchange;
    aborted = true;
}

void weir_upcall_pause(struct weir_upcall *of)
{
    assert_ptr_equal(of, &upcall);
    paused = true;
}

struct weir_upcall *weir_upcall_find(struct weir_job *of, uint32_t number)
{
    (void)of;
    (void)number;
    return &upcall;
}

uint64_t weir_job_now(const struct weir_job *at)
{
    (void)at;
    return now_ns;
}

void weir_job_leave(struct weir_job *at)
{
    at->depth--;
}

void weir_loop_arm(weir_loop *loop, struct weir_timer *timer, uint64_t at_ns)
{
    (void)loop;
    assert_ptr_equal(timer, &job.ping_timer);
    armed_ns = at_ns;
}

void weir_call_summary(const weir_call *call, struct weir_summary *ret_summary)
{
    (void)call;
    *ret_summary = (struct weir_summary){.group = WEIR_SLICE("g"), .attempts = 1};
}

size_t weir_call_cooling(const weir_call *call, struct weir_slice group, uint64_t at_ns,
                         struct weir_slice *ret_ids, size_t max)
{
    (void)call;
    (void)group;
    (void)at_ns;
    (void)ret_ids;
    (void)max;
    return 0;
}

size_t weir_call_members(const weir_call *call, struct weir_slice group, const weir_deployment **ret_members,
                         size_t max)
{
    (void)call;
    (void)group;
    (void)ret_members;
    (void)max;
    return 0;
}

void weir_router_view(const weir_router *of, const weir_deployment *at, uint64_t at_ns,
                      struct weir_live_view *ret_view)
{
    (void)of;
    (void)at;
    (void)at_ns;
    *ret_view = (struct weir_live_view){0};
}

struct weir_slice weir_deployment_id(const weir_deployment *at)
{
    (void)at;
    return WEIR_SLICE_EMPTY;
}

const struct weir_minute_limits *weir_deployment_minute_limits(const weir_deployment *at)
{
    (void)at;
    return NULL;
}

const struct weir_router_spec *weir_snapshot_router(const weir_snapshot *snapshot)
{
    (void)snapshot;
    return &router;
}

/* ---- one stream ---- */

static int begin(void **state)
{
    (void)state;
    memset(head, 0, sizeof(head));
    status = takes = 0;
    writes = 0;
    queued = 0;
    ended = aborted = paused = false;
    now_ns = 100 * WEIR_NS_PER_S;
    armed_ns = 0;
    config = (struct weir_config){.settings.sse_ping_ns = WEIR_UNSET_NS};
    deployment = (struct weir_config_deployment){0};
    gateway = (struct weir_gateway){0};
    setup = (struct weir_setup){.config = &config};
    worker = (struct weir_worker){.gateway = &gateway};
    upstream =
        (struct weir_upstream){.id = WEIR_SLICE("d1"), .id_line = WEIR_SLICE("x-litellm-model-id: d1\r\n")};
    job = (struct weir_job){.worker = &worker,
                            .setup = &setup,
                            .exchange = (weir_exchange *)&worker,
                            .begun_ns = now_ns,
                            .asked = {.request.stream = true, .keepalive_ns = WEIR_UNSET_NS}};
    upcall = (struct weir_upcall){.job = &job,
                                  .upstream = &upstream,
                                  .deployment = &deployment,
                                  .reported = WEIR_SLICE("\"g\""),
                                  .stream = true,
                                  .started_ns = now_ns};
    weir_arena_init(&job.arena, weir_mem_libc(), 1024, 1 << 20);
    weir_buf_init(&worker.lines, weir_mem_libc(), 1 << 16);
    weir_buf_init(&upcall.held, weir_mem_libc(), 1 << 16);
    weir_buf_init(&upcall.body, weir_mem_libc(), 1 << 16);
    weir_buf_init(&got, weir_mem_libc(), 1 << 20);
    return 0;
}

static int end(void **state)
{
    (void)state;
    weir_buf_deinit(&got);
    weir_buf_deinit(&upcall.held);
    weir_buf_deinit(&upcall.body);
    weir_buf_deinit(&worker.lines);
    weir_arena_deinit(&job.arena);
    return 0;
}

static void hold(const char *text)
{
    assert_int_equal(weir_buf_append(&upcall.held, weir_slice_str(text)), 0);
}

/* As the driver does it. */
static void commit(void)
{
    upcall.committed = true;
    job.server = &upcall;
    weir_deliver_commit(&job, &upcall);
}

static void pass(const char *text)
{
    weir_deliver_add(&job, weir_slice_str(text));
    weir_deliver_flush(&job);
}

static void fail_call(void)
{
    const struct weir_fail fail = {.failure = {WEIR_KIND_RATE_LIMIT, 429, 0, WEIR_ORIGIN_PROVIDER},
                                   .group = WEIR_SLICE("g"),
                                   .committed = upcall.committed};

    weir_deliver_failure(&job, &fail);
}

static void tick(uint64_t later_ns)
{
    now_ns += later_ns;
    if (now_ns >= armed_ns)
        weir_keepalive_on_timer(&job.ping_timer);
    assert_int_equal(job.depth, 0);
}

#define PING ": ping\n\n"
#define DONE "data: [DONE]\n\n"

/* ---- tests ---- */

static void head_held_events_and_content_are_one_write(void **state)
{
    (void)state;
    hold("held ");
    commit();
    assert_int_equal(writes, 0);
    pass("content");
    assert_int_equal(writes, 1);
    assert_int_equal(status, 200);
    assert_non_null(strstr(head, "content-type: text/event-stream"));
    assert_non_null(strstr(head, "x-litellm-model-id: d1"));
    assert_slice_is(weir_buf_slice(&got), "held content");
    assert_int_equal(job.access.held_bytes, 5);
    assert_null(upcall.held.ptr); /* its room is given back */
}

static void a_stream_that_ended_without_content_is_sent_whole(void **state)
{
    (void)state;
    hold("role and finish ");
    weir_deliver_answer(&job, &upcall);
    assert_slice_is(weir_buf_slice(&got), "role and finish " DONE);
    assert_true(ended);
}

static void neighbours_go_as_one_part_and_any_number_of_parts_goes(void **state)
{
    static const char text[] = "abcdefghijklmnopqrstuvwxyz";

    (void)state;
    commit();
    weir_deliver_add(&job, (struct weir_slice){text, 2});
    weir_deliver_add(&job, (struct weir_slice){text + 2, 2});
    assert_int_equal(job.part_count, 1);
    for (size_t i = 4; i < 26; i++) { /* no two are neighbours */
        weir_deliver_add(&job, (struct weir_slice){text + i, 1});
        weir_deliver_add(&job, WEIR_SLICE("-"));
    }
    weir_deliver_flush(&job);
    assert_slice_is(weir_buf_slice(&got), "abcde-f-g-h-i-j-k-l-m-n-o-p-q-r-s-t-u-v-w-x-y-z-");
    assert_in_range(writes, 2, 4);
}

static void the_end_goes_with_the_last_bytes(void **state)
{
    (void)state;
    commit();
    pass("a");
    weir_deliver_add(&job, WEIR_SLICE("b"));
    weir_deliver_answer(&job, &upcall);
    assert_slice_is(weir_buf_slice(&got), "ab" DONE);
    assert_int_equal(writes, 2);
}

static void a_client_that_takes_too_little_pauses_the_source(void **state)
{
    (void)state;
    takes = WEIR_EXCHANGE_FULL;
    hold("a");
    commit();
    weir_deliver_flush(&job);
    assert_true(paused);
}

static void a_client_that_cannot_be_written_to_is_given_up(void **state)
{
    (void)state;
    commit();
    takes = -1;
    pass("a");
    assert_true(aborted);
    assert_slice_is(job.access.end, "cut");
}

static void a_failure_after_content_is_an_event_and_no_marker(void **state)
{
    (void)state;
    commit();
    pass("a\n\n");
    fail_call();
    assert_true(ended && !aborted);
    assert_non_null(memmem(got.ptr, weir_buf_len(&got), "a\n\ndata: {\"error\":{", 19));
    assert_null(memmem(got.ptr, weir_buf_len(&got), "DONE", 4));
    assert_int_equal(job.access.status, 200);
    assert_slice_is(job.access.end, "cut");
}

static void a_failure_before_content_is_a_plain_error(void **state)
{
    (void)state;
    hold("never seen");
    fail_call();
    assert_int_equal(status, 429);
    assert_null(memmem(got.ptr, weir_buf_len(&got), "never", 5));
    assert_int_equal(job.access.status, 429);
}

static void a_failure_of_a_large_plain_answer_breaks_the_connection(void **state)
{
    (void)state;
    job.asked.request.stream = upcall.stream = false;
    commit();
    pass("{\"half\":");
    fail_call();
    assert_true(aborted && !ended);
}

static void comments_go_out_in_silence_alone(void **state)
{
    (void)state;
    deployment.keepalive_ns = 10 * WEIR_NS_PER_S;
    commit();
    pass("a\n\n");
    assert_int_equal(armed_ns, now_ns + 10 * WEIR_NS_PER_S);
    now_ns += 6 * WEIR_NS_PER_S;
    pass("b\n\n");
    tick(4 * WEIR_NS_PER_S);
    assert_int_equal(writes, 2);
    assert_int_equal(armed_ns, now_ns + 6 * WEIR_NS_PER_S);
    tick(6 * WEIR_NS_PER_S);
    tick(10 * WEIR_NS_PER_S);
    assert_slice_is(weir_buf_slice(&got), "a\n\nb\n\n" PING PING);
}

static void comments_do_not_pile_up_for_who_reads_nothing(void **state)
{
    (void)state;
    deployment.keepalive_ns = 10 * WEIR_NS_PER_S;
    commit();
    pass("a\n\n");
    queued = 1;
    for (int i = 0; i < 5; i++)
        tick(10 * WEIR_NS_PER_S);
    assert_int_equal(writes, 1);
    queued = 0;
    tick(10 * WEIR_NS_PER_S);
    assert_slice_is(weir_buf_slice(&got), "a\n\n" PING);
}

static void a_client_chooses_its_comments_only_where_it_may(void **state)
{
    (void)state;
    deployment.keepalive_ns = 10 * WEIR_NS_PER_S;
    job.asked.keepalive_ns = WEIR_NS_PER_S;
    commit();
    assert_int_equal(armed_ns, now_ns + 10 * WEIR_NS_PER_S);
    deployment.keepalive_by_caller = true;
    weir_keepalive_commit(&job, &upcall);
    assert_int_equal(armed_ns, now_ns + WEIR_NS_PER_S);
    job.asked.keepalive_ns = 0;
    weir_keepalive_commit(&job, &upcall);
    assert_int_equal(armed_ns, WEIR_TIME_NEVER);
}

static void early_comments_begin_the_answer_and_recovery_goes_on_behind_them(void **state)
{
    (void)state;
    config.settings.sse_ping_ns = 2 * WEIR_NS_PER_S;
    weir_keepalive_begin(&job);
    tick(2 * WEIR_NS_PER_S);
    assert_int_equal(status, 200);
    assert_non_null(strstr(head, "text/event-stream"));
    assert_null(strstr(head, "x-litellm-model-id"));
    tick(2 * WEIR_NS_PER_S);
    hold("held ");
    commit();
    pass("content");
    weir_deliver_answer(&job, &upcall);
    assert_slice_is(weir_buf_slice(&got), PING PING "held content" DONE);
}

static void a_failure_behind_early_comments_is_an_event(void **state)
{
    (void)state;
    config.settings.sse_ping_ns = 2 * WEIR_NS_PER_S;
    weir_keepalive_begin(&job);
    tick(2 * WEIR_NS_PER_S);
    fail_call();
    assert_true(ended && !aborted);
    assert_non_null(memmem(got.ptr, weir_buf_len(&got), PING "data: {\"error\":{", 24));
    assert_int_equal(job.access.status, 200);
}

static void a_call_that_is_over_gets_no_comments(void **state)
{
    (void)state;
    config.settings.sse_ping_ns = 2 * WEIR_NS_PER_S;
    weir_keepalive_begin(&job);
    job.over = true;
    tick(2 * WEIR_NS_PER_S);
    assert_int_equal(writes, 0);
    job.over = false;
    job.exchange = NULL;
    weir_keepalive_on_timer(&job.ping_timer);
    assert_int_equal(writes, 0);
}

static void a_plain_answer_names_the_model_that_was_asked(void **state)
{
    const struct weir_slice body = WEIR_SLICE("{\"model\":\"m\",\"choices\":[]}");

    (void)state;
    job.asked.request.stream = upcall.stream = false;
    assert_int_equal(weir_buf_append(&upcall.body, body), 0);
    upcall.answer.model =
        (struct weir_json_value){.type = WEIR_JSON_STRING, .text = {upcall.body.ptr + 9, 3}};
    weir_deliver_answer(&job, &upcall);
    assert_slice_is(weir_buf_slice(&got), "{\"model\":\"g\",\"choices\":[]}");
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, begin, end)
    const struct CMUnitTest tests[] = {
        TEST(head_held_events_and_content_are_one_write),
        TEST(a_stream_that_ended_without_content_is_sent_whole),
        TEST(neighbours_go_as_one_part_and_any_number_of_parts_goes),
        TEST(the_end_goes_with_the_last_bytes),
        TEST(a_client_that_takes_too_little_pauses_the_source),
        TEST(a_client_that_cannot_be_written_to_is_given_up),
        TEST(a_failure_after_content_is_an_event_and_no_marker),
        TEST(a_failure_before_content_is_a_plain_error),
        TEST(a_failure_of_a_large_plain_answer_breaks_the_connection),
        TEST(comments_go_out_in_silence_alone),
        TEST(comments_do_not_pile_up_for_who_reads_nothing),
        TEST(a_client_chooses_its_comments_only_where_it_may),
        TEST(early_comments_begin_the_answer_and_recovery_goes_on_behind_them),
        TEST(a_failure_behind_early_comments_is_an_event),
        TEST(a_call_that_is_over_gets_no_comments),
        TEST(a_plain_answer_names_the_model_that_was_asked),
    };
#undef TEST

    return cmocka_run_group_tests(tests, NULL, NULL);
}
