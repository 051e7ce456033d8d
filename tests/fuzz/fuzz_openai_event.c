/* Chunks and answers of any bytes are read without a step outside them, and mean one thing only. */
#include <stdint.h>
#include <stdlib.h>

#include <weir/mem_libc.h>

#include "base/slice.h"
#include "provider/openai_read.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { EVENT_MAX = 1 << 20 };

static bool inside(struct weir_slice part, struct weir_slice whole)
{
    return part.len == 0 ||
           (part.len <= whole.len && part.ptr >= whole.ptr && part.ptr + part.len <= whole.ptr + whole.len);
}

static void read_event(weir_route route, const struct weir_sse_event *event)
{
    struct weir_chunk chunk;

    weir_openai_read_chunk(route, event, &chunk);
    if (!inside(chunk.model.text, event->data))
        abort();
    if (!inside(chunk.error, event->data) && !inside(chunk.error, event->other))
        abort();
    if (chunk.content_filtered && chunk.ended == 0)
        abort();
    if (chunk.chunk_class != WEIR_CHUNK_ERROR && chunk.error.len > 0)
        abort();
}

static void read_stream(weir_route route, struct weir_slice input)
{
    struct weir_sse_event event;
    struct weir_sse sse;

    weir_sse_init(&sse, weir_mem_libc(), EVENT_MAX);
    while (weir_sse_next(&sse, &input, &event) == WEIR_SSE_EVENT)
        read_event(route, &event);
    if (weir_sse_finish(&sse, &event) == WEIR_SSE_EVENT)
        read_event(route, &event);
    weir_sse_deinit(&sse);
}

/* A good answer is JSON, whatever else it is. */
static void read_answer(weir_route route, struct weir_slice input)
{
    struct weir_plain_answer answer;
    struct weir_json_value value;
    size_t bad_at;

    if (weir_openai_read_answer(route, input, &answer) != 0)
        return;
    if (weir_json_check(input, WEIR_JSON_DEPTH_MAX, &value, &bad_at) != 0 || value.type != WEIR_JSON_OBJECT)
        abort();
    if (!inside(answer.model.text, input))
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct weir_slice input = {(const char *)data, size};

    for (unsigned route = 0; route < WEIR_ROUTES; route++) {
        read_stream((weir_route)route, input);
        read_answer((weir_route)route, input);
    }
    return 0;
}
