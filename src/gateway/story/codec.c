/*
 * Numbers are written seven bits a byte, low ones first; a byte with its highest bit set is not the last.
 *
 * A text is a number and perhaps bytes: 0 is the empty one; an odd number is twice a length, and the bytes
 * follow; any other is twice the place of a text that stands already, counted from 1, so that it is never 0.
 * Texts are told apart by where they come from: what events name lives as long as the call does.
 *
 * An event: its kind, the time since the call began, attempt, group, deployment, and the fields of the table.
 * The facts: a number with a bit for each member that is not zero, and those members in their order.
 */
#include "gateway/story/codec.h"

#include <assert.h>
#include <string.h>

#include "base/slice.h"
#include "base/time.h"
#include "gateway/story/event_fields.h"

enum { NUMBER_MAX = 10 };

/* ---- writing ---- */

void weir_story_pen_init(struct weir_story_pen *ret_pen, char *bytes, size_t cap)
{
    /* Member by member: what is known needs no zeroes. */
    ret_pen->bytes = bytes;
    ret_pen->len = 0;
    ret_pen->cap = (uint32_t)cap;
    ret_pen->full = false;
    ret_pen->known_count = 0;
}

void weir_story_pen_move(struct weir_story_pen *pen, char *bytes, size_t cap)
{
    pen->bytes = bytes;
    pen->cap = (uint32_t)cap;
    pen->full = false;
}

static void put_u64(struct weir_story_pen *pen, uint64_t number)
{
    if (pen->cap - pen->len < NUMBER_MAX) {
        pen->full = true;
        return;
    }
    for (; number >= 0x80; number >>= 7)
        pen->bytes[pen->len++] = (char)(number | 0x80);
    pen->bytes[pen->len++] = (char)number;
}

static void put_i32(struct weir_story_pen *pen, int32_t number)
{
    put_u64(pen, (uint32_t)number << 1 ^ (number < 0 ? UINT32_MAX : 0));
}

static void put_new_text(struct weir_story_pen *pen, struct weir_slice text)
{
    uint32_t at = pen->len;
    size_t len = text.len < WEIR_STORY_TEXT_MAX ? text.len : WEIR_STORY_TEXT_MAX;

    put_u64(pen, len << 1 | 1);
    if (pen->full || pen->cap - pen->len < len) {
        pen->full = true;
        return;
    }
    memcpy(pen->bytes + pen->len, text.ptr, len);
    pen->len += (uint32_t)len;
    if (pen->known_count < WEIR_STORY_TEXTS_KNOWN)
        pen->known[pen->known_count++] = (struct weir_story_text){text.ptr, (uint32_t)text.len, at};
}

static void put_text(struct weir_story_pen *pen, struct weir_slice text)
{
    if (text.len == 0) {
        put_u64(pen, 0);
        return;
    }
    for (uint32_t i = 0; i < pen->known_count; i++)
        if (pen->known[i].ptr == text.ptr && pen->known[i].len == text.len) {
            put_u64(pen, ((uint64_t)pen->known[i].at + 1) << 1);
            return;
        }
    put_new_text(pen, text);
}

static void put_failure(struct weir_story_pen *pen, const struct weir_failure *failure)
{
    put_u64(pen, failure->kind);
    put_i32(pen, failure->status);
    put_u64(pen, failure->retry_after_ns);
    put_u64(pen, failure->origin);
}

static void put_stream(struct weir_story_pen *pen, const struct weir_stream_facts *stream)
{
    bool any = stream->chunks > 0 || stream->deltas > 0 || stream->longest_silence_ns > 0;

    put_u64(pen, any);
    if (!any)
        return;
    put_u64(pen, stream->first_chunk_ns);
    put_u64(pen, stream->first_content_ns);
    put_u64(pen, stream->longest_silence_ns);
    put_u64(pen, stream->chunks);
    put_u64(pen, stream->deltas);
}

static uint64_t since(uint64_t time_ns, uint64_t begun_ns)
{
    return time_ns > begun_ns ? time_ns - begun_ns : 0;
}

