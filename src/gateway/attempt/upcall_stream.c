/*
 * Every event is read, whether it is held or passes: breaks, finish reasons and usage may come at any time.
 *
 * Before the attempt is committed events are copied to a bounded buffer; when that is full, or holds too many
 * events, what there is counts as content, since holding on would only end in a failure.  Afterwards an event
 * costs no copy: it passes as up to three slices, the middle one being the model's name as the caller is to
 * see it.  An event whose data had several lines is the exception and is written anew; so is one with lines
 * that end in a CR alone, which many clients do not know.
 */
#include "gateway/attempt/upcall_stream.h"

#include "base/slice.h"
#include "base/time.h"
#include "gateway/attempt/upcall.h"
#include "gateway/attempt/upstream.h"
#include "gateway/continuation/continued.h"
#include "gateway/deliver.h"
#include "gateway/driver.h"
#include "gateway/job.h"
#include "gateway/worker.h"
#include "wire/json_read.h"

enum { HELD_EVENTS_MAX = 200 };

#define EMPTY_LINGER_NS (5 * WEIR_NS_PER_S)

/* The bytes of one event for the client. */
struct spliced {
    struct weir_slice parts[3];
    bool whole; /* parts are on loan as long as the source's bytes; else until the next event */
};

static bool within(struct weir_slice outer, struct weir_slice inner)
{
    return inner.ptr >= outer.ptr && inner.ptr + inner.len <= outer.ptr + outer.len;
}

/* An event whose data is not a part of its bytes, written anew. */
static struct weir_slice rewrite(struct weir_upcall *upcall, const struct weir_sse_event *event,
                                 const struct weir_json_value *model)
{
    struct weir_buf *scratch = &upcall->job->worker->scratch;
    size_t before = (size_t)(model->text.ptr - event->data.ptr);
    const struct weir_slice parts[] = {
        weir_slice_sub(event->data, 0, before), upcall->reported,
        weir_slice_sub(event->data, before + model->text.len, event->data.len)};

    weir_buf_clear(scratch);
    if (weir_sse_write_json(scratch, parts, sizeof(parts) / sizeof(parts[0])) < 0)
        return event->raw;
    return weir_buf_slice(scratch);
}

/* Ends lines with LF that end in a CR alone. */
static void use_line_feeds(struct weir_upcall *upcall, struct spliced *out)
{
    struct weir_buf *scratch = &upcall->job->worker->scratch;
    char *at;

    if (out->parts[0].ptr == scratch->ptr) /* written anew */
        return;
    weir_buf_clear(scratch);
    if (weir_buf_append_all(scratch, out->parts, 3) < 0)
        return;
    at = scratch->ptr;
    *out = (struct spliced){.parts = {weir_buf_slice(scratch)}};
    for (size_t i = 0; i < out->parts[0].len; i++)
        if (at[i] == '\r' && (i + 1 == out->parts[0].len || at[i + 1] != '\n'))
            at[i] = '\n';
}

static struct spliced splice(struct weir_upcall *upcall, const struct weir_sse_event *event,
                             const struct weir_json_value *model, struct weir_slice input)
{
    struct spliced out = {.parts = {event->raw}, .whole = within(input, event->raw)};
    size_t before;

    if (model->type != WEIR_JSON_STRING || weir_slice_eq(model->text, upcall->reported))
        return out;
    if (!within(event->raw, model->text)) {
        out.parts[0] = rewrite(upcall, event, model);
        out.whole = false;
        return out;
    }
    before = (size_t)(model->text.ptr - event->raw.ptr);
    out.parts[0] = weir_slice_sub(event->raw, 0, before);
    out.parts[1] = upcall->reported;
    out.parts[2] = weir_slice_sub(event->raw, before + model->text.len, event->raw.len);
    return out;
}

