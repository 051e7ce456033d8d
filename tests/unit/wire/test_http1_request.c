/* Requests, as a server reads them (docs/architecture.md; RFC 9112). */
#include "unit.h"

#include <stdlib.h>
#include <string.h>

#include <weir/error.h>
#include <weir/mem_libc.h>

#include "http1_transcript.h"
#include "test_mem.h"

#define HOST "Host: h\r\n"

static void reads(const char *input, const char *expected)
{
    struct weir_buf out;

    weir_buf_init(&out, weir_mem_libc(), 1 << 20);
    assert_slice_is(
        http1_transcript(&out, WEIR_HTTP1_REQUEST, weir_slice_str(input), NULL, 0, WEIR_HTTP1_LIMITS),
        expected);
    weir_buf_clear(&out);
    assert_slice_is(
        http1_transcript(&out, WEIR_HTTP1_REQUEST, weir_slice_str(input), NULL, 1, WEIR_HTTP1_LIMITS),
        expected);
    weir_buf_deinit(&out);
}

static void a_request_with_a_length_gives_its_head_and_its_body(void **state)
{
    (void)state;
    reads("POST /v1/chat?x=1 HTTP/1.1\r\nHost: h\r\ncontent-LENGTH:  3 \r\nEmpty:\r\n\r\nabc",
          "POST /v1/chat ? x=1 1.1 length 3 keep\nHost=h\ncontent-LENGTH=3\nEmpty=\n<abc>\nend\n");
}

static void a_request_without_a_length_has_no_body(void **state)
{
    (void)state;
    reads("GET / HTTP/1.1\r\n" HOST "\r\n", "GET / ?  1.1 none keep\nHost=h\n<>\nend\n");
    reads("POST / HTTP/1.1\r\n" HOST "Content-Length: 0\r\n\r\n",
          "POST / ?  1.1 length 0 keep\nHost=h\nContent-Length=0\n<>\nend\n");
}

static void a_chunked_request_gives_the_bytes_of_its_chunks(void **state)
{
    (void)state;
    reads("POST / HTTP/1.1\r\n" HOST
          "Transfer-Encoding: Chunked\r\n\r\n3\r\nabc\r\n0A;x=y\r\n0123456789\r\n0\r\n\r\n",
          "POST / ?  1.1 chunked keep\nHost=h\nTransfer-Encoding=Chunked\n<abc0123456789>\nend\n");
}

static void trailers_are_dropped(void **state)
{
    (void)state;
    reads("POST / HTTP/1.1\r\n" HOST
          "Transfer-Encoding: chunked\r\n\r\n1\r\na\r\n0\r\nX-Sum: 1\r\nY: 2\r\n\r\n",
          "POST / ?  1.1 chunked keep\nHost=h\nTransfer-Encoding=chunked\n<a>\nend\n");
}

static void pipelined_requests_are_told_one_after_the_other(void **state)
{
    (void)state;
    reads("POST /1 HTTP/1.1\r\n" HOST "Content-Length: 2\r\n\r\nhiGET /2 HTTP/1.1\r\n" HOST "\r\n",
          "POST /1 ?  1.1 length 2 keep\nHost=h\nContent-Length=2\n<hi>\nend\n"
          "GET /2 ?  1.1 none keep\nHost=h\n<>\nend\n");
}

static void what_follows_a_message_is_left_in_the_input(void **state)
{
    struct weir_slice input = WEIR_SLICE("GET / HTTP/1.1\r\n" HOST "\r\nGET /next"), body;
    struct weir_http1_reader reader;

    (void)state;
    weir_http1_reader_init(&reader, WEIR_HTTP1_REQUEST, weir_mem_libc(), WEIR_HTTP1_LIMITS);
    assert_int_equal(weir_http1_read(&reader, &input, &body), WEIR_HTTP1_HEAD);
    assert_int_equal(weir_http1_read(&reader, &input, &body), WEIR_HTTP1_DONE);
    assert_slice_is(input, "GET /next");
    assert_int_equal(weir_http1_read(&reader, &input, &body), WEIR_HTTP1_DONE);
    assert_slice_is(input, "GET /next");
    assert_int_equal(weir_http1_finish(&reader), WEIR_HTTP1_DONE);
    weir_http1_reader_deinit(&reader);
}

