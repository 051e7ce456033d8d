/* What a deployment is asked when it is asked whether it answers (RS 17). */
#include "unit.h"

#include <stdio.h>

#include <weir/mem_libc.h>

#include "base/slice.h"
#include "config/config.h"
#include "gateway/health/probe_request.h"
#include "provider/endpoint.h"

struct asked {
    struct weir_diags diags;
    struct weir_config *config;
    struct weir_arena arena;
    struct weir_upstream_request request;
    struct weir_slice body;
};

static const char *no_variable(void *user, const char *name)
{
    (void)user;
    (void)name;
    return NULL;
}

/* The request for the one deployment that has these params and this info, and what else the file says. */
static void ask(struct asked *asked, const char *params, const char *info, const char *more)
{
    const struct weir_config_env env = {no_variable, NULL};
    char text[1024];

    (void)snprintf(text, sizeof(text),
                   "model_list: [{model_name: g, litellm_params: {%s}, model_info: {%s}}]\n%s\n", params,
                   info, more);
    weir_diags_init(&asked->diags, weir_mem_libc());
    assert_int_equal(weir_config_load_text(weir_slice_str(text), "c.yaml", &env, weir_mem_libc(),
                                           &asked->diags, &asked->config),
                     0);
    assert_int_equal(asked->config->deployment_count, 1);
    weir_arena_init(&asked->arena, weir_mem_libc(), 4096, 65536);
    assert_int_equal(
        weir_probe_build(asked->config, asked->config->deployments[0], &asked->arena, &asked->request), 0);
    asked->body = weir_arena_join(&asked->arena, asked->request.parts, asked->request.part_count);
}

static void done(struct asked *asked)
{
    weir_arena_deinit(&asked->arena);
    weir_config_free(asked->config);
    weir_diags_deinit(&asked->diags);
}

#define PLACE ", api_base: 'http://up.example/v1', api_key: k"

static void expect(const char *params, const char *info, const char *target, const char *body)
{
    struct asked asked;

    ask(&asked, params, info, "");
    assert_slice_is(asked.request.target, target);
    assert_slice_is(asked.body, body);
    done(&asked);
}

static void test_a_short_chat(void **state)
{
    (void)state;
    expect("model: openai/m" PLACE, "", "/v1/chat/completions",
           "{\"messages\":[{\"role\":\"user\",\"content\":\"test from "
           "litellm\"}],\"max_tokens\":5,\"model\":\"m\"}");
}

static void test_other_modes(void **state)
{
    (void)state;
    expect("model: openai/m" PLACE, "mode: completion, health_check_max_tokens: 7", "/v1/completions",
           "{\"prompt\":\"test from litellm\",\"max_tokens\":7,\"model\":\"m\"}");
    expect("model: openai/m" PLACE, "mode: embedding", "/v1/embeddings",
           "{\"input\":[\"test from litellm\"],\"model\":\"m\"}");
}

static void test_another_model_than_that_of_requests(void **state)
{
    (void)state;
    expect("model: 'openai/*'" PLACE, "health_check_model: openai/small, mode: embedding", "/v1/embeddings",
           "{\"input\":[\"test from litellm\"],\"model\":\"small\"}");
    expect("model: azure/big, api_version: v7, api_base: 'http://up.example', api_key: k",
           "health_check_model: azure/small, mode: embedding",
           "/openai/deployments/small/embeddings?api-version=v7",
           "{\"input\":[\"test from litellm\"],\"model\":\"small\"}");
}

static void test_the_deployments_own_arguments_go_along_as_in_any_request(void **state)
{
    struct asked asked;

    (void)state;
    ask(&asked, "model: openai/m, max_tokens: 4096, user: me, extra_body: {seed: 1}" PLACE, "",
        "litellm_settings: {drop_params: true}");
    assert_true(weir_slice_has(asked.body, WEIR_SLICE("\"max_tokens\":5")));
    assert_true(weir_slice_has(asked.body, WEIR_SLICE("\"seed\":1")));
    assert_true(weir_slice_has(asked.body, WEIR_SLICE("\"user\":\"me\"")));
    assert_false(weir_slice_has(asked.body, WEIR_SLICE("4096")));
    assert_true(weir_slice_has(asked.request.fields, WEIR_SLICE("Authorization: Bearer k\r\n")));
    done(&asked);
}

static void test_models_that_reason_know_the_limit_by_its_other_name(void **state)
{
    static const char *const models[] = {"openai/o3-mini", "openai/gpt-5-nano", "azure/o1"};

    (void)state;
    for (size_t i = 0; i < sizeof(models) / sizeof(models[0]); i++) {
        struct asked asked;
        char params[256];

        (void)snprintf(params, sizeof(params), "model: %s, api_version: v7" PLACE, models[i]);
        ask(&asked, params, "", "");
        assert_true(weir_slice_has(asked.body, WEIR_SLICE("\"max_completion_tokens\":5")));
        assert_false(weir_slice_has(asked.body, WEIR_SLICE("\"max_tokens\"")));
        done(&asked);
    }
}

static void test_what_is_said_may_be_anything(void **state)
{
    struct asked asked;

    (void)state;
    ask(&asked, "model: openai/m" PLACE, "",
        "environment_variables: {DEFAULT_HEALTH_CHECK_PROMPT: 'say \"hi\"'}");
    assert_true(weir_slice_has(asked.body, WEIR_SLICE("\"content\":\"say \\\"hi\\\"\"")));
    done(&asked);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_short_chat),
        cmocka_unit_test(test_other_modes),
        cmocka_unit_test(test_another_model_than_that_of_requests),
        cmocka_unit_test(test_the_deployments_own_arguments_go_along_as_in_any_request),
        cmocka_unit_test(test_models_that_reason_know_the_limit_by_its_other_name),
        cmocka_unit_test(test_what_is_said_may_be_anything),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
