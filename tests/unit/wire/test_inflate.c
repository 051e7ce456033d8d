#include "unit.h"

#include <stdlib.h>
#include <string.h>

#include <weir/error.h>
#include <weir/mem_libc.h>

#include "base/buf.h"
#include "base/text.h"
#include "chunks.h"
#include "test_mem.h"
#include "wire/inflate.h"

enum { GZIP_WINDOW = 31, ZLIB_WINDOW = 15, RAW_WINDOW = -15, MAX_BYTES = 1 << 24 };

/* Appends text, packed. */
static void pack(struct weir_buf *out, struct weir_slice text, int window)
{
    z_stream z = {0};
    char *room;

    assert_int_equal(deflateInit2(&z, 6, Z_DEFLATED, window, 8, Z_DEFAULT_STRATEGY), Z_OK);
    assert_int_equal(weir_buf_reserve(out, text.len + 1000, &room), 0);
    z.next_in = (const unsigned char *)text.ptr;
    z.avail_in = (unsigned)text.len;
    z.next_out = (unsigned char *)room;
    z.avail_out = (unsigned)text.len + 1000;
    assert_int_equal(deflate(&z, Z_FINISH), Z_STREAM_END);
    weir_buf_commit(out, text.len + 1000 - z.avail_out);
    assert_int_equal(deflateEnd(&z), Z_OK);
}

struct cut {
    struct weir_rand *rand;
    size_t max_in;
    size_t room;
};

static const struct cut at_once = {NULL, 1 << 30, 4096};

/* Unpacks all of packed into out, and returns the last result; *ret_complete when 0. */
static int unpack(struct weir_inflate *inf, struct weir_slice packed, struct cut cut, struct weir_buf *out)
{
    struct weir_slice piece;
    struct chunks chunks;
    int r = 0;

    chunks_init(&chunks, packed, cut.rand, cut.max_in);
    while (r == 0 && chunks_next(&chunks, &piece))
        do {
            char *room;
            size_t len;

            assert_int_equal(weir_buf_reserve(out, cut.room, &room), 0);
            r = weir_inflate_next(inf, &piece, room, cut.room, &len);
            assert_true(len <= cut.room);
            weir_buf_commit(out, len);
        } while (r == WEIR_INFLATE_MORE);
    chunks_deinit(&chunks);
    return r;
}

static void unpacks_to(struct weir_slice packed, enum weir_inflate_format format, struct cut cut,
                       struct weir_slice expected)
{
    struct weir_inflate inf;
    struct weir_buf out;

    weir_buf_init(&out, weir_mem_libc(), MAX_BYTES);
    weir_inflate_init(&inf, format, weir_mem_libc(), MAX_BYTES, 2000);
    assert_int_equal(unpack(&inf, packed, cut, &out), 0);
    assert_true(weir_inflate_complete(&inf));
    assert_true(weir_slice_eq(weir_buf_slice(&out), expected));
    weir_inflate_deinit(&inf);
    weir_buf_deinit(&out);
}

static void packed_and_unpacked_is_the_same(void **state)
{
    static const struct weir_slice text = WEIR_SLICE_INIT("{\"text\": \"hello hello hello hello\"}");
    struct weir_buf packed;

    (void)state;
    weir_buf_init(&packed, weir_mem_libc(), MAX_BYTES);
    pack(&packed, text, GZIP_WINDOW);
    unpacks_to(weir_buf_slice(&packed), WEIR_INFLATE_GZIP, at_once, text);
    weir_buf_clear(&packed);
    pack(&packed, text, ZLIB_WINDOW);
    unpacks_to(weir_buf_slice(&packed), WEIR_INFLATE_DEFLATE, at_once, text);
    weir_buf_clear(&packed);
    pack(&packed, text, RAW_WINDOW);
    unpacks_to(weir_buf_slice(&packed), WEIR_INFLATE_DEFLATE, at_once, text);
    weir_buf_deinit(&packed);
}

static void gzip_members_follow_each_other(void **state)
{
    struct weir_buf packed;

    (void)state;
    weir_buf_init(&packed, weir_mem_libc(), MAX_BYTES);
    pack(&packed, WEIR_SLICE("one "), GZIP_WINDOW);
    pack(&packed, WEIR_SLICE_EMPTY, GZIP_WINDOW);
    pack(&packed, WEIR_SLICE("two"), GZIP_WINDOW);
    unpacks_to(weir_buf_slice(&packed), WEIR_INFLATE_GZIP, at_once, WEIR_SLICE("one two"));
    unpacks_to(weir_buf_slice(&packed), WEIR_INFLATE_GZIP, (struct cut){NULL, 1, 1}, WEIR_SLICE("one two"));
    weir_buf_deinit(&packed);
}

