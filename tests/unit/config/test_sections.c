/* Settings: defaults, precedence, types, keys that are not read. */
#include "kit.h"

#include <stdio.h>

#define GROUP                                                                                                \
    "model_list: [{model_name: g, litellm_params: {model: openai/m, api_base: 'http://a.example'}}]\n"

static void test_defaults(void **state)
{
    const struct weir_router_spec *router;
    struct kit kit;

    (void)state;
    kit_load(&kit, NULL, GROUP);
    kit_expect_count(&kit, 0);
    router = weir_snapshot_router(kit.config->snapshot);
    assert_int_equal(router->num_retries, 2);
    assert_int_equal(router->max_fallbacks, 5);
    assert_int_equal(router->limits.timeout_ns, UINT64_C(6000000000000));
    assert_true(router->limits.stream_timeout_ns == WEIR_UNSET_NS);
    assert_int_equal(router->cooldown_ns, UINT64_C(5000000000));
    assert_int_equal(router->cooldown_cap_ns, UINT64_C(3600000000000));
    assert_int_equal(router->allowed_fails, WEIR_UNSET);
    assert_int_equal(router->initial_retry_delay_ns, 500000000);
    assert_int_equal(router->max_retry_delay_ns, UINT64_C(8000000000));
    assert_int_equal(router->jitter_ns, 750000000);
    assert_int_equal(router->failure_min_requests, 5);
    assert_int_equal(router->single_failure_minimum, 1000);
    assert_true(kit.config->settings.ignore_invalid);
    assert_true(kit.config->settings.expose_router_debug);
    assert_true(kit.config->settings.ssl_verify);
    assert_int_equal(kit.config->settings.max_body_bytes, 64 * 1024 * 1024);
    assert_slice_is(kit.config->settings.access_log, "stdout");
    assert_int_equal(kit.config->settings.master_key.len, 0);
    kit_free(&kit);
}

static void test_the_router_beats_the_process_and_that_the_constant(void **state)
{
    const struct weir_router_spec *router;
    struct kit kit;

    (void)state;
    kit_load(
        &kit,
        (kit_env){"ROUTER_MAX_FALLBACKS=9", "REQUEST_TIMEOUT=77", "DEFAULT_COOLDOWN_TIME_SECONDS=8", NULL},
        GROUP "router_settings: {num_retries: 1}\n"
              "litellm_settings: {num_retries: 4, request_timeout: 33, cooldown_time: 12}\n");
    kit_expect_count(&kit, 0);
    router = weir_snapshot_router(kit.config->snapshot);
    assert_int_equal(router->num_retries, 1);
    assert_int_equal(router->limits.timeout_ns, UINT64_C(33000000000));
    assert_int_equal(router->cooldown_ns, UINT64_C(12000000000));
    assert_int_equal(router->max_fallbacks, 9);
    assert_int_equal(kit.config->sources[WEIR_SETTING_router_num_retries].line, 2);
    assert_int_equal(kit.config->sources[WEIR_SETTING_request_timeout_ns].line, 3);
    kit_free(&kit);
}

static void test_constants_from_the_environment(void **state)
{
    const struct weir_router_spec *router;
    struct kit kit;

    (void)state;
    kit_load(&kit,
             (kit_env){"INITIAL_RETRY_DELAY=1.5", "MAX_RETRY_DELAY=3", "JITTER=0.01",
                       "DEFAULT_COOLDOWN_TIME_SECONDS=1", "DEFAULT_FAILURE_THRESHOLD_PERCENT=0.2",
                       "DEFAULT_FAILURE_THRESHOLD_MINIMUM_REQUESTS=2",
                       "SINGLE_DEPLOYMENT_TRAFFIC_FAILURE_THRESHOLD=50", NULL},
             GROUP);
    router = weir_snapshot_router(kit.config->snapshot);
    assert_int_equal(router->initial_retry_delay_ns, 1500000000);
    assert_int_equal(router->max_retry_delay_ns, UINT64_C(3000000000));
    assert_int_equal(router->jitter_ns, 10000000);
    assert_int_equal(router->cooldown_ns, 1000000000);
    assert_true(router->failure_threshold > 0.19 && router->failure_threshold < 0.21);
    assert_int_equal(router->failure_min_requests, 2);
    assert_int_equal(router->single_failure_minimum, 50);
    kit_free(&kit);
}

