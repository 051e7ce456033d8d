/* What requests say of their own limits: `weir`, keepalive, fields of the head. */
#include "unit.h"

#include <stdio.h>
#include <string.h>

#include <weir/mem_libc.h>

#include "asked_kit.h"
#include "base/time.h"
#include "config/settings.h"

static int begin(void **state)
{
    struct asked_kit *kit;
    int r = asked_kit_begin(state);

    kit = *state;
    kit->rules.overrides = UINT32_MAX;
    return r;
}

static const struct weir_controls *accept(struct asked_kit *kit, const char *body)
{
    return &asked_kit_accept(kit, body)->controls;
}

static void weir_holds_the_limits_that_are_allowed(void **state)
{
    const struct weir_controls *controls =
        accept(*state, "{\"model\": \"g\", \"weir\": {\"timeout\": 1, \"stream_timeout\": \"2\", "
                       "\"ttft_timeout\": 3, \"stream_idle_timeout\": 0, \"call_deadline\": 5.5, "
                       "\"min_stream_rate\": {\"tokens_per_s\": 2, \"grace\": 1}, "
                       "\"stream_hold\": {\"tokens\": 8}}}");

    assert_int_equal(controls->limits.timeout_ns, WEIR_NS_PER_S);
    assert_int_equal(controls->limits.stream_timeout_ns, 2 * WEIR_NS_PER_S);
    assert_int_equal(controls->limits.ttft_timeout_ns, 3 * WEIR_NS_PER_S);
    assert_int_equal(controls->limits.stream_idle_timeout_ns, 0);
    assert_int_equal(controls->limits.call_deadline_ns, 5500 * WEIR_NS_PER_MS);
    assert_float_equal(controls->limits.min_stream_rate.tokens_per_s, 2, 1e-9);
    assert_int_equal(controls->limits.min_stream_rate.window_ns, 10 * WEIR_NS_PER_S);
    assert_int_equal(controls->limits.min_stream_rate.grace_ns, WEIR_NS_PER_S);
    assert_int_equal(controls->limits.stream_hold.tokens, 8);
    assert_true(controls->limits.stream_hold.window_ns == WEIR_UNSET_NS);
    assert_true(controls->by_caller);
}

static void weir_holds_how_the_call_hedges_and_waits(void **state)
{
    struct asked_kit *kit = *state;
    const struct weir_controls *controls = accept(
        kit,
        "{\"model\": \"g\", \"weir\": {\"hedge\": {\"after\": 1.5, \"max\": 2}, \"all_cooling_wait\": 4}}");

    assert_int_equal(controls->hedge.after_ns, 1500 * WEIR_NS_PER_MS);
    assert_int_equal(controls->hedge.max, 2);
    assert_int_equal(controls->all_cooling_wait_ns, 4 * WEIR_NS_PER_S);
    assert_false(controls->by_caller);
    controls = accept(kit, "{\"model\": \"g\", \"weir\": {\"hedge\": 0, \"all_cooling_wait\": 0}}");
    assert_int_equal(controls->hedge.after_ns, 0);
    assert_int_equal(controls->all_cooling_wait_ns, 0);
    controls = accept(kit, "{\"model\": \"g\", \"weir\": {\"hedge\": null}}");
    assert_true(controls->hedge.after_ns == WEIR_UNSET_NS && controls->all_cooling_wait_ns == WEIR_UNSET_NS);
    asked_kit_refuse(kit, "{\"model\": \"g\", \"weir\": {\"hedge\": {\"max\": 2}}}", "weir",
                     "weir.hedge must be {after: S, max: N}, or 0");
    asked_kit_refuse(kit, "{\"model\": \"g\", \"weir\": {\"hedge\": {\"after\": -1}}}", "weir",
                     "weir.hedge.after must be a number of seconds");
    asked_kit_refuse(kit, "{\"model\": \"g\", \"weir\": {\"all_cooling_wait\": 86401}}", "weir",
                     "weir.all_cooling_wait must be a number of seconds");
    asked_kit_refuse(kit, "{\"model\": \"g\", \"weir\": {\"retry_budget\": 0}}", "weir",
                     "weir.retry_budget is not allowed");
}

