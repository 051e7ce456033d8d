/*
 * Every call pays for its story, so the writing is straight code that the compiler makes from the tables:
 * whether there is room is asked once for each event, by what it takes at most, and what is written then
 * looks at no bound.
 *
 * A number below 0xf8 is a byte.  Of others the first byte tells how many follow, 0xf8 one and 0xff eight;
 * the low ones come first.
 *
 * A text is a number and perhaps bytes: 0 is the empty one; an odd number is twice a length, and the bytes
 * follow; any other is twice the place of a text that stands already, counted from 1, so that it is never 0.
 * Texts are told apart by where they come from: what events name lives as long as the call does.  Of two that
 * have the same place in the table of known ones the later is known, and the other may be written again.
 *
 * An event: a byte with its kind, and whether group and deployment are those of the event before; the time
 * since the call began; the attempt; group and deployment if they are others; the fields of the table.  The
 * facts: a number of eight bytes with a bit for each member that is not zero, and those members in their
 * order.
 */
#include "gateway/story/codec.h"

#include <assert.h>
#include <string.h>

#include "base/slice.h"
#include "base/time.h"
#include "base/word.h"

enum { SMALL = 0xf8 };

/* Bytes that a number takes at most. */
#define NUMBER_MAX ((size_t)9)

/* Beside the kind of an event. */
enum { SAME_GROUP = 0x40, SAME_DEPLOYMENT = 0x80 };

_Static_assert((int)WEIR_EVENT_KINDS <= (int)SAME_GROUP, "a kind and two marks stand in one byte");

/* ---- writing ---- */

void weir_story_pen_init(struct weir_story_pen *ret_pen, char *bytes, size_t cap)
{
    *ret_pen = (struct weir_story_pen){.cap = (uint32_t)cap};
    ret_pen->bytes = bytes;
}

void weir_story_pen_move(struct weir_story_pen *pen, char *bytes, size_t cap)
{
    pen->bytes = bytes;
    pen->cap = (uint32_t)cap;
}

static inline bool is_same(struct weir_slice a, struct weir_slice b)
{
    return a.ptr == b.ptr && a.len == b.len;
}

static inline size_t kept_len(struct weir_slice text)
{
    return text.len < WEIR_STORY_TEXT_MAX ? text.len : WEIR_STORY_TEXT_MAX;
}

/* Each of these writes at `at`, where there is room for it, and returns the place behind. */

static inline char *put_u64(char *at, uint64_t number)
{
    unsigned bytes;

    if (number < SMALL) {
        *at = (char)number;
        return at + 1;
    }
    bytes = (unsigned)(71 - __builtin_clzll(number)) / 8;
    *at = (char)(SMALL - 1 + bytes);
    number = weir_word_load((const char *)&number);
    memcpy(at + 1, &number, sizeof(number)); /* what is too much is written over */
    return at + 1 + bytes;
}

static inline char *put_i32(char *at, int32_t number)
{
    return put_u64(at, (uint32_t)number << 1 ^ (number < 0 ? UINT32_MAX : 0));
}

/* Most names are short, and a call of memcpy costs more than they do. */
static inline char *put_bytes(char *at, const char *from, size_t len)
{
    if (len - 8 <= 8) {
        uint64_t first, last;

        memcpy(&first, from, sizeof(first));
        memcpy(&last, from + len - sizeof(last), sizeof(last));
        memcpy(at, &first, sizeof(first));
        memcpy(at + len - sizeof(last), &last, sizeof(last));
    } else {
        memcpy(at, from, len);
    }
    return at + len;
}

static char *put_text(struct weir_story_pen *pen, char *at, struct weir_slice text)
{
    struct weir_story_text *known;
    size_t place = (size_t)(((uint64_t)(uintptr_t)text.ptr * UINT64_C(0x9e3779b97f4a7c15)) >> 60);

    _Static_assert(WEIR_STORY_TEXTS_KNOWN == 1 << (64 - 60), "the product's upper bits are a place");
    if (text.len == 0) {
        *at = 0;
        return at + 1;
    }
    known = &pen->known[place];
    if (known->ptr == text.ptr && known->len == text.len)
        return put_u64(at, ((uint64_t)known->at + 1) << 1);
    *known = (struct weir_story_text){text.ptr, (uint32_t)text.len, (uint32_t)(at - pen->bytes)};
    return put_bytes(put_u64(at, kept_len(text) << 1 | 1), text.ptr, kept_len(text));
}

