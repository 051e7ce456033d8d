/*
 * The story is read once: events become those of the call's span, and what they say of attempts is gathered
 * for the spans of these.
 *
 * An attempt ends with the first event that says so.  One without such an event was stopped with the call.
 */
#include "gateway/span/encode.h"

#include <stdbool.h>
#include <string.h>

#include <weir/call.h>
#include <weir/snapshot.h>

#include "base/slice.h"
#include "base/time.h"
#include "base/word.h"
#include "config/config.h"
#include "gateway/setup.h"
#include "gateway/span/attributes.h"
#include "gateway/span/calls.h"
#include "gateway/span/event_attributes.h"
#include "gateway/span/trace.h"
#include "gateway/story/story.h"
#include "provider/endpoint.h"
#include "provider/provider.h"
#include "wire/protobuf.h"

/* Fields of the messages. */
enum { REQUEST_RESOURCE_SPANS = 1 };
enum { RESOURCE_SPANS_RESOURCE = 1, RESOURCE_SPANS_SCOPE_SPANS = 2 };
enum { RESOURCE_ATTRIBUTES = 1 };
enum { SCOPE_SPANS_SCOPE = 1, SCOPE_SPANS_SPANS = 2 };
enum { SCOPE_NAME = 1, SCOPE_VERSION = 2 };
enum {
    SPAN_TRACE_ID = 1,
    SPAN_ID = 2,
    SPAN_STATE = 3,
    SPAN_PARENT = 4,
    SPAN_NAME = 5,
    SPAN_KIND = 6,
    SPAN_START = 7,
    SPAN_END = 8,
    SPAN_ATTRIBUTES = 9,
    SPAN_EVENTS = 11,
    SPAN_DROPPED_EVENTS = 12,
    SPAN_STATUS = 15,
    SPAN_FLAGS = 16
};
enum { EVENT_TIME = 1, EVENT_NAME = 2, EVENT_ATTRIBUTES = 3 };
enum { STATUS_MESSAGE = 2, STATUS_CODE = 3, STATUS_ERROR = 2 };
enum { KIND_SERVER = 2, KIND_CLIENT = 3 };
enum { FLAG_KNOWS_REMOTE = 0x100, FLAG_PARENT_REMOTE = 0x200 };
enum { RESPONSE_PARTIAL_SUCCESS = 1, PARTIAL_REJECTED = 1 };

enum { STATUS_OK = 200 };

struct attempt {
    uint32_t number;
    struct weir_slice group;
    struct weir_slice deployment;
    uint64_t begun_ns;
    uint64_t ended_ns; /* 0: not known */
    struct weir_slice outcome;
    bool failed;
    struct weir_failure failure;
    uint64_t prompt_tokens;
    uint64_t completion_tokens;
    struct weir_stream_facts stream;
};

struct encoding {
    const struct weir_span_call *call;
    struct weir_protobuf_writer writer;
    struct weir_access facts;
    struct weir_slice operation;
    size_t attempt_count;
    struct attempt attempts[WEIR_SPAN_ATTEMPTS_MAX]; /* in the order of their numbers */
};

/* ---- what all spans have ---- */

/* What has the same length in every span: ids, kind, times, flags. */
struct head {
    uint64_t span;
    uint64_t parent; /* 0: none */
    bool is_remote;  /* the parent is another program's */
    unsigned kind;
    uint64_t start_ns;
    uint64_t end_ns;
};

/* The key of a field whose number is below 16. */
#define KEY_OF(field, type) (char)((field) << 3 | (type))

enum { VARINT = 0, FIXED64 = 1, BYTES = 2, FIXED32 = 5, HEAD_BYTES = 80, NAME_BYTES = 1024 };

static inline char *put_id(char *p, unsigned field, const uint64_t *words, size_t count)
{
    *p++ = KEY_OF(field, BYTES);
    *p++ = (char)(count * sizeof(uint64_t));
    for (size_t i = 0; i < count; i++, p += sizeof(uint64_t))
        weir_word_store_back(p, words[i]);
    return p;
}

static inline char *put_time(char *p, unsigned field, uint64_t time_ns)
{
    *p++ = KEY_OF(field, FIXED64);
    weir_word_store(p, time_ns);
    return p + sizeof(time_ns);
}

