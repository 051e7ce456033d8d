/* An event as JSON. */
#include "unit.h"

#include <weir/error.h>
#include <weir/mem_libc.h>
#include <weir/snapshot.h>

#include "base/slice.h"
#include "base/time.h"
#include "gateway/story/event_json.h"

#define WALL_NS UINT64_C(1709210096000000000)

static const struct weir_event_place in_call = {.wall_ns = WALL_NS, .at_ns = 1000, .in_call = true};

static void assert_json(const struct weir_event *event, const struct weir_event_place *place,
                        const char *json)
{
    struct weir_json_writer writer;
    struct weir_buf buf;

    weir_buf_init(&buf, weir_mem_libc(), 64 * 1024);
    weir_json_writer_init(&writer, &buf);
    weir_event_json(&writer, event, place);
    assert_int_equal(weir_json_writer_end(&writer), 0);
    assert_slice_is(weir_buf_slice(&buf), json);
    weir_buf_deinit(&buf);
}

static void a_failed_attempt_tells_its_failure_and_what_follows(void **state)
{
    const struct weir_event event = {
        .kind = WEIR_EVENT_ATTEMPT_FAILED,
        .time_ns = 1000 + 12345 * WEIR_NS_PER_US,
        .attempt = 1,
        .group = WEIR_SLICE_INIT("gpt-4o"),
        .deployment = WEIR_SLICE_INIT("azure-eu"),
        .u.attempt_failed = {.failure = {WEIR_KIND_RATE_LIMIT, 429, 20 * WEIR_NS_PER_S, WEIR_ORIGIN_PROVIDER},
                             .will_retry = true,
                             .wait_ns = 1500 * WEIR_NS_PER_MS,
                             .duration_ns = 12 * WEIR_NS_PER_MS}};

    (void)state;
    assert_json(
        &event, &in_call,
        "{\"time\":\"2024-02-29T12:34:56.012Z\",\"ms\":12.345,\"kind\":\"AttemptFailed\",\"attempt\":1,"
        "\"group\":\"gpt-4o\",\"deployment\":\"azure-eu\",\"failure\":{\"kind\":\"rate_limit\",\"status\":"
        "429,"
        "\"retry_after_s\":20,\"origin\":\"provider\"},\"will_retry\":true,\"wait_ms\":1500,\"duration_ms\":"
        "12}");
}

static void a_cooldown_tells_when_it_ends_by_the_wall_clock(void **state)
{
    const struct weir_event_place alone = {
        .wall_ns = WALL_NS, .at_ns = 5000 + WEIR_NS_PER_S, .call_id = WEIR_SLICE_INIT("an-id")};
    const struct weir_event event = {
        .kind = WEIR_EVENT_COOLDOWN_SET,
        .time_ns = 5000,
        .u.cooldown_set = {.failure = {WEIR_KIND_TIMEOUT, 408, 0, WEIR_ORIGIN_PROVIDER},
                           .rule = WEIR_COOLDOWN_FAILURE_SHARE,
                           .length_ns = 5 * WEIR_NS_PER_S / 2,
                           .until_ns = 5000 + 5 * WEIR_NS_PER_S / 2,
                           .number = 3}};

    (void)state;
    assert_json(&event, &alone,
                "{\"time\":\"2024-02-29T12:34:55.000Z\",\"call_id\":\"an-id\",\"kind\":\"CooldownSet\","
                "\"failure\":{\"kind\":\"timeout\",\"status\":408,\"origin\":\"provider\"},\"rule\":"
                "\"failure_share\","
                "\"length_s\":2.5,\"until\":\"2024-02-29T12:34:57.500Z\",\"capped\":false,\"number\":3}");
}

static struct weir_event hop(int32_t order)
{
    return (struct weir_event){.kind = WEIR_EVENT_FALLBACK,
                               .time_ns = 1000,
                               .u.fallback = {.kind = WEIR_HOP_ORDER,
                                              .source = WEIR_SLICE_INIT("a\"\r\n"),
                                              .target = WEIR_SLICE_INIT("b"),
                                              .order = order,
                                              .depth = 1,
                                              .cause = {WEIR_KIND_TIMEOUT, 408, 0, WEIR_ORIGIN_PROVIDER}}};
}

static void names_cannot_break_it_and_orders_may_be_negative_or_none(void **state)
{
    struct weir_event event = hop(-2);

    (void)state;
    assert_json(&event, &in_call,
                "{\"time\":\"2024-02-29T12:34:56.000Z\",\"ms\":0,\"kind\":\"Fallback\",\"hop\":\"order\","
                "\"source\":\"a\\\"\\r\\n\",\"target\":\"b\",\"order\":-2,\"depth\":1,\"level\":0,\"cause\":{"
                "\"kind\":\"timeout\",\"status\":408,\"origin\":\"provider\"}}");
    event = hop(7);
    assert_json(&event, &in_call,
                "{\"time\":\"2024-02-29T12:34:56.000Z\",\"ms\":0,\"kind\":\"Fallback\",\"hop\":\"order\","
                "\"source\":\"a\\\"\\r\\n\",\"target\":\"b\",\"order\":7,\"depth\":1,\"level\":0,\"cause\":{"
                "\"kind\":\"timeout\",\"status\":408,\"origin\":\"provider\"}}");
    event = hop(WEIR_UNSET_ORDER);
    assert_json(&event, &in_call,
                "{\"time\":\"2024-02-29T12:34:56.000Z\",\"ms\":0,\"kind\":\"Fallback\",\"hop\":\"order\","
                "\"source\":\"a\\\"\\r\\n\",\"target\":\"b\",\"depth\":1,\"level\":0,\"cause\":{\"kind\":"
                "\"timeout\",\"status\":408,\"origin\":\"provider\"}}");
}

