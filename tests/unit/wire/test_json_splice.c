/* Everything that no edit names stays, byte for byte (decisions 18; docs/architecture.md). */
#include "unit.h"

#include <stdlib.h>
#include <string.h>

#include <weir/error.h>
#include <weir/mem_libc.h>

#include "base/buf.h"
#include "base/rand.h"
#include "wire/json_read.h"
#include "wire/json_splice.h"

/* The n-th member or element of a container. */
static struct weir_json_item nth(struct weir_slice container, size_t n)
{
    struct weir_json_cursor c;
    struct weir_json_item item = {0};

    assert_int_equal(weir_json_enter(&c, container, 99), 0);
    for (size_t i = 0; i <= n; i++)
        assert_int_equal(weir_json_next(&c, &item), WEIR_JSON_ITEM);
    return item;
}

static struct weir_json_value whole(struct weir_slice text)
{
    struct weir_json_value value = {0};
    size_t bad_at;

    assert_int_equal(weir_json_check(text, 99, &value, &bad_at), 0);
    return value;
}

/* The parts joined; the buffer's. */
static struct weir_slice finish(struct weir_json_splice *splice, struct weir_buf *buf)
{
    struct weir_slice text;

    weir_buf_clear(buf);
    assert_int_equal(weir_json_splice_finish(splice), 0);
    for (size_t i = 0; i < splice->part_count; i++) {
        assert_true(splice->parts[i].len > 0);
        assert_int_equal(weir_buf_append(buf, splice->parts[i]), 0);
    }
    text = weir_buf_slice(buf);
    assert_int_equal(text.len, splice->total_bytes);
    (void)whole(text);
    return text;
}

/* Removes the members whose letters are in removed, adds text at the end. */
static void becomes(const char *source, const char *removed, const char *added, const char *expected)
{
    struct weir_slice text = weir_slice_str(source);
    struct weir_json_value root = whole(text);
    struct weir_json_splice splice;
    struct weir_json_cursor c;
    struct weir_json_item item;
    struct weir_buf buf;

    weir_buf_init(&buf, weir_mem_libc(), 1 << 16);
    weir_json_splice_init(&splice, text);
    assert_int_equal(weir_json_enter(&c, text, 99), 0);
    while (weir_json_next(&c, &item) == WEIR_JSON_ITEM)
        if (weir_slice_has(weir_slice_str(removed), item.key.ptr == NULL ? item.value.text : item.key))
            assert_int_equal(weir_json_splice_remove(&splice, &item), 0);
    assert_int_equal(weir_json_splice_add(&splice, &root, weir_slice_str(added)), 0);
    assert_slice_is(finish(&splice, &buf), expected);
    weir_buf_deinit(&buf);
}

static void without_edits_the_source_is_the_result(void **state)
{
    struct weir_slice text = WEIR_SLICE(" {\"a\": 1}\n");
    struct weir_json_splice splice;
    struct weir_buf buf;

    (void)state;
    weir_buf_init(&buf, weir_mem_libc(), 1 << 16);
    weir_json_splice_init(&splice, text);
    assert_slice_is(finish(&splice, &buf), " {\"a\": 1}\n");
    assert_int_equal(splice.part_count, 1);
    assert_ptr_equal(splice.parts[0].ptr, text.ptr);
    weir_buf_deinit(&buf);
}

static void a_value_is_replaced(void **state)
{
    struct weir_slice text = WEIR_SLICE("{ \"model\" : \"gpt\" , \"x\":[1, 2]}");
    struct weir_json_item model = nth(text, 0);
    struct weir_json_splice splice;
    struct weir_buf buf;

    (void)state;
    weir_buf_init(&buf, weir_mem_libc(), 1 << 16);
    weir_json_splice_init(&splice, text);
    assert_int_equal(weir_json_splice_replace(&splice, &model.value, WEIR_SLICE("\"other\"")), 0);
    assert_slice_is(finish(&splice, &buf), "{ \"model\" : \"other\" , \"x\":[1, 2]}");
    assert_int_equal(splice.part_count, 3);
    weir_buf_deinit(&buf);
}