/* The number of this field takes two bytes, and what stands behind it here has room for eight. */
static inline char *put_flags(char *p, uint32_t flags)
{
    *p++ = (char)(KEY_OF(SPAN_FLAGS & 0xf, FIXED32) | 0x80);
    *p++ = SPAN_FLAGS >> 4;
    weir_word_store(p, flags);
    return p + sizeof(flags);
}

/* At one go, since it is most of a span's fields. */
static char *put_head(const struct encoding *e, const struct head *head, char *at)
{
    const struct weir_trace_context *context = &e->call->context;
    const uint64_t trace[] = {context->trace_high, context->trace_low};

    at = put_id(at, SPAN_TRACE_ID, trace, 2);
    at = put_id(at, SPAN_ID, &head->span, 1);
    if (head->parent != 0)
        at = put_id(at, SPAN_PARENT, &head->parent, 1);
    *at++ = KEY_OF(SPAN_KIND, VARINT);
    *at++ = (char)head->kind;
    at = put_time(at, SPAN_START, head->start_ns);
    at = put_time(at, SPAN_END, head->end_ns);
    return put_flags(at, context->flags | FLAG_KNOWS_REMOTE | (head->is_remote ? FLAG_PARENT_REMOTE : 0));
}

/* "chat gpt-4o" */
static char *put_name(const struct encoding *e, struct weir_slice model, char *at)
{
    char room[WEIR_ATTRIBUTE_TEXT_MAX];
    size_t len = e->operation.len;

    model = weir_attribute_clean(model, room);
    if (model.len > 0)
        len += 1 + model.len;
    *at++ = KEY_OF(SPAN_NAME, BYTES);
    at += weir_protobuf_varint(len, at);
    at = weir_bytes_copy(at, e->operation.ptr, e->operation.len);
    if (model.len == 0)
        return at;
    *at++ = ' ';
    return weir_bytes_copy(at, model.ptr, model.len);
}

/* A span, and room for its head, its name and its attributes, which are written byte by byte; NULL after an
 * error. */
static char *begin_span(struct encoding *e, size_t *ret_mark)
{
    const size_t bytes = HEAD_BYTES + NAME_BYTES + (size_t)WEIR_ATTRIBUTES * WEIR_ATTRIBUTE_MAX;
    char *at = NULL;

    *ret_mark = weir_protobuf_open_long(&e->writer, SCOPE_SPANS_SPANS);
    if (e->call->state_len > 0)
        weir_protobuf_put_bytes(&e->writer, SPAN_STATE,
                                (struct weir_slice){e->call->state, e->call->state_len});
    if (e->writer.error == 0)
        e->writer.error = weir_buf_reserve(e->writer.buf, bytes, &at);
    return e->writer.error == 0 ? at : NULL;
}

/* What was written into the room ends here. */
static void end_room(struct encoding *e, const char *at)
{
    struct weir_buf *buf = e->writer.buf;

    weir_buf_commit(buf, (size_t)(at - (buf->ptr + buf->end)));
}

static void put_status(struct encoding *e, struct weir_slice message)
{
    char room[WEIR_ATTRIBUTE_TEXT_MAX];
    size_t mark = weir_protobuf_open(&e->writer, SPAN_STATUS);

    weir_protobuf_put_bytes(&e->writer, STATUS_MESSAGE, weir_attribute_clean(message, room));
    weir_protobuf_put_u64(&e->writer, STATUS_CODE, STATUS_ERROR);
    weir_protobuf_close(&e->writer, mark);
}

/* Each writes an attribute, if there is something to tell, and returns the place behind. */

static inline char *text(char *at, weir_attribute_id id, struct weir_slice value)
{
    return weir_attribute_put_text(at, SPAN_ATTRIBUTES, weir_attribute_key(id), value);
}

static inline char *number(char *at, weir_attribute_id id, uint64_t value)
{
    return value == 0 ? at : weir_attribute_put_u64(at, SPAN_ATTRIBUTES, weir_attribute_key(id), value);
}

static inline char *seconds(char *at, weir_attribute_id id, uint64_t value_ns)
{
    return value_ns == 0 ? at
                         : weir_attribute_put_double(at, SPAN_ATTRIBUTES, weir_attribute_key(id),
                                                     (double)value_ns / (double)WEIR_NS_PER_S);
}