static void test_a_constant_that_is_no_number_refuses(void **state)
{
    struct kit kit;

    (void)state;
    kit_load(&kit, (kit_env){"JITTER=much", NULL}, GROUP);
    assert_int_equal(kit.rv, WEIR_CONFIG_REFUSED);
    kit_expect(&kit, 0, "JITTER", "error", "a number of seconds");
    kit_free(&kit);
}

static void test_numbers_and_booleans_in_quotes(void **state)
{
    struct kit kit;

    (void)state;
    kit_load(&kit, NULL,
             GROUP
             "router_settings: {num_retries: '3', timeout: \"0.5\", disable_cooldowns: 'yes', allowed_fails: "
             "2.0}\n"
             "general_settings: {cancel_on_disconnect: 'true', include_call_id_in_error_body: 1}\n"
             "weir_settings: {max_body_bytes: 1MiB, max_head_bytes: '2048', stream_buffer_bytes: 8192}\n");
    kit_expect_count(&kit, 0);
    assert_int_equal(kit.config->settings.router_num_retries, 3);
    assert_int_equal(kit.config->settings.router_timeout_ns, 500000000);
    assert_true(kit.config->settings.disable_cooldowns);
    assert_int_equal(kit.config->settings.router_allowed_fails, 2);
    assert_true(kit.config->settings.cancel_on_disconnect);
    assert_true(kit.config->settings.call_id_in_errors);
    assert_int_equal(kit.config->settings.max_body_bytes, 1024 * 1024);
    assert_int_equal(kit.config->settings.max_head_bytes, 2048);
    kit_free(&kit);
}

static void test_a_log_that_is_off_needs_no_quotes(void **state)
{
    static const char *const off[] = {"off", "'off'", "no"};
    struct kit kit;

    (void)state;
    for (size_t i = 0; i < sizeof(off) / sizeof(*off); i++) {
        char text[128];

        (void)snprintf(text, sizeof(text), "model_list: []\nweir_settings: {access_log: %s, event_log: %s}\n",
                       off[i], off[i]);
        kit_load(&kit, NULL, text);
        kit_expect_count(&kit, 1); /* there is no deployment */
        assert_slice_is(kit.config->settings.access_log, "off");
        assert_slice_is(kit.config->settings.event_log, "off");
        kit_free(&kit);
    }
    kit_load(&kit, NULL, "model_list: []\nweir_settings: {event_log: on}\n");
    kit_expect(&kit, 2, "weir_settings.event_log", "error", "expected stdout, stderr, off, or the path");
    kit_free(&kit);
}

static void test_wrong_values_refuse_and_all_are_told(void **state)
{
    struct kit kit;

    (void)state;
    kit_load(&kit, NULL,
             GROUP "router_settings:\n"
                   "  num_retries: many\n"
                   "  timeout: 30s\n"
                   "  cooldown_time: -1\n"
                   "  disable_cooldowns: perhaps\n"
                   "  retry_policy: {RateLimitErrorRetries: -1}\n"
                   "  allowed_fails: 1.5\n"
                   "weir_settings:\n"
                   "  access_log_format: xml\n"
                   "  max_header_count: 2\n");
    assert_int_equal(kit.rv, WEIR_CONFIG_REFUSED);
    kit_expect_count(&kit, 8);
    kit_expect(&kit, 3, "router_settings.num_retries", "error", "found text `many`, expected a whole number");
    kit_expect(&kit, 4, "router_settings.timeout", "error", "a number of seconds from 0.001");
    kit_expect(&kit, 5, "router_settings.cooldown_time", "error", "from 0 to");
    kit_expect(&kit, 6, "router_settings.disable_cooldowns", "error", "true or false");
    kit_expect(&kit, 7, "router_settings.retry_policy.RateLimitErrorRetries", "error", "a whole number");
    kit_expect(&kit, 8, "router_settings.allowed_fails", "error", "a whole number");
    kit_expect(&kit, 10, "weir_settings.access_log_format", "error", "json or logfmt");
    kit_expect(&kit, 11, "weir_settings.max_header_count", "error", "from 8 to 1000");
    kit_free(&kit);
}

