/* What is known of models, from the table and from a model map, and which source a figure comes from. */
#include "unit.h"

#include <weir/mem_libc.h>

#include "base/slice.h"
#include "provider/model_facts.h"
#include "provider/model_map.h"
#include "provider/model_name.h"
#include "provider/parameter.h"

static const struct weir_provider *named(const char *name)
{
    const struct weir_provider *provider = weir_provider_named(weir_slice_str(name));

    assert_non_null(provider);
    return provider;
}

static struct weir_model_facts table(const char *provider, const char *model)
{
    struct weir_model_facts facts;

    weir_model_facts_of_table(named(provider), weir_slice_str(model), &facts);
    return facts;
}

static void assert_price(const struct weir_model_facts *facts, enum weir_figure figure, double dollars)
{
    assert_true(weir_figure_known(facts, figure));
    assert_true(facts->figures[figure] > dollars * 0.999999 && facts->figures[figure] < dollars * 1.000001);
}

static void a_model_is_known_with_and_without_its_provider(void **state)
{
    struct weir_model_facts facts = table("openai", "openai/gpt-4o");

    (void)state;
    assert_price(&facts, WEIR_FIGURE_CONTEXT, 128000);
    assert_price(&facts, WEIR_FIGURE_INPUT, 2.5e-6);
    assert_price(&facts, WEIR_FIGURE_OUTPUT, 1e-5);
    assert_price(&facts, WEIR_FIGURE_CACHE_READ, 1.25e-6);
    assert_false(weir_figure_known(&facts, WEIR_FIGURE_LONG_FROM));
    facts = table("openai", "gpt-4o");
    assert_price(&facts, WEIR_FIGURE_INPUT, 2.5e-6);
    facts = table("azure", "azure/gpt-4o");
    assert_price(&facts, WEIR_FIGURE_INPUT, 2.5e-6);
    assert_int_equal(facts.sources[WEIR_FIGURE_INPUT], WEIR_FACT_TABLE);
}

static void an_edition_has_the_prices_of_its_model_unless_it_has_its_own(void **state)
{
    struct weir_model_facts facts = table("openai", "gpt-4o-2024-11-20");

    (void)state;
    assert_price(&facts, WEIR_FIGURE_INPUT, 2.5e-6);
    facts = table("openai", "gpt-4o-2024-05-13");
    assert_price(&facts, WEIR_FIGURE_INPUT, 5e-6);
    facts = table("openai", "gpt-4o-mini");
    assert_price(&facts, WEIR_FIGURE_INPUT, 1.5e-7);
    facts = table("openai", "gpt-4o-audio-preview");
    assert_false(weir_figure_known(&facts, WEIR_FIGURE_INPUT));
}

static void another_providers_model_of_the_same_name_is_not_known(void **state)
{
    struct weir_model_facts facts = table("hosted_vllm", "hosted_vllm/gpt-4o");

    (void)state;
    assert_false(weir_figure_known(&facts, WEIR_FIGURE_INPUT));
    assert_int_equal(facts.lacks, 0);
}

static void every_row_says_where_its_figures_come_from(void **state)
{
    struct weir_slice provider, model, page;
    size_t count = 0;

    (void)state;
    while (weir_known_model_at(count, &provider, &model, &page)) {
        assert_non_null(weir_provider_named(provider));
        assert_true(model.len > 0);
        assert_true(weir_slice_starts(page, WEIR_SLICE("https://")));
        count++;
    }
    assert_true(count > 50);
}

/* A row that an earlier one covers would never be found. */
static void every_row_can_be_found(void **state)
{
    struct weir_slice provider, model, page, other_provider, other, other_page;

    (void)state;
    for (size_t i = 0; weir_known_model_at(i, &provider, &model, &page); i++)
        for (size_t k = 0; k < i; k++) {
            assert_true(weir_known_model_at(k, &other_provider, &other, &other_page));
            assert_false(weir_slice_eq(provider, other_provider) && weir_model_is(other, model));
        }
}

static void models_that_reason_take_no_temperature(void **state)
{
    struct weir_model_facts facts = table("openai", "openai/o3-mini");

    (void)state;
    assert_true((facts.lacks & weir_parameter_bit(WEIR_SLICE("temperature"))) != 0);
    assert_int_equal(facts.lacks & weir_parameter_bit(WEIR_SLICE("tools")), 0);
    assert_int_equal(facts.lacks_source, WEIR_FACT_TABLE);
    assert_true(facts.lacks_page.len > 0);
    facts = table("openai", "gpt-5-mini-2025-08-07");
    assert_true((facts.lacks & weir_parameter_bit(WEIR_SLICE("logprobs"))) != 0);
    facts = table("openai", "gpt-5.1");
    assert_int_equal(facts.lacks & weir_parameter_bit(WEIR_SLICE("temperature")), 0);
    facts = table("openai", "gpt-5-chat-latest");
    assert_int_equal(facts.lacks & weir_parameter_bit(WEIR_SLICE("temperature")), 0);
    facts = table("openai", "gpt-4o-mini");
    assert_int_equal(facts.lacks & weir_parameter_bit(WEIR_SLICE("temperature")), 0);
    assert_true((facts.lacks & weir_parameter_bit(WEIR_SLICE("reasoning_effort"))) != 0);
}