static char *put_failure(char *at, const struct weir_failure *failure)
{
    at = put_u64(at, failure->kind);
    at = put_i32(at, failure->status);
    at = put_u64(at, failure->retry_after_ns);
    return put_u64(at, failure->origin);
}

static char *put_stream(char *at, const struct weir_stream_facts *stream)
{
    bool any = stream->chunks > 0 || stream->deltas > 0 || stream->longest_silence_ns > 0;

    at = put_u64(at, any);
    if (!any)
        return at;
    at = put_u64(at, stream->first_chunk_ns);
    at = put_u64(at, stream->first_content_ns);
    at = put_u64(at, stream->longest_silence_ns);
    at = put_u64(at, stream->chunks);
    return put_u64(at, stream->deltas);
}

static inline uint64_t since(uint64_t time_ns, uint64_t begun_ns)
{
    return time_ns > begun_ns ? time_ns - begun_ns : 0;
}

static uint32_t kept_candidates(const struct weir_event *event)
{
    uint32_t count = event->u.picked.count;

    return count < WEIR_STORY_CANDIDATES_MAX ? count : WEIR_STORY_CANDIDATES_MAX;
}

static char *put_candidates(struct weir_story_pen *pen, char *at, const struct weir_event *event,
                            uint64_t begun_ns)
{
    uint32_t count = kept_candidates(event);

    at = put_u64(at, count);
    at = put_u64(at, event->u.picked.omitted + (event->u.picked.count - count));
    for (uint32_t i = 0; i < count; i++) {
        const struct weir_candidate *candidate = &event->u.picked.candidates[i];

        at = put_text(pen, at, candidate->deployment);
        at = put_u64(at, candidate->fate);
        at = put_u64(at, candidate->until_ns == 0 ? 0 : since(candidate->until_ns, begun_ns) + 1);
    }
    return at;
}

/* The fields of the event, by its row. */
static char *put_fields(struct weir_story_pen *pen, char *at, const struct weir_event *event,
                        uint64_t begun_ns)
{
#define U32(member, name)        at = put_u64(at, event->u.member);
#define U64(member, name)        at = put_u64(at, event->u.member);
#define MS(member, name)         at = put_u64(at, event->u.member);
#define S(member, name)          at = put_u64(at, event->u.member);
#define TIME(member, name)       at = put_u64(at, since(event->u.member, begun_ns));
#define FLAG(member, name)       at = put_u64(at, event->u.member);
#define TEXT(member, name)       at = put_text(pen, at, event->u.member);
#define ORDER(member, name)      at = put_i32(at, event->u.member);
#define FAILURE(member, name)    at = put_failure(at, &event->u.member);
#define STREAM(member, name)     at = put_stream(at, &event->u.member);
#define HOP(member, name)        at = put_u64(at, event->u.member);
#define REFUSED(member, name)    at = put_u64(at, event->u.member);
#define RULE(member, name)       at = put_u64(at, event->u.member);
#define PURPOSE(member, name)    at = put_u64(at, event->u.member);
#define CANDIDATES(member, name) at = put_candidates(pen, at, event, begun_ns);
    switch ((unsigned)event->kind) {
#define X(event, list)                                                                                       \
    case WEIR_EVENT_##event:                                                                                 \
        list return at;
#include "gateway/story/tbl/event_fields.h"
#undef X
    }
#include "gateway/story/tbl/event_fields_end.h"
    return at;
}

/* What the fields of a kind of event take at most, but for candidates. */
static const uint16_t fields_room[WEIR_EVENT_KINDS] = {
#define U32(member, name)     +NUMBER_MAX
#define U64(member, name)     +NUMBER_MAX
#define MS(member, name)      +NUMBER_MAX
#define S(member, name)       +NUMBER_MAX
#define TIME(member, name)    +NUMBER_MAX
#define FLAG(member, name)    +NUMBER_MAX
#define TEXT(member, name)    +NUMBER_MAX + WEIR_STORY_TEXT_MAX
#define ORDER(member, name)   +NUMBER_MAX
#define FAILURE(member, name) +4 * NUMBER_MAX
#define STREAM(member, name)  +6 * NUMBER_MAX
#define HOP(member, name)     +NUMBER_MAX
#define REFUSED(member, name) +NUMBER_MAX
#define RULE(member, name)    +NUMBER_MAX
#define PURPOSE(member, name) +NUMBER_MAX
#define CANDIDATES(member, name)
#define X(event, list) [WEIR_EVENT_##event] = list,
#include "gateway/story/tbl/event_fields.h"
#undef X
#include "gateway/story/tbl/event_fields_end.h"
};

