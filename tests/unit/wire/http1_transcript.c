#include "http1_transcript.h"

#include <stdlib.h>

#include <weir/mem_libc.h>

#include "base/slice.h"
#include "base/text.h"
#include "chunks.h"

static void put(struct weir_buf *out, struct weir_slice text)
{
    if (weir_buf_append(out, text) != 0)
        abort();
}

static void put_str(struct weir_buf *out, const char *text)
{
    put(out, weir_slice_str(text));
}

static void put_u64(struct weir_buf *out, uint64_t number)
{
    char digits[WEIR_TEXT_U64_MAX];

    if (weir_buf_append(out, weir_text_u64(number, digits)) != 0)
        abort();
}

const char *http1_refusal_name(enum weir_http1_refusal refusal)
{
    static const char *const names[] = {
        "NONE",
#define X(name, status, text) #name,
#include "wire/tbl/http1_refusals.h"
#undef X
    };

    return names[refusal];
}

static void put_framing(struct weir_buf *out, const struct weir_http1_head *head)
{
    static const char *const names[] = {" none", " length ", " chunked", " eof"};

    put_str(out, names[head->framing]);
    if (head->framing == WEIR_HTTP1_FRAMED_LENGTH)
        put_u64(out, head->content_length);
}

static void put_head(struct weir_buf *out, enum weir_http1_kind kind, const struct weir_http1_head *head)
{
    if (kind == WEIR_HTTP1_REQUEST) {
        put(out, head->method);
        put_str(out, " ");
        put(out, head->path);
        put_str(out, " ? ");
        put(out, head->query);
    } else {
        put_u64(out, head->status);
        put_str(out, " ");
        put(out, head->reason);
    }
    put_str(out, head->minor == 1 ? " 1.1" : " 1.0");
    put_framing(out, head);
    put_str(out, head->keep_alive ? " keep" : " close");
    put_str(out, head->expects_continue ? " expects" : "");
    put_str(out, "\n");
    for (size_t i = 0; i < head->field_count; i++) {
        put(out, head->fields[i].name);
        put_str(out, "=");
        put(out, head->fields[i].value);
        put_str(out, "\n");
    }
    put_str(out, "<");
}

static void put_refusal(struct weir_buf *out, const struct weir_http1_reader *reader)
{
    put_str(out, "refused ");
    put_str(out, http1_refusal_name(reader->refusal));
}

/* Reads one piece to its end; false after a refusal. */
static bool read_piece(struct weir_buf *out, struct weir_http1_reader *reader, struct weir_slice piece)
{
    struct weir_slice body;
    int r;

    while ((r = weir_http1_read(reader, &piece, &body)) > 0)
        switch (r) {
        case WEIR_HTTP1_HEAD:
            put_head(out, reader->kind, &reader->head);
            break;
        case WEIR_HTTP1_BODY:
            if (body.len == 0)
                abort();
            put(out, body);
            break;
        case WEIR_HTTP1_DONE:
            put_str(out, ">\nend\n");
            weir_http1_reader_next(reader, reader->kind);
            break;
        default:
            put_refusal(out, reader);
            return false;
        }
    if (r < 0 || piece.len != 0)
        abort();
    return true;
}

static void read_end(struct weir_buf *out, struct weir_http1_reader *reader)
{
    int r = weir_http1_finish(reader);

    if (r == WEIR_HTTP1_DONE)
        put_str(out, ">\nend at eof\n");
    else if (r == WEIR_HTTP1_BAD)
        put_refusal(out, reader);
    else if (r != 0)
        abort();
}

struct weir_slice http1_transcript(struct weir_buf *out, enum weir_http1_kind kind, struct weir_slice input,
                                   struct weir_rand *rand, size_t max_bytes, struct weir_http1_limits limits)
{
    struct weir_http1_reader reader;
    struct chunks chunks;
    struct weir_slice piece;
    bool open = true;

    weir_http1_reader_init(&reader, kind, weir_mem_libc(), limits);
    chunks_init(&chunks, input, rand, max_bytes == 0 ? input.len : max_bytes);
    while (open && chunks_next(&chunks, &piece))
        open = read_piece(out, &reader, piece);
    if (open)
        read_end(out, &reader);
    chunks_deinit(&chunks);
    weir_http1_reader_deinit(&reader);
    return weir_buf_slice(out);
}
