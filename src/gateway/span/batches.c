/*
 * Model: a list of batches, oldest first.  Only the first is sent, only the last is added to,
 * and only until it was sent for the first time.  A batch that
 * was given up makes way for the next one at once: a collector that is away costs each batch its tries, while
 * new spans find the room used up and are dropped.
 *
 * Tried again are no answer at all and 429, 502, 503, 504, as OTLP has it.
 */
#include "gateway/span/batches.h"

#include <assert.h>

#include <weir/error.h>

#include "base/slice.h"
#include "base/time.h"
#include "gateway/span/calls.h"

void weir_span_batches_init(struct weir_span_batches *ret_batches, struct weir_span_counts *counts,
                            uint64_t seed, const struct weir_mem *mem)
{
    *ret_batches = (struct weir_span_batches){.mem = mem, .counts = counts};
    weir_buf_init(&ret_batches->spare, mem, WEIR_SPAN_CALL_BYTES_MAX);
    weir_rand_init(&ret_batches->rand, seed);
}

static void count(atomic_ullong *counter, uint64_t spans)
{
    atomic_fetch_add_explicit(counter, spans, memory_order_relaxed);
}

/* Keeps one room, unless it is larger than most batches are: batches come one after the other. */
static void keep_room(struct weir_span_batches *batches, struct weir_buf *room)
{
    struct weir_buf other = batches->spare;

    if (room->cap > WEIR_BATCH_BYTES || room->cap <= other.cap) {
        weir_buf_deinit(room);
        return;
    }
    weir_buf_clear(room);
    batches->spare = *room;
    weir_buf_deinit(&other);
}

static void drop_first(struct weir_span_batches *batches)
{
    struct weir_span_batch *batch = batches->first;

    batches->first = batch->next;
    if (batches->first == NULL)
        batches->last = NULL;
    batches->bytes -= weir_buf_len(&batch->bytes);
    batches->tries = 0;
    keep_room(batches, &batch->bytes);
    batches->mem->free(batches->mem->user, batch, sizeof(*batch));
}

void weir_span_batches_deinit(struct weir_span_batches *batches)
{
    while (batches->first != NULL) {
        count(&batches->counts->refused, batches->first->spans);
        drop_first(batches);
    }
    weir_buf_deinit(&batches->spare);
    *batches = (struct weir_span_batches){0};
}

void weir_span_batches_configure(struct weir_span_batches *batches, uint64_t interval_ns, size_t max_bytes)
{
    batches->interval_ns = interval_ns;
    batches->max_bytes = max_bytes;
}

static bool is_full(const struct weir_span_batch *batch)
{
    return batch->spans >= WEIR_BATCH_SPANS || weir_buf_len(&batch->bytes) >= WEIR_BATCH_BYTES;
}

/* The last one takes the spans of another call. */
static bool is_open(const struct weir_span_batches *batches, size_t bytes, uint32_t spans)
{
    const struct weir_span_batch *last = batches->last;

    if (last == NULL || (last == batches->first && batches->tries > 0) || is_full(last))
        return false;
    return last->spans + spans <= WEIR_BATCH_SPANS && weir_buf_len(&last->bytes) + bytes <= WEIR_BATCH_BYTES;
}

/* Adds to the last one; false without memory. */
static bool append(struct weir_span_batches *batches, struct weir_slice spans, uint32_t number)
{
    if (weir_buf_append(&batches->last->bytes, spans) < 0)
        return false;
    batches->last->spans += number;
    batches->bytes += spans.len;
    return true;
}

/* Likewise to a new one, which is the last from then on. */
static bool begin(struct weir_span_batches *batches, struct weir_slice spans, uint32_t number,
                  uint64_t now_ns)
{
    const struct weir_mem *mem = batches->mem;
    struct weir_span_batch *batch = mem->alloc(mem->user, sizeof(*batch));
    char *room;

    if (batch == NULL)
        return false;
    *batch = (struct weir_span_batch){.bytes = batches->spare, .begun_ns = now_ns};
    weir_buf_init(&batches->spare, mem, WEIR_SPAN_CALL_BYTES_MAX);
    if (weir_buf_reserve(&batch->bytes, spans.len, &room) < 0) {
        weir_buf_deinit(&batch->bytes);
        mem->free(mem->user, batch, sizeof(*batch));
        return false;
    }
    if (batches->last == NULL)
        batches->first = batch;
    else
        batches->last->next = batch;
    batches->last = batch;
    return append(batches, spans, number);
}

void weir_span_batches_add(struct weir_span_batches *batches, struct weir_slice spans, uint32_t number,
                           uint64_t now_ns)
{
    bool fits = spans.len <= batches->max_bytes && batches->bytes <= batches->max_bytes - spans.len;

    if (fits && (is_open(batches, spans.len, number) ? append(batches, spans, number)
                                                     : begin(batches, spans, number, now_ns)))
        return;
    count(&batches->counts->dropped, number);
}

uint64_t weir_span_batches_due(const struct weir_span_batches *batches)
{
    const struct weir_span_batch *first = batches->first;
    uint64_t due_ns;

    if (first == NULL || batches->under_way)
        return WEIR_TIME_NEVER;
    if (batches->ending)
        return 0;
    due_ns = batches->tries > 0 || first != batches->last || is_full(first)
                 ? 0
                 : weir_time_add(first->begun_ns, batches->interval_ns);
    return due_ns > batches->not_before_ns ? due_ns : batches->not_before_ns;
}

const struct weir_span_batch *weir_span_batches_take(struct weir_span_batches *batches)
{
    assert(batches->first != NULL && !batches->under_way);
    batches->under_way = true;
    batches->tries++;
    return batches->first;
}

static bool may_help(unsigned status)
{
    return status == 0 || status == 429 || status == 502 || status == 503 || status == 504;
}

/* Twice as long each time, of which a random part up to the half is left out; or what the collector says. */
static uint64_t wait_of(struct weir_span_batches *batches, uint64_t retry_after_ns)
{
    const uint64_t most_ns = WEIR_BATCH_WAIT_MAX_S * WEIR_NS_PER_S;
    uint64_t wait_ns = (uint64_t)WEIR_BATCH_WAIT_S * WEIR_NS_PER_S << (batches->tries - 1);

    if (retry_after_ns > 0)
        return retry_after_ns < most_ns ? retry_after_ns : most_ns;
    wait_ns = wait_ns < most_ns ? wait_ns : most_ns;
    return wait_ns - weir_rand_below(&batches->rand, wait_ns / 2);
}

void weir_span_batches_done(struct weir_span_batches *batches, const struct weir_batch_outcome *outcome,
                            uint64_t now_ns)
{
    uint64_t spans = batches->first->spans;
    uint64_t rejected = outcome->rejected < spans ? outcome->rejected : spans;

    assert(batches->under_way);
    batches->under_way = false;
    batches->not_before_ns = 0;
    if (outcome->status >= 200 && outcome->status < 300) {
        count(&batches->counts->sent, spans - rejected);
        count(&batches->counts->rejected, rejected);
        drop_first(batches);
    } else if (may_help(outcome->status) && batches->tries < WEIR_BATCH_TRIES && !batches->ending) {
        batches->not_before_ns = weir_time_add(now_ns, wait_of(batches, outcome->retry_after_ns));
    } else {
        count(&batches->counts->refused, spans);
        drop_first(batches);
    }
}

void weir_span_batches_end(struct weir_span_batches *batches)
{
    batches->ending = true;
}
