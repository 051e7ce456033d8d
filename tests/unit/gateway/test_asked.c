#include "unit.h"

#include <string.h>

#include <weir/mem_libc.h>

#include "base/time.h"
#include "gateway/request/asked.h"
#include "provider/fields.h"
#include "test_mem.h"
#include "wire/http1_read.h"

/* A request read in a fixture of its own. */
struct reading {
    struct weir_arena arena;
    struct weir_asked_rules rules;
    struct weir_http1_field fields[4];
    struct weir_http1_head head;
    struct weir_slice path_model;
    struct weir_asked asked;
    struct weir_problem problem;
};

static int begin(void **state)
{
    struct reading *reading = test_calloc(1, sizeof(*reading));

    weir_arena_init(&reading->arena, weir_mem_libc(), 4096, 1 << 20);
    reading->rules.max_depth = 20;
    reading->head.fields = reading->fields;
    *state = reading;
    return 0;
}

static int end(void **state)
{
    struct reading *reading = *state;

    weir_arena_deinit(&reading->arena);
    test_free(reading);
    return 0;
}

static int read_body(struct reading *reading, const char *body)
{
    return weir_asked_read(&reading->rules, &reading->head, weir_slice_str(body), reading->path_model,
                           &reading->arena, &reading->asked, &reading->problem);
}

static const struct weir_request *accept(struct reading *reading, const char *body)
{
    int r = read_body(reading, body);

    if (r == WEIR_REFUSED)
        print_error("refused: %.*s\n", (int)reading->problem.message.len, reading->problem.message.ptr);
    assert_int_equal(r, 0);
    return &reading->asked.request;
}

/* Refused with 400, naming that field, with those words in the message. */
static void refuse(struct reading *reading, const char *body, const char *param, const char *words)
{
    assert_int_equal(read_body(reading, body), WEIR_REFUSED);
    assert_int_equal(reading->problem.status, 400);
    assert_slice_is(reading->problem.param, param);
    if (!weir_slice_has(reading->problem.message, weir_slice_str(words)))
        fail_msg("\"%.*s\" does not say \"%s\"", (int)reading->problem.message.len,
                 reading->problem.message.ptr, words);
}

static void header(struct reading *reading, const char *name, const char *value)
{
    reading->fields[reading->head.field_count++] =
        (struct weir_http1_field){weir_slice_str(name), weir_slice_str(value)};
}

static void a_plain_request_says_its_model_and_nothing_else(void **state)
{
    struct reading *reading = *state;
    const struct weir_request *request =
        accept(reading, "{\"model\": \"g\", \"messages\": [], \"x\": {\"y\": 1}}");

    assert_slice_is(request->model, "g");
    assert_false(request->stream);
    assert_int_equal(request->controls.num_retries, WEIR_UNSET);
    assert_int_equal(request->controls.limits.timeout_ns, WEIR_UNSET_NS);
    assert_false(request->controls.by_caller);
    assert_int_equal(request->lists[WEIR_LIST_GENERIC].presence, WEIR_LIST_ABSENT);
    assert_int_equal(reading->asked.member_count, 3);
}

static void the_model_of_the_path_beats_that_of_the_body(void **state)
{
    struct reading *reading = *state;

    reading->path_model = WEIR_SLICE("p");
    assert_slice_is(accept(reading, "{\"model\": \"b\"}")->model, "p");
    assert_slice_is(accept(reading, "{}")->model, "p");
}

static void escapes_in_keys_and_names_count_as_what_they_spell(void **state)
{
    struct reading *reading = *state;
    const struct weir_request *request =
        accept(reading, "{\"\\u006dodel\": \"\\u0067/1\", \"str\\u0065am\": true}");

    assert_slice_is(request->model, "g/1");
    assert_true(request->stream);
}

