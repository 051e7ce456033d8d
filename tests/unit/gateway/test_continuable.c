/* Which requests may have a broken answer continued (decisions 32). */
#include "unit.h"

#include <stdio.h>

#include <weir/mem_libc.h>

#include "gateway/continuation/continuable.h"
#include "wire/http1_read.h"

static bool may(weir_route route, const char *members)
{
    const struct weir_asked_rules rules = {.max_depth = 20};
    const struct weir_http1_head head = {0};
    struct weir_arena arena;
    struct weir_asked asked;
    struct weir_problem problem;
    char body[512];
    bool result;

    (void)snprintf(body, sizeof(body), "{\"model\": \"g\", %s}", members);
    weir_arena_init(&arena, weir_mem_libc(), 4096, 1 << 20);
    assert_int_equal(
        weir_asked_read(&rules, &head, weir_slice_str(body), WEIR_SLICE_EMPTY, &arena, &asked, &problem), 0);
    result = weir_continuable(route, &asked);
    weir_arena_deinit(&arena);
    return result;
}

static void only_a_streamed_chat_may(void **state)
{
    (void)state;
    assert_true(may(WEIR_ROUTE_CHAT, "\"stream\": true"));
    assert_false(may(WEIR_ROUTE_CHAT, "\"stream\": false"));
    assert_false(may(WEIR_ROUTE_CHAT, "\"messages\": []"));
    assert_false(may(WEIR_ROUTE_COMPLETIONS, "\"stream\": true"));
    assert_false(may(WEIR_ROUTE_EMBEDDINGS, "\"stream\": true"));
}

static void expect_all(const char *const *members, size_t count, bool expected)
{
    for (size_t i = 0; i < count; i++) {
        char text[256];

        (void)snprintf(text, sizeof(text), "\"stream\": true, %s", members[i]);
        if (may(WEIR_ROUTE_CHAT, text) != expected)
            fail_msg("%s: %s", members[i], expected ? "forbids" : "does not forbid");
    }
}

static void what_leaves_plain_text_as_it_is_allows(void **state)
{
    static const char *const members[] = {
        "\"n\": 1",
        "\"n\": null",
        "\"logprobs\": false",
        "\"top_logprobs\": 0",
        "\"response_format\": {\"type\": \"text\"}",
        "\"response_format\": null",
        "\"modalities\": [\"text\"]",
        "\"audio\": null",
        "\"tools\": [{\"type\": \"function\"}]",
        "\"tool_choice\": \"auto\"",
        "\"tool_choice\": \"none\"",
        "\"guided_json\": null",
        "\"temperature\": 0",
        "\"messages\": [{\"role\": \"user\", \"content\": \"n\", \"n\": 2}]",
    };

    (void)state;
    expect_all(members, sizeof(members) / sizeof(*members), true);
}

static void what_constrains_or_multiplies_forbids(void **state)
{
    static const char *const members[] = {
        "\"n\": 2",
        "\"n\": \"1\"",
        "\"n\": 1, \"n\": 2",
        "\"\\u006e\": 2",
        "\"best_of\": 2",
        "\"logprobs\": true",
        "\"logprobs\": 1",
        "\"top_logprobs\": 3",
        "\"response_format\": {\"type\": \"json_object\"}",
        "\"response_format\": {\"type\": \"json_schema\", \"json_schema\": {}}",
        "\"response_format\": {}",
        "\"response_format\": \"text\"",
        "\"modalities\": [\"text\", \"audio\"]",
        "\"modalities\": []",
        "\"audio\": {\"voice\": \"v\"}",
        "\"tool_choice\": \"required\"",
        "\"tool_choice\": {\"type\": \"function\", \"function\": {\"name\": \"f\"}}",
        "\"function_call\": {\"name\": \"f\"}",
        "\"structured_outputs\": {\"json\": {}}",
        "\"guided_json\": {}",
        "\"guided_regex\": \"a\"",
        "\"guided_choice\": [\"a\"]",
        "\"guided_grammar\": \"a\"",
        "\"grammar\": \"a\"",
        "\"regex\": \"a\"",
    };

    (void)state;
    expect_all(members, sizeof(members) / sizeof(*members), false);
}

static void no_member_says_so_by_itself(void **state)
{
    static const char *const members[] = {
        "\"may_continue\": true, \"n\": 2",
        "\"continuation\": true, \"n\": 2",
        "\"metadata\": {\"may_continue\": true}, \"n\": 2",
    };

    (void)state;
    expect_all(members, sizeof(members) / sizeof(*members), false);
}

static void what_is_added_to_a_request_counts_alike(void **state)
{
    (void)state;
    assert_true(weir_continuable_with(WEIR_SLICE_EMPTY));
    assert_true(weir_continuable_with(WEIR_SLICE("{}")));
    assert_true(weir_continuable_with(WEIR_SLICE("{\"temperature\": 0, \"n\": 1}")));
    assert_false(weir_continuable_with(WEIR_SLICE("{\"response_format\": {\"type\": \"json_object\"}}")));
    assert_false(weir_continuable_with(WEIR_SLICE("{\"guided_json\": {}}")));
    assert_false(weir_continuable_with(WEIR_SLICE("no object")));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(only_a_streamed_chat_may),
        cmocka_unit_test(what_leaves_plain_text_as_it_is_allows),
        cmocka_unit_test(what_constrains_or_multiplies_forbids),
        cmocka_unit_test(no_member_says_so_by_itself),
        cmocka_unit_test(what_is_added_to_a_request_counts_alike),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
