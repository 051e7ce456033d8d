/*
 * The path of a stream's bytes through an attempt: the real splitter and reader, and in the place of engine
 * and client this file, which lets content out by a window of its own and keeps what it is told.
 */
#include "unit.h"

#include <string.h>

#include <weir/mem_libc.h>

#include "base/buf.h"
#include "base/time.h"
#include "chunks.h"
#include "config/config.h"
#include "gateway/attempt/upcall.h"
#include "gateway/attempt/upcall_stream.h"
#include "gateway/attempt/upstream.h"
#include "gateway/deliver.h"
#include "gateway/driver.h"
#include "gateway/gateway.h"
#include "gateway/job.h"
#include "gateway/worker.h"
#include "provider/endpoint.h"
#include "provider/provider.h"

enum { HELD_BYTES_MAX = 16 * 1024, EVENT_BYTES_MAX = 4096 };

static struct weir_endpoint endpoint;
static struct weir_upstream upstream;
static struct weir_config config;
static struct weir_config_deployment deployment;
static struct weir_gateway gateway;
static struct weir_worker worker;
static struct weir_setup setup;
static struct weir_job job;
static struct weir_upcall upcall;
static struct weir_json_item members[2];

/* What the engine and the client saw. */
static uint32_t window; /* deltas that are held back */
static struct weir_buf out;
static uint32_t chunks, deltas, text_bytes, finishes, others, fulls;
static bool finished, failed;
static weir_mishap mishap;
static uint64_t lingers_until_ns;

/* ---- engine and client ---- */

uint64_t weir_job_now(const struct weir_job *at)
{
    (void)at;
    return WEIR_NS_PER_S;
}

void weir_loop_arm(weir_loop *loop, struct weir_timer *timer, uint64_t at_ns)
{
    (void)loop;
    assert_ptr_equal(timer, &upcall.linger);
    lingers_until_ns = at_ns;
}

void weir_deliver_add(struct weir_job *to, struct weir_slice bytes)
{
    assert_ptr_equal(to, &job);
    assert_int_equal(weir_buf_append(&out, bytes), 0);
}

void weir_deliver_flush(struct weir_job *to)
{
    assert_ptr_equal(to, &job);
}

void weir_driver_on_chunk(struct weir_upcall *of, const struct weir_stream_chunk *chunk)
{
    assert_ptr_equal(of, &upcall);
    assert_false(finished || failed);
    chunks++;
    deltas += chunk->deltas;
    text_bytes += chunk->text_bytes;
    others += chunk->other;
    finishes += chunk->finish;
    fulls += chunk->full;
    if (upcall.committed || (deltas <= window && !chunk->full))
        return;
    upcall.committed = true;
    weir_deliver_add(&job, weir_buf_slice(&upcall.held));
}

void weir_upcall_finish(struct weir_upcall *of)
{
    of->told = true;
    finished = true;
}

void weir_upcall_fail(struct weir_upcall *of, weir_mishap what, struct weir_slice text)
{
    (void)text;
    if (of->told)
        return;
    of->told = true;
    failed = true;
    mishap = what;
}

void weir_upcall_fail_here(struct weir_upcall *of)
{
    weir_upcall_fail(of, WEIR_MISHAPS, WEIR_SLICE_EMPTY);
}

bool weir_upcall_is_empty(const struct weir_upcall *of)
{
    return of->refuses_empty && !of->has_content && of->usage.completion_tokens == 0;
}

/* ---- one attempt ---- */