static void words_stand_for_no_limit_and_for_the_whole_answer(void **state)
{
    struct asked_kit *kit = *state;
    const struct weir_controls *controls =
        accept(kit, "{\"model\": \"g\", \"weir\": {\"min_stream_rate\": 0, \"stream_hold\": \"all\"}}");

    assert_float_equal(controls->limits.min_stream_rate.tokens_per_s, 0, 1e-9);
    assert_true(controls->limits.stream_hold.said);
    assert_int_equal(controls->limits.stream_hold.tokens, WEIR_UNSET);
    controls = accept(kit, "{\"model\": \"g\", \"weir\": {\"stream_hold\": false}}");
    assert_int_equal(controls->limits.stream_hold.tokens, 0);
}

static void a_limit_that_is_not_allowed_is_refused_by_name(void **state)
{
    struct asked_kit *kit = *state;

    kit->rules.overrides = WEIR_OVERRIDE_BIT(WEIR_LIMIT_ID_call_deadline_ns);
    (void)accept(kit, "{\"model\": \"g\", \"weir\": {\"call_deadline\": 5}}");
    (void)accept(kit, "{\"model\": \"g\", \"weir\": {\"c\\u0061ll_deadline\": null}}");
    asked_kit_refuse(kit, "{\"model\": \"g\", \"weir\": {\"call_deadline\": 5, \"stream_hold\": \"all\"}}",
                     "weir", "weir.stream_hold is not allowed");
    asked_kit_refuse(kit, "{\"model\": \"g\", \"weir\": {\"hedge\": {}}}", "weir",
                     "weir.hedge is not allowed");
}

static void wrong_limits_say_where_and_what_was_expected(void **state)
{
    static const struct {
        const char *value;
        const char *words;
    } cases[] = {
        {"\"call_deadline\": \"soon\"", "weir.call_deadline must be a number of seconds from 0 to 2592000"},
        {"\"call_deadline\": -1", "weir.call_deadline must be a number of seconds"},
        {"\"timeout\": 0", "from 0.001 to"},
        {"\"ttft_timeout\": []", "weir.ttft_timeout must be a number of seconds"},
        {"\"stream_hold\": 5", "weir.stream_hold must be {tokens: N, seconds: S}, all, or 0"},
        {"\"stream_hold\": {}", "weir.stream_hold must be {tokens"},
        {"\"stream_hold\": \"some\"", "weir.stream_hold must be"},
        {"\"stream_hold\": {\"tokens\": 1.5}", "weir.stream_hold.tokens must be a whole number"},
        {"\"stream_hold\": {\"token\": 1}", "weir.stream_hold has no key token"},
        {"\"min_stream_rate\": {\"window\": 1}", "weir.min_stream_rate must be {tokens_per_s"},
        {"\"min_stream_rate\": {\"tokens_per_s\": true}",
         "weir.min_stream_rate.tokens_per_s must be a number"},
    };
    struct asked_kit *kit = *state;

    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        char body[256];

        (void)snprintf(body, sizeof(body), "{\"model\": \"g\", \"weir\": {%s}}", cases[i].value);
        asked_kit_refuse(kit, body, "weir", cases[i].words);
    }
}

static void a_target_may_have_limits_of_its_own(void **state)
{
    struct asked_kit *kit = *state;
    const struct weir_target *target;

    (void)accept(kit, "{\"model\": \"g\", \"fallbacks\": [{\"model\": \"B\", \"temperature\": 0, "
                      "\"weir\": {\"ttft_timeout\": 2}}]}");
    target = &kit->asked.request.lists[WEIR_LIST_GENERIC].chains[0].targets[0];
    assert_int_equal(target->controls.limits.ttft_timeout_ns, 2 * WEIR_NS_PER_S);
    assert_true(target->controls.by_caller);
    assert_slice_is(target->overrides, "{\"temperature\": 0}");
    assert_false(kit->asked.request.controls.by_caller);
    kit->rules.overrides = 0;
    asked_kit_refuse(kit,
                     "{\"model\": \"g\", \"fallbacks\": [{\"model\": \"B\", \"weir\": {\"timeout\": 2}}]}",
                     "weir", "weir.timeout is not allowed");
}

