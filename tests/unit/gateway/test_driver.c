/*
 * The driver with the real engine in virtual time; attempts, delivery and the loop's timers are this file's,
 * which writes down what it is asked to do: S start, X cancel, C commit, D deliver, F fail.
 */
#include "unit.h"

#include <string.h>

#include <weir/error.h>
#include <weir/mem_libc.h>
#include <weir/router.h>

#include "base/time.h"
#include "gateway/attempt/upcall.h"
#include "gateway/deliver.h"
#include "gateway/driver.h"
#include "gateway/gateway.h"
#include "gateway/job.h"
#include "gateway/keepalive.h"
#include "gateway/observe.h"
#include "gateway/worker.h"

enum { UPCALLS = 4 };

static weir_router *router;
static weir_snapshot *snapshot;
static struct weir_gateway gateway; /* where nothing looks at prompts */
static struct weir_worker worker;
static struct weir_setup setup;
static struct weir_job job;
static struct weir_upcall upcalls[UPCALLS];
static size_t upcall_count;

static uint64_t now_ns;
static uint64_t armed_ns;
static unsigned arms;
static char story[32];
static size_t flushed; /* how much of the story's bytes have been sent */
static struct weir_fail last_fail;

static void note(char what)
{
    size_t len = strlen(story);

    assert_in_range(len, 0, sizeof(story) - 2);
    story[len] = what;
}

/* ---- what the driver calls ---- */

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
    assert_ptr_equal(timer, &job.timer);
    arms++;
    armed_ns = at_ns;
}

int weir_upcall_start(struct weir_job *of, uint32_t number, const struct weir_start *start, bool continues,
                      struct weir_failure *ret_failure)
{
    struct weir_upcall *upcall = &upcalls[upcall_count++];

    (void)start;
    (void)continues;
    (void)ret_failure;
    assert_in_range(upcall_count, 1, UPCALLS);
    *upcall = (struct weir_upcall){.job = of, .number = number, .stream = true, .started_ns = now_ns};
    note('S');
    return 0;
}

struct weir_upcall *weir_upcall_find(struct weir_job *of, uint32_t number)
{
    (void)of;
    for (size_t i = 0; i < upcall_count; i++)
        if (upcalls[i].number == number)
            return &upcalls[i];
    return NULL;
}

void weir_upcall_cancel(struct weir_upcall *upcall, weir_mishap what)
{
    (void)what;
    upcall->told = true;
    note('X');
}

void weir_deliver_commit(struct weir_job *of, struct weir_upcall *upcall)
{
    assert_ptr_equal(of->server, upcall);
    note('C');
}

void weir_deliver_answer(struct weir_job *of, struct weir_upcall *upcall)
{
    assert_ptr_equal(of->server, upcall);
    note('D');
}

void weir_deliver_failure(struct weir_job *of, const struct weir_fail *fail)
{
    (void)of;
    last_fail = *fail;
    note('F');
}

void weir_deliver_flush(struct weir_job *of)
{
    (void)of;
    flushed = strlen(story);
}

void weir_keepalive_begin(struct weir_job *of)
{
    (void)of;
}

/* Requests are not read here. */
void weir_observe_event(struct weir_job *of, const struct weir_event *event)
{
    (void)of;
    (void)event;
}

const struct weir_http1_head *weir_exchange_head(const weir_exchange *exchange)
{
    (void)exchange;
    return NULL;
}

void weir_exchange_take_body(weir_exchange *exchange, struct weir_buf *ret_body)
{
    (void)exchange;
    (void)ret_body;
}

/* ---- one call ---- */

/* A group of two deployments with these limits of the router, and a second attempt after so long (0: none).
 */
static void begin_hedged(const struct weir_limits *limits, uint32_t retries, uint64_t hedge_ns)
{
    const char *const ids[] = {"d1", "d2"};
    struct weir_deployment_spec spec;
    struct weir_router_spec settings;
    weir_snapshot_builder *builder;

    assert_int_equal(weir_router_new(weir_mem_libc(), 1, &router), 0);
    assert_int_equal(weir_snapshot_builder_new(weir_mem_libc(), &builder), 0);
    for (size_t i = 0; i < 2; i++) {
        weir_deployment_spec_init(&spec);
        spec.group = WEIR_SLICE("g");
        spec.model = WEIR_SLICE("openai/m");
        spec.id = weir_slice_str(ids[i]);
        assert_int_equal(weir_snapshot_add_deployment(builder, &spec), 0);
    }
    weir_router_spec_init(&settings);
    settings.limits = *limits;
    settings.num_retries = retries;
    settings.resilience.hedge = (struct weir_hedge){.after_ns = hedge_ns, .max = 1};
    weir_snapshot_set_router(builder, &settings);
    assert_int_equal(weir_snapshot_build(builder, &snapshot), 0);
    weir_snapshot_builder_free(builder);
    assert_int_equal(weir_router_adopt(router, snapshot), 0);

    worker = (struct weir_worker){.gateway = &gateway};
    setup = (struct weir_setup){.snapshot = snapshot};
    job = (struct weir_job){.worker = &worker, .setup = &setup, .timer_ns = UINT64_MAX, .begun_ns = now_ns};
    weir_request_init(&job.asked.request);
    job.asked.request.model = WEIR_SLICE("g");
    job.asked.request.stream = true;
    assert_int_equal(
        weir_call_begin(router, snapshot, &job.asked.request, weir_mem_libc(), now_ns, &job.call), 0);
    weir_driver_on_timer(&job.timer);
    assert_string_equal(story, "S");
}

