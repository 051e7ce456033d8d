/* Values as Python leaves them in Redis: read, and written back. */
#include <stdio.h>

#include <weir/mem_libc.h>

#include "state/python_text.h"
#include "state/python_write.h"
#include "unit.h"

struct bench {
    struct weir_arena arena;
    struct weir_buf buf;
};

static int open_bench(void **state)
{
    static struct bench bench;

    weir_arena_init(&bench.arena, weir_mem_libc(), 1024, 1024 * 1024);
    weir_buf_init(&bench.buf, weir_mem_libc(), 1024 * 1024);
    *state = &bench;
    return 0;
}

static int close_bench(void **state)
{
    struct bench *bench = *state;

    weir_arena_deinit(&bench->arena);
    weir_buf_deinit(&bench->buf);
    return 0;
}

static const struct weir_literal *read_as(struct bench *bench, const char *text, enum weir_literal_form form)
{
    const struct weir_literal *value = NULL;
    enum weir_literal_form got = WEIR_LITERAL_AS_JSON;

    assert_int_equal(weir_literal_read(&bench->arena, weir_slice_str(text), &value, &got), 0);
    assert_int_equal(got, form);
    return value;
}

static void assert_unreadable(struct bench *bench, const char *text)
{
    const struct weir_literal *value;

    if (weir_literal_read(&bench->arena, weir_slice_str(text), &value, NULL) != WEIR_LITERAL_UNREADABLE)
        fail_msg("\"%s\" was taken", text);
}

static void a_cooldown_written_by_litellm_is_read(void **state)
{
    const struct weir_literal *value =
        read_as(*state,
                "{'exception_received': 'litellm.RateLimitError: RateLimitError: OpenAIExcep*****', "
                "'status_code': '429', 'timestamp': 1728345600.25, 'cooldown_time': 5}",
                WEIR_LITERAL_AS_PYTHON);

    assert_int_equal(value->count, 4);
    assert_slice_is(weir_literal_get(value, WEIR_SLICE("status_code"))->text, "429");
    assert_true(weir_literal_get(value, WEIR_SLICE("timestamp"))->number == 1728345600.25);
    assert_true(weir_literal_get(value, WEIR_SLICE("cooldown_time"))->number == 5);
    assert_null(weir_literal_get(value, WEIR_SLICE("nothing")));
    assert_null(weir_literal_get(weir_literal_get(value, WEIR_SLICE("timestamp")), WEIR_SLICE("x")));
}

static void the_same_as_json_is_read_alike(void **state)
{
    const struct weir_literal *value =
        read_as(*state, "{\"status_code\": \"429\", \"ok\": true, \"none\": null}", WEIR_LITERAL_AS_JSON);

    assert_slice_is(weir_literal_get(value, WEIR_SLICE("status_code"))->text, "429");
    assert_true(weir_literal_get(value, WEIR_SLICE("ok"))->truth);
    assert_int_equal(weir_literal_get(value, WEIR_SLICE("none"))->kind, WEIR_LITERAL_NONE);
}

static void nested_maps_lists_and_tuples_are_read(void **state)
{
    const struct weir_literal *value = read_as(
        *state,
        "{'d1': {'latency': [0.1, 2, 1e-05], 'pair': (1, 'a'), 'one': (1,), 'empty': (), 'ok': False}}\n",
        WEIR_LITERAL_AS_PYTHON);
    const struct weir_literal *d1 = weir_literal_get(value, WEIR_SLICE("d1"));
    const struct weir_literal *latency = weir_literal_get(d1, WEIR_SLICE("latency"));

    assert_int_equal(latency->count, 3);
    assert_true(latency->first->next->next->number == 1e-05);
    assert_int_equal(weir_literal_get(d1, WEIR_SLICE("pair"))->count, 2);
    assert_int_equal(weir_literal_get(d1, WEIR_SLICE("one"))->count, 1);
    assert_int_equal(weir_literal_get(d1, WEIR_SLICE("empty"))->count, 0);
    assert_false(weir_literal_get(d1, WEIR_SLICE("ok"))->truth);
}

