/* Where traces go: the map otlp, the callback of LiteLLM, and what OpenTelemetry's variables add. */
#include "kit.h"

#include <stdio.h>
#include <string.h>

#define HEAD                                                                                                 \
    "model_list:\n"                                                                                          \
    "- model_name: g\n"                                                                                      \
    "  litellm_params: {model: openai/m, api_base: 'http://a.example', api_key: k}\n"

#define TYPE "Content-Type: application/x-protobuf\r\n"

static const struct weir_config_otlp *otlp_of(const struct kit *kit)
{
    assert_non_null(kit->config);
    return &kit->config->otlp;
}

static void load(struct kit *kit, const char *const *env, const char *otlp)
{
    char text[2048];

    (void)snprintf(text, sizeof(text), HEAD "weir_settings:\n  otlp: %s\n", otlp);
    kit_load(kit, env, text);
}

static void test_variables_alone_turn_nothing_on(void **state)
{
    struct kit kit;

    (void)state;
    kit_load(&kit,
             (kit_env){"OTEL_EXPORTER_OTLP_ENDPOINT=http://c:4318", "OTEL_TRACES_SAMPLER=no such",
                       "OTEL_EXPORTER_OTLP_TIMEOUT=soon", NULL},
             HEAD);
    kit_expect_count(&kit, 0);
    assert_false(otlp_of(&kit)->on);
    kit_free(&kit);
}

static void test_an_empty_map_sends_to_this_machine(void **state)
{
    struct kit kit;

    (void)state;
    load(&kit, NULL, "{}");
    kit_expect_count(&kit, 0);
    assert_true(otlp_of(&kit)->on);
    assert_slice_is(otlp_of(&kit)->url, "http://localhost:4318/v1/traces");
    assert_slice_is(otlp_of(&kit)->lines, TYPE);
    assert_slice_is(otlp_of(&kit)->service, "weir");
    assert_true(otlp_of(&kit)->sample >= 1 && otlp_of(&kit)->by_caller);
    assert_true(otlp_of(&kit)->timeout_ns == UINT64_C(10000000000));
    assert_true(otlp_of(&kit)->interval_ns == UINT64_C(5000000000));
    assert_int_equal(otlp_of(&kit)->queue_bytes, 8 << 20);
    assert_int_equal(otlp_of(&kit)->attribute_count, 0);
    kit_free(&kit);
}

static void test_the_settings_say_all_of_it(void **state)
{
    struct kit kit;

    (void)state;
    load(&kit,
         (kit_env){"OTEL_EXPORTER_OTLP_ENDPOINT=http://else", "OTEL_SERVICE_NAME=else",
                   "OTEL_EXPORTER_OTLP_HEADERS=x=else", "OTEL_RESOURCE_ATTRIBUTES=x=else",
                   "OTEL_TRACES_SAMPLER=always_off", "OTEL_EXPORTER_OTLP_TIMEOUT=1234", "KEY=s3", NULL},
         "{endpoint: 'https://c.example/otel/', headers: {x-key: os.environ/KEY, x-number: 3}, "
         "service_name: gate, resource_attributes: {deployment.environment.name: prod}, sample: 0.25, "
         "timeout: 2, interval: 0.5, queue_bytes: 1MiB}");
    kit_expect_count(&kit, 0);
    assert_slice_is(otlp_of(&kit)->url, "https://c.example/otel/v1/traces");
    assert_slice_is(otlp_of(&kit)->lines, TYPE "x-key: s3\r\nx-number: 3\r\n");
    assert_slice_is(otlp_of(&kit)->service, "gate");
    assert_int_equal(otlp_of(&kit)->attribute_count, 1);
    assert_slice_is(otlp_of(&kit)->attributes[0].name, "deployment.environment.name");
    assert_slice_is(otlp_of(&kit)->attributes[0].value, "prod");
    assert_true(otlp_of(&kit)->sample > 0.2 && otlp_of(&kit)->sample < 0.3 && otlp_of(&kit)->by_caller);
    assert_true(otlp_of(&kit)->timeout_ns == UINT64_C(2000000000));
    assert_true(otlp_of(&kit)->interval_ns == UINT64_C(500000000));
    assert_int_equal(otlp_of(&kit)->queue_bytes, 1 << 20);
    kit_free(&kit);
}

