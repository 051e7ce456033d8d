/* Entries of model_list: what they become, and which are left out (RS 2.1 to 2.3). */
#include "kit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "provider/endpoint.h"
#include "provider/fields.h"

#define GOOD                                                                                                 \
    "model_list:\n"                                                                                          \
    "- {model_name: good, litellm_params: {model: openai/m, api_base: 'http://a.example', api_key: k}}\n"

static void test_bad_entries_are_left_out_with_one_error_each(void **state)
{
    static const struct {
        const char *entry;
        const char *path;
        const char *words;
    } cases[] = {
        {"- {model_name: x, litellm_params: {api_key: k}}", "model_list[1]", "no model;"},
        {"- {litellm_params: {model: openai/m}}", "model_list[1]", "no model_name"},
        {"- {model_name: x}", "model_list[1]", "no litellm_params"},
        {"- {model_name: x, litellm_params: {}}", "model_list[1]", "litellm_params is empty"},
        {"- {model_name: x, litellm_params: text}", "model_list[1].litellm_params", "found text"},
        {"- {model_name: x, litellm_params: {model: openai/m}, model_info: [a]}", "model_list[1].model_info",
         "found a list"},
        {"- {model_name: yes, litellm_params: {model: openai/m}}", "model_list[1].model_name", "in quotes"},
        {"- {model_name: 12, litellm_params: {model: openai/m}}", "model_list[1].model_name", "in quotes"},
        {"- {model_name: 2024-10-21, litellm_params: {model: openai/m}}", "model_list[1].model_name",
         "found a date `2024-10-21`, expected text; write it in quotes"},
        {"- {model_name: x, litellm_params: {model: openai/m, rpm: lots}}",
         "model_list[1].litellm_params.rpm", "a whole number"},
        {"- {model_name: x, litellm_params: {model: openai/m, tpm: 1e6}}", "model_list[1].litellm_params.tpm",
         "`1e6`"},
        {"- {model_name: x, litellm_params: {model: openai/m, weight: -1}}",
         "model_list[1].litellm_params.weight", "a number from 0"},
        {"- {model_name: x, litellm_params: {model: openai/m, order: 1.5}}",
         "model_list[1].litellm_params.order", "a whole number"},
        {"- {model_name: x, litellm_params: {model: openai/m, timeout: [1]}}",
         "model_list[1].litellm_params.timeout", "found a list"},
        {"- {model_name: x, litellm_params: {model: nobody-knows}}", "model_list[1].litellm_params.model",
         "no provider is known for `nobody-knows`"},
        {"- {model_name: x, litellm_params: {model: bedrock/m}}", "model_list[1].litellm_params.model",
         "no dialect for the provider bedrock"},
        {"- {model_name: x, litellm_params: {model: hosted_vllm/m}}", "model_list[1].litellm_params.api_base",
         "api_base"},
        {"- {model_name: x, litellm_params: {model: openai/m, api_base: 'ftp://a'}}",
         "model_list[1].litellm_params.api_base", "api_base"},
        {"- {model_name: x, litellm_params: {model: openai/m, extra_headers: [a]}}",
         "model_list[1].litellm_params.extra_headers", "map of header names"},
        {"- {model_name: x, litellm_params: {model: openai/m, litellm_credential_name: nowhere}}",
         "model_list[1].litellm_params.litellm_credential_name", "credential_list"},
        {"- {model_name: x, litellm_params: {model: openai/m}, model_info: {allowed_fails_policy: 3}}",
         "model_list[1].model_info.allowed_fails_policy", "a map of failures"},
        {"- {model_name: x, litellm_params: {model: openai/m, custom_llm_provider: nobody}}",
         "model_list[1].litellm_params.custom_llm_provider", "no provider is called `nobody`"},
        {"- {model_name: x, litellm_params: {model: openai/m, organization: \"a\\nb\"}}",
         "model_list[1].litellm_params.organization", "a line end"},
        {"- {model_name: x, litellm_params: {model: openai/m, api_key: \"a\\r\\nb\"}}",
         "model_list[1].litellm_params.api_key", "a line end"},
        {"- text", "model_list[1]", "found text, expected a map"},
        {"-", "model_list[1]", "found nothing, expected a map"},
        {"- {model_name: x, litellm_params: {model: sim/m, sim_error: odd}}",
         "model_list[1].litellm_params.sim_error", "no kind of failure"},
        {"- {model_name: x, litellm_params: {model: sim/m, sim_error_ratio: 2}}",
         "model_list[1].litellm_params.sim_error_ratio", "from 0 to 1"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        struct kit kit;
        char text[1024];

        snprintf(text, sizeof(text), GOOD "%s\n", cases[i].entry);
        kit_load(&kit, NULL, text);
        assert_int_equal(kit.rv, 0);
        kit_expect_count(&kit, 1);
        kit_expect(&kit, 3, cases[i].path, "error", cases[i].words);
        kit_expect(&kit, 3, cases[i].path, "error", "the entry is skipped");
        assert_int_equal(kit.config->deployment_count, 1);
        assert_int_equal(kit.config->skipped + kit.config->unserved_count, 1);
        kit_free(&kit);
    }
}

static void test_params_that_stand_beside_their_key(void **state)
{
    struct kit kit;

    (void)state;
    kit_load(&kit, NULL, GOOD "- model_name: flat\n  litellm_params:\n  model: openai/flat\n  api_key: k\n");
    kit_expect_count(&kit, 1);
    kit_expect(&kit, 3, "model_list[1]", "error", "more indentation, from model");
    kit_free(&kit);
}

static void test_a_bad_entry_refuses_where_that_is_asked_for(void **state)
{
    struct kit kit;

    (void)state;
    kit_load(&kit, NULL, GOOD "- text\nrouter_settings: {ignore_invalid_deployments: false}\n");
    assert_int_equal(kit.rv, WEIR_CONFIG_REFUSED);
    kit_free(&kit);
}

static void test_without_a_deployment_it_loads_and_says_so(void **state)
{
    static const char *const texts[] = {"model_list: []\n", "model_list:\n",
                                        "router_settings: {num_retries: 1}\n"};

    (void)state;
    for (size_t i = 0; i < sizeof(texts) / sizeof(*texts); i++) {
        struct kit kit;

        kit_load(&kit, NULL, texts[i]);
        assert_int_equal(kit.rv, 0);
        kit_expect(&kit, 1, "model_list", "warning", "no deployment to serve");
        kit_free(&kit);
    }
}

static void test_keys_that_are_not_read(void **state)
{
    struct kit kit;

    (void)state;
    kit_load(&kit, NULL,
             "model_list:\n"
             "- model_name: g\n"
             "  rpm_limit: 3\n"
             "  timeout: 3\n"
             "  general_settings: {}\n"
             "  model_infos: {}\n"
             "  litellm_params:\n"
             "    model: openai/m\n"
             "    api_base: http://a.example\n"
             "    temperature: 0\n"
             "    some_vendor_switch: on\n"
             "    tiemout: 3\n"
             "    allowed_fails: 3\n"
             "    silent_model: [a]\n"
             "    max_retries: 2\n"
             "  model_info: {mode: chat, my_own: 1, blokced: true, team_id: t}\n"
             "- {model_name: g, litellm_params: {model: openai/m, silent_model: [b]}}\n");
    kit_expect(&kit, 3, "model_list[0].rpm_limit", "warning", "unknown key");
    kit_expect(&kit, 4, "model_list[0].timeout", "warning", "belongs in litellm_params");
    kit_expect(&kit, 5, "model_list[0].general_settings", "warning", "belongs in the top level");
    kit_expect(&kit, 6, "model_list[0].model_infos", "warning", "did you mean model_info?");
    kit_expect(&kit, 12, "model_list[0].litellm_params.tiemout", "warning", "did you mean timeout?");
    kit_expect(&kit, 13, "model_list[0].litellm_params.allowed_fails", "warning", "belongs in model_info");
    kit_expect(&kit, 14, "model_list[0].litellm_params.silent_model", "warning", "known, not supported");
    kit_expect(&kit, 15, "model_list[0].litellm_params.max_retries", "warning", "the only retry loop");
    kit_expect(&kit, 16, "model_list[0].model_info.blokced", "warning", "did you mean blocked?");
    kit_expect(&kit, 16, "model_list[0].model_info.team_id", "warning", "known, not supported");
    kit_expect_count(&kit, 10);
    kit_free(&kit);
}

static void test_arguments_of_the_provider(void **state)
{
    const struct weir_endpoint *endpoint;
    struct kit kit;

    (void)state;
    kit_load(&kit, NULL,
             "model_list:\n"
             "- model_name: g\n"
             "  litellm_params:\n"
             "    model: openai/m\n"
             "    api_base: http://a.example/v1\n"
             "    temperature: 0.20\n"
             "    stop: null\n"
             "    thinking: {type: enabled, budget_tokens: 2048}\n"
             "    max_tokens: 10\n"
             "    extra_body: {a: [1]}\n"
             "    extra_headers: {X-A: b, X-N: 1, X-None: ~, 'no good': x, X-Bad: \"a\\nb\"}\n"
             "    mock_response: {choices: []}\n"
             "router_settings: {default_litellm_params: {max_tokens: 77, seed: 1, timeout: 3}}\n");
    endpoint = kit_deployment(&kit, "g", 0)->endpoint;
    assert_slice_is(endpoint->defaults,
                    "{\"max_tokens\":77,\"seed\":1,\"temperature\":0.20,\"thinking\":{\"type\":"
                    "\"enabled\",\"budget_tokens\":2048}}");
    assert_slice_is(endpoint->extra_body, "{\"a\":[1]}");
    assert_slice_is(endpoint->mock_response, "{\"choices\":[]}");
    assert_int_equal(endpoint->header_count, 2);
    assert_slice_is(endpoint->headers[1].name, "X-N");
    assert_slice_is(endpoint->headers[1].value, "1");
    kit_expect(&kit, 11, "model_list[0].litellm_params.extra_headers.no good", "warning", "cannot be sent");
    kit_expect(&kit, 11, "model_list[0].litellm_params.extra_headers.X-Bad", "warning", "cannot be sent");
    kit_expect(&kit, 13, "router_settings.default_litellm_params.timeout", "warning", "no effect");
    kit_expect_count(&kit, 3);
    kit_free(&kit);
}

static void test_address_and_key_come_from_the_providers_variables(void **state)
{
    const struct weir_endpoint *endpoint;
    struct kit kit;

    (void)state;
    kit_load(&kit, (kit_env){"OPENAI_API_KEY=sk-env", "GROQ_API_KEY=gk", NULL},
             "model_list:\n"
             "- {model_name: g, litellm_params: {model: gpt-4o}}\n"
             "- {model_name: h, litellm_params: {model: groq/llama, api_key: own}}\n"
             "- {model_name: i, litellm_params: {model: anything, custom_llm_provider: openai}}\n");
    kit_expect_count(&kit, 0);
    endpoint = kit_deployment(&kit, "g", 0)->endpoint;
    assert_slice_is(endpoint->api_key, "sk-env");
    assert_slice_is(endpoint->host, "api.openai.com");
    assert_slice_is(kit_deployment(&kit, "h", 0)->endpoint->api_key, "own");
    assert_slice_is(kit_deployment(&kit, "i", 0)->endpoint->name, "anything");
    kit_free(&kit);
}

static void test_a_credential_fills_in_what_is_not_written(void **state)
{
    struct kit kit;

    (void)state;
    kit_load(&kit, (kit_env){"K=from-env", NULL},
             "credential_list:\n"
             "- credential_name: north\n"
             "  credential_values: {api_base: 'https://north.example', api_key: os.environ/K, api_version: "
             "'2024-10-21'}\n"
             "model_list:\n"
             "- {model_name: g, litellm_params: {model: azure/m, litellm_credential_name: north}}\n"
             "- {model_name: h, litellm_params: {model: azure/m, litellm_credential_name: north, api_key: "
             "own, api_base: ~}}\n");
    kit_expect_count(&kit, 0);
    assert_slice_is(kit_deployment(&kit, "g", 0)->endpoint->api_key, "from-env");
    assert_slice_is(kit_deployment(&kit, "g", 0)->endpoint->api_version, "2024-10-21");
    assert_slice_is(kit_deployment(&kit, "g", 0)->endpoint->host, "north.example");
    assert_slice_is(kit_deployment(&kit, "h", 0)->endpoint->api_key, "own");
    assert_slice_is(kit_deployment(&kit, "h", 0)->endpoint->host, "north.example");
    kit_free(&kit);
}

static void test_ids_without_one_are_stable_and_unique(void **state)
{
    struct kit one, two;

    (void)state;
    kit_load(&one, NULL,
             GOOD "- {model_name: good, litellm_params: {model: openai/m, api_base: 'http://a.example', "
                  "api_key: k}}\n");
    kit_load(&two, (kit_env){"UNUSED=1", NULL}, GOOD);
    assert_int_equal(one.config->deployment_count, 2);
    assert_int_equal(one.config->deployments[0]->id.len, 64);
    assert_true(weir_slice_eq(one.config->deployments[0]->id, two.config->deployments[0]->id));
    assert_false(weir_slice_eq(one.config->deployments[0]->id, one.config->deployments[1]->id));
    kit_free(&one);
    kit_free(&two);
}

static void test_thousands_of_equal_entries_load_with_an_id_each(void **state)
{
    enum { EQUAL = 2000 };
    static const char *const entry = "- {model_name: g, litellm_params: {model: openai/m, api_key: k}}\n";
    size_t len = strlen(entry), at = strlen("model_list:\n");
    char *text = malloc(at + EQUAL * len + 1);
    struct kit kit;

    (void)state;
    assert_non_null(text);
    memcpy(text, "model_list:\n", at);
    for (size_t i = 0; i < EQUAL; i++, at += len)
        memcpy(text + at, entry, len);
    text[at] = '\0';
    kit_load(&kit, NULL, text);
    assert_int_equal(kit.rv, 0);
    assert_int_equal(kit.config->deployment_count, EQUAL);
    kit_free(&kit);
    free(text);
}

static void test_an_id_does_not_change_with_the_value_of_a_key(void **state)
{
    static const char *const text =
        "model_list:\n- {model_name: g, litellm_params: {model: openai/m, api_key: os.environ/K}}\n";
    struct kit one, two;

    (void)state;
    kit_load(&one, (kit_env){"K=old", NULL}, text);
    kit_load(&two, (kit_env){"K=new", NULL}, text);
    assert_true(weir_slice_eq(one.config->deployments[0]->id, two.config->deployments[0]->id));
    kit_free(&one);
    kit_free(&two);
}

static void test_an_id_that_is_taken_leaves_the_entry_out(void **state)
{
    struct kit kit;

    (void)state;
    kit_load(&kit, NULL,
             "model_list:\n"
             "- {model_name: g, litellm_params: {model: openai/m}, model_info: {id: one}}\n"
             "- {model_name: h, litellm_params: {model: openai/m}, model_info: {id: one}}\n");
    kit_expect_count(&kit, 1);
    kit_expect(&kit, 3, "model_list[1].model_info.id", "error", "taken by the entry in line 2");
    kit_free(&kit);
}

static void test_what_is_shown_of_a_deployment_holds_no_secret(void **state)
{
    const struct weir_config_deployment *deployment;
    struct kit kit;

    (void)state;
    kit_load(&kit, (kit_env){"BASE=http://hidden.example", "T=hush", NULL},
             "model_list:\n"
             "- model_name: g\n"
             "  litellm_params:\n"
             "    model: openai/m\n"
             "    api_base: os.environ/BASE\n"
             "    api_key: hush\n"
             "    aws_secret_access_key: hush\n"
             "    vertex_credentials: hush\n"
             "    user: os.environ/T\n"
             "    max_tokens: 3\n"
             "    extra_headers: {Authorization: hush}\n"
             "    extra_body: {inner: {client_secret: hush, kept: 1}}\n"
             "  model_info: {id: i, mode: chat}\n");
    deployment = kit_deployment(&kit, "g", 0);
    assert_false(weir_slice_has(deployment->info, WEIR_SLICE("hush")));
    assert_false(weir_slice_has(deployment->info, WEIR_SLICE("hidden")));
    assert_slice_is(
        deployment->info,
        "{\"model_name\":\"g\",\"litellm_params\":{\"api_base\":\"os.environ/BASE\",\"model\":\"openai/m\","
        "\"user\":\"os.environ/T\",\"max_tokens\":3,\"extra_body\":{\"inner\":{\"kept\":1}}},"
        "\"model_info\":{\"id\":\"i\",\"mode\":\"chat\"}}");
    kit_free(&kit);
}

static void test_defaults_of_every_call_beat_a_deployments_own(void **state)
{
    const struct weir_config_deployment *deployment;
    struct kit kit;

    (void)state;
    kit_load(&kit, NULL,
             "router_settings:\n"
             "  default_litellm_params:\n"
             "    api_key: everywhere\n"
             "    extra_headers: {X-A: b}\n"
             "    extra_body: {top_k: 5}\n"
             "    stream_timeout: 2\n"
             "    weight: 9\n"
             "    temperature: null\n"
             "model_list:\n"
             "- model_name: g\n"
             "  litellm_params: {model: openai/m, api_key: own, extra_headers: {X-B: c}, weight: 3, "
             "temperature: 1}\n");
    deployment = kit_deployment(&kit, "g", 0);
    assert_slice_is(deployment->endpoint->api_key, "everywhere");
    assert_int_equal(deployment->endpoint->header_count, 1);
    assert_slice_is(deployment->endpoint->headers[0].name, "X-A");
    assert_slice_is(deployment->endpoint->extra_body, "{\"top_k\":5}");
    assert_slice_is(deployment->endpoint->defaults, "{\"temperature\":1}");
    kit_expect_count(&kit, 1);
    kit_expect(&kit, 7, "router_settings.default_litellm_params.weight", "warning", "no effect");
    kit_free(&kit);
}

static void test_misplaced_settings_are_no_arguments(void **state)
{
    struct kit kit;

    (void)state;
    kit_load(&kit, NULL,
             "router_settings: {default_litellm_params: {retry_policy: {}, seed: 7}}\n"
             "model_list:\n"
             "- model_name: g\n"
             "  litellm_params: {model: openai/m, allowed_fails: 2, fallbacks: [], model_info: {}, plugins: "
             "[web]}\n");
    assert_slice_is(kit_deployment(&kit, "g", 0)->endpoint->defaults, "{\"seed\":7,\"plugins\":[\"web\"]}");
    kit_free(&kit);
}

static void test_fields_that_a_request_may_bring(void **state)
{
    struct kit kit;

    (void)state;
    kit_load(&kit, NULL,
             "model_list:\n"
             "- model_name: g\n"
             "  litellm_params: {model: openai/m, configurable_clientside_auth_params: [api_key, api_base, "
             "nonsense]}\n");
    assert_int_equal(kit_deployment(&kit, "g", 0)->endpoint->caller_places,
                     WEIR_PLACE_BIT(WEIR_PLACE_KEY) | WEIR_PLACE_BIT(WEIR_PLACE_BASE));
    kit_expect_count(&kit, 1);
    kit_expect(&kit, 3, "model_list[0].litellm_params.configurable_clientside_auth_params[2]", "warning",
               "not allowed");
    kit_free(&kit);
}

static void test_a_setting_lets_requests_bring_every_such_field(void **state)
{
    struct kit kit;

    (void)state;
    kit_load(&kit, NULL,
             "general_settings: {allow_client_side_credentials: true}\n"
             "model_list:\n"
             "- model_name: g\n"
             "  litellm_params: {model: openai/m, configurable_clientside_auth_params: [api_key]}\n");
    assert_int_equal(kit_deployment(&kit, "g", 0)->endpoint->caller_places, WEIR_PLACE_ALL);
    kit_free(&kit);
}

static void test_the_built_in_provider(void **state)
{
    const struct weir_sim *sim;
    struct kit kit;

    (void)state;
    kit_load(&kit, NULL,
             "model_list:\n"
             "- model_name: g\n"
             "  litellm_params: {model: sim/m, sim_text: hi there, sim_tokens_per_second: 20, "
             "sim_first_token_delay: 0.5,\n"
             "    sim_error: rate_limit, sim_error_ratio: 0.25, sim_retry_after: 3, sim_break_after: 4}\n");
    kit_expect_count(&kit, 0);
    sim = kit_deployment(&kit, "g", 0)->endpoint->sim;
    assert_slice_is(sim->text, "hi there");
    assert_int_equal(sim->first_token_delay_ns, 500000000);
    assert_true(sim->fails);
    assert_int_equal(sim->error, WEIR_KIND_RATE_LIMIT);
    assert_int_equal(sim->retry_after_ns, UINT64_C(3000000000));
    assert_int_equal(sim->break_after_tokens, 4);
    kit_free(&kit);
}

static void test_an_address_with_a_variable_in_it_loads_and_fails_when_called(void **state)
{
    struct kit kit;

    (void)state;
    kit_load(
        &kit, NULL,
        "model_list:\n- {model_name: g, litellm_params: {model: openai/m, api_base: '${BASE:-x}/v1'}}\n");
    kit_expect_count(&kit, 1);
    assert_slice_is(kit_deployment(&kit, "g", 0)->endpoint->host, "unset.invalid");
    kit_free(&kit);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_bad_entries_are_left_out_with_one_error_each),
        cmocka_unit_test(test_params_that_stand_beside_their_key),
        cmocka_unit_test(test_a_bad_entry_refuses_where_that_is_asked_for),
        cmocka_unit_test(test_without_a_deployment_it_loads_and_says_so),
        cmocka_unit_test(test_keys_that_are_not_read),
        cmocka_unit_test(test_arguments_of_the_provider),
        cmocka_unit_test(test_address_and_key_come_from_the_providers_variables),
        cmocka_unit_test(test_a_credential_fills_in_what_is_not_written),
        cmocka_unit_test(test_ids_without_one_are_stable_and_unique),
        cmocka_unit_test(test_thousands_of_equal_entries_load_with_an_id_each),
        cmocka_unit_test(test_an_id_does_not_change_with_the_value_of_a_key),
        cmocka_unit_test(test_an_id_that_is_taken_leaves_the_entry_out),
        cmocka_unit_test(test_what_is_shown_of_a_deployment_holds_no_secret),
        cmocka_unit_test(test_defaults_of_every_call_beat_a_deployments_own),
        cmocka_unit_test(test_misplaced_settings_are_no_arguments),
        cmocka_unit_test(test_fields_that_a_request_may_bring),
        cmocka_unit_test(test_a_setting_lets_requests_bring_every_such_field),
        cmocka_unit_test(test_the_built_in_provider),
        cmocka_unit_test(test_an_address_with_a_variable_in_it_loads_and_fails_when_called),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
