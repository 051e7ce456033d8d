/* Whom weir tells of trouble: LiteLLM's settings and variables, and weir's own. */
#include "kit.h"

#include <stdio.h>

#define HEAD                                                                                                 \
    "model_list:\n"                                                                                          \
    "- model_name: g\n"                                                                                      \
    "  litellm_params: {model: openai/m, api_base: 'http://a.example', api_key: k}\n"

#define BIT(type) WEIR_ALERT_BIT(WEIR_ALERT_TYPE_##type)
#define ALL       (BIT(EXCEPTIONS) | BIT(TOO_SLOW) | BIT(HANGING) | BIT(COOLDOWN) | BIT(OUTAGE) | BIT(FALLBACKS))

static const struct weir_config_alerts *alerts_of(const struct kit *kit)
{
    assert_non_null(kit->config);
    return &kit->config->alerts;
}

static void assert_hook(const struct kit *kit, size_t index, const char *url, enum weir_alert_form form,
                        uint32_t types)
{
    const struct weir_config_alerts *alerts = alerts_of(kit);

    assert_true(index < alerts->hook_count);
    assert_slice_is(alerts->hooks[index].url, url);
    assert_int_equal(alerts->hooks[index].form, form);
    assert_int_equal(alerts->hooks[index].types, types);
}

static void test_addresses_alone_turn_nothing_on(void **state)
{
    struct kit kit;

    (void)state;
    kit_load(&kit, (kit_env){"SLACK_WEBHOOK_URL=https://s", "WEBHOOK_URL=nonsense", NULL}, HEAD);
    kit_expect_count(&kit, 0);
    assert_int_equal(alerts_of(&kit)->hook_count, 0);
    assert_int_equal(alerts_of(&kit)->types, 0);
    kit_free(&kit);
}

static void test_slack_goes_to_its_variable(void **state)
{
    struct kit kit;

    (void)state;
    kit_load(&kit, (kit_env){"SLACK_WEBHOOK_URL=https://s.example/x", "ALERTING_WEBHOOK_URL=http://a", NULL},
             HEAD "general_settings: {alerting: [slack]}\n");
    kit_expect_count(&kit, 0);
    assert_int_equal(alerts_of(&kit)->hook_count, 1);
    assert_hook(&kit, 0, "https://s.example/x", WEIR_ALERT_SLACK, ALL);
    assert_slice_is(alerts_of(&kit)->hooks[0].origin, "SLACK_WEBHOOK_URL");
    kit_free(&kit);
}

static void test_another_variable_stands_in_for_it(void **state)
{
    struct kit kit;

    (void)state;
    kit_load(&kit, NULL,
             HEAD "environment_variables: {ALERTING_WEBHOOK_URL: 'http://a'}\n"
                  "general_settings: {alerting: [slack]}\n");
    kit_expect_count(&kit, 0);
    assert_hook(&kit, 0, "http://a", WEIR_ALERT_SLACK, ALL);
    kit_free(&kit);
}

static void test_webhook_gets_json(void **state)
{
    struct kit kit;

    (void)state;
    kit_load(&kit, (kit_env){"WEBHOOK_URL=http://w:81/p?q", NULL},
             HEAD "general_settings: {alerting: [webhook], alert_types: [cooldown_deployment]}\n");
    kit_expect_count(&kit, 0);
    assert_hook(&kit, 0, "http://w:81/p?q", WEIR_ALERT_JSON, BIT(COOLDOWN));
    assert_int_equal(alerts_of(&kit)->types, BIT(COOLDOWN));
    kit_free(&kit);
}

static void test_a_place_without_an_address_is_warned_of(void **state)
{
    struct kit kit;

    (void)state;
    kit_load(&kit, NULL, HEAD "general_settings:\n  alerting: [slack, webhook]\n");
    kit_expect_count(&kit, 2);
    kit_expect(&kit, 5, "general_settings.alerting", "warning", "neither SLACK_WEBHOOK_URL is set");
    kit_expect(&kit, 5, "general_settings.alerting", "warning", "WEBHOOK_URL is not set");
    assert_int_equal(alerts_of(&kit)->types, 0);
    kit_free(&kit);
}

static void test_types_may_have_addresses_of_their_own(void **state)
{
    struct kit kit;

    (void)state;
    kit_load(&kit, (kit_env){"SLACK_WEBHOOK_URL=http://s", "OTHER=http://o", NULL},
             HEAD "general_settings:\n"
                  "  alerting: [slack]\n"
                  "  alert_to_webhook_url: {llm_too_slow: [http://a, http://b], outage_alerts: "
                  "os.environ/OTHER, cooldown_deployment: http://a}\n");
    kit_expect_count(&kit, 0);
    assert_int_equal(alerts_of(&kit)->hook_count, 4);
    assert_hook(&kit, 0, "http://a", WEIR_ALERT_SLACK, BIT(TOO_SLOW) | BIT(COOLDOWN));
    assert_hook(&kit, 1, "http://b", WEIR_ALERT_SLACK, BIT(TOO_SLOW));
    assert_hook(&kit, 2, "http://o", WEIR_ALERT_SLACK, BIT(OUTAGE));
    assert_hook(&kit, 3, "http://s", WEIR_ALERT_SLACK, BIT(EXCEPTIONS) | BIT(HANGING) | BIT(FALLBACKS));
    assert_int_equal(alerts_of(&kit)->types, ALL);
    kit_free(&kit);
}