static void begin_call(const struct weir_limits *limits, uint32_t retries)
{
    begin_hedged(limits, retries, 0);
}

static int begin(void **state)
{
    (void)state;
    now_ns = 1000 * WEIR_NS_PER_S;
    armed_ns = UINT64_MAX;
    arms = 0;
    upcall_count = 0;
    flushed = 0;
    memset(story, 0, sizeof(story));
    return 0;
}

static int end(void **state)
{
    (void)state;
    weir_call_free(job.call);
    weir_snapshot_unref(snapshot);
    weir_router_free(router);
    return 0;
}

static struct weir_limits limits_of(uint64_t idle_s)
{
    struct weir_limits limits = WEIR_LIMITS_NONE;

    limits.timeout_ns = 6000 * WEIR_NS_PER_S;
    limits.stream_idle_timeout_ns = idle_s * WEIR_NS_PER_S;
    return limits;
}

static void content(size_t index)
{
    weir_driver_on_chunk(&upcalls[index], &(struct weir_stream_chunk){.deltas = 1, .text_bytes = 1});
}

/* Lets time pass; the timer fires as the loop would have it. */
static void pass(uint64_t later_ns)
{
    uint64_t until_ns = now_ns + later_ns;

    while (armed_ns <= until_ns) {
        now_ns = armed_ns;
        armed_ns = UINT64_MAX;
        weir_driver_on_timer(&job.timer);
        assert_int_equal(job.depth, 0);
    }
    now_ns = until_ns;
}

/* ---- tests ---- */

static void content_is_committed_and_the_end_delivered(void **state)
{
    const struct weir_limits limits = limits_of(0);

    (void)state;
    begin_call(&limits, 0);
    weir_driver_on_opened(&upcalls[0]);
    weir_driver_on_chunk(&upcalls[0], &(struct weir_stream_chunk){0});
    assert_string_equal(story, "S");
    content(0);
    assert_string_equal(story, "SC");
    weir_driver_on_finished(&upcalls[0]);
    assert_string_equal(story, "SCD");
    assert_true(job.over);
}

static void a_break_before_content_starts_another_attempt(void **state)
{
    const struct weir_limits limits = limits_of(0);
    const struct weir_failure failure = {WEIR_KIND_CONNECTION, 500, 0, WEIR_ORIGIN_PROVIDER};

    (void)state;
    begin_call(&limits, 1);
    weir_driver_on_opened(&upcalls[0]);
    weir_driver_on_failed(&upcalls[0], &failure);
    pass(WEIR_NS_PER_S);
    assert_string_equal(story, "SS");
    content(1);
    weir_driver_on_failed(&upcalls[1], &failure);
    assert_string_equal(story, "SSCF");
    assert_true(last_fail.committed);
}

static void a_chunk_moves_no_timer(void **state)
{
    const struct weir_limits limits = limits_of(10);
    unsigned before;

    (void)state;
    begin_call(&limits, 0);
    content(0);
    before = arms;
    for (int i = 0; i < 9; i++) {
        now_ns += WEIR_NS_PER_S;
        content(0);
    }
    assert_int_equal(arms, before);
    /* The armed time is too early by now: nothing is due, and the timer is armed for the rest. */
    pass(8 * WEIR_NS_PER_S);
    assert_int_equal(arms, before + 1);
    assert_string_equal(story, "SC");
    pass(2 * WEIR_NS_PER_S);
    assert_string_equal(story, "SCXF");
    assert_int_equal(last_fail.failure.status, 408);
}

static void a_nearer_time_moves_the_timer(void **state)
{
    struct weir_limits limits = limits_of(60);

    (void)state;
    limits.stream_hold =
        (struct weir_stream_hold){.said = true, .tokens = WEIR_UNSET, .window_ns = WEIR_NS_PER_S};
    begin_call(&limits, 0);
    content(0);
    assert_true(armed_ns <= now_ns + WEIR_NS_PER_S);
    assert_string_equal(story, "S");
    pass(WEIR_NS_PER_S);
    assert_string_equal(story, "SC");
    assert_int_equal(flushed, 2); /* no source's callback ends here, so the timer's does it */
}

