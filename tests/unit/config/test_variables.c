/* Environment variables: what is replaced, what is not, what a missing one means (decisions 22). */
#include "kit.h"

#include <stdio.h>

#include "provider/endpoint.h"

#define HEAD                                                                                                 \
    "model_list:\n"                                                                                          \
    "- model_name: g\n"                                                                                      \
    "  litellm_params: {model: openai/m, api_base: 'http://a.example', api_key: k}\n"

static void test_whole_values_of_keys_are_replaced(void **state)
{
    struct kit kit;

    (void)state;
    kit_load(
        &kit, (kit_env){"KEY=sk-1", "NAME=g", "N=4", "T=1.5", NULL},
        "model_list:\n"
        "- model_name: os.environ/NAME\n"
        "  litellm_params: {model: openai/m, api_base: 'http://a.example', api_key: \"os.environ/KEY\"}\n"
        "router_settings: {num_retries: os.environ/N, timeout: os.environ/T}\n");
    kit_expect_count(&kit, 0);
    assert_slice_is(kit_deployment(&kit, "g", 0)->endpoint->api_key, "sk-1");
    assert_int_equal(kit.config->settings.router_num_retries, 4);
    assert_int_equal(kit.config->settings.router_timeout_ns, 1500000000);
    assert_slice_is(kit_deployment(&kit, "g", 0)->written_group, "os.environ/NAME");
    kit_free(&kit);
}

static void test_values_at_any_depth_are_replaced_but_items_of_lists_are_not(void **state)
{
    struct kit kit;

    (void)state;
    kit_load(&kit, (kit_env){"V=deep", NULL},
             "model_list:\n"
             "- model_name: g\n"
             "  litellm_params:\n"
             "    model: openai/m\n"
             "    api_base: http://a.example\n"
             "    thing: {inner: {leaf: os.environ/V}, list: [os.environ/V, {leaf: os.environ/V}]}\n");
    assert_slice_is(
        kit_deployment(&kit, "g", 0)->endpoint->defaults,
        "{\"thing\":{\"inner\":{\"leaf\":\"deep\"},\"list\":[\"os.environ/V\",{\"leaf\":\"deep\"}]}}");
    kit_expect_count(&kit, 1);
    kit_expect(&kit, 6, "model_list[0].litellm_params.thing.list[0]", "warning", "item of a list");
    kit_free(&kit);
}

static void test_names_of_variables_may_be_unusual(void **state)
{
    struct kit kit;

    (void)state;
    kit_load(&kit, (kit_env){"MY-KEY=one", "2ND=two", NULL},
             HEAD "general_settings: {master_key: os.environ/MY-KEY, completion_model: os.environ/2ND}\n");
    kit_expect_count(&kit, 0);
    assert_slice_is(kit.config->settings.master_key, "one");
    assert_slice_is(kit.config->settings.completion_model, "two");
    kit_free(&kit);
}