static size_t candidates_room(const struct weir_event *event)
{
    size_t room = 2 * NUMBER_MAX;

    for (uint32_t i = 0; i < kept_candidates(event); i++)
        room += 3 * NUMBER_MAX + kept_len(event->u.picked.candidates[i].deployment);
    return room;
}

/* What the event takes at most. */
static inline size_t event_room(const struct weir_event *event)
{
    size_t head = 5 * NUMBER_MAX + kept_len(event->group) + kept_len(event->deployment);

    return head + fields_room[event->kind] + (event->kind == WEIR_EVENT_PICKED ? candidates_room(event) : 0);
}

int weir_story_put_event(struct weir_story_pen *pen, const struct weir_event *event, uint64_t begun_ns)
{
    bool group = is_same(event->group, pen->group);
    bool deployment = is_same(event->deployment, pen->deployment);
    char *at = pen->bytes + pen->len;

    if (event_room(event) > pen->cap - pen->len)
        return WEIR_STORY_FULL;
    *at++ = (char)(event->kind | (group ? SAME_GROUP : 0) | (deployment ? SAME_DEPLOYMENT : 0));
    at = put_u64(at, since(event->time_ns, begun_ns));
    at = put_u64(at, event->attempt);
    if (!group)
        at = put_text(pen, at, event->group);
    if (!deployment)
        at = put_text(pen, at, event->deployment);
    pen->group = event->group;
    pen->deployment = event->deployment;
    pen->len = (uint32_t)(put_fields(pen, at, event, begun_ns) - pen->bytes);
    return 0;
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

/* The id stands elsewhere, and the client's address is of no concern here. */
#define IS_KEPT(fact) ((fact) != FACT_call_id && (fact) != FACT_peer)

/* What the facts take at most. */
static size_t facts_room(const struct weir_access *access)
{
    return sizeof(uint64_t) + FACTS * NUMBER_MAX
#define WEIR_ACCESS_TEXT(member, prose) +kept_len(access->member)
#define WEIR_ACCESS_COUNT(member, prose)
#define WEIR_ACCESS_MAYBE(member, prose)
#define WEIR_ACCESS_NS(member, name, prose)
#define WEIR_ACCESS_FLAG(member, prose)
#define WEIR_ACCESS_COST(member, prose)
#include "gateway/log/tbl/access_fields.h"
        ;
}

int weir_story_put_facts(struct weir_story_pen *pen, const struct weir_access *access)
{
    char *first = pen->bytes + pen->len, *at = first + sizeof(uint64_t);
    uint64_t there = 0;

    if (pen->cap - pen->len < facts_room(access))
        return WEIR_STORY_FULL;
#define IF(is, member, put)                                                                                  \
    if (is) {                                                                                                \
        there |= UINT64_C(1) << FACT_##member;                                                               \
        put                                                                                                  \
    }
#define WEIR_ACCESS_TEXT(member, prose)                                                                      \
    IF(IS_KEPT(FACT_##member) && access->member.len > 0, member, at = put_text(pen, at, access->member);)
#define NUMBER(member)                      IF(access->member != 0, member, at = put_u64(at, access->member);)
#define WEIR_ACCESS_COUNT(member, prose)    NUMBER(member)
#define WEIR_ACCESS_MAYBE(member, prose)    NUMBER(member)
#define WEIR_ACCESS_NS(member, name, prose) NUMBER(member)
#define WEIR_ACCESS_FLAG(member, prose)     IF(access->member, member, ;)
#define WEIR_ACCESS_COST(member, prose)     NUMBER(member)
#include "gateway/log/tbl/access_fields.h"
#undef NUMBER
#undef IF
    memcpy(first, &there, sizeof(there));
    pen->len = (uint32_t)(at - pen->bytes);
    return 0;
}

/* ---- reading ---- */

void weir_story_reader_init(struct weir_story_reader *ret_reader, const char *bytes, size_t begin, size_t end,
                            uint64_t begun_ns)
{
    ret_reader->bytes = bytes;
    ret_reader->at = begin;
    ret_reader->end = end;
    ret_reader->begun_ns = begun_ns;
    ret_reader->group = WEIR_SLICE_EMPTY;
    ret_reader->deployment = WEIR_SLICE_EMPTY;
}

static inline uint64_t number_at(const struct weir_story_reader *reader, size_t *at)
{
    unsigned first = (unsigned char)reader->bytes[(*at)++];
    uint64_t number = 0;

    if (first < SMALL)
        return first;
    for (unsigned shift = 0; first >= SMALL; first--, shift += 8)
        number |= (uint64_t)(unsigned char)reader->bytes[(*at)++] << shift;
    assert(*at <= reader->end);
    return number;
}

static inline uint64_t take_u64(struct weir_story_reader *reader)
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

/* The fields of the event, by its row. */
static void take_fields(struct weir_story_reader *reader, struct weir_event *event)
{
#define U32(member, name)        event->u.member = (uint32_t)take_u64(reader);
#define U64(member, name)        event->u.member = take_u64(reader);
#define MS(member, name)         event->u.member = take_u64(reader);
#define S(member, name)          event->u.member = take_u64(reader);
#define TIME(member, name)       event->u.member = weir_time_add(reader->begun_ns, take_u64(reader));
#define FLAG(member, name)       event->u.member = take_u64(reader) != 0;
#define TEXT(member, name)       event->u.member = take_text(reader);
#define ORDER(member, name)      event->u.member = take_i32(reader);
#define FAILURE(member, name)    take_failure(reader, &event->u.member);
#define STREAM(member, name)     take_stream(reader, &event->u.member);
#define HOP(member, name)        event->u.member = (weir_hop_kind)take_u64(reader);
#define REFUSED(member, name)    event->u.member = (weir_refused)take_u64(reader);
#define RULE(member, name)       event->u.member = (weir_cooldown_rule)take_u64(reader);
#define PURPOSE(member, name)    event->u.member = (weir_pick_purpose)take_u64(reader);
#define CANDIDATES(member, name) take_candidates(reader, event);
    switch ((unsigned)event->kind) {
#define X(event, list)                                                                                       \
    case WEIR_EVENT_##event:                                                                                 \
        list return;
#include "gateway/story/tbl/event_fields.h"
#undef X
    }
#include "gateway/story/tbl/event_fields_end.h"
}

bool weir_story_take_event(struct weir_story_reader *reader, struct weir_event *ret_event)
{
    unsigned first;

    if (reader->at >= reader->end)
        return false;
    first = (unsigned char)reader->bytes[reader->at++];
    *ret_event = (struct weir_event){.kind = (weir_event_kind)(first & (SAME_GROUP - 1))};
    ret_event->time_ns = weir_time_add(reader->begun_ns, take_u64(reader));
    ret_event->attempt = (uint32_t)take_u64(reader);
    if ((first & SAME_GROUP) == 0)
        reader->group = take_text(reader);
    if ((first & SAME_DEPLOYMENT) == 0)
        reader->deployment = take_text(reader);
    ret_event->group = reader->group;
    ret_event->deployment = reader->deployment;
    take_fields(reader, ret_event);
    return true;
}

void weir_story_take_facts(struct weir_story_reader *reader, struct weir_access *ret_access)
{
    struct weir_access *access = ret_access;
    uint64_t there;

    *access = (struct weir_access){.status = 0};
    memcpy(&there, reader->bytes + reader->at, sizeof(there));
    reader->at += sizeof(there);
#define IS(member) (there >> FACT_##member & 1)
#define WEIR_ACCESS_TEXT(member, prose)                                                                      \
    if (IS(member))                                                                                          \
        access->member = take_text(reader);
#define NUMBER(member)                                                                                       \
    if (IS(member))                                                                                          \
        access->member = take_u64(reader);
#define WEIR_ACCESS_COUNT(member, prose)    NUMBER(member)
#define WEIR_ACCESS_MAYBE(member, prose)    NUMBER(member)
#define WEIR_ACCESS_NS(member, name, prose) NUMBER(member)
#define WEIR_ACCESS_FLAG(member, prose)     access->member = IS(member);
#define WEIR_ACCESS_COST(member, prose)     NUMBER(member)
#include "gateway/log/tbl/access_fields.h"
#undef NUMBER
#undef IS
}
