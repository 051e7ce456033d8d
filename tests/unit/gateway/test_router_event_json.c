/* Events outside of calls, as the objects that logs and listeners get. */
#include "unit.h"

#include <string.h>

#include <weir/mem_libc.h>

#include "base/time.h"
#include "gateway/feed/router_event_json.h"

/* 2024-02-29T12:34:56.789Z, a second after the event. */
#define WALL_NS (UINT64_C(1709210096789) * WEIR_NS_PER_MS)
#define NOW_NS  (UINT64_C(5000) * WEIR_NS_PER_S)

static struct weir_router_event event_of(weir_router_event_kind kind)
{
    return (struct weir_router_event){.kind = kind,
                                      .time_ns = NOW_NS - WEIR_NS_PER_S,
                                      .deployment = WEIR_SLICE("d\"1"),
                                      .group = WEIR_SLICE("g")};
}

static void set_by(struct weir_router_event *event, const char *name)
{
    event->by.len = (uint8_t)strlen(name);
    memcpy(event->by.text, name, event->by.len);
}

static void expect(const struct weir_router_event *event, const char *json)
{
    struct weir_json_writer writer;
    struct weir_buf buf;

    weir_buf_init(&buf, weir_mem_libc(), 4096);
    weir_json_writer_init(&writer, &buf);
    weir_router_event_json(&writer, event, NOW_NS, WALL_NS);
    assert_int_equal(weir_json_writer_end(&writer), 0);
    assert_slice_is(weir_buf_slice(&buf), json);
    weir_buf_deinit(&buf);
}

#define HEAD(kind)                                                                                           \
    "{\"time\":\"2024-02-29T12:34:55.789Z\",\"kind\":\"" kind "\",\"group\":\"g\",\"deployment\":\"d\\\"1\""

static void a_cooldown_says_why_and_how_long(void **state)
{
    struct weir_router_event event = event_of(WEIR_ROUTER_EVENT_COOLDOWN_SET);

    (void)state;
    event.failure = WEIR_KIND_RATE_LIMIT;
    event.status = 429;
    event.rule = WEIR_COOLDOWN_ROUTER_FAILS;
    event.length_ns = 2500 * WEIR_NS_PER_MS;
    expect(
        &event,
        HEAD("CooldownSet") ",\"failure\":{\"kind\":\"rate_limit\",\"status\":429,\"origin\":\"provider\"},"
                            "\"rule\":\"router_fails\",\"length_s\":2.5,\"until\":\"2024-02-29T12:34:58."
                            "289Z\"}");
}

static void one_by_hand_says_by_whom_and_no_failure(void **state)
{
    struct weir_router_event event = event_of(WEIR_ROUTER_EVENT_COOLDOWN_SET);

    (void)state;
    event.failure = WEIR_KIND_SERVICE_UNAVAILABLE;
    event.status = 503;
    event.rule = WEIR_COOLDOWN_BY_HAND;
    event.length_ns = 60 * WEIR_NS_PER_S;
    set_by(&event, "anna");
    expect(&event, HEAD("CooldownSet") ",\"rule\":\"by_hand\",\"length_s\":60,\"until\":\"2024-02-29T12:35:"
                                       "55.789Z\",\"by\":\"anna\"}");
}

static void one_that_was_learned_says_of_whom(void **state)
{
    struct weir_router_event event = event_of(WEIR_ROUTER_EVENT_COOLDOWN_LEARNED);

    (void)state;
    event.failure = WEIR_KIND_INTERNAL;
    event.status = 500;
    event.length_ns = 5 * WEIR_NS_PER_S;
    set_by(&event, "host:42");
    expect(
        &event,
        HEAD("CooldownLearned") ",\"failure\":{\"kind\":\"internal\",\"status\":500,\"origin\":\"provider\"},"
                                "\"length_s\":5,\"until\":\"2024-02-29T12:35:00.789Z\",\"by\":\"host:42\"}");
}

static void the_end_of_one_is_short(void **state)
{
    struct weir_router_event event = event_of(WEIR_ROUTER_EVENT_COOLDOWN_LIFTED);

    (void)state;
    expect(&event, HEAD("CooldownLifted") "}");
    set_by(&event, "bert");
    expect(&event, HEAD("CooldownLifted") ",\"by\":\"bert\"}");
}

static void health_says_what_is_wrong(void **state)
{
    struct weir_router_event event = event_of(WEIR_ROUTER_EVENT_HEALTH_CHANGED);

    (void)state;
    event.healthy = true;
    expect(&event, HEAD("HealthChanged") ",\"healthy\":true}");
    event.healthy = false;
    event.failure = WEIR_KIND_TIMEOUT;
    event.status = 408;
    expect(&event, HEAD("HealthChanged") ",\"healthy\":false,\"failure\":{\"kind\":\"timeout\",\"status\":"
                                         "408,\"origin\":\"provider\"}}");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_cooldown_says_why_and_how_long),
        cmocka_unit_test(one_by_hand_says_by_whom_and_no_failure),
        cmocka_unit_test(one_that_was_learned_says_of_whom),
        cmocka_unit_test(the_end_of_one_is_short),
        cmocka_unit_test(health_says_what_is_wrong),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
