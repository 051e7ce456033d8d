/* Protocol buffers: the bytes of the format's description, and that what was written is read back. */
#include "unit.h"

#include <string.h>

#include <weir/error.h>
#include <weir/mem_libc.h>

#include "base/rand.h"
#include "wire/protobuf.h"

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

static void expect(const char *bytes, size_t len)
{
    assert_int_equal(weir_protobuf_end(&writer), 0);
    assert_int_equal(weir_buf_len(&buf), len);
    assert_memory_equal(weir_buf_slice(&buf).ptr, bytes, len);
}

#define EXPECT(text) expect((text), sizeof(text) - 1)

static void test_numbers_are_as_the_format_has_them(void **state)
{
    (void)state;
    weir_protobuf_put_u64(&writer, 1, 150);
    weir_protobuf_put_u64(&writer, 16, 0);
    weir_protobuf_put_u64(&writer, 2, UINT64_MAX);
    EXPECT("\x08\x96\x01"
           "\x80\x01\x00"
           "\x10\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01");
}

static void test_fixed_numbers_have_their_lowest_byte_first(void **state)
{
    (void)state;
    weir_protobuf_put_fixed64(&writer, 7, UINT64_C(0x0102030405060708));
    weir_protobuf_put_fixed32(&writer, 16, 1);
    EXPECT("\x39\x08\x07\x06\x05\x04\x03\x02\x01"
           "\x85\x01\x01\x00\x00\x00");
}

static void test_texts_have_their_length(void **state)
{
    (void)state;
    weir_protobuf_put_bytes(&writer, 2, WEIR_SLICE("testing"));
    weir_protobuf_put_bytes(&writer, 3, WEIR_SLICE_EMPTY);
    EXPECT("\x12\x07testing\x1a\x00");
}

static void test_messages_stand_in_messages(void **state)
{
    size_t outer, inner;

    (void)state;
    outer = weir_protobuf_open(&writer, 3);
    weir_protobuf_put_u64(&writer, 1, 150);
    inner = weir_protobuf_open(&writer, 4);
    weir_protobuf_close(&writer, inner);
    weir_protobuf_close(&writer, outer);
    weir_protobuf_put_u64(&writer, 5, 1);
    EXPECT("\x1a\x05\x08\x96\x01\x22\x00\x28\x01");
}

static void test_a_message_is_the_same_however_long_it_was_thought_to_be(void **state)
{
    static const size_t lengths[] = {0,     1,     124,   125,   126,   127,   128,
                                     16378, 16379, 16380, 16381, 16384, 300000};
    static char text[300000], short_way[300016];

    (void)state;
    memset(text, 'x', sizeof(text));
    for (size_t i = 0; i < sizeof(lengths) / sizeof(lengths[0]); i++) {
        const struct weir_slice bytes = {text, lengths[i]};
        size_t mark, len;

        weir_buf_clear(&buf);
        mark = weir_protobuf_open(&writer, 2);
        weir_protobuf_put_bytes(&writer, 3, bytes);
        weir_protobuf_close(&writer, mark);
        len = weir_buf_len(&buf);
        memcpy(short_way, weir_buf_slice(&buf).ptr, len);

        weir_buf_clear(&buf);
        mark = weir_protobuf_open_long(&writer, 2);
        weir_protobuf_put_bytes(&writer, 3, bytes);
        weir_protobuf_close_long(&writer, mark);
        assert_int_equal(weir_buf_len(&buf), len);
        assert_memory_equal(weir_buf_slice(&buf).ptr, short_way, len);
        assert_int_equal(weir_protobuf_end(&writer), 0);
    }
}

static void test_the_end_of_a_message_may_stand_elsewhere(void **state)
{
    size_t outer, inner;

    (void)state;
    outer = weir_protobuf_open(&writer, 1);
    weir_protobuf_put_u64(&writer, 2, 1);
    inner = weir_protobuf_open(&writer, 3);
    weir_protobuf_put_u64(&writer, 4, 1);
    weir_protobuf_close_around(&writer, inner, 300);
    weir_protobuf_close_around(&writer, outer, 300);
    EXPECT("\x0a\xb3\x02\x10\x01\x1a\xae\x02\x20\x01");
}

static void test_a_long_message_moves_up(void **state)
{
    static const size_t lengths[] = {125, 126, 127, 128, 16381, 16382, 16383, 16384, 300000};
    static char text[300000];
    struct weir_protobuf_field field;

    (void)state;
    memset(text, 'x', sizeof(text));
    for (size_t i = 0; i < sizeof(lengths) / sizeof(lengths[0]); i++) {
        struct weir_slice rest, inner;
        size_t outer_mark, mark;

        weir_buf_clear(&buf);
        outer_mark = weir_protobuf_open(&writer, 1);
        mark = weir_protobuf_open(&writer, 2);
        weir_protobuf_put_bytes(&writer, 3, (struct weir_slice){text, lengths[i]});
        weir_protobuf_close(&writer, mark);
        weir_protobuf_close(&writer, outer_mark);
        assert_int_equal(weir_protobuf_end(&writer), 0);
        rest = weir_buf_slice(&buf);
        for (unsigned number = 1; number <= 3; number++) {
            assert_int_equal(weir_protobuf_next(&rest, &field), 0);
            assert_int_equal(field.number, number);
            assert_true(field.is_bytes);
            assert_int_equal(rest.len, 0);
            inner = field.bytes;
            rest = inner;
        }
        assert_int_equal(field.bytes.len, lengths[i]);
        assert_memory_equal(field.bytes.ptr, text, lengths[i]);
    }
}

