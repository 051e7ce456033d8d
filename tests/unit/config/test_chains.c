/* Chains, aliases, policies of groups (RS 10, 11.2; decisions 14). */
#include "kit.h"

#include <stdio.h>

#define GROUPS                                                                                               \
    "model_list:\n"                                                                                          \
    "- {model_name: a, litellm_params: {model: openai/a, api_base: 'http://a.example'}}\n"                   \
    "- {model_name: b, litellm_params: {model: openai/b, api_base: 'http://b.example'}}\n"                   \
    "- {model_name: c/large, litellm_params: {model: openai/c, api_base: 'http://c.example'}}\n"

static void test_every_accepted_form(void **state)
{
    struct kit kit;

    (void)state;
    kit_load(&kit, NULL,
             GROUPS "router_settings:\n"
                    "  fallbacks:\n"
                    "    - a:\n"
                    "        - b\n"
                    "        - c/large\n"
                    "    - b:\n"
                    "      - {model: a, temperature: 0, num_retries: 1, timeout: '3'}\n"
                    "    - \"c/large\": []\n"
                    "    - '*': [a]\n"
                    "  context_window_fallbacks: [{a: [c/large]}]\n"
                    "  default_fallbacks: [b]\n"
                    "litellm_settings: {content_policy_fallbacks: [{large: [a]}]}\n");
    kit_expect_count(&kit, 0);
    assert_int_equal(kit.rv, 0);
    kit_free(&kit);
}

