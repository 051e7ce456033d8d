/* Limits, parallel slots, prices and what else the engine is told of a deployment, and where it comes from.
 */
#include "unit.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "engine/snapshot/snapshot.h"
#include "kit.h"
#include "provider/endpoint.h"
#include "provider/parameter.h"
#include "provider/route.h"

static const struct weir_deployment_spec *spec_of(const struct kit *kit, size_t index)
{
    assert_int_equal(kit->rv, 0);
    assert_true(index < weir_snapshot_deployment_count(kit->config->snapshot));
    return &weir_snapshot_deployment(kit->config->snapshot, index)->spec;
}

/* One entry a line: more is what stands in litellm_params behind the model, info in model_info. */
static void load_one(struct kit *kit, const char *entry, const char *params, const char *info,
                     const char *router)
{
    char text[2048];

    (void)snprintf(
        text, sizeof(text),
        "model_list:\n- {model_name: g, %s litellm_params: {api_base: http://x.example, api_key: k, %s}, "
        "model_info: {%s}}\n%s\n",
        entry, params, info, router);
    kit_load(kit, NULL, text);
}

static void test_limits_are_looked_up_beside_within_and_in_the_info(void **state)
{
    struct kit kit;

    (void)state;
    load_one(&kit, "rpm: 1,", "model: openai/m, rpm: 2, tpm: 20, itpm: 5, otpm: 6", "rpm: 3, tpm: 30", "");
    assert_int_equal(spec_of(&kit, 0)->minute.requests, 1);
    assert_int_equal(spec_of(&kit, 0)->minute.tokens, 20);
    assert_int_equal(spec_of(&kit, 0)->minute.input_tokens, 5);
    assert_int_equal(spec_of(&kit, 0)->minute.output_tokens, 6);
    assert_true(spec_of(&kit, 0)->rpm < 1.5 && spec_of(&kit, 0)->tpm > 19.5);
    kit_free(&kit);
    load_one(&kit, "", "model: openai/m", "rpm: 3, tpm: '30'", "");
    assert_int_equal(spec_of(&kit, 0)->minute.requests, 3);
    assert_int_equal(spec_of(&kit, 0)->minute.tokens, 30);
    assert_true(spec_of(&kit, 0)->rpm < 0.5 && spec_of(&kit, 0)->tpm < 0.5); /* the info weighs nothing */
    assert_int_equal(spec_of(&kit, 0)->minute.output_tokens, WEIR_UNSET_NS);
    kit_free(&kit);
}

static void test_parallel_slots_come_from_the_first_that_says(void **state)
{
    static const struct {
        const char *params;
        uint32_t slots;
    } cases[] = {
        {"max_parallel_requests: 3, rpm: 1, tpm: 5000", 3},
        {"rpm: 2, tpm: 100000", 2},
        {"tpm: 500", 3},
        {"tpm: 1999", 11},
        {"tpm: 10", 1},
        {"tpm: 1000000", 6000},
        {"weight: 1", 4},
        {"max_parallel_requests: 0", 0},
    };
    char params[128];
    struct kit kit;

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        (void)snprintf(params, sizeof(params), "model: openai/m, %s", cases[i].params);
        load_one(&kit, "rpm: 9,", params, "rpm: 7", "router_settings: {default_max_parallel_requests: 4}");
        assert_int_equal(spec_of(&kit, 0)->max_parallel, cases[i].slots);
        kit_free(&kit);
    }
    load_one(&kit, "rpm: 9,", "model: openai/m", "", "");
    assert_int_equal(spec_of(&kit, 0)->max_parallel, WEIR_UNSET);
    kit_free(&kit);
}