static void what_follows_the_data_is_ignored(void **state)
{
    struct weir_buf packed;

    (void)state;
    weir_buf_init(&packed, weir_mem_libc(), MAX_BYTES);
    pack(&packed, WEIR_SLICE("one"), GZIP_WINDOW);
    assert_int_equal(weir_buf_append(&packed, WEIR_SLICE("\0\0\0 rubbish")), 0);
    unpacks_to(weir_buf_slice(&packed), WEIR_INFLATE_GZIP, at_once, WEIR_SLICE("one"));
    unpacks_to(weir_buf_slice(&packed), WEIR_INFLATE_GZIP, (struct cut){NULL, 1, 7}, WEIR_SLICE("one"));
    weir_buf_deinit(&packed);
}

static void damage_is_noticed(void **state)
{
    struct weir_buf packed, out;

    (void)state;
    weir_buf_init(&packed, weir_mem_libc(), MAX_BYTES);
    weir_buf_init(&out, weir_mem_libc(), MAX_BYTES);
    pack(&packed, WEIR_SLICE("some text, some text"), GZIP_WINDOW);
    packed.ptr[packed.end - 8] = (char)(packed.ptr[packed.end - 8] ^ 1); /* the checksum */
    for (int i = 0; i < 2; i++) {
        struct weir_inflate inf;

        weir_inflate_init(&inf, WEIR_INFLATE_GZIP, weir_mem_libc(), MAX_BYTES, 2000);
        assert_int_equal(
            unpack(&inf, i == 0 ? weir_buf_slice(&packed) : WEIR_SLICE("{\"error\": 1}"), at_once, &out),
            WEIR_INFLATE_BAD);
        assert_false(weir_inflate_complete(&inf));
        weir_inflate_deinit(&inf);
    }
    weir_buf_deinit(&packed);
    weir_buf_deinit(&out);
}

static void data_that_is_cut_off_is_not_complete(void **state)
{
    struct weir_buf packed, out;

    (void)state;
    weir_buf_init(&packed, weir_mem_libc(), MAX_BYTES);
    weir_buf_init(&out, weir_mem_libc(), MAX_BYTES);
    pack(&packed, WEIR_SLICE("some text, some text"), GZIP_WINDOW);
    for (size_t len = 0; len < weir_buf_len(&packed); len++) {
        struct weir_inflate inf;

        weir_inflate_init(&inf, WEIR_INFLATE_GZIP, weir_mem_libc(), MAX_BYTES, 2000);
        assert_int_equal(unpack(&inf, weir_slice_sub(weir_buf_slice(&packed), 0, len), at_once, &out), 0);
        assert_int_equal(weir_inflate_complete(&inf), len == 0);
        weir_inflate_deinit(&inf);
    }
    weir_buf_deinit(&packed);
    weir_buf_deinit(&out);
}

/* Unpacks 8 MiB of zeros, which pack to about a thousandth. */
static int unpack_bomb(uint64_t max_output_bytes, uint64_t max_ratio, uint64_t *ret_out)
{
    struct weir_slice zeros = {calloc(1, 8 << 20), 8 << 20};
    struct weir_buf packed, out;
    struct weir_inflate inf;
    int r;

    assert_non_null(zeros.ptr);
    weir_buf_init(&packed, weir_mem_libc(), MAX_BYTES);
    weir_buf_init(&out, weir_mem_libc(), MAX_BYTES);
    pack(&packed, zeros, GZIP_WINDOW);
    weir_inflate_init(&inf, WEIR_INFLATE_GZIP, weir_mem_libc(), max_output_bytes, max_ratio);
    r = unpack(&inf, weir_buf_slice(&packed), at_once, &out);
    *ret_out = inf.out_bytes;
    weir_inflate_deinit(&inf);
    weir_buf_deinit(&packed);
    weir_buf_deinit(&out);
    free((void *)(uintptr_t)zeros.ptr);
    return r;
}

