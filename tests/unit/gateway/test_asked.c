#include "unit.h"

#include <string.h>

#include <weir/mem_libc.h>

#include "asked_kit.h"
#include "base/time.h"
#include "provider/fields.h"

static void a_plain_request_says_its_model_and_nothing_else(void **state)
{
    struct asked_kit *kit = *state;
    const struct weir_request *request =
        asked_kit_accept(kit, "{\"model\": \"g\", \"messages\": [], \"x\": {\"y\": 1}}");

    assert_slice_is(request->model, "g");
    assert_false(request->stream);
    assert_int_equal(request->controls.num_retries, WEIR_UNSET);
    assert_int_equal(request->controls.limits.timeout_ns, WEIR_UNSET_NS);
    assert_false(request->controls.by_caller);
    assert_int_equal(request->lists[WEIR_LIST_GENERIC].presence, WEIR_LIST_ABSENT);
    assert_int_equal(kit->asked.member_count, 3);
}

static void the_model_of_the_path_beats_that_of_the_body(void **state)
{
    struct asked_kit *kit = *state;

    kit->path_model = WEIR_SLICE("p");
    assert_slice_is(asked_kit_accept(kit, "{\"model\": \"b\"}")->model, "p");
    assert_slice_is(asked_kit_accept(kit, "{}")->model, "p");
}

static void escapes_in_keys_and_names_count_as_what_they_spell(void **state)
{
    struct asked_kit *kit = *state;
    const struct weir_request *request =
        asked_kit_accept(kit, "{\"\\u006dodel\": \"\\u0067/1\", \"str\\u0065am\": true}");

    assert_slice_is(request->model, "g/1");
    assert_true(request->stream);
}

static void a_model_or_stream_that_is_said_twice_is_refused(void **state)
{
    struct asked_kit *kit = *state;

    asked_kit_refuse(kit, "{\"model\": \"a\", \"model\": \"b\"}", "model", "more than once");
    asked_kit_refuse(kit, "{\"model\": \"a\", \"\\u006dodel\": \"a\"}", "model", "more than once");
    asked_kit_refuse(kit, "{\"model\": \"a\", \"stream\": true, \"stream\": false}", "stream",
                     "more than once");
}

static void a_body_that_is_no_request_is_refused(void **state)
{
    struct asked_kit *kit = *state;

    asked_kit_refuse(kit, "[]", "", "JSON object");
    asked_kit_refuse(kit, "", "", "JSON object");
    asked_kit_refuse(kit, "{}", "model", "missing");
    asked_kit_refuse(kit, "{\"model\": \"\"}", "model", "missing");
    asked_kit_refuse(kit, "{\"model\": null}", "model", "missing");
    asked_kit_refuse(kit, "{\"model\": 7}", "model", "string");
    asked_kit_refuse(kit, "{\"model\": \"g\", \"stream\": 1}", "stream", "true or false");
    asked_kit_refuse(kit, "{not json", "", "byte 1");
    asked_kit_refuse(kit, "{\"model\": \"g\", \"a\": tru}", "", "byte 23");
    asked_kit_refuse(kit, "{\"model\": \"g\"} x", "", "JSON");
}

static void nesting_has_a_limit(void **state)
{
    struct asked_kit *kit = *state;

    kit->rules.max_depth = 3;
    (void)asked_kit_accept(kit, "{\"model\": \"g\", \"a\": [[1]]}");
    asked_kit_refuse(kit, "{\"model\": \"g\", \"a\": [[[1]]]}", "", "nested too deep");
}

static void limits_and_retries_are_read_in_numbers_and_texts(void **state)
{
    struct asked_kit *kit = *state;
    const struct weir_request *request = asked_kit_accept(
        kit, "{\"model\": \"g\", \"num_retries\": 3, \"timeout\": 1.5, \"stream_timeout\": \"0.25\"}");

    assert_int_equal(request->controls.num_retries, 3);
    assert_int_equal(request->controls.limits.timeout_ns, 1500 * WEIR_NS_PER_MS);
    assert_int_equal(request->controls.limits.stream_timeout_ns, 250 * WEIR_NS_PER_MS);
    assert_true(request->controls.by_caller);
}

static void request_timeout_yields_to_timeout(void **state)
{
    struct asked_kit *kit = *state;

    assert_int_equal(
        asked_kit_accept(kit, "{\"model\": \"g\", \"request_timeout\": 2}")->controls.limits.timeout_ns,
        2 * WEIR_NS_PER_S);
    assert_int_equal(asked_kit_accept(kit, "{\"model\": \"g\", \"timeout\": 1, \"request_timeout\": 2}")
                         ->controls.limits.timeout_ns,
                     WEIR_NS_PER_S);
    assert_int_equal(asked_kit_accept(kit, "{\"model\": \"g\", \"request_timeout\": 2, \"timeout\": 1}")
                         ->controls.limits.timeout_ns,
                     WEIR_NS_PER_S);
}

