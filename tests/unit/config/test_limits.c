/* Limits of streams: each key at each level, and what the engine is told. */
#include "kit.h"

#include <stdio.h>
#include <string.h>

#include "base/time.h"
#include "engine/snapshot/snapshot.h"
#include "provider/endpoint.h"

#define SECONDS(n) ((n)*WEIR_NS_PER_S)
#define GROUP                                                                                                \
    "model_list: [{model_name: g, litellm_params: {model: openai/m, api_base: 'http://a.example'}}]\n"

/* What holds for the first deployment of the group after all levels. */
static const struct weir_deployment_spec *spec_of(const struct kit *kit, const char *group, size_t index)
{
    struct weir_slice id = kit_deployment(kit, group, index)->id;

    return &weir_snapshot_find_deployment(kit->config->snapshot, id)->spec;
}

static void the_router_says_limits_for_all(void **state)
{
    const struct weir_router_spec *router;
    struct kit kit;

    (void)state;
    kit_load(&kit, NULL,
             GROUP "router_settings: {timeout: 60, stream_timeout: 9, ttft_timeout: '4.5', "
                   "stream_idle_timeout: 0, enable_mid_stream_fallback_continuation: true}\n"
                   "weir_settings:\n"
                   "  call_deadline: 120\n"
                   "  min_stream_rate: {tokens_per_s: 2.5, window: 4}\n"
                   "  stream_hold: {tokens: 20, seconds: 1.5}\n"
                   "  continuation_targets: [group, fallback]\n");
    kit_expect_count(&kit, 0);
    router = weir_snapshot_router(kit.config->snapshot);
    assert_int_equal(router->limits.timeout_ns, SECONDS(60));
    assert_int_equal(router->limits.stream_timeout_ns, SECONDS(9));
    assert_int_equal(router->limits.ttft_timeout_ns, SECONDS(4) + SECONDS(1) / 2);
    assert_int_equal(router->limits.stream_idle_timeout_ns, 0);
    assert_int_equal(router->limits.call_deadline_ns, SECONDS(120));
    assert_float_equal(router->limits.min_stream_rate.tokens_per_s, 2.5, 1e-9);
    assert_int_equal(router->limits.min_stream_rate.window_ns, SECONDS(4));
    assert_int_equal(router->limits.min_stream_rate.grace_ns, SECONDS(10));
    assert_true(router->limits.stream_hold.said);
    assert_int_equal(router->limits.stream_hold.tokens, 20);
    assert_int_equal(router->limits.stream_hold.window_ns, SECONDS(3) / 2);
    assert_true(router->continuation);
    assert_int_equal(router->continue_to[0], WEIR_CONTINUE_GROUP);
    assert_int_equal(router->continue_to[1], WEIR_CONTINUE_FALLBACK);
    kit_free(&kit);
}

static void nothing_is_limited_and_nothing_continued_by_default(void **state)
{
    const struct weir_router_spec *router;
    struct kit kit;

    (void)state;
    kit_load(&kit, NULL, GROUP);
    router = weir_snapshot_router(kit.config->snapshot);
    assert_true(router->limits.ttft_timeout_ns == WEIR_UNSET_NS);
    assert_true(router->limits.stream_idle_timeout_ns == WEIR_UNSET_NS);
    assert_true(router->limits.call_deadline_ns == WEIR_UNSET_NS);
    assert_true(router->limits.min_stream_rate.tokens_per_s < 0);
    assert_false(router->limits.stream_hold.said);
    assert_false(router->continuation);
    assert_int_equal(router->continue_to[0], WEIR_CONTINUE_FALLBACK);
    assert_int_equal(router->continue_to[1], WEIR_CONTINUE_NOWHERE);
    assert_int_equal(kit.config->settings.request_overrides, 0);
    assert_int_equal(kit_deployment(&kit, "g", 0)->keepalive_ns, 0);
    assert_false(kit_deployment(&kit, "g", 0)->keepalive_by_caller);
    assert_false(kit_deployment(&kit, "g", 0)->fail_empty);
    kit_free(&kit);
}

