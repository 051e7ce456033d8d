/* Strategies, routing groups, limits and tags as the file has them. */
#include "unit.h"

#include <stdio.h>
#include <string.h>

#include <weir/mem_libc.h>

#include "config/tag_regex.h"
#include "engine/snapshot/snapshot.h"
#include "kit.h"

#define A      "{model_name: a, litellm_params: {model: openai/m, api_base: http://x.example, api_key: k}}"
#define B      "{model_name: b, litellm_params: {model: openai/m, api_base: http://x.example, api_key: k}}"
#define MODELS "model_list: [" A ", " B "]\n"

static const struct weir_strategy_spec *strategy_of(const struct kit *kit)
{
    assert_int_equal(kit->rv, 0);
    return &weir_snapshot_router(kit->config->snapshot)->strategy;
}

static void test_each_strategy_has_its_name_and_one_has_two(void **state)
{
    static const struct {
        const char *name;
        weir_strategy strategy;
    } cases[] = {
        {"simple-shuffle", WEIR_STRATEGY_SIMPLE_SHUFFLE},
        {"least-busy", WEIR_STRATEGY_LEAST_BUSY},
        {"usage-based-routing-v2", WEIR_STRATEGY_USAGE},
        {"usage-based-routing", WEIR_STRATEGY_USAGE},
        {"latency-based-routing", WEIR_STRATEGY_LATENCY},
        {"cost-based-routing", WEIR_STRATEGY_COST},
        {"lar1", WEIR_STRATEGY_LAR1},
        {"p2c-ewma", WEIR_STRATEGY_P2C_EWMA},
    };
    char text[512];
    struct kit kit;

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        (void)snprintf(text, sizeof(text), MODELS "router_settings: {routing_strategy: %s}\n", cases[i].name);
        kit_load(&kit, NULL, text);
        assert_int_equal(strategy_of(&kit)->strategy, cases[i].strategy);
        if (cases[i].strategy != WEIR_STRATEGY_USAGE || i == 2)
            kit_expect_count(&kit, 0);
        else
            kit_expect(&kit, 2, "router_settings.routing_strategy", "warning",
                       "another name of usage-based-routing-v2");
        kit_free(&kit);
    }
}

static void test_priority_is_of_routing_groups_alone(void **state)
{
    struct kit kit;

    (void)state;
    kit_load(&kit, NULL, MODELS "router_settings: {routing_strategy: priority}\n");
    assert_int_equal(kit.rv, WEIR_CONFIG_REFUSED);
    kit_expect(&kit, 2, "router_settings.routing_strategy", "error",
               "expected one of simple-shuffle, least-busy, usage-based-routing-v2, latency-based-routing, "
               "cost-based-routing, lar1, p2c-ewma");
    kit_free(&kit);
}

/* A strategy without another name is not called by the empty one. */
static void test_no_name_is_no_strategy(void **state)
{
    struct kit kit;

    (void)state;
    kit_load(&kit, NULL, MODELS "router_settings: {routing_strategy: ''}\n");
    assert_int_equal(kit.rv, WEIR_CONFIG_REFUSED);
    kit_expect(&kit, 2, "router_settings.routing_strategy", "error", "unknown routing strategy");
    kit_free(&kit);
}

static void test_arguments_reach_the_strategy(void **state)
{
    const struct weir_strategy_spec *spec;
    struct kit kit;

    (void)state;
    kit_load(&kit, NULL,
             MODELS "router_settings:\n"
                    "  routing_strategy: latency-based-routing\n"
                    "  routing_strategy_args:\n"
                    "    ttl: 10\n"
                    "    lowest_latency_buffer: '0.5'\n"
                    "    max_latency_list_size: 100\n"
                    "    decay: 2\n"
                    "    confidence_threshold_low: 0.2\n"
                    "    lowest_latency_bufer: 1\n");
    spec = strategy_of(&kit);
    assert_int_equal(spec->ttl_ns, UINT64_C(10000000000));
    assert_true(spec->lowest_latency_buffer > 0.49 && spec->lowest_latency_buffer < 0.51);
    assert_int_equal(spec->max_latency_samples, WEIR_LATENCY_SAMPLES_MAX);
    assert_int_equal(spec->decay_ns, UINT64_C(2000000000));
    assert_true(spec->confidence_low < 0.21);
    kit_expect(&kit, 5, "router_settings.routing_strategy_args", "warning", "brought to 32");
    kit_expect(&kit, 10, "router_settings.routing_strategy_args.lowest_latency_bufer", "warning",
               "did you mean lowest_latency_buffer?");
    kit_expect_count(&kit, 2);
    kit_free(&kit);
}

