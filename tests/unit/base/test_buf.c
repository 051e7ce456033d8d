#include "unit.h"

#include <string.h>

#include <weir/error.h>
#include <weir/mem_libc.h>

#include "base/buf.h"
#include "base/rand.h"
#include "base/slice.h"
#include "test_mem.h"

static void what_is_appended_is_there(void **state)
{
    struct test_mem mem;
    struct weir_buf buf;

    (void)state;
    test_mem_init(&mem, 0);
    weir_buf_init(&buf, &mem.mem, 1000);
    assert_int_equal(mem.allocations, 0);
    assert_slice_is(weir_buf_slice(&buf), "");
    assert_int_equal(weir_buf_append(&buf, WEIR_SLICE("ab")), 0);
    assert_int_equal(weir_buf_append(&buf, WEIR_SLICE_EMPTY), 0);
    assert_int_equal(weir_buf_append(&buf, WEIR_SLICE("17")), 0);
    assert_slice_is(weir_buf_slice(&buf), "ab17");
    assert_int_equal(weir_buf_len(&buf), 4);
    weir_buf_clear(&buf);
    assert_int_equal(weir_buf_len(&buf), 0);
    assert_true(mem.live_blocks > 0);
    weir_buf_deinit(&buf);
    test_mem_assert_empty(&mem);
}

static void a_buffer_is_usable_after_deinit(void **state)
{
    struct weir_buf zeroed = {0};
    struct test_mem mem;
    struct weir_buf buf;

    (void)state;
    test_mem_init(&mem, 0);
    weir_buf_init(&buf, &mem.mem, 1000);
    assert_int_equal(weir_buf_append(&buf, WEIR_SLICE("a")), 0);
    weir_buf_deinit(&buf);
    assert_int_equal(weir_buf_append(&buf, WEIR_SLICE("b")), 0);
    assert_slice_is(weir_buf_slice(&buf), "b");
    weir_buf_deinit(&buf);
    weir_buf_deinit(&buf);
    weir_buf_deinit(&zeroed);
    test_mem_assert_empty(&mem);
}

static void more_than_the_maximum_is_refused_as_a_whole(void **state)
{
    struct test_mem mem;
    struct weir_buf buf;
    char *room;

    (void)state;
    test_mem_init(&mem, 0);
    weir_buf_init(&buf, &mem.mem, 5);
    assert_int_equal(weir_buf_append(&buf, WEIR_SLICE("abc")), 0);
    assert_int_equal(weir_buf_append(&buf, WEIR_SLICE("def")), WEIR_ERR_LIMIT);
    assert_int_equal(weir_buf_reserve(&buf, SIZE_MAX, &room), WEIR_ERR_LIMIT);
    assert_slice_is(weir_buf_slice(&buf), "abc");
    assert_int_equal(weir_buf_append(&buf, WEIR_SLICE("de")), 0);
    assert_slice_is(weir_buf_slice(&buf), "abcde");
    assert_true(mem.peak_bytes <= 5);
    weir_buf_deinit(&buf);
}

static void reserved_room_is_written_and_committed(void **state)
{
    struct test_mem mem;
    struct weir_buf buf;
    char *room;

    (void)state;
    test_mem_init(&mem, 0);
    weir_buf_init(&buf, &mem.mem, 1000);
    assert_int_equal(weir_buf_reserve(&buf, 10, &room), 0);
    memcpy(room, "abc", 3);
    weir_buf_commit(&buf, 3);
    assert_slice_is(weir_buf_slice(&buf), "abc");
    weir_buf_deinit(&buf);
}

static void consuming_drops_from_the_front(void **state)
{
    struct test_mem mem;
    struct weir_buf buf;

    (void)state;
    test_mem_init(&mem, 0);
    weir_buf_init(&buf, &mem.mem, 1000);
    assert_int_equal(weir_buf_append(&buf, WEIR_SLICE("abcd")), 0);
    weir_buf_consume(&buf, 3);
    assert_slice_is(weir_buf_slice(&buf), "d");
    weir_buf_consume(&buf, 0);
    weir_buf_consume(&buf, 1);
    assert_int_equal(weir_buf_len(&buf), 0);
    assert_int_equal(buf.start, 0);
    weir_buf_deinit(&buf);
}

