/*
 * Most events are an item, in their order.  An attempt is one when it ends.  Those that were stopped with the
 * call have no event for it and stand before the call's end; those that have not ended when the head goes
 * out, as the one that serves a stream, stand last.  When an attempt began is looked up in the
 * draft again, which is short: nobody pays for it who has not asked.
 */
#include "gateway/story/trace.h"

#include <stdlib.h>
#include <string.h>

#include <weir/failure.h>
#include <weir/snapshot.h>

#include "base/slice.h"
#include "base/text.h"
#include "base/time.h"

static const struct weir_slice cut_off = WEIR_SLICE_INIT("; ...");

struct trace {
    const struct weir_draft *draft;
    char *text; /* WEIR_TRACE_MAX bytes, the last of them for cut_off */
    size_t len;
    size_t whole; /* of them, that are whole items */
    bool full;
    size_t items;
};

/* ---- texts ---- */

static void put(struct trace *trace, struct weir_slice text)
{
    trace->full |= text.len > WEIR_TRACE_MAX - cut_off.len - trace->len;
    if (trace->full || text.len == 0)
        return;
    memcpy(trace->text + trace->len, text.ptr, text.len);
    trace->len += text.len;
}

/* A name; what could be taken for something else becomes "_". */
static void put_name(struct trace *trace, struct weir_slice name)
{
    size_t from = trace->len;

    put(trace, name);
    for (size_t i = from; i < trace->len; i++)
        if (trace->text[i] <= ' ' || trace->text[i] > '~' || trace->text[i] == ';')
            trace->text[i] = '_';
}

static void put_u64(struct trace *trace, uint64_t number)
{
    char digits[WEIR_TEXT_U64_MAX];

    put(trace, weir_text_u64(number, digits));
}

static void put_ms(struct trace *trace, uint64_t length_ns)
{
    put(trace, WEIR_SLICE(" "));
    put_u64(trace, length_ns / WEIR_NS_PER_MS);
    put(trace, WEIR_SLICE("ms"));
}

static void put_s(struct trace *trace, uint64_t length_ns)
{
    char digits[WEIR_TEXT_FIXED_MAX];

    put(trace, weir_text_short(length_ns / WEIR_NS_PER_MS, 3, digits));
}

static void begin(struct trace *trace, struct weir_slice word)
{
    if (!trace->full)
        trace->whole = trace->len;
    if (trace->items++ > 0)
        put(trace, WEIR_SLICE("; "));
    put(trace, word);
}

/* "GROUP/DEPLOYMENT", of an attempt. */
static void begin_at(struct trace *trace, const struct weir_event *event)
{
    begin(trace, WEIR_SLICE_EMPTY);
    put_name(trace, event->group);
    if (event->deployment.len > 0) {
        put(trace, WEIR_SLICE("/"));
        put_name(trace, event->deployment);
    }
}

static void put_failure(struct trace *trace, const struct weir_failure *failure)
{
    put(trace, WEIR_SLICE(" "));
    put_u64(trace, failure->status > 0 ? (uint64_t)failure->status : 0);
    put(trace, WEIR_SLICE(" "));
    put(trace, weir_kind_row(failure->kind)->name);
}

/* ---- events ---- */

static uint64_t began(const struct trace *trace, uint32_t attempt)
{
    struct weir_story_reader reader = weir_draft_read(trace->draft);
    struct weir_event event;

    while (weir_story_next(&reader, &event))
        if (event.kind == WEIR_EVENT_ATTEMPT_STARTED && event.attempt == attempt)
            return event.time_ns;
    return trace->draft->begun_ns;
}

static bool ends_attempt(weir_event_kind kind)
{
    return kind == WEIR_EVENT_ATTEMPT_FAILED || kind == WEIR_EVENT_HEDGE_LOST || kind == WEIR_EVENT_SUCCEEDED;
}

static void put_hop(struct trace *trace, const struct weir_event *event)
{
    switch (event->u.fallback.kind) {
    case WEIR_HOP_GROUP:
        begin(trace, WEIR_SLICE("fallback "));
        put_name(trace, event->u.fallback.target);
        return;
    case WEIR_HOP_ORDER:
        begin(trace, WEIR_SLICE("order "));
        if (event->u.fallback.order == WEIR_UNSET_ORDER)
            put(trace, WEIR_SLICE("last"));
        else if (event->u.fallback.order < 0)
            put(trace, WEIR_SLICE("-"));
        if (event->u.fallback.order != WEIR_UNSET_ORDER)
            put_u64(trace, (uint64_t)llabs(event->u.fallback.order));
        return;
    case WEIR_HOP_SIBLING:
        begin(trace, WEIR_SLICE("sibling "));
        put_name(trace, event->deployment);
        return;
    case WEIR_HOP_KINDS:
        return;
    }
}