static void wrong_controls_are_refused_by_name(void **state)
{
    struct asked_kit *kit = *state;

    asked_kit_refuse(kit, "{\"model\": \"g\", \"num_retries\": -1}", "num_retries", "whole number");
    asked_kit_refuse(kit, "{\"model\": \"g\", \"num_retries\": 1.5}", "num_retries", "whole number");
    asked_kit_refuse(kit, "{\"model\": \"g\", \"num_retries\": \"many\"}", "num_retries", "whole number");
    asked_kit_refuse(kit, "{\"model\": \"g\", \"timeout\": -1}", "timeout", "seconds");
    asked_kit_refuse(kit, "{\"model\": \"g\", \"stream_timeout\": []}", "stream_timeout", "seconds");
    asked_kit_refuse(kit, "{\"model\": \"g\", \"disable_fallbacks\": 1}", "disable_fallbacks",
                     "true or false");
}

static void headers_beat_the_body(void **state)
{
    struct asked_kit *kit = *state;
    const struct weir_request *request;

    asked_kit_header(kit, "X-LiteLLM-Num-Retries", "4");
    asked_kit_header(kit, "x-litellm-timeout", "0.5");
    asked_kit_header(kit, "x-litellm-stream-timeout", "2");
    request = asked_kit_accept(kit, "{\"model\": \"g\", \"num_retries\": 1, \"timeout\": 9}");
    assert_int_equal(request->controls.num_retries, 4);
    assert_int_equal(request->controls.limits.timeout_ns, 500 * WEIR_NS_PER_MS);
    assert_int_equal(request->controls.limits.stream_timeout_ns, 2 * WEIR_NS_PER_S);
    assert_true(request->controls.by_caller);
}

static void a_wrong_header_is_refused(void **state)
{
    struct asked_kit *kit = *state;

    asked_kit_header(kit, "x-litellm-num-retries", "some");
    asked_kit_refuse(kit, "{\"model\": \"g\"}", "x-litellm-num-retries", "whole number");
}

static void null_says_nothing_but_in_lists(void **state)
{
    struct asked_kit *kit = *state;
    const struct weir_request *request = asked_kit_accept(
        kit, "{\"model\": \"g\", \"num_retries\": null, \"timeout\": null, \"disable_fallbacks\": null, "
             "\"stream\": null, \"mock_timeout\": null, \"weir\": null, \"api_key\": null, "
             "\"model_group_retry_policy\": null, \"fallbacks\": null, "
             "\"context_window_fallbacks\": []}");

    assert_int_equal(request->controls.num_retries, WEIR_UNSET);
    assert_false(request->controls.by_caller);
    assert_int_equal(request->lists[WEIR_LIST_GENERIC].presence, WEIR_LIST_NULL);
    assert_int_equal(request->lists[WEIR_LIST_CONTEXT_WINDOW].presence, WEIR_LIST_GIVEN);
    assert_int_equal(request->lists[WEIR_LIST_CONTEXT_WINDOW].count, 0);
    assert_int_equal(request->lists[WEIR_LIST_CONTENT_POLICY].presence, WEIR_LIST_ABSENT);
}

static void a_list_of_names_is_the_chain_itself(void **state)
{
    struct asked_kit *kit = *state;
    const struct weir_chain_list *list =
        &asked_kit_accept(kit, "{\"model\": \"g\", \"fallbacks\": [\"B\", \"\\u0043\"]}")
             ->lists[WEIR_LIST_GENERIC];

    assert_int_equal(list->presence, WEIR_LIST_GIVEN);
    assert_int_equal(list->count, 1);
    assert_slice_is(list->chains[0].group, "*");
    assert_int_equal(list->chains[0].count, 2);
    assert_slice_is(list->chains[0].targets[0].model, "B");
    assert_slice_is(list->chains[0].targets[1].model, "C");
    assert_int_equal(list->chains[0].targets[1].controls.num_retries, WEIR_UNSET);
}