static void test_bad_arguments_refuse_the_start(void **state)
{
    static const struct {
        const char *args;
        const char *path;
        const char *words;
    } cases[] = {
        {"[]", "router_settings.routing_strategy_args", "expected a map"},
        {"{ttl: soon}", "router_settings.routing_strategy_args.ttl", "a number of seconds"},
        {"{max_latency_list_size: 0}", "router_settings.routing_strategy_args.max_latency_list_size",
         "from 1"},
        {"{confidence_threshold_low: 0.5}", "router_settings.routing_strategy_args", "0 < low < medium"},
        {"{confidence_threshold_high: 1}", "router_settings.routing_strategy_args", "high < 1"},
        {"{confidence_threshold_low: 0}", "router_settings.routing_strategy_args", "0 < low"},
    };
    char text[512];
    struct kit kit;

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        (void)snprintf(text, sizeof(text),
                       MODELS "router_settings: {routing_strategy: lar1, routing_strategy_args: %s}\n",
                       cases[i].args);
        kit_load(&kit, NULL, text);
        assert_int_equal(kit.rv, WEIR_CONFIG_REFUSED);
        kit_expect(&kit, 2, cases[i].path, "error", cases[i].words);
        kit_free(&kit);
    }
}

/* ---- routing groups ---- */

static void test_routing_groups_load_and_tell_what_is_odd(void **state)
{
    struct kit kit;

    (void)state;
    kit_load(&kit, NULL,
             MODELS "router_settings:\n"
                    "  routing_groups:\n"
                    "  - {group_name: thrift, models: [a, bb], routing_strategy: cost-based-routing,\n"
                    "     model_priorities: {a: 1}, modles: []}\n"
                    "  - {group_name: ladder, models: [a, b], routing_strategy: priority,\n"
                    "     model_priorities: {a: 2, c: 1}}\n");
    assert_int_equal(kit.rv, 0);
    kit_expect(&kit, 4, "router_settings.routing_groups[0].models[1]", "warning",
               "no group has this name: never used");
    kit_expect(&kit, 5, "router_settings.routing_groups[0].model_priorities", "warning", "no effect");
    kit_expect(&kit, 5, "router_settings.routing_groups[0].modles", "warning", "did you mean models?");
    kit_expect(&kit, 7, "router_settings.routing_groups[1].model_priorities.c", "warning",
               "not one of the group's models");
    kit_expect_count(&kit, 4);
    kit_free(&kit);
}

static void test_a_model_named_twice_is_told_and_has_its_priority(void **state)
{
    const struct weir_set *ladder;
    struct kit kit;

    (void)state;
    kit_load(&kit, NULL,
             MODELS "router_settings:\n"
                    "  routing_groups:\n"
                    "  - {group_name: ladder, models: [a, b, a], routing_strategy: priority,\n"
                    "     model_priorities: {a: 2, b: 1}}\n");
    assert_int_equal(kit.rv, 0);
    kit_expect(&kit, 4, "router_settings.routing_groups[0].models[2]", "warning",
               "named before in this list");
    kit_expect_count(&kit, 1);
    ladder = &kit.config->snapshot->routings[0]->set;
    assert_int_equal(ladder->tier_count, 2);
    assert_int_equal(ladder->count, 2);
    assert_int_equal(ladder->tiers[0].order, 1);
    assert_int_equal(ladder->tiers[1].order, 2);
    kit_free(&kit);
}

static void test_weighted_failover_without_simple_shuffle_is_told(void **state)
{
    static const struct {
        const char *router;
        size_t warnings;
    } cases[] = {
        {"routing_strategy: least-busy", 1},
        {"routing_strategy: simple-shuffle", 0},
        {"num_retries: 1", 0},
        {"routing_strategy: least-busy\n"
         "  routing_groups: [{group_name: x, models: [a], routing_strategy: simple-shuffle}]",
         0},
        {"routing_strategy: least-busy\n"
         "  routing_groups: [{group_name: x, models: [a], routing_strategy: lar1}]",
         1},
    };
    char text[1024];
    struct kit kit;

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        (void)snprintf(text, sizeof(text),
                       MODELS "router_settings:\n  enable_weighted_failover: true\n  %s\n", cases[i].router);
        kit_load(&kit, NULL, text);
        assert_int_equal(kit.rv, 0);
        kit_expect_count(&kit, cases[i].warnings);
        if (cases[i].warnings > 0)
            kit_expect(&kit, 3, "router_settings.enable_weighted_failover", "warning", "no effect");
        kit_free(&kit);
    }
}

