/*
 * Cut anywhere, the bytes of a server give the same replies and the same end; no reply has more in it than
 * the limits allow.
 */
#include <stdint.h>
#include <stdlib.h>

#include <weir/mem_libc.h>

#include "base/buf.h"
#include "base/slice.h"
#include "base/text.h"
#include "chunks.h"
#include "state/reply.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { MAX_BYTES = 4096, MAX_ITEMS = 64, TOLD_BYTES = 1 << 22 };

static void put(struct weir_buf *out, struct weir_slice bytes)
{
    if (weir_buf_append(out, bytes) != 0)
        abort();
}

static size_t put_reply(struct weir_buf *told, const struct weir_reply *reply)
{
    char kind = (char)('0' + reply->kind), digits[WEIR_TEXT_HEX64_MAX];
    size_t items = reply->count;

    put(told, (struct weir_slice){&kind, 1});
    put(told, weir_text_hex64((uint64_t)reply->number, digits));
    put(told, reply->text);
    for (size_t i = 0; i < reply->count; i++)
        items += put_reply(told, &reply->items[i]);
    put(told, WEIR_SLICE(";"));
    return items;
}

/* The replies, and how it ended. */
static int read_all(struct weir_slice input, struct weir_rand *rand, struct weir_buf *told)
{
    struct weir_reply_limits limits = {MAX_BYTES, MAX_ITEMS};
    const struct weir_reply *reply;
    weir_reply_reader *reader;
    struct weir_slice piece;
    struct chunks chunks;
    int r = WEIR_REPLY_MORE;

    weir_buf_init(told, weir_mem_libc(), TOLD_BYTES);
    if (weir_reply_reader_new(weir_mem_libc(), limits, &reader) != 0)
        abort();
    chunks_init(&chunks, input, rand, rand == NULL ? input.len : 30);
    while (r == WEIR_REPLY_MORE && chunks_next(&chunks, &piece)) {
        if (weir_reply_reader_feed(reader, piece) != 0)
            abort();
        while ((r = weir_reply_reader_next(reader, &reply)) == 0)
            if (put_reply(told, reply) > MAX_ITEMS)
                abort();
        if (r < 0)
            abort();
    }
    chunks_deinit(&chunks);
    weir_reply_reader_free(reader);
    return r;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct weir_slice input = {(const char *)data, size};
    struct weir_buf told, told_cut;
    struct weir_rand rand;
    int r, r_cut;

    weir_rand_init(&rand, size == 0 ? 0 : data[0] + size);
    r = read_all(input, NULL, &told);
    r_cut = read_all(input, &rand, &told_cut);
    /* A reply that is too long is found out between two reads only: in pieces earlier. */
    if (r_cut != WEIR_REPLY_LARGE &&
        (r != r_cut || !weir_slice_eq(weir_buf_slice(&told), weir_buf_slice(&told_cut))))
        abort();
    weir_buf_deinit(&told);
    weir_buf_deinit(&told_cut);
    return 0;
}