/* ---- filling ---- */

static void the_stronger_source_holds_figure_by_figure(void **state)
{
    struct weir_model_facts own, weaker = table("openai", "gpt-4o");

    (void)state;
    weir_model_facts_init(&own);
    weir_figure_set(&own, WEIR_FIGURE_CONTEXT, 1000, WEIR_FACT_INFO);
    weir_model_facts_fill(&own, &weaker);
    assert_price(&own, WEIR_FIGURE_CONTEXT, 1000);
    assert_int_equal(own.sources[WEIR_FIGURE_CONTEXT], WEIR_FACT_INFO);
    assert_price(&own, WEIR_FIGURE_CACHE_READ, 1.25e-6);
    assert_int_equal(own.sources[WEIR_FIGURE_CACHE_READ], WEIR_FACT_TABLE);
}

static void a_price_of_ones_own_takes_the_prices_of_its_sort_along(void **state)
{
    struct weir_model_facts own, weaker = table("openai", "gpt-5.4");

    (void)state;
    assert_price(&weaker, WEIR_FIGURE_LONG_FROM, 272000);
    assert_price(&weaker, WEIR_FIGURE_LONG_OUTPUT, 2.25e-5);
    weir_model_facts_init(&own);
    weir_figure_set(&own, WEIR_FIGURE_INPUT, 1e-6, WEIR_FACT_PARAMS);
    weir_model_facts_fill(&own, &weaker);
    assert_false(weir_figure_known(&own, WEIR_FIGURE_CACHE_READ));
    assert_false(weir_figure_known(&own, WEIR_FIGURE_LONG_FROM));
    assert_false(weir_figure_known(&own, WEIR_FIGURE_LONG_OUTPUT));
    assert_price(&own, WEIR_FIGURE_OUTPUT, 1.5e-5);
    weir_model_facts_init(&own);
    weir_figure_set(&own, WEIR_FIGURE_OUTPUT, 1e-6, WEIR_FACT_PARAMS);
    weir_model_facts_fill(&own, &weaker);
    assert_price(&own, WEIR_FIGURE_LONG_FROM, 272000);
    assert_false(weir_figure_known(&own, WEIR_FIGURE_LONG_OUTPUT));
}

/* ---- model map ---- */

static const char map_text[] =
    "{\"sample_spec\": {\"max_input_tokens\": \"max input tokens\", \"input_cost_per_token\": 0.0},"
    " \"gpt-4o\": {\"litellm_provider\": \"openai\", \"max_input_tokens\": 1000,"
    "   \"input_cost_per_token\": 1e-06, \"output_cost_per_token\": 2e-06,"
    "   \"output_cost_per_reasoning_token\": 3e-06, \"cache_read_input_token_cost\": 5e-07,"
    "   \"supports_assistant_prefill\": true, \"supports_web_search\": false,"
    "   \"supports_function_calling\": false},"
    " \"azure/mine\": {\"litellm_provider\": \"azure\", \"input_cost_per_token\": 4e-06},"
    " \"tiers\": {\"litellm_provider\": \"openai\", \"output_cost_per_token_above_128k_tokens\": 9e-06,"
    "   \"input_cost_per_token_above_200k_tokens\": 2e-06, \"input_cost_per_token_above_128k_tokens\": 1e-06,"
    "   \"cache_read_input_token_cost_above_200k_tokens\": 1e-07, \"input_cost_per_token\": 5e-07},"
    " \"odd\": {\"max_input_tokens\": 1e30, \"input_cost_per_token\": true, \"output_cost_per_token\": "
    "-1e-06,"
    "   \"supports_assistant_prefill\": 1},"
    " \"none\": {\"max_input_tokens\": 0, \"input_cost_per_token\": 0}}";

struct mapped {
    struct weir_arena arena;
    struct weir_model_map map;
};

static int setup(void **state)
{
    static struct mapped mapped;
    size_t bad_at = 0;

    weir_arena_init(&mapped.arena, weir_mem_libc(), 4096, 1024 * 1024);
    assert_int_equal(weir_model_map_read(weir_slice_str(map_text), &mapped.arena, &mapped.map, &bad_at), 0);
    *state = &mapped;
    return 0;
}

static int teardown(void **state)
{
    weir_arena_deinit(&((struct mapped *)*state)->arena);
    return 0;
}

static bool find(struct mapped *mapped, const char *provider, const char *model,
                 struct weir_model_facts *ret_facts)
{
    return weir_model_map_find(&mapped->map, named(provider), weir_slice_str(model), ret_facts);
}

