/*
 * Messages that two readers may understand in two ways. Each row is refused, for its reason, whole and byte
 * by byte, and nothing of a second message that an attacker put behind it is ever told.
 */
#include "unit.h"

#include <weir/mem_libc.h>

#include "http1_transcript.h"

struct row {
    const char *what;
    const char *refusal;
    struct weir_slice input;
};

#define ROW(what, refusal, text)                                                                             \
    {                                                                                                        \
        what, #refusal, WEIR_SLICE_INIT(text)                                                                \
    }

#define POST    "POST / HTTP/1.1\r\nHost: h\r\n"
#define CHUNKED "POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n"
#define OK      "HTTP/1.1 200 OK\r\n"
#define INNER   "GET /inner HTTP/1.1\r\nHost: h\r\n\r\n"

static const struct row requests[] = {
    ROW("length and coding", TWO_LENGTHS,
        POST "Content-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n" INNER),
    ROW("coding and length", TWO_LENGTHS,
        POST "Transfer-Encoding: chunked\r\nContent-Length: 4\r\n\r\n0\r\n\r\n" INNER),
    ROW("two lengths that differ", TWO_LENGTHS, POST "Content-Length: 0\r\nContent-Length: 30\r\n\r\n" INNER),
    ROW("two lengths that agree", TWO_LENGTHS, POST "Content-Length: 0\r\nContent-Length: 0\r\n\r\n" INNER),
    ROW("a list of lengths", BAD_LENGTH, POST "Content-Length: 0, 0\r\n\r\n" INNER),
    ROW("a length with a plus", BAD_LENGTH, POST "Content-Length: +0\r\n\r\n" INNER),
    ROW("a length below zero", BAD_LENGTH, POST "Content-Length: -1\r\n\r\n" INNER),
    ROW("a length in hexadecimal", BAD_LENGTH, POST "Content-Length: 0x4\r\n\r\nabcd" INNER),
    ROW("a length with a blank inside", BAD_LENGTH, POST "Content-Length: 1 0\r\n\r\na" INNER),
    ROW("a length with a fraction", BAD_LENGTH, POST "Content-Length: 1.0\r\n\r\na" INNER),
    ROW("an empty length", BAD_LENGTH, POST "Content-Length:\r\n\r\n" INNER),
    ROW("a length beyond 64 bits", BAD_LENGTH, POST "Content-Length: 18446744073709551616\r\n\r\n" INNER),
    ROW("a length that wraps to a small one", BAD_LENGTH,
        POST "Content-Length: 18446744073709551620\r\n\r\nabcd" INNER),
    ROW("another coding", BAD_CODING, POST "Transfer-Encoding: gzip\r\n\r\n" INNER),
    ROW("chunked after another coding", BAD_CODING,
        POST "Transfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n" INNER),
    ROW("another coding after chunked", BAD_CODING,
        POST "Transfer-Encoding: chunked, identity\r\n\r\n0\r\n\r\n" INNER),
    ROW("chunked twice in one field", BAD_CODING,
        POST "Transfer-Encoding: chunked, chunked\r\n\r\n0\r\n\r\n" INNER),
    ROW("chunked in two fields", BAD_CODING,
        POST "Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n" INNER),
    ROW("an empty coding", BAD_CODING, POST "Transfer-Encoding:\r\n\r\n" INNER),
    ROW("xchunked", BAD_CODING, POST "Transfer-Encoding: xchunked\r\n\r\n0\r\n\r\n" INNER),
    ROW("chunked with a parameter", BAD_CODING, POST "Transfer-Encoding: chunked;q=1\r\n\r\n0\r\n\r\n" INNER),
    ROW("chunked in quotes", BAD_CODING, POST "Transfer-Encoding: \"chunked\"\r\n\r\n0\r\n\r\n" INNER),
    ROW("chunked with a trailing comma", BAD_CODING,
        POST "Transfer-Encoding: chunked,\r\n\r\n0\r\n\r\n" INNER),
    ROW("identity", BAD_CODING, POST "Transfer-Encoding: identity\r\n\r\n" INNER),
    ROW("chunked in HTTP/1.0", CODING_IN_1_0,
        "POST / HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n" INNER),
    ROW("a vertical tab before chunked", BAD_CHARACTER,
        POST "Transfer-Encoding: \x0b"
             "chunked\r\n\r\n0\r\n\r\n" INNER),
    ROW("a blank before the colon", BAD_FIELD, POST "Transfer-Encoding : chunked\r\n\r\n0\r\n\r\n" INNER),
    ROW("a tab before the colon", BAD_FIELD, POST "Content-Length\t: 5\r\n\r\nabcde" INNER),
    ROW("a folded coding", FOLDED, POST "Transfer-Encoding:\r\n chunked\r\n\r\n0\r\n\r\n" INNER),
    ROW("a folded field", FOLDED, POST "X: a\r\n\tContent-Length: 5\r\n\r\nabcde" INNER),
    ROW("a blank before the first field", FOLDED, "POST / HTTP/1.1\r\n Host: h\r\n\r\n" INNER),
    ROW("a bare LF after a field", BAD_LINE_END, POST "X: a\nContent-Length: 5\r\n\r\nabcde" INNER),
    ROW("a bare LF after the start line", BAD_LINE_END, "POST / HTTP/1.1\nHost: h\r\n\r\n" INNER),
    ROW("bare LFs at the end of the head", BAD_LINE_END, "POST / HTTP/1.1\r\nHost: h\n\n" INNER),
    ROW("an LF alone as the empty line", BAD_LINE_END, POST "\n" INNER),
    ROW("a bare CR in a value", BAD_LINE_END, POST "X: a\rContent-Length: 5\r\n\r\nabcde" INNER),
    ROW("a bare CR as a line end", BAD_LINE_END, POST "X: a\r\rContent-Length: 5\r\n\r\nabcde" INNER),
    ROW("CR CR LF", BAD_LINE_END, POST "X: a\r\r\n\r\n" INNER),
    ROW("a NUL in a value", BAD_CHARACTER, POST "X: a\0b\r\n\r\n" INNER),
    ROW("a NUL in a name", BAD_CHARACTER, POST "X\0Y: a\r\n\r\n" INNER),
    ROW("a DEL in a value", BAD_CHARACTER, POST "X: \x7f\r\n\r\n" INNER),
    ROW("an escape in a value", BAD_CHARACTER, POST "X: \x1b[2J\r\n\r\n" INNER),
    ROW("a field without a colon", BAD_FIELD, POST "Content-Length 5\r\n\r\nabcde" INNER),
    ROW("a field without a name", BAD_FIELD, POST ": 5\r\n\r\n" INNER),
    ROW("a name with a blank", BAD_FIELD, POST "Content Length: 5\r\n\r\nabcde" INNER),
    ROW("a name with a quote", BAD_FIELD, POST "\"Content-Length\": 5\r\n\r\nabcde" INNER),
    ROW("a name beyond ASCII", BAD_FIELD, POST "Content-Lengt\xe9: 5\r\n\r\nabcde" INNER),
    ROW("a name with parentheses", BAD_FIELD, POST "X(y): 5\r\n\r\n" INNER),
    ROW("no Host", NO_HOST, "GET / HTTP/1.1\r\n\r\n" INNER),
    ROW("two Hosts", BAD_HOST, POST "Host: other\r\n\r\n" INNER),
    ROW("two Hosts in HTTP/1.0", BAD_HOST, "GET / HTTP/1.0\r\nHost: a\r\nHost: b\r\n\r\n" INNER),
    ROW("an empty Host", BAD_HOST, "GET / HTTP/1.1\r\nHost:\r\n\r\n" INNER),
    ROW("a Host with a path", BAD_HOST, "GET / HTTP/1.1\r\nHost: h/x\r\n\r\n" INNER),
    ROW("a Host with a user", BAD_HOST, "GET / HTTP/1.1\r\nHost: a@h\r\n\r\n" INNER),
    ROW("a Host with a blank", BAD_HOST, "GET / HTTP/1.1\r\nHost: h x\r\n\r\n" INNER),
    ROW("a list of Hosts", BAD_HOST, "GET / HTTP/1.1\r\nHost: h,x\r\n\r\n" INNER),
    ROW("two blanks in the start line", BAD_START, "GET  / HTTP/1.1\r\nHost: h\r\n\r\n" INNER),
    ROW("a tab in the start line", BAD_START, "GET\t/ HTTP/1.1\r\nHost: h\r\n\r\n" INNER),
    ROW("a blank at the start", BAD_START, " GET / HTTP/1.1\r\nHost: h\r\n\r\n" INNER),
    ROW("a blank at the end of the start line", BAD_VERSION, "GET / HTTP/1.1 \r\nHost: h\r\n\r\n" INNER),
    ROW("a blank in the target", BAD_START, "GET /a b HTTP/1.1\r\nHost: h\r\n\r\n" INNER),
    ROW("a fragment", BAD_TARGET, "GET /a#b HTTP/1.1\r\nHost: h\r\n\r\n" INNER),
    ROW("a target beyond ASCII", BAD_TARGET, "GET /\xc3\xa9 HTTP/1.1\r\nHost: h\r\n\r\n" INNER),
    ROW("a target without a slash", BAD_TARGET, "GET a/b HTTP/1.1\r\nHost: h\r\n\r\n" INNER),
    ROW("an asterisk for GET", BAD_TARGET, "GET * HTTP/1.1\r\nHost: h\r\n\r\n" INNER),
    ROW("an absolute form without a host", BAD_TARGET, "GET http:///a HTTP/1.1\r\nHost: h\r\n\r\n" INNER),
    ROW("no version", BAD_START, "GET /\r\nHost: h\r\n\r\n" INNER),
    ROW("HTTP/0.9", BAD_VERSION, "GET / HTTP/0.9\r\nHost: h\r\n\r\n" INNER),
    ROW("HTTP/1.2", BAD_VERSION, "GET / HTTP/1.2\r\nHost: h\r\n\r\n" INNER),
    ROW("HTTP/2.0", BAD_VERSION, "GET / HTTP/2.0\r\nHost: h\r\n\r\n" INNER),
    ROW("HTTP/01.1", BAD_VERSION, "GET / HTTP/01.1\r\nHost: h\r\n\r\n" INNER),
    ROW("http/1.1", BAD_START, "GET / http/1.1\r\nHost: h\r\n\r\n" INNER),
    ROW("another protocol", BAD_START, "DESCRIBE / RTSP/1.0\r\nHost: h\r\n\r\n" INNER),
    ROW("a method in lower case", BAD_METHOD, "get / HTTP/1.1\r\nHost: h\r\n\r\n" INNER),
    ROW("a method with a colon", BAD_START, "G:T / HTTP/1.1\r\nHost: h\r\n\r\n" INNER),
    ROW("an unknown method", BAD_METHOD, "GETS / HTTP/1.1\r\nHost: h\r\n\r\n" INNER),
    ROW("CONNECT", NO_PROXY, "CONNECT h:443 HTTP/1.1\r\nHost: h\r\n\r\n" INNER),
};