static void put_candidates(struct weir_story_pen *pen, const struct weir_event *event, uint64_t begun_ns)
{
    uint32_t count = event->u.picked.count;

    if (count > WEIR_STORY_CANDIDATES_MAX)
        count = WEIR_STORY_CANDIDATES_MAX;
    put_u64(pen, count);
    put_u64(pen, event->u.picked.omitted + (event->u.picked.count - count));
    for (uint32_t i = 0; i < count; i++) {
        const struct weir_candidate *candidate = &event->u.picked.candidates[i];

        put_text(pen, candidate->deployment);
        put_u64(pen, candidate->fate);
        put_u64(pen, candidate->until_ns == 0 ? 0 : since(candidate->until_ns, begun_ns) + 1);
    }
}

static void put_field(struct weir_story_pen *pen, const struct weir_event_field *field,
                      const struct weir_event *event, uint64_t begun_ns)
{
    const void *value = (const char *)event + field->offset;

    switch (field->type) {
    case WEIR_FIELD_U32:
        put_u64(pen, *(const uint32_t *)value);
        return;
    case WEIR_FIELD_U64:
    case WEIR_FIELD_MS:
    case WEIR_FIELD_S:
        put_u64(pen, *(const uint64_t *)value);
        return;
    case WEIR_FIELD_TIME:
        put_u64(pen, since(*(const uint64_t *)value, begun_ns));
        return;
    case WEIR_FIELD_FLAG:
        put_u64(pen, *(const bool *)value);
        return;
    case WEIR_FIELD_TEXT:
        put_text(pen, *(const struct weir_slice *)value);
        return;
    case WEIR_FIELD_ORDER:
        put_i32(pen, *(const int32_t *)value);
        return;
    case WEIR_FIELD_FAILURE:
        put_failure(pen, value);
        return;
    case WEIR_FIELD_STREAM:
        put_stream(pen, value);
        return;
    case WEIR_FIELD_HOP:
        put_u64(pen, *(const weir_hop_kind *)value);
        return;
    case WEIR_FIELD_REFUSED:
        put_u64(pen, *(const weir_refused *)value);
        return;
    case WEIR_FIELD_RULE:
        put_u64(pen, *(const weir_cooldown_rule *)value);
        return;
    case WEIR_FIELD_PURPOSE:
        put_u64(pen, *(const weir_pick_purpose *)value);
        return;
    case WEIR_FIELD_CANDIDATES:
        put_candidates(pen, event, begun_ns);
        return;
    case WEIR_FIELD_END:
        return;
    }
}

/* 0, or the pen goes back to where it was. */
static int settle(struct weir_story_pen *pen, uint32_t len, uint32_t known_count)
{
    if (!pen->full)
        return 0;
    pen->full = false;
    pen->len = len;
    pen->known_count = known_count;
    return WEIR_STORY_FULL;
}

int weir_story_put_event(struct weir_story_pen *pen, const struct weir_event *event, uint64_t begun_ns)
{
    uint32_t len = pen->len, known_count = pen->known_count;

    put_u64(pen, event->kind);
    put_u64(pen, since(event->time_ns, begun_ns));
    put_u64(pen, event->attempt);
    put_text(pen, event->group);
    put_text(pen, event->deployment);
    for (const struct weir_event_field *f = weir_event_fields(event->kind); f->type != WEIR_FIELD_END; f++)
        put_field(pen, f, event, begun_ns);
    return settle(pen, len, known_count);
}

/* A bit for each member of struct weir_access. */
enum {
#define WEIR_ACCESS_TEXT(member, prose)     FACT_##member,
#define WEIR_ACCESS_COUNT(member, prose)    FACT_##member,
#define WEIR_ACCESS_MAYBE(member, prose)    FACT_##member,
#define WEIR_ACCESS_NS(member, name, prose) FACT_##member,
#define WEIR_ACCESS_FLAG(member, prose)     FACT_##member,
#define WEIR_ACCESS_COST(member, prose)     FACT_##member,
#include "gateway/log/tbl/access_fields.h"
    FACTS
};
_Static_assert(FACTS <= 64, "the facts that there are stand in one number");