/* Room is left, or the commit window ends. */
static void hold(struct weir_upcall *upcall, const struct spliced *out)
{
    if (!upcall->has_content && upcall->held_events++ == HELD_EVENTS_MAX)
        weir_driver_on_chunk(upcall, &(struct weir_stream_chunk){.full = true});
    else if (weir_buf_append_all(&upcall->held, out->parts, 3) < 0)
        weir_driver_on_chunk(upcall, &(struct weir_stream_chunk){.full = true});
}

static void pass(struct weir_upcall *upcall, const struct spliced *out)
{
    for (size_t i = 0; i < 3; i++)
        weir_deliver_add(upcall->job, out->parts[i]);
    if (!out->whole)
        weir_deliver_flush(upcall->job);
}

/* The prompts of a completion: one, or a list of them where it is not one of tokens. */
static uint64_t count_prompts(const struct weir_json_value *prompt)
{
    struct weir_json_cursor cursor;
    struct weir_json_item item;
    uint64_t count = 0;

    if (prompt->type != WEIR_JSON_ARRAY || weir_json_enter(&cursor, prompt->text, WEIR_JSON_DEPTH_MAX) != 0)
        return 1;
    while (weir_json_next(&cursor, &item) == WEIR_JSON_ITEM)
        if (item.value.type != WEIR_JSON_NUMBER)
            count++;
    return count == 0 ? 1 : count;
}

/* The choices that the request wants; as many as it likes when their number is beyond counting. */
static uint64_t choices_of(const struct weir_asked *asked)
{
    uint64_t each = 1, prompts = 1, choices;

    for (size_t i = 0; i < asked->member_count; i++)
        if (weir_json_key_is(&asked->members[i], WEIR_SLICE("n")))
            (void)!weir_json_u64(&asked->members[i].value, &each);
        else if (weir_json_key_is(&asked->members[i], WEIR_SLICE("prompt")))
            prompts = count_prompts(&asked->members[i].value);
    return __builtin_mul_overflow(each, prompts, &choices) ? UINT64_MAX : choices;
}

static void begin_so_far(const struct weir_upcall *upcall, struct weir_so_far *so_far)
{
    weir_so_far_begin(so_far, upcall->number, upcall->may_be_continued);
    weir_so_far_note_speaker(so_far, upcall->upstream->id);
}

/*
 * What the caller has of the answer.  Of attempts that race each speaks for itself until one has content,
 * which ends the race: whoever speaks begins anew, and what it loses are chunks without content.
 */
static struct weir_so_far *so_far_of(struct weir_upcall *upcall)
{
    struct weir_so_far *so_far = &upcall->job->so_far;

    if (so_far->attempt != upcall->number)
        begin_so_far(upcall, so_far);
    return so_far;
}

static void take_facts(struct weir_upcall *upcall, const struct weir_sse_event *event,
                       const struct weir_chunk *facts)
{
    struct weir_so_far *so_far = so_far_of(upcall);

    upcall->has_content |= facts->deltas > 0;
    upcall->content_filtered |= facts->content_filtered;
    if (facts->usage.told)
        upcall->usage = facts->usage;
    if (facts->usage.told && so_far->keeps)
        weir_so_far_note_usage(so_far, event->data, &facts->usage, weir_cost_of(upcall, &facts->usage));
    upcall->ended |= facts->ended;
    upcall->spoken |= facts->spoken;
    if (facts->ended != 0 && upcall->finish.len == 0)
        upcall->finish = weir_arena_copy(&upcall->job->arena, facts->finish);
}

/*
 * From its finish reason on the engine gives a stream a few seconds more and takes no failure of it.  Not yet
 * while another choice goes on, nor while a count of tokens may show that an empty answer is one: then the
 * end is waited for here.
 */
