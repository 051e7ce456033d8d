/* Loading as a whole: memory that runs out, many deployments, what the snapshot holds. */
#include "kit.h"

#include <stdio.h>
#include <stdlib.h>

#include <weir/error.h>

#include "test_mem.h"

static const char *const everything =
    "x-part: &part {timeout: 20, api_base: 'http://a.example', api_key: k}\n"
    "credential_list: [{credential_name: c, credential_values: {api_key: x}}]\n"
    "model_list:\n"
    "- model_name: a\n"
    "  litellm_params: {<<: *part, model: openai/m, temperature: 0.5, extra_headers: {X-A: b}, tags: [t]}\n"
    "- {model_name: a, litellm_params: {<<: *part, model: openai/n, litellm_credential_name: c}, model_info: "
    "{id: two}}\n"
    "- {model_name: b, litellm_params: {model: sim/m, sim_text: hi}}\n"
    "- {model_name: broken, litellm_params: {model: nobody}}\n"
    "- text\n"
    "router_settings:\n"
    "  fallbacks: [{a: [b, {model: a, x: 1}]}, {gone: [a]}]\n"
    "  model_group_alias: {al: a, hid: {model: b, hidden: true}}\n"
    "  retry_policy: {TimeoutErrorRetries: 1}\n"
    "  model_group_retry_policy: {a: {DefaultRetries: 2}}\n"
    "  num_retry: 1\n"
    "litellm_settings: {default_fallbacks: [b], num_retries: 3, num_retries: 4}\n"
    "general_settings: {master_key: os.environ/KEY}\n";

static const char *get(void *user, const char *name)
{
    (void)user;
    return weir_slice_eq(weir_slice_str(name), WEIR_SLICE("KEY")) ? "sk" : NULL;
}

static void test_wherever_memory_runs_out_all_of_it_comes_back(void **state)
{
    const struct weir_config_env env = {get, NULL};

    (void)state;
    for (size_t n = 1;; n++) {
        struct weir_config *config = NULL;
        struct weir_diags diags;
        struct test_mem mem;
        int rv;

        test_mem_init(&mem, n);
        weir_diags_init(&diags, &mem.mem);
        rv = weir_config_load_text(weir_slice_str(everything), "c.yaml", &env, &mem.mem, &diags, &config);
        assert_true(rv == 0 || rv == WEIR_ERR_NOMEM);
        assert_int_equal(rv == 0, config != NULL);
        weir_config_free(config);
        weir_diags_deinit(&diags);
        test_mem_assert_empty(&mem);
        if (!mem.failed)
            break;
    }
}

static void test_the_snapshot_holds_what_was_written(void **state)
{
    const weir_deployment *two;
    struct kit kit;

    (void)state;
    kit_load(&kit, (kit_env){"KEY=sk", NULL}, everything);
    assert_int_equal(kit.rv, 0);
    assert_int_equal(weir_snapshot_deployment_count(kit.config->snapshot), 3);
    assert_int_equal(weir_snapshot_group_count(kit.config->snapshot), 2);
    assert_int_equal(weir_snapshot_router(kit.config->snapshot)->num_retries, 4);
    two = weir_snapshot_find_deployment(kit.config->snapshot, WEIR_SLICE("two"));
    assert_non_null(two);
    assert_ptr_equal(weir_deployment_user(two), kit.config->deployments[1]);
    assert_slice_is(weir_deployment_model(two), "openai/n");
    assert_slice_is(kit.config->settings.master_key, "sk");
    kit_free(&kit);
}

static void test_a_thousand_deployments(void **state)
{
    size_t room = 256 * 1024, len = 0;
    char *text = malloc(room);
    struct kit kit;

    (void)state;
    assert_non_null(text);
    len += (size_t)snprintf(text + len, room - len, "model_list:\n");
    for (int i = 0; i < 1000; i++)
        len += (size_t)snprintf(
            text + len, room - len,
            "- {model_name: g%d, litellm_params: {model: openai/m%d, api_base: 'http://h%d.example/v1', "
            "api_key: k, rpm: %d, temperature: 0.5}}\n",
            i / 10, i, i, i + 1);
    kit_load(&kit, NULL, text);
    kit_expect_count(&kit, 0);
    assert_int_equal(kit.config->deployment_count, 1000);
    assert_int_equal(weir_snapshot_group_count(kit.config->snapshot), 100);
    kit_free(&kit);
    free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_wherever_memory_runs_out_all_of_it_comes_back),
        cmocka_unit_test(test_the_snapshot_holds_what_was_written),
        cmocka_unit_test(test_a_thousand_deployments),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
