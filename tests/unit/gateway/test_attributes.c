/* Attributes: their bytes, and that no text can spoil the message that holds it. */
#include "unit.h"

#include <string.h>

#include <weir/mem_libc.h>

#include "base/rand.h"
#include "gateway/span/attributes.h"
#include "gateway/span/encode.h"
#include "wire/utf8.h"

static struct weir_buf buf;
static struct weir_protobuf_writer writer;

static int begin(void **state)
{
    (void)state;
    weir_buf_init(&buf, weir_mem_libc(), 1 << 20);
    weir_protobuf_init(&writer, &buf);
    return 0;
}

static int end(void **state)
{
    (void)state;
    weir_buf_deinit(&buf);
    return 0;
}

static struct weir_attribute_key key(const char *name)
{
    static char room[WEIR_ATTRIBUTE_KEY_MAX];

    return weir_attribute_key_of(WEIR_SLICE_EMPTY, weir_slice_str(name), room);
}

#define EXPECT(text)                                                                                         \
    do {                                                                                                     \
        assert_int_equal(weir_buf_len(&buf), sizeof(text) - 1);                                              \
        assert_memory_equal(weir_buf_slice(&buf).ptr, text, sizeof(text) - 1);                               \
    } while (0)

static void test_a_text(void **state)
{
    (void)state;
    weir_attribute_text(&writer, 9, key("key"), WEIR_SLICE("value"));
    EXPECT("\x4a\x0e\x0a\x03key\x12\x07\x0a\x05value");
}

static void test_an_empty_text_is_left_out(void **state)
{
    (void)state;
    weir_attribute_text(&writer, 9, key("key"), WEIR_SLICE_EMPTY);
    weir_attribute_texts(&writer, 9, key("key"), WEIR_SLICE_EMPTY);
    EXPECT("");
}

static void test_a_list_of_one(void **state)
{
    (void)state;
    weir_attribute_texts(&writer, 9, key("k"), WEIR_SLICE("v"));
    EXPECT("\x4a\x0c\x0a\x01k\x12\x07\x2a\x05\x0a\x03\x0a\x01v");
}

static void test_numbers_and_flags(void **state)
{
    (void)state;
    weir_attribute_u64(&writer, 1, key("k"), 300);
    weir_attribute_flag(&writer, 1, key("k"), false);
    weir_attribute_double(&writer, 1, key("k"), 1.0);
    EXPECT("\x0a\x08\x0a\x01k\x12\x03\x18\xac\x02"
           "\x0a\x07\x0a\x01k\x12\x02\x10\x00"
           "\x0a\x0e\x0a\x01k\x12\x09\x21\x00\x00\x00\x00\x00\x00\xf0\x3f");
}

static void test_names_of_the_table_are_as_any_others(void **state)
{
    static const char *const names[] = {
#define X(id, name) name,
#include "gateway/span/tbl/attributes.h"
#undef X
    };

    (void)state;
    for (int i = 0; i < WEIR_ATTRIBUTES; i++) {
        const struct weir_attribute_key made = key(names[i]),
                                        ready = weir_attribute_key((weir_attribute_id)i);

        assert_int_equal(made.len, ready.len);
        assert_memory_equal(made.bytes, ready.bytes, WEIR_ATTRIBUTE_KEY_MAX);
    }
}

static void test_a_long_name_is_cut_and_a_bad_one_cleaned(void **state)
{
    char room[WEIR_ATTRIBUTE_KEY_MAX], name[200];
    struct weir_attribute_key made;

    (void)state;
    memset(name, 'n', sizeof(name));
    made = weir_attribute_key_of(WEIR_SLICE("weir."), (struct weir_slice){name, sizeof(name)}, room);
    assert_true(made.len <= WEIR_ATTRIBUTE_KEY_MAX);
    weir_attribute_u64(&writer, 1, made, 1);
    assert_memory_equal(weir_buf_slice(&buf).ptr + 2, made.bytes, made.len);
    made = weir_attribute_key_of(WEIR_SLICE_EMPTY, WEIR_SLICE("a\xff"), room);
    assert_memory_equal(made.bytes,
                        "\x0a\x02"
                        "a?"
                        "\x12",
                        5);
}

