/* RFC 8259, position by position. */
#include "unit.h"

#include <stdlib.h>
#include <string.h>

#include "base/rand.h"
#include "wire/json_scan.h"

static int check(struct weir_slice text, size_t *ret_bad_at)
{
    struct weir_json_value value;

    *ret_bad_at = SIZE_MAX;
    return weir_json_check(text, WEIR_JSON_DEPTH_MAX, &value, ret_bad_at);
}

static const struct weir_slice valid[] = {
    WEIR_SLICE_INIT("{}"),
    WEIR_SLICE_INIT("[]"),
    WEIR_SLICE_INIT(" \t\r\n[ ] \n"),
    WEIR_SLICE_INIT("null"),
    WEIR_SLICE_INIT("true"),
    WEIR_SLICE_INIT("false"),
    WEIR_SLICE_INIT("0"),
    WEIR_SLICE_INIT("-0"),
    WEIR_SLICE_INIT("-12.50e+7"),
    WEIR_SLICE_INIT("1E-2"),
    WEIR_SLICE_INIT("123456789012345678901234567890"),
    WEIR_SLICE_INIT("1e999"),
    WEIR_SLICE_INIT("\"\""),
    WEIR_SLICE_INIT("\"\\\"\\\\\\/\\b\\f\\n\\r\\t\\u00e9\\uD83D\\uDE00\""),
    WEIR_SLICE_INIT("\"half a pair \\ud83d\""),
    WEIR_SLICE_INIT("\"\xc3\xa9 \xe4\xb8\xad \xf0\x9f\x98\x80 \x7f\""),
    WEIR_SLICE_INIT("\"\xed\x9f\xbf\xee\x80\x80\xf4\x8f\xbf\xbf\xef\xbf\xbf\""),
    WEIR_SLICE_INIT("{\"a\":{\"b\":[{},[],[[]],\"]}\",1]},\"\":null, \"a\" : 2}"),
    WEIR_SLICE_INIT("[1,[2,[3,{\"x\":[4]}]],5]"),
};

struct bad {
    struct weir_slice text;
    size_t at;
};

#define BAD(text, at)                                                                                        \
    {                                                                                                        \
        WEIR_SLICE_INIT(text), at                                                                            \
    }

static const struct bad invalid[] = {
    BAD("", 0),
    BAD("  ", 2),
    BAD("{", 1),
    BAD("[", 1),
    BAD("}", 0),
    BAD("{]", 1),
    BAD("[}", 1),
    BAD("[1", 2),
    BAD("[1,", 3),
    BAD("[1,]", 3),
    BAD("[,1]", 1),
    BAD("[1 2]", 3),
    BAD("[1}", 2),
    BAD("{\"a\"}", 4),
    BAD("{\"a\":}", 5),
    BAD("{\"a\":1,}", 7),
    BAD("{\"a\" 1}", 5),
    BAD("{a:1}", 1),
    BAD("{1:1}", 1),
    BAD("{\"a\":1]", 6),
    BAD("{\"a\":1 \"b\":2}", 7),
    BAD("{'a':1}", 1),
    BAD("{} {}", 3),
    BAD("{}x", 2),
    BAD("{}\0", 2),
    BAD("1 1", 2),
    BAD("tru", 3),
    BAD("trux", 3),
    BAD("nul", 3),
    BAD("falsE", 4),
    BAD("NaN", 0),
    BAD("Infinity", 0),
    BAD("+1", 0),
    BAD("-", 1),
    BAD("-x", 1),
    BAD("01", 1),
    BAD("1.", 2),
    BAD(".5", 0),
    BAD("1e", 2),
    BAD("1e+", 3),
    BAD("1.e5", 2),
    BAD("0x10", 1),
    BAD("\"", 1),
    BAD("\"abc", 4),
    BAD("\"a\nb\"", 2),
    BAD("\"a\tb\"", 2),
    BAD("\"a\0b\"", 2),
    BAD("\"\x1f\"", 1),
    BAD("\"\\", 2),
    BAD("\"\\x\"", 2),
    BAD("\"\\u12\"", 5),
    BAD("\"\\u12g4\"", 5),
    BAD("\"\\U0041\"", 2),
    BAD("\"\\\n\"", 2),
    BAD("\"\x80\"", 1),
    BAD("\"\xc3\"", 1),
    BAD("\"\xc3(\"", 1),
    BAD("\"\xc0\xaf\"", 1),
    BAD("\"\xe0\x80\xaf\"", 1),
    BAD("\"\xed\xa0\x80\"", 1),
    BAD("\"\xf0\x80\x80\x80\"", 1),
    BAD("\"\xf4\x90\x80\x80\"", 1),
    BAD("\"\xf5\x80\x80\x80\"", 1),
    BAD("\"\xff\"", 1),
    BAD("\"abcdefgh\xc3\xa9\xc3\"", 11),
    BAD("\xef\xbb\xbf{}", 0),
    BAD("[1] // x", 4),
    BAD("/* x */ 1", 0),
};

