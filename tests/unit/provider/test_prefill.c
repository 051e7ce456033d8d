/* Which models take a prefill, and in which form. */
#include "unit.h"

#include "provider/prefill.h"

static const struct weir_provider *named(const char *name)
{
    const struct weir_provider *provider = weir_provider_named(weir_slice_str(name));

    assert_non_null(provider);
    return provider;
}

static bool takes(const char *provider, const char *model)
{
    return weir_provider_takes_prefill(named(provider), weir_slice_str(model));
}

static void claude_up_to_4_5_takes_one_wherever_it_is_served(void **state)
{
    (void)state;
    assert_true(takes("anthropic", "anthropic/claude-sonnet-4-5"));
    assert_true(takes("anthropic", "claude-3-5-sonnet-20241022"));
    assert_true(takes("anthropic", "claude-3-haiku-20240307"));
    assert_true(takes("anthropic", "claude-opus-4-20250514"));
    assert_true(takes("anthropic", "claude-opus-4-5-20251101"));
    assert_true(takes("anthropic", "claude-haiku-4-5"));
    assert_true(takes("openrouter", "openrouter/anthropic/claude-3.5-sonnet"));
    assert_true(takes("openrouter", "openrouter/anthropic/claude-sonnet-4.5"));
    assert_true(takes("bedrock", "bedrock/us.anthropic.claude-3-5-haiku-20241022-v1:0"));
    assert_true(takes("vertex_ai", "vertex_ai/claude-sonnet-4@20250514"));
    assert_true(takes("databricks", "databricks/databricks-claude-3-7-sonnet"));
    assert_true(takes("openai", "openai/Claude-Sonnet-4-5"));
}

static void later_claudes_take_none(void **state)
{
    (void)state;
    assert_false(takes("anthropic", "claude-opus-4-6"));
    assert_false(takes("anthropic", "claude-sonnet-4-6"));
    assert_false(takes("openrouter", "openrouter/anthropic/claude-sonnet-4.6"));
    assert_false(takes("anthropic", "claude-opus-5"));
    assert_false(takes("anthropic", "claude-opus-4-10"));
    assert_false(takes("anthropic", "claude-30-x"));
}

static void mistral_and_deepseek_take_one_and_plain_gpt_does_not(void **state)
{
    (void)state;
    assert_true(takes("mistral", "mistral/mistral-large-latest"));
    assert_true(takes("deepseek", "deepseek/deepseek-chat"));
    assert_true(takes("sim", "sim/anything"));
    assert_false(takes("openai", "openai/gpt-4o"));
    assert_false(takes("openai", "mistral-large-latest"));
    assert_false(takes("azure", "azure/gpt-4o"));
    assert_false(takes("hosted_vllm", "hosted_vllm/meta/llama"));
    assert_false(takes("openai", ""));
    assert_false(weir_provider_takes_prefill(NULL, WEIR_SLICE("claude-3-opus")));
}

static void a_provider_has_its_form_and_a_model_has_one_elsewhere(void **state)
{
    (void)state;
    assert_int_equal(weir_prefill_form_of(named("mistral"), WEIR_SLICE("mistral/x")), WEIR_PREFILL_PREFIX);
    assert_int_equal(weir_prefill_form_of(named("deepseek"), WEIR_SLICE("deepseek/x")), WEIR_PREFILL_PREFIX);
    assert_int_equal(weir_prefill_form_of(named("hosted_vllm"), WEIR_SLICE("hosted_vllm/x")),
                     WEIR_PREFILL_CONTINUE_FINAL);
    assert_int_equal(weir_prefill_form_of(named("vllm"), WEIR_SLICE("vllm/x")), WEIR_PREFILL_CONTINUE_FINAL);
    assert_int_equal(weir_prefill_form_of(named("openrouter"), WEIR_SLICE("openrouter/x")),
                     WEIR_PREFILL_TRIMMED);
    assert_int_equal(weir_prefill_form_of(named("openai"), WEIR_SLICE("openai/x")), WEIR_PREFILL_PLAIN);
    assert_int_equal(weir_prefill_form_of(named("openai"), WEIR_SLICE("openai/claude-sonnet-4-5")),
                     WEIR_PREFILL_TRIMMED);
}

static void white_space_at_the_end_stays_back_where_it_is_refused(void **state)
{
    (void)state;
    assert_slice_is(weir_prefill_sent(WEIR_PREFILL_PLAIN, WEIR_SLICE("a b \n")), "a b \n");
    assert_slice_is(weir_prefill_sent(WEIR_PREFILL_PREFIX, WEIR_SLICE("a b \n")), "a b \n");
    assert_slice_is(weir_prefill_sent(WEIR_PREFILL_TRIMMED, WEIR_SLICE(" a b \t\r\n\v\f")), " a b");
    assert_slice_is(weir_prefill_sent(WEIR_PREFILL_TRIMMED, WEIR_SLICE(" \n ")), "");
    assert_slice_is(weir_prefill_sent(WEIR_PREFILL_TRIMMED, WEIR_SLICE("a\xc2\xa0")), "a\xc2\xa0");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(claude_up_to_4_5_takes_one_wherever_it_is_served),
        cmocka_unit_test(later_claudes_take_none),
        cmocka_unit_test(mistral_and_deepseek_take_one_and_plain_gpt_does_not),
        cmocka_unit_test(a_provider_has_its_form_and_a_model_has_one_elsewhere),
        cmocka_unit_test(white_space_at_the_end_stays_back_where_it_is_refused),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