static void the_body_is_a_part_of_the_input_and_no_copy(void **state)
{
    struct weir_slice input = WEIR_SLICE("POST / HTTP/1.1\r\n" HOST "Content-Length: 4\r\n\r\nabcd"), body;
    const char *end = input.ptr + input.len;
    struct weir_http1_reader reader;

    (void)state;
    weir_http1_reader_init(&reader, WEIR_HTTP1_REQUEST, weir_mem_libc(), WEIR_HTTP1_LIMITS);
    assert_int_equal(weir_http1_read(&reader, &input, &body), WEIR_HTTP1_HEAD);
    assert_int_equal(weir_http1_read(&reader, &input, &body), WEIR_HTTP1_BODY);
    assert_ptr_equal(body.ptr + body.len, end);
    assert_int_equal(weir_http1_read(&reader, &input, &body), WEIR_HTTP1_DONE);
    weir_http1_reader_deinit(&reader);
}

static void fields_are_found_by_name_in_any_case(void **state)
{
    struct weir_slice input = WEIR_SLICE("GET / HTTP/1.1\r\nHost: h\r\nX-A: 1\r\nB: 2\r\nx-a: 3\r\n\r\n"),
                      body;
    const struct weir_http1_field *field;
    struct weir_http1_reader reader;

    (void)state;
    weir_http1_reader_init(&reader, WEIR_HTTP1_REQUEST, weir_mem_libc(), WEIR_HTTP1_LIMITS);
    assert_int_equal(weir_http1_read(&reader, &input, &body), WEIR_HTTP1_HEAD);
    assert_slice_is(weir_http1_value(&reader.head, WEIR_SLICE("x-A")), "1");
    assert_slice_is(weir_http1_value(&reader.head, WEIR_SLICE("nothing")), "");
    field = weir_http1_find(&reader.head, WEIR_SLICE("X-a"));
    assert_slice_is(field->value, "1");
    assert_null(weir_http1_find(&reader.head, WEIR_SLICE("C")));
    weir_http1_reader_deinit(&reader);
}

static void connections_are_kept_as_version_and_connection_say(void **state)
{
    (void)state;
    reads("GET / HTTP/1.1\r\n" HOST "Connection: x, Close\r\n\r\n",
          "GET / ?  1.1 none close\nHost=h\nConnection=x, Close\n<>\nend\n");
    reads("GET / HTTP/1.0\r\n\r\n", "GET / ?  1.0 none close\n<>\nend\n");
    reads("GET / HTTP/1.0\r\nConnection: Keep-Alive\r\n\r\n",
          "GET / ?  1.0 none keep\nConnection=Keep-Alive\n<>\nend\n");
    reads("GET / HTTP/1.0\r\nConnection: keep-alive\r\nConnection: close\r\n\r\n",
          "GET / ?  1.0 none close\nConnection=keep-alive\nConnection=close\n<>\nend\n");
}

static void an_expected_100_is_told_where_a_body_is_to_come(void **state)
{
    (void)state;
    reads("POST / HTTP/1.1\r\n" HOST "Expect: 100-Continue\r\nContent-Length: 1\r\n\r\na",
          "POST / ?  1.1 length 1 keep expects\nHost=h\nExpect=100-Continue\nContent-Length=1\n<a>\nend\n");
    reads("POST / HTTP/1.1\r\n" HOST "Expect: 100-continue\r\nContent-Length: 0\r\n\r\n",
          "POST / ?  1.1 length 0 keep\nHost=h\nExpect=100-continue\nContent-Length=0\n<>\nend\n");
    reads("POST / HTTP/1.0\r\nExpect: 100-continue\r\nContent-Length: 1\r\n\r\na",
          "POST / ?  1.0 length 1 close\nExpect=100-continue\nContent-Length=1\n<a>\nend\n");
    reads("POST / HTTP/1.1\r\n" HOST "Expect: more\r\n\r\n", "refused BAD_EXPECT");
}