static void what_is_json_is_accepted(void **state)
{
    size_t bad_at;

    (void)state;
    for (size_t i = 0; i < sizeof(valid) / sizeof(*valid); i++)
        if (check(valid[i], &bad_at) != 0) {
            print_error("%.*s at %zu\n", (int)valid[i].len, valid[i].ptr, bad_at);
            fail();
        }
}

static void what_is_not_json_is_refused_at_its_first_wrong_byte(void **state)
{
    size_t bad_at, wrong = 0;

    (void)state;
    for (size_t i = 0; i < sizeof(invalid) / sizeof(*invalid); i++) {
        int r = check(invalid[i].text, &bad_at);

        if (r != WEIR_JSON_BAD || bad_at != invalid[i].at) {
            print_error("%.*s: %d at %zu, not %zu\n", (int)invalid[i].text.len, invalid[i].text.ptr, r,
                        bad_at, invalid[i].at);
            wrong++;
        }
    }
    assert_int_equal(wrong, 0);
}

/* Every front of a valid container is invalid, at its end, and reads no byte more. */
static void a_text_that_is_cut_off_is_refused(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(valid) / sizeof(*valid); i++) {
        struct weir_slice text = weir_slice_trim(valid[i]);

        for (size_t len = 0; text.ptr[0] == '{' && len < text.len; len++) {
            char *exact = malloc(len == 0 ? 1 : len);
            size_t bad_at;

            assert_non_null(exact);
            memcpy(exact, text.ptr, len);
            assert_int_equal(check((struct weir_slice){exact, len}, &bad_at), WEIR_JSON_BAD);
            assert_int_equal(bad_at, len);
            free(exact);
        }
    }
}

static void the_value_is_told_without_white_space(void **state)
{
    struct weir_json_value value;
    size_t bad_at;

    (void)state;
    assert_int_equal(weir_json_check(WEIR_SLICE(" {\"a\" : 1} \n"), 1, &value, &bad_at), 0);
    assert_slice_is(value.text, "{\"a\" : 1}");
    assert_int_equal(value.type, WEIR_JSON_OBJECT);
    assert_int_equal(weir_json_check(WEIR_SLICE("\"a\\nb\""), 0, &value, &bad_at), 0);
    assert_int_equal(value.type, WEIR_JSON_STRING);
    assert_true(value.escaped);
    assert_int_equal(weir_json_check(WEIR_SLICE("[\"\\n\"]"), 1, &value, &bad_at), 0);
    assert_false(value.escaped);
}

static int check_nested(size_t depth, unsigned max_depth)
{
    char text[4096];
    struct weir_json_value value;
    size_t bad_at;

    for (size_t i = 0; i < depth; i++) {
        text[i] = '[';
        text[2 * depth - 1 - i] = ']';
    }
    return weir_json_check((struct weir_slice){text, 2 * depth}, max_depth, &value, &bad_at);
}