static bool is_complete(struct weir_upcall *upcall)
{
    if (upcall->refuses_empty && !upcall->has_content) {
        weir_loop_arm(upcall->job->worker->loop, &upcall->linger,
                      weir_job_now(upcall->job) + EMPTY_LINGER_NS);
        return false;
    }
    if (upcall->wanted == 0)
        upcall->wanted = choices_of(&upcall->job->asked);
    upcall->complete = (uint64_t)__builtin_popcountll(upcall->ended) >= upcall->wanted;
    return upcall->complete;
}

/* What the text of a chunk is for an answer that may have to be carried on.  0 or negative: no memory. */
static int count_text(struct weir_upcall *upcall, const struct weir_chunk *facts,
                      struct weir_stream_chunk *chunk)
{
    struct weir_so_far *so_far = so_far_of(upcall);
    size_t bytes = 0;
    int r;

    if (chunk->other && so_far->keeps)
        weir_so_far_stop(so_far);
    r = upcall->continued != NULL ? weir_continued_take(upcall->continued, facts, &bytes)
                                  : weir_so_far_take(so_far, facts, &bytes);
    chunk->text_bytes = (uint32_t)bytes;
    chunk->other |= r == WEIR_SO_FAR_LOST;
    return r < 0 ? r : 0;
}

static void tell_chunk(struct weir_upcall *upcall, const struct weir_chunk *facts)
{
    struct weir_stream_chunk chunk = {.deltas = facts->deltas,
                                      .other = facts->chunk_class == WEIR_CHUNK_OTHER,
                                      .finish = facts->ended != 0 && is_complete(upcall)};

    if (count_text(upcall, facts, &chunk) < 0)
        weir_upcall_fail_here(upcall);
    else
        weir_driver_on_chunk(upcall, &chunk);
}

/* Keeps what it takes to carry the answer on. */
static void keep(struct weir_upcall *upcall, const struct weir_sse_event *event,
                 const struct weir_chunk *facts)
{
    struct weir_so_far *so_far = so_far_of(upcall);

    if (!so_far->keeps || facts->text.text.len == 0)
        return;
    if (!so_far->named)
        weir_so_far_note_names(so_far, event->data, upcall->reported, &upcall->job->arena);
    weir_so_far_add_encoded(so_far, weir_json_inside(&facts->text));
    so_far->deltas++;
}

/* 0 or negative: no memory. */
static int write_event(struct weir_upcall *upcall, const struct weir_sse_event *event,
                       const struct weir_chunk *facts, struct weir_slice input, struct spliced *ret_out)
{
    *ret_out = (struct spliced){.whole = false};
    if (upcall->continued != NULL)
        return weir_continued_write(upcall->continued, event, facts, &ret_out->parts[0]);
    keep(upcall, event, facts);
    *ret_out = splice(upcall, event, &facts->model, input);
    return 0;
}

static void forward(struct weir_upcall *upcall, const struct weir_sse_event *event,
                    const struct weir_chunk *facts, struct weir_slice input)
{
    struct spliced out;

    if (upcall->told)
        return;
    if (write_event(upcall, event, facts, input, &out) < 0) {
        weir_upcall_fail_here(upcall);
        return;
    }
    if (event->lone_cr)
        use_line_feeds(upcall, &out);
    if (!upcall->committed)
        hold(upcall, &out);
    if (upcall->committed && !upcall->told)
        pass(upcall, &out);
}

/* The marker goes no further: the client gets one of weir's own.  But an LF in front of it belongs to the
 * event before it. */
static void read_end_marker(struct weir_upcall *upcall, const struct weir_sse_event *event,
                            const struct weir_chunk *facts, struct weir_slice input)
{
    bool has_line_end = event->raw.len > 0 && event->raw.ptr[0] == '\n';
    const struct weir_sse_event line_end = {.raw = weir_slice_sub(event->raw, 0, has_line_end ? 1 : 0)};

    forward(upcall, &line_end, facts, input);
    /* Without a finish reason it is an end only if there was content (decisions 29). */
    if (upcall->has_content || (upcall->ended != 0 && !weir_upcall_is_empty(upcall)))
        weir_upcall_finish(upcall);
    else
        weir_upcall_stream_over(upcall, WEIR_MISHAP_STREAM_CUT);
}