static void test_an_unknown_strategy_refuses_and_names_the_valid_ones(void **state)
{
    struct kit kit;

    (void)state;
    kit_load(&kit, NULL, GROUP "router_settings: {routing_strategy: quickest}\n");
    assert_int_equal(kit.rv, WEIR_CONFIG_REFUSED);
    kit_expect(&kit, 2, "router_settings.routing_strategy", "error",
               "`quickest`, expected one of simple-shuffle, least-busy");
    kit_free(&kit);
}

static void test_keys_that_are_not_read(void **state)
{
    struct kit kit;

    (void)state;
    kit_load(&kit, NULL,
             GROUP "x-mine: {anything: goes}\n"
                   "routers_settings: {}\n"
                   "nonsense: 1\n"
                   "guardrails: []\n"
                   "router_settings:\n"
                   "  num_retrys: 1\n"
                   "  drop_params: true\n"
                   "  plugins: []\n"
                   "  provider_budget_config: {}\n"
                   "  zzzzzzzzzzz: 1\n"
                   "  retry_policy: {TimeoutErrorRetry: 1, Nonsense: 2}\n"
                   "litellm_settings:\n"
                   "  allowed_fails: 2\n");
    assert_int_equal(kit.rv, 0);
    kit_expect(&kit, 3, "routers_settings", "warning", "did you mean router_settings?");
    kit_expect(&kit, 4, "nonsense", "warning", "unknown key");
    kit_expect(&kit, 5, "guardrails", "warning", "known, not supported");
    kit_expect(&kit, 7, "router_settings.num_retrys", "warning", "did you mean num_retries?");
    kit_expect(&kit, 8, "router_settings.drop_params", "warning", "belongs in litellm_settings");
    kit_expect(&kit, 9, "router_settings.plugins", "warning", "Python library");
    kit_expect(&kit, 10, "router_settings.provider_budget_config", "warning", "known, not supported");
    kit_expect(&kit, 11, "router_settings.zzzzzzzzzzz", "warning", "unknown key, not read");
    kit_expect(&kit, 12, "router_settings.retry_policy.TimeoutErrorRetry", "warning",
               "did you mean TimeoutErrorRetries?");
    kit_expect(&kit, 12, "router_settings.retry_policy.Nonsense", "warning", "unknown key");
    kit_expect(&kit, 14, "litellm_settings.allowed_fails", "warning", "no effect by itself");
    kit_expect_count(&kit, 11);
    assert_int_equal(weir_snapshot_router(kit.config->snapshot)->allowed_fails, WEIR_UNSET);
    kit_free(&kit);
}

static void test_a_section_that_is_no_map_refuses(void **state)
{
    static const char *const sections[] = {"router_settings", "litellm_settings", "general_settings",
                                           "weir_settings", "environment_variables"};

    (void)state;
    for (size_t i = 0; i < sizeof(sections) / sizeof(*sections); i++) {
        struct kit kit;
        char text[256];

        snprintf(text, sizeof(text), GROUP "%s: [a]\n", sections[i]);
        kit_load(&kit, NULL, text);
        assert_int_equal(kit.rv, WEIR_CONFIG_REFUSED);
        kit_expect(&kit, 2, sections[i], "error", "found a list, expected a map");
        kit_free(&kit);
    }
}