static void test_tags_class_and_region_reach_the_engine(void **state)
{
    struct kit kit;

    (void)state;
    load_one(
        &kit, "", "model: openai/m, tags: [eu, default], tag_regex: [x], region_name: eu",
        "type: cloud-fast, enable_tag_filtering: false, allow_fail_open: true, supports_web_search: false",
        "");
    assert_int_equal(spec_of(&kit, 0)->tag_count, 2);
    assert_slice_is(spec_of(&kit, 0)->tags[1], "default");
    assert_true(spec_of(&kit, 0)->has_tag_pattern);
    assert_slice_is(spec_of(&kit, 0)->region, "eu");
    assert_int_equal(spec_of(&kit, 0)->lar1_class, WEIR_LAR1_CLOUD_FAST);
    assert_int_equal(spec_of(&kit, 0)->tag_filtering, WEIR_FLAG_OFF);
    assert_true(spec_of(&kit, 0)->tag_fail_open);
    assert_true(spec_of(&kit, 0)->no_web_search);
    kit_expect_count(&kit, 0);
    kit_free(&kit);
    load_one(&kit, "", "model: openai/m", "type: whatever", "");
    assert_int_equal(spec_of(&kit, 0)->lar1_class, WEIR_LAR1_NONE);
    assert_int_equal(spec_of(&kit, 0)->tag_filtering, WEIR_FLAG_UNSAID);
    assert_false(spec_of(&kit, 0)->no_web_search);
    kit_free(&kit);
}

static void test_the_mode_says_which_routes_are_served(void **state)
{
    static const struct {
        const char *info;
        uint64_t routes;
        size_t warnings;
    } cases[] = {
        {"max_tokens: 1", UINT64_MAX, 0},
        {"mode: chat", WEIR_ROUTE_BIT(WEIR_ROUTE_CHAT), 0},
        {"mode: completion", WEIR_ROUTE_BIT(WEIR_ROUTE_COMPLETIONS), 0},
        {"mode: embedding", WEIR_ROUTE_BIT(WEIR_ROUTE_EMBEDDINGS), 0},
        {"mode: image_generation", 0, 0},
        {"mode: Chat", UINT64_MAX, 1},
        {"mode: ''", UINT64_MAX, 0},
    };
    struct kit kit;

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        load_one(&kit, "", "model: openai/m", cases[i].info, "");
        assert_int_equal(spec_of(&kit, 0)->routes, cases[i].routes);
        kit_expect_count(&kit, cases[i].warnings);
        if (cases[i].warnings > 0)
            kit_expect(&kit, 2, "model_list[0].model_info.mode", "warning",
                       "no mode is called Chat; the deployment serves every call");
        kit_free(&kit);
    }
}

/* ---- facts ---- */

#define assert_near(value, expected)                                                                         \
    assert_true((value) > (expected)*0.999999 - 1e-15 && (value) < (expected)*1.000001 + 1e-15)

static void test_prices_are_the_deployments_own_else_the_tables(void **state)
{
    const struct weir_config_deployment *d;
    struct kit kit;

    (void)state;
    load_one(&kit, "", "model: openai/gpt-4o, input_cost_per_token: 3e-6", "output_cost_per_token: '4e-6'",
             "");
    d = kit_deployment(&kit, "g", 0);
    assert_near(spec_of(&kit, 0)->input_cost, 3e-6);
    assert_near(spec_of(&kit, 0)->output_cost, 4e-6);
    assert_int_equal(d->facts.sources[WEIR_FIGURE_INPUT], WEIR_FACT_PARAMS);
    assert_int_equal(d->facts.sources[WEIR_FIGURE_OUTPUT], WEIR_FACT_INFO);
    assert_int_equal(d->facts.sources[WEIR_FIGURE_CACHE_READ], WEIR_FACT_UNKNOWN);
    assert_int_equal(spec_of(&kit, 0)->max_input_tokens, 128000);
    kit_free(&kit);
    load_one(&kit, "", "model: openai/gpt-4o", "max_input_tokens: 20", "");
    assert_near(spec_of(&kit, 0)->input_cost, 2.5e-6);
    assert_int_equal(spec_of(&kit, 0)->max_input_tokens, 20);
    kit_free(&kit);
    load_one(&kit, "", "model: openai/nobody-knows-me", "", "");
    assert_near(spec_of(&kit, 0)->input_cost, 0);
    assert_int_equal(spec_of(&kit, 0)->max_input_tokens, WEIR_UNSET_NS);
    kit_free(&kit);
}

