#include "unit.h"

#include <weir/error.h>
#include <weir/mem_libc.h>

#include "test_mem.h"
#include "wire/json_scan.h"
#include "wire/json_write.h"

static void write_all(struct weir_json_writer *w)
{
    weir_json_open(w, '{');
    weir_json_put_key(w, WEIR_SLICE("a\"b"));
    weir_json_open(w, '[');
    weir_json_put_u64(w, UINT64_MAX);
    weir_json_put_u64(w, 5);
    weir_json_put_fixed(w, 1234, 3);
    weir_json_open(w, '[');
    weir_json_close(w, ']');
    weir_json_open(w, '{');
    weir_json_close(w, '}');
    weir_json_put_bool(w, true);
    weir_json_put_bool(w, false);
    weir_json_put_null(w);
    weir_json_put_raw(w, WEIR_SLICE("{\"x\": 1}"));
    weir_json_close(w, ']');
    weir_json_put_key(w, WEIR_SLICE("c"));
    weir_json_put_string(w, WEIR_SLICE("d"));
    weir_json_close(w, '}');
}

static void commas_and_colons_are_set(void **state)
{
    struct weir_json_writer w;
    struct weir_buf buf;

    (void)state;
    weir_buf_init(&buf, weir_mem_libc(), 1000);
    weir_json_writer_init(&w, &buf);
    write_all(&w);
    assert_int_equal(weir_json_writer_end(&w), 0);
    assert_slice_is(weir_buf_slice(&buf), "{\"a\\\"b\":[18446744073709551615,5,1.234,[],{},true,false,null,"
                                          "{\"x\": 1}],\"c\":\"d\"}");
    weir_buf_deinit(&buf);
}

static void escapes_to(struct weir_slice text, const char *expected)
{
    struct weir_buf buf;

    weir_buf_init(&buf, weir_mem_libc(), 1000);
    assert_int_equal(weir_json_escape(&buf, text), 0);
    assert_slice_is(weir_buf_slice(&buf), expected);
    weir_buf_deinit(&buf);
}

static void strings_are_escaped_as_json_demands(void **state)
{
    (void)state;
    escapes_to(WEIR_SLICE("plain \xc3\xa9 \xf0\x9f\x98\x80 /"), "plain \xc3\xa9 \xf0\x9f\x98\x80 /");
    escapes_to(WEIR_SLICE("\"\\\n\r\t\b\0\x1f\x7f"), "\\\"\\\\\\n\\r\\t\\u0008\\u0000\\u001f\\u007f");
    escapes_to(WEIR_SLICE_EMPTY, "");
}

static void what_is_not_utf8_is_replaced_byte_by_byte(void **state)
{
    (void)state;
    escapes_to(WEIR_SLICE("a\xff"
                          "b"),
               "a\xef\xbf\xbd"
               "b");
    escapes_to(WEIR_SLICE("\xc3"), "\xef\xbf\xbd");
    escapes_to(WEIR_SLICE("\xed\xa0\x80"), "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd");
    escapes_to(WEIR_SLICE("\xc0\xaf"), "\xef\xbf\xbd\xef\xbf\xbd");
}

static void any_bytes_become_valid_json(void **state)
{
    struct weir_json_value value;
    size_t bad_at;

    (void)state;
    for (unsigned pair = 0; pair < 65536; pair++) {
        char bytes[2] = {(char)(pair >> 8), (char)pair};
        struct weir_json_writer w;
        struct weir_buf buf;

        weir_buf_init(&buf, weir_mem_libc(), 1000);
        weir_json_writer_init(&w, &buf);
        weir_json_put_string(&w, (struct weir_slice){bytes, 2});
        assert_int_equal(weir_json_writer_end(&w), 0);
        assert_int_equal(weir_json_check(weir_buf_slice(&buf), 1, &value, &bad_at), 0);
        weir_buf_deinit(&buf);
    }
}

static void the_first_failure_is_kept(void **state)
{
    struct weir_json_writer w;
    struct weir_buf buf;

    (void)state;
    weir_buf_init(&buf, weir_mem_libc(), 10);
    weir_json_writer_init(&w, &buf);
    write_all(&w);
    assert_int_equal(weir_json_writer_end(&w), WEIR_ERR_LIMIT);
    weir_buf_deinit(&buf);
}