static void an_upgrade_is_not_followed(void **state)
{
    (void)state;
    reads("POST / HTTP/1.1\r\n" HOST
          "Connection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\nContent-Length: 1\r\n\r\na"
          "GET /2 HTTP/1.1\r\n" HOST "\r\n",
          "POST / ?  1.1 length 1 keep\nHost=h\nConnection=Upgrade, HTTP2-Settings\nUpgrade=h2c\n"
          "Content-Length=1\n<a>\nend\nGET /2 ?  1.1 none keep\nHost=h\n<>\nend\n");
}

static void targets_are_cut_into_path_and_query(void **state)
{
    (void)state;
    reads("GET /a%20b?c=d?e HTTP/1.1\r\n" HOST "\r\n", "GET /a%20b ? c=d?e 1.1 none keep\nHost=h\n<>\nend\n");
    reads("GET http://user@h:1/p/q?r HTTP/1.1\r\n" HOST "\r\n",
          "GET /p/q ? r 1.1 none keep\nHost=h\n<>\nend\n");
    reads("GET http://h?r HTTP/1.1\r\n" HOST "\r\n", "GET / ? r 1.1 none keep\nHost=h\n<>\nend\n");
    reads("GET http://h HTTP/1.1\r\n" HOST "\r\n", "GET / ?  1.1 none keep\nHost=h\n<>\nend\n");
    reads("GET //x/y HTTP/1.1\r\n" HOST "\r\n", "GET //x/y ?  1.1 none keep\nHost=h\n<>\nend\n");
    reads("OPTIONS * HTTP/1.1\r\n" HOST "\r\n", "OPTIONS * ?  1.1 none keep\nHost=h\n<>\nend\n");
}

static void empty_lines_before_a_request_are_passed_over(void **state)
{
    (void)state;
    reads("\r\n\r\nGET / HTTP/1.1\r\n" HOST "\r\n\r\n", "GET / ?  1.1 none keep\nHost=h\n<>\nend\n");
    reads("\r\n\r\n\r\n\r\n\r\nGET / HTTP/1.1\r\n" HOST "\r\n", "refused BAD_START");
}

static void an_end_inside_a_request_is_truncation(void **state)
{
    (void)state;
    reads("", "");
    reads("GET / HT", "refused TRUNCATED");
    reads("POST / HTTP/1.1\r\n" HOST "Content-Length: 5\r\n\r\nabc",
          "POST / ?  1.1 length 5 keep\nHost=h\nContent-Length=5\n<abcrefused TRUNCATED");
    reads("POST / HTTP/1.1\r\n" HOST "Transfer-Encoding: chunked\r\n\r\n1\r\na\r\n0\r\n",
          "POST / ?  1.1 chunked keep\nHost=h\nTransfer-Encoding=chunked\n<arefused TRUNCATED");
}

static void rubbish_is_refused_at_its_first_byte(void **state)
{
    struct weir_slice input = WEIR_SLICE("\x16\x03\x01"), body;
    struct weir_http1_reader reader;

    (void)state;
    weir_http1_reader_init(&reader, WEIR_HTTP1_REQUEST, weir_mem_libc(), WEIR_HTTP1_LIMITS);
    assert_int_equal(weir_http1_read(&reader, &input, &body), WEIR_HTTP1_BAD);
    assert_int_equal(reader.refusal, WEIR_HTTP1_REFUSED_BAD_CHARACTER);
    assert_int_equal(weir_http1_refusal_status(reader.refusal), 400);
    assert_int_equal(weir_http1_read(&reader, &input, &body), WEIR_HTTP1_BAD);
    assert_int_equal(weir_http1_finish(&reader), WEIR_HTTP1_BAD);
    weir_http1_reader_deinit(&reader);
}

static void the_preface_of_http2_is_answered_as_such(void **state)
{
    (void)state;
    reads("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", "refused HTTP2");
    assert_int_equal(weir_http1_refusal_status(WEIR_HTTP1_REFUSED_HTTP2), 505);
}

static enum weir_http1_refusal refusal_of(struct weir_slice input, struct weir_http1_limits limits)
{
    struct weir_http1_reader reader;
    struct weir_slice body;
    int r;