static const struct row chunks[] = {
    ROW("a size that wraps", BAD_CHUNK, CHUNKED "10000000000000000\r\nabc\r\n0\r\n\r\n" INNER),
    ROW("a size that wraps to a small one", BAD_CHUNK, CHUNKED "10000000000000003\r\nabc\r\n0\r\n\r\n" INNER),
    ROW("an empty size", BAD_CHUNK, CHUNKED "\r\nabc\r\n0\r\n\r\n" INNER),
    ROW("a size with a sign", BAD_CHUNK, CHUNKED "+3\r\nabc\r\n0\r\n\r\n" INNER),
    ROW("a size below zero", BAD_CHUNK, CHUNKED "-3\r\nabc\r\n0\r\n\r\n" INNER),
    ROW("a size with 0x", BAD_CHUNK, CHUNKED "0x3\r\nabc\r\n0\r\n\r\n" INNER),
    ROW("a size that is no number", BAD_CHUNK, CHUNKED "g\r\nabc\r\n0\r\n\r\n" INNER),
    ROW("a blank before the size", BAD_CHUNK, CHUNKED " 3\r\nabc\r\n0\r\n\r\n" INNER),
    ROW("a blank behind the size", BAD_CHUNK, CHUNKED "3 \r\nabc\r\n0\r\n\r\n" INNER),
    ROW("a bare LF behind the size", BAD_CHUNK, CHUNKED "3\nabc\r\n0\r\n\r\n" INNER),
    ROW("a bare CR behind the size", BAD_CHUNK, CHUNKED "3\rabc\r\n0\r\n\r\n" INNER),
    ROW("a bare LF in an extension", BAD_CHUNK, CHUNKED "3;x\nabc\r\n0\r\n\r\n" INNER),
    ROW("a NUL in an extension", BAD_CHUNK, CHUNKED "3;\0\r\nabc\r\n0\r\n\r\n" INNER),
    ROW("a chunk that is too long", BAD_CHUNK, CHUNKED "3\r\nabcd\r\n0\r\n\r\n" INNER),
    ROW("a chunk that is too short", BAD_CHUNK, CHUNKED "3\r\nab\r\n0\r\n\r\n" INNER),
    ROW("a bare LF behind a chunk", BAD_CHUNK, CHUNKED "3\r\nabc\n0\r\n\r\n" INNER),
    ROW("a bare CR behind a chunk", BAD_CHUNK, CHUNKED "3\r\nabc\r0\r\n\r\n" INNER),
    ROW("nothing behind a chunk", BAD_CHUNK, CHUNKED "3\r\nabc0\r\n\r\n" INNER),
    ROW("a bare LF behind the last chunk's size", BAD_CHUNK, CHUNKED "0\n\r\n" INNER),
    ROW("a bare LF as the end", BAD_CHUNK, CHUNKED "0\r\n\n" INNER),
    ROW("a bare CR as the end", BAD_CHUNK, CHUNKED "0\r\n\r" INNER),
    ROW("a bare LF behind a trailer", BAD_CHUNK, CHUNKED "0\r\nX: y\n\r\n" INNER),
    ROW("a bare CR in a trailer", BAD_CHUNK, CHUNKED "0\r\nX: y\rz\r\n\r\n" INNER),
    ROW("a blank before a trailer's colon", BAD_CHUNK, CHUNKED "0\r\nX : y\r\n\r\n" INNER),
    ROW("a folded trailer", BAD_CHUNK, CHUNKED "0\r\nX: y\r\n z\r\n\r\n" INNER),
    ROW("a NUL in a trailer", BAD_CHUNK, CHUNKED "0\r\nX: \0\r\n\r\n" INNER),
    ROW("a request as a trailer", BAD_CHUNK, CHUNKED "0\r\n" INNER),
};

