#include "unit.h"

#include <string.h>

#include "provider/prompt.h"

enum { MEMBERS = 16 };

static struct weir_prompt read_body(const char *body)
{
    struct weir_json_item members[MEMBERS];
    struct weir_json_cursor cursor;
    struct weir_prompt prompt;
    size_t count = 0;

    assert_int_equal(weir_json_enter(&cursor, (struct weir_slice){body, strlen(body)}, 64), 0);
    while (weir_json_next(&cursor, &members[count]) == WEIR_JSON_ITEM)
        assert_in_range(++count, 1, MEMBERS - 1);
    assert_false(cursor.bad);
    weir_prompt_read(members, count, &prompt);
    return prompt;
}

static void assert_same(const char *body, const char *other)
{
    struct weir_prompt prompt = read_body(body);
    struct weir_prompt expected = read_body(other);

    assert_memory_equal(&prompt, &expected, sizeof(prompt));
}

static void a_chat_is_its_texts_and_their_frames(void **state)
{
    struct weir_prompt prompt =
        read_body("{\"model\":\"a b c\",\"messages\":[{\"role\":\"system\",\"content\":\"be kind\"},"
                  "{\"role\":\"user\",\"content\":[{\"type\":\"text\",\"text\":\"hello you\"}]}],"
                  "\"user\":\"someone else\",\"temperature\":1}");

    (void)state;
    assert_int_equal(prompt.units[WEIR_PROMPT_WORD], 4);
    assert_int_equal(prompt.units[WEIR_PROMPT_TOKEN], 3 + 2 * 4);
    assert_int_equal(prompt.units[WEIR_PROMPT_MARK], 0);
}

static void calls_of_tools_and_their_results_are_text(void **state)
{
    struct weir_prompt prompt = read_body(
        "{\"messages\":[{\"role\":\"assistant\",\"content\":null,\"tool_calls\":[{\"id\":\"call_abc\","
        "\"type\":\"function\",\"function\":{\"name\":\"weather\",\"arguments\":\"{\\\"city\\\":"
        "\\\"Oslo\\\"}\"}}]},{\"role\":\"tool\",\"tool_call_id\":\"call_abc\",\"content\":\"rain\"}]}");

    (void)state;
    assert_int_equal(prompt.units[WEIR_PROMPT_WORD], 4);
}

static void media_count_by_the_piece_and_never_by_their_bytes(void **state)
{
    struct weir_prompt prompt =
        read_body("{\"messages\":[{\"role\":\"user\",\"content\":[{\"type\":\"text\",\"text\":\"look\"},"
                  "{\"type\":\"image_url\",\"image_url\":{\"url\":\"data:image/png;base64,iVBORw0KGgo\"}},"
                  "{\"type\":\"input_audio\",\"input_audio\":{\"data\":\"UklGRg\",\"format\":\"wav\"}}]}]}");

    (void)state;
    assert_int_equal(prompt.units[WEIR_PROMPT_WORD], 1);
    assert_int_equal(prompt.units[WEIR_PROMPT_MEDIA], 2);
}

static void tools_are_read_with_their_keys(void **state)
{
    struct weir_prompt prompt = read_body("{\"tools\":[{\"type\":\"function\",\"function\":{\"name\":\"add\","
                                          "\"parameters\":{\"max\":12}}}]}");

    (void)state;
    assert_int_equal(prompt.units[WEIR_PROMPT_WORD], 7);
    assert_int_equal(prompt.units[WEIR_PROMPT_NUMBER], 1);
    assert_int_equal(prompt.units[WEIR_PROMPT_TOKEN], 5);
}

static void prompts_may_be_texts_and_lists_of_texts_and_of_tokens(void **state)
{
    (void)state;
    assert_int_equal(read_body("{\"prompt\":\"once upon a time\"}").units[WEIR_PROMPT_WORD], 4);
    assert_int_equal(read_body("{\"input\":[\"one two\",\"three\"]}").units[WEIR_PROMPT_WORD], 3);
    assert_int_equal(read_body("{\"input\":[101,7592,2088]}").units[WEIR_PROMPT_TOKEN], 3);
    assert_int_equal(read_body("{\"input\":[[1,2],[3,4]]}").units[WEIR_PROMPT_TOKEN], 4);
}

static void a_system_prompt_beside_the_messages_counts(void **state)
{
    (void)state;
    assert_int_equal(read_body("{\"system\":\"be kind\",\"messages\":[]}").units[WEIR_PROMPT_WORD], 2);
}

static void nothing_is_said_where_nothing_is(void **state)
{
    (void)state;
    assert_same("{\"messages\":null,\"tools\":null,\"n\":3}", "{}");
    assert_same("{\"model\":\"x\",\"stop\":[\"a b\"]}", "{}");
}

static void keys_and_texts_may_be_escaped(void **state)
{
    (void)state;
    assert_same("{\"mess\\u0061ges\":[{\"r\\u006fle\":\"user\",\"content\":\"f\\u00fcr dich\\n\"}]}",
                "{\"messages\":[{\"role\":\"user\",\"content\":\"für dich\\n\"}]}");
}

static void odd_shapes_are_read_all_the_same(void **state)
{
    (void)state;
    assert_int_equal(read_body("{\"messages\":\"just text\"}").units[WEIR_PROMPT_WORD], 2);
    assert_int_equal(read_body("{\"messages\":[[[\"deep text\"]],7,true,null]}").units[WEIR_PROMPT_WORD], 2);
    assert_int_equal(read_body("{\"tools\":\"text\"}").units[WEIR_PROMPT_WORD], 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_chat_is_its_texts_and_their_frames),
        cmocka_unit_test(calls_of_tools_and_their_results_are_text),
        cmocka_unit_test(media_count_by_the_piece_and_never_by_their_bytes),
        cmocka_unit_test(tools_are_read_with_their_keys),
        cmocka_unit_test(prompts_may_be_texts_and_lists_of_texts_and_of_tokens),
        cmocka_unit_test(a_system_prompt_beside_the_messages_counts),
        cmocka_unit_test(nothing_is_said_where_nothing_is),
        cmocka_unit_test(keys_and_texts_may_be_escaped),
        cmocka_unit_test(odd_shapes_are_read_all_the_same),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
