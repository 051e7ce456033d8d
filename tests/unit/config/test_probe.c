/* How deployments are asked whether they answer, and what the router is told of it (RS 17). */
#include "kit.h"

#include <stdio.h>

#define PARAMS(model) "litellm_params: {model: " model ", api_base: 'http://a.example'}"

static void test_what_is_not_said(void **state)
{
    const struct weir_config_deployment *d;
    const struct weir_router_spec *router;
    struct kit kit;

    (void)state;
    kit_load(&kit, NULL, "model_list: [{model_name: g, " PARAMS("openai/m") "}]\n");
    kit_expect_count(&kit, 0);
    assert_false(kit.config->settings.health_checks);
    assert_int_equal(kit.config->settings.health_interval_ns, UINT64_C(300000000000));
    assert_true(kit.config->settings.health_details);
    assert_slice_is(kit.config->settings.health_prompt, "test from litellm");
    router = weir_snapshot_router(kit.config->snapshot);
    assert_false(router->health_check_routing);
    assert_int_equal(router->health_staleness_ns, UINT64_C(600000000000));
    assert_int_equal(router->health_group_count, 0);
    d = kit_deployment(&kit, "g", 0);
    assert_true(d->probe.able && d->probe.by_itself);
    assert_int_equal(d->probe.route, WEIR_ROUTE_CHAT);
    assert_slice_is(d->probe.model, "openai/m");
    assert_int_equal(d->probe.max_tokens, 5);
    assert_int_equal(d->probe.timeout_ns, UINT64_C(60000000000));
    kit_free(&kit);
}

static void test_what_a_deployment_says_of_its_own(void **state)
{
    const struct weir_config_deployment *d;
    struct kit kit;

    (void)state;
    kit_load(&kit, (kit_env){"HEALTH_CHECK_TIMEOUT_SECONDS=7", "DEFAULT_HEALTH_CHECK_PROMPT=well?", NULL},
             "model_list:\n"
             "- {model_name: g, " PARAMS("'openai/*'") ", model_info: {health_check_model: openai/small, "
                                                       "health_check_timeout: 3, health_check_max_tokens: 9, "
                                                       "disable_background_health_check: true}}\n"
                                                       "- {model_name: g, " PARAMS(
                                                           "openai/m") ", model_info: {blocked: true}}\n");
    kit_expect_count(&kit, 0);
    assert_slice_is(kit.config->settings.health_prompt, "well?");
    d = kit_deployment(&kit, "g", 0);
    assert_slice_is(d->probe.model, "openai/small");
    assert_int_equal(d->probe.timeout_ns, UINT64_C(3000000000));
    assert_int_equal(d->probe.max_tokens, 9);
    assert_true(d->probe.able && d->probe.unchecked && !d->probe.by_itself);
    d = kit_deployment(&kit, "g", 1);
    assert_int_equal(d->probe.timeout_ns, UINT64_C(7000000000));
    assert_true(d->probe.able && !d->probe.by_itself);
    kit_free(&kit);
}