static void running_out_of_memory_is_reported(void **state)
{
    struct test_mem mem;
    struct weir_json_writer w;
    struct weir_buf buf;

    (void)state;
    test_mem_init(&mem, 1);
    weir_buf_init(&buf, &mem.mem, 1000);
    weir_json_writer_init(&w, &buf);
    write_all(&w);
    assert_int_equal(weir_json_writer_end(&w), WEIR_ERR_NOMEM);
    weir_buf_deinit(&buf);
}

/* A string of any length, with any byte at any place, is what its escaped text is between quotes. */
static void a_string_is_escaped_wherever_it_must_be(void **state)
{
    char text[24];

    (void)state;
    for (size_t len = 1; len <= sizeof(text); len++)
        for (size_t at = 0; at < len; at++)
            for (int byte = 0; byte < 256; byte++) {
                struct weir_buf whole, escaped;
                struct weir_json_writer w;

                memset(text, 'x', sizeof(text));
                text[at] = (char)byte;
                weir_buf_init(&whole, weir_mem_libc(), 256);
                weir_buf_init(&escaped, weir_mem_libc(), 256);
                weir_json_writer_init(&w, &whole);
                weir_json_put_string(&w, (struct weir_slice){text, len});
                assert_int_equal(weir_json_writer_end(&w), 0);
                assert_int_equal(weir_buf_append(&escaped, WEIR_SLICE("\"")), 0);
                assert_int_equal(weir_json_escape(&escaped, (struct weir_slice){text, len}), 0);
                assert_int_equal(weir_buf_append(&escaped, WEIR_SLICE("\"")), 0);
                assert_true(weir_slice_eq(weir_buf_slice(&whole), weir_buf_slice(&escaped)));
                weir_buf_deinit(&whole);
                weir_buf_deinit(&escaped);
            }
}

/* A member written whole is the one that is written in two steps, whatever its lengths and its bytes. */
static void a_member_is_the_same_in_one_go(void **state)
{
    char key[40], text[40];

    (void)state;
    memset(key, 'k', sizeof(key));
    for (size_t i = 0; i < sizeof(text); i++)
        text[i] = (char)('A' + i % 26);
    for (size_t key_len = 0; key_len <= sizeof(key); key_len++)
        for (size_t len = 0; len <= sizeof(text); len++) {
            struct weir_slice name = {key, key_len}, value = {text, len},
                              raw = len == 0 ? WEIR_SLICE("0") : value;
            struct weir_buf whole, steps;
            struct weir_json_writer w, s;

            text[len / 2] = len % 3 == 0 ? '"' : 'x'; /* some must be escaped */
            weir_buf_init(&whole, weir_mem_libc(), 1024);
            weir_buf_init(&steps, weir_mem_libc(), 1024);
            weir_json_writer_init(&w, &whole);
            weir_json_writer_init(&s, &steps);
            weir_json_put_text_member(&w, name, value);
            weir_json_put_raw_member(&w, name, raw);
            weir_json_put_word_member(&w, name, WEIR_SLICE("word"));
            weir_json_put_u64_member(&w, name, UINT64_MAX - len);
            weir_json_put_bool_member(&w, name, len % 2 == 0);
            weir_json_put_key(&s, name);
            weir_json_put_string(&s, value);
            weir_json_put_key(&s, name);
            weir_json_put_raw(&s, raw);
            weir_json_put_key(&s, name);
            weir_json_put_string(&s, WEIR_SLICE("word"));
            weir_json_put_key(&s, name);
            weir_json_put_u64(&s, UINT64_MAX - len);
            weir_json_put_key(&s, name);
            weir_json_put_bool(&s, len % 2 == 0);
            assert_int_equal(weir_json_writer_end(&w), 0);
            assert_int_equal(weir_json_writer_end(&s), 0);
            assert_true(weir_slice_eq(weir_buf_slice(&whole), weir_buf_slice(&steps)));
            weir_buf_deinit(&whole);
            weir_buf_deinit(&steps);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(commas_and_colons_are_set),
        cmocka_unit_test(strings_are_escaped_as_json_demands),
        cmocka_unit_test(what_is_not_utf8_is_replaced_byte_by_byte),
        cmocka_unit_test(a_string_is_escaped_wherever_it_must_be),
        cmocka_unit_test(a_member_is_the_same_in_one_go),
        cmocka_unit_test(any_bytes_become_valid_json),
        cmocka_unit_test(the_first_failure_is_kept),
        cmocka_unit_test(running_out_of_memory_is_reported),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
