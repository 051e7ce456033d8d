/*
 * A line is checked first and then reserved as a whole, so that a refusal or a full buffer leaves nothing
 * behind.
 */
#include "wire/http1_write.h"

#include <string.h>

#include <weir/error.h>

#include "base/slice.h"
#include "base/text.h"
#include "wire/http_field.h"

static const struct weir_slice crlf = WEIR_SLICE_INIT("\r\n");

static int append_all(struct weir_buf *buf, const struct weir_slice *parts, size_t count)
{
    size_t total = 0;
    char *room;
    int r;

    for (size_t i = 0; i < count; i++)
        if (__builtin_add_overflow(total, parts[i].len, &total))
            return WEIR_ERR_LIMIT;
    r = weir_buf_reserve(buf, total, &room);
    if (r < 0)
        return r;
    for (size_t i = 0; i < count; i++) {
        if (parts[i].len > 0)
            memcpy(room, parts[i].ptr, parts[i].len);
        room += parts[i].len;
    }
    weir_buf_commit(buf, total);
    return 0;
}

static bool is_target(struct weir_slice target)
{
    for (size_t i = 0; i < target.len; i++)
        if (target.ptr[i] <= ' ' || target.ptr[i] > '~')
            return false;
    return target.len > 0;
}

int weir_http1_write_request(struct weir_buf *buf, struct weir_slice method, struct weir_slice target)
{
    const struct weir_slice parts[] = {method, WEIR_SLICE(" "), target, WEIR_SLICE(" HTTP/1.1\r\n")};

    if (!weir_http_is_token(method) || !is_target(target))
        return WEIR_ERR_MALFORMED;
    return append_all(buf, parts, sizeof(parts) / sizeof(*parts));
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
    const struct weir_slice parts[] = {WEIR_SLICE("HTTP/1.1 "), weir_text_u64(status, digits),
                                       WEIR_SLICE(" "), weir_http1_reason(status), crlf};

    if (status < 100 || status > 999)
        return WEIR_ERR_INVALID;
    return append_all(buf, parts, sizeof(parts) / sizeof(*parts));
}

int weir_http1_write_field(struct weir_buf *buf, struct weir_slice name, struct weir_slice value)
{
    const struct weir_slice parts[] = {name, WEIR_SLICE(": "), value, crlf};

    if (!weir_http_is_token(name) || !weir_http_is_value(value))
        return WEIR_ERR_MALFORMED;
    return append_all(buf, parts, sizeof(parts) / sizeof(*parts));
}

int weir_http1_write_length(struct weir_buf *buf, uint64_t bytes)
{
    char digits[WEIR_TEXT_U64_MAX];
    const struct weir_slice parts[] = {WEIR_SLICE("Content-Length: "), weir_text_u64(bytes, digits), crlf};

    return append_all(buf, parts, sizeof(parts) / sizeof(*parts));
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
