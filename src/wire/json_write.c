/* Bytes that need nothing are appended in runs; what lies between two runs is one escape. */
#include "wire/json_write.h"

#include <weir/error.h>

#include "base/slice.h"
#include "base/text.h"
#include "base/word.h"
#include "wire/utf8.h"

void weir_json_writer_init(struct weir_json_writer *writer, struct weir_buf *buf)
{
    *writer = (struct weir_json_writer){.buf = buf};
}

int weir_json_writer_end(const struct weir_json_writer *writer)
{
    return writer->error;
}

/* The part of begin for a buffer that must grow. */
static void make_room(struct weir_json_writer *w, size_t bytes)
{
    char *room;

    w->error = weir_buf_reserve(w->buf, bytes, &room);
}

/* Room for bytes and the comma before them, which is written; NULL after an error. */
static inline char *begin(struct weir_json_writer *w, size_t bytes)
{
    struct weir_buf *buf = w->buf;
    char *room;

    if (w->error == 0 && (buf->ptr == NULL || w->comma + bytes > buf->cap - buf->end))
        make_room(w, w->comma + bytes);
    if (w->error != 0 || buf->ptr == NULL)
        return NULL;
    room = buf->ptr + buf->end;
    if (w->comma)
        *room = ',';
    return room + w->comma;
}

/* What was written into the room ends here. */
static inline void end(struct weir_json_writer *w, const char *at)
{
    weir_buf_commit(w->buf, (size_t)(at - (w->buf->ptr + w->buf->end)));
    w->comma = true;
}

char *weir_json_room(struct weir_json_writer *writer, size_t bytes)
{
    return begin(writer, bytes);
}

void weir_json_filled(struct weir_json_writer *writer, const char *at)
{
    end(writer, at);
}

void weir_json_open(struct weir_json_writer *writer, char bracket)
{
    char *at = begin(writer, 1);

    if (at == NULL)
        return;
    *at++ = bracket;
    end(writer, at);
    writer->comma = false;
}

void weir_json_close(struct weir_json_writer *writer, char bracket)
{
    writer->comma = false;
    weir_json_put_raw(writer, (struct weir_slice){&bracket, 1});
}

/* Bytes at the front that may stand in a string as they are. */
static size_t plain_run(struct weir_slice text)
{
    size_t at = 0;

    while (text.len - at >= 8 && weir_word_is_plain(weir_word_load(text.ptr + at)))
        at += 8;
    while (at < text.len) {
        char c = text.ptr[at];
        size_t len = (c & 0x80) == 0 ? 1 : weir_utf8_len(text.ptr + at, text.ptr + text.len);

        if (len == 0 || (unsigned char)c < 0x20 || c == '"' || c == '\\' || c == 0x7f)
            break;
        at += len;
    }
    return at;
}

static int put_escape(struct weir_buf *buf, char c)
{
    char code[6] = {'\\',
                    'u',
                    '0',
                    '0',
                    "0123456789abcdef"[(unsigned char)c >> 4],
                    "0123456789abcdef"[(unsigned char)c & 15]};

    switch (c) {
    case '"':
        return weir_buf_append(buf, WEIR_SLICE("\\\""));
    case '\\':
        return weir_buf_append(buf, WEIR_SLICE("\\\\"));
    case '\n':
        return weir_buf_append(buf, WEIR_SLICE("\\n"));
    case '\r':
        return weir_buf_append(buf, WEIR_SLICE("\\r"));
    case '\t':
        return weir_buf_append(buf, WEIR_SLICE("\\t"));
    default:
        return (c & 0x80) != 0 ? weir_buf_append(buf, WEIR_SLICE("\xef\xbf\xbd"))
                               : weir_buf_append(buf, (struct weir_slice){code, sizeof(code)});
    }
}

int weir_json_escape(struct weir_buf *buf, struct weir_slice text)
{
    int r = 0;

    while (text.len > 0 && r == 0) {
        size_t run = plain_run(text);

        r = weir_buf_append(buf, weir_slice_sub(text, 0, run));
        if (r == 0 && run < text.len)
            r = put_escape(buf, text.ptr[run++]);
        text = weir_slice_sub(text, run, text.len);
    }
    return r;
}

