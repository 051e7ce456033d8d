/* A stack of which the taker has all at once and turns it round: laying down costs two atomics. */
#include "gateway/span/calls.h"

#include <string.h>

#include "gateway/setup.h"
#include "gateway/span/trace.h"
#include "gateway/story/story.h"

void weir_span_calls_init(struct weir_span_calls *ret_calls, const struct weir_mem *mem)
{
    *ret_calls = (struct weir_span_calls){.mem = mem};
}

void weir_span_calls_open(struct weir_span_calls *calls, size_t max_bytes)
{
    atomic_store_explicit(&calls->max_bytes, max_bytes, memory_order_relaxed);
}

void weir_span_calls_deinit(struct weir_span_calls *calls)
{
    struct weir_span_call *call = calls->mem == NULL ? NULL : weir_span_calls_take(calls);

    while (call != NULL) {
        struct weir_span_call *next = call->next;

        weir_span_call_free(calls, call);
        call = next;
    }
    *calls = (struct weir_span_calls){0};
}

static size_t block_bytes(const struct weir_trace *trace)
{
    return sizeof(struct weir_span_call) + trace->state.len;
}

/* Room for so many bytes is the caller's. */
static bool reserve(struct weir_span_calls *calls, size_t bytes)
{
    size_t max_bytes = atomic_load_explicit(&calls->max_bytes, memory_order_relaxed);
    size_t used = atomic_fetch_add_explicit(&calls->bytes, bytes, memory_order_relaxed) + bytes;

    if (used <= max_bytes)
        return true;
    atomic_fetch_sub_explicit(&calls->bytes, bytes, memory_order_relaxed);
    return false;
}

static void lay_down(struct weir_span_calls *calls, struct weir_span_call *call)
{
    call->next = atomic_load_explicit(&calls->newest, memory_order_relaxed);
    while (!atomic_compare_exchange_weak_explicit(&calls->newest, &call->next, call, memory_order_release,
                                                  memory_order_relaxed)) {
    }
}

void weir_span_calls_put(struct weir_span_calls *calls, struct weir_story *story, struct weir_setup *setup,
                         const struct weir_trace *trace, uint64_t attempts)
{
    uint64_t spans = 1 + (attempts < WEIR_SPAN_ATTEMPTS_MAX ? attempts : WEIR_SPAN_ATTEMPTS_MAX);
    size_t bytes = block_bytes(trace) + story->bytes;
    struct weir_span_call *call = NULL;

    if (reserve(calls, bytes)) {
        call = calls->mem->alloc(calls->mem->user, block_bytes(trace));
        if (call == NULL)
            atomic_fetch_sub_explicit(&calls->bytes, bytes, memory_order_relaxed);
    }
    if (call == NULL) {
        atomic_fetch_add_explicit(&calls->counts.dropped, spans, memory_order_relaxed);
        return;
    }
    *call = (struct weir_span_call){.story = weir_story_ref(story),
                                    .setup = weir_setup_ref(setup),
                                    .context = trace->context,
                                    .parent = trace->parent,
                                    .spans = spans,
                                    .bytes = bytes,
                                    .state_len = trace->state.len};
    if (trace->state.len > 0)
        memcpy(call->state, trace->state.ptr, trace->state.len);
    lay_down(calls, call);
}

struct weir_span_call *weir_span_calls_take(struct weir_span_calls *calls)
{
    struct weir_span_call *call, *oldest = NULL;

    call = atomic_exchange_explicit(&calls->newest, NULL, memory_order_acquire);
    while (call != NULL) {
        struct weir_span_call *next = call->next;

        call->next = oldest;
        oldest = call;
        call = next;
    }
    return oldest;
}

void weir_span_call_free(struct weir_span_calls *calls, struct weir_span_call *call)
{
    atomic_fetch_sub_explicit(&calls->bytes, call->bytes, memory_order_relaxed);
    weir_story_unref(call->story);
    weir_setup_unref(call->setup);
    calls->mem->free(calls->mem->user, call, sizeof(*call) + call->state_len);
}