/* ---- an attempt ---- */

static void end_attempt(struct attempt *attempt, const struct weir_event *event, struct weir_slice outcome)
{
    if (attempt->ended_ns != 0)
        return;
    attempt->ended_ns = event->time_ns;
    attempt->outcome = outcome;
}

static void fail_attempt(struct attempt *attempt, const struct weir_event *event,
                         const struct weir_failure *failure)
{
    bool is_stopped = failure->origin == WEIR_ORIGIN_CLIENT_GONE;

    if (attempt->ended_ns == 0 && !is_stopped) {
        attempt->failed = true;
        attempt->failure = *failure;
    }
    end_attempt(attempt, event, is_stopped ? WEIR_SLICE("stopped") : WEIR_SLICE("failed"));
}

static void succeed_attempt(struct attempt *attempt, const struct weir_event *event)
{
    end_attempt(attempt, event, WEIR_SLICE("succeeded"));
    attempt->prompt_tokens = event->u.succeeded.prompt_tokens;
    attempt->completion_tokens = event->u.succeeded.completion_tokens;
    attempt->stream = event->u.succeeded.stream;
}

/* What an event says of the attempt. */
static void hear(struct attempt *attempt, const struct weir_event *event)
{
    if (event->kind == WEIR_EVENT_FAILED)
        end_attempt(attempt, event, WEIR_SLICE("stopped"));
    if (event->attempt != attempt->number)
        return;
    if (event->kind == WEIR_EVENT_ATTEMPT_FAILED) {
        fail_attempt(attempt, event, &event->u.attempt_failed.failure);
    } else if (event->kind == WEIR_EVENT_STREAM_BROKEN) {
        fail_attempt(attempt, event, &event->u.stream_broken.failure);
        attempt->stream = event->u.stream_broken.stream;
    } else if (event->kind == WEIR_EVENT_HEDGE_LOST) {
        end_attempt(attempt, event, WEIR_SLICE("lost"));
    } else if (event->kind == WEIR_EVENT_SUCCEEDED) {
        succeed_attempt(attempt, event);
    }
}

static const struct weir_config_deployment *deployment_of(const struct encoding *e, struct weir_slice id)
{
    const weir_deployment *deployment = weir_snapshot_find_deployment(e->call->setup->snapshot, id);

    return deployment == NULL ? NULL : weir_deployment_user(deployment);
}

/* The names of the conventions, where they differ from LiteLLM's. */
static struct weir_slice provider_name(struct weir_slice name)
{
    static const struct {
        struct weir_slice ours;
        struct weir_slice theirs;
    } names[] = {
#define X(ours, theirs) {WEIR_SLICE_INIT(ours), WEIR_SLICE_INIT(theirs)},
#include "gateway/span/tbl/providers.h"
#undef X
    };

    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
        if (weir_slice_eq(name, names[i].ours))
            return names[i].theirs;
    return name;
}

/* An answer of the provider, as far as is known: other failures have a status for the caller alone. */
static uint64_t status_of(const struct attempt *attempt)
{
    const struct weir_failure *failure = &attempt->failure;

    if (!attempt->failed)
        return weir_slice_eq(attempt->outcome, WEIR_SLICE("succeeded")) ? STATUS_OK : 0;
    if (failure->origin != WEIR_ORIGIN_PROVIDER || failure->kind == WEIR_KIND_CONNECTION ||
        failure->kind == WEIR_KIND_TIMEOUT)
        return 0;
    return failure->status > 0 ? (uint64_t)failure->status : 0;
}

static char *put_where(const struct weir_config_deployment *deployment, char *at)
{
    const struct weir_endpoint *endpoint = deployment->endpoint;

    at = text(at, WEIR_ATTRIBUTE_PROVIDER, provider_name(endpoint->provider->name));
    if (!deployment->wild)
        at = text(at, WEIR_ATTRIBUTE_REQUEST_MODEL, endpoint->name);
    at = text(at, WEIR_ATTRIBUTE_SERVER_ADDRESS, endpoint->host);
    return number(at, WEIR_ATTRIBUTE_SERVER_PORT, endpoint->port);
}

