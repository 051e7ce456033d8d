/* Nothing that could end a line early is ever written. */
#include "unit.h"

#include <weir/error.h>
#include <weir/mem_libc.h>

#include "test_mem.h"
#include "wire/http1_write.h"

static void a_head_is_written_line_by_line(void **state)
{
    struct weir_buf buf;

    (void)state;
    weir_buf_init(&buf, weir_mem_libc(), 1000);
    assert_int_equal(weir_http1_write_request(&buf, WEIR_SLICE("POST"), WEIR_SLICE("/v1?a=b")), 0);
    assert_int_equal(weir_http1_write_field(&buf, WEIR_SLICE("X-Y"), WEIR_SLICE("a\tb \xc3\xa9")), 0);
    assert_int_equal(weir_http1_write_field(&buf, WEIR_SLICE("Z"), WEIR_SLICE_EMPTY), 0);
    assert_int_equal(weir_http1_write_length(&buf, 12), 0);
    assert_int_equal(weir_http1_write_head_end(&buf), 0);
    assert_slice_is(weir_buf_slice(&buf),
                    "POST /v1?a=b HTTP/1.1\r\nX-Y: a\tb \xc3\xa9\r\nZ: \r\nContent-Length: 12\r\n\r\n");
    weir_buf_deinit(&buf);
}

static void a_status_line_has_its_reason(void **state)
{
    struct weir_buf buf;

    (void)state;
    weir_buf_init(&buf, weir_mem_libc(), 1000);
    assert_int_equal(weir_http1_write_status(&buf, 404), 0);
    assert_int_equal(weir_http1_write_status(&buf, 599), 0);
    assert_slice_is(weir_buf_slice(&buf), "HTTP/1.1 404 Not Found\r\nHTTP/1.1 599 Unknown\r\n");
    assert_int_equal(weir_http1_write_status(&buf, 99), WEIR_ERR_INVALID);
    assert_int_equal(weir_http1_write_status(&buf, 1000), WEIR_ERR_INVALID);
    assert_slice_is(weir_http1_reason(429), "Too Many Requests");
    weir_buf_deinit(&buf);
}

static void what_could_break_a_line_is_refused_and_leaves_nothing(void **state)
{
    static const struct weir_slice values[] = {WEIR_SLICE_INIT("a\r\nb"), WEIR_SLICE_INIT("a\r"),
                                               WEIR_SLICE_INIT("\n"),     WEIR_SLICE_INIT("a\0b"),
                                               WEIR_SLICE_INIT("\x1b"),   WEIR_SLICE_INIT("\x7f")};
    static const struct weir_slice names[] = {WEIR_SLICE_INIT(""),    WEIR_SLICE_INIT("a b"),
                                              WEIR_SLICE_INIT("a:"),  WEIR_SLICE_INIT("a\r\n"),
                                              WEIR_SLICE_INIT("a\0"), WEIR_SLICE_INIT("\xc3\xa9")};
    static const struct weir_slice targets[] = {WEIR_SLICE_INIT(""), WEIR_SLICE_INIT("/a b"),
                                                WEIR_SLICE_INIT("/a\r\nX: y"), WEIR_SLICE_INIT("/\xc3\xa9")};
    struct weir_buf buf;

    (void)state;
    weir_buf_init(&buf, weir_mem_libc(), 1000);
    for (size_t i = 0; i < sizeof(values) / sizeof(*values); i++)
        assert_int_equal(weir_http1_write_field(&buf, WEIR_SLICE("N"), values[i]), WEIR_ERR_MALFORMED);
    for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
        assert_int_equal(weir_http1_write_field(&buf, names[i], WEIR_SLICE("v")), WEIR_ERR_MALFORMED);
        assert_int_equal(weir_http1_write_request(&buf, names[i], WEIR_SLICE("/")), WEIR_ERR_MALFORMED);
    }
    for (size_t i = 0; i < sizeof(targets) / sizeof(*targets); i++)
        assert_int_equal(weir_http1_write_request(&buf, WEIR_SLICE("GET"), targets[i]), WEIR_ERR_MALFORMED);
    assert_int_equal(weir_buf_len(&buf), 0);
    weir_buf_deinit(&buf);
}

static void a_line_that_does_not_fit_is_not_begun(void **state)
{
    struct weir_buf buf;

    (void)state;
    weir_buf_init(&buf, weir_mem_libc(), 10);
    assert_int_equal(weir_http1_write_field(&buf, WEIR_SLICE("Name"), WEIR_SLICE("value")), WEIR_ERR_LIMIT);
    assert_int_equal(weir_buf_len(&buf), 0);
    assert_int_equal(weir_http1_write_field(&buf, WEIR_SLICE("N"), WEIR_SLICE("value")), 0);
    weir_buf_deinit(&buf);
}

static void running_out_of_memory_is_reported(void **state)
{
    struct test_mem mem;
    struct weir_buf buf;

    (void)state;
    test_mem_init(&mem, 1);
    weir_buf_init(&buf, &mem.mem, 1000);
    assert_int_equal(weir_http1_write_status(&buf, 200), WEIR_ERR_NOMEM);
    weir_buf_deinit(&buf);
}

static void a_chunk_is_framed_around_the_callers_bytes(void **state)
{
    char room[WEIR_HTTP1_CHUNK_HEAD_MAX];

    (void)state;
    assert_slice_is(weir_http1_chunk_head(1, room), "1\r\n");
    assert_slice_is(weir_http1_chunk_head(26, room), "1a\r\n");
    assert_slice_is(weir_http1_chunk_head(SIZE_MAX, room), "ffffffffffffffff\r\n");
    assert_slice_is(WEIR_HTTP1_CHUNK_END, "\r\n");
    assert_slice_is(WEIR_HTTP1_LAST_CHUNK, "0\r\n\r\n");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_head_is_written_line_by_line),
        cmocka_unit_test(a_status_line_has_its_reason),
        cmocka_unit_test(what_could_break_a_line_is_refused_and_leaves_nothing),
        cmocka_unit_test(a_line_that_does_not_fit_is_not_begun),
        cmocka_unit_test(running_out_of_memory_is_reported),
        cmocka_unit_test(a_chunk_is_framed_around_the_callers_bytes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
