#include "unit.h"

#include "provider/provider.h"

static const struct weir_provider *find(const char *model, const char *custom, struct weir_slice *ret_model)
{
    const struct weir_provider *provider = NULL;

    if (weir_provider_find(weir_slice_str(model), weir_slice_str(custom), &provider, ret_model) != 0)
        return NULL;
    return provider;
}

static void assert_found(const char *model, const char *custom, const char *name, const char *stripped)
{
    struct weir_slice rest = WEIR_SLICE_EMPTY;
    const struct weir_provider *provider = find(model, custom, &rest);

    assert_non_null(provider);
    if (provider != NULL)
        assert_slice_is(provider->name, name);
    assert_slice_is(rest, stripped);
}

static void a_prefix_names_the_provider(void **state)
{
    (void)state;
    assert_found("openai/gpt-4o", "", "openai", "gpt-4o");
    assert_found("hosted_vllm/org/model", "", "hosted_vllm", "org/model");
    assert_found("openrouter/openai/gpt-4o", "", "openrouter", "openai/gpt-4o");
    assert_found("ollama/llama3.1:8b", "", "ollama", "llama3.1:8b");
    assert_found("openai/*", "", "openai", "*");
    assert_found("bedrock/anthropic.claude", "", "bedrock", "anthropic.claude");
}

static void a_custom_provider_beats_the_prefix(void **state)
{
    (void)state;
    assert_found("something-nobody-knows", "openai", "openai", "something-nobody-knows");
    assert_found("openai/gpt-oss", "groq", "groq", "openai/gpt-oss");
    assert_found("groq/llama", "groq", "groq", "llama");
    assert_null(find("gpt-4o", "nobody", NULL));
}

static void well_known_names_need_no_prefix(void **state)
{
    (void)state;
    assert_found("gpt-4o", "", "openai", "gpt-4o");
    assert_found("o1", "", "openai", "o1");
    assert_found("o3-mini", "", "openai", "o3-mini");
    assert_found("text-embedding-3-small", "", "openai", "text-embedding-3-small");
    assert_found("chatgpt-4o-latest", "", "openai", "chatgpt-4o-latest");
    assert_found("davinci-002", "", "openai", "davinci-002");
    assert_found("*", "", "openai", "*");
    assert_found("claude-sonnet-4-5", "", "anthropic", "claude-sonnet-4-5");
    assert_found("gemini-2.0-flash", "", "vertex_ai", "gemini-2.0-flash");
}

static void an_unknown_name_is_unknown(void **state)
{
    (void)state;
    assert_null(find("something-nobody-knows", "", NULL));
    assert_null(find("nobody/gpt-4o", "", NULL));
    assert_null(find("", "", NULL));
    assert_null(find("/", "", NULL));
    assert_null(find("o1x", "", NULL));
    assert_null(weir_provider_infer(WEIR_SLICE("llama")));
}

static void rows_are_whole_and_their_names_are_unique(void **state)
{
    (void)state;
    for (size_t i = 0; i < weir_provider_count(); i++) {
        const struct weir_provider *row = weir_provider_at(i);

        assert_true(row->name.len > 0);
        assert_true(row->display.len == row->name.len);
        assert_true(row->families != 0);
        assert_ptr_equal(weir_provider_named(row->name), row);
    }
    assert_null(weir_provider_at(weir_provider_count()));
}

static void each_provider_of_the_list_has_a_dialect(void **state)
{
    static const char *const names[] = {"openai",
                                        "azure",
                                        "hosted_vllm",
                                        "vllm",
                                        "ollama",
                                        "ollama_chat",
                                        "lm_studio",
                                        "llamafile",
                                        "groq",
                                        "together_ai",
                                        "fireworks_ai",
                                        "openrouter",
                                        "deepseek",
                                        "mistral",
                                        "xai",
                                        "perplexity",
                                        "deepinfra",
                                        "cerebras",
                                        "sambanova",
                                        "nvidia_nim",
                                        "novita",
                                        "moonshot",
                                        "zai",
                                        "dashscope",
                                        "github",
                                        "databricks",
                                        "text-completion-openai",
                                        "custom_openai",
                                        "openai_like",
                                        "litellm_proxy",
                                        "sim"};

    (void)state;
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        const struct weir_provider *row = weir_provider_named(weir_slice_str(names[i]));

        assert_non_null(row);
        if (row != NULL)
            assert_int_not_equal(row->dialect, WEIR_DIALECT_NONE);
    }
    assert_int_equal(weir_provider_named(WEIR_SLICE("anthropic"))->dialect, WEIR_DIALECT_NONE);
}

static void variables_are_asked_in_their_order(void **state)
{
    const struct weir_provider *row = weir_provider_named(WEIR_SLICE("together_ai"));

    (void)state;
    assert_slice_is(row->key_vars[0], "TOGETHER_API_KEY");
    assert_slice_is(row->key_vars[3], "TOGETHER_AI_TOKEN");
    assert_slice_is(row->base_vars[0], "TOGETHER_AI_API_BASE");
    assert_slice_is(row->base_vars[1], "");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_prefix_names_the_provider),
        cmocka_unit_test(a_custom_provider_beats_the_prefix),
        cmocka_unit_test(well_known_names_need_no_prefix),
        cmocka_unit_test(an_unknown_name_is_unknown),
        cmocka_unit_test(rows_are_whole_and_their_names_are_unique),
        cmocka_unit_test(each_provider_of_the_list_has_a_dialect),
        cmocka_unit_test(variables_are_asked_in_their_order),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
