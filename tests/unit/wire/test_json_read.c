#include "unit.h"

#include <weir/error.h>
#include <weir/mem_libc.h>

#include "test_mem.h"
#include "wire/json_read.h"

static struct weir_json_value value_of(const char *text)
{
    struct weir_json_value value = {0};
    size_t bad_at;

    assert_int_equal(weir_json_check(weir_slice_str(text), WEIR_JSON_DEPTH_MAX, &value, &bad_at), 0);
    return value;
}

static bool key_is(const char *object, const char *name)
{
    struct weir_json_cursor c;
    struct weir_json_item item;

    assert_int_equal(weir_json_enter(&c, weir_slice_str(object), 9), 0);
    assert_int_equal(weir_json_next(&c, &item), WEIR_JSON_ITEM);
    return weir_json_key_is(&item, weir_slice_str(name));
}

/* decisions 21 */
static void escapes_in_keys_count_as_what_they_spell(void **state)
{
    (void)state;
    assert_true(key_is("{\"model\":1}", "model"));
    assert_true(key_is("{\"\\u006dodel\":1}", "model"));
    assert_true(key_is("{\"mod\\u0065\\u006C\":1}", "model"));
    assert_true(key_is("{\"a\\/b\":1}", "a/b"));
    assert_true(key_is("{\"\":1}", ""));
    assert_false(key_is("{\"\\u006dodel\":1}", "mode"));
    assert_false(key_is("{\"\\u006dode\":1}", "model"));
    assert_false(key_is("{\"\\\\u006dodel\":1}", "model"));
    assert_false(key_is("{\"model\\u0000\":1}", "model"));
    assert_false(key_is("[1]", ""));
}

static void strings_are_compared_by_what_they_spell(void **state)
{
    struct weir_json_value plain = value_of("\"a\xc3\xa9\""), escaped = value_of("\"a\\u00e9\"");
    struct weir_json_value number = value_of("1");

    (void)state;
    assert_true(weir_json_string_is(&plain, WEIR_SLICE("a\xc3\xa9")));
    assert_true(weir_json_string_is(&escaped, WEIR_SLICE("a\xc3\xa9")));
    assert_false(weir_json_string_is(&number, WEIR_SLICE("1")));
    assert_slice_is(weir_json_inside(&escaped), "a\\u00e9");
    assert_slice_is(weir_json_inside(&number), "");
}

static void decodes_to(const char *text, struct weir_slice expected)
{
    struct weir_json_value value = value_of(text);
    struct weir_slice out = WEIR_SLICE_EMPTY;
    struct weir_arena arena;

    weir_arena_init(&arena, weir_mem_libc(), 1024, 1 << 16);
    assert_int_equal(weir_json_string(&value, &arena, &out), 0);
    assert_true(weir_slice_eq(out, expected));
    assert_true(weir_json_string_is(&value, expected));
    if (!weir_slice_has(expected, WEIR_SLICE("\xef\xbf\xbd")))
        assert_int_equal(weir_json_decoded_len(weir_json_inside(&value)), expected.len);
    assert_int_equal(out.ptr == value.text.ptr + 1, !value.escaped);
    weir_arena_deinit(&arena);
}

static void escapes_are_undone(void **state)
{
    (void)state;
    decodes_to("\"plain\"", WEIR_SLICE("plain"));
    decodes_to("\"\\\"\\\\\\/\\b\\f\\n\\r\\t\"", WEIR_SLICE("\"\\/\b\f\n\r\t"));
    decodes_to("\"x\\u0041y\\u00e9z\\u4e2d\"", WEIR_SLICE("xAy\xc3\xa9z\xe4\xb8\xad"));
    decodes_to("\"\\ud83d\\ude00\"", WEIR_SLICE("\xf0\x9f\x98\x80"));
    decodes_to("\"\\u0000\"", WEIR_SLICE("\0"));
    decodes_to("\"\\uDBFF\\uDFFF\"", WEIR_SLICE("\xf4\x8f\xbf\xbf"));
}

static void half_a_surrogate_pair_is_no_text(void **state)
{
    (void)state;
    assert_int_equal(weir_json_decoded_len(WEIR_SLICE("ab\\ud83d")), WEIR_SLICE_NONE);
    assert_int_equal(weir_json_decoded_len(WEIR_SLICE("\\ude00ab")), WEIR_SLICE_NONE);
    assert_int_equal(weir_json_decoded_len(WEIR_SLICE("\\ud83d\\ud83d\\ude00")), WEIR_SLICE_NONE);
    assert_int_equal(weir_json_decoded_len(WEIR_SLICE("a\\ud83d\\ude00\\ufffd")), 8);
    assert_int_equal(weir_json_decoded_len(WEIR_SLICE_EMPTY), 0);
}

static void half_a_surrogate_pair_becomes_the_replacement_character(void **state)
{
    (void)state;
    decodes_to("\"\\ud83d\"", WEIR_SLICE("\xef\xbf\xbd"));
    decodes_to("\"\\ude00x\"", WEIR_SLICE("\xef\xbf\xbdx"));
    decodes_to("\"\\ud83dxxxxxx\"", WEIR_SLICE("\xef\xbf\xbdxxxxxx"));
    decodes_to("\"\\ud83d\\nabcd\"", WEIR_SLICE("\xef\xbf\xbd\nabcd"));
    decodes_to("\"\\ud83d\\ud83d\\ude00\"", WEIR_SLICE("\xef\xbf\xbd\xf0\x9f\x98\x80"));
    decodes_to("\"\\ud83d\\u0041\"", WEIR_SLICE("\xef\xbf\xbd"
                                                "A"));
}