static void test_a_full_buffer_is_told_at_the_end(void **state)
{
    struct weir_buf small;
    size_t mark;

    (void)state;
    weir_buf_init(&small, weir_mem_libc(), 64);
    weir_protobuf_init(&writer, &small);
    mark = weir_protobuf_open(&writer, 1);
    for (int i = 0; i < 100; i++)
        weir_protobuf_put_fixed64(&writer, 1, 7);
    weir_protobuf_put_bytes(&writer, 1, WEIR_SLICE("more"));
    weir_protobuf_close(&writer, mark);
    assert_int_equal(weir_protobuf_end(&writer), WEIR_ERR_LIMIT);
    weir_buf_deinit(&small);
}

static void test_what_is_no_message_is_refused(void **state)
{
    static const struct weir_slice bad[] = {
        WEIR_SLICE_INIT("\x08"),                                             /* no number */
        WEIR_SLICE_INIT("\x08\x80"),                                         /* half a number */
        WEIR_SLICE_INIT("\x08\xff\xff\xff\xff\xff\xff\xff\xff\xff\x02"),     /* more than 64 bits */
        WEIR_SLICE_INIT("\x08\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01"), /* eleven bytes */
        WEIR_SLICE_INIT("\x12\x02x"),                                        /* half a text */
        WEIR_SLICE_INIT("\x12\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01x"),    /* an endless one */
        WEIR_SLICE_INIT("\x09\x01\x02"),
        WEIR_SLICE_INIT("\x0d\x01"),
        WEIR_SLICE_INIT("\x0b"),     /* a group */
        WEIR_SLICE_INIT("\x0f"),     /* no type */
        WEIR_SLICE_INIT("\x02\x00"), /* field 0 */
    };
    struct weir_protobuf_field field;

    (void)state;
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        struct weir_slice rest = bad[i];

        assert_int_equal(weir_protobuf_next(&rest, &field), WEIR_PROTOBUF_BAD);
        assert_ptr_equal(rest.ptr, bad[i].ptr);
    }
}

static void test_any_fields_are_read_back_as_written(void **state)
{
    struct weir_rand rand;
    struct weir_protobuf_field field;

    (void)state;
    weir_rand_init(&rand, 11);
    for (int round = 0; round < 2000; round++) {
        uint64_t numbers[8];
        unsigned fields[8], kinds[8];
        struct weir_slice rest;

        weir_buf_clear(&buf);
        for (int i = 0; i < 8; i++) {
            numbers[i] = weir_rand_u64(&rand) >> weir_rand_below(&rand, 64);
            fields[i] = 1 + (unsigned)weir_rand_below(&rand, 2047);
            kinds[i] = (unsigned)weir_rand_below(&rand, 4);
            if (kinds[i] == 0)
                weir_protobuf_put_u64(&writer, fields[i], numbers[i]);
            else if (kinds[i] == 1)
                weir_protobuf_put_fixed64(&writer, fields[i], numbers[i]);
            else if (kinds[i] == 2)
                weir_protobuf_put_fixed32(&writer, fields[i], (uint32_t)numbers[i]);
            else
                weir_protobuf_put_bytes(&writer, fields[i],
                                        (struct weir_slice){(const char *)&numbers[i], 8});
        }
        rest = weir_buf_slice(&buf);
        for (int i = 0; i < 8; i++) {
            assert_int_equal(weir_protobuf_next(&rest, &field), 0);
            assert_int_equal(field.number, fields[i]);
            assert_int_equal(field.is_bytes, kinds[i] == 3);
            if (kinds[i] == 3)
                assert_memory_equal(field.bytes.ptr, &numbers[i], 8);
            else
                assert_true(field.value == (kinds[i] == 2 ? (uint32_t)numbers[i] : numbers[i]));
        }
        assert_int_equal(weir_protobuf_next(&rest, &field), WEIR_PROTOBUF_END);
    }
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, begin, end)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_numbers_are_as_the_format_has_them),
        TEST(test_fixed_numbers_have_their_lowest_byte_first),
        TEST(test_texts_have_their_length),
        TEST(test_messages_stand_in_messages),
        TEST(test_a_message_is_the_same_however_long_it_was_thought_to_be),
        TEST(test_the_end_of_a_message_may_stand_elsewhere),
        TEST(test_a_long_message_moves_up),
        TEST(test_a_full_buffer_is_told_at_the_end),
        TEST(test_what_is_no_message_is_refused),
        TEST(test_any_fields_are_read_back_as_written),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