static void a_pause_is_nobodys_silence(void **state)
{
    const struct weir_limits limits = limits_of(10);

    (void)state;
    begin_call(&limits, 0);
    content(0);
    weir_driver_on_paused(&upcalls[0], true);
    pass(1000 * WEIR_NS_PER_S);
    assert_string_equal(story, "SC");
    weir_driver_on_paused(&upcalls[0], false);
    pass(9 * WEIR_NS_PER_S);
    assert_string_equal(story, "SC");
    pass(2 * WEIR_NS_PER_S);
    assert_string_equal(story, "SCXF");
}

static void a_complete_stream_is_delivered_though_its_rest_does_not_come(void **state)
{
    const struct weir_limits limits = limits_of(0);

    (void)state;
    begin_call(&limits, 0);
    content(0);
    weir_driver_on_chunk(&upcalls[0], &(struct weir_stream_chunk){.finish = true});
    pass(4 * WEIR_NS_PER_S);
    assert_string_equal(story, "SC");
    pass(2 * WEIR_NS_PER_S);
    assert_string_equal(story, "SCXD");
}

static void a_slow_attempt_gets_another_beside_it_when_it_is_time(void **state)
{
    const struct weir_limits limits = limits_of(0);

    (void)state;
    begin_hedged(&limits, 0, 2 * WEIR_NS_PER_S);
    weir_driver_on_opened(&upcalls[0]);
    pass(2 * WEIR_NS_PER_S - 1);
    assert_string_equal(story, "S");
    pass(1);
    assert_string_equal(story, "SS");
    assert_int_equal(job.access.attempts, 2);
    content(1);
    assert_string_equal(story, "SSCX");
    assert_ptr_equal(job.server, &upcalls[1]);
    assert_true(upcalls[0].told);
    assert_false(upcalls[1].told);
    weir_driver_on_finished(&upcalls[1]);
    assert_string_equal(story, "SSCXD");
}

static void the_slow_one_may_be_the_first_all_the_same(void **state)
{
    const struct weir_limits limits = limits_of(0);

    (void)state;
    begin_hedged(&limits, 0, 2 * WEIR_NS_PER_S);
    pass(2 * WEIR_NS_PER_S);
    content(0);
    assert_string_equal(story, "SSCX");
    assert_ptr_equal(job.server, &upcalls[0]);
    assert_true(upcalls[1].told);
    content(0);
    weir_driver_on_finished(&upcalls[0]);
    assert_string_equal(story, "SSCXD");
}

static void an_attempt_that_fails_beside_another_fails_nothing(void **state)
{
    const struct weir_limits limits = limits_of(0);
    const struct weir_failure failure = {WEIR_KIND_CONNECTION, 500, 0, WEIR_ORIGIN_PROVIDER};

    (void)state;
    begin_hedged(&limits, 0, 2 * WEIR_NS_PER_S);
    pass(2 * WEIR_NS_PER_S);
    weir_driver_on_failed(&upcalls[0], &failure);
    assert_string_equal(story, "SS");
    content(1);
    weir_driver_on_finished(&upcalls[1]);
    assert_string_equal(story, "SSCD");
}

static void who_leaves_ends_all_attempts(void **state)
{
    const struct weir_limits limits = limits_of(0);

    (void)state;
    begin_hedged(&limits, 0, 2 * WEIR_NS_PER_S);
    pass(2 * WEIR_NS_PER_S);
    weir_driver_on_client_gone(&job);
    assert_string_equal(story, "SSXXF");
}

static void who_leaves_ends_the_attempt(void **state)
{
    const struct weir_limits limits = limits_of(0);

    (void)state;
    begin_call(&limits, 3);
    weir_driver_on_client_gone(&job);
    assert_string_equal(story, "SXF");
    assert_int_equal(last_fail.failure.status, 499);
    weir_driver_on_client_gone(&job);
    pass(1000 * WEIR_NS_PER_S);
    assert_string_equal(story, "SXF");
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, begin, end)
    const struct CMUnitTest tests[] = {
        TEST(content_is_committed_and_the_end_delivered),
        TEST(a_break_before_content_starts_another_attempt),
        TEST(a_chunk_moves_no_timer),
        TEST(a_nearer_time_moves_the_timer),
        TEST(a_pause_is_nobodys_silence),
        TEST(a_complete_stream_is_delivered_though_its_rest_does_not_come),
        TEST(a_slow_attempt_gets_another_beside_it_when_it_is_time),
        TEST(the_slow_one_may_be_the_first_all_the_same),
        TEST(an_attempt_that_fails_beside_another_fails_nothing),
        TEST(who_leaves_ends_all_attempts),
        TEST(who_leaves_ends_the_attempt),
    };
#undef TEST

    return cmocka_run_group_tests(tests, NULL, NULL);
}
