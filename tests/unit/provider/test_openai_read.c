/* Answers and chunks in OpenAI's protocol. */
#include "unit.h"

#include <string.h>

#include "provider/openai_read.h"

static int answer(weir_route route, const char *body, struct weir_plain_answer *ret_answer)
{
    return weir_openai_read_answer(route, weir_slice_str(body), ret_answer);
}

static struct weir_chunk chunk_of(weir_route route, const char *name, const char *data, const char *other)
{
    struct weir_sse_event event = {.name = weir_slice_str(name),
                                   .data = weir_slice_str(data),
                                   .other = weir_slice_str(other),
                                   .has_data = data[0] != '\0'};
    struct weir_chunk chunk;

    weir_openai_read_chunk(route, &event, &chunk);
    return chunk;
}

static struct weir_chunk chat(const char *data)
{
    return chunk_of(WEIR_ROUTE_CHAT, "", data, "");
}

static void a_whole_answer_tells_its_facts(void **state)
{
    const char *body =
        "{\"id\":\"c\",\"model\": \"m-1\",\"choices\":[{\"index\":0,\"finish_reason\":\"stop\",\"message\":"
        "{\"content\":\"hi\"}}],\"usage\":{\"prompt_tokens\":10,\"completion_tokens\":5,\"total_tokens\":15,"
        "\"prompt_tokens_details\":{\"cached_tokens\":4},\"completion_tokens_details\":"
        "{\"reasoning_tokens\":2}}}";
    struct weir_plain_answer a;

    (void)state;
    assert_int_equal(answer(WEIR_ROUTE_CHAT, body, &a), 0);
    assert_slice_is(a.model.text, "\"m-1\"");
    assert_ptr_equal(a.model.text.ptr, strstr(body, "\"m-1\""));
    assert_true(a.usage.told);
    assert_int_equal(a.usage.prompt_tokens, 10);
    assert_int_equal(a.usage.completion_tokens, 5);
    assert_int_equal(a.usage.total_tokens, 15);
    assert_false(a.content_filtered);
}

static void a_filtered_answer_says_so(void **state)
{
    struct weir_plain_answer a;

    (void)state;
    assert_int_equal(answer(WEIR_ROUTE_CHAT,
                            "{\"choices\":[{\"finish_reason\":\"stop\"},{\"finish_reason\":"
                            "\"content_filter\"}]}",
                            &a),
                     0);
    assert_true(a.content_filtered);
    assert_int_equal(a.model.type, WEIR_JSON_NOTHING);
    assert_false(a.usage.told);
}

static void what_is_no_answer_is_a_failed_attempt(void **state)
{
    static const char *const bad[] = {"",
                                      " ",
                                      "null",
                                      "[]",
                                      "\"text\"",
                                      "<html>",
                                      "{",
                                      "{\"choices\":[]} x",
                                      "{\"choices\":[{\"message\":{\"content\":\"ha",
                                      "{}",
                                      "{\"data\":[]}",
                                      "{\"choices\":null}",
                                      "{\"choices\":{}}"};
    struct weir_plain_answer a;

    (void)state;
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
        assert_int_equal(answer(WEIR_ROUTE_CHAT, bad[i], &a), WEIR_ANSWER_BAD);
    assert_int_equal(answer(WEIR_ROUTE_EMBEDDINGS, "{\"choices\":[]}", &a), WEIR_ANSWER_BAD);
    assert_int_equal(answer(WEIR_ROUTE_EMBEDDINGS,
                            "{\"data\":[{\"embedding\":[0.5]}],\"usage\":{\"prompt_tokens\":3}}", &a),
                     0);
    assert_int_equal(a.usage.prompt_tokens, 3);
    assert_int_equal(answer(WEIR_ROUTE_COMPLETIONS, "{\"choices\":[{\"text\":\"a\"}]}", &a), 0);
}

static void an_error_object_with_200_is_a_failed_attempt(void **state)
{
    struct weir_plain_answer a;

    (void)state;
    assert_int_equal(answer(WEIR_ROUTE_CHAT, "{\"error\": {\"code\": 429}}", &a), WEIR_ANSWER_ERROR);
    assert_int_equal(answer(WEIR_ROUTE_CHAT, "{\"error\": \"busy\", \"choices\": []}", &a),
                     WEIR_ANSWER_ERROR);
    assert_int_equal(answer(WEIR_ROUTE_CHAT, "{\"choices\":[{\"finish_reason\":\"error\"}]}", &a),
                     WEIR_ANSWER_GAVE_UP);
    assert_int_equal(
        answer(WEIR_ROUTE_CHAT, "{\"choices\":[{\"error\":{\"code\":502},\"finish_reason\":\"error\"}]}", &a),
        WEIR_ANSWER_ERROR);
    assert_int_equal(answer(WEIR_ROUTE_CHAT, "{\"error\": null, \"choices\": [{}]}", &a), 0);
}