static char *put_attempt_attributes(const struct encoding *e, const struct attempt *attempt,
                                    const struct weir_config_deployment *deployment, char *at)
{
    at = text(at, WEIR_ATTRIBUTE_OPERATION, e->operation);
    if (deployment != NULL)
        at = put_where(deployment, at);
    at = text(at, WEIR_ATTRIBUTE_GROUP, attempt->group);
    at = text(at, WEIR_ATTRIBUTE_DEPLOYMENT, attempt->deployment);
    at = number(at, WEIR_ATTRIBUTE_ATTEMPT, attempt->number);
    at = text(at, WEIR_ATTRIBUTE_OUTCOME, attempt->outcome);
    at = number(at, WEIR_ATTRIBUTE_STATUS_CODE, status_of(attempt));
    if (attempt->failed)
        at = text(at, WEIR_ATTRIBUTE_ERROR_TYPE, weir_kind_row(attempt->failure.kind)->name);
    at = number(at, WEIR_ATTRIBUTE_INPUT_TOKENS, attempt->prompt_tokens);
    at = number(at, WEIR_ATTRIBUTE_OUTPUT_TOKENS, attempt->completion_tokens);
    at = seconds(at, WEIR_ATTRIBUTE_FIRST_CHUNK, attempt->stream.first_content_ns);
    return seconds(at, WEIR_ATTRIBUTE_SILENCE, attempt->stream.longest_silence_ns);
}

static void put_attempt(struct encoding *e, const struct attempt *attempt)
{
    const struct weir_story *story = e->call->story;
    const struct weir_config_deployment *deployment = deployment_of(e, attempt->deployment);
    const struct head head = {.span = weir_trace_attempt_span(&e->call->context, attempt->number),
                              .parent = e->call->context.span,
                              .kind = KIND_CLIENT,
                              .start_ns = weir_story_wall(story, attempt->begun_ns),
                              .end_ns = weir_story_wall(story, attempt->ended_ns)};
    bool is_named = deployment != NULL && !deployment->wild;
    size_t mark;
    char *at = begin_span(e, &mark);

    if (at == NULL)
        return;
    at = put_head(e, &head, at);
    at = put_name(e, is_named ? deployment->endpoint->name : WEIR_SLICE_EMPTY, at);
    end_room(e, put_attempt_attributes(e, attempt, deployment, at));
    if (attempt->failed)
        put_status(e, weir_kind_row(attempt->failure.kind)->name);
    weir_protobuf_close_long(&e->writer, mark);
}

/* One that no event has ended was stopped with the call. */
static void put_attempts(struct encoding *e)
{
    uint64_t over_ns = e->call->story->begun_ns + e->facts.duration_ns;

    for (size_t i = 0; i < e->attempt_count; i++) {
        struct attempt *attempt = &e->attempts[i];

        if (attempt->ended_ns == 0) {
            attempt->ended_ns = over_ns > attempt->begun_ns ? over_ns : attempt->begun_ns;
            attempt->outcome = WEIR_SLICE("stopped");
        }
        put_attempt(e, attempt);
    }
}

/* What an event says of attempts. */
static void hear_all(struct encoding *e, const struct weir_event *event)
{
    if (event->kind == WEIR_EVENT_ATTEMPT_STARTED) {
        if (e->attempt_count < WEIR_SPAN_ATTEMPTS_MAX)
            e->attempts[e->attempt_count++] = (struct attempt){.number = event->attempt,
                                                               .group = event->group,
                                                               .deployment = event->deployment,
                                                               .begun_ns = event->time_ns};
        return;
    }
    for (size_t i = e->attempt_count; i > 0; i--)
        if (event->kind == WEIR_EVENT_FAILED || e->attempts[i - 1].number == event->attempt)
            hear(&e->attempts[i - 1], event);
}

/* ---- the call ---- */

/* What the spans of attempts tell already, and the pick, which would be most of the bytes. */
static bool is_told_elsewhere(weir_event_kind kind)
{
    return kind == WEIR_EVENT_PICKED || kind == WEIR_EVENT_ATTEMPT_STARTED ||
           kind == WEIR_EVENT_ATTEMPT_FAILED || kind == WEIR_EVENT_SUCCEEDED || kind == WEIR_EVENT_FAILED;
}