static void test_types_that_nobody_takes_are_warned_of(void **state)
{
    struct kit kit;

    (void)state;
    kit_load(&kit, NULL,
             HEAD "general_settings:\n"
                  "  alerting: [slack]\n"
                  "  alert_to_webhook_url: {llm_too_slow: http://a}\n");
    kit_expect_count(&kit, 1);
    kit_expect(&kit, 5, "general_settings.alerting", "warning", "does not name are not sent");
    kit_free(&kit);
}

static void test_addresses_of_types_are_for_slack(void **state)
{
    struct kit kit;

    (void)state;
    kit_load(&kit, NULL, HEAD "general_settings:\n  alert_to_webhook_url: {llm_too_slow: http://a}\n");
    kit_expect_count(&kit, 1);
    kit_expect(&kit, 5, "general_settings.alert_to_webhook_url", "warning", "slack is not in alerting");
    kit_free(&kit);
}

static void test_names_that_weir_does_not_have_are_told(void **state)
{
    struct kit kit;

    (void)state;
    kit_load(&kit, (kit_env){"SLACK_WEBHOOK_URL=http://s", NULL},
             HEAD
             "general_settings:\n"
             "  alerting: [slack, email]\n"
             "  alert_types:\n"
             "  - budget_alerts\n"
             "  - outage_alert\n"
             "  - cooldown_deployment\n"
             "  alert_type_config: {}\n"
             "  alerting_args: {daily_report_frequency: 1, outage_alert_ttl: 60, log_to_consol: true}\n");
    kit_expect_count(&kit, 7);
    kit_expect(&kit, 5, "general_settings.alerting[1]", "warning", "known, not supported (mail)");
    kit_expect(&kit, 7, "general_settings.alert_types[0]", "warning", "known, not supported (budgets)");
    kit_expect(&kit, 8, "general_settings.alert_types[1]", "warning", "did you mean outage_alerts?");
    kit_expect(&kit, 10, "general_settings.alert_type_config", "warning", "known, not supported");
    kit_expect(&kit, 11, "general_settings.alerting_args.daily_report_frequency", "warning",
               "known, not supported (daily reports)");
    kit_expect(&kit, 11, "general_settings.alerting_args.outage_alert_ttl", "warning", "nothing to do here");
    kit_expect(&kit, 11, "general_settings.alerting_args.log_to_consol", "warning",
               "did you mean log_to_console?");
    assert_hook(&kit, 0, "http://s", WEIR_ALERT_SLACK, BIT(COOLDOWN));
    kit_free(&kit);
}

static void test_no_types_are_no_alerts(void **state)
{
    struct kit kit;

    (void)state;
    kit_load(&kit, (kit_env){"SLACK_WEBHOOK_URL=http://s", NULL},
             HEAD "general_settings: {alerting: [slack], alert_types: []}\n");
    assert_int_equal(alerts_of(&kit)->types, 0);
    kit_free(&kit);
    kit_load(&kit, NULL, HEAD "general_settings: {alerting: [slack], alert_types: [budget_alerts]}\n");
    kit_expect(&kit, 4, "general_settings.alert_types", "warning", "no alert is sent");
    kit_free(&kit);
}

static void test_weirs_own_address_needs_nothing_else(void **state)
{
    struct kit kit;

    (void)state;
    kit_load(&kit, NULL,
             HEAD "weir_settings: {alert_webhook: ' http://own/ ', alert_webhook_template: slack}\n");
    kit_expect_count(&kit, 0);
    assert_hook(&kit, 0, "http://own/", WEIR_ALERT_SLACK, ALL);
    kit_free(&kit);
}

static void test_one_address_in_one_form_is_one_hook(void **state)
{
    struct kit kit;

    (void)state;
    kit_load(&kit, (kit_env){"SLACK_WEBHOOK_URL=http://s", "WEBHOOK_URL=http://s", NULL},
             HEAD "general_settings: {alerting: [slack, webhook]}\n"
                  "weir_settings: {alert_webhook: http://s}\n");
    assert_int_equal(alerts_of(&kit)->hook_count, 2);
    kit_free(&kit);
}