static void test_variables_fill_what_is_missing(void **state)
{
    struct kit kit;

    (void)state;
    load(&kit,
         (kit_env){"OTEL_EXPORTER_OTLP_ENDPOINT=http://c:4318",
                   "OTEL_EXPORTER_OTLP_HEADERS=Authorization=Basic%20abc%3D, x-b = c ,",
                   "OTEL_RESOURCE_ATTRIBUTES=service.name=by-attribute,team=a%2Cb",
                   "OTEL_TRACES_SAMPLER=parentbased_traceidratio", "OTEL_TRACES_SAMPLER_ARG=0.5",
                   "OTEL_EXPORTER_OTLP_TIMEOUT=2500", NULL},
         "{}");
    kit_expect_count(&kit, 0);
    assert_slice_is(otlp_of(&kit)->url, "http://c:4318/v1/traces");
    assert_slice_is(otlp_of(&kit)->lines, TYPE "Authorization: Basic abc=\r\nx-b: c\r\n");
    assert_slice_is(otlp_of(&kit)->service, "by-attribute");
    assert_int_equal(otlp_of(&kit)->attribute_count, 1);
    assert_slice_is(otlp_of(&kit)->attributes[0].value, "a,b");
    assert_true(otlp_of(&kit)->sample > 0.4 && otlp_of(&kit)->sample < 0.6 && otlp_of(&kit)->by_caller);
    assert_true(otlp_of(&kit)->timeout_ns == UINT64_C(2500000000));
    kit_free(&kit);
}

static void test_the_variables_of_traces_beat_those_of_all(void **state)
{
    struct kit kit;

    (void)state;
    load(&kit,
         (kit_env){"OTEL_EXPORTER_OTLP_ENDPOINT=http://c:4318",
                   "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT=http://t/as/is?k=1", "OTEL_EXPORTER_OTLP_HEADERS=a=1",
                   "OTEL_EXPORTER_OTLP_TRACES_HEADERS=b=2", "OTEL_SERVICE_NAME=named",
                   "OTEL_RESOURCE_ATTRIBUTES=service.name=not", NULL},
         "{}");
    kit_expect_count(&kit, 0);
    assert_slice_is(otlp_of(&kit)->url, "http://t/as/is?k=1");
    assert_slice_is(otlp_of(&kit)->lines, TYPE "b: 2\r\n");
    assert_slice_is(otlp_of(&kit)->service, "named");
    kit_free(&kit);
}

static void test_litellms_callback_and_variables_do(void **state)
{
    struct kit kit;

    (void)state;
    kit_load(&kit, (kit_env){"OTEL_ENDPOINT=http://c:4318/v1/traces", "OTEL_HEADERS=x=1", NULL},
             HEAD "litellm_settings: {callbacks: [prometheus, otel]}\n");
    kit_expect_count(&kit, 0);
    assert_slice_is(otlp_of(&kit)->url, "http://c:4318/v1/traces");
    assert_slice_is(otlp_of(&kit)->lines, TYPE "x: 1\r\n");
    kit_free(&kit);
    kit_load(&kit, NULL, HEAD "litellm_settings: {callbacks: otel}\n");
    assert_true(otlp_of(&kit)->on);
    kit_free(&kit);
    kit_load(&kit, NULL, HEAD "litellm_settings: {callbacks: [langfuse]}\n");
    kit_expect_count(&kit, 1);
    kit_expect(&kit, 4, "litellm_settings.callbacks[0]", "warning", "not supported");
    assert_false(otlp_of(&kit)->on);
    kit_free(&kit);
}