static void test_a_wrong_routing_group_refuses_the_start(void **state)
{
    static const struct {
        const char *groups;
        const char *path;
        const char *words;
    } cases[] = {
        {"{a: b}", "router_settings.routing_groups", "expected a list"},
        {"[a]", "router_settings.routing_groups[0]", "expected a map"},
        {"[{models: [a], routing_strategy: lar1}]", "router_settings.routing_groups[0]", "no group_name"},
        {"[{group_name: '', models: [a], routing_strategy: lar1}]",
         "router_settings.routing_groups[0].group_name", "not empty"},
        {"[{group_name: default, models: [a], routing_strategy: lar1}]",
         "router_settings.routing_groups[0].group_name", "default is taken"},
        {"[{group_name: x, models: [a], routing_strategy: lar1},"
         " {group_name: x, models: [b], routing_strategy: lar1}]",
         "router_settings.routing_groups[1].group_name", "another routing group"},
        {"[{group_name: x, models: [a]}]", "router_settings.routing_groups[0]", "no routing_strategy"},
        {"[{group_name: x, models: [a], routing_strategy: best}]",
         "router_settings.routing_groups[0].routing_strategy", "p2c-ewma, priority"},
        {"[{group_name: x, models: [a], routing_strategy: lar1, routing_strategy_args: 3}]",
         "router_settings.routing_groups[0].routing_strategy_args", "expected a map"},
        {"[{group_name: x, routing_strategy: lar1}]", "router_settings.routing_groups[0]", "no models"},
        {"[{group_name: x, models: [], routing_strategy: lar1}]", "router_settings.routing_groups[0].models",
         "not empty"},
        {"[{group_name: x, models: [[a]], routing_strategy: lar1}]",
         "router_settings.routing_groups[0].models[0]", "the name of a group"},
        {"[{group_name: x, models: [a], routing_strategy: lar1},"
         " {group_name: y, models: [b, a], routing_strategy: lar1}]",
         "router_settings.routing_groups[1].models[1]", "a is in a routing group already"},
        {"[{group_name: x, models: [a], routing_strategy: priority}]", "router_settings.routing_groups[0]",
         "no model_priorities"},
        {"[{group_name: x, models: [a], routing_strategy: priority, model_priorities: {a: first}}]",
         "router_settings.routing_groups[0].model_priorities.a", "a whole number"},
    };
    char text[1024];
    struct kit kit;

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        (void)snprintf(text, sizeof(text), MODELS "router_settings: {routing_groups: %s}\n", cases[i].groups);
        kit_load(&kit, NULL, text);
        assert_int_equal(kit.rv, WEIR_CONFIG_REFUSED);
        kit_expect(&kit, 2, cases[i].path, "error", cases[i].words);
        kit_free(&kit);
    }
}

/* ---- checks, tags ---- */

static void test_checks_are_named_one_by_one(void **state)
{
    struct kit kit;

    (void)state;
    kit_load(&kit, NULL,
             MODELS "router_settings:\n"
                    "  enable_pre_call_checks: true\n"
                    "  optional_pre_call_checks:\n"
                    "  - enforce_model_rate_limits\n"
                    "  - prompt_caching\n"
                    "  - enforce_model_rate_limit\n"
                    "  - whatever\n"
                    "  enable_tag_filtering: true\n"
                    "  tag_filtering_match_any: false\n"
                    "  tag_routing_prefix: 'route:'\n");
    assert_int_equal(kit.rv, 0);
    assert_true(weir_snapshot_router(kit.config->snapshot)->enforce_minute_limits);
    assert_true(weir_snapshot_router(kit.config->snapshot)->pre_call_checks);
    assert_true(weir_snapshot_router(kit.config->snapshot)->tag_filtering);
    assert_true(weir_snapshot_router(kit.config->snapshot)->tag_match_all);
    assert_slice_is(kit.config->settings.tag_prefix, "route:");
    kit_expect(&kit, 6, "router_settings.optional_pre_call_checks[1]", "warning",
               "known, not supported (affinity)");
    kit_expect(&kit, 7, "router_settings.optional_pre_call_checks[2]", "warning",
               "did you mean enforce_model_rate_limits?");
    kit_expect(&kit, 8, "router_settings.optional_pre_call_checks[3]", "warning", "unknown check");
    kit_expect_count(&kit, 3);
    kit_free(&kit);
}