static uint64_t facts_there(const struct weir_access *access)
{
    uint64_t there = 0;

#define THERE(member, is)                   there |= (uint64_t)(is) << FACT_##member;
#define WEIR_ACCESS_TEXT(member, prose)     THERE(member, access->member.len > 0)
#define WEIR_ACCESS_COUNT(member, prose)    THERE(member, access->member != 0)
#define WEIR_ACCESS_MAYBE(member, prose)    THERE(member, access->member != 0)
#define WEIR_ACCESS_NS(member, name, prose) THERE(member, access->member != 0)
#define WEIR_ACCESS_FLAG(member, prose)     THERE(member, access->member)
#define WEIR_ACCESS_COST(member, prose)     THERE(member, access->member != 0)
#include "gateway/log/tbl/access_fields.h"
#undef THERE
    return there & ~(UINT64_C(1) << FACT_call_id);
}

int weir_story_put_facts(struct weir_story_pen *pen, const struct weir_access *access)
{
    uint32_t len = pen->len, known_count = pen->known_count;
    uint64_t there = facts_there(access);

    put_u64(pen, there);
#define IS(member) (there >> FACT_##member & 1)
#define WEIR_ACCESS_TEXT(member, prose)                                                                      \
    if (IS(member))                                                                                          \
        put_text(pen, access->member);
#define NUMBER(member)                                                                                       \
    if (IS(member))                                                                                          \
        put_u64(pen, access->member);
#define WEIR_ACCESS_COUNT(member, prose)    NUMBER(member)
#define WEIR_ACCESS_MAYBE(member, prose)    NUMBER(member)
#define WEIR_ACCESS_NS(member, name, prose) NUMBER(member)
#define WEIR_ACCESS_FLAG(member, prose)     /* the bit says it */
#define WEIR_ACCESS_COST(member, prose)     NUMBER(member)
#include "gateway/log/tbl/access_fields.h"
#undef NUMBER
#undef IS
    return settle(pen, len, known_count);
}

/* ---- reading ---- */

static uint64_t number_at(const struct weir_story_reader *reader, size_t *at)
{
    uint64_t number = 0;

    for (unsigned shift = 0; *at < reader->end && shift < 64; shift += 7) {
        uint64_t byte = (unsigned char)reader->bytes[(*at)++];

        number |= (byte & 0x7f) << shift;
        if (byte < 0x80)
            break;
    }
    return number;
}

static uint64_t take_u64(struct weir_story_reader *reader)
{
    return number_at(reader, &reader->at);
}

static int32_t take_i32(struct weir_story_reader *reader)
{
    uint32_t number = (uint32_t)take_u64(reader);

    return (int32_t)(number >> 1 ^ (0 - (number & 1)));
}

/* The text whose bytes follow its number. */
static struct weir_slice text_at(const struct weir_story_reader *reader, size_t *at)
{
    size_t len = (size_t)(number_at(reader, at) >> 1);
    struct weir_slice text = {reader->bytes + *at, len};

    assert(len <= reader->end - *at);
    *at += len;
    return text;
}

static struct weir_slice take_text(struct weir_story_reader *reader)
{
    size_t at = reader->at;
    uint64_t number = number_at(reader, &at);

    if (number & 1)
        return text_at(reader, &reader->at);
    reader->at = at;
    if (number == 0)
        return WEIR_SLICE_EMPTY;
    at = (size_t)(number >> 1) - 1;
    return text_at(reader, &at);
}

static void take_failure(struct weir_story_reader *reader, struct weir_failure *ret_failure)
{
    ret_failure->kind = (weir_kind)take_u64(reader);
    ret_failure->status = take_i32(reader);
    ret_failure->retry_after_ns = take_u64(reader);
    ret_failure->origin = (weir_origin)take_u64(reader);
}

static void take_stream(struct weir_story_reader *reader, struct weir_stream_facts *ret_stream)
{
    if (take_u64(reader) == 0)
        return;
    ret_stream->first_chunk_ns = take_u64(reader);
    ret_stream->first_content_ns = take_u64(reader);
    ret_stream->longest_silence_ns = take_u64(reader);
    ret_stream->chunks = (uint32_t)take_u64(reader);
    ret_stream->deltas = (uint32_t)take_u64(reader);
}