static void test_the_master_key_of_the_environment_stands_in(void **state)
{
    struct kit kit;

    (void)state;
    kit_load(&kit, (kit_env){"LITELLM_MASTER_KEY=sk-env", NULL}, GROUP);
    assert_slice_is(kit.config->settings.master_key, "sk-env");
    kit_free(&kit);
    kit_load(&kit, (kit_env){"LITELLM_MASTER_KEY=sk-env", NULL},
             GROUP "general_settings: {master_key: sk-file}\n");
    assert_slice_is(kit.config->settings.master_key, "sk-file");
    kit_free(&kit);
}

static void test_the_word_that_opens_other_addresses_may_stand_in_the_environment(void **state)
{
    struct kit kit;

    (void)state;
    kit_load(&kit, (kit_env){"LITELLM_DANGEROUSLY_PERMIT_WEAK_OR_UNSET_MASTER_KEY=true", NULL}, GROUP);
    assert_true(kit.config->settings.permit_no_master_key);
    kit_free(&kit);
}

static void test_verification_of_certificates_comes_from_the_first_that_says(void **state)
{
    struct kit kit;

    (void)state;
    kit_load(&kit, NULL, GROUP "litellm_settings: {ssl_verify: false}\n");
    assert_false(kit.config->settings.ssl_verify);
    kit_free(&kit);
    kit_load(&kit, NULL, GROUP "litellm_settings: {ssl_verify: false}\nweir_settings: {ssl_verify: true}\n");
    assert_true(kit.config->settings.ssl_verify);
    kit_free(&kit);
    kit_load(&kit, (kit_env){"SSL_CERT_FILE=/etc/ca.pem", NULL},
             GROUP "litellm_settings: {ssl_verify: /etc/own.pem}\n");
    assert_true(kit.config->settings.ssl_verify);
    assert_slice_is(kit.config->settings.ca_file, "/etc/own.pem");
    kit_free(&kit);
    kit_load(&kit, (kit_env){"SSL_CERT_FILE=/etc/ca.pem", "SSL_VERIFY=False", NULL}, GROUP);
    assert_false(kit.config->settings.ssl_verify);
    assert_slice_is(kit.config->settings.ca_file, "/etc/ca.pem");
    kit_free(&kit);
}

static void test_an_empty_value_is_no_value(void **state)
{
    struct kit kit;

    (void)state;
    kit_load(&kit, NULL,
             GROUP "router_settings:\n  num_retries:\n  timeout: ~\n  fallbacks: []\n  retry_policy: {}\n"
                   "  model_group_alias: null\n"
                   "litellm_settings:\ngeneral_settings: {}\nenvironment_variables:\n");
    kit_expect_count(&kit, 0);
    assert_int_equal(weir_snapshot_router(kit.config->snapshot)->num_retries, 2);
    kit_free(&kit);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_defaults),
        cmocka_unit_test(test_the_router_beats_the_process_and_that_the_constant),
        cmocka_unit_test(test_constants_from_the_environment),
        cmocka_unit_test(test_a_constant_that_is_no_number_refuses),
        cmocka_unit_test(test_numbers_and_booleans_in_quotes),
        cmocka_unit_test(test_a_log_that_is_off_needs_no_quotes),
        cmocka_unit_test(test_wrong_values_refuse_and_all_are_told),
        cmocka_unit_test(test_an_unknown_strategy_refuses_and_names_the_valid_ones),
        cmocka_unit_test(test_keys_that_are_not_read),
        cmocka_unit_test(test_a_section_that_is_no_map_refuses),
        cmocka_unit_test(test_the_master_key_of_the_environment_stands_in),
        cmocka_unit_test(test_the_word_that_opens_other_addresses_may_stand_in_the_environment),
        cmocka_unit_test(test_verification_of_certificates_comes_from_the_first_that_says),
        cmocka_unit_test(test_an_empty_value_is_no_value),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