static void test_tag_patterns_are_compiled_and_bad_ones_told(void **state)
{
    const struct weir_config_deployment *deployment;
    struct kit kit;

    (void)state;
    kit_load(&kit, NULL,
             "model_list:\n"
             "- model_name: g\n"
             "  litellm_params:\n"
             "    model: openai/m\n"
             "    api_base: http://x.example\n"
             "    api_key: k\n"
             "    tags: [free, default]\n"
             "    tag_regex: ['^User-Agent: claude-code\\/', '[', '(?i)CURL']\n"
             "- {model_name: g, litellm_params: {model: openai/m, api_base: http://x.example, api_key: k}}\n"
             "- {model_name: g, litellm_params: {model: openai/m, tags: free}}\n");
    kit_expect(&kit, 8, "model_list[0].litellm_params.tag_regex[1]", "warning", "not a regular expression");
    kit_expect(&kit, 10, "model_list[2].litellm_params.tags", "error", "a list of text");
    kit_expect_count(&kit, 2);
    deployment = kit_deployment(&kit, "g", 0);
    assert_true(
        weir_tag_regex_found(deployment->tag_patterns, WEIR_SLICE("User-Agent: claude-code/1.2 (x)")));
    assert_true(weir_tag_regex_found(deployment->tag_patterns, WEIR_SLICE("User-Agent: curl/8")));
    assert_false(weir_tag_regex_found(deployment->tag_patterns, WEIR_SLICE("User-Agent: python")));
    assert_false(weir_tag_regex_found(deployment->tag_patterns, WEIR_SLICE("")));
    assert_null(kit_deployment(&kit, "g", 1)->tag_patterns);
    kit_free(&kit);
}

/* Without limits this search would take longer than anyone waits. */
static void test_a_pattern_that_runs_away_is_not_found(void **state)
{
    const struct weir_tag_regex *list = NULL;
    struct weir_tag_regex *all = NULL;
    struct weir_arena arena;
    char why[WEIR_TAG_REGEX_TEXT_MAX], subject[200];

    (void)state;
    memset(subject, 'a', sizeof(subject));
    weir_arena_init(&arena, weir_mem_libc(), 4096, 65536);
    assert_int_equal(weir_tag_regex_add(WEIR_SLICE("^(a+)+$b"), &arena, &list, &all, why), 0);
    assert_int_equal(weir_tag_regex_add(WEIR_SLICE("^(([a-z])+.)+[A-Z]([a-z])+$"), &arena, &list, &all, why),
                     0);
    assert_false(weir_tag_regex_found(list, (struct weir_slice){subject, sizeof(subject)}));
    assert_false(weir_tag_regex_found(list, WEIR_SLICE("\xff\xfe aaa")));
    weir_tag_regex_free(all);
    weir_arena_deinit(&arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_each_strategy_has_its_name_and_one_has_two),
        cmocka_unit_test(test_priority_is_of_routing_groups_alone),
        cmocka_unit_test(test_no_name_is_no_strategy),
        cmocka_unit_test(test_arguments_reach_the_strategy),
        cmocka_unit_test(test_bad_arguments_refuse_the_start),
        cmocka_unit_test(test_routing_groups_load_and_tell_what_is_odd),
        cmocka_unit_test(test_a_model_named_twice_is_told_and_has_its_priority),
        cmocka_unit_test(test_weighted_failover_without_simple_shuffle_is_told),
        cmocka_unit_test(test_a_wrong_routing_group_refuses_the_start),
        cmocka_unit_test(test_checks_are_named_one_by_one),
        cmocka_unit_test(test_tag_patterns_are_compiled_and_bad_ones_told),
        cmocka_unit_test(test_a_pattern_that_runs_away_is_not_found),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