static const struct row responses[] = {
    ROW("length and coding", TWO_LENGTHS,
        OK "Content-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n"),
    ROW("coding and length", TWO_LENGTHS,
        OK "Transfer-Encoding: chunked\r\nContent-Length: 4\r\n\r\n0\r\n\r\n"),
    ROW("two lengths", TWO_LENGTHS, OK "Content-Length: 1\r\nContent-Length: 1\r\n\r\na"),
    ROW("a list of lengths", BAD_LENGTH, OK "Content-Length: 1, 1\r\n\r\na"),
    ROW("another coding", BAD_CODING, OK "Transfer-Encoding: gzip\r\n\r\nabc"),
    ROW("chunked after another coding", BAD_CODING, OK "Transfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n"),
    ROW("another coding after chunked", BAD_CODING, OK "Transfer-Encoding: chunked, gzip\r\n\r\n0\r\n\r\n"),
    ROW("chunked in HTTP/1.0", CODING_IN_1_0,
        "HTTP/1.0 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n"),
    ROW("a blank before the colon", BAD_FIELD, OK "Content-Length : 1\r\n\r\na"),
    ROW("a folded field", FOLDED, OK "X: a\r\n b\r\n\r\n"),
    ROW("a bare LF", BAD_LINE_END, OK "X: a\n\r\n"),
    ROW("a bare LF after the status line", BAD_LINE_END, "HTTP/1.1 200 OK\nContent-Length: 0\r\n\r\n"),
    ROW("a bare CR", BAD_LINE_END, OK "X: a\rb\r\n\r\n"),
    ROW("a NUL", BAD_CHARACTER, OK "X: \0\r\n\r\n"),
    ROW("a NUL in the reason", BAD_CHARACTER, "HTTP/1.1 200 O\0K\r\n\r\n"),
    ROW("a size that wraps", BAD_CHUNK, OK "Transfer-Encoding: chunked\r\n\r\nfffffffffffffffff\r\n"),
    ROW("nothing behind a chunk", BAD_CHUNK, OK "Transfer-Encoding: chunked\r\n\r\n1\r\nab\r\n0\r\n\r\n"),
};