static void test_what_is_asked_for_follows_from_mode_and_model(void **state)
{
    static const struct {
        const char *group;
        bool able;
        weir_route route;
    } cases[] = {
        {"chat", true, WEIR_ROUTE_CHAT},      {"text", true, WEIR_ROUTE_COMPLETIONS},
        {"emb", true, WEIR_ROUTE_EMBEDDINGS}, {"name", true, WEIR_ROUTE_EMBEDDINGS},
        {"image", false, WEIR_ROUTE_CHAT},    {"wild", false, WEIR_ROUTE_CHAT},
    };
    struct kit kit;

    (void)state;
    kit_load(
        &kit, NULL,
        "model_list:\n"
        "- {model_name: chat, " PARAMS(
            "openai/embed") ", model_info: {mode: chat}}\n"
                            "- {model_name: text, " PARAMS(
                                "openai/m") ", model_info: {mode: completion}}\n"
                                            "- {model_name: emb, " PARAMS(
                                                "openai/m") ", model_info: {mode: embedding}}\n"
                                                            "- {model_name: name, " PARAMS(
                                                                "openai/text-embedding-3-small") "}\n"
                                                                                                 "- "
                                                                                                 "{model_"
                                                                                                 "name: "
                                                                                                 "image,"
                                                                                                 " " PARAMS(
                                                                                                     "openai/"
                                                                                                     "m") ", "
                                                                                                          "mo"
                                                                                                          "de"
                                                                                                          "l_"
                                                                                                          "in"
                                                                                                          "fo"
                                                                                                          ": "
                                                                                                          "{m"
                                                                                                          "od"
                                                                                                          "e:"
                                                                                                          " i"
                                                                                                          "ma"
                                                                                                          "ge"
                                                                                                          "_g"
                                                                                                          "en"
                                                                                                          "er"
                                                                                                          "at"
                                                                                                          "io"
                                                                                                          "n}"
                                                                                                          "}"
                                                                                                          "\n"
                                                                                                          "- "
                                                                                                          "{m"
                                                                                                          "od"
                                                                                                          "el"
                                                                                                          "_n"
                                                                                                          "am"
                                                                                                          "e:"
                                                                                                          " w"
                                                                                                          "il"
                                                                                                          "d,"
                                                                                                          " " PARAMS(
                                                                                                              "'openai/*'") "}\n");
    kit_expect_count(&kit, 0);
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        const struct weir_config_probe *probe = &kit_deployment(&kit, cases[i].group, 0)->probe;

        assert_int_equal(probe->able, cases[i].able);
        assert_int_equal(probe->by_itself, cases[i].able);
        if (cases[i].able)
            assert_int_equal(probe->route, cases[i].route);
    }
    kit_free(&kit);
}

static void test_groups_that_are_not_named_are_not_asked(void **state)
{
    const struct weir_router_spec *router;
    struct kit kit;

    (void)state;
    kit_load(&kit, NULL,
             "model_list: [{model_name: g, " PARAMS("openai/m") "}, {model_name: h, " PARAMS(
                 "openai/m") "}]\n"
                             "general_settings: {enable_health_check_routing: true, "
                             "health_check_staleness_threshold: 5,\n"
                             "  health_check_ignore_transient_errors: true, "
                             "background_health_check_model_groups: [g]}\n"
                             "router_settings: {health_check_staleness_threshold: 9}\n");
    kit_expect_count(&kit, 0);
    assert_true(kit_deployment(&kit, "g", 0)->probe.by_itself);
    assert_false(kit_deployment(&kit, "h", 0)->probe.by_itself);
    assert_true(kit_deployment(&kit, "h", 0)->probe.able);
    router = weir_snapshot_router(kit.config->snapshot);
    assert_true(router->health_check_routing && router->health_ignore_transient);
    assert_int_equal(router->health_staleness_ns, UINT64_C(9000000000));
    kit_free(&kit);
}

static void test_what_comes_to_nothing_is_said(void **state)
{
    struct kit kit;

    (void)state;
    kit_load(&kit, NULL,
             "model_list: [{model_name: g, " PARAMS(
                 "openai/m") "}]\n"
                             "general_settings:\n"
                             "  use_shared_health_check: true\n"
                             "  background_health_check_model_groups: [g, gone]\n");
    kit_expect_count(&kit, 2);
    kit_expect(&kit, 3, "general_settings.use_shared_health_check", "warning", "no Redis");
    kit_expect(&kit, 4, "general_settings.background_health_check_model_groups", "warning", "gone");
    kit_free(&kit);
}

static void test_groups_that_are_no_list_refuse_the_start(void **state)
{
    static const char *const sections[] = {"general_settings", "router_settings"};

    (void)state;
    for (size_t i = 0; i < 2; i++) {
        char text[256], path[128];
        struct kit kit;

        (void)snprintf(text, sizeof(text), "model_list: []\n%s: {background_health_check_model_groups: g}\n",
                       sections[i]);
        (void)snprintf(path, sizeof(path), "%s.background_health_check_model_groups", sections[i]);
        kit_load(&kit, NULL, text);
        assert_null(kit.config);
        kit_expect(&kit, 2, path, "error", "a list of text");
        kit_free(&kit);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_what_is_not_said),
        cmocka_unit_test(test_what_a_deployment_says_of_its_own),
        cmocka_unit_test(test_what_is_asked_for_follows_from_mode_and_model),
        cmocka_unit_test(test_groups_that_are_not_named_are_not_asked),
        cmocka_unit_test(test_what_comes_to_nothing_is_said),
        cmocka_unit_test(test_groups_that_are_no_list_refuse_the_start),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