static int begin(void **state)
{
    (void)state;
    window = chunks = deltas = text_bytes = finishes = others = fulls = 0;
    finished = failed = false;
    lingers_until_ns = 0;
    weir_endpoint_init(&endpoint);
    endpoint.provider = weir_provider_named(WEIR_SLICE("openai"));
    upstream = (struct weir_upstream){.endpoint = &endpoint};
    setup.config = &config;
    worker.gateway = &gateway;
    job = (struct weir_job){
        .worker = &worker, .setup = &setup, .route = WEIR_ROUTE_CHAT, .asked.members = members};
    members[0] = (struct weir_json_item){.key = WEIR_SLICE("n"),
                                         .value = {.type = WEIR_JSON_NUMBER, .text = WEIR_SLICE("2")}};
    upcall = (struct weir_upcall){.job = &job,
                                  .number = 1,
                                  .upstream = &upstream,
                                  .deployment = &deployment,
                                  .reported = WEIR_SLICE("\"g\""),
                                  .stream = true,
                                  .may_be_continued = true};
    weir_arena_init(&job.arena, weir_mem_libc(), 1024, 1 << 20);
    weir_buf_init(&worker.scratch, weir_mem_libc(), 1 << 20);
    weir_buf_init(&upcall.held, weir_mem_libc(), HELD_BYTES_MAX);
    weir_sse_init(&upcall.sse, weir_mem_libc(), EVENT_BYTES_MAX);
    weir_so_far_init(&job.so_far, weir_mem_libc());
    weir_so_far_begin(&job.so_far, 1, true);
    weir_buf_init(&out, weir_mem_libc(), 1 << 20);
    return 0;
}

static int end(void **state)
{
    (void)state;
    weir_sse_deinit(&upcall.sse);
    weir_buf_deinit(&upcall.held);
    weir_buf_deinit(&worker.scratch);
    weir_buf_deinit(&out);
    weir_so_far_deinit(&job.so_far);
    weir_arena_deinit(&job.arena);
    return 0;
}

static void feed(const char *text)
{
    weir_upcall_stream_body(&upcall, weir_slice_str(text));
}

static void feed_in_pieces(struct weir_slice text, struct weir_rand *rand, size_t max_bytes)
{
    struct weir_slice piece;
    struct chunks cut;

    chunks_init(&cut, text, rand, max_bytes);
    while (!upcall.told && chunks_next(&cut, &piece))
        weir_upcall_stream_body(&upcall, piece);
    chunks_deinit(&cut);
    if (!upcall.told)
        weir_upcall_stream_done(&upcall);
}

#define CHUNK(choices) "data: {\"id\":\"c\",\"model\":\"m\",\"choices\":[" choices "]}\n\n"
#define ROLE           CHUNK("{\"delta\":{\"role\":\"assistant\"}}")
#define SAYS(text)     CHUNK("{\"delta\":{\"content\":\"" text "\"}}")
#define STOP           CHUNK("{\"delta\":{},\"finish_reason\":\"stop\"}")
#define STOP_OF(index) CHUNK("{\"index\":" index ",\"finish_reason\":\"stop\"}")
#define DONE           "data: [DONE]\n\n"

/* The same with the name that the client is told. */
#define NAMED(choices)   "data: {\"id\":\"c\",\"model\":\"g\",\"choices\":[" choices "]}\n\n"
#define NAMED_ROLE       NAMED("{\"delta\":{\"role\":\"assistant\"}}")
#define NAMED_SAYS(text) NAMED("{\"delta\":{\"content\":\"" text "\"}}")
#define NAMED_STOP       NAMED("{\"delta\":{},\"finish_reason\":\"stop\"}")

/* ---- tests ---- */

static void nothing_goes_out_before_content_and_all_of_it_then(void **state)
{
    (void)state;
    feed(ROLE ": wait\n\n" ROLE);
    assert_int_equal(weir_buf_len(&out), 0);
    assert_int_equal(chunks, 2);
    feed(SAYS("a"));
    assert_slice_is(weir_buf_slice(&out), NAMED_ROLE NAMED_ROLE NAMED_SAYS("a"));
    feed(": ping\n\n");
    assert_slice_is(weir_buf_slice(&out), NAMED_ROLE NAMED_ROLE NAMED_SAYS("a") ": ping\n\n");
    assert_int_equal(chunks, 3);
}

