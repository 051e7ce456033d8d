/* What never reaches a provider: `drop_params` and `additional_drop_params`. */
#include "unit.h"

#include "base/slice.h"
#include "built.h"
#include "provider/parameter.h"

static int setup(void **state)
{
    static struct built built;

    built_init(&built, "openai/gpt-4o");
    *state = &built;
    return 0;
}

static int teardown(void **state)
{
    built_deinit(*state);
    return 0;
}

#define DROPS(built, ...)                                                                                    \
    static const struct weir_slice paths[] = {__VA_ARGS__};                                                  \
    (built)->endpoint.drops = (struct weir_drops)                                                            \
    {                                                                                                        \
        paths, sizeof(paths) / sizeof(paths[0])                                                              \
    }

static void parameters_that_the_model_lacks_go_and_others_stay(void **state)
{
    struct built *b = *state;

    built_prepare(b);
    b->build.dropped = weir_parameter_set(WEIR_SLICE("temperature top_p"));
    assert_built(b, "{\"model\":\"g\",\"temperature\":0.2,\"top_p\":0.5,\"seed\":1}",
                 "{\"model\":\"gpt-4o\",\"seed\":1}");
    assert_built(b, "{\"model\":\"g\",\"temperature\":1,\"top_p\":null}",
                 "{\"model\":\"gpt-4o\",\"temperature\":1,\"top_p\":null}");
    assert_built(b, "{\"model\":\"g\",\"t\\u0065mperature\":0.2}", "{\"model\":\"gpt-4o\"}");
}

static void defaults_and_targets_lose_them_too_and_extra_body_does_not(void **state)
{
    struct built *b = *state;

    b->endpoint.defaults = WEIR_SLICE("{\"temperature\":0.3,\"seed\":5}");
    b->endpoint.extra_body = WEIR_SLICE("{\"top_p\":0.4}");
    built_prepare(b);
    b->build.dropped = weir_parameter_set(WEIR_SLICE("temperature top_p stop"));
    b->build.overrides = WEIR_SLICE("{\"stop\":\"x\",\"n\":2}");
    assert_built(b, "{\"model\":\"g\"}", "{\"model\":\"gpt-4o\",\"top_p\":0.4,\"n\":2,\"seed\":5}");
}

static void names_in_the_list_go_whatever_they_say(void **state)
{
    struct built *b = *state;
    DROPS(b, WEIR_SLICE_INIT("response_format"), WEIR_SLICE_INIT("seed"));

    b->endpoint.defaults = WEIR_SLICE("{\"seed\":5}");
    built_prepare(b);
    assert_built(b, "{\"response_format\":{\"type\":\"text\"},\"model\":\"g\",\"top_p\":1}",
                 "{\"model\":\"gpt-4o\",\"top_p\":1}");
}

static void a_path_takes_a_part_of_a_member(void **state)
{
    struct built *b = *state;
    DROPS(b, WEIR_SLICE_INIT("tools[*].input_examples"), WEIR_SLICE_INIT("tools[0].function.strict"),
          WEIR_SLICE_INIT("reasoning.summary"), WEIR_SLICE_INIT("stop[1]"));

    built_prepare(b);
    assert_built(
        b,
        "{\"model\":\"g\",\"tools\":[{\"a\": 1,\"input_examples\":[1], \"function\":{\"strict\":true}},"
        "{\"input_examples\":2},{\"function\":{\"strict\":true}},7],"
        "\"reasoning\":{\"summary\":\"x\"},\"stop\":[\"a\",\"b\",\"c\"]}",
        "{\"model\":\"gpt-4o\",\"tools\":[{\"a\": 1,\"function\":{}},"
        "{},{\"function\":{\"strict\":true}},7],"
        "\"reasoning\":{},\"stop\":[\"a\",\"c\"]}");
    assert_built(b, "{\"model\":\"g\",\"tools\":null,\"stop\":\"x\"}",
                 "{\"model\":\"gpt-4o\",\"tools\":null,\"stop\":\"x\"}");
}

static void messages_that_are_carried_on_lose_their_parts_as_well(void **state)
{
    struct built *b = *state;
    DROPS(b, WEIR_SLICE_INIT("messages[*].name"));

    built_prepare(b);
    built_body(b, "{\"model\":\"g\",\"stream\":true,\"messages\":[{\"role\":\"user\",\"name\":\"n\","
                  "\"content\":\"q\"}]}");
    b->build.stream = true;
    b->build.prefill = WEIR_SLICE("so far");
    assert_int_equal(built_make(b), 0);
    assert_slice_is(b->body, "{\"model\":\"gpt-4o\",\"stream\":true,\"messages\":[{\"role\":\"user\","
                             "\"content\":\"q\"},{\"role\":\"assistant\",\"content\":\"so far\"}]}");
}

static void paths_are_names_with_steps_behind_them(void **state)
{
    static const char *const good[] = {"a", "response_format", "a.b", "a[*]", "a[0]", "a[*].b.c[12].d"};
    static const char *const bad[] = {"",     ".a",    "[0]", "a.",    "a..b",  "a[",   "a[]",
                                      "a[x]", "a[-1]", "a[*", "a[0]b", "a[*]]", "a.[0]"};

    (void)state;
    for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++)
        assert_true(weir_drop_path_ok(weir_slice_str(good[i])));
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
        assert_false(weir_drop_path_ok(weir_slice_str(bad[i])));
    assert_true(weir_drop_path_ok(WEIR_SLICE("a.1.2.3.4.5.6.7.8.9.10.11.12.13.14.15.16")));
    assert_false(weir_drop_path_ok(WEIR_SLICE("a.1.2.3.4.5.6.7.8.9.10.11.12.13.14.15.16.17")));
}

#define CASE(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        CASE(parameters_that_the_model_lacks_go_and_others_stay),
        CASE(defaults_and_targets_lose_them_too_and_extra_body_does_not),
        CASE(names_in_the_list_go_whatever_they_say),
        CASE(a_path_takes_a_part_of_a_member),
        CASE(messages_that_are_carried_on_lose_their_parts_as_well),
        CASE(paths_are_names_with_steps_behind_them),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