static void put_event(struct encoding *e, const struct weir_event *event)
{
    struct weir_protobuf_writer *writer = &e->writer;
    size_t mark = weir_protobuf_open(writer, SPAN_EVENTS);

    weir_protobuf_put_fixed64(writer, EVENT_TIME, weir_story_wall(e->call->story, event->time_ns));
    weir_protobuf_put_bytes(writer, EVENT_NAME, weir_event_name(event->kind));
    weir_event_attributes(writer, EVENT_ATTRIBUTES, event);
    weir_protobuf_close(writer, mark);
}

static void put_events(struct encoding *e)
{
    struct weir_story_reader reader;
    uint64_t omitted = e->call->story->events_lost;
    struct weir_event event;
    size_t count = 0;

    weir_story_read(e->call->story, &reader);
    while (weir_story_next(&reader, &event)) {
        hear_all(e, &event);
        if (is_told_elsewhere(event.kind))
            continue;
        if (count++ < WEIR_SPAN_EVENTS_MAX)
            put_event(e, &event);
        else
            omitted++;
    }
    if (omitted > 0)
        weir_protobuf_put_u64(&e->writer, SPAN_DROPPED_EVENTS, omitted);
}

static char *put_call_attributes(const struct encoding *e, char *at)
{
    const struct weir_access *facts = &e->facts;
    const struct weir_story *story = e->call->story;

    at = text(at, WEIR_ATTRIBUTE_OPERATION, e->operation);
    at = text(at, WEIR_ATTRIBUTE_REQUEST_MODEL, facts->model);
    if (facts->stream)
        at = weir_attribute_put_flag(at, SPAN_ATTRIBUTES, weir_attribute_key(WEIR_ATTRIBUTE_REQUEST_STREAM),
                                     true);
    at = weir_attribute_put_texts(at, SPAN_ATTRIBUTES, weir_attribute_key(WEIR_ATTRIBUTE_FINISH_REASONS),
                                  facts->finish);
    at = number(at, WEIR_ATTRIBUTE_INPUT_TOKENS, facts->prompt_tokens);
    at = number(at, WEIR_ATTRIBUTE_OUTPUT_TOKENS, facts->completion_tokens);
    at = seconds(at, WEIR_ATTRIBUTE_FIRST_CHUNK, facts->first_ns);
    at = number(at, WEIR_ATTRIBUTE_STATUS_CODE, facts->status);
    at = text(at, WEIR_ATTRIBUTE_CALL_ID, weir_story_call_id(story));
    at = text(at, WEIR_ATTRIBUTE_STATE, weir_call_state_name(story->state));
    at = text(at, WEIR_ATTRIBUTE_GROUP, facts->group);
    at = text(at, WEIR_ATTRIBUTE_DEPLOYMENT, facts->deployment);
    at = weir_attribute_put_u64(at, SPAN_ATTRIBUTES, weir_attribute_key(WEIR_ATTRIBUTE_ATTEMPTS),
                                facts->attempts);
    at = number(at, WEIR_ATTRIBUTE_RETRIES, facts->retries);
    at = number(at, WEIR_ATTRIBUTE_FALLBACKS, facts->fallbacks);
    at = text(at, WEIR_ATTRIBUTE_RECOVERY, facts->recovery);
    at = text(at, WEIR_ATTRIBUTE_END, facts->end);
    at = seconds(at, WEIR_ATTRIBUTE_QUEUED, facts->queued_ns);
    if (facts->cost > 0)
        at = weir_attribute_put_double(at, SPAN_ATTRIBUTES, weir_attribute_key(WEIR_ATTRIBUTE_COST),
                                       (double)facts->cost / 1e12);
    return at;
}

/* A word for what went wrong: the kind, or how the answer ended. */
static struct weir_slice error_of(const struct weir_access *facts)
{
    if (facts->kind.len > 0)
        return facts->kind;
    return facts->end.len > 0 ? facts->end : WEIR_SLICE("refused");
}

