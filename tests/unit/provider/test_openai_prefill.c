/* An answer that is carried on: what its request holds beside what the first one held (decisions 32). */
#include "unit.h"

#include <stdio.h>

#include "base/slice.h"
#include "built.h"

#define OWN(rest) "{\"model\":\"g\",\"messages\":[{\"role\":\"assistant\"" rest "}]}"
#define USER      "{\"role\":\"user\",\"content\":\"hi\"}"

static void begin(struct built *b, const char *model, const char *text)
{
    built_init(b, model);
    built_prepare(b);
    b->build.prefill = weir_slice_str(text);
    b->build.sent_tokens = 4;
}

static void the_text_becomes_the_last_message(void **state)
{
    struct built b;

    (void)state;
    begin(&b, "openai/m", "Hello \"wor\n");
    assert_built(&b, "{\"model\": \"g\", \"messages\" : [ " USER " ], \"seed\":1.0}",
                 "{\"model\": \"m\", \"messages\" : [ " USER
                 " ,{\"role\":\"assistant\",\"content\":\"Hello \\\"wor\\n\"}], \"seed\":1.0}");
    built_deinit(&b);
}

static void nothing_changes_without_a_text(void **state)
{
    struct built b;

    (void)state;
    begin(&b, "mistral/m", "");
    assert_built(&b, "{\"model\":\"g\",\"messages\":[" USER "],\"max_tokens\":9}",
                 "{\"model\":\"m\",\"messages\":[" USER "],\"max_tokens\":9}");
    built_deinit(&b);
}

static void an_answer_that_the_caller_began_is_one_message_with_it(void **state)
{
    struct built b;

    (void)state;
    begin(&b, "openai/m", " world");
    assert_built(
        &b,
        "{\"model\":\"g\",\"messages\":[" USER
        ",{\"content\" : \"Hel\\u006c\\n\", \"role\":\"assist\\u0061nt\", \"tool_calls\":[ ]}]}",
        "{\"model\":\"m\",\"messages\":[" USER
        ",{\"content\" : \"Hel\\u006c\\n world\", \"role\":\"assist\\u0061nt\", \"tool_calls\":[ ]}]}");
    assert_built(&b, "{\"model\":\"g\",\"messages\":[{\"role\":\"assistant\",\"content\":\"\"}]}",
                 "{\"model\":\"m\",\"messages\":[{\"role\":\"assistant\",\"content\":\" world\"}]}");
    built_deinit(&b);
}

static void mistral_and_deepseek_want_a_prefix(void **state)
{
    static const char *const models[] = {"mistral/m", "deepseek/m"};

    (void)state;
    for (size_t i = 0; i < 2; i++) {
        struct built b;

        begin(&b, models[i], "Hi ");
        assert_built(&b, "{\"model\":\"g\",\"messages\":[" USER "]}",
                     "{\"model\":\"m\",\"messages\":[" USER
                     ",{\"role\":\"assistant\",\"content\":\"Hi \",\"prefix\":true}]}");
        assert_built(&b, "{\"model\":\"g\",\"messages\":[{\"role\":\"assistant\",\"content\":\"a\"}]}",
                     "{\"model\":\"m\",\"messages\":[{\"role\":\"assistant\",\"content\":\"aHi "
                     "\",\"prefix\":true}]}");
        assert_built(&b,
                     "{\"model\":\"g\",\"messages\":[{\"prefix\":false,\"role\":\"assistant\",\"content\":"
                     "\"a\"}]}",
                     "{\"model\":\"m\",\"messages\":[{\"prefix\":true,\"role\":\"assistant\",\"content\":"
                     "\"aHi \"}]}");
        built_deinit(&b);
    }
}

static void vllm_is_told_that_the_last_message_goes_on(void **state)
{
    struct built b;

    (void)state;
    begin(&b, "hosted_vllm/m", "Hi ");
    assert_built(&b, "{\"model\":\"g\",\"messages\":[" USER "]}",
                 "{\"model\":\"m\",\"messages\":[" USER ",{\"role\":\"assistant\",\"content\":\"Hi \"}],"
                 "\"continue_final_message\":true,\"add_generation_prompt\":false}");
    assert_built(&b,
                 "{\"model\":\"g\",\"add_generation_prompt\":true,\"messages\":[" USER
                 "],\"continue_final_message\":false}",
                 "{\"model\":\"m\",\"add_generation_prompt\":false,\"messages\":[" USER
                 ",{\"role\":\"assistant\",\"content\":\"Hi \"}],\"continue_final_message\":true}");
    built_deinit(&b);
}

static void white_space_at_the_end_is_not_sent_where_it_is_refused(void **state)
{
    struct built b;

    (void)state;
    begin(&b, "openrouter/anthropic/claude-sonnet-4.5", "Hi there \n");
    assert_built(&b, "{\"model\":\"g\",\"messages\":[" USER "]}",
                 "{\"model\":\"anthropic/claude-sonnet-4.5\",\"messages\":[" USER
                 ",{\"role\":\"assistant\",\"content\":\"Hi there\"}]}");
    b.build.prefill = WEIR_SLICE(" \n");
    assert_built(&b, "{\"model\":\"g\",\"messages\":[" USER "]}",
                 "{\"model\":\"anthropic/claude-sonnet-4.5\",\"messages\":[" USER "]}");
    built_deinit(&b);
}