static void nesting_is_bounded_to_the_level(void **state)
{
    (void)state;
    assert_int_equal(check_nested(3, 3), 0);
    assert_int_equal(check_nested(4, 3), WEIR_JSON_BAD);
    assert_int_equal(check_nested(WEIR_JSON_DEPTH_MAX, WEIR_JSON_DEPTH_MAX), 0);
    assert_int_equal(check_nested(WEIR_JSON_DEPTH_MAX + 1, WEIR_JSON_DEPTH_MAX), WEIR_JSON_BAD);
    assert_int_equal(check_nested(WEIR_JSON_DEPTH_MAX + 1, 1u << 31), WEIR_JSON_BAD);
    assert_int_equal(check_nested(1, 0), WEIR_JSON_BAD);
}

static void mixed_brackets_are_told_apart_at_every_depth(void **state)
{
    char text[2 * WEIR_JSON_DEPTH_MAX];
    size_t bad_at;

    (void)state;
    for (size_t i = 0; i < WEIR_JSON_DEPTH_MAX; i++) {
        text[i] = '[';
        text[sizeof(text) - 1 - i] = ']';
    }
    for (size_t i = 0; i < WEIR_JSON_DEPTH_MAX; i += 63) {
        text[WEIR_JSON_DEPTH_MAX + i] = '}';
        assert_int_equal(check((struct weir_slice){text, sizeof(text)}, &bad_at), WEIR_JSON_BAD);
        assert_int_equal(bad_at, WEIR_JSON_DEPTH_MAX + i);
        text[WEIR_JSON_DEPTH_MAX + i] = ']';
    }
}

static void members_are_told_in_their_order(void **state)
{
    struct weir_slice text = WEIR_SLICE(" {\"a\" : 1 ,\"\\u0062\":[{\"x\":2}] , \"a\":\"\\n\",\"\":null}\n");
    struct weir_json_cursor c;
    struct weir_json_item item;

    (void)state;
    assert_int_equal(weir_json_enter(&c, text, 10), 0);
    assert_true(c.object);
    assert_int_equal(weir_json_next(&c, &item), WEIR_JSON_ITEM);
    assert_slice_is(item.key, "a");
    assert_false(item.key_escaped);
    assert_slice_is(item.value.text, "1");
    assert_slice_is(weir_json_item_text(&item), "\"a\" : 1");
    assert_int_equal(weir_json_next(&c, &item), WEIR_JSON_ITEM);
    assert_slice_is(item.key, "\\u0062");
    assert_true(item.key_escaped);
    assert_int_equal(item.value.type, WEIR_JSON_ARRAY);
    assert_slice_is(item.value.text, "[{\"x\":2}]");
    assert_int_equal(weir_json_next(&c, &item), WEIR_JSON_ITEM);
    assert_slice_is(item.key, "a");
    assert_true(item.value.escaped);
    assert_int_equal(weir_json_next(&c, &item), WEIR_JSON_ITEM);
    assert_slice_is(item.key, "");
    assert_non_null(item.key.ptr);
    assert_int_equal(item.value.type, WEIR_JSON_NULL);
    assert_int_equal(weir_json_next(&c, &item), 0);
    assert_int_equal(weir_json_next(&c, &item), 0);
    assert_ptr_equal(c.at, text.ptr + text.len);
}

static void elements_are_told_in_their_order(void **state)
{
    struct weir_json_cursor c;
    struct weir_json_item item;

    (void)state;
    assert_int_equal(weir_json_enter(&c, WEIR_SLICE("[1, \"x\" ,{}]"), 10), 0);
    assert_false(c.object);
    assert_int_equal(weir_json_next(&c, &item), WEIR_JSON_ITEM);
    assert_null(item.key.ptr);
    assert_slice_is(weir_json_item_text(&item), "1");
    assert_int_equal(weir_json_next(&c, &item), WEIR_JSON_ITEM);
    assert_slice_is(item.value.text, "\"x\"");
    assert_int_equal(weir_json_next(&c, &item), WEIR_JSON_ITEM);
    assert_slice_is(item.value.text, "{}");
    assert_int_equal(weir_json_next(&c, &item), 0);
}