/* What has to be escaped, in several appends. */
static void put_escaped(struct weir_json_writer *w, struct weir_slice text)
{
    char *at = begin(w, 1);

    if (at == NULL)
        return;
    *at++ = '"';
    end(w, at);
    w->error = weir_json_escape(w->buf, text);
    w->comma = false;
    weir_json_put_raw(w, WEIR_SLICE("\""));
}

void weir_json_put_string(struct weir_json_writer *writer, struct weir_slice text)
{
    char *at;

    if (!weir_bytes_are_plain(text.ptr, text.len)) {
        put_escaped(writer, text);
        return;
    }
    at = begin(writer, text.len + 2);
    if (at == NULL)
        return;
    *at++ = '"';
    at = weir_bytes_copy(at, text.ptr, text.len);
    *at++ = '"';
    end(writer, at);
}

/* The key with its quotes and the colon. */
static inline char *copy_key(char *at, struct weir_slice key)
{
    *at++ = '"';
    at = weir_bytes_copy(at, key.ptr, key.len);
    *at++ = '"';
    *at++ = ':';
    return at;
}

void weir_json_put_word_member(struct weir_json_writer *writer, struct weir_slice key, struct weir_slice word)
{
    char *at = begin(writer, key.len + word.len + 5);

    if (at == NULL)
        return;
    at = copy_key(at, key);
    *at++ = '"';
    at = weir_bytes_copy(at, word.ptr, word.len);
    *at++ = '"';
    end(writer, at);
}

void weir_json_put_text_member(struct weir_json_writer *writer, struct weir_slice key, struct weir_slice text)
{
    if (weir_bytes_are_plain(text.ptr, text.len)) {
        weir_json_put_word_member(writer, key, text);
        return;
    }
    weir_json_put_key(writer, key);
    put_escaped(writer, text);
}

void weir_json_put_raw_member(struct weir_json_writer *writer, struct weir_slice key, struct weir_slice json)
{
    char *at = begin(writer, key.len + json.len + 3);

    if (at == NULL)
        return;
    at = copy_key(at, key);
    end(writer, weir_bytes_copy(at, json.ptr, json.len));
}

void weir_json_put_u64_member(struct weir_json_writer *writer, struct weir_slice key, uint64_t number)
{
    char digits[WEIR_TEXT_U64_MAX];

    weir_json_put_raw_member(writer, key, weir_text_u64(number, digits));
}

void weir_json_put_bool_member(struct weir_json_writer *writer, struct weir_slice key, bool value)
{
    weir_json_put_raw_member(writer, key, value ? WEIR_SLICE("true") : WEIR_SLICE("false"));
}

void weir_json_put_key(struct weir_json_writer *writer, struct weir_slice name)
{
    weir_json_put_string(writer, name);
    writer->comma = false;
    weir_json_put_raw(writer, WEIR_SLICE(":"));
    writer->comma = false;
}

void weir_json_put_raw(struct weir_json_writer *writer, struct weir_slice json)
{
    char *at = begin(writer, json.len);

    if (at == NULL)
        return;
    end(writer, weir_bytes_copy(at, json.ptr, json.len));
}

void weir_json_put_u64(struct weir_json_writer *writer, uint64_t number)
{
    char digits[WEIR_TEXT_U64_MAX];

    weir_json_put_raw(writer, weir_text_u64(number, digits));
}

void weir_json_put_fixed(struct weir_json_writer *writer, uint64_t number, unsigned decimals)
{
    char digits[WEIR_TEXT_FIXED_MAX];

    weir_json_put_raw(writer, weir_text_fixed(number, decimals, digits));
}

void weir_json_put_bool(struct weir_json_writer *writer, bool value)
{
    weir_json_put_raw(writer, value ? WEIR_SLICE("true") : WEIR_SLICE("false"));
}

void weir_json_put_null(struct weir_json_writer *writer)
{
    weir_json_put_raw(writer, WEIR_SLICE("null"));
}