struct chunk_case {
    const char *data;
    weir_chunk_class chunk_class;
};

#define DELTA(delta) "{\"choices\":[{\"index\":0,\"delta\":" delta ",\"finish_reason\":null}]}"

static const struct chunk_case chat_cases[] = {
    {DELTA("{}"), WEIR_CHUNK_EMPTY},
    {DELTA("null"), WEIR_CHUNK_EMPTY},
    {DELTA("{\"role\":\"assistant\"}"), WEIR_CHUNK_EMPTY},
    {DELTA("{\"role\":\"assistant\",\"content\":\"\"}"), WEIR_CHUNK_EMPTY},
    {DELTA("{\"content\":null,\"tool_calls\":[],\"refusal\":null,\"audio\":{ }}"), WEIR_CHUNK_EMPTY},
    {DELTA("{\"content\":\"Hel\"}"), WEIR_CHUNK_TEXT},
    {DELTA("{\"content\":\" \"}"), WEIR_CHUNK_TEXT},
    {DELTA("{\"c\\u006fntent\":\"x\"}"), WEIR_CHUNK_TEXT},
    {DELTA("{\"content\":[{\"type\":\"text\",\"text\":\"x\"}]}"), WEIR_CHUNK_OTHER},
    {DELTA("{\"tool_calls\":[{\"index\":0}]}"), WEIR_CHUNK_OTHER},
    {DELTA("{\"function_call\":{\"name\":\"f\"}}"), WEIR_CHUNK_OTHER},
    {DELTA("{\"reasoning_content\":\"hm\"}"), WEIR_CHUNK_OTHER},
    {DELTA("{\"reasoning\":\"hm\"}"), WEIR_CHUNK_OTHER},
    {DELTA("{\"thinking\":\"hm\"}"), WEIR_CHUNK_OTHER},
    {DELTA("{\"thinking_blocks\":[{}]}"), WEIR_CHUNK_OTHER},
    {DELTA("{\"refusal\":\"no\"}"), WEIR_CHUNK_OTHER},
    {DELTA("{\"audio\":{\"data\":\"x\"}}"), WEIR_CHUNK_OTHER},
    {DELTA("{\"images\":[{}]}"), WEIR_CHUNK_OTHER},
    {DELTA("{\"annotations\":[{}]}"), WEIR_CHUNK_OTHER},
    {DELTA("{\"content\":\"x\",\"refusal\":\"no\"}"), WEIR_CHUNK_OTHER},
    {"{\"choices\":[],\"prompt_filter_results\":[{}]}", WEIR_CHUNK_EMPTY},
    {"{}", WEIR_CHUNK_EMPTY},
    {"[DONE]", WEIR_CHUNK_DONE},
    {" [DONE] ", WEIR_CHUNK_DONE},
    {"{\"error\":{\"message\":\"x\"}}", WEIR_CHUNK_ERROR},
    {"{\"error\":\"x\",\"choices\":[{\"delta\":{\"content\":\"y\"}}]}", WEIR_CHUNK_ERROR},
    {"{\"choices\":[{\"delta\":{},\"finish_reason\":\"error\"}]}", WEIR_CHUNK_GAVE_UP},
    {"{\"choices\":[{\"delta\":{},\"error\":{\"code\":502},\"finish_reason\":\"error\"}]}", WEIR_CHUNK_ERROR},
    {"{\"choices\":[{\"delta\":{},\"error\":{\"code\":502}}]}", WEIR_CHUNK_ERROR},
    {"{\"error\":null,\"choices\":[]}", WEIR_CHUNK_EMPTY},
    {"{not json", WEIR_CHUNK_BAD},
    {"{\"choices\":[{\"delta\":{\"content\":\"a\"}}", WEIR_CHUNK_BAD},
    {"[1]", WEIR_CHUNK_BAD},
    {"text", WEIR_CHUNK_BAD},
    {"", WEIR_CHUNK_EMPTY},
};