static void test_near_misses_are_told(void **state)
{
    static const struct {
        const char *value;
        const char *words;
    } cases[] = {
        {"os.environ.NAME", "looks like os.environ/NAME"},
        {"environ/NAME", "looks like os.environ/NAME"},
        {"env/NAME", "looks like os.environ/NAME"},
        {"OS.ENVIRON/NAME", "looks like os.environ/NAME"},
        {"os.environ[NAME]", "write os.environ/NAME"},
        {"os.getenv(NAME)", "write os.environ/NAME"},
        {"${NAME}", "write os.environ/NAME"},
        {"${NAME:-other}", "write os.environ/NAME"},
        {"a${NAME}b", "write os.environ/NAME"},
        {"$NAME", "write os.environ/NAME"},
        {"Bearer os.environ/NAME", "inside a longer text"},
        {"os.environ/NAME/v1", "inside a longer text"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        struct kit kit;
        char text[512];

        snprintf(text, sizeof(text),
                 HEAD "  model_info: {id: i, blocked: no}\nrouter_settings:\n"
                      "  default_litellm_params: {user: '%s'}\n",
                 cases[i].value);
        kit_load(&kit, (kit_env){"NAME=x", NULL}, text);
        kit_expect_count(&kit, 1);
        kit_expect(&kit, 6, "router_settings.default_litellm_params.user", "warning", cases[i].words);
        kit_free(&kit);
    }
}

static void test_dollars_that_are_no_variables_are_left_alone(void **state)
{
    static const char *const values[] = {"pa$$word$1", "$", "$1", "costs $5", "${}", "a$NAME", "$NAME-b"};

    (void)state;
    for (size_t i = 0; i < sizeof(values) / sizeof(*values); i++) {
        struct kit kit;
        char text[512];

        snprintf(text, sizeof(text), HEAD "general_settings: {master_key: '%s'}\n", values[i]);
        kit_load(&kit, NULL, text);
        kit_expect_count(&kit, 0);
        assert_slice_is(kit.config->settings.master_key, values[i]);
        kit_free(&kit);
    }
}

static void test_a_missing_variable_counts_as_absent_with_a_warning(void **state)
{
    struct kit kit;

    (void)state;
    kit_load(&kit, (kit_env){"EMPTY=", NULL},
             HEAD "router_settings:\n  num_retries: os.environ/GONE\n  timeout: os.environ/EMPTY\n");
    kit_expect_count(&kit, 2);
    kit_expect(&kit, 5, "router_settings.num_retries", "warning", "variable GONE is not set");
    kit_expect(&kit, 6, "router_settings.timeout", "warning", "variable EMPTY is not set");
    assert_int_equal(kit.config->settings.router_num_retries, WEIR_UNSET);
    assert_int_equal(weir_snapshot_router(kit.config->snapshot)->num_retries, 2);
    kit_free(&kit);
}

static void test_a_missing_master_key_or_redis_address_refuses(void **state)
{
    static const struct {
        const char *text;
        const char *path;
    } cases[] = {
        {"general_settings: {master_key: os.environ/GONE}\n", "general_settings.master_key"},
        {"router_settings: {redis_host: os.environ/GONE}\n", "router_settings.redis_host"},
        {"router_settings: {redis_password: os.environ/GONE}\n", "router_settings.redis_password"},
        {"router_settings: {redis_url: os.environ/GONE}\n", "router_settings.redis_url"},
        {"litellm_settings: {cache_params: {type: redis, host: os.environ/GONE}}\n",
         "litellm_settings.cache_params.host"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        struct kit kit;

        kit_load(&kit, NULL, cases[i].text);
        assert_int_equal(kit.rv, WEIR_CONFIG_REFUSED);
        kit_expect(&kit, 1, cases[i].path, "error", "GONE is not set");
        kit_free(&kit);
    }
}

static void test_a_missing_model_or_group_leaves_the_entry_out(void **state)
{
    struct kit kit;

    (void)state;
    kit_load(&kit, NULL,
             HEAD "- model_name: os.environ/GONE\n"
                  "  litellm_params: {model: openai/m}\n"
                  "- model_name: h\n"
                  "  litellm_params: {model: os.environ/GONE}\n");
    kit_expect_count(&kit, 2);
    kit_expect(&kit, 4, "model_list[1].model_name", "error", "os.environ/GONE");
    kit_expect(&kit, 7, "model_list[2].litellm_params.model", "error", "os.environ/GONE");
    assert_int_equal(kit.config->deployment_count, 1);
    assert_int_equal(kit.config->unserved_count, 2);
    kit_free(&kit);
}

static void test_the_section_of_variables_comes_first(void **state)
{
    struct kit kit;
    struct weir_slice value;

    (void)state;
    kit_load(&kit, (kit_env){"A=outer", "B=from outside", NULL},
             "model_list:\n"
             "- model_name: g\n"
             "  litellm_params: {model: openai/m, api_base: 'http://a.example', api_key: os.environ/A}\n"
             "environment_variables: {A: inner, COPY: os.environ/B, ROUTER_MAX_FALLBACKS: 7, GONE: "
             "os.environ/X}\n");
    kit_expect_count(&kit, 1);
    kit_expect(&kit, 4, "environment_variables.GONE", "warning", "X is not set");
    assert_slice_is(kit_deployment(&kit, "g", 0)->endpoint->api_key, "inner");
    assert_int_equal(weir_snapshot_router(kit.config->snapshot)->max_fallbacks, 7);
    assert_true(weir_config_variable(kit.config, "COPY", &value));
    assert_slice_is(value, "from outside");
    assert_true(weir_config_variable(kit.config, "B", &value));
    assert_false(weir_config_variable(kit.config, "GONE", &value));
    kit_free(&kit);
}

static void test_a_value_of_a_variable_that_does_not_fit_is_no_mistake_of_the_file(void **state)
{
    struct kit kit;

    (void)state;
    kit_load(&kit, (kit_env){"M=nobody-knows", "R=lots", "B=nowhere", NULL},
             HEAD "- {model_name: h, litellm_params: {model: os.environ/M}}\n"
                  "- {model_name: h, litellm_params: {model: openai/m, rpm: os.environ/R}}\n"
                  "- {model_name: h, litellm_params: {model: openai/m, api_base: os.environ/B}}\n");
    kit_expect_count(&kit, 3);
    kit_expect(&kit, 4, "model_list[1].litellm_params.model", "warning",
               "no provider is known for `os.environ/M`");
    kit_expect(&kit, 5, "model_list[2].litellm_params.rpm", "warning", "a whole number");
    kit_expect(&kit, 6, "model_list[3].litellm_params.api_base", "warning", "the entry is skipped");
    assert_int_equal(kit.config->unserved_count, 3);
    assert_int_equal(kit.config->skipped, 0);
    kit_free(&kit);
}

static void test_an_anchored_value_is_replaced_once_for_all_its_uses(void **state)
{
    struct kit kit;

    (void)state;
    kit_load(&kit, (kit_env){"KEY=k1", NULL},
             "x-base: &base {api_base: 'http://a.example', api_key: os.environ/KEY, user: $NAME}\n"
             "model_list:\n"
             "- model_name: g\n"
             "  litellm_params: {<<: *base, model: openai/m}\n"
             "- model_name: h\n"
             "  litellm_params: {<<: *base, model: openai/m}\n");
    kit_expect_count(&kit, 1);
    kit_expect(&kit, 1, "model_list[0].litellm_params.user", "warning", "write os.environ/NAME");
    assert_slice_is(kit_deployment(&kit, "h", 0)->endpoint->api_key, "k1");
    kit_free(&kit);
}

static void test_no_value_of_a_variable_is_ever_said(void **state)
{
    struct kit kit;

    (void)state;
    kit_load(&kit, (kit_env){"V=tell-nobody", NULL},
             "model_list:\n"
             "- model_name: g\n"
             "  litellm_params: {model: os.environ/V, api_base: os.environ/V, rpm: os.environ/V, timeout: "
             "os.environ/V}\n"
             "router_settings:\n"
             "  routing_strategy: os.environ/V\n"
             "  num_retries: os.environ/V\n"
             "  retry_policy: os.environ/V\n"
             "  fallbacks: os.environ/V\n"
             "  model_group_alias: {a: os.environ/V}\n"
             "general_settings: {cancel_on_disconnect: os.environ/V}\n"
             "weir_settings: {max_body_bytes: os.environ/V, access_log_format: os.environ/V}\n");
    assert_int_equal(kit.rv, WEIR_CONFIG_REFUSED);
    assert_true(kit.diags.count > 6);
    kit_expect_nowhere(&kit, "tell-nobody");
    kit_free(&kit);
}

static void test_a_secret_of_the_wrong_type_is_not_said(void **state)
{
    struct kit kit;

    (void)state;
    kit_load(&kit, NULL,
             "model_list:\n"
             "- model_name: g\n"
             "  litellm_params: {model: openai/m, api_key: [sk-tell-nobody]}\n"
             "general_settings: {master_key: {sk-tell-nobody: x}}\n");
    assert_int_equal(kit.rv, WEIR_CONFIG_REFUSED);
    kit_expect_nowhere(&kit, "tell-nobody");
    kit_free(&kit);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_whole_values_of_keys_are_replaced),
        cmocka_unit_test(test_values_at_any_depth_are_replaced_but_items_of_lists_are_not),
        cmocka_unit_test(test_names_of_variables_may_be_unusual),
        cmocka_unit_test(test_near_misses_are_told),
        cmocka_unit_test(test_dollars_that_are_no_variables_are_left_alone),
        cmocka_unit_test(test_a_missing_variable_counts_as_absent_with_a_warning),
        cmocka_unit_test(test_a_missing_master_key_or_redis_address_refuses),
        cmocka_unit_test(test_a_missing_model_or_group_leaves_the_entry_out),
        cmocka_unit_test(test_the_section_of_variables_comes_first),
        cmocka_unit_test(test_a_value_of_a_variable_that_does_not_fit_is_no_mistake_of_the_file),
        cmocka_unit_test(test_an_anchored_value_is_replaced_once_for_all_its_uses),
        cmocka_unit_test(test_no_value_of_a_variable_is_ever_said),
        cmocka_unit_test(test_a_secret_of_the_wrong_type_is_not_said),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