static void put_call(struct encoding *e)
{
    const struct weir_story *story = e->call->story;
    const struct head head = {.span = e->call->context.span,
                              .parent = e->call->parent,
                              .is_remote = e->call->parent != 0,
                              .kind = KIND_SERVER,
                              .start_ns = story->wall_ns,
                              .end_ns = story->wall_ns + e->facts.duration_ns};
    size_t mark;
    char *at = begin_span(e, &mark);

    if (at == NULL)
        return;
    at = put_head(e, &head, at);
    at = put_name(e, e->facts.model, at);
    at = put_call_attributes(e, at);
    if (story->state == WEIR_CALL_FAILED)
        at = text(at, WEIR_ATTRIBUTE_ERROR_TYPE, error_of(&e->facts));
    end_room(e, at);
    if (story->state == WEIR_CALL_FAILED)
        put_status(e, error_of(&e->facts));
    put_events(e);
    weir_protobuf_close_long(&e->writer, mark);
}

/* The names of the conventions. */
static struct weir_slice operation_of(struct weir_slice route)
{
    return weir_slice_eq(route, WEIR_SLICE("completions")) ? WEIR_SLICE("text_completion") : route;
}

int weir_span_encode(const struct weir_span_call *call, struct weir_buf *buf, uint32_t *ret_spans)
{
    struct encoding e;
    int r;

    e.call = call;
    e.attempt_count = 0;
    weir_protobuf_init(&e.writer, buf);
    weir_story_facts(call->story, &e.facts);
    e.operation = operation_of(e.facts.route);
    put_call(&e);
    put_attempts(&e);
    r = weir_protobuf_end(&e.writer);
    if (r == 0)
        *ret_spans = 1 + (uint32_t)e.attempt_count;
    return r;
}

/* ---- a request ---- */

static void put_resource(struct weir_protobuf_writer *writer, const struct weir_config_otlp *otlp)
{
    size_t mark = weir_protobuf_open(writer, RESOURCE_SPANS_RESOURCE);
    char room[WEIR_ATTRIBUTE_KEY_MAX];

    weir_attribute_text(writer, RESOURCE_ATTRIBUTES, weir_attribute_key(WEIR_ATTRIBUTE_SERVICE_NAME),
                        otlp->service);
    weir_attribute_text(writer, RESOURCE_ATTRIBUTES, weir_attribute_key(WEIR_ATTRIBUTE_SERVICE_VERSION),
                        WEIR_SLICE(WEIR_VERSION));
    for (size_t i = 0; i < otlp->attribute_count; i++)
        weir_attribute_text(writer, RESOURCE_ATTRIBUTES,
                            weir_attribute_key_of(WEIR_SLICE_EMPTY, otlp->attributes[i].name, room),
                            otlp->attributes[i].value);
    weir_protobuf_close(writer, mark);
}

static void put_scope(struct weir_protobuf_writer *writer)
{
    size_t mark = weir_protobuf_open(writer, SCOPE_SPANS_SCOPE);

    weir_protobuf_put_bytes(writer, SCOPE_NAME, WEIR_SLICE("weir"));
    weir_protobuf_put_bytes(writer, SCOPE_VERSION, WEIR_SLICE(WEIR_VERSION));
    weir_protobuf_close(writer, mark);
}

int weir_span_request(const struct weir_config_otlp *otlp, size_t spans_bytes, struct weir_buf *buf)
{
    struct weir_protobuf_writer writer;
    size_t resource_spans, scope_spans;

    weir_protobuf_init(&writer, buf);
    resource_spans = weir_protobuf_open(&writer, REQUEST_RESOURCE_SPANS);
    put_resource(&writer, otlp);
    scope_spans = weir_protobuf_open(&writer, RESOURCE_SPANS_SCOPE_SPANS);
    put_scope(&writer);
    weir_protobuf_close_around(&writer, scope_spans, spans_bytes);
    weir_protobuf_close_around(&writer, resource_spans, spans_bytes);
    return weir_protobuf_end(&writer);
}

uint64_t weir_span_rejected(struct weir_slice answer)
{
    struct weir_protobuf_field field;
    uint64_t rejected = 0;

    while (weir_protobuf_next(&answer, &field) == 0) {
        struct weir_slice partial = field.bytes;

        if (field.number != RESPONSE_PARTIAL_SUCCESS || !field.is_bytes)
            continue;
        while (weir_protobuf_next(&partial, &field) == 0)
            if (field.number == PARTIAL_REJECTED && !field.is_bytes && field.value <= INT64_MAX)
                rejected = field.value;
    }
    return rejected;
}