/* It is none to who chooses by it, and nothing to pay to who adds up. */
static void test_a_price_of_zero_is_no_price_to_choose_by(void **state)
{
    struct kit kit;

    (void)state;
    load_one(&kit, "", "model: openai/gpt-4o, input_cost_per_token: 0, output_cost_per_token: 0", "", "");
    assert_near(spec_of(&kit, 0)->input_cost, 2.5e-6);
    assert_near(kit_deployment(&kit, "g", 0)->facts.figures[WEIR_FIGURE_INPUT], 0);
    assert_int_equal(kit_deployment(&kit, "g", 0)->facts.sources[WEIR_FIGURE_INPUT], WEIR_FACT_PARAMS);
    kit_free(&kit);
}

static void test_a_base_model_speaks_for_a_name_of_ones_own(void **state)
{
    struct kit kit;

    (void)state;
    load_one(&kit, "", "model: azure/my-deployment, api_version: 2024-02-01", "base_model: azure/gpt-4o", "");
    assert_near(spec_of(&kit, 0)->input_cost, 2.5e-6);
    kit_free(&kit);
    load_one(&kit, "", "model: hosted_vllm/mine, base_model: gpt-4o-mini", "base_model: gpt-4o", "");
    assert_near(spec_of(&kit, 0)->input_cost, 1.5e-7);
    kit_free(&kit);
}

static void test_what_a_model_lacks_is_asked_of_it_unless_it_is_dropped(void **state)
{
    uint64_t temperature = weir_parameter_bit(WEIR_SLICE("temperature"));
    struct kit kit;

    (void)state;
    load_one(&kit, "", "model: openai/o3", "", "");
    assert_int_equal(spec_of(&kit, 0)->parameters & temperature, 0);
    kit_free(&kit);
    load_one(&kit, "", "model: openai/o3, allowed_openai_params: [temperature]", "", "");
    assert_int_equal(spec_of(&kit, 0)->parameters & temperature, temperature);
    kit_free(&kit);
    load_one(&kit, "", "model: openai/o3", "", "litellm_settings: {drop_params: true}");
    assert_int_equal(spec_of(&kit, 0)->parameters, UINT64_MAX);
    assert_true(kit_deployment(&kit, "g", 0)->drop_params);
    kit_free(&kit);
    load_one(&kit, "", "model: openai/o3, drop_params: false", "", "litellm_settings: {drop_params: true}");
    assert_false(kit_deployment(&kit, "g", 0)->drop_params);
    kit_free(&kit);
}

static void test_a_path_to_drop_must_be_one(void **state)
{
    struct kit kit;

    (void)state;
    load_one(&kit, "", "model: openai/m, additional_drop_params: [user, 'tools[*].strict', 'tools[']", "",
             "");
    assert_int_equal(kit_deployment(&kit, "g", 0)->endpoint->drops.count, 2);
    kit_expect(&kit, 2, "model_list[0].litellm_params.additional_drop_params[2]", "warning",
               "not a name or a path");
    kit_expect_count(&kit, 1);
    kit_free(&kit);
}

/* ---- the model map ---- */

struct map_file {
    char path[64];
    char setting[128];
};

static void write_map(struct map_file *file, const char *text)
{
    FILE *out;

    (void)snprintf(file->path, sizeof(file->path), "/tmp/weir-map-XXXXXX");
    out = fdopen(mkstemp(file->path), "w");
    assert_non_null(out);
    assert_true(fputs(text, out) >= 0);
    assert_int_equal(fclose(out), 0);
    (void)snprintf(file->setting, sizeof(file->setting), "weir_settings: {model_map: %s}", file->path);
}