static void the_escapes_of_both_are_undone(void **state)
{
    static const struct {
        const char *text;
        const char *value;
    } rows[] = {
        {"'a\\'b\"c'", "a'b\"c"},
        {"\"it's\"", "it's"},
        {"'\\n\\t\\\\ \\x41 \\u20ac \\U0001f600'", "\n\t\\ A \xe2\x82\xac \xf0\x9f\x98\x80"},
        {"\"\\ud83d\\ude00\\/\"", "\xf0\x9f\x98\x80/"},
        {"\"\\ud83d\"", "\xef\xbf\xbd"},
        {"\"\\ude00x\"", "\xef\xbf\xbdx"},
        {"\"\\ud83d\\u0041\"", "\xef\xbf\xbd"
                               "A"},
        {"'\xe2\x82\xac'", "\xe2\x82\xac"},
        {"''", ""},
    };
    struct bench *bench = *state;

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        const struct weir_literal *value;

        assert_int_equal(weir_literal_read(&bench->arena, weir_slice_str(rows[i].text), &value, NULL), 0);
        assert_int_equal(value->kind, WEIR_LITERAL_TEXT);
        assert_slice_is(value->text, rows[i].value);
    }
}

static void text_in_neither_form_is_refused_as_a_whole(void **state)
{
    static const char *const rows[] = {
        "",
        " ",
        "hello",
        "{",
        "}",
        "{'a'}",
        "{'a': }",
        "{'a': 1",
        "{'a': 1 'b': 2}",
        "{'a': 1}}",
        "{1: 2}",
        "{None: 2}",
        "{,}",
        "[1 2]",
        "[,]",
        "(1)",
        "'",
        "'a",
        "\"a'",
        "'a\nb'",
        "'\\q'",
        "'\\x4'",
        "'\\u12'",
        "'\\U00110000'",
        "'\\",
        "1.",
        ".5",
        "+1",
        "-",
        "1e",
        "1_000",
        "0x10",
        "inf",
        "nan",
        "NaN",
        "b'a'",
        "{'a': true}",
        "[None, null]",
        "{'a': 1}garbage",
        "'\xff'",
        "'\xc3'",
        "datetime.datetime(2024, 1, 1)",
        "{'a', 'b'}",
        "1 2",
        "1e999",
        "'\\x41",
        "{\"a\": 'b', \"c\": null}",
        "1.e5",
        "-.5",
    };

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
        assert_unreadable(*state, rows[i]);
    {
        const struct weir_literal *value;
        struct bench *bench = *state;

        assert_int_equal(weir_literal_read(&bench->arena, (struct weir_slice){"'a\0b'", 5}, &value, NULL),
                         WEIR_LITERAL_UNREADABLE);
    }
}

static void nesting_is_bounded(void **state)
{
    char text[2 * (WEIR_LITERAL_DEPTH_MAX + 1) + 1];
    size_t depth = WEIR_LITERAL_DEPTH_MAX;

    for (size_t i = 0; i < depth; i++) {
        text[i] = '[';
        text[2 * depth - 1 - i] = ']';
    }
    text[2 * depth] = '\0';
    (void)read_as(*state, text, WEIR_LITERAL_AS_JSON);
    depth++;
    for (size_t i = 0; i < depth; i++) {
        text[i] = '[';
        text[2 * depth - 1 - i] = ']';
    }
    text[2 * depth] = '\0';
    assert_unreadable(*state, text);
}

static void a_value_too_large_for_the_arena_is_refused(void **state)
{
    struct weir_arena small;
    const struct weir_literal *value;

    (void)state;
    weir_arena_init(&small, weir_mem_libc(), 256, 512);
    assert_int_equal(weir_literal_read(&small, WEIR_SLICE("[1,2,3,4,5,6,7,8,9,10,11,12]"), &value, NULL),
                     WEIR_LITERAL_UNREADABLE);
    assert_true(weir_arena_failed(&small));
    weir_arena_deinit(&small);
}