static void content_inside_the_window_is_held_and_goes_in_order(void **state)
{
    (void)state;
    window = 2;
    feed(ROLE SAYS("a") SAYS("b"));
    assert_int_equal(weir_buf_len(&out), 0);
    feed(SAYS("c") SAYS("d"));
    assert_slice_is(weir_buf_slice(&out),
                    NAMED_ROLE NAMED_SAYS("a") NAMED_SAYS("b") NAMED_SAYS("c") NAMED_SAYS("d"));
    assert_int_equal(deltas, 4);
    assert_int_equal(text_bytes, 4);
}

static void any_number_of_content_events_is_held(void **state)
{
    (void)state;
    window = 1000;
    for (int i = 0; i < 250; i++)
        feed("data: {\"choices\":[{\"delta\":{\"content\":\"a\"}}]}\n\n");
    assert_int_equal(fulls, 0);
    assert_int_equal(weir_buf_len(&out), 0);
}

static void too_many_events_before_content_end_the_window(void **state)
{
    (void)state;
    for (int i = 0; i < 200; i++)
        feed("data: {}\n\n");
    assert_int_equal(fulls, 0);
    feed("data: {}\n\n");
    assert_int_equal(fulls, 1);
    assert_int_equal(weir_buf_len(&out), 201 * strlen("data: {}\n\n"));
}

static void too_many_bytes_end_the_window(void **state)
{
    size_t sent = 0;

    (void)state;
    window = UINT32_MAX;
    for (; fulls == 0; sent++)
        feed(SAYS("some words of a longer answer"));
    assert_in_range(weir_buf_len(&out), HELD_BYTES_MAX, HELD_BYTES_MAX + EVENT_BYTES_MAX);
    assert_int_equal(weir_buf_len(&out) % sent, 0);
}

static void what_follows_the_marker_is_dropped(void **state)
{
    (void)state;
    feed(SAYS("a") STOP DONE SAYS("ghost") DONE);
    assert_slice_is(weir_buf_slice(&out), NAMED_SAYS("a") NAMED_STOP); /* the marker is weir's own */
    assert_true(finished);
    assert_int_equal(finishes, 1);
}

static void the_engine_is_told_of_the_end_when_every_choice_has_one(void **state)
{
    (void)state;
    job.asked.member_count = 1;
    feed(SAYS("a") STOP SAYS("b") STOP);
    assert_int_equal(finishes, 0); /* the same choice twice */
    feed(STOP_OF("1"));
    assert_int_equal(finishes, 1);
}

static void each_prompt_of_a_completion_has_choices_of_its_own(void **state)
{
    (void)state;
    members[1] = (struct weir_json_item){
        .key = WEIR_SLICE("prompt"), .value = {.type = WEIR_JSON_ARRAY, .text = WEIR_SLICE("[\"a\",[1,2]]")}};
    job.asked.member_count = 2;
    feed(STOP STOP_OF("1") STOP_OF("2"));
    assert_int_equal(finishes, 0);
    feed(STOP_OF("3"));
    assert_int_equal(finishes, 1);
}

static void choices_beyond_counting_are_never_all_there(void **state)
{
    (void)state;
    members[0].value.text = WEIR_SLICE("9223372036854775808");
    members[1] = (struct weir_json_item){
        .key = WEIR_SLICE("prompt"), .value = {.type = WEIR_JSON_ARRAY, .text = WEIR_SLICE("[\"a\",\"b\"]")}};
    job.asked.member_count = 2;
    feed(SAYS("a") STOP);
    assert_int_equal(finishes, 0);
    feed(DONE);
    assert_true(finished);
}

static void a_choice_that_was_cut_is_no_complete_stream(void **state)
{
    (void)state;
    feed(SAYS("a") CHUNK("{\"index\":1,\"delta\":{\"content\":\"b\"}}") STOP);
    weir_upcall_stream_done(&upcall);
    assert_true(failed);
    assert_int_equal(mishap, WEIR_MISHAP_STREAM_CUT);
}