static void only_strings_with_escapes_take_memory(void **state)
{
    struct weir_json_value plain = value_of("\"abc\""), escaped = value_of("\"a\\n\""),
                           number = value_of("3");
    struct weir_arena arena;
    struct weir_slice out;
    struct test_mem mem;

    (void)state;
    test_mem_init(&mem, 1);
    weir_arena_init(&arena, &mem.mem, 1024, 1 << 16);
    assert_int_equal(weir_json_string(&plain, &arena, &out), 0);
    assert_int_equal(weir_json_string(&escaped, &arena, &out), WEIR_ERR_NOMEM);
    assert_int_equal(weir_json_string(&number, &arena, &out), WEIR_JSON_OTHER);
    weir_arena_deinit(&arena);
}

static void keys_are_decoded_like_strings(void **state)
{
    struct weir_json_cursor c;
    struct weir_json_item item;
    struct weir_arena arena;
    struct weir_slice out;

    (void)state;
    weir_arena_init(&arena, weir_mem_libc(), 1024, 1 << 16);
    assert_int_equal(weir_json_enter(&c, WEIR_SLICE("{\"a\\tb\":1}"), 9), 0);
    assert_int_equal(weir_json_next(&c, &item), WEIR_JSON_ITEM);
    assert_int_equal(weir_json_key(&item, &arena, &out), 0);
    assert_slice_is(out, "a\tb");
    weir_arena_deinit(&arena);
}

static void typed_reads_refuse_other_types(void **state)
{
    struct weir_json_value yes = value_of("true"), no = value_of("false"), null = value_of("null");
    struct weir_json_value quoted = value_of("\"1\""), nothing = {0};
    uint64_t u64;
    double number;
    bool truth;

    (void)state;
    assert_int_equal(weir_json_bool(&yes, &truth), 0);
    assert_true(truth);
    assert_int_equal(weir_json_bool(&no, &truth), 0);
    assert_false(truth);
    assert_int_equal(weir_json_bool(&null, &truth), WEIR_JSON_OTHER);
    assert_int_equal(weir_json_number(&quoted, &number), WEIR_JSON_OTHER);
    assert_int_equal(weir_json_u64(&quoted, &u64), WEIR_JSON_OTHER);
    assert_int_equal(weir_json_bool(&nothing, &truth), WEIR_JSON_OTHER);
}

static void numbers_are_read(void **state)
{
    struct weir_json_value whole = value_of("18446744073709551615"), fraction = value_of("-2.5e-1");
    struct weir_json_value beyond = value_of("18446744073709551616"), endless = value_of("1e999");
    uint64_t u64;
    double number;

    (void)state;
    assert_int_equal(weir_json_u64(&whole, &u64), 0);
    assert_true(u64 == UINT64_MAX);
    assert_int_equal(weir_json_u64(&fraction, &u64), WEIR_JSON_OTHER);
    assert_int_equal(weir_json_u64(&beyond, &u64), WEIR_JSON_OTHER);
    assert_int_equal(weir_json_number(&fraction, &number), 0);
    assert_true(number == -0.25);
    assert_int_equal(weir_json_number(&endless, &number), WEIR_JSON_OTHER);
}

static const char chunk[] =
    "{\"id\":\"c-1\",\"choices\":[{\"index\":0,\"delta\":{\"role\":\"assistant\",\"content\":\"Hi\"},"
    "\"finish_reason\":null}],\"ch\\u006fices\":[],\"usage\":{\"total_tokens\":7}}";

static void finds(const char *path, const char *expected)
{
    struct weir_json_value value = {0};

    assert_int_equal(weir_json_find(weir_slice_str(chunk), weir_slice_str(path), &value), 0);
    assert_slice_is(value.text, expected);
}

static void values_are_found_by_their_path(void **state)
{
    (void)state;
    finds("id", "\"c-1\"");
    finds("choices.0.delta.content", "\"Hi\"");
    finds("choices.0.index", "0");
    finds("choices.0.finish_reason", "null");
    finds("usage.total_tokens", "7");
}

static void what_is_not_there_is_not_found(void **state)
{
    static const char *const absent[] = {
        "model", "choices.1", "choices.x", "choices.-1", "id.x",
        "id.0",  "",          "choices.",  ".id",        "usage.total_tokens.0"};
    struct weir_json_value value;

    (void)state;
    for (size_t i = 0; i < sizeof(absent) / sizeof(*absent); i++)
        assert_int_equal(weir_json_find(weir_slice_str(chunk), weir_slice_str(absent[i]), &value),
                         WEIR_JSON_NONE);
    assert_int_equal(weir_json_find(WEIR_SLICE("{\"a\":tru"), WEIR_SLICE("a"), &value), WEIR_JSON_NONE);
    assert_int_equal(weir_json_find(WEIR_SLICE("nonsense"), WEIR_SLICE("a"), &value), WEIR_JSON_NONE);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(escapes_in_keys_count_as_what_they_spell),
        cmocka_unit_test(strings_are_compared_by_what_they_spell),
        cmocka_unit_test(escapes_are_undone),
        cmocka_unit_test(half_a_surrogate_pair_is_no_text),
        cmocka_unit_test(half_a_surrogate_pair_becomes_the_replacement_character),
        cmocka_unit_test(only_strings_with_escapes_take_memory),
        cmocka_unit_test(keys_are_decoded_like_strings),
        cmocka_unit_test(typed_reads_refuse_other_types),
        cmocka_unit_test(numbers_are_read),
        cmocka_unit_test(values_are_found_by_their_path),
        cmocka_unit_test(what_is_not_there_is_not_found),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