    weir_http1_reader_init(&reader, WEIR_HTTP1_REQUEST, weir_mem_libc(), limits);
    do
        r = weir_http1_read(&reader, &input, &body);
    while (r == WEIR_HTTP1_HEAD || r == WEIR_HTTP1_BODY);
    assert_true(r >= 0);
    weir_http1_reader_deinit(&reader);
    return reader.refusal;
}

static enum weir_http1_refusal refusal_with(size_t max_head, size_t max_target, size_t max_fields)
{
    return refusal_of(WEIR_SLICE("GET /0123456789 HTTP/1.1\r\nHost: h\r\nA: 1\r\nB: 2\r\n\r\n"),
                      (struct weir_http1_limits){max_head, max_target, max_fields});
}

static void each_limit_holds_to_the_byte(void **state)
{
    (void)state;
    assert_int_equal(refusal_with(49, 11, 3), WEIR_HTTP1_REFUSED_NONE);
    assert_int_equal(refusal_with(48, 11, 3), WEIR_HTTP1_REFUSED_LONG_HEAD);
    assert_int_equal(refusal_with(49, 10, 3), WEIR_HTTP1_REFUSED_LONG_TARGET);
    assert_int_equal(refusal_with(49, 11, 2), WEIR_HTTP1_REFUSED_MANY_FIELDS);
    assert_int_equal(weir_http1_refusal_status(WEIR_HTTP1_REFUSED_LONG_HEAD), 431);
    assert_int_equal(weir_http1_refusal_status(WEIR_HTTP1_REFUSED_MANY_FIELDS), 431);
    assert_int_equal(weir_http1_refusal_status(WEIR_HTTP1_REFUSED_LONG_TARGET), 414);
}

/* Also when a piece ends exactly at the limit. */
static void a_head_over_the_limit_is_refused_wherever_it_is_cut(void **state)
{
    const struct weir_http1_limits limits = {40, 20, 10};
    struct weir_slice input = WEIR_SLICE("GET / HTTP/1.1\r\nHost: h\r\nX: 0123456789\r\n\r\n");
    struct weir_buf out;

    (void)state;
    weir_buf_init(&out, weir_mem_libc(), 1 << 20);
    for (size_t max_bytes = 1; max_bytes <= input.len; max_bytes++) {
        weir_buf_clear(&out);
        assert_slice_is(http1_transcript(&out, WEIR_HTTP1_REQUEST, input, NULL, max_bytes, limits),
                        "refused LONG_HEAD");
    }
    weir_buf_deinit(&out);
}

static void an_endless_target_is_refused_before_its_end(void **state)
{
    char *target = malloc(20000);
    struct weir_slice input = {target, 20000};

    (void)state;
    assert_non_null(target);
    memset(target, 'a', input.len);
    memcpy(target, "GET /", 5);
    assert_int_equal(refusal_of(input, WEIR_HTTP1_LIMITS), WEIR_HTTP1_REFUSED_LONG_TARGET);
    free(target);
}

/* Found by fuzzing: which of the two was told depended on the cuts. */
static void of_a_limit_and_a_bad_character_the_first_one_met_is_told(void **state)
{
    const struct weir_http1_limits limits = {1000, 10, 10};
    struct weir_slice input =
        WEIR_SLICE("GET /0123456789012345678901234567890123456789012345678901234567890123456789012345\0");
    struct weir_buf out;

    (void)state;
    weir_buf_init(&out, weir_mem_libc(), 1 << 20);
    for (size_t max_bytes = 0; max_bytes <= input.len; max_bytes++) {
        weir_buf_clear(&out);
        assert_slice_is(http1_transcript(&out, WEIR_HTTP1_REQUEST, input, NULL, max_bytes, limits),
                        "refused LONG_TARGET");
    }
    weir_buf_deinit(&out);
}

