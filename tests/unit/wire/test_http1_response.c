/* Responses, as a client reads them. */
#include "unit.h"

#include <weir/mem_libc.h>

#include "http1_transcript.h"

static void reads_as(enum weir_http1_kind kind, const char *input, const char *expected)
{
    struct weir_buf out;

    weir_buf_init(&out, weir_mem_libc(), 1 << 20);
    assert_slice_is(http1_transcript(&out, kind, weir_slice_str(input), NULL, 0, WEIR_HTTP1_LIMITS),
                    expected);
    weir_buf_clear(&out);
    assert_slice_is(http1_transcript(&out, kind, weir_slice_str(input), NULL, 1, WEIR_HTTP1_LIMITS),
                    expected);
    weir_buf_deinit(&out);
}

static void reads(const char *input, const char *expected)
{
    reads_as(WEIR_HTTP1_RESPONSE, input, expected);
}

static void a_response_with_a_length_gives_its_head_and_its_body(void **state)
{
    (void)state;
    reads("HTTP/1.1 200 All right\r\nContent-Length: 2\r\n\r\nok",
          "200 All right 1.1 length 2 keep\nContent-Length=2\n<ok>\nend\n");
}

static void a_reason_may_be_missing(void **state)
{
    (void)state;
    reads("HTTP/1.1 200\r\nContent-Length: 0\r\n\r\n", "200  1.1 length 0 keep\nContent-Length=0\n<>\nend\n");
    reads("HTTP/1.1 200 \r\nContent-Length: 0\r\n\r\n",
          "200  1.1 length 0 keep\nContent-Length=0\n<>\nend\n");
}

static void a_chunked_response_gives_the_bytes_of_its_chunks(void **state)
{
    (void)state;
    reads("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\na\r\n2\r\nbc\r\n0\r\n\r\n",
          "200 OK 1.1 chunked keep\nTransfer-Encoding=chunked\n<abc>\nend\n");
}

static void without_a_length_the_end_of_the_connection_ends_the_body(void **state)
{
    (void)state;
    reads("HTTP/1.1 200 OK\r\n\r\nabc", "200 OK 1.1 eof close\n<abc>\nend at eof\n");
    reads("HTTP/1.0 200 OK\r\nConnection: keep-alive\r\n\r\n",
          "200 OK 1.0 eof close\nConnection=keep-alive\n<>\nend at eof\n");
}

static void an_end_inside_a_response_is_truncation(void **state)
{
    (void)state;
    reads("HTTP/1.1 200 OK\r\nContent-Len", "refused TRUNCATED");
    reads("HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nab",
          "200 OK 1.1 length 3 keep\nContent-Length=3\n<abrefused TRUNCATED");
    reads("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nab",
          "200 OK 1.1 chunked keep\nTransfer-Encoding=chunked\n<abrefused TRUNCATED");
    reads("HTTP/1.1 100 Continue\r\n\r\n", "refused TRUNCATED");
}

static void some_statuses_never_have_a_body(void **state)
{
    (void)state;
    reads("HTTP/1.1 204 No\r\n\r\nHTTP/1.1 304 Not\r\nContent-Length: 5\r\n\r\nHTTP/1.1 204 No\r\n"
          "Transfer-Encoding: chunked\r\n\r\n",
          "204 No 1.1 none keep\n<>\nend\n304 Not 1.1 none keep\nContent-Length=5\n<>\nend\n"
          "204 No 1.1 none keep\nTransfer-Encoding=chunked\n<>\nend\n");
}

static void a_response_to_head_has_no_body(void **state)
{
    (void)state;
    reads_as(
        WEIR_HTTP1_RESPONSE_TO_HEAD,
        "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nHTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
        "HTTP/1.1 404 Not\r\n\r\n",
        "200 OK 1.1 none keep\nContent-Length=5\n<>\nend\n"
        "200 OK 1.1 none keep\nTransfer-Encoding=chunked\n<>\nend\n404 Not 1.1 none keep\n<>\nend\n");
}

static void after_a_granted_connect_the_bytes_belong_to_the_tunnel(void **state)
{
    struct weir_slice input = WEIR_SLICE("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n\x16\x03"), body;
    struct weir_http1_reader reader;

    (void)state;
    weir_http1_reader_init(&reader, WEIR_HTTP1_RESPONSE_TO_CONNECT, weir_mem_libc(), WEIR_HTTP1_LIMITS);
    assert_int_equal(weir_http1_read(&reader, &input, &body), WEIR_HTTP1_HEAD);
    assert_int_equal(weir_http1_read(&reader, &input, &body), WEIR_HTTP1_DONE);
    assert_slice_is(input, "\x16\x03");
    weir_http1_reader_deinit(&reader);
}