/* What people write in the other lists, with what is always there and what is not. */
static void test_the_other_lists_of_callbacks_are_read_alike(void **state)
{
    struct kit kit;

    (void)state;
    kit_load(&kit, NULL,
             HEAD "litellm_settings: {success_callback: [prometheus], failure_callback: prometheus, "
                  "service_callback: [prometheus_system]}\n");
    kit_expect_count(&kit, 0);
    assert_false(otlp_of(&kit)->on);
    kit_free(&kit);
    kit_load(&kit, NULL, HEAD "litellm_settings: {success_callback: [langfuse, otel]}\n");
    kit_expect_count(&kit, 1);
    kit_expect(&kit, 4, "litellm_settings.success_callback[0]", "warning", "not supported");
    assert_true(otlp_of(&kit)->on);
    kit_free(&kit);
    kit_load(&kit, NULL, HEAD "litellm_settings: {service_callback: [otel]}\n");
    kit_expect_count(&kit, 1);
    kit_expect(&kit, 4, "litellm_settings.service_callback[0]", "warning", "prometheus_system");
    assert_false(otlp_of(&kit)->on);
    kit_free(&kit);
}

static void test_samplers_have_names(void **state)
{
    static const struct {
        const char *name;
        double sample;
        bool by_caller;
    } samplers[] = {{"OTEL_TRACES_SAMPLER=always_on", 1, false},
                    {"OTEL_TRACES_SAMPLER=always_off", 0, false},
                    {"OTEL_TRACES_SAMPLER=traceidratio", 0.125, false},
                    {"OTEL_TRACES_SAMPLER=parentbased_always_on", 1, true},
                    {"OTEL_TRACES_SAMPLER=parentbased_always_off", 0, true},
                    {"OTEL_TRACES_SAMPLER=parentbased_traceidratio", 0.125, true}};
    struct kit kit;

    (void)state;
    for (size_t i = 0; i < sizeof(samplers) / sizeof(samplers[0]); i++) {
        load(&kit, (kit_env){samplers[i].name, "OTEL_TRACES_SAMPLER_ARG=0.125", NULL}, "{}");
        kit_expect_count(&kit, 0);
        assert_int_equal((int)(otlp_of(&kit)->sample * 1000), (int)(samplers[i].sample * 1000));
        assert_int_equal(otlp_of(&kit)->by_caller, samplers[i].by_caller);
        kit_free(&kit);
    }
    load(&kit, (kit_env){"OTEL_TRACES_SAMPLER=jaeger_remote", NULL}, "{}");
    kit_expect_count(&kit, 1);
    kit_expect_nowhere(&kit, "jaeger_remote");
    assert_true(otlp_of(&kit)->on && otlp_of(&kit)->sample >= 1);
    kit_free(&kit);
}

static void test_disabled_is_off(void **state)
{
    struct kit kit;

    (void)state;
    load(&kit, (kit_env){"OTEL_SDK_DISABLED=true", NULL}, "{endpoint: nonsense}");
    assert_false(otlp_of(&kit)->on);
    kit_free(&kit);
}

static void test_another_protocol_is_told(void **state)
{
    struct kit kit;

    (void)state;
    load(&kit, (kit_env){"OTEL_EXPORTER_OTLP_PROTOCOL=grpc", NULL}, "{}");
    kit_expect_count(&kit, 1);
    assert_true(otlp_of(&kit)->on);
    kit_free(&kit);
    load(&kit, (kit_env){"OTEL_EXPORTER_OTLP_PROTOCOL=http/protobuf", "OTEL_EXPORTER=otlp_http", NULL}, "{}");
    kit_expect_count(&kit, 0);
    kit_free(&kit);
    load(&kit, (kit_env){"OTEL_EXPORTER=otlp_grpc", NULL}, "{}");
    kit_expect_count(&kit, 1);
    kit_free(&kit);
}

static void test_the_port_of_grpc_is_told(void **state)
{
    struct kit kit;

    (void)state;
    load(&kit, NULL, "{endpoint: 'http://collector:4317'}");
    kit_expect_count(&kit, 1);
    kit_expect(&kit, 5, "weir_settings.otlp.endpoint", "warning", "4318");
    assert_true(otlp_of(&kit)->on);
    kit_free(&kit);
}