static void a_model_or_stream_that_is_said_twice_is_refused(void **state)
{
    struct reading *reading = *state;

    refuse(reading, "{\"model\": \"a\", \"model\": \"b\"}", "model", "more than once");
    refuse(reading, "{\"model\": \"a\", \"\\u006dodel\": \"a\"}", "model", "more than once");
    refuse(reading, "{\"model\": \"a\", \"stream\": true, \"stream\": false}", "stream", "more than once");
}

static void a_body_that_is_no_request_is_refused(void **state)
{
    struct reading *reading = *state;

    refuse(reading, "[]", "", "JSON object");
    refuse(reading, "", "", "JSON object");
    refuse(reading, "{}", "model", "missing");
    refuse(reading, "{\"model\": \"\"}", "model", "missing");
    refuse(reading, "{\"model\": null}", "model", "missing");
    refuse(reading, "{\"model\": 7}", "model", "string");
    refuse(reading, "{\"model\": \"g\", \"stream\": 1}", "stream", "true or false");
    refuse(reading, "{not json", "", "byte 1");
    refuse(reading, "{\"model\": \"g\", \"a\": tru}", "", "byte 23");
    refuse(reading, "{\"model\": \"g\"} x", "", "JSON");
}

static void nesting_has_a_limit(void **state)
{
    struct reading *reading = *state;

    reading->rules.max_depth = 3;
    (void)accept(reading, "{\"model\": \"g\", \"a\": [[1]]}");
    refuse(reading, "{\"model\": \"g\", \"a\": [[[1]]]}", "", "nested too deep");
}

static void limits_and_retries_are_read_in_numbers_and_texts(void **state)
{
    struct reading *reading = *state;
    const struct weir_request *request = accept(
        reading, "{\"model\": \"g\", \"num_retries\": 3, \"timeout\": 1.5, \"stream_timeout\": \"0.25\"}");

    assert_int_equal(request->controls.num_retries, 3);
    assert_int_equal(request->controls.limits.timeout_ns, 1500 * WEIR_NS_PER_MS);
    assert_int_equal(request->controls.limits.stream_timeout_ns, 250 * WEIR_NS_PER_MS);
    assert_true(request->controls.by_caller);
}

static void request_timeout_yields_to_timeout(void **state)
{
    struct reading *reading = *state;

    assert_int_equal(
        accept(reading, "{\"model\": \"g\", \"request_timeout\": 2}")->controls.limits.timeout_ns,
        2 * WEIR_NS_PER_S);
    assert_int_equal(accept(reading, "{\"model\": \"g\", \"timeout\": 1, \"request_timeout\": 2}")
                         ->controls.limits.timeout_ns,
                     WEIR_NS_PER_S);
    assert_int_equal(accept(reading, "{\"model\": \"g\", \"request_timeout\": 2, \"timeout\": 1}")
                         ->controls.limits.timeout_ns,
                     WEIR_NS_PER_S);
}

static void wrong_controls_are_refused_by_name(void **state)
{
    struct reading *reading = *state;

    refuse(reading, "{\"model\": \"g\", \"num_retries\": -1}", "num_retries", "whole number");
    refuse(reading, "{\"model\": \"g\", \"num_retries\": 1.5}", "num_retries", "whole number");
    refuse(reading, "{\"model\": \"g\", \"num_retries\": \"many\"}", "num_retries", "whole number");
    refuse(reading, "{\"model\": \"g\", \"timeout\": -1}", "timeout", "seconds");
    refuse(reading, "{\"model\": \"g\", \"stream_timeout\": []}", "stream_timeout", "seconds");
    refuse(reading, "{\"model\": \"g\", \"disable_fallbacks\": 1}", "disable_fallbacks", "true or false");
}

static void headers_beat_the_body(void **state)
{
    struct reading *reading = *state;
    const struct weir_request *request;

    header(reading, "X-LiteLLM-Num-Retries", "4");
    header(reading, "x-litellm-timeout", "0.5");
    header(reading, "x-litellm-stream-timeout", "2");
    request = accept(reading, "{\"model\": \"g\", \"num_retries\": 1, \"timeout\": 9}");
    assert_int_equal(request->controls.num_retries, 4);
    assert_int_equal(request->controls.limits.timeout_ns, 500 * WEIR_NS_PER_MS);
    assert_int_equal(request->controls.limits.stream_timeout_ns, 2 * WEIR_NS_PER_S);
    assert_true(request->controls.by_caller);
}

