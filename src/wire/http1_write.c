/* A line is checked first and then appended as a whole: a refusal or a full buffer leaves nothing behind. */
#include "wire/http1_write.h"

#include <weir/error.h>

#include "base/slice.h"
#include "base/text.h"
#include "wire/http_field.h"

static const struct weir_slice crlf = WEIR_SLICE_INIT("\r\n");

static bool is_target(struct weir_slice target)
{
    for (size_t i = 0; i < target.len; i++)
        if (target.ptr[i] <= ' ' || target.ptr[i] > '~')
            return false;
    return target.len > 0;
}

int weir_http1_write_request(struct weir_buf *buf, struct weir_slice method, struct weir_slice target)
{
    if (!weir_http_is_token(method) || !is_target(target))
        return WEIR_ERR_MALFORMED;
    return WEIR_BUF_APPEND(buf, method, WEIR_SLICE(" "), target, WEIR_SLICE(" HTTP/1.1\r\n"));
}

struct weir_slice weir_http1_reason(unsigned status)
{
    switch (status) {
#define X(code, phrase)                                                                                      \
    case (code):                                                                                             \
        return WEIR_SLICE(phrase);
#include "wire/tbl/http_status.h"
#undef X
    default:
        return WEIR_SLICE("Unknown");
    }
}

int weir_http1_write_status(struct weir_buf *buf, unsigned status)
{
    char digits[WEIR_TEXT_U64_MAX];
    if (status < 100 || status > 999)
        return WEIR_ERR_INVALID;
    return WEIR_BUF_APPEND(buf, WEIR_SLICE("HTTP/1.1 "), weir_text_u64(status, digits), WEIR_SLICE(" "),
                           weir_http1_reason(status), crlf);
}

int weir_http1_write_field(struct weir_buf *buf, struct weir_slice name, struct weir_slice value)
{
    if (!weir_http_is_token(name) || !weir_http_is_value(value))
        return WEIR_ERR_MALFORMED;
    return WEIR_BUF_APPEND(buf, name, WEIR_SLICE(": "), value, crlf);
}

int weir_http1_write_length(struct weir_buf *buf, uint64_t bytes)
{
    char digits[WEIR_TEXT_U64_MAX];
    return WEIR_BUF_APPEND(buf, WEIR_SLICE("Content-Length: "), weir_text_u64(bytes, digits), crlf);
}

int weir_http1_write_head_end(struct weir_buf *buf)
{
    return weir_buf_append(buf, crlf);
}

struct weir_slice weir_http1_chunk_head(size_t len, char room[WEIR_HTTP1_CHUNK_HEAD_MAX])
{
    size_t at = WEIR_HTTP1_CHUNK_HEAD_MAX;

    room[--at] = '\n';
    room[--at] = '\r';
    do {
        room[--at] = "0123456789abcdef"[len & 15];
        len >>= 4;
    } while (len > 0);
    return (struct weir_slice){room + at, WEIR_HTTP1_CHUNK_HEAD_MAX - at};
}