static void what_counts_as_content_is_content(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(chat_cases) / sizeof(chat_cases[0]); i++) {
        struct weir_chunk chunk = chat(chat_cases[i].data);

        if (chunk.chunk_class != chat_cases[i].chunk_class)
            fail_msg("%s is %d", chat_cases[i].data, (int)chunk.chunk_class);
        assert_int_equal(chunk.chunk_class == WEIR_CHUNK_ERROR, chunk.error.len > 0);
    }
}

static void a_finish_reason_ends_the_stream(void **state)
{
    struct weir_chunk chunk = chat("{\"choices\":[{\"delta\":{},\"finish_reason\":\"stop\"}]}");

    (void)state;
    assert_true(chunk.ended == 1);
    assert_false(chunk.content_filtered);
    chunk = chat("{\"choices\":[{\"delta\":{\"content\":\"x\"},\"finish_reason\":\"content_filter\"}]}");
    assert_true(chunk.ended == 1);
    assert_true(chunk.content_filtered);
    assert_int_equal(chunk.chunk_class, WEIR_CHUNK_TEXT);
    chunk = chat("{\"choices\":[{\"delta\":{},\"finish_reason\":\"\"}]}");
    assert_true(chunk.ended == 0);
}

static void each_choice_counts_for_itself(void **state)
{
    struct weir_chunk chunk = chat("{\"choices\":[{\"delta\":{\"role\":\"assistant\",\"content\":\"\"}}]}");

    (void)state;
    assert_int_equal(chunk.deltas, 0);
    assert_int_equal(chunk.text.type, WEIR_JSON_NOTHING);
    chunk = chat("{\"choices\":[{\"delta\":{\"content\":\"x\",\"refusal\":\"no\"}},"
                 "{\"delta\":{}},{\"delta\":{\"content\":\"y\\n\"}}]}");
    assert_int_equal(chunk.deltas, 2);
    assert_slice_is(chunk.text.text, "\"y\\n\"");
    chunk = chat("{\"choices\":[{\"finish_reason\":\"length\"},{\"finish_reason\":null},"
                 "{\"finish_reason\":\"stop\"}]}");
    assert_slice_is(chunk.finish, "length");
    chunk = chat("{\"choices\":[{\"index\":1,\"finish_reason\":\"stop\"},{\"index\":0,\"delta\":{}},"
                 "{\"finish_reason\":null,\"index\":200}]}");
    assert_true(chunk.ended == 2 && chunk.spoken == (3 | UINT64_C(1) << 63));
}

static void an_answer_is_empty_when_no_choice_holds_anything(void **state)
{
    static const char *const empty[] = {
        "{\"choices\":[{\"message\":{\"role\":\"assistant\",\"content\":\"\"},\"finish_reason\":\"stop\"}]}",
        "{\"choices\":[{\"message\":{\"content\":null,\"tool_calls\":[]}},{\"message\":{}}]}",
        "{\"choices\":[]}",
    };
    static const char *const full[] = {
        "{\"choices\":[{\"message\":{\"content\":\"x\"}}]}",
        "{\"choices\":[{\"message\":{\"content\":\"\"}},{\"message\":{\"refusal\":\"no\"}}]}",
        "{\"choices\":[{\"message\":{\"content\":null,\"reasoning_content\":\"hm\"}}]}",
        "{\"choices\":[{\"message\":{\"tool_calls\":[{\"id\":\"c\"}]}}]}",
    };
    struct weir_plain_answer a;

    (void)state;
    for (size_t i = 0; i < sizeof(empty) / sizeof(empty[0]); i++) {
        assert_int_equal(answer(WEIR_ROUTE_CHAT, empty[i], &a), 0);
        assert_true(a.empty);
    }
    for (size_t i = 0; i < sizeof(full) / sizeof(full[0]); i++) {
        assert_int_equal(answer(WEIR_ROUTE_CHAT, full[i], &a), 0);
        assert_false(a.empty);
    }
    assert_int_equal(answer(WEIR_ROUTE_COMPLETIONS, "{\"choices\":[{\"text\":\"\"}]}", &a), 0);
    assert_true(a.empty);
    assert_int_equal(answer(WEIR_ROUTE_EMBEDDINGS, "{\"data\":[{\"embedding\":[0.5]}]}", &a), 0);
    assert_false(a.empty);
}