static void test_wrong_shapes_refuse(void **state)
{
    static const struct {
        const char *list;
        uint32_t column;
        const char *path;
        const char *words;
    } cases[] = {
        {"[a, b]", 15, "router_settings.fallbacks[0]", "found text, expected a map from one group to a list"},
        {"[{a: [b], b: [a]}]", 15, "router_settings.fallbacks[0]", "several keys"},
        {"[{}]", 15, "router_settings.fallbacks[0]", "no key"},
        {"[{a: b}]", 19, "router_settings.fallbacks[0].a", "found text"},
        {"[{a: }]", 19, "router_settings.fallbacks[0].a", "found nothing"},
        {"[{a: [1]}]", 20, "router_settings.fallbacks[0].a[0]", "the name of a group"},
        {"[{a: [{temperature: 0}]}]", 20, "router_settings.fallbacks[0].a[0]", "under `model`"},
        {"[{a: [{model: b, timeout: soon}]}]", 40, "router_settings.fallbacks[0].a[0].timeout", "seconds"},
        {"{a: [b]}", 14, "router_settings.fallbacks", "found a map, expected a list of maps"},
        {"a", 14, "router_settings.fallbacks", "found text"},
        {"[{model_name: a, fallback_models: [b]}]", 15, "router_settings.fallbacks[0]", "several keys"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        struct kit kit;
        char text[1024];

        snprintf(text, sizeof(text), GROUPS "router_settings:\n  fallbacks: %s\n", cases[i].list);
        kit_load(&kit, NULL, text);
        assert_int_equal(kit.rv, WEIR_CONFIG_REFUSED);
        kit_expect_count(&kit, 1);
        kit_expect(&kit, 6, cases[i].path, "error", cases[i].words);
        assert_int_equal(kit.diags.list[0].place.column, cases[i].column);
        kit_free(&kit);
    }
}

static void test_a_second_entry_for_a_group_is_told(void **state)
{
    struct kit kit;

    (void)state;
    kit_load(&kit, NULL, GROUPS "litellm_settings:\n  fallbacks:\n  - a: [b]\n  - a: [c/large]\n");
    kit_expect_count(&kit, 1);
    kit_expect(&kit, 8, "litellm_settings.fallbacks[1]", "warning", "a second entry for `a`, never used");
    kit_free(&kit);
}

static void test_names_that_stand_for_nothing_are_told(void **state)
{
    struct kit kit;

    (void)state;
    kit_load(&kit, NULL,
             GROUPS
             "router_settings:\n"
             "  fallbacks: [{gone: [a]}, {a: [nowhere, {model: lost}]}]\n"
             "  default_fallbacks: [void]\n"
             "  model_group_alias: {x: missing, y: {model: none}, z: b}\n"
             "  model_group_retry_policy: {nobody: {TimeoutErrorRetries: 1}, z: {TimeoutErrorRetries: 1}}\n");
    assert_int_equal(kit.rv, 0);
    kit_expect(&kit, 6, "router_settings.fallbacks[0]", "warning", "no group `gone`");
    kit_expect(&kit, 6, "router_settings.fallbacks[1].a[0]", "warning", "no group `nowhere`");
    kit_expect(&kit, 6, "router_settings.fallbacks[1].a[1]", "warning", "no group `lost`");
    kit_expect(&kit, 7, "router_settings.default_fallbacks[0]", "warning", "no group `void`");
    kit_expect(&kit, 8, "router_settings.model_group_alias.x", "warning", "no group `missing`");
    kit_expect(&kit, 8, "router_settings.model_group_alias.y", "warning", "no group `none`");
    kit_expect(&kit, 9, "router_settings.model_group_retry_policy.nobody", "warning", "no group `nobody`");
    kit_expect_count(&kit, 7);
    kit_free(&kit);
}

static void test_with_a_star_every_name_stands_for_something(void **state)
{
    struct kit kit;

    (void)state;
    kit_load(&kit, NULL,
             GROUPS "- {model_name: '*', litellm_params: {model: openai/*, api_base: 'http://d.example'}}\n"
                    "router_settings: {model_group_alias: {x: anything}, fallbacks: [{whatever: [else]}]}\n");
    kit_expect_count(&kit, 0);
    kit_free(&kit);
}

static void test_names_that_answers_report(void **state)
{
    const struct weir_slice *name;
    struct kit kit;

    (void)state;
    kit_load(&kit, NULL, GROUPS "litellm_settings: {model_alias_map: {a: shown, b: , c/large: other}}\n");
    kit_expect_count(&kit, 0);
    name = weir_map_get(&kit.config->renames, WEIR_SLICE("a"));
    assert_non_null(name);
    assert_true(weir_slice_eq(*name, WEIR_SLICE("shown")));
    assert_null(weir_map_get(&kit.config->renames, WEIR_SLICE("b")));
    kit_free(&kit);
    kit_load(&kit, NULL, GROUPS "litellm_settings: {model_alias_map: {a: [shown]}}\n");
    assert_int_equal(kit.rv, WEIR_CONFIG_REFUSED);
    kit_expect(&kit, 5, "litellm_settings.model_alias_map.a", "error", "the name to report instead");
    kit_free(&kit);
}

static void test_aliases(void **state)
{
    struct kit kit;
    bool hidden = false;

    (void)state;
    kit_load(&kit, NULL,
             GROUPS "router_settings:\n"
                    "  model_group_alias:\n"
                    "    plain: a\n"
                    "    secret: {model: b, hidden: true}\n"
                    "    wrong: [a]\n"
                    "    empty: {hidden: true}\n");
    assert_int_equal(kit.rv, 0);
    kit_expect(&kit, 9, "router_settings.model_group_alias.wrong", "error", "expected a group");
    kit_expect(&kit, 10, "router_settings.model_group_alias.empty", "error", "expected a group");
    kit_expect_count(&kit, 2);
    assert_int_equal(weir_snapshot_alias_count(kit.config->snapshot), 2);
    assert_slice_is(weir_snapshot_alias_name(kit.config->snapshot, 1, &hidden), "secret");
    assert_true(hidden);
    kit_free(&kit);
}

static void test_policies_of_groups(void **state)
{
    struct kit kit;

    (void)state;
    kit_load(
        &kit, NULL,
        GROUPS
        "router_settings:\n"
        "  model_group_retry_policy: {a: {RateLimitErrorRetries: '5', RateLimitErorRetries: 1}, b: 3}\n");
    assert_int_equal(kit.rv, WEIR_CONFIG_REFUSED);
    kit_expect(&kit, 6, "router_settings.model_group_retry_policy.a.RateLimitErorRetries", "warning",
               "did you mean RateLimitErrorRetries?");
    kit_expect(&kit, 6, "router_settings.model_group_retry_policy.b", "error", "a map of failures");
    kit_free(&kit);
}

static void test_an_aliass_target_from_a_variable_is_not_said(void **state)
{
    struct kit kit;

    (void)state;
    kit_load(&kit, (kit_env){"V=tell-nobody", NULL},
             "model_list: [{model_name: a, litellm_params: {model: sim/a}}]\n"
             "router_settings: {model_group_alias: {x: os.environ/V}}\n");
    kit_expect(&kit, 2, "router_settings.model_group_alias.x", "warning", "no group `os.environ/V`");
    kit_expect_nowhere(&kit, "tell-nobody");
    kit_free(&kit);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_accepted_form),
        cmocka_unit_test(test_wrong_shapes_refuse),
        cmocka_unit_test(test_a_second_entry_for_a_group_is_told),
        cmocka_unit_test(test_names_that_stand_for_nothing_are_told),
        cmocka_unit_test(test_with_a_star_every_name_stands_for_something),
        cmocka_unit_test(test_names_that_answers_report),
        cmocka_unit_test(test_aliases),
        cmocka_unit_test(test_policies_of_groups),
        cmocka_unit_test(test_an_aliass_target_from_a_variable_is_not_said),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