static void read_event(struct weir_upcall *upcall, const struct weir_sse_event *event,
                       struct weir_slice input)
{
    struct weir_chunk facts;

    if (!event->has_data && event->other.len == 0 && event->name.len == 0) {
        /* A comment: the upstream's pings go on once the client has its headers (decisions 30). */
        if (upcall->committed)
            forward(upcall, event, &(struct weir_chunk){.chunk_class = WEIR_CHUNK_EMPTY}, input);
        return;
    }
    weir_read_chunk(upcall->upstream->endpoint, upcall->job->route, event, &facts);
    switch (facts.chunk_class) {
    case WEIR_CHUNK_ERROR:
        weir_upcall_fail(upcall, WEIR_MISHAP_ERROR_BODY, facts.error);
        return;
    case WEIR_CHUNK_GAVE_UP:
        weir_upcall_fail(upcall, WEIR_MISHAP_GAVE_UP, WEIR_SLICE_EMPTY);
        return;
    case WEIR_CHUNK_BAD:
        upcall->job->counts.bad_chunk = upcall->number;
        weir_upcall_fail(upcall, WEIR_MISHAP_BAD_CHUNK, event->data);
        return;
    case WEIR_CHUNK_DONE:
        read_end_marker(upcall, event, &facts, input);
        return;
    case WEIR_CHUNK_TEXT:
    case WEIR_CHUNK_OTHER:
    case WEIR_CHUNK_EMPTY:
        take_facts(upcall, event, &facts);
        tell_chunk(upcall, &facts);
        forward(upcall, event, &facts, input);
        return;
    }
}

void weir_upcall_stream_body(struct weir_upcall *upcall, struct weir_slice bytes)
{
    struct weir_slice input = bytes;
    struct weir_sse_event event;
    int r = 0;

    while (!upcall->told && (r = weir_sse_next(&upcall->sse, &input, &event)) == WEIR_SSE_EVENT)
        read_event(upcall, &event, bytes);
    if (!upcall->told && r != 0)
        weir_upcall_fail(upcall, WEIR_MISHAP_TOO_LARGE, WEIR_SLICE_EMPTY);
}

void weir_upcall_stream_over(struct weir_upcall *upcall, weir_mishap mishap)
{
    if (upcall->told)
        return;
    /* A finish reason makes a stream complete, whatever happens to its connection then (decisions 29); each
     * of its choices must have one. */
    if (upcall->ended == 0 || (upcall->spoken & ~upcall->ended) != 0)
        weir_upcall_fail(upcall, mishap, WEIR_SLICE_EMPTY);
    else if (weir_upcall_is_empty(upcall))
        weir_upcall_fail(upcall, WEIR_MISHAP_EMPTY, WEIR_SLICE_EMPTY);
    else
        weir_upcall_finish(upcall);
}

/* The event with the empty line that the stream's end has cut off. */
static void complete(struct weir_upcall *upcall, struct weir_sse_event *event)
{
    const struct weir_slice parts[] = {event->raw, WEIR_SLICE("\n\n")};
    struct weir_slice whole = weir_arena_join(&upcall->job->arena, parts, sizeof(parts) / sizeof(parts[0]));

    if (whole.len > 0)
        event->raw = whole;
}

void weir_upcall_stream_done(struct weir_upcall *upcall)
{
    struct weir_sse_event event;

    if (weir_sse_finish(&upcall->sse, &event) == WEIR_SSE_EVENT) {
        complete(upcall, &event);
        read_event(upcall, &event, WEIR_SLICE_EMPTY);
        weir_deliver_flush(upcall->job);
    }
    weir_upcall_stream_over(upcall, WEIR_MISHAP_STREAM_CUT);
}