static void what_tokens_are_made_of_is_found_by_every_name_for_it(void **state)
{
    struct weir_chunk chunk =
        chat("{\"choices\":[],\"usage\":{\"prompt_tokens\":9,\"prompt_tokens_details\":{\"audio_tokens\":0,"
             "\"cached_tokens\":4,\"cache_write_tokens\":3},\"completion_tokens\":7,"
             "\"completion_tokens_details\":{\"reasoning_tokens\":5},\"total_tokens\":16}}");

    (void)state;
    assert_int_equal(chunk.usage.prompt_tokens, 9);
    assert_int_equal(chunk.usage.cached_tokens, 4);
    assert_int_equal(chunk.usage.cache_write_tokens, 3);
    assert_int_equal(chunk.usage.reasoning_tokens, 5);
    assert_int_equal(chunk.usage.total_tokens, 16);
    chunk = chat("{\"choices\":[],\"usage\":{\"prompt_cache_hit_tokens\":6,"
                 "\"prompt_tokens_details\":null,\"cache_creation_input_tokens\":2}}");
    assert_int_equal(chunk.usage.cached_tokens, 6);
    assert_int_equal(chunk.usage.cache_write_tokens, 2);
}

static void usage_and_model_are_found_in_a_chunk(void **state)
{
    struct weir_chunk chunk = chat("{\"model\":\"m\",\"choices\":[],\"usage\":{\"total_tokens\":18}}");

    (void)state;
    assert_slice_is(chunk.model.text, "\"m\"");
    assert_true(chunk.usage.told);
    assert_int_equal(chunk.usage.total_tokens, 18);
    assert_false(chat("{\"choices\":[{\"delta\":{}}],\"usage\":null}").usage.told);
}

static void legacy_completions_stream_text(void **state)
{
    (void)state;
    assert_int_equal(chunk_of(WEIR_ROUTE_COMPLETIONS, "", "{\"choices\":[{\"text\":\"a\"}]}", "").chunk_class,
                     WEIR_CHUNK_TEXT);
    assert_int_equal(chunk_of(WEIR_ROUTE_COMPLETIONS, "", "{\"choices\":[{\"text\":\"\"}]}", "").chunk_class,
                     WEIR_CHUNK_EMPTY);
}

static void errors_come_in_other_shapes_too(void **state)
{
    struct weir_chunk chunk = chunk_of(WEIR_ROUTE_CHAT, "error", "{\"message\":\"x\"}", "");

    (void)state;
    assert_int_equal(chunk.chunk_class, WEIR_CHUNK_ERROR);
    assert_slice_is(chunk.error, "{\"message\":\"x\"}");
    chunk = chunk_of(WEIR_ROUTE_CHAT, "", "", "error: {\"code\":500}\n");
    assert_int_equal(chunk.chunk_class, WEIR_CHUNK_ERROR);
    assert_slice_is(chunk.error, "{\"code\":500}");
    chunk = chunk_of(WEIR_ROUTE_CHAT, "", "", "{\"error\":1}\n");
    assert_int_equal(chunk.chunk_class, WEIR_CHUNK_ERROR);
    chunk = chunk_of(WEIR_ROUTE_CHAT, "", "", "<html>\n");
    assert_int_equal(chunk.chunk_class, WEIR_CHUNK_ERROR);
    chunk = chunk_of(WEIR_ROUTE_CHAT, "", "", "odd: field\n");
    assert_int_equal(chunk.chunk_class, WEIR_CHUNK_EMPTY);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_whole_answer_tells_its_facts),
        cmocka_unit_test(a_filtered_answer_says_so),
        cmocka_unit_test(what_is_no_answer_is_a_failed_attempt),
        cmocka_unit_test(an_error_object_with_200_is_a_failed_attempt),
        cmocka_unit_test(what_counts_as_content_is_content),
        cmocka_unit_test(a_finish_reason_ends_the_stream),
        cmocka_unit_test(each_choice_counts_for_itself),
        cmocka_unit_test(an_answer_is_empty_when_no_choice_holds_anything),
        cmocka_unit_test(what_tokens_are_made_of_is_found_by_every_name_for_it),
        cmocka_unit_test(usage_and_model_are_found_in_a_chunk),
        cmocka_unit_test(legacy_completions_stream_text),
        cmocka_unit_test(errors_come_in_other_shapes_too),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