static void trailers_have_the_limit_of_the_head(void **state)
{
    const char *input = "POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n"
                        "Trailer-1: 0123456789012345678901234567890123456789\r\n"
                        "Trailer-2: 0123456789012345678901234567890123456789\r\n\r\n";

    (void)state;
    assert_int_equal(refusal_of(weir_slice_str(input), (struct weir_http1_limits){60, 10, 10}),
                     WEIR_HTTP1_REFUSED_LONG_TRAILERS);
    assert_int_equal(refusal_of(weir_slice_str(input), (struct weir_http1_limits){200, 10, 10}),
                     WEIR_HTTP1_REFUSED_NONE);
}

/* Found by fuzzing: which of the two was told depended on the cuts. */
static void of_a_limit_of_framing_and_a_bad_byte_the_first_one_met_is_told(void **state)
{
    static const struct weir_slice input = WEIR_SLICE_INIT(
        "POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n1\r\na\r\n0\r\n"
        "T: 01234567890123456789012345678901234567890123456789012345678901234567890123456789\0");
    const struct weir_http1_limits limits = {64, 64, 10};
    struct weir_buf out;

    (void)state;
    weir_buf_init(&out, weir_mem_libc(), 1 << 20);
    for (size_t max_bytes = 0; max_bytes <= input.len; max_bytes++) {
        weir_buf_clear(&out);
        assert_true(
            weir_slice_ends(http1_transcript(&out, WEIR_HTTP1_REQUEST, input, NULL, max_bytes, limits),
                            WEIR_SLICE("<arefused LONG_TRAILERS")));
    }
    weir_buf_deinit(&out);
}

static void chunk_lines_are_bounded(void **state)
{
    static const char head[] = "POST / HTTP/1.1\r\n" HOST "Transfer-Encoding: chunked\r\n\r\n";
    char input[2048];
    size_t len = sizeof(head) - 1;

    (void)state;
    memcpy(input, head, len);
    memset(input + len, '0', sizeof(input) - len);
    assert_int_equal(refusal_of((struct weir_slice){input, sizeof(input)}, WEIR_HTTP1_LIMITS),
                     WEIR_HTTP1_REFUSED_LONG_CHUNK_LINE);
    memcpy(input + len, "1;e=", 4);
    assert_int_equal(refusal_of((struct weir_slice){input, sizeof(input)}, WEIR_HTTP1_LIMITS),
                     WEIR_HTTP1_REFUSED_LONG_CHUNK_LINE);
}

static void a_reader_serves_a_connection_and_gives_its_memory_back(void **state)
{
    struct test_mem mem;
    struct weir_http1_reader reader;

    (void)state;
    test_mem_init(&mem, 0);
    weir_http1_reader_init(&reader, WEIR_HTTP1_REQUEST, &mem.mem, WEIR_HTTP1_LIMITS);
    for (int i = 0; i < 100; i++) {
        struct weir_slice input = WEIR_SLICE("GET / HTTP/1.1\r\n" HOST "\r\n"), body;

        assert_true(weir_http1_reader_idle(&reader));
        assert_int_equal(weir_http1_read(&reader, &input, &body), WEIR_HTTP1_HEAD);
        assert_int_equal(weir_http1_read(&reader, &input, &body), WEIR_HTTP1_DONE);
        assert_false(weir_http1_reader_idle(&reader));
        weir_http1_reader_next(&reader, WEIR_HTTP1_REQUEST);
    }
    assert_int_equal(mem.allocations, 2);
    weir_http1_reader_release(&reader);
    test_mem_assert_empty(&mem);
    weir_http1_reader_deinit(&reader);
}

/* More fields than the table first has room for. */
static size_t many_fields(char *room)
{
    size_t len = 0;

    memcpy(room, "GET / HTTP/1.1\r\nHost: h\r\n", 25);
    for (len = 25; len < 25 + 100 * 6; len += 6)
        memcpy(room + len, "A: b\r\n", 6);
    memcpy(room + len, "\r\n", 2);
    return len + 2;
}