static void a_hold_has_four_forms(void **state)
{
    static const struct {
        const char *text;
        uint32_t tokens;
        uint64_t window_ns;
    } cases[] = {
        {"{tokens: 5}", 5, WEIR_UNSET_NS},
        {"{seconds: 2}", WEIR_UNSET, SECONDS(2)},
        {"all", WEIR_UNSET, WEIR_UNSET_NS},
        {"0", 0, 0},
        {"off", 0, 0},
        {"{tokens: 0}", 0, 0},
        {"{tokens: 5, seconds: 0}", 0, 0},
        {"{tokens: 5, seconds: ~}", 5, WEIR_UNSET_NS},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        const struct weir_stream_hold *hold;
        struct kit kit;
        char text[512];

        (void)snprintf(text, sizeof(text), GROUP "weir_settings: {stream_hold: %s}\n", cases[i].text);
        kit_load(&kit, NULL, text);
        kit_expect_count(&kit, 0);
        hold = &weir_snapshot_router(kit.config->snapshot)->limits.stream_hold;
        assert_true(hold->said);
        assert_int_equal(hold->tokens, cases[i].tokens);
        assert_true(hold->window_ns == cases[i].window_ns);
        kit_free(&kit);
    }
}

static void a_deployment_beats_its_group_and_that_the_router_field_by_field(void **state)
{
    const struct weir_limits *limits;
    struct kit kit;

    (void)state;
    kit_load(&kit, NULL,
             "model_list:\n"
             "- model_name: g\n"
             "  litellm_params: {model: openai/m, ttft_timeout: 1, stream_hold: all, call_deadline: 8}\n"
             "  model_info: {call_deadline: 9, min_stream_rate: {tokens_per_s: 7}, stream_hold: 0}\n"
             "- {model_name: h, litellm_params: {model: openai/m}}\n"
             "router_settings: {ttft_timeout: 3, stream_idle_timeout: 3, timeout: 3}\n"
             "weir_settings:\n"
             "  call_deadline: 3\n"
             "  groups:\n"
             "    g: {ttft_timeout: 2, stream_idle_timeout: 2, min_stream_rate: {tokens_per_s: 2}}\n"
             "    h: ~\n");
    kit_expect_count(&kit, 0);
    limits = &spec_of(&kit, "g", 0)->limits;
    assert_int_equal(limits->ttft_timeout_ns, SECONDS(1));
    assert_int_equal(limits->stream_idle_timeout_ns, SECONDS(2));
    assert_int_equal(limits->timeout_ns, SECONDS(3));
    assert_int_equal(limits->call_deadline_ns, SECONDS(8));
    assert_float_equal(limits->min_stream_rate.tokens_per_s, 7, 1e-9);
    assert_int_equal(limits->stream_hold.tokens, WEIR_UNSET);
    limits = &spec_of(&kit, "h", 0)->limits;
    assert_int_equal(limits->ttft_timeout_ns, SECONDS(3));
    assert_int_equal(limits->call_deadline_ns, SECONDS(3));
    assert_false(limits->stream_hold.said);
    kit_free(&kit);
}

static void limits_of_a_deployment_never_go_to_its_provider(void **state)
{
    const struct weir_endpoint *endpoint;
    struct kit kit;

    (void)state;
    kit_load(
        &kit, NULL,
        "model_list:\n"
        "- model_name: g\n"
        "  litellm_params: {model: openai/m, temperature: 0, timeout: 1, stream_timeout: 1, ttft_timeout: "
        "1, stream_idle_timeout: 1, call_deadline: 1, min_stream_rate: {tokens_per_s: 1}, stream_hold: "
        "all, keepalive_seconds: 1, allow_client_keepalive_override: true}\n");
    kit_expect_count(&kit, 0);
    endpoint = kit_deployment(&kit, "g", 0)->endpoint;
    assert_slice_is(endpoint->defaults, "{\"temperature\":0}");
    kit_free(&kit);
}