static void other_content_is_told_as_such(void **state)
{
    (void)state;
    feed(CHUNK("{\"delta\":{\"tool_calls\":[{\"index\":0}]}},{\"delta\":{\"content\":\"x\"}}"));
    assert_int_equal(others, 1);
    assert_int_equal(deltas, 2);
}

static void an_empty_answer_is_judged_at_its_end(void **state)
{
    (void)state;
    upcall.refuses_empty = true;
    feed(ROLE STOP);
    assert_int_equal(finishes, 0);
    assert_true(lingers_until_ns > WEIR_NS_PER_S);
    assert_false(finished || failed);
    feed(DONE);
    assert_true(failed);
    assert_int_equal(mishap, WEIR_MISHAP_EMPTY);
    assert_int_equal(weir_buf_len(&out), 0);
}

static void a_count_of_tokens_shows_that_an_empty_answer_is_one(void **state)
{
    (void)state;
    upcall.refuses_empty = true;
    feed(ROLE STOP "data: {\"choices\":[],\"usage\":{\"completion_tokens\":7}}\n\n" DONE);
    assert_true(finished);
}

/* How a stream of that body ends. */
struct ending {
    const char *body;
    bool finished;
    weir_mishap mishap;
};

static void a_stream_ends_by_what_was_seen_of_it(void **state)
{
    static const struct ending endings[] = {
        {SAYS("a") STOP, true, 0},
        {SAYS("a") STOP DONE, true, 0},
        {SAYS("a") DONE, true, 0},
        {ROLE STOP, true, 0},
        {"", false, WEIR_MISHAP_STREAM_CUT},
        {ROLE, false, WEIR_MISHAP_STREAM_CUT},
        {SAYS("a"), false, WEIR_MISHAP_STREAM_CUT},
        {DONE, false, WEIR_MISHAP_STREAM_CUT},
        {ROLE DONE, false, WEIR_MISHAP_STREAM_CUT},
        {SAYS("a") "data: {oops\n\n" STOP, false, WEIR_MISHAP_BAD_CHUNK},
        {SAYS("a") "data: {} {}\n\n", false, WEIR_MISHAP_BAD_CHUNK},
        {SAYS("a") "data: {}\ndata: {}\n\n", false, WEIR_MISHAP_BAD_CHUNK},
        {"data: {\"error\":{\"message\":\"no\"}}\n\n", false, WEIR_MISHAP_ERROR_BODY},
        {"error: {\"message\":\"no\"}\n\n", false, WEIR_MISHAP_ERROR_BODY},
        {"event: error\ndata: {}\n\n", false, WEIR_MISHAP_ERROR_BODY},
        {"{\"choices\":[]}", false, WEIR_MISHAP_ERROR_BODY},
        {"<html>\n", false, WEIR_MISHAP_ERROR_BODY},
        {CHUNK("{\"delta\":{},\"finish_reason\":\"error\"}"), false, WEIR_MISHAP_GAVE_UP},
    };

    for (size_t i = 0; i < sizeof(endings) / sizeof(endings[0]); i++) {
        (void)end(state);
        (void)begin(state);
        feed_in_pieces(weir_slice_str(endings[i].body), NULL, 1 << 20);
        if (finished != endings[i].finished || failed == finished || (failed && mishap != endings[i].mishap))
            fail_msg("%s: finished %d, failed %d by %d", endings[i].body, finished, failed, (int)mishap);
    }
}

static void an_event_over_its_limit_breaks_the_stream(void **state)
{
    (void)state;
    feed(SAYS("a"));
    for (int i = 0; i < 2 * EVENT_BYTES_MAX && !failed; i++)
        feed("x");
    assert_true(failed);
    assert_int_equal(mishap, WEIR_MISHAP_TOO_LARGE);
}