static void a_target_may_change_the_request_for_its_hop(void **state)
{
    struct asked_kit *kit = *state;
    const struct weir_chain_list *list =
        &asked_kit_accept(kit, "{\"model\": \"g\", \"fallbacks\": [{\"temperature\": 0.5, \"model\": \"C\", "
                               "\"num_retries\": 1, \"messages\": [ 1 ]}]}")
             ->lists[WEIR_LIST_GENERIC];
    const struct weir_target *target = &list->chains[0].targets[0];

    assert_int_equal(list->count, 1);
    assert_slice_is(target->model, "C");
    assert_slice_is(target->overrides, "{\"temperature\": 0.5,\"messages\": [ 1 ]}");
    assert_int_equal(target->controls.num_retries, 1);
}

static void a_list_may_name_groups(void **state)
{
    struct asked_kit *kit = *state;
    const struct weir_chain_list *list =
        &asked_kit_accept(
             kit, "{\"model\": \"g\", \"content_policy_fallbacks\": [{\"A\": [\"B\", {\"model\": \"C\"}]}, "
                  "{\"model\": [\"D\"]}, {\"E\": []}]}")
             ->lists[WEIR_LIST_CONTENT_POLICY];

    assert_int_equal(list->count, 3);
    assert_slice_is(list->chains[0].group, "A");
    assert_int_equal(list->chains[0].count, 2);
    assert_slice_is(list->chains[0].targets[1].model, "C");
    assert_int_equal(list->chains[0].targets[1].overrides.len, 0);
    assert_slice_is(list->chains[1].group, "model"); /* a group of that name: its value is a list */
    assert_slice_is(list->chains[1].targets[0].model, "D");
    assert_int_equal(list->chains[2].count, 0);
}

static void lists_of_another_shape_are_refused(void **state)
{
    struct asked_kit *kit = *state;

    asked_kit_refuse(kit, "{\"model\": \"g\", \"fallbacks\": \"B\"}", "fallbacks", "must be a list");
    asked_kit_refuse(kit, "{\"model\": \"g\", \"fallbacks\": {\"A\": [\"B\"]}}", "fallbacks",
                     "must be a list");
    asked_kit_refuse(kit, "{\"model\": \"g\", \"fallbacks\": [7]}", "fallbacks", "must be a list");
    asked_kit_refuse(kit, "{\"model\": \"g\", \"fallbacks\": [\"\"]}", "fallbacks", "must be a list");
    asked_kit_refuse(kit, "{\"model\": \"g\", \"fallbacks\": [{\"A\": \"B\"}]}", "fallbacks",
                     "must be a list");
    asked_kit_refuse(kit, "{\"model\": \"g\", \"fallbacks\": [{\"model\": 1}]}", "fallbacks",
                     "must be a list");
    asked_kit_refuse(kit, "{\"model\": \"g\", \"fallbacks\": [{\"A\": [1]}]}", "fallbacks", "must be a list");
}

static void a_list_of_more_targets_than_fit_says_how_many_do(void **state)
{
    struct asked_kit *kit = *state;
    static const char start[] = "{\"model\": \"g\", \"fallbacks\": [\"B\"";
    static const char another[] = ", \"B\"";
    static const char end[] = "]}";
    char body[1024];
    size_t used = sizeof(start) - 1;

    memcpy(body, start, used);
    for (size_t i = 1; i < WEIR_ASKED_TARGETS_MAX; i++, used += sizeof(another) - 1)
        memcpy(body + used, another, sizeof(another) - 1);
    memcpy(body + used, end, sizeof(end));
    (void)asked_kit_accept(kit, body);
    memcpy(body + used, another, sizeof(another) - 1);
    memcpy(body + used + sizeof(another) - 1, end, sizeof(end));
    asked_kit_refuse(kit, body, "fallbacks", "more entries in one place than 64");
}

static void where_and_with_which_key_is_not_the_callers(void **state)
{
    struct asked_kit *kit = *state;

    asked_kit_refuse(kit, "{\"model\": \"g\", \"api_base\": \"http://e\"}", "api_base", "configuration");
    asked_kit_refuse(kit, "{\"model\": \"g\", \"api_\\u006bey\": \"k\"}", "api_key", "configuration");
    asked_kit_refuse(kit,
                     "{\"model\": \"g\", \"fallbacks\": [{\"model\": \"B\", \"base_url\": \"http://e\"}]}",
                     "base_url", "configuration");
}

static void where_may_be_the_callers_where_it_is_allowed(void **state)
{
    struct asked_kit *kit = *state;

    kit->rules.caller_places = WEIR_PLACE_BIT(WEIR_PLACE_KEY);
    assert_true(asked_kit_accept(kit, "{\"model\": \"g\", \"api_key\": \"k\"}")->caller_credentials);
    assert_int_equal(kit->asked.places, WEIR_PLACE_BIT(WEIR_PLACE_KEY));
    asked_kit_refuse(kit, "{\"model\": \"g\", \"api_base\": \"http://e\"}", "api_base", "configuration");
}