static bool is_refused(struct weir_slice transcript, const char *refusal)
{
    struct weir_slice name = weir_slice_str(refusal), word = WEIR_SLICE("refused ");

    return weir_slice_ends(transcript, name) &&
           weir_slice_ends(weir_slice_sub(transcript, 0, transcript.len - name.len), word) &&
           !weir_slice_has(transcript, WEIR_SLICE("/inner"));
}

/* Whether it was refused as it should be; says so if not. */
static bool refuses(const struct row *row, enum weir_http1_kind kind, size_t max_bytes)
{
    struct weir_slice transcript;
    struct weir_buf out;
    bool ok;

    weir_buf_init(&out, weir_mem_libc(), 1 << 20);
    transcript = http1_transcript(&out, kind, row->input, NULL, max_bytes, WEIR_HTTP1_LIMITS);
    ok = is_refused(transcript, row->refusal);
    if (!ok)
        print_error("%s: %.*s\n", row->what, (int)transcript.len, transcript.ptr);
    weir_buf_deinit(&out);
    return ok;
}

static void refuses_each(const struct row *rows, size_t count, enum weir_http1_kind kind)
{
    size_t wrong = 0;

    for (size_t i = 0; i < count; i++)
        wrong += !refuses(&rows[i], kind, 0) || !refuses(&rows[i], kind, 1);
    assert_int_equal(wrong, 0);
}

static void ambiguous_requests_are_refused(void **state)
{
    (void)state;
    refuses_each(requests, sizeof(requests) / sizeof(*requests), WEIR_HTTP1_REQUEST);
}

static void ambiguous_chunks_are_refused(void **state)
{
    (void)state;
    refuses_each(chunks, sizeof(chunks) / sizeof(*chunks), WEIR_HTTP1_REQUEST);
}

static void ambiguous_responses_are_refused(void **state)
{
    (void)state;
    refuses_each(responses, sizeof(responses) / sizeof(*responses), WEIR_HTTP1_RESPONSE);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ambiguous_requests_are_refused),
        cmocka_unit_test(ambiguous_chunks_are_refused),
        cmocka_unit_test(ambiguous_responses_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