static void test_a_model_map_comes_before_the_table(void **state)
{
    const struct weir_config_deployment *d;
    struct weir_model_facts room;
    struct map_file file;
    struct kit kit;

    (void)state;
    write_map(&file, "{\"gpt-4o\": {\"litellm_provider\": \"openai\", \"input_cost_per_token\": 7e-06},"
                     " \"openai/x\": {\"litellm_provider\": \"openai\", \"max_input_tokens\": 55}}");
    load_one(&kit, "", "model: openai/gpt-4o", "", file.setting);
    d = kit_deployment(&kit, "g", 0);
    assert_near(spec_of(&kit, 0)->input_cost, 7e-6);
    assert_int_equal(d->facts.sources[WEIR_FIGURE_INPUT], WEIR_FACT_MAP);
    assert_int_equal(d->facts.sources[WEIR_FIGURE_CONTEXT], WEIR_FACT_TABLE);
    assert_slice_is(kit.config->model_map_path, file.path);
    assert_ptr_equal(weir_config_facts(kit.config, d, WEIR_SLICE("openai/gpt-4o"), &room), &d->facts);
    kit_free(&kit);
    load_one(&kit, "", "model: openai/*, output_cost_per_token: 1e-6", "", file.setting);
    d = kit_deployment(&kit, "g", 0);
    assert_false(weir_figure_known(&d->facts, WEIR_FIGURE_INPUT));
    assert_ptr_equal(weir_config_facts(kit.config, d, WEIR_SLICE("openai/gpt-4o"), &room), &room);
    assert_near(room.figures[WEIR_FIGURE_INPUT], 7e-6);
    assert_near(room.figures[WEIR_FIGURE_OUTPUT], 1e-6);
    assert_near(weir_config_facts(kit.config, d, WEIR_SLICE("openai/x"), &room)->figures[WEIR_FIGURE_CONTEXT],
                55);
    kit_free(&kit);
    assert_int_equal(unlink(file.path), 0);
}

static void test_a_model_map_that_cannot_be_read_refuses_the_start(void **state)
{
    static const char *const texts[] = {"{", "[]", "{\"a\": 1}"};
    static const char *const words[] = {"not valid JSON: byte 1", "expected an object", "expected an object"};
    struct map_file file;
    struct kit kit;

    (void)state;
    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
        write_map(&file, texts[i]);
        load_one(&kit, "", "model: openai/m", "", file.setting);
        assert_int_equal(kit.rv, WEIR_CONFIG_REFUSED);
        kit_expect(&kit, 3, "weir_settings.model_map", "error", words[i]);
        kit_free(&kit);
        assert_int_equal(unlink(file.path), 0);
    }
    load_one(&kit, "", "model: openai/m", "", "weir_settings: {model_map: no/such/file.json}");
    assert_int_equal(kit.rv, WEIR_CONFIG_REFUSED);
    kit_expect(&kit, 3, "weir_settings.model_map", "error", "No such file");
    kit_free(&kit);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_limits_are_looked_up_beside_within_and_in_the_info),
        cmocka_unit_test(test_parallel_slots_come_from_the_first_that_says),
        cmocka_unit_test(test_tags_class_and_region_reach_the_engine),
        cmocka_unit_test(test_the_mode_says_which_routes_are_served),
        cmocka_unit_test(test_prices_are_the_deployments_own_else_the_tables),
        cmocka_unit_test(test_a_price_of_zero_is_no_price_to_choose_by),
        cmocka_unit_test(test_a_base_model_speaks_for_a_name_of_ones_own),
        cmocka_unit_test(test_what_a_model_lacks_is_asked_of_it_unless_it_is_dropped),
        cmocka_unit_test(test_a_path_to_drop_must_be_one),
        cmocka_unit_test(test_a_model_map_comes_before_the_table),
        cmocka_unit_test(test_a_model_map_that_cannot_be_read_refuses_the_start),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
