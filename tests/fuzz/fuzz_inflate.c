/*
 * The first byte chooses the format, the rest is packed data. Cut or not, it unfolds to the same, or fails
 * the same, and never to more than the limit and one room.
 */
#include <stdint.h>
#include <stdlib.h>

#include <weir/mem_libc.h>

#include "base/buf.h"
#include "base/slice.h"
#include "chunks.h"
#include "wire/inflate.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { MAX_OUTPUT_BYTES = 1 << 16, ROOM_BYTES = 512, MAX_BYTES = 1 << 22 };

static int unfold(enum weir_inflate_format format, struct weir_slice input, struct weir_rand *rand,
                  struct weir_buf *out)
{
    struct weir_inflate inf;
    struct weir_slice piece;
    struct chunks chunks;
    int r = 0;

    weir_buf_init(out, weir_mem_libc(), MAX_BYTES);
    weir_inflate_init(&inf, format, weir_mem_libc(), MAX_OUTPUT_BYTES, 2000);
    chunks_init(&chunks, input, rand, rand == NULL ? input.len : 20);
    while (r == 0 && chunks_next(&chunks, &piece))
        do {
            char *room;
            size_t len;

            if (weir_buf_reserve(out, ROOM_BYTES, &room) != 0)
                abort();
            r = weir_inflate_next(&inf, &piece, room, ROOM_BYTES, &len);
            weir_buf_commit(out, len);
        } while (r == WEIR_INFLATE_MORE);
    chunks_deinit(&chunks);
    if (r < 0 || inf.out_bytes > MAX_OUTPUT_BYTES + ROOM_BYTES)
        abort();
    if (r == WEIR_INFLATE_TOO_BIG) /* which of two faults is met first depends on the cuts */
        r = WEIR_INFLATE_BAD;
    if (r == 0 && weir_inflate_complete(&inf))
        r = WEIR_INFLATE_MORE;
    weir_inflate_deinit(&inf);
    return r;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct weir_slice input = {(const char *)data, size};
    enum weir_inflate_format format = size > 0 && data[0] % 2 == 0 ? WEIR_INFLATE_GZIP : WEIR_INFLATE_DEFLATE;
    struct weir_buf whole, cut;
    struct weir_rand rand;
    int r;

    input = weir_slice_sub(input, 1, size);
    weir_rand_init(&rand, size);
    r = unfold(format, input, NULL, &whole);
    if (unfold(format, input, &rand, &cut) != r)
        abort();
    if (r != WEIR_INFLATE_BAD && !weir_slice_eq(weir_buf_slice(&whole), weir_buf_slice(&cut)))
        abort();
    weir_buf_deinit(&whole);
    weir_buf_deinit(&cut);
    return 0;
}