static void take_candidates(struct weir_story_reader *reader, struct weir_event *event)
{
    event->u.picked.count = (uint32_t)take_u64(reader);
    event->u.picked.omitted = (uint32_t)take_u64(reader);
    event->u.picked.candidates = reader->candidates;
    for (uint32_t i = 0; i < event->u.picked.count; i++) {
        struct weir_candidate *candidate = &reader->candidates[i];
        uint64_t until;

        candidate->deployment = take_text(reader);
        candidate->fate = (weir_fate)take_u64(reader);
        until = take_u64(reader);
        candidate->until_ns = until == 0 ? 0 : weir_time_add(reader->begun_ns, until - 1);
    }
}

static void take_field(struct weir_story_reader *reader, const struct weir_event_field *field,
                       struct weir_event *event)
{
    void *ret_value = (char *)event + field->offset;

    switch (field->type) {
    case WEIR_FIELD_U32:
        *(uint32_t *)ret_value = (uint32_t)take_u64(reader);
        return;
    case WEIR_FIELD_U64:
    case WEIR_FIELD_MS:
    case WEIR_FIELD_S:
        *(uint64_t *)ret_value = take_u64(reader);
        return;
    case WEIR_FIELD_TIME:
        *(uint64_t *)ret_value = weir_time_add(reader->begun_ns, take_u64(reader));
        return;
    case WEIR_FIELD_FLAG:
        *(bool *)ret_value = take_u64(reader) != 0;
        return;
    case WEIR_FIELD_TEXT:
        *(struct weir_slice *)ret_value = take_text(reader);
        return;
    case WEIR_FIELD_ORDER:
        *(int32_t *)ret_value = take_i32(reader);
        return;
    case WEIR_FIELD_FAILURE:
        take_failure(reader, ret_value);
        return;
    case WEIR_FIELD_STREAM:
        take_stream(reader, ret_value);
        return;
    case WEIR_FIELD_HOP:
        *(weir_hop_kind *)ret_value = (weir_hop_kind)take_u64(reader);
        return;
    case WEIR_FIELD_REFUSED:
        *(weir_refused *)ret_value = (weir_refused)take_u64(reader);
        return;
    case WEIR_FIELD_RULE:
        *(weir_cooldown_rule *)ret_value = (weir_cooldown_rule)take_u64(reader);
        return;
    case WEIR_FIELD_PURPOSE:
        *(weir_pick_purpose *)ret_value = (weir_pick_purpose)take_u64(reader);
        return;
    case WEIR_FIELD_CANDIDATES:
        take_candidates(reader, event);
        return;
    case WEIR_FIELD_END:
        return;
    }
}

bool weir_story_take_event(struct weir_story_reader *reader, struct weir_event *ret_event)
{
    struct weir_event event;

    if (reader->at >= reader->end)
        return false;
    event = (struct weir_event){.kind = (weir_event_kind)take_u64(reader)};
    event.time_ns = weir_time_add(reader->begun_ns, take_u64(reader));
    event.attempt = (uint32_t)take_u64(reader);
    event.group = take_text(reader);
    event.deployment = take_text(reader);
    for (const struct weir_event_field *f = weir_event_fields(event.kind); f->type != WEIR_FIELD_END; f++)
        take_field(reader, f, &event);
    *ret_event = event;
    return true;
}

void weir_story_take_facts(struct weir_story_reader *reader, struct weir_access *ret_access)
{
    struct weir_access access = {.status = 0};
    uint64_t there = take_u64(reader);

#define IS(member) (there >> FACT_##member & 1)
#define WEIR_ACCESS_TEXT(member, prose)                                                                      \
    if (IS(member))                                                                                          \
        access.member = take_text(reader);
#define NUMBER(member)                                                                                       \
    if (IS(member))                                                                                          \
        access.member = take_u64(reader);
#define WEIR_ACCESS_COUNT(member, prose)    NUMBER(member)
#define WEIR_ACCESS_MAYBE(member, prose)    NUMBER(member)
#define WEIR_ACCESS_NS(member, name, prose) NUMBER(member)
#define WEIR_ACCESS_FLAG(member, prose)     access.member = IS(member);
#define WEIR_ACCESS_COST(member, prose)     NUMBER(member)
#include "gateway/log/tbl/access_fields.h"
#undef NUMBER
#undef IS
    *ret_access = access;
}
