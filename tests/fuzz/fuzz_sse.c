/*
 * Cut anywhere, a stream gives the same events, and its raw slices are its bytes without a byte-order mark.
 */
#include <stdint.h>
#include <stdlib.h>

#include <weir/mem_libc.h>

#include "base/slice.h"
#include "chunks.h"
#include "wire/sse.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { MAX_BYTES = 1 << 22 };

static void put(struct weir_buf *out, struct weir_slice bytes)
{
    if (weir_buf_append(out, bytes) != 0)
        abort();
}

/* Events that say nothing are left out: a CR LF that is cut makes one more of them. */
static void put_event(struct weir_buf *told, struct weir_buf *raw, const struct weir_sse_event *event)
{
    put(raw, event->raw);
    if (!event->has_data && event->name.len + event->id.len + event->other.len == 0)
        return;
    put(told, event->name);
    put(told, WEIR_SLICE("\1"));
    put(told, event->id);
    put(told, event->has_data ? WEIR_SLICE("\2") : WEIR_SLICE("\3"));
    put(told, event->data);
    put(told, WEIR_SLICE("\4"));
    put(told, event->other);
}

static void split(struct weir_slice input, struct weir_rand *rand, struct weir_buf *told,
                  struct weir_buf *raw)
{
    struct weir_sse_event event;
    struct weir_slice piece;
    struct weir_sse sse;
    struct chunks chunks;

    weir_buf_init(told, weir_mem_libc(), MAX_BYTES);
    weir_buf_init(raw, weir_mem_libc(), MAX_BYTES);
    weir_sse_init(&sse, weir_mem_libc(), MAX_BYTES);
    chunks_init(&chunks, input, rand, rand == NULL ? input.len : 30);
    while (chunks_next(&chunks, &piece))
        while (weir_sse_next(&sse, &piece, &event) == WEIR_SSE_EVENT)
            put_event(told, raw, &event);
    chunks_deinit(&chunks);
    while (weir_sse_finish(&sse, &event) == WEIR_SSE_EVENT)
        put_event(told, raw, &event);
    weir_sse_deinit(&sse);
}

static struct weir_slice without_mark(struct weir_slice input)
{
    return weir_slice_starts(input, WEIR_SLICE("\xef\xbb\xbf")) ? weir_slice_sub(input, 3, input.len) : input;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct weir_slice input = {(const char *)data, size}, rest = without_mark(input);
    struct weir_buf told, raw, told_cut, raw_cut;
    struct weir_rand rand;

    weir_rand_init(&rand, size == 0 ? 0 : data[0] + size);
    split(input, NULL, &told, &raw);
    split(input, &rand, &told_cut, &raw_cut);
    if (!weir_slice_eq(weir_buf_slice(&told), weir_buf_slice(&told_cut)) ||
        !weir_slice_eq(weir_buf_slice(&raw), rest) || !weir_slice_eq(weir_buf_slice(&raw_cut), rest))
        abort();
    weir_buf_deinit(&told);
    weir_buf_deinit(&raw);
    weir_buf_deinit(&told_cut);
    weir_buf_deinit(&raw_cut);
    return 0;
}