static void a_value_found_can_be_entered_in_turn(void **state)
{
    struct weir_json_cursor outer, inner;
    struct weir_json_item item;

    (void)state;
    assert_int_equal(weir_json_enter(&outer, WEIR_SLICE("{\"a\":{\"b\":1},\"c\":2}"), 2), 0);
    assert_int_equal(weir_json_next(&outer, &item), WEIR_JSON_ITEM);
    assert_int_equal(weir_json_enter(&inner, item.value.text, 1), 0);
    assert_int_equal(weir_json_next(&inner, &item), WEIR_JSON_ITEM);
    assert_slice_is(item.key, "b");
    assert_int_equal(weir_json_next(&inner, &item), 0);
    assert_int_equal(weir_json_next(&outer, &item), WEIR_JSON_ITEM);
    assert_slice_is(item.key, "c");
}

static void only_containers_are_entered(void **state)
{
    struct weir_json_cursor c;

    (void)state;
    assert_int_equal(weir_json_enter(&c, WEIR_SLICE("\"{\""), 10), WEIR_JSON_OTHER);
    assert_int_equal(weir_json_enter(&c, WEIR_SLICE("1"), 10), WEIR_JSON_OTHER);
    assert_int_equal(weir_json_enter(&c, WEIR_SLICE("  "), 10), WEIR_JSON_OTHER);
    assert_int_equal(weir_json_enter(&c, WEIR_SLICE_EMPTY, 10), WEIR_JSON_OTHER);
}

/* A walk to the end and a check of the whole agree on every text, and on where it is wrong. */
static void assert_walk_agrees(struct weir_slice text)
{
    struct weir_json_cursor c;
    struct weir_json_item item;
    size_t bad_at;
    int checked = check(text, &bad_at), walked;

    if (weir_json_enter(&c, text, WEIR_JSON_DEPTH_MAX) != 0)
        return;
    while ((walked = weir_json_next(&c, &item)) == WEIR_JSON_ITEM)
        assert_true(weir_json_item_text(&item).len > 0);
    assert_int_equal(walked, checked);
    if (checked == WEIR_JSON_BAD)
        assert_int_equal(c.at - c.start, bad_at);
}

/* Walks into every second container and over the others; 0 or WEIR_JSON_BAD. */
static int walk_in(struct weir_json_cursor *outer, unsigned *turn)
{
    struct weir_json_cursor cursor;
    struct weir_json_item item;
    int r = 0;

    weir_json_into(outer, &cursor);
    while (r == 0 && weir_json_step(&cursor, &item) == WEIR_JSON_ITEM)
        r = item.value.type >= WEIR_JSON_ARRAY && (*turn)++ % 2 == 0 ? walk_in(&cursor, turn)
                                                                     : weir_json_over(&cursor, &item);
    return weir_json_out(outer, &cursor);
}

/* The same text read by going in and by going over. */
static void assert_steps_agree(struct weir_slice text)
{
    struct weir_json_cursor cursor;
    struct weir_json_item item;
    unsigned turn = 0;
    size_t bad_at = 0;
    int r = 0;

    if (weir_json_enter(&cursor, text, WEIR_JSON_DEPTH_MAX) != 0)
        return;
    while (r == 0 && (r = weir_json_step(&cursor, &item)) == WEIR_JSON_ITEM)
        r = item.value.type >= WEIR_JSON_ARRAY ? walk_in(&cursor, &turn) : weir_json_over(&cursor, &item);
    if (check(text, &bad_at) == 0) {
        assert_int_equal(r, 0);
    } else {
        assert_int_equal(r, WEIR_JSON_BAD);
        assert_int_equal(cursor.at - cursor.start, bad_at);
    }
}