static void a_stream_that_is_read_as_fast_as_it_is_written_stops_allocating(void **state)
{
    struct test_mem mem;
    struct weir_buf buf;

    (void)state;
    test_mem_init(&mem, 0);
    weir_buf_init(&buf, &mem.mem, 1 << 20);
    for (int i = 0; i < 10000; i++) {
        assert_int_equal(weir_buf_append(&buf, WEIR_SLICE("0123456789012345678901234567890123456789")), 0);
        if (i > 2)
            weir_buf_consume(&buf, 40);
    }
    assert_true(mem.allocations <= 2);
    weir_buf_deinit(&buf);
}

static void running_out_of_memory_changes_nothing(void **state)
{
    char bytes[300] = {0};
    struct test_mem mem;
    struct weir_buf buf;

    (void)state;
    test_mem_init(&mem, 2);
    weir_buf_init(&buf, &mem.mem, 1000);
    assert_int_equal(weir_buf_append(&buf, WEIR_SLICE("abc")), 0);
    assert_int_equal(weir_buf_append(&buf, (struct weir_slice){bytes, sizeof(bytes)}), WEIR_ERR_NOMEM);
    assert_slice_is(weir_buf_slice(&buf), "abc");
    assert_true(weir_buf_validate(&buf));
    weir_buf_deinit(&buf);
    test_mem_assert_empty(&mem);
}

/* A queue of bytes is the model. */
static void any_run_of_calls_behaves_as_a_queue(void **state)
{
    struct weir_rand rand;
    struct test_mem mem;
    struct weir_buf buf;
    unsigned char in = 0, out = 0;

    (void)state;
    weir_rand_init(&rand, 8);
    test_mem_init(&mem, 0);
    weir_buf_init(&buf, &mem.mem, 3000);
    for (int i = 0; i < 20000; i++) {
        char bytes[400];
        size_t len = (size_t)weir_rand_below(&rand, sizeof(bytes)), held = weir_buf_len(&buf);
        int r;

        for (size_t k = 0; k < len; k++)
            bytes[k] = (char)(unsigned char)(in + k);
        r = weir_buf_append(&buf, (struct weir_slice){bytes, len});
        assert_int_equal(r, held + len > 3000 ? WEIR_ERR_LIMIT : 0);
        in = r == 0 ? (unsigned char)(in + len) : in;
        assert_true(weir_buf_validate(&buf));
        len = (size_t)weir_rand_below(&rand, weir_buf_len(&buf) + 1);
        for (size_t k = 0; k < len; k++)
            assert_int_equal((unsigned char)weir_buf_slice(&buf).ptr[k], out++);
        weir_buf_consume(&buf, len);
        assert_true(weir_buf_validate(&buf));
    }
    weir_buf_deinit(&buf);
    test_mem_assert_empty(&mem);
}

static void parts_are_appended_all_or_none(void **state)
{
    WEIR_CLEANUP(weir_buf_deinit) struct weir_buf buf;

    (void)state;
    weir_buf_init(&buf, weir_mem_libc(), 8);
    assert_int_equal(WEIR_BUF_APPEND(&buf, WEIR_SLICE_EMPTY, WEIR_SLICE("")), 0);
    assert_int_equal(weir_buf_len(&buf), 0);
    assert_int_equal(WEIR_BUF_APPEND(&buf, WEIR_SLICE("ab"), WEIR_SLICE_EMPTY, WEIR_SLICE("cde")), 0);
    assert_int_equal(WEIR_BUF_APPEND(&buf, WEIR_SLICE("f"), WEIR_SLICE("ghi")), WEIR_ERR_LIMIT);
    assert_true(weir_slice_eq(weir_buf_slice(&buf), WEIR_SLICE("abcde")));
    assert_true(weir_buf_validate(&buf));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(parts_are_appended_all_or_none),
        cmocka_unit_test(what_is_appended_is_there),
        cmocka_unit_test(a_buffer_is_usable_after_deinit),
        cmocka_unit_test(more_than_the_maximum_is_refused_as_a_whole),
        cmocka_unit_test(reserved_room_is_written_and_committed),
        cmocka_unit_test(consuming_drops_from_the_front),
        cmocka_unit_test(a_stream_that_is_read_as_fast_as_it_is_written_stops_allocating),
        cmocka_unit_test(running_out_of_memory_changes_nothing),
        cmocka_unit_test(any_run_of_calls_behaves_as_a_queue),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