static void wrong_limits_are_told_where_they_stand(void **state)
{
    static const struct {
        const char *text;
        const char *path;
        const char *words;
    } cases[] = {
        {"call_deadline: soon", "weir_settings.call_deadline",
         "found text `soon`, expected a number of seconds"},
        {"call_deadline: -1", "weir_settings.call_deadline", "from 0 to 2592000"},
        {"stream_hold: some", "weir_settings.stream_hold", "expected {tokens: N, seconds: S}, all, or 0"},
        {"stream_hold: {}", "weir_settings.stream_hold", "expected {tokens: N"},
        {"stream_hold: [1]", "weir_settings.stream_hold", "found a list"},
        {"stream_hold: 5", "weir_settings.stream_hold", "expected {tokens: N"},
        {"stream_hold: {tokens: few}", "weir_settings.stream_hold.tokens", "a whole number"},
        {"min_stream_rate: {window: 5}", "weir_settings.min_stream_rate", "expected {tokens_per_s: N"},
        {"min_stream_rate: 5", "weir_settings.min_stream_rate", "expected {tokens_per_s: N"},
        {"min_stream_rate: {tokens_per_s: -1}", "weir_settings.min_stream_rate.tokens_per_s", "from 0 to"},
        {"min_stream_rate: {tokens_per_s: 1, window: 0}", "weir_settings.min_stream_rate.window",
         "from 0.01"},
        {"continuation_targets: []", "weir_settings.continuation_targets", "a list of fallback and group"},
        {"continuation_targets: group", "weir_settings.continuation_targets", "found text"},
        {"continuation_targets: [group, group]", "weir_settings.continuation_targets", "a list of fallback"},
        {"continuation_targets: [grop]", "weir_settings.continuation_targets", "a list of fallback"},
        {"empty_answer: maybe", "weir_settings.empty_answer", "fail or pass"},
        {"allow_request_overrides: timeout", "weir_settings.allow_request_overrides", "a list of names"},
        {"groups: [g]", "weir_settings.groups", "a map of groups"},
        {"groups: {g: 5}", "weir_settings.groups.g", "a map of its settings"},
        {"groups: {g: {timeout: 0}}", "weir_settings.groups.g.timeout", "from 0.001"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        struct kit kit;
        char text[512];

        (void)snprintf(text, sizeof(text), GROUP "weir_settings: {%s}\n", cases[i].text);
        kit_load(&kit, NULL, text);
        assert_int_equal(kit.rv, WEIR_CONFIG_REFUSED);
        kit_expect(&kit, 2, cases[i].path, "error", cases[i].words);
        kit_free(&kit);
    }
}

static void a_wrong_limit_of_a_deployment_skips_its_entry(void **state)
{
    struct kit kit;

    (void)state;
    kit_load(&kit, NULL,
             "model_list:\n"
             "- {model_name: g, litellm_params: {model: openai/m, stream_hold: {token: 5}}}\n"
             "- {model_name: h, litellm_params: {model: openai/m, ttft_timeout: -1}}\n"
             "- {model_name: i, litellm_params: {model: openai/m}}\n");
    assert_int_equal(kit.rv, 0);
    kit_expect(&kit, 2, "model_list[0].litellm_params.stream_hold.token", "warning", "did you mean tokens?");
    kit_expect(&kit, 2, "model_list[0].litellm_params.stream_hold", "error", "the entry is skipped");
    kit_expect(&kit, 3, "model_list[1].litellm_params.ttft_timeout", "error", "the entry is skipped");
    assert_int_equal(kit.config->deployment_count, 1);
    kit_free(&kit);
}

static void unknown_keys_and_groups_are_told_with_the_nearest(void **state)
{
    struct kit kit;

    (void)state;
    kit_load(&kit, NULL,
             "model_list: [{model_name: gpt-4o, litellm_params: {model: openai/m}}]\n"
             "weir_settings:\n"
             "  min_stream_rate: {tokens_per_s: 1, windw: 5}\n"
             "  allow_request_overrides: [call_deadlin, retry_budget, timeout, hedg, all_cooling_wait]\n"
             "  groups:\n"
             "    gpt-4: {ttft_timeot: 1}\n"
             "    other: {num_retries: 1}\n"
             "    gpt-4o: {num_retrie: 2}\n");
    assert_int_equal(kit.rv, 0);
    kit_expect(&kit, 3, "weir_settings.min_stream_rate.windw", "warning", "did you mean window?");
    kit_expect(&kit, 4, "weir_settings.allow_request_overrides[0]", "warning", "did you mean call_deadline?");
    kit_expect(&kit, 4, "weir_settings.allow_request_overrides[1]", "warning",
               "nothing that a request may set");
    kit_expect(&kit, 4, "weir_settings.allow_request_overrides[3]", "warning", "did you mean hedge?");
    kit_expect(&kit, 6, "weir_settings.groups.gpt-4", "warning", "did you mean gpt-4o?");
    kit_expect(&kit, 6, "weir_settings.groups.gpt-4.ttft_timeot", "warning", "did you mean ttft_timeout?");
    kit_expect(&kit, 7, "weir_settings.groups.other", "warning", "never used");
    kit_expect(&kit, 7, "weir_settings.groups.other.num_retries", "warning", "belongs in router_settings");
    assert_int_equal(kit.config->settings.request_overrides,
                     WEIR_OVERRIDE_BIT(WEIR_LIMIT_ID_timeout_ns) |
                         WEIR_OVERRIDE_BIT(WEIR_OVERRIDE_ID_all_cooling_wait_ns));
    kit_free(&kit);
}

static void of_many_wrong_groups_each_is_told_and_the_first_with_the_nearest(void **state)
{
    enum { GROUPS = 100, ROOM = 16 * 1024 };
    static char text[ROOM];
    struct kit kit;
    int len = snprintf(text, ROOM,
                       "model_list: [{model_name: group-000, litellm_params: {model: openai/m}}]\n"
                       "weir_settings:\n"
                       "  groups:\n");

    (void)state;
    for (int i = 1; i <= GROUPS; i++)
        len += snprintf(text + len, (size_t)(ROOM - len), "    group-%03d: {timeout: 1}\n", i);
    kit_load(&kit, NULL, text);
    kit_expect_count(&kit, GROUPS);
    kit_expect(&kit, 4, "weir_settings.groups.group-001", "warning", "did you mean group-000?");
    kit_expect(&kit, 103, "weir_settings.groups.group-100", "warning", "never used");
    kit_free(&kit);
}

static void keepalive_is_brought_within_its_bounds(void **state)
{
    struct kit kit;

    (void)state;
    kit_load(&kit, NULL,
             "model_list:\n"
             "- {model_name: g, litellm_params: {model: openai/m, keepalive_seconds: 0.2}}\n"
             "- {model_name: h, litellm_params: {model: openai/m, keepalive_seconds: '900'}}\n"
             "- {model_name: i, litellm_params: {model: openai/m, keepalive_seconds: 0, "
             "allow_client_keepalive_override: true}}\n"
             "- {model_name: j, litellm_params: {model: openai/m, allow_client_keepalive_override: true}}\n"
             "router_settings: {keepalive_seconds: 20}\n");
    assert_int_equal(kit.rv, 0);
    kit_expect_count(&kit, 2);
    kit_expect(&kit, 2, "model_list[0].litellm_params.keepalive_seconds", "warning", "brought to 1");
    kit_expect(&kit, 3, "model_list[1].litellm_params.keepalive_seconds", "warning", "brought to 300");
    assert_int_equal(kit_deployment(&kit, "g", 0)->keepalive_ns, SECONDS(1));
    assert_int_equal(kit_deployment(&kit, "h", 0)->keepalive_ns, SECONDS(300));
    assert_false(kit_deployment(&kit, "h", 0)->keepalive_by_caller);
    assert_int_equal(kit_deployment(&kit, "i", 0)->keepalive_ns, 0);
    assert_false(kit_deployment(&kit, "i", 0)->keepalive_by_caller);
    assert_int_equal(kit_deployment(&kit, "j", 0)->keepalive_ns, SECONDS(20));
    assert_true(kit_deployment(&kit, "j", 0)->keepalive_by_caller);
    kit_free(&kit);
}

static void pings_of_the_process_are_the_keepalive_of_those_without_one(void **state)
{
    struct kit kit;

    (void)state;
    kit_load(&kit, NULL, GROUP "litellm_settings: {sse_keepalive_ping_interval_seconds: 15}\n");
    kit_expect_count(&kit, 0);
    assert_int_equal(kit.config->settings.sse_ping_ns, SECONDS(15));
    assert_int_equal(kit_deployment(&kit, "g", 0)->keepalive_ns, SECONDS(15));
    kit_free(&kit);
}

static void an_empty_answer_fails_where_group_or_process_say_so(void **state)
{
    struct kit kit;

    (void)state;
    kit_load(&kit, NULL,
             "model_list:\n"
             "- {model_name: g, litellm_params: {model: openai/m}}\n"
             "- {model_name: h, litellm_params: {model: openai/m}}\n"
             "weir_settings: {empty_answer: fail, groups: {h: {empty_answer: pass}}}\n");
    kit_expect_count(&kit, 0);
    assert_true(kit_deployment(&kit, "g", 0)->fail_empty);
    assert_false(kit_deployment(&kit, "h", 0)->fail_empty);
    kit_free(&kit);
}

static void a_written_word_on_prefill_beats_the_table(void **state)
{
    struct kit kit;

    (void)state;
    kit_load(
        &kit, NULL,
        "model_list:\n"
        "- {model_name: g, litellm_params: {model: openai/gpt-4o}}\n"
        "- {model_name: g, litellm_params: {model: openai/gpt-4o}, model_info: "
        "{supports_assistant_prefill: true}}\n"
        "- {model_name: g, litellm_params: {model: mistral/mistral-large-latest, api_key: k}}\n"
        "- {model_name: g, litellm_params: {model: mistral/mistral-large-latest, api_key: k}, model_info: "
        "{supports_assistant_prefill: false}}\n");
    kit_expect_count(&kit, 0);
    assert_false(spec_of(&kit, "g", 0)->supports_prefill);
    assert_true(spec_of(&kit, "g", 1)->supports_prefill);
    assert_true(spec_of(&kit, "g", 2)->supports_prefill);
    assert_false(spec_of(&kit, "g", 3)->supports_prefill);
    assert_true(weir_slice_has(kit_deployment(&kit, "g", 1)->info,
                               WEIR_SLICE("\"supports_assistant_prefill\":true")));
    kit_free(&kit);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_router_says_limits_for_all),
        cmocka_unit_test(nothing_is_limited_and_nothing_continued_by_default),
        cmocka_unit_test(a_hold_has_four_forms),
        cmocka_unit_test(a_deployment_beats_its_group_and_that_the_router_field_by_field),
        cmocka_unit_test(limits_of_a_deployment_never_go_to_its_provider),
        cmocka_unit_test(wrong_limits_are_told_where_they_stand),
        cmocka_unit_test(a_wrong_limit_of_a_deployment_skips_its_entry),
        cmocka_unit_test(unknown_keys_and_groups_are_told_with_the_nearest),
        cmocka_unit_test(of_many_wrong_groups_each_is_told_and_the_first_with_the_nearest),
        cmocka_unit_test(keepalive_is_brought_within_its_bounds),
        cmocka_unit_test(pings_of_the_process_are_the_keepalive_of_those_without_one),
        cmocka_unit_test(an_empty_answer_fails_where_group_or_process_say_so),
        cmocka_unit_test(a_written_word_on_prefill_beats_the_table),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
