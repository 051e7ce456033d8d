/*
 * Room in a buffer that has reached its maximum while some of its bytes were consumed.
 *
 * The allocator of the C library is enough here: a write past the end is what the sanitizers' build looks
 * for.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <weir/error.h>
#include <weir/mem_libc.h>

#include "base/buf.h"

enum { MAX_BYTES = 1000 };

static char bytes[MAX_BYTES];

static struct weir_slice some(size_t len)
{
    return (struct weir_slice){bytes, len};
}

static void append_after_consuming(size_t first, size_t consumed, size_t more, int expected)
{
    struct weir_buf buf;

    weir_buf_init(&buf, weir_mem_libc(), MAX_BYTES);
    assert_int_equal(weir_buf_append(&buf, some(first)), 0);
    weir_buf_consume(&buf, consumed);
    assert_int_equal(weir_buf_append(&buf, some(more)), expected);
    assert_int_equal(weir_buf_len(&buf), first - consumed + (expected == 0 ? more : 0));
    assert_true(buf.end <= buf.cap && buf.cap <= buf.max);
    weir_buf_deinit(&buf);
}

static void a_full_buffer_with_a_few_bytes_consumed_takes_no_more_than_it_has_room_for(void **state)
{
    (void)state;
    append_after_consuming(MAX_BYTES, 1, 1, 0);
    append_after_consuming(MAX_BYTES, 1, 2, WEIR_ERR_LIMIT);
    append_after_consuming(MAX_BYTES, 100, 50, 0);
    append_after_consuming(MAX_BYTES, 100, 100, 0);
    append_after_consuming(MAX_BYTES, 100, 101, WEIR_ERR_LIMIT);
    append_after_consuming(MAX_BYTES - 1, 0, 1, 0);
    append_after_consuming(MAX_BYTES - 1, 0, 2, WEIR_ERR_LIMIT);
}

static void every_mix_of_appending_and_consuming_stays_within_the_capacity(void **state)
{
    (void)state;
    for (size_t first = 0; first <= MAX_BYTES; first += 37)
        for (size_t consumed = 0; consumed <= first; consumed += 41)
            append_after_consuming(first, consumed, MAX_BYTES - (first - consumed), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_full_buffer_with_a_few_bytes_consumed_takes_no_more_than_it_has_room_for),
        cmocka_unit_test(every_mix_of_appending_and_consuming_stays_within_the_capacity),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