static void testing_flags_want_to_be_allowed(void **state)
{
    struct asked_kit *kit = *state;

    asked_kit_refuse(kit, "{\"model\": \"g\", \"mock_testing_fallbacks\": true}", "mock_testing_fallbacks",
                     "not allowed");
    asked_kit_refuse(kit, "{\"model\": \"g\", \"mock_delay\": 1}", "mock_delay", "not allowed");
    kit->rules.mock_flags = true;
    assert_int_equal(asked_kit_accept(kit,
                                      "{\"model\": \"g\", \"mock_testing_fallbacks\": true, "
                                      "\"mock_testing_rate_limit_error\": \"true\", \"mock_timeout\": false, "
                                      "\"mock_testing_context_window_fallbacks\": true, \"mock_delay\": 0.5}")
                         ->mock,
                     WEIR_MOCK_FALLBACKS | WEIR_MOCK_RATE_LIMIT | WEIR_MOCK_CONTEXT_WINDOW);
    assert_int_equal(kit->asked.mock_delay_ns, 500 * WEIR_NS_PER_MS);
}

static void a_retry_policy_is_read_for_each_group(void **state)
{
    struct asked_kit *kit = *state;
    const struct weir_request *request = asked_kit_accept(
        kit, "{\"model\": \"g\", \"model_group_retry_policy\": {\"g\": {\"RateLimitErrorRetries\": 4, "
             "\"TimeoutErrorRetries\": null}, \"h\": {}}}");

    assert_int_equal(request->retry_policy_count, 2);
    assert_slice_is(request->retry_policies[0].group, "g");
    assert_int_equal(request->retry_policies[0].policy.count[WEIR_POLICY_RATE_LIMIT], 4);
    assert_int_equal(request->retry_policies[0].policy.count[WEIR_POLICY_TIMEOUT], WEIR_UNSET);
    asked_kit_refuse(kit,
                     "{\"model\": \"g\", \"model_group_retry_policy\": {\"g\": {\"RateLimitRetries\": 4}}}",
                     "RateLimitRetries", "no field");
    asked_kit_refuse(kit, "{\"model\": \"g\", \"model_group_retry_policy\": []}", "model_group_retry_policy",
                     "groups");
}

static void settings_of_weir_are_not_a_requests_to_change(void **state)
{
    struct asked_kit *kit = *state;

    (void)asked_kit_accept(kit, "{\"model\": \"g\", \"weir\": {}}");
    asked_kit_refuse(kit, "{\"model\": \"g\", \"weir\": {\"call_deadline\": 5}}", "weir", "call_deadline");
    asked_kit_refuse(kit, "{\"model\": \"g\", \"weir\": 5}", "weir", "object");
}

static void running_out_of_memory_is_told(void **state)
{
    static const char body[] =
        "{\"model\": \"\\u0067\", \"fallbacks\": [{\"A\": [{\"model\": \"B\", \"x\": 1}]}]}";
    struct asked_kit *kit = *state;

    asked_kit_run_out_of_memory(kit, body);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, asked_kit_begin, asked_kit_end)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_plain_request_says_its_model_and_nothing_else),
        TEST(the_model_of_the_path_beats_that_of_the_body),
        TEST(escapes_in_keys_and_names_count_as_what_they_spell),
        TEST(a_model_or_stream_that_is_said_twice_is_refused),
        TEST(a_body_that_is_no_request_is_refused),
        TEST(nesting_has_a_limit),
        TEST(limits_and_retries_are_read_in_numbers_and_texts),
        TEST(request_timeout_yields_to_timeout),
        TEST(wrong_controls_are_refused_by_name),
        TEST(headers_beat_the_body),
        TEST(a_wrong_header_is_refused),
        TEST(null_says_nothing_but_in_lists),
        TEST(a_list_of_names_is_the_chain_itself),
        TEST(a_target_may_change_the_request_for_its_hop),
        TEST(a_list_may_name_groups),
        TEST(lists_of_another_shape_are_refused),
        TEST(a_list_of_more_targets_than_fit_says_how_many_do),
        TEST(where_and_with_which_key_is_not_the_callers),
        TEST(where_may_be_the_callers_where_it_is_allowed),
        TEST(testing_flags_want_to_be_allowed),
        TEST(a_retry_policy_is_read_for_each_group),
        TEST(settings_of_weir_are_not_a_requests_to_change),
        TEST(running_out_of_memory_is_told),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