static void of_equal_keys_the_last_one_counts(void **state)
{
    const struct weir_literal *value = read_as(*state, "{\"a\": 1, \"a\": 2}", WEIR_LITERAL_AS_JSON);

    assert_true(weir_literal_get(value, WEIR_SLICE("a"))->number == 2);
}

static void a_value_survives_reading_and_writing_in_its_form(void **state)
{
    static const char *const rows[] = {
        "{'exception_received': 'x', 'status_code': '429', 'timestamp': 1728345600.25, 'cooldown_time': 5}",
        "{'a': True, 'b': None, 'c': [0.1, -2, 1e-05], 'd': {}, 'e': []}",
        "{\"a\": true, \"b\": null, \"c\": [0.1, -2, 1e-05], \"d\": {}, \"e\": []}",
        "{'it': \"it's\", 'both': 'it\\'s \"x\"', 'line': 'a\\nb\\x07'}",
        "{\"line\": \"a\\nb\\u0007\\\"\\\\\", \"euro\": \"\xe2\x82\xac\"}",
        "1728345600.0",
    };
    struct bench *bench = *state;

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        const struct weir_literal *value;
        enum weir_literal_form form;

        assert_int_equal(weir_literal_read(&bench->arena, weir_slice_str(rows[i]), &value, &form), 0);
        weir_buf_clear(&bench->buf);
        assert_int_equal(weir_literal_write(&bench->buf, form, value), 0);
        assert_slice_is(weir_buf_slice(&bench->buf), rows[i]);
    }
}

static void one_form_is_written_as_the_other(void **state)
{
    struct bench *bench = *state;
    const struct weir_literal *value =
        read_as(bench, "{'a': True, 'b': None, 'c': (1, 'x'), 'd': \"it's\"}", WEIR_LITERAL_AS_PYTHON);

    assert_int_equal(weir_literal_write(&bench->buf, WEIR_LITERAL_AS_JSON, value), 0);
    assert_slice_is(weir_buf_slice(&bench->buf),
                    "{\"a\": true, \"b\": null, \"c\": [1, \"x\"], \"d\": \"it's\"}");
}

static void numbers_are_written_as_short_as_they_read_back(void **state)
{
    static const struct {
        double number;
        const char *text;
    } rows[] = {
        {5, "5"},
        {0, "0"},
        {-3, "-3"},
        {0.1, "0.1"},
        {1728345600.25, "1728345600.25"},
        {2.5e-7, "2.5e-07"},
        {1e15, "1e+15"},
        {0.30000000000000004, "0.30000000000000004"},
    };
    struct bench *bench = *state;

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        weir_buf_clear(&bench->buf);
        assert_int_equal(weir_literal_write_number(&bench->buf, rows[i].number), 0);
        assert_slice_is(weir_buf_slice(&bench->buf), rows[i].text);
    }
}

static void bytes_that_are_no_text_are_replaced(void **state)
{
    struct bench *bench = *state;

    assert_int_equal(weir_literal_write_text(&bench->buf, WEIR_LITERAL_AS_PYTHON, WEIR_SLICE("a\xff\x7f")),
                     0);
    assert_slice_is(weir_buf_slice(&bench->buf), "'a\xef\xbf\xbd\\x7f'");
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, open_bench, close_bench)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_cooldown_written_by_litellm_is_read),
        TEST(the_same_as_json_is_read_alike),
        TEST(nested_maps_lists_and_tuples_are_read),
        TEST(the_escapes_of_both_are_undone),
        TEST(text_in_neither_form_is_refused_as_a_whole),
        TEST(nesting_is_bounded),
        TEST(a_value_too_large_for_the_arena_is_refused),
        TEST(of_equal_keys_the_last_one_counts),
        TEST(a_value_survives_reading_and_writing_in_its_form),
        TEST(one_form_is_written_as_the_other),
        TEST(numbers_are_written_as_short_as_they_read_back),
        TEST(bytes_that_are_no_text_are_replaced),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