static void a_refused_connect_has_a_body_like_any_response(void **state)
{
    (void)state;
    reads_as(WEIR_HTTP1_RESPONSE_TO_CONNECT, "HTTP/1.1 407 Auth\r\nContent-Length: 1\r\n\r\nx",
             "407 Auth 1.1 length 1 keep\nContent-Length=1\n<x>\nend\n");
}

static void responses_before_the_final_one_are_skipped(void **state)
{
    (void)state;
    reads("HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early\r\nLink: x\r\n\r\nHTTP/1.1 200 "
          "OK\r\nContent-Length: "
          "0\r\n\r\n",
          "200 OK 1.1 length 0 keep\nContent-Length=0\n<>\nend\n");
    reads("HTTP/1.1 101 Switching\r\nUpgrade: x\r\nConnection: upgrade\r\n\r\n", "refused SWITCHED");
}

static void responses_before_the_final_one_are_counted(void **state)
{
    struct weir_http1_reader reader;
    struct weir_slice body;
    int r = 0, count = 0;

    (void)state;
    weir_http1_reader_init(&reader, WEIR_HTTP1_RESPONSE, weir_mem_libc(), WEIR_HTTP1_LIMITS);
    for (; r == 0 && count < 1000; count++) {
        struct weir_slice input = WEIR_SLICE("HTTP/1.1 100 Continue\r\n\r\n");

        r = weir_http1_read(&reader, &input, &body);
    }
    assert_int_equal(r, WEIR_HTTP1_BAD);
    assert_int_equal(reader.refusal, WEIR_HTTP1_REFUSED_MANY_HEADS);
    assert_in_range(count, 10, 20);
    weir_http1_reader_deinit(&reader);
}

static void rubbish_is_refused(void **state)
{
    (void)state;
    reads("<html>\r\n\r\n", "refused BAD_START");
    reads("HTTP/1.1 OK\r\n\r\n", "refused BAD_STATUS");
    reads("HTTP/1.1 20 OK\r\n\r\n", "refused BAD_STATUS");
    reads("HTTP/1.1 2000 OK\r\n\r\n", "refused BAD_STATUS");
    reads("HTTP/1.1 099 OK\r\n\r\n", "refused BAD_STATUS");
    reads("HTTP/2 200\r\n\r\n", "refused BAD_VERSION");
    reads("\r\nHTTP/1.1 200 OK\r\n\r\n", "refused BAD_START");
    reads("ICY 200 OK\r\n\r\n", "refused BAD_START");
}

static void responses_read_the_same_wherever_they_are_cut(void **state)
{
    static const struct weir_slice input =
        WEIR_SLICE_INIT("HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n"
                        "Transfer-Encoding: chunked\r\n\r\n7\r\ndata: x\r\n2\r\n\n\n\r\n0\r\n\r\n"
                        "HTTP/1.1 429 Slow\r\nRetry-After: 3\r\nContent-Length: 12\r\n\r\n{\"error\": "
                        "1}HTTP/1.1 204 No\r\n\r\n"
                        "HTTP/1.1 200 OK\r\nConnection: close\r\n\r\nuntil the end");
    struct weir_buf whole, cut;
    struct weir_slice expected;
    struct weir_rand rand;

    (void)state;
    weir_rand_init(&rand, 2);
    weir_buf_init(&whole, weir_mem_libc(), 1 << 20);
    weir_buf_init(&cut, weir_mem_libc(), 1 << 20);
    expected = http1_transcript(&whole, WEIR_HTTP1_RESPONSE, input, NULL, 0, WEIR_HTTP1_LIMITS);
    assert_true(weir_slice_ends(expected, WEIR_SLICE("<until the end>\nend at eof\n")));
    for (size_t i = 0; i < 5000; i++) {
        weir_buf_clear(&cut);
        assert_true(weir_slice_eq(
            http1_transcript(&cut, WEIR_HTTP1_RESPONSE, input, &rand, 1 + i % 60, WEIR_HTTP1_LIMITS),
            expected));
    }
    weir_buf_deinit(&whole);
    weir_buf_deinit(&cut);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_response_with_a_length_gives_its_head_and_its_body),
        cmocka_unit_test(a_reason_may_be_missing),
        cmocka_unit_test(a_chunked_response_gives_the_bytes_of_its_chunks),
        cmocka_unit_test(without_a_length_the_end_of_the_connection_ends_the_body),
        cmocka_unit_test(an_end_inside_a_response_is_truncation),
        cmocka_unit_test(some_statuses_never_have_a_body),
        cmocka_unit_test(a_response_to_head_has_no_body),
        cmocka_unit_test(after_a_granted_connect_the_bytes_belong_to_the_tunnel),
        cmocka_unit_test(a_refused_connect_has_a_body_like_any_response),
        cmocka_unit_test(responses_before_the_final_one_are_skipped),
        cmocka_unit_test(responses_before_the_final_one_are_counted),
        cmocka_unit_test(rubbish_is_refused),
        cmocka_unit_test(responses_read_the_same_wherever_they_are_cut),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