static void test_what_is_wrong_refuses_the_start_and_is_not_repeated(void **state)
{
    static const struct {
        const char *otlp;
        const char *path;
        const char *words;
    } bad[] = {
        {"{endpoint: 'ftp://s3cret/'}", "weir_settings.otlp.endpoint", "no URL"},
        {"{endpoint: 'http://u:s3cret@c/'}", "weir_settings.otlp.endpoint", "without a user"},
        {"{endpoint: 'http://c/?s3cret'}", "weir_settings.otlp.endpoint", "a query cannot stand here"},
        {"{traces_endpoint: 's3cret'}", "weir_settings.otlp.traces_endpoint", "no URL"},
        {"{headers: s3cret}", "weir_settings.otlp.headers", "not a list of header fields"},
        {"{headers: 'a=%s3cret'}", "weir_settings.otlp.headers", "not a list of header fields"},
        {"{headers: [s3cret]}", "weir_settings.otlp.headers", "not a list of header fields"},
        {"{headers: {a: [s3cret]}}", "weir_settings.otlp.headers", "not a list of header fields"},
        {"{headers: {host: s3cret}}", "weir_settings.otlp.headers", "none that HTTP itself uses"},
        {"{headers: {Content-Type: s3cret}}", "weir_settings.otlp.headers", "none that HTTP itself uses"},
        {"{headers: {a: \"s3cret\\r\\nb: c\"}}", "weir_settings.otlp.headers", "not a list"},
        {"{resource_attributes: {'': s3cret}}", "weir_settings.otlp.resource_attributes", "not a list"},
        {"{sample: 1.5}", "weir_settings.otlp.sample", "a number"},
        {"{timeout: 0}", "weir_settings.otlp.timeout", "a number of seconds"},
        {"{queue_bytes: 1KiB}", "weir_settings.otlp.queue_bytes", "bytes"},
        {"true", "weir_settings.otlp", "expected a map"},
    };
    struct kit kit;

    (void)state;
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        load(&kit, NULL, bad[i].otlp);
        assert_int_equal(kit.rv, WEIR_CONFIG_REFUSED);
        kit_expect(&kit, 5, bad[i].path, "error", bad[i].words);
        kit_expect_nowhere(&kit, "s3cret");
        kit_free(&kit);
    }
}

static void test_wrong_variables_refuse_the_start_where_traces_are_wanted(void **state)
{
    static const char *const bad[] = {"OTEL_EXPORTER_OTLP_ENDPOINT=s3cret",
                                      "OTEL_EXPORTER_OTLP_HEADERS=s3cret",
                                      "OTEL_EXPORTER_OTLP_TIMEOUT=s3cret", "OTEL_RESOURCE_ATTRIBUTES=s3cret",
                                      "OTEL_TRACES_SAMPLER_ARG=s3cret"};
    struct kit kit;

    (void)state;
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        load(&kit, (kit_env){bad[i], "OTEL_TRACES_SAMPLER=traceidratio", NULL}, "{}");
        assert_int_equal(kit.rv, WEIR_CONFIG_REFUSED);
        kit_expect_nowhere(&kit, "s3cret");
        kit_free(&kit);
    }
}

static void test_an_unknown_key_is_told(void **state)
{
    struct kit kit;

    (void)state;
    load(&kit, NULL, "{endpont: 'http://c'}");
    kit_expect(&kit, 5, "weir_settings.otlp.endpont", "warning", "endpoint");
    kit_free(&kit);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_variables_alone_turn_nothing_on),
        cmocka_unit_test(test_an_empty_map_sends_to_this_machine),
        cmocka_unit_test(test_the_settings_say_all_of_it),
        cmocka_unit_test(test_variables_fill_what_is_missing),
        cmocka_unit_test(test_the_variables_of_traces_beat_those_of_all),
        cmocka_unit_test(test_litellms_callback_and_variables_do),
        cmocka_unit_test(test_the_other_lists_of_callbacks_are_read_alike),
        cmocka_unit_test(test_samplers_have_names),
        cmocka_unit_test(test_disabled_is_off),
        cmocka_unit_test(test_another_protocol_is_told),
        cmocka_unit_test(test_the_port_of_grpc_is_told),
        cmocka_unit_test(test_what_is_wrong_refuses_the_start_and_is_not_repeated),
        cmocka_unit_test(test_wrong_variables_refuse_the_start_where_traces_are_wanted),
        cmocka_unit_test(test_an_unknown_key_is_told),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