static void keepalive_is_kept_within_its_bounds(void **state)
{
    static const struct {
        const char *value;
        uint64_t seconds;
    } cases[] = {{"5", 5}, {"\"5\"", 5}, {"0", 0}, {"0.1", 1}, {"1e9", 300}};
    struct asked_kit *kit = *state;

    (void)accept(kit, "{\"model\": \"g\"}");
    assert_true(kit->asked.keepalive_ns == WEIR_UNSET_NS);
    (void)accept(kit, "{\"model\": \"g\", \"keepalive_seconds\": null}");
    assert_true(kit->asked.keepalive_ns == WEIR_UNSET_NS);
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        char body[128];

        (void)snprintf(body, sizeof(body), "{\"model\": \"g\", \"keepalive_seconds\": %s}", cases[i].value);
        (void)accept(kit, body);
        assert_int_equal(kit->asked.keepalive_ns, cases[i].seconds * WEIR_NS_PER_S);
    }
    asked_kit_refuse(kit, "{\"model\": \"g\", \"keepalive_seconds\": -1}", "keepalive_seconds", "seconds");
    asked_kit_refuse(kit, "{\"model\": \"g\", \"keepalive_seconds\": \"often\"}", "keepalive_seconds",
                     "seconds");
}

static void a_header_beats_the_bodys_keepalive(void **state)
{
    struct asked_kit *kit = *state;

    asked_kit_header(kit, "X-LiteLLM-Keepalive-Seconds", "7");
    (void)accept(kit, "{\"model\": \"g\", \"keepalive_seconds\": 3}");
    assert_int_equal(kit->asked.keepalive_ns, 7 * WEIR_NS_PER_S);
    kit->fields[0].value = WEIR_SLICE("never");
    asked_kit_refuse(kit, "{\"model\": \"g\"}", "X-LiteLLM-Keepalive-Seconds", "seconds");
}

static void limits_of_headers_are_the_callers(void **state)
{
    struct asked_kit *kit = *state;
    const struct weir_controls *controls;

    asked_kit_header(kit, "x-litellm-stream-timeout", "2");
    controls = accept(kit, "{\"model\": \"g\", \"weir\": {\"stream_timeout\": 9}}");
    assert_int_equal(controls->limits.stream_timeout_ns, 2 * WEIR_NS_PER_S);
    assert_true(controls->by_caller);
}

static void running_out_of_memory_is_told(void **state)
{
    static const char body[] = "{\"model\": \"g\", \"weir\": {\"min_stream_rate\": {\"tok\\u0065ns_per_s\": "
                               "\"\\u0031\"}}}";
    struct asked_kit *kit = *state;

    asked_kit_run_out_of_memory(kit, body);
    assert_float_equal(kit->asked.request.controls.limits.min_stream_rate.tokens_per_s, 1, 1e-9);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, begin, asked_kit_end)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(weir_holds_the_limits_that_are_allowed),
        TEST(weir_holds_how_the_call_hedges_and_waits),
        TEST(words_stand_for_no_limit_and_for_the_whole_answer),
        TEST(a_limit_that_is_not_allowed_is_refused_by_name),
        TEST(wrong_limits_say_where_and_what_was_expected),
        TEST(a_target_may_have_limits_of_its_own),
        TEST(keepalive_is_kept_within_its_bounds),
        TEST(a_header_beats_the_bodys_keepalive),
        TEST(limits_of_headers_are_the_callers),
        TEST(running_out_of_memory_is_told),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