static void a_member_goes_with_its_comma(void **state)
{
    const char *abc = "{\"a\":1,\"b\":2,\"c\":3}";

    (void)state;
    becomes(abc, "a", "", "{\"b\":2,\"c\":3}");
    becomes(abc, "b", "", "{\"a\":1,\"c\":3}");
    becomes(abc, "c", "", "{\"a\":1,\"b\":2}");
    becomes(abc, "ab", "", "{\"c\":3}");
    becomes(abc, "bc", "", "{\"a\":1}");
    becomes(abc, "ac", "", "{\"b\":2}");
    becomes(abc, "abc", "", "{}");
}

static void white_space_around_what_stays_is_kept(void **state)
{
    const char *abc = " { \"a\" : 1 , \"b\":2\n,\t\"c\":3 } ";

    (void)state;
    becomes(abc, "a", "", " { \"b\":2\n,\t\"c\":3 } ");
    becomes(abc, "b", "", " { \"a\" : 1 \n,\t\"c\":3 } ");
    becomes(abc, "c", "", " { \"a\" : 1 , \"b\":2\n } ");
    becomes(abc, "abc", "", " {  } ");
}

static void a_member_is_added_at_the_end(void **state)
{
    (void)state;
    becomes("{}", "", "\"x\":1", "{\"x\":1}");
    becomes("{ }", "", "\"x\":1", "{ \"x\":1}");
    becomes("{\"a\":1}", "", "\"x\":1,\"y\":2", "{\"a\":1,\"x\":1,\"y\":2}");
    becomes("{\"a\":{}}", "", "\"x\":1", "{\"a\":{},\"x\":1}");
    becomes("{\"a\":\"{\"}", "", "\"x\":1", "{\"a\":\"{\",\"x\":1}");
}

static void removing_and_adding_agree_on_the_comma(void **state)
{
    (void)state;
    becomes("{\"a\":1}", "a", "\"x\":1", "{\"x\":1}");
    becomes("{ \"a\":1 , \"b\":2 }", "ab", "\"x\":1", "{  \"x\":1}");
    becomes("{\"a\":1,\"b\":2}", "b", "\"x\":1", "{\"a\":1,\"x\":1}");
    becomes("{\"a\":1,\"b\":2}", "a", "\"x\":1", "{\"b\":2,\"x\":1}");
    becomes("{\"a\":1,\"b\":2,\"c\":3}", "ac", "\"x\":1", "{\"b\":2,\"x\":1}");
}

static void elements_of_an_array_are_edited_alike(void **state)
{
    (void)state;
    becomes("[1,2,3]", "1", "4", "[2,3,4]");
    becomes("[1,2,3]", "123", "4", "[4]");
    becomes("[]", "", "4", "[4]");
    becomes("[[],[]]", "", "4", "[[],[],4]");
}

static void two_additions_keep_their_order(void **state)
{
    struct weir_slice text = WEIR_SLICE("{\"a\":1}"), empty = WEIR_SLICE("[]");
    struct weir_json_value object = whole(text), array = whole(empty);
    struct weir_json_item a = nth(text, 0);
    struct weir_json_splice splice;
    struct weir_buf buf;

    (void)state;
    weir_buf_init(&buf, weir_mem_libc(), 1 << 16);
    weir_json_splice_init(&splice, text);
    assert_int_equal(weir_json_splice_add(&splice, &object, WEIR_SLICE("\"x\":1")), 0);
    assert_int_equal(weir_json_splice_add(&splice, &object, WEIR_SLICE("\"y\":2")), 0);
    assert_int_equal(weir_json_splice_remove(&splice, &a), 0);
    assert_slice_is(finish(&splice, &buf), "{\"x\":1,\"y\":2}");
    weir_json_splice_init(&splice, empty);
    assert_int_equal(weir_json_splice_add(&splice, &array, WEIR_SLICE("1")), 0);
    assert_int_equal(weir_json_splice_add(&splice, &array, WEIR_SLICE("2")), 0);
    assert_slice_is(finish(&splice, &buf), "[1,2]");
    weir_buf_deinit(&buf);
}