static void going_in_reads_what_going_over_reads(void **state)
{
    struct weir_json_cursor outer, inner;
    struct weir_json_item item;

    (void)state;
    assert_int_equal(weir_json_enter(&outer, WEIR_SLICE("{\"a\": [1, {\"b\": 2}, 3] , \"c\":4}"), 16), 0);
    assert_int_equal(weir_json_step(&outer, &item), WEIR_JSON_ITEM);
    assert_int_equal(item.value.type, WEIR_JSON_ARRAY);
    assert_int_equal(item.value.text.len, 0);
    weir_json_into(&outer, &inner);
    assert_int_equal(weir_json_step(&inner, &item), WEIR_JSON_ITEM);
    assert_slice_is(item.value.text, "1");
    assert_int_equal(weir_json_step(&inner, &item), WEIR_JSON_ITEM);
    assert_int_equal(weir_json_over(&inner, &item), 0);
    assert_slice_is(item.value.text, "{\"b\": 2}");
    assert_int_equal(weir_json_over(&inner, &item), 0); /* it is complete */
    assert_int_equal(weir_json_out(&outer, &inner), 0); /* what is left is passed */
    assert_int_equal(weir_json_step(&outer, &item), WEIR_JSON_ITEM);
    assert_slice_is(item.key, "c");
    assert_slice_is(item.value.text, "4");
    assert_int_equal(weir_json_step(&outer, &item), 0);
}

static void a_walk_and_a_check_agree(void **state)
{
    struct weir_rand rand;

    (void)state;
    weir_rand_init(&rand, 4);
    for (size_t i = 0; i < sizeof(valid) / sizeof(*valid); i++) {
        assert_walk_agrees(valid[i]);
        assert_steps_agree(valid[i]);
    }
    for (size_t i = 0; i < sizeof(invalid) / sizeof(*invalid); i++) {
        assert_walk_agrees(invalid[i].text);
        assert_steps_agree(invalid[i].text);
    }
    for (int i = 0; i < 20000; i++) {
        static const char alphabet[] = "{}[],:\"\\ 1ae";
        char text[12] = "{\"";
        size_t len = 1 + (size_t)weir_rand_below(&rand, sizeof(text));

        for (size_t k = len > 4 ? 2 : 0; k < len; k++)
            text[k] = alphabet[weir_rand_below(&rand, sizeof(alphabet) - 1)];
        assert_walk_agrees((struct weir_slice){text, len});
        assert_steps_agree((struct weir_slice){text, len});
    }
}

static bool is_special(int byte)
{
    return byte < 0x20 || byte >= 0x80 || byte == '"' || byte == '\\';
}

/* Each byte that is special is seen at each place of a word and of a block, and no other one is taken for it.
 */
static void every_place_of_a_long_string_is_looked_at(void **state)
{
    char text[200];

    (void)state;
    for (size_t at = 1; at < sizeof(text) - 2; at++)
        for (int byte = 0; byte < 256; byte++) {
            size_t bad_at = 0;
            int r;

            memset(text, at % 2 == 0 ? 'x' : '~', sizeof(text));
            text[0] = '"';
            text[sizeof(text) - 1] = '"';
            text[at] = (char)byte;
            r = check((struct weir_slice){text, sizeof(text)}, &bad_at);
            assert_int_equal(r, is_special(byte) ? WEIR_JSON_BAD : 0);
            if (r != 0)
                assert_int_equal(bad_at, byte == '"' || byte == '\\' ? at + 1 : at);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_json_is_accepted),
        cmocka_unit_test(what_is_not_json_is_refused_at_its_first_wrong_byte),
        cmocka_unit_test(a_text_that_is_cut_off_is_refused),
        cmocka_unit_test(the_value_is_told_without_white_space),
        cmocka_unit_test(nesting_is_bounded_to_the_level),
        cmocka_unit_test(mixed_brackets_are_told_apart_at_every_depth),
        cmocka_unit_test(members_are_told_in_their_order),
        cmocka_unit_test(elements_are_told_in_their_order),
        cmocka_unit_test(a_value_found_can_be_entered_in_turn),
        cmocka_unit_test(only_containers_are_entered),
        cmocka_unit_test(going_in_reads_what_going_over_reads),
        cmocka_unit_test(a_walk_and_a_check_agree),
        cmocka_unit_test(every_place_of_a_long_string_is_looked_at),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