static void a_map_is_asked_by_the_name_as_it_is_written_and_without_the_provider(void **state)
{
    struct weir_model_facts facts;

    assert_true(find(*state, "openai", "gpt-4o", &facts));
    assert_true(find(*state, "openai", "openai/gpt-4o", &facts));
    assert_price(&facts, WEIR_FIGURE_CONTEXT, 1000);
    assert_price(&facts, WEIR_FIGURE_REASONING, 3e-6);
    assert_price(&facts, WEIR_FIGURE_PREFILL, 1);
    assert_true(weir_figure_known(&facts, WEIR_FIGURE_WEB_SEARCH));
    assert_true(facts.figures[WEIR_FIGURE_WEB_SEARCH] < 0.5);
    assert_int_equal(facts.sources[WEIR_FIGURE_INPUT], WEIR_FACT_MAP);
    assert_true(find(*state, "azure", "azure/mine", &facts));
    assert_false(find(*state, "hosted_vllm", "hosted_vllm/gpt-4o", &facts));
    assert_false(find(*state, "openai", "openai/nobody", &facts));
    assert_false(weir_figure_known(&facts, WEIR_FIGURE_INPUT));
}

static void what_is_of_the_wrong_type_says_nothing(void **state)
{
    struct weir_model_facts facts;

    assert_true(find(*state, "openai", "sample_spec", &facts));
    assert_false(weir_figure_known(&facts, WEIR_FIGURE_CONTEXT));
}

static void what_no_model_can_have_says_nothing(void **state)
{
    struct weir_model_facts facts;

    assert_true(find(*state, "openai", "odd", &facts));
    for (int i = 0; i < WEIR_FIGURES; i++)
        assert_false(weir_figure_known(&facts, (enum weir_figure)i));
}

static void a_context_of_0_is_not_known_and_a_price_of_0_is(void **state)
{
    struct weir_model_facts facts;

    assert_true(find(*state, "openai", "none", &facts));
    assert_false(weir_figure_known(&facts, WEIR_FIGURE_CONTEXT));
    assert_true(weir_figure_known(&facts, WEIR_FIGURE_INPUT));
    assert_false(facts.figures[WEIR_FIGURE_INPUT] > 0);
}

static void of_steps_in_a_price_the_lowest_is_taken(void **state)
{
    struct weir_model_facts facts;

    assert_true(find(*state, "openai", "tiers", &facts));
    assert_price(&facts, WEIR_FIGURE_LONG_FROM, 128000);
    assert_price(&facts, WEIR_FIGURE_LONG_INPUT, 1e-6);
    assert_price(&facts, WEIR_FIGURE_LONG_OUTPUT, 9e-6);
    assert_false(weir_figure_known(&facts, WEIR_FIGURE_LONG_CACHE_READ));
}

static void a_flag_that_is_false_takes_its_parameters(void **state)
{
    struct weir_model_facts facts;

    assert_true(find(*state, "openai", "gpt-4o", &facts));
    assert_true((facts.lacks & weir_parameter_bit(WEIR_SLICE("tools"))) != 0);
    assert_int_equal(facts.lacks & weir_parameter_bit(WEIR_SLICE("response_format")), 0);
    assert_int_equal(facts.lacks_source, WEIR_FACT_MAP);
}

static void what_is_no_map_is_refused(void **state)
{
    struct mapped *mapped = *state;
    struct weir_model_map map;
    size_t bad_at = 0;

    assert_int_equal(weir_model_map_read(WEIR_SLICE("{\"a\": {}"), &mapped->arena, &map, &bad_at),
                     WEIR_JSON_BAD);
    assert_int_equal(bad_at, 8);
    assert_int_equal(weir_model_map_read(WEIR_SLICE("[]"), &mapped->arena, &map, &bad_at), WEIR_JSON_OTHER);
    assert_int_equal(weir_model_map_read(WEIR_SLICE("{\"a\": 1}"), &mapped->arena, &map, &bad_at),
                     WEIR_JSON_OTHER);
    assert_int_equal(weir_model_map_read(WEIR_SLICE("{}"), &mapped->arena, &map, &bad_at), 0);
}

#define MAPPED(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_model_is_known_with_and_without_its_provider),
        cmocka_unit_test(an_edition_has_the_prices_of_its_model_unless_it_has_its_own),
        cmocka_unit_test(another_providers_model_of_the_same_name_is_not_known),
        cmocka_unit_test(every_row_says_where_its_figures_come_from),
        cmocka_unit_test(every_row_can_be_found),
        cmocka_unit_test(models_that_reason_take_no_temperature),
        cmocka_unit_test(the_stronger_source_holds_figure_by_figure),
        cmocka_unit_test(a_price_of_ones_own_takes_the_prices_of_its_sort_along),
        MAPPED(a_map_is_asked_by_the_name_as_it_is_written_and_without_the_provider),
        MAPPED(what_is_of_the_wrong_type_says_nothing),
        MAPPED(what_no_model_can_have_says_nothing),
        MAPPED(a_context_of_0_is_not_known_and_a_price_of_0_is),
        MAPPED(of_steps_in_a_price_the_lowest_is_taken),
        MAPPED(a_flag_that_is_false_takes_its_parameters),
        MAPPED(what_is_no_map_is_refused),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