static void a_plain_answer_tells_nothing_of_a_stream(void **state)
{
    struct weir_event event = {
        .kind = WEIR_EVENT_SUCCEEDED,
        .time_ns = 1000,
        .u.succeeded = {.prompt_tokens = 5, .completion_tokens = 7, .duration_ns = 1000}};

    (void)state;
    assert_json(&event, &in_call,
                "{\"time\":\"2024-02-29T12:34:56.000Z\",\"ms\":0,\"kind\":\"Succeeded\",\"prompt_tokens\":5,"
                "\"completion_tokens\":7,\"duration_ms\":0.001}");
    event.u.succeeded.stream = (struct weir_stream_facts){1000, 2000, 3000, 4, 5};
    assert_json(&event, &in_call,
                "{\"time\":\"2024-02-29T12:34:56.000Z\",\"ms\":0,\"kind\":\"Succeeded\",\"prompt_tokens\":5,"
                "\"completion_tokens\":7,\"duration_ms\":0.001,\"stream\":{\"first_chunk_ms\":0.001,"
                "\"first_content_ms\":0.002,\"longest_silence_ms\":0.003,\"chunks\":4,\"deltas\":5}}");
}

static void a_pick_tells_what_became_of_each_candidate(void **state)
{
    const struct weir_candidate candidates[] = {
        {WEIR_SLICE_INIT("azure-eu"), WEIR_FATE_COOLDOWN, 1000 + 5 * WEIR_NS_PER_S},
        {WEIR_SLICE_INIT("azure-us"), WEIR_FATE_CHOSEN, 0}};
    const struct weir_event event = {.kind = WEIR_EVENT_PICKED,
                                     .time_ns = 1000,
                                     .deployment = WEIR_SLICE_INIT("azure-us"),
                                     .u.picked = {.purpose = WEIR_PICK_FOR_RETRY,
                                                  .strategy = WEIR_SLICE_INIT("simple-shuffle"),
                                                  .candidates = candidates,
                                                  .count = 2,
                                                  .omitted = 1}};

    (void)state;
    assert_json(
        &event, &in_call,
        "{\"time\":\"2024-02-29T12:34:56.000Z\",\"ms\":0,\"kind\":\"Picked\",\"deployment\":\"azure-us\","
        "\"for\":\"retry\",\"strategy\":\"simple-shuffle\",\"candidates\":[{\"deployment\":\"azure-eu\","
        "\"fate\":\"cooling_down\",\"until\":\"2024-02-29T12:35:01.000Z\"},{\"deployment\":\"azure-us\","
        "\"fate\":\"chosen\"}],\"omitted\":1}");
}

/* All of them at their longest: nothing but escapes. */
static void texts_of_any_bytes_find_room(void **state)
{
    static char bytes[300];
    const struct weir_slice text = {bytes, sizeof(bytes)};
    struct weir_candidate candidates[16];
    struct weir_text_clock clock = {0};
    const struct weir_event_place place = {.wall_ns = WALL_NS, .at_ns = 1000, .clock = &clock};
    const struct weir_event event = {
        .kind = WEIR_EVENT_PICKED,
        .time_ns = 1000,
        .attempt = UINT32_MAX,
        .group = text,
        .deployment = text,
        .u.picked = {.strategy = text, .candidates = candidates, .count = 16, .omitted = UINT32_MAX}};
    struct weir_json_writer writer;
    struct weir_buf buf;

    (void)state;
    for (size_t i = 0; i < 16; i++)
        candidates[i] = (struct weir_candidate){text, WEIR_FATE_COOLDOWN, UINT64_MAX};
    weir_buf_init(&buf, weir_mem_libc(), 64 * 1024);
    weir_json_writer_init(&writer, &buf);
    weir_event_json(&writer, &event, &place);
    assert_int_equal(weir_json_writer_end(&writer), 0);
    assert_true(weir_buf_len(&buf) > 19 * 6 * sizeof(bytes));
    assert_int_equal(buf.ptr[weir_buf_len(&buf) - 1], '}');
    weir_buf_deinit(&buf);
}

static void without_room_nothing_is_written(void **state)
{
    const struct weir_event event = {.kind = WEIR_EVENT_RETRY, .time_ns = 1000};
    struct weir_json_writer writer;
    struct weir_buf buf;

    (void)state;
    weir_buf_init(&buf, weir_mem_libc(), 16);
    weir_json_writer_init(&writer, &buf);
    weir_event_json(&writer, &event, &in_call);
    assert_int_equal(weir_json_writer_end(&writer), WEIR_ERR_LIMIT);
    assert_int_equal(weir_buf_len(&buf), 0);
    weir_buf_deinit(&buf);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_failed_attempt_tells_its_failure_and_what_follows),
        cmocka_unit_test(a_cooldown_tells_when_it_ends_by_the_wall_clock),
        cmocka_unit_test(names_cannot_break_it_and_orders_may_be_negative_or_none),
        cmocka_unit_test(a_plain_answer_tells_nothing_of_a_stream),
        cmocka_unit_test(a_pick_tells_what_became_of_each_candidate),
        cmocka_unit_test(texts_of_any_bytes_find_room),
        cmocka_unit_test(without_room_nothing_is_written),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