static void edits_reach_into_containers(void **state)
{
    struct weir_slice text = WEIR_SLICE("{\"stream_options\":{\"x\":1},\"z\":{}}");
    struct weir_json_item options = nth(text, 0), z = nth(text, 1), x = nth(options.value.text, 0);
    struct weir_json_value root = whole(text);
    struct weir_json_splice splice;
    struct weir_buf buf;

    (void)state;
    weir_buf_init(&buf, weir_mem_libc(), 1 << 16);
    weir_json_splice_init(&splice, text);
    assert_int_equal(weir_json_splice_add(&splice, &root, WEIR_SLICE("\"m\":2")), 0);
    assert_int_equal(weir_json_splice_add(&splice, &z.value, WEIR_SLICE("\"q\":0")), 0);
    assert_int_equal(weir_json_splice_remove(&splice, &x), 0);
    assert_int_equal(weir_json_splice_add(&splice, &options.value, WEIR_SLICE("\"include_usage\":true")), 0);
    assert_slice_is(finish(&splice, &buf),
                    "{\"stream_options\":{\"include_usage\":true},\"z\":{\"q\":0},\"m\":2}");
    weir_buf_deinit(&buf);
}

static void edits_that_overlap_are_an_error(void **state)
{
    struct weir_slice text = WEIR_SLICE("{\"a\":{\"b\":1}}");
    struct weir_json_item a = nth(text, 0), b = nth(a.value.text, 0);
    struct weir_json_splice splice;

    (void)state;
    weir_json_splice_init(&splice, text);
    assert_int_equal(weir_json_splice_replace(&splice, &b.value, WEIR_SLICE("2")), 0);
    assert_int_equal(weir_json_splice_remove(&splice, &a), 0);
    assert_int_equal(weir_json_splice_finish(&splice), WEIR_ERR_INVALID);
}

static void places_outside_the_source_are_an_error(void **state)
{
    struct weir_slice text = WEIR_SLICE("{\"a\":1}"), other = WEIR_SLICE("{\"b\":[1]}");
    struct weir_json_item b = nth(other, 0), one = nth(b.value.text, 0);
    struct weir_json_value number = whole(WEIR_SLICE("1")), root = whole(text);
    struct weir_json_splice splice;

    (void)state;
    weir_json_splice_init(&splice, text);
    assert_int_equal(weir_json_splice_remove(&splice, &b), WEIR_ERR_INVALID);
    assert_int_equal(weir_json_splice_replace(&splice, &one.value, WEIR_SLICE("2")), WEIR_ERR_INVALID);
    assert_int_equal(weir_json_splice_add(&splice, &number, WEIR_SLICE("2")), WEIR_ERR_INVALID);
    assert_int_equal(weir_json_splice_remove(&splice, &(struct weir_json_item){.value = root}),
                     WEIR_ERR_INVALID);
    assert_int_equal(splice.edit_count, 0);
}

static void more_edits_than_there_is_room_for_are_refused(void **state)
{
    struct weir_slice text = WEIR_SLICE("{}");
    struct weir_json_value root = whole(text);
    struct weir_json_splice splice;
    struct weir_buf buf;

    (void)state;
    weir_buf_init(&buf, weir_mem_libc(), 1 << 16);
    weir_json_splice_init(&splice, text);
    for (int i = 0; i < WEIR_JSON_SPLICE_EDITS; i++)
        assert_int_equal(weir_json_splice_add(&splice, &root, WEIR_SLICE("\"x\":1")), 0);
    assert_int_equal(weir_json_splice_add(&splice, &root, WEIR_SLICE("\"x\":1")), WEIR_ERR_LIMIT);
    (void)finish(&splice, &buf);
    assert_true(splice.part_count <= WEIR_JSON_SPLICE_PARTS);
    weir_buf_deinit(&buf);
}

/* Objects of up to eight members with random white space; each keeps, replaces or loses its value by lot. */
struct model {
    char source[512];
    char expected[512]; /* keys and values of what is left, without white space */
    size_t source_len;
    size_t expected_len;
};

static void put(char *room, size_t *len, const char *text)
{
    memcpy(room + *len, text, strlen(text));
    *len += strlen(text);
}

static void put_space(struct model *m, struct weir_rand *rand)
{
    static const char *const spaces[] = {"", "", " ", "\n", " \t "};

    put(m->source, &m->source_len, spaces[weir_rand_below(rand, 5)]);
}

enum { KEEP, REPLACE, REMOVE };