static void a_bomb_is_stopped_by_size_and_by_ratio(void **state)
{
    uint64_t out;

    (void)state;
    assert_int_equal(unpack_bomb(8 << 20, 2000, &out), 0);
    assert_int_equal(out, 8 << 20);
    assert_int_equal(unpack_bomb((8 << 20) - 1, 2000, &out), WEIR_INFLATE_TOO_BIG);
    assert_int_equal(unpack_bomb(100000, 2000, &out), WEIR_INFLATE_TOO_BIG);
    assert_in_range(out, 100001, 100000 + 4096);
    assert_int_equal(unpack_bomb(8 << 20, 100, &out), WEIR_INFLATE_TOO_BIG);
    assert_in_range(out, WEIR_INFLATE_RATIO_FLOOR, 2 * WEIR_INFLATE_RATIO_FLOOR);
}

static void encodings_are_known_by_name(void **state)
{
    enum weir_inflate_format format;

    (void)state;
    assert_int_equal(weir_inflate_format_of(WEIR_SLICE(" GZIP "), &format), 0);
    assert_int_equal(format, WEIR_INFLATE_GZIP);
    assert_int_equal(weir_inflate_format_of(WEIR_SLICE("x-gzip"), &format), 0);
    assert_int_equal(weir_inflate_format_of(WEIR_SLICE("deflate"), &format), 0);
    assert_int_equal(format, WEIR_INFLATE_DEFLATE);
    assert_int_equal(weir_inflate_format_of(WEIR_SLICE("br"), &format), WEIR_INFLATE_UNKNOWN);
    assert_int_equal(weir_inflate_format_of(WEIR_SLICE("gzip, gzip"), &format), WEIR_INFLATE_UNKNOWN);
    assert_int_equal(weir_inflate_format_of(WEIR_SLICE_EMPTY, &format), WEIR_INFLATE_UNKNOWN);
}

static void running_out_of_memory_is_reported_and_leaks_nothing(void **state)
{
    struct test_mem mem = {.failed = true};
    struct weir_buf packed;

    (void)state;
    weir_buf_init(&packed, weir_mem_libc(), MAX_BYTES);
    pack(&packed, WEIR_SLICE("some text, some text"), GZIP_WINDOW);
    for (size_t n = 1; mem.failed; n++) {
        struct weir_slice input = weir_buf_slice(&packed);
        struct weir_inflate inf;
        char room[4];
        size_t len;
        int r;

        test_mem_init(&mem, n);
        weir_inflate_init(&inf, WEIR_INFLATE_GZIP, &mem.mem, MAX_BYTES, 2000);
        do
            r = weir_inflate_next(&inf, &input, room, sizeof(room), &len);
        while (r == WEIR_INFLATE_MORE);
        assert_int_equal(r, mem.failed ? WEIR_ERR_NOMEM : 0);
        weir_inflate_deinit(&inf);
        test_mem_assert_empty(&mem);
    }
    weir_buf_deinit(&packed);
}

static void data_unpacks_the_same_wherever_it_is_cut(void **state)
{
    char digits[WEIR_TEXT_U64_MAX];
    struct weir_rand rand;
    struct weir_buf text, packed;

    (void)state;
    weir_rand_init(&rand, 6);
    weir_buf_init(&text, weir_mem_libc(), MAX_BYTES);
    weir_buf_init(&packed, weir_mem_libc(), MAX_BYTES);
    for (int i = 0; i < 2000; i++) {
        struct weir_slice number = weir_text_u64(weir_rand_below(&rand, 1000), digits);

        assert_int_equal(weir_buf_append(&text, number), 0);
    }
    pack(&packed, weir_buf_slice(&text), GZIP_WINDOW);
    for (size_t i = 0; i < 1000; i++)
        unpacks_to(weir_buf_slice(&packed), WEIR_INFLATE_GZIP, (struct cut){&rand, 1 + i, 1 + i % 777},
                   weir_buf_slice(&text));
    weir_buf_deinit(&text);
    weir_buf_deinit(&packed);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(packed_and_unpacked_is_the_same),
        cmocka_unit_test(gzip_members_follow_each_other),
        cmocka_unit_test(what_follows_the_data_is_ignored),
        cmocka_unit_test(damage_is_noticed),
        cmocka_unit_test(data_that_is_cut_off_is_not_complete),
        cmocka_unit_test(a_bomb_is_stopped_by_size_and_by_ratio),
        cmocka_unit_test(encodings_are_known_by_name),
        cmocka_unit_test(running_out_of_memory_is_reported_and_leaks_nothing),
        cmocka_unit_test(data_unpacks_the_same_wherever_it_is_cut),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