static void put_attempt_end(struct trace *trace, const struct weir_event *event)
{
    begin_at(trace, event);
    if (event->kind == WEIR_EVENT_ATTEMPT_FAILED) {
        put_failure(trace, &event->u.attempt_failed.failure);
        put_ms(trace, event->u.attempt_failed.duration_ns);
        return;
    }
    put(trace, event->kind == WEIR_EVENT_SUCCEEDED ? WEIR_SLICE(" 200") : WEIR_SLICE(" lost"));
    put_ms(trace, event->time_ns - began(trace, event->attempt));
}

static void put_wait(struct trace *trace, uint64_t wait_ns)
{
    begin(trace, WEIR_SLICE("wait "));
    put_s(trace, wait_ns);
}

static void put_event(struct trace *trace, const struct weir_event *event)
{
    if (ends_attempt(event->kind)) {
        put_attempt_end(trace, event);
    } else if (event->kind == WEIR_EVENT_ATTEMPT_REFUSED) {
        begin_at(trace, event);
        put_failure(trace, &event->u.attempt_failed.failure);
        put(trace, WEIR_SLICE(" refused"));
    } else if (event->kind == WEIR_EVENT_COOLDOWN_SET) {
        /* Of the attempt whose failure was told just now. */
        put(trace, WEIR_SLICE(" cooldown="));
        put_s(trace, event->u.cooldown_set.length_ns);
    } else if (event->kind == WEIR_EVENT_RETRY) {
        put_wait(trace, event->u.retry.waited_ns);
    } else if (event->kind == WEIR_EVENT_COOLING_WAIT) {
        put_wait(trace, event->u.cooling_wait.wait_ns);
    } else if (event->kind == WEIR_EVENT_HEDGED) {
        begin(trace, WEIR_SLICE("hedge"));
    } else if (event->kind == WEIR_EVENT_RETRY_REFUSED) {
        begin(trace, event->u.retry_refused.what == WEIR_REFUSED_HEDGE ? WEIR_SLICE("no-hedge-budget")
                                                                       : WEIR_SLICE("no-retry-budget"));
    } else if (event->kind == WEIR_EVENT_FALLBACK) {
        put_hop(trace, event);
    } else if (event->kind == WEIR_EVENT_FAILED && event->attempt == 0) {
        begin_at(trace, event);
        put_failure(trace, &event->u.failed.failure);
    }
}

/* ---- attempts without an end ---- */

/* Whether the attempt ends in what the reader has yet to read. */
static bool has_ended(struct weir_story_reader reader, uint32_t attempt)
{
    struct weir_event event;

    while (weir_story_next(&reader, &event))
        if (ends_attempt(event.kind) && event.attempt == attempt)
            return true;
    return false;
}

/* The word is what is said of those that do not serve. */
static void put_open(struct trace *trace, uint32_t serving, struct weir_slice word, uint64_t now_ns)
{
    struct weir_story_reader reader = weir_draft_read(trace->draft);
    struct weir_event event;

    while (!trace->full && weir_story_next(&reader, &event)) {
        if (event.kind != WEIR_EVENT_ATTEMPT_STARTED || has_ended(reader, event.attempt))
            continue;
        begin_at(trace, &event);
        put(trace, event.attempt == serving ? WEIR_SLICE(" 200") : word);
        put_ms(trace, now_ns > event.time_ns ? now_ns - event.time_ns : 0);
    }
}

int weir_trace_write(const struct weir_draft *draft, uint32_t serving, uint64_t now_ns, struct weir_buf *buf)
{
    struct weir_story_reader reader = weir_draft_read(draft);
    struct trace trace = {.draft = draft};
    struct weir_event event;
    bool over = false;
    int r = weir_buf_reserve(buf, WEIR_TRACE_MAX, &trace.text);

    if (r < 0)
        return r;
    while (!trace.full && weir_story_next(&reader, &event)) {
        if (event.kind == WEIR_EVENT_FAILED)
            put_open(&trace, 0, WEIR_SLICE(" stopped"), event.time_ns);
        over |= event.kind == WEIR_EVENT_FAILED;
        put_event(&trace, &event);
    }
    if (!over)
        put_open(&trace, serving, WEIR_SLICE(" running"), now_ns);
    if (trace.full) {
        memcpy(trace.text + trace.whole, cut_off.ptr, cut_off.len);
        trace.len = trace.whole + cut_off.len;
    }
    weir_buf_commit(buf, trace.len);
    return 0;
}