static bool is_clean(struct weir_slice text)
{
    for (const char *p = text.ptr, *last = text.ptr + text.len; p < last;) {
        size_t step = weir_utf8_len(p, last);

        if (step == 0)
            return false;
        p += step;
    }
    return true;
}

static void test_texts_are_cut_between_characters(void **state)
{
    char long_text[2 * WEIR_ATTRIBUTE_TEXT_MAX], room[WEIR_ATTRIBUTE_TEXT_MAX];

    (void)state;
    for (size_t shift = 0; shift < 4; shift++) {
        struct weir_slice clean;

        memset(long_text, 'x', shift);
        for (size_t at = shift; at + 4 <= sizeof(long_text); at += 4)
            memcpy(long_text + at, "\xf0\x9f\x98\x80", 4);
        clean = weir_attribute_clean((struct weir_slice){long_text, sizeof(long_text) - 4}, room);
        assert_true(is_clean(clean));
        assert_true(clean.len <= WEIR_ATTRIBUTE_TEXT_MAX && clean.len > WEIR_ATTRIBUTE_TEXT_MAX - 4);
        assert_memory_equal(clean.ptr, long_text, clean.len);
    }
}

static void test_what_is_no_utf8_becomes_question_marks(void **state)
{
    char room[WEIR_ATTRIBUTE_TEXT_MAX];

    (void)state;
    assert_slice_is(weir_attribute_clean(WEIR_SLICE("a\xff"
                                                    "b\xc3"),
                                         room),
                    "a?b?");
    assert_slice_is(weir_attribute_clean(WEIR_SLICE("\xed\xa0\x80"), room), "???");
    assert_slice_is(weir_attribute_clean(WEIR_SLICE_EMPTY, room), "");
}

static void test_any_bytes_become_clean_text(void **state)
{
    struct weir_rand rand;

    (void)state;
    weir_rand_init(&rand, 5);
    for (int round = 0; round < 20000; round++) {
        char bytes[300], room[WEIR_ATTRIBUTE_TEXT_MAX];
        struct weir_slice clean;
        size_t len = (size_t)weir_rand_below(&rand, sizeof(bytes) + 1);

        for (size_t i = 0; i < len; i++)
            bytes[i] = (char)(weir_rand_below(&rand, 4) == 0 ? weir_rand_below(&rand, 256) : 'a');
        clean = weir_attribute_clean((struct weir_slice){bytes, len}, room);
        assert_true(clean.len <= WEIR_ATTRIBUTE_TEXT_MAX);
        assert_true(is_clean(clean));
    }
}

static void test_what_a_collector_rejects_is_read(void **state)
{
    (void)state;
    assert_int_equal(weir_span_rejected(WEIR_SLICE_EMPTY), 0);
    assert_int_equal(weir_span_rejected(WEIR_SLICE("\x0a\x09\x08\x03\x12\x05sorry")), 3);
    assert_int_equal(weir_span_rejected(WEIR_SLICE("\x0a\x07\x12\x05sorry")), 0);
    assert_int_equal(weir_span_rejected(WEIR_SLICE("\x0a\x0b\x08\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01")),
                     0);
    assert_int_equal(weir_span_rejected(WEIR_SLICE("{\"partialSuccess\":{}}")), 0);
    assert_int_equal(weir_span_rejected(WEIR_SLICE("<html>")), 0);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, begin, end)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_a_text),
        TEST(test_an_empty_text_is_left_out),
        TEST(test_a_list_of_one),
        TEST(test_numbers_and_flags),
        TEST(test_names_of_the_table_are_as_any_others),
        TEST(test_a_long_name_is_cut_and_a_bad_one_cleaned),
        TEST(test_texts_are_cut_between_characters),
        TEST(test_what_is_no_utf8_becomes_question_marks),
        TEST(test_any_bytes_become_clean_text),
        TEST(test_what_a_collector_rejects_is_read),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