/* Whatever the line ends, marks and cuts: the same bytes come out, and the same is told. */
/* Another attempt of the job says its role before this one has content: names and text are this one's. */
static void of_two_attempts_the_one_that_speaks_is_kept(void **state)
{
    (void)state;
    upcall.number = 2;
    feed("data: {\"id\":\"two\",\"choices\":[{\"index\":0,\"delta\":{\"content\":\"\"}}]}\n\n");
    upcall.number = 1;
    feed("data: {\"id\":\"one\",\"choices\":[{\"index\":0,\"delta\":{\"content\":\"Hi\"}}]}\n\n");
    assert_int_equal(job.so_far.attempt, 1);
    assert_true(job.so_far.keeps);
    assert_slice_is(job.so_far.identity[WEIR_IDENTITY_ID].value, "\"one\"");
    assert_slice_is(weir_buf_slice(&job.so_far.text), "Hi");
    assert_int_equal(job.so_far.deltas, 1);
}

static void the_cuts_of_the_input_do_not_matter(void **state)
{
    static const char *const bodies[] = {
        ROLE SAYS("a") SAYS("\xc3\xbc\xf0\x9f\x8e\x88") ": note\n\n" SAYS("b") STOP DONE,
        "\xef\xbb\xbf" ROLE SAYS("a") STOP DONE,
        "data: {\"model\":\"m\",\ndata: \"choices\":[{\"delta\":{\"content\":\"a\"}}]}\n\nid: 4\n" DONE,
        "data: {\"choices\":[{\"delta\":{\"content\":\"a\"}}]}\r\n\r\nid: 4\r\ndata: [DONE]\r\n\r\n",
        "data:{\"choices\":[{\"delta\":{\"content\":\"a\"}}]}\r\rdata:[DONE]\r\r",
        SAYS("a") "event: chunk\nid: 7\nretry: 1\n" SAYS("b") STOP,
    };
    struct weir_rand rand;

    for (size_t i = 0; i < sizeof(bodies) / sizeof(bodies[0]); i++) {
        char expected[2048] = "";
        struct weir_slice seen;
        uint32_t told = 0;

        weir_rand_init(&rand, 7 + i);
        for (unsigned round = 0; round < 40; round++) {
            (void)end(state);
            (void)begin(state);
            window = round % 3;
            feed_in_pieces(weir_slice_str(bodies[i]), round == 0 ? NULL : &rand,
                           round == 0 ? 1 << 20 : 1 + round);
            assert_true(finished);
            if (!upcall.committed) /* as DELIVER does */
                weir_deliver_add(&job, weir_buf_slice(&upcall.held));
            seen = weir_buf_slice(&out);
            assert_in_range(seen.len, 1, sizeof(expected) - 1);
            if (window != 0)
                continue; /* comments between held events are dropped */
            if (expected[0] == '\0') {
                memcpy(expected, seen.ptr, seen.len);
                told = chunks;
            }
            assert_slice_is(seen, expected);
            assert_int_equal(chunks, told);
        }
    }
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, begin, end)
    const struct CMUnitTest tests[] = {
        TEST(nothing_goes_out_before_content_and_all_of_it_then),
        TEST(content_inside_the_window_is_held_and_goes_in_order),
        TEST(any_number_of_content_events_is_held),
        TEST(too_many_events_before_content_end_the_window),
        TEST(too_many_bytes_end_the_window),
        TEST(what_follows_the_marker_is_dropped),
        TEST(the_engine_is_told_of_the_end_when_every_choice_has_one),
        TEST(each_prompt_of_a_completion_has_choices_of_its_own),
        TEST(choices_beyond_counting_are_never_all_there),
        TEST(a_choice_that_was_cut_is_no_complete_stream),
        TEST(other_content_is_told_as_such),
        TEST(an_empty_answer_is_judged_at_its_end),
        TEST(a_count_of_tokens_shows_that_an_empty_answer_is_one),
        TEST(a_stream_ends_by_what_was_seen_of_it),
        TEST(an_event_over_its_limit_breaks_the_stream),
        TEST(of_two_attempts_the_one_that_speaks_is_kept),
        TEST(the_cuts_of_the_input_do_not_matter),
    };
#undef TEST

    return cmocka_run_group_tests(tests, NULL, NULL);
}