static void limits_on_the_length_shrink_by_what_was_sent(void **state)
{
    static const struct {
        const char *asked, *left;
    } rows[] = {{"100", "96"}, {"5", "1"}, {"4", "1"}, {"1", "1"}, {"null", "null"}, {"\"9\"", "\"9\""}};
    char body[256], expected[256];
    struct built b;

    (void)state;
    begin(&b, "openai/m", "x");
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        (void)snprintf(body, sizeof(body),
                       "{\"model\":\"g\",\"max_tokens\":%s,\"messages\":[" USER
                       "],\"max_completion_tokens\":%s}",
                       rows[i].asked, rows[i].asked);
        (void)snprintf(expected, sizeof(expected),
                       "{\"model\":\"m\",\"max_tokens\":%s,\"messages\":[" USER
                       ",{\"role\":\"assistant\",\"content\":\"x\"}],\"max_completion_tokens\":%s}",
                       rows[i].left, rows[i].left);
        assert_built(&b, body, expected);
    }
    built_deinit(&b);
}

static void limits_of_the_deployment_and_of_the_target_shrink_too(void **state)
{
    struct built b;

    (void)state;
    built_init(&b, "openai/m");
    b.endpoint.defaults = WEIR_SLICE("{\"max_tokens\":10}");
    b.endpoint.extra_body = WEIR_SLICE("{\"max_completion_tokens\":30}");
    built_prepare(&b);
    b.build.prefill = WEIR_SLICE("x");
    b.build.sent_tokens = 4;
    assert_built(&b, "{\"model\":\"g\",\"messages\":[" USER "],\"max_completion_tokens\":50}",
                 "{\"model\":\"m\",\"messages\":[" USER ",{\"role\":\"assistant\",\"content\":\"x\"}],"
                 "\"max_completion_tokens\":26,\"max_tokens\":6}");
    b.build.overrides = WEIR_SLICE("{\"max_tokens\":20}");
    assert_built(&b, "{\"model\":\"g\",\"max_tokens\":7,\"messages\":[" USER "]}",
                 "{\"model\":\"m\",\"max_tokens\":16,\"messages\":[" USER
                 ",{\"role\":\"assistant\",\"content\":\"x\"}],\"max_completion_tokens\":26}");
    built_deinit(&b);
}

static void messages_of_a_target_are_what_is_carried_on(void **state)
{
    struct built b;

    (void)state;
    begin(&b, "openai/m", "x");
    b.build.overrides = WEIR_SLICE("{\"messages\":[" USER "]}");
    assert_built(&b, "{\"model\":\"g\",\"messages\":[1]}",
                 "{\"model\":\"m\",\"messages\":[" USER ",{\"role\":\"assistant\",\"content\":\"x\"}]}");
    assert_built(&b, "{\"model\":\"g\"}",
                 "{\"model\":\"m\",\"messages\":[" USER ",{\"role\":\"assistant\",\"content\":\"x\"}]}");
    built_deinit(&b);
}

static void messages_without_a_place_for_text_cannot_be_carried_on(void **state)
{
    static const char *const bodies[] = {
        "{\"model\":\"g\"}",
        "{\"model\":\"g\",\"messages\":[]}",
        "{\"model\":\"g\",\"messages\":\"hi\"}",
        "{\"model\":\"g\",\"messages\":{\"role\":\"user\"}}",
        "{\"model\":\"g\",\"messages\":[\"hi\"]}",
        "{\"model\":\"g\",\"messages\":[" USER "],\"messages\":[" USER "]}",
        OWN(""),
        OWN(",\"content\":null"),
        OWN(",\"content\":[{\"type\":\"text\",\"text\":\"a\"}]"),
        OWN(",\"content\":\"a\",\"tool_calls\":[{}]"),
        OWN(",\"content\":\"a\",\"audio\":{\"id\":\"x\"}"),
    };

    (void)state;
    for (size_t i = 0; i < sizeof(bodies) / sizeof(bodies[0]); i++) {
        struct built b;

        begin(&b, "openai/m", "x");
        built_body(&b, bodies[i]);
        assert_int_equal(built_make(&b), WEIR_BUILD_NO_PREFILL);
        built_deinit(&b);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_text_becomes_the_last_message),
        cmocka_unit_test(nothing_changes_without_a_text),
        cmocka_unit_test(an_answer_that_the_caller_began_is_one_message_with_it),
        cmocka_unit_test(mistral_and_deepseek_want_a_prefix),
        cmocka_unit_test(vllm_is_told_that_the_last_message_goes_on),
        cmocka_unit_test(white_space_at_the_end_is_not_sent_where_it_is_refused),
        cmocka_unit_test(limits_on_the_length_shrink_by_what_was_sent),
        cmocka_unit_test(limits_of_the_deployment_and_of_the_target_shrink_too),
        cmocka_unit_test(messages_of_a_target_are_what_is_carried_on),
        cmocka_unit_test(messages_without_a_place_for_text_cannot_be_carried_on),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