static void running_out_of_memory_is_reported_and_leaks_nothing(void **state)
{
    char request[1024];
    struct test_mem mem = {.failed = true};

    (void)state;
    for (size_t n = 1; mem.failed; n++) {
        struct weir_slice input = {request, many_fields(request)}, body;
        struct weir_http1_reader reader;
        int r;

        test_mem_init(&mem, n);
        weir_http1_reader_init(&reader, WEIR_HTTP1_REQUEST, &mem.mem, WEIR_HTTP1_LIMITS);
        r = weir_http1_read(&reader, &input, &body);
        assert_int_equal(r, mem.failed ? WEIR_ERR_NOMEM : WEIR_HTTP1_HEAD);
        weir_http1_reader_deinit(&reader);
        test_mem_assert_empty(&mem);
    }
}

static void requests_read_the_same_wherever_they_are_cut(void **state)
{
    static const struct weir_slice input = WEIR_SLICE_INIT(
        "\r\nPOST /v1/x?y HTTP/1.1\r\nHost: h:1\r\nTransfer-Encoding: chunked\r\nX: " /* a value */
        "a b\tc\xc3\xa9\r\n\r\n5\r\nhello\r\n1;ext=\"q\"\r\n \r\n00a\r\n0123456789\r\n0\r\nT: 1\r\n\r\n"
        "POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 10\r\nExpect: 100-continue\r\n\r\n0123456789"
        "GET http://a/b HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n"
        "POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabcX\r\n");
    struct weir_buf whole, cut;
    struct weir_slice expected;
    struct weir_rand rand;

    (void)state;
    weir_rand_init(&rand, 1);
    weir_buf_init(&whole, weir_mem_libc(), 1 << 20);
    weir_buf_init(&cut, weir_mem_libc(), 1 << 20);
    expected = http1_transcript(&whole, WEIR_HTTP1_REQUEST, input, NULL, 0, WEIR_HTTP1_LIMITS);
    assert_true(weir_slice_ends(expected, WEIR_SLICE("<abcrefused BAD_CHUNK")));
    for (size_t i = 0; i < 5000; i++) {
        weir_buf_clear(&cut);
        assert_true(weir_slice_eq(
            http1_transcript(&cut, WEIR_HTTP1_REQUEST, input, &rand, 1 + i % 60, WEIR_HTTP1_LIMITS),
            expected));
    }
    weir_buf_deinit(&whole);
    weir_buf_deinit(&cut);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_request_with_a_length_gives_its_head_and_its_body),
        cmocka_unit_test(a_request_without_a_length_has_no_body),
        cmocka_unit_test(a_chunked_request_gives_the_bytes_of_its_chunks),
        cmocka_unit_test(trailers_are_dropped),
        cmocka_unit_test(pipelined_requests_are_told_one_after_the_other),
        cmocka_unit_test(what_follows_a_message_is_left_in_the_input),
        cmocka_unit_test(the_body_is_a_part_of_the_input_and_no_copy),
        cmocka_unit_test(fields_are_found_by_name_in_any_case),
        cmocka_unit_test(connections_are_kept_as_version_and_connection_say),
        cmocka_unit_test(an_expected_100_is_told_where_a_body_is_to_come),
        cmocka_unit_test(an_upgrade_is_not_followed),
        cmocka_unit_test(targets_are_cut_into_path_and_query),
        cmocka_unit_test(empty_lines_before_a_request_are_passed_over),
        cmocka_unit_test(an_end_inside_a_request_is_truncation),
        cmocka_unit_test(rubbish_is_refused_at_its_first_byte),
        cmocka_unit_test(the_preface_of_http2_is_answered_as_such),
        cmocka_unit_test(each_limit_holds_to_the_byte),
        cmocka_unit_test(a_head_over_the_limit_is_refused_wherever_it_is_cut),
        cmocka_unit_test(an_endless_target_is_refused_before_its_end),
        cmocka_unit_test(of_a_limit_and_a_bad_character_the_first_one_met_is_told),
        cmocka_unit_test(trailers_have_the_limit_of_the_head),
        cmocka_unit_test(of_a_limit_of_framing_and_a_bad_byte_the_first_one_met_is_told),
        cmocka_unit_test(chunk_lines_are_bounded),
        cmocka_unit_test(a_reader_serves_a_connection_and_gives_its_memory_back),
        cmocka_unit_test(running_out_of_memory_is_reported_and_leaks_nothing),
        cmocka_unit_test(requests_read_the_same_wherever_they_are_cut),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