static void test_the_console_alone_will_do(void **state)
{
    struct kit kit;

    (void)state;
    kit_load(&kit, NULL,
             HEAD "general_settings: {alerting: [webhook], alerting_args: {log_to_console: true}}\n");
    assert_int_equal(alerts_of(&kit)->hook_count, 0);
    assert_true(alerts_of(&kit)->console);
    assert_int_equal(alerts_of(&kit)->types, ALL);
    kit_free(&kit);
}

/* The address of a webhook lets everybody write there. */
static void test_a_wrong_address_refuses_the_start_and_is_not_shown(void **state)
{
    static const char *const wrong[] = {"ftp://hush.example", "hush", "http://", "http://hush:1@h",
                                        "http://h/#hush"};
    struct kit kit;
    char text[512];

    (void)state;
    for (size_t i = 0; i < sizeof(wrong) / sizeof(*wrong); i++) {
        (void)snprintf(text, sizeof(text), HEAD "weir_settings:\n  alert_webhook: '%s'\n", wrong[i]);
        kit_load(&kit, NULL, text);
        assert_null(kit.config);
        kit_expect(&kit, 5, "weir_settings.alert_webhook", "error", "alert_webhook: the address is no URL");
        kit_expect_nowhere(&kit, "hush");
        kit_free(&kit);
        (void)snprintf(text, sizeof(text), "SLACK_WEBHOOK_URL=%s", wrong[i]);
        kit_load(&kit, (kit_env){text, NULL}, HEAD "general_settings:\n  alerting: [slack]\n");
        assert_null(kit.config);
        kit_expect(&kit, 5, "general_settings.alerting", "error", "SLACK_WEBHOOK_URL: the address is no URL");
        kit_expect_nowhere(&kit, "hush");
        kit_free(&kit);
    }
}

static void test_shapes_that_do_not_fit_refuse_the_start(void **state)
{
    static const char *const wrong[] = {"alerting: slack",
                                        "alerting: [slack], alert_types: outage_alerts",
                                        "alerting: [slack], alert_to_webhook_url: [http://a]",
                                        "alerting: [slack], alert_to_webhook_url: {llm_too_slow: 3}",
                                        "alerting: [slack], alert_to_webhook_url: {llm_too_slow: [[]]}",
                                        "alerting: [slack], alerting_threshold: 0",
                                        "alerting: [slack], alerting_args: [1]"};
    struct kit kit;
    char text[512];

    (void)state;
    for (size_t i = 0; i < sizeof(wrong) / sizeof(*wrong); i++) {
        (void)snprintf(text, sizeof(text), HEAD "general_settings: {%s}\n", wrong[i]);
        kit_load(&kit, (kit_env){"SLACK_WEBHOOK_URL=http://s", NULL}, text);
        if (kit.config != NULL)
            fail_msg("taken: %s", wrong[i]);
        kit_free(&kit);
    }
}

static void test_there_is_an_end_to_addresses(void **state)
{
    char list[1024] = "";
    char text[2048];
    struct kit kit;
    size_t len = 0;

    (void)state;
    for (int i = 0; i <= WEIR_CONFIG_HOOKS_MAX; i++)
        len += (size_t)snprintf(list + len, sizeof(list) - len, "'http://h%d',", i);
    (void)snprintf(
        text, sizeof(text),
        HEAD "general_settings:\n  alerting: [slack]\n  alert_to_webhook_url:\n    llm_too_slow: [%s]\n",
        list);
    kit_load(&kit, NULL, text);
    assert_null(kit.config);
    kit_expect(&kit, 7, "general_settings.alert_to_webhook_url.llm_too_slow[32]", "error", "more than 32");
    kit_free(&kit);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_addresses_alone_turn_nothing_on),
        cmocka_unit_test(test_slack_goes_to_its_variable),
        cmocka_unit_test(test_another_variable_stands_in_for_it),
        cmocka_unit_test(test_webhook_gets_json),
        cmocka_unit_test(test_a_place_without_an_address_is_warned_of),
        cmocka_unit_test(test_types_may_have_addresses_of_their_own),
        cmocka_unit_test(test_types_that_nobody_takes_are_warned_of),
        cmocka_unit_test(test_addresses_of_types_are_for_slack),
        cmocka_unit_test(test_names_that_weir_does_not_have_are_told),
        cmocka_unit_test(test_no_types_are_no_alerts),
        cmocka_unit_test(test_weirs_own_address_needs_nothing_else),
        cmocka_unit_test(test_one_address_in_one_form_is_one_hook),
        cmocka_unit_test(test_the_console_alone_will_do),
        cmocka_unit_test(test_a_wrong_address_refuses_the_start_and_is_not_shown),
        cmocka_unit_test(test_shapes_that_do_not_fit_refuse_the_start),
        cmocka_unit_test(test_there_is_an_end_to_addresses),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