static void a_wrong_header_is_refused(void **state)
{
    struct reading *reading = *state;

    header(reading, "x-litellm-num-retries", "some");
    refuse(reading, "{\"model\": \"g\"}", "x-litellm-num-retries", "whole number");
}

static void null_says_nothing_but_in_lists(void **state)
{
    struct reading *reading = *state;
    const struct weir_request *request = accept(
        reading, "{\"model\": \"g\", \"num_retries\": null, \"timeout\": null, \"disable_fallbacks\": null, "
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
    struct reading *reading = *state;
    const struct weir_chain_list *list =
        &accept(reading, "{\"model\": \"g\", \"fallbacks\": [\"B\", \"\\u0043\"]}")->lists[WEIR_LIST_GENERIC];

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
    struct reading *reading = *state;
    const struct weir_chain_list *list =
        &accept(reading, "{\"model\": \"g\", \"fallbacks\": [{\"temperature\": 0.5, \"model\": \"C\", "
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
    struct reading *reading = *state;
    const struct weir_chain_list *list =
        &accept(reading,
                "{\"model\": \"g\", \"content_policy_fallbacks\": [{\"A\": [\"B\", {\"model\": \"C\"}]}, "
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
    struct reading *reading = *state;

    refuse(reading, "{\"model\": \"g\", \"fallbacks\": \"B\"}", "fallbacks", "must be a list");
    refuse(reading, "{\"model\": \"g\", \"fallbacks\": {\"A\": [\"B\"]}}", "fallbacks", "must be a list");
    refuse(reading, "{\"model\": \"g\", \"fallbacks\": [7]}", "fallbacks", "must be a list");
    refuse(reading, "{\"model\": \"g\", \"fallbacks\": [\"\"]}", "fallbacks", "must be a list");
    refuse(reading, "{\"model\": \"g\", \"fallbacks\": [{\"A\": \"B\"}]}", "fallbacks", "must be a list");
    refuse(reading, "{\"model\": \"g\", \"fallbacks\": [{\"model\": 1}]}", "fallbacks", "must be a list");
    refuse(reading, "{\"model\": \"g\", \"fallbacks\": [{\"A\": [1]}]}", "fallbacks", "must be a list");
}

static void a_list_of_more_targets_than_fit_says_how_many_do(void **state)
{
    struct reading *reading = *state;
    static const char start[] = "{\"model\": \"g\", \"fallbacks\": [\"B\"";
    static const char another[] = ", \"B\"";
    static const char end[] = "]}";
    char body[1024];
    size_t used = sizeof(start) - 1;

    memcpy(body, start, used);
    for (size_t i = 1; i < WEIR_ASKED_TARGETS_MAX; i++, used += sizeof(another) - 1)
        memcpy(body + used, another, sizeof(another) - 1);
    memcpy(body + used, end, sizeof(end));
    (void)accept(reading, body);
    memcpy(body + used, another, sizeof(another) - 1);
    memcpy(body + used + sizeof(another) - 1, end, sizeof(end));
    refuse(reading, body, "fallbacks", "more entries in one place than 64");
}

static void where_and_with_which_key_is_not_the_callers(void **state)
{
    struct reading *reading = *state;

    refuse(reading, "{\"model\": \"g\", \"api_base\": \"http://e\"}", "api_base", "configuration");
    refuse(reading, "{\"model\": \"g\", \"api_\\u006bey\": \"k\"}", "api_key", "configuration");
    refuse(reading, "{\"model\": \"g\", \"fallbacks\": [{\"model\": \"B\", \"base_url\": \"http://e\"}]}",
           "base_url", "configuration");
}

static void where_may_be_the_callers_where_it_is_allowed(void **state)
{
    struct reading *reading = *state;

    reading->rules.caller_places = WEIR_PLACE_BIT(WEIR_PLACE_KEY);
    assert_true(accept(reading, "{\"model\": \"g\", \"api_key\": \"k\"}")->caller_credentials);
    assert_int_equal(reading->asked.places, WEIR_PLACE_BIT(WEIR_PLACE_KEY));
    refuse(reading, "{\"model\": \"g\", \"api_base\": \"http://e\"}", "api_base", "configuration");
}

static void testing_flags_want_to_be_allowed(void **state)
{
    struct reading *reading = *state;

    refuse(reading, "{\"model\": \"g\", \"mock_testing_fallbacks\": true}", "mock_testing_fallbacks",
           "not allowed");
    refuse(reading, "{\"model\": \"g\", \"mock_delay\": 1}", "mock_delay", "not allowed");
    reading->rules.mock_flags = true;
    assert_int_equal(accept(reading, "{\"model\": \"g\", \"mock_testing_fallbacks\": true, "
                                     "\"mock_testing_rate_limit_error\": \"true\", \"mock_timeout\": false, "
                                     "\"mock_testing_context_window_fallbacks\": true, \"mock_delay\": 0.5}")
                         ->mock,
                     WEIR_MOCK_FALLBACKS | WEIR_MOCK_RATE_LIMIT | WEIR_MOCK_CONTEXT_WINDOW);
    assert_int_equal(reading->asked.mock_delay_ns, 500 * WEIR_NS_PER_MS);
}

static void a_retry_policy_is_read_for_each_group(void **state)
{
    struct reading *reading = *state;
    const struct weir_request *request = accept(
        reading, "{\"model\": \"g\", \"model_group_retry_policy\": {\"g\": {\"RateLimitErrorRetries\": 4, "
                 "\"TimeoutErrorRetries\": null}, \"h\": {}}}");

    assert_int_equal(request->retry_policy_count, 2);
    assert_slice_is(request->retry_policies[0].group, "g");
    assert_int_equal(request->retry_policies[0].policy.count[WEIR_POLICY_RATE_LIMIT], 4);
    assert_int_equal(request->retry_policies[0].policy.count[WEIR_POLICY_TIMEOUT], WEIR_UNSET);
    refuse(reading, "{\"model\": \"g\", \"model_group_retry_policy\": {\"g\": {\"RateLimitRetries\": 4}}}",
           "RateLimitRetries", "no field");
    refuse(reading, "{\"model\": \"g\", \"model_group_retry_policy\": []}", "model_group_retry_policy",
           "groups");
}

static void settings_of_weir_are_not_a_requests_to_change(void **state)
{
    struct reading *reading = *state;

    (void)accept(reading, "{\"model\": \"g\", \"weir\": {}}");
    refuse(reading, "{\"model\": \"g\", \"weir\": {\"call_deadline\": 5}}", "weir", "call_deadline");
    refuse(reading, "{\"model\": \"g\", \"weir\": 5}", "weir", "object");
}

static void running_out_of_memory_is_told(void **state)
{
    static const char body[] =
        "{\"model\": \"\\u0067\", \"fallbacks\": [{\"A\": [{\"model\": \"B\", \"x\": 1}]}]}";
    struct reading *reading = *state;
    struct test_mem mem;
    int r = -1;

    for (size_t n = 1; r != 0; n++) {
        struct weir_arena arena;

        test_mem_init(&mem, n);
        weir_arena_init(&arena, &mem.mem, 256, 1 << 20);
        r = weir_asked_read(&reading->rules, &reading->head, weir_slice_str(body), WEIR_SLICE_EMPTY, &arena,
                            &reading->asked, &reading->problem);
        assert_true(r == 0 || mem.failed);
        weir_arena_deinit(&arena);
        test_mem_assert_empty(&mem);
    }
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, begin, end)

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
