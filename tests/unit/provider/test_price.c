/* What an answer cost. */
#include "unit.h"

#include "provider/price.h"

static struct weir_model_facts priced(void)
{
    struct weir_model_facts facts;

    weir_model_facts_init(&facts);
    weir_figure_set(&facts, WEIR_FIGURE_INPUT, 1e-6, WEIR_FACT_PARAMS);
    weir_figure_set(&facts, WEIR_FIGURE_OUTPUT, 4e-6, WEIR_FACT_PARAMS);
    return facts;
}

/* In millionths of a dollar. */
static double cost(const struct weir_model_facts *facts, struct weir_usage usage)
{
    uint64_t picodollars = 0;

    usage.told = true;
    assert_true(weir_price(facts, &usage, &picodollars));
    return (double)picodollars / 1e6;
}

#define assert_cost(facts, micros, ...)                                                                      \
    do {                                                                                                     \
        double cost_ = cost((facts), (struct weir_usage){__VA_ARGS__});                                      \
        assert_true(cost_ > (micros)-1e-3 && cost_ < (micros) + 1e-3);                                       \
    } while (0)

static void prompt_and_answer_have_their_prices(void **state)
{
    struct weir_model_facts facts = priced();

    (void)state;
    assert_cost(&facts, 0, .prompt_tokens = 0);
    assert_cost(&facts, 100 + 40, .prompt_tokens = 100, .completion_tokens = 10);
}

static void tokens_from_the_cache_and_of_reasoning_have_their_own(void **state)
{
    struct weir_model_facts facts = priced();

    (void)state;
    assert_cost(&facts, 100, .prompt_tokens = 100, .cached_tokens = 60);
    weir_figure_set(&facts, WEIR_FIGURE_CACHE_READ, 1e-7, WEIR_FACT_PARAMS);
    weir_figure_set(&facts, WEIR_FIGURE_CACHE_WRITE, 2e-6, WEIR_FACT_PARAMS);
    weir_figure_set(&facts, WEIR_FIGURE_REASONING, 6e-6, WEIR_FACT_PARAMS);
    assert_cost(&facts, 40 + 6, .prompt_tokens = 100, .cached_tokens = 60);
    assert_cost(&facts, 10 + 6 + 60, .prompt_tokens = 100, .cached_tokens = 60, .cache_write_tokens = 30);
    assert_cost(&facts, 4 * 4 + 6 * 6, .completion_tokens = 10, .reasoning_tokens = 6);
}

static void parts_that_are_larger_than_the_whole_are_all_of_it(void **state)
{
    struct weir_model_facts facts = priced();

    (void)state;
    weir_figure_set(&facts, WEIR_FIGURE_CACHE_READ, 1e-7, WEIR_FACT_PARAMS);
    assert_cost(&facts, 10, .prompt_tokens = 100, .cached_tokens = 5000, .cache_write_tokens = 7);
    assert_cost(&facts, 40, .completion_tokens = 10, .reasoning_tokens = UINT64_MAX);
}

static void long_prompts_have_prices_of_their_own(void **state)
{
    struct weir_model_facts facts = priced();

    (void)state;
    weir_figure_set(&facts, WEIR_FIGURE_LONG_FROM, 100, WEIR_FACT_MAP);
    weir_figure_set(&facts, WEIR_FIGURE_LONG_INPUT, 2e-6, WEIR_FACT_MAP);
    weir_figure_set(&facts, WEIR_FIGURE_LONG_OUTPUT, 5e-6, WEIR_FACT_MAP);
    assert_cost(&facts, 100 + 40, .prompt_tokens = 100, .completion_tokens = 10);
    assert_cost(&facts, 202 + 50, .prompt_tokens = 101, .completion_tokens = 10);
}

static void nothing_is_said_where_a_price_or_the_usage_is_not_known(void **state)
{
    struct weir_model_facts facts;
    struct weir_usage usage = {.told = true, .prompt_tokens = 5};
    uint64_t picodollars = 77;

    (void)state;
    weir_model_facts_init(&facts);
    assert_false(weir_price(&facts, &usage, &picodollars));
    weir_figure_set(&facts, WEIR_FIGURE_INPUT, 1e-6, WEIR_FACT_MAP);
    usage.completion_tokens = 1;
    assert_false(weir_price(&facts, &usage, &picodollars));
    usage.told = false;
    usage.completion_tokens = 0;
    assert_false(weir_price(&facts, &usage, &picodollars));
    usage.told = true;
    usage.prompt_tokens = UINT64_MAX;
    assert_false(weir_price(&facts, &usage, &picodollars));
    assert_int_equal(picodollars, 77);
    usage.prompt_tokens = 5;
    assert_true(weir_price(&facts, &usage, &picodollars)); /* an embedding has no answer */
    assert_int_equal(picodollars, 5000000);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(prompt_and_answer_have_their_prices),
        cmocka_unit_test(tokens_from_the_cache_and_of_reasoning_have_their_own),
        cmocka_unit_test(parts_that_are_larger_than_the_whole_are_all_of_it),
        cmocka_unit_test(long_prompts_have_prices_of_their_own),
        cmocka_unit_test(nothing_is_said_where_a_price_or_the_usage_is_not_known),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