static void put_member(struct model *m, struct weir_rand *rand, size_t i, unsigned fate)
{
    static const char *const values[] = {"1", "\"{,}\"", "{\"a\":[1,{}]}", "[]", "{}", "null"};
    char key[] = "\"?\":";
    const char *value = values[weir_rand_below(rand, 6)];

    key[1] = (char)('a' + i);
    put_space(m, rand);
    put(m->source, &m->source_len, key);
    put_space(m, rand);
    put(m->source, &m->source_len, value);
    put_space(m, rand);
    if (fate == REMOVE)
        return;
    put(m->expected, &m->expected_len, m->expected_len > 1 ? "," : "");
    put(m->expected, &m->expected_len, key);
    put(m->expected, &m->expected_len, fate == REPLACE ? "\"new\"" : value);
}

/* In place. */
static struct weir_slice without_space(struct weir_buf *buf)
{
    size_t len = 0;

    for (size_t i = buf->start; i < buf->end; i++)
        if (weir_slice_find_char(WEIR_SLICE(" \n\t"), buf->ptr[i]) == WEIR_SLICE_NONE)
            buf->ptr[buf->start + len++] = buf->ptr[i];
    return (struct weir_slice){buf->ptr + buf->start, len};
}

static void check_model(struct weir_rand *rand, struct weir_buf *buf)
{
    struct model m = {.source = "{", .expected = "{", .source_len = 1, .expected_len = 1};
    size_t count = (size_t)weir_rand_below(rand, 9);
    struct weir_json_splice splice;
    struct weir_json_value root;
    struct weir_json_cursor c;
    struct weir_json_item item;
    struct weir_slice source, expected;
    unsigned fates[8];

    for (size_t i = 0; i < count; i++) {
        fates[i] = (unsigned)weir_rand_below(rand, 3);
        put(m.source, &m.source_len, i > 0 ? "," : "");
        put_member(&m, rand, i, fates[i]);
    }
    put_space(&m, rand);
    put(m.source, &m.source_len, "}");
    put(m.expected, &m.expected_len, m.expected_len > 1 ? ",\"z\":0}" : "\"z\":0}");
    source = (struct weir_slice){m.source, m.source_len};
    expected = (struct weir_slice){m.expected, m.expected_len};
    root = whole(source);
    weir_json_splice_init(&splice, source);
    assert_int_equal(weir_json_splice_add(&splice, &root, WEIR_SLICE("\"z\":0")), 0);
    assert_int_equal(weir_json_enter(&c, source, 99), 0);
    for (size_t i = 0; weir_json_next(&c, &item) == WEIR_JSON_ITEM; i++) {
        if (fates[i] == REMOVE)
            assert_int_equal(weir_json_splice_remove(&splice, &item), 0);
        else if (fates[i] == REPLACE)
            assert_int_equal(weir_json_splice_replace(&splice, &item.value, WEIR_SLICE("\"new\"")), 0);
    }
    (void)finish(&splice, buf);
    assert_true(weir_slice_eq(without_space(buf), expected));
}

static void any_mix_of_edits_gives_the_object_that_is_expected(void **state)
{
    struct weir_rand rand;
    struct weir_buf buf;

    (void)state;
    weir_rand_init(&rand, 5);
    weir_buf_init(&buf, weir_mem_libc(), 1 << 16);
    for (int i = 0; i < 20000; i++)
        check_model(&rand, &buf);
    weir_buf_deinit(&buf);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(without_edits_the_source_is_the_result),
        cmocka_unit_test(a_value_is_replaced),
        cmocka_unit_test(a_member_goes_with_its_comma),
        cmocka_unit_test(white_space_around_what_stays_is_kept),
        cmocka_unit_test(a_member_is_added_at_the_end),
        cmocka_unit_test(removing_and_adding_agree_on_the_comma),
        cmocka_unit_test(elements_of_an_array_are_edited_alike),
        cmocka_unit_test(two_additions_keep_their_order),
        cmocka_unit_test(edits_reach_into_containers),
        cmocka_unit_test(edits_that_overlap_are_an_error),
        cmocka_unit_test(places_outside_the_source_are_an_error),
        cmocka_unit_test(more_edits_than_there_is_room_for_are_refused),
        cmocka_unit_test(any_mix_of_edits_gives_the_object_that_is_expected),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
