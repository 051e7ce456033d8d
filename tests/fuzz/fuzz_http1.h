/*
 * The body of both HTTP/1.1 targets: the input is read in one piece and in random pieces, and both readings
 * must tell the same.
 */
#ifndef FUZZ_HTTP1_H
#define FUZZ_HTTP1_H

#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <weir/mem_libc.h>

#include "base/buf.h"
#include "base/slice.h"
#include "base/text.h"
#include "chunks.h"
#include "wire/http1_read.h"

enum { FUZZ_HTTP1_MAX_BYTES = 1 << 22 };

static inline void fuzz_http1_put(struct weir_buf *out, struct weir_slice bytes)
{
    if (weir_buf_append(out, bytes) != 0)
        abort();
}

static inline void fuzz_http1_put_number(struct weir_buf *out, uint64_t number)
{
    char digits[WEIR_TEXT_U64_MAX];

    if (weir_buf_append(out, weir_text_u64(number, digits)) != 0)
        abort();
    fuzz_http1_put(out, WEIR_SLICE(" "));
}

static inline void fuzz_http1_put_head(struct weir_buf *out, const struct weir_http1_head *head)
{
    fuzz_http1_put(out, head->method);
    fuzz_http1_put(out, head->path);
    fuzz_http1_put(out, head->query);
    fuzz_http1_put(out, head->reason);
    fuzz_http1_put_number(out, head->status);
    fuzz_http1_put_number(out, head->framing);
    fuzz_http1_put_number(out, head->content_length);
    fuzz_http1_put_number(out, head->keep_alive);
    for (size_t i = 0; i < head->field_count; i++) {
        fuzz_http1_put(out, head->fields[i].name);
        fuzz_http1_put(out, head->fields[i].value);
    }
}

/* Reads one piece to its end; false after a refusal. */
static inline int fuzz_http1_piece(struct weir_http1_reader *reader, struct weir_slice piece,
                                   struct weir_buf *out)
{
    struct weir_slice body;
    int r;

    while ((r = weir_http1_read(reader, &piece, &body)) > 0 && r != WEIR_HTTP1_BAD) {
        if (r == WEIR_HTTP1_HEAD)
            fuzz_http1_put_head(out, &reader->head);
        else if (r == WEIR_HTTP1_BODY)
            fuzz_http1_put(out, body);
        else
            weir_http1_reader_next(reader, reader->kind);
    }
    if (r < 0 || (r == 0 && piece.len > 0))
        abort();
    return r == 0;
}

static inline void fuzz_http1_read(enum weir_http1_kind kind, struct weir_slice input, struct weir_rand *rand,
                                   struct weir_buf *out)
{
    const struct weir_http1_limits limits = {2048, 256, 16};
    struct weir_http1_reader reader;
    struct weir_slice piece;
    struct chunks chunks;
    int open = 1;

    weir_buf_init(out, weir_mem_libc(), FUZZ_HTTP1_MAX_BYTES);
    weir_http1_reader_init(&reader, kind, weir_mem_libc(), limits);
    chunks_init(&chunks, input, rand, rand == NULL ? input.len : 40);
    while (open && chunks_next(&chunks, &piece))
        open = fuzz_http1_piece(&reader, piece, out);
    fuzz_http1_put_number(out, (uint64_t)weir_http1_finish(&reader));
    fuzz_http1_put_number(out, reader.refusal);
    chunks_deinit(&chunks);
    weir_http1_reader_deinit(&reader);
}

static inline void fuzz_http1(enum weir_http1_kind kind, const uint8_t *data, size_t size)
{
    struct weir_slice input = {(const char *)data, size};
    struct weir_buf whole, cut;
    struct weir_rand rand;

    weir_rand_init(&rand, size == 0 ? 0 : data[0] + size);
    fuzz_http1_read(kind, input, NULL, &whole);
    fuzz_http1_read(kind, input, &rand, &cut);
    if (!weir_slice_eq(weir_buf_slice(&whole), weir_buf_slice(&cut)))
        abort();
    weir_buf_deinit(&whole);
    weir_buf_deinit(&cut);
}

#endif
