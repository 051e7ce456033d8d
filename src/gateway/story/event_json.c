/*
 * The members follow from the table of fields.  Every call may pay for its lines, so what an event takes at
 * most is reserved at once, and each byte is then written where it stays, by straight code that the compiler
 * makes from the table.
 */
#include "gateway/story/event_json.h"

#include <string.h>

#include "base/slice.h"
#include "base/text.h"
#include "base/time.h"
#include "base/word.h"
#include "gateway/story/event_fields.h"

#include <weir/snapshot.h>

/* What a member takes at most, without the text that is its value; and members that an event has at most. */
enum { MEMBER_MAX = 96, MEMBERS_MAX = 24 };

/* Of a byte that is escaped. */
enum { ESCAPE_MAX = 6 };

/* Where the next byte goes; there is room. */
struct line {
    char *at;
    bool is_plain; /* no text needs an escape */
};

/* ---- values ---- */

static inline void put(struct line *line, struct weir_slice bytes)
{
    line->at = weir_bytes_copy(line->at, bytes.ptr, bytes.len);
}

/* A literal, of which the compiler makes a few moves. */
#define PUT(line, text)                                                                                      \
    do {                                                                                                     \
        memcpy((line)->at, text, sizeof(text) - 1);                                                          \
        (line)->at += sizeof(text) - 1;                                                                      \
    } while (0)

/* Between quotes. */
static inline void put_word(struct line *line, struct weir_slice word)
{
    *line->at++ = '"';
    put(line, word);
    *line->at++ = '"';
}

static void put_escaped(struct line *line, struct weir_slice text)
{
    size_t max = ESCAPE_MAX * text.len;
    struct weir_buf buf = {.ptr = line->at, .cap = max, .max = max};

    if (weir_json_escape(&buf, text) == 0)
        line->at += weir_buf_len(&buf);
}

static inline void put_string(struct line *line, struct weir_slice text)
{
    if (line->is_plain) {
        put_word(line, text);
        return;
    }
    *line->at++ = '"';
    put_escaped(line, text);
    *line->at++ = '"';
}

static void put_u64(struct line *line, uint64_t number)
{
    char digits[WEIR_TEXT_U64_MAX];

    if (number < 10)
        *line->at++ = (char)('0' + number);
    else
        put(line, weir_text_u64(number, digits));
}

/* With as few decimals as it needs. */
static void put_short(struct line *line, uint64_t thousandths)
{
    char digits[WEIR_TEXT_FIXED_MAX];

    put(line, weir_text_short(thousandths, 3, digits));
}

static void put_ms(struct line *line, uint64_t length_ns)
{
    put_short(line, length_ns / WEIR_NS_PER_US);
}

static void put_s(struct line *line, uint64_t length_ns)
{
    put_short(line, length_ns / WEIR_NS_PER_MS);
}

static void put_time(struct line *line, uint64_t wall_ns)
{
    char room[WEIR_TEXT_TIME_MAX];

    put_word(line, weir_text_time(wall_ns, room));
}

static inline void put_flag(struct line *line, bool value)
{
    if (value)
        PUT(line, "true");
    else
        PUT(line, "false");
}

static void put_i32(struct line *line, int32_t number)
{
    if (number < 0)
        *line->at++ = '-';
    put_u64(line, number < 0 ? 0 - (uint64_t)number : (uint64_t)number);
}

static void put_failure(struct line *line, const struct weir_failure *failure)
{
    PUT(line, "{\"kind\":");
    put_word(line, weir_kind_row(failure->kind)->name);
    PUT(line, ",\"status\":");
    put_u64(line, failure->status > 0 ? (uint64_t)failure->status : 0);
    if (failure->retry_after_ns > 0) {
        PUT(line, ",\"retry_after_s\":");
        put_s(line, failure->retry_after_ns);
    }
    PUT(line, ",\"origin\":");
    put_word(line, weir_origin_name(failure->origin));
    *line->at++ = '}';
}

static bool is_seen(const struct weir_stream_facts *stream)
{
    return stream->chunks > 0 || stream->longest_silence_ns > 0;
}

static void put_stream(struct line *line, const struct weir_stream_facts *stream)
{
    *line->at++ = '{';
    if (stream->first_chunk_ns > 0) {
        PUT(line, "\"first_chunk_ms\":");
        put_ms(line, stream->first_chunk_ns);
        *line->at++ = ',';
    }
    if (stream->first_content_ns > 0) {
        PUT(line, "\"first_content_ms\":");
        put_ms(line, stream->first_content_ns);
        *line->at++ = ',';
    }
    PUT(line, "\"longest_silence_ms\":");
    put_ms(line, stream->longest_silence_ns);
    PUT(line, ",\"chunks\":");
    put_u64(line, stream->chunks);
    PUT(line, ",\"deltas\":");
    put_u64(line, stream->deltas);
    *line->at++ = '}';
}

static uint64_t wall_of(const struct weir_event_place *place, uint64_t time_ns)
{
    return place->wall_ns + (time_ns - place->at_ns);
}

static void put_candidates(struct line *line, const struct weir_event *event,
                           const struct weir_event_place *place)
{
    *line->at++ = '[';
    for (uint32_t i = 0; i < event->u.picked.count; i++) {
        const struct weir_candidate *candidate = &event->u.picked.candidates[i];

        if (i > 0)
            *line->at++ = ',';
        *line->at++ = '{';
        if (candidate->deployment.len > 0) {
            PUT(line, "\"deployment\":");
            put_string(line, candidate->deployment);
            *line->at++ = ',';
        }
        PUT(line, "\"fate\":");
        put_word(line, weir_fate_name(candidate->fate));
        if (candidate->until_ns > 0) {
            PUT(line, ",\"until\":");
            put_time(line, wall_of(place, candidate->until_ns));
        }
        *line->at++ = '}';
    }
    PUT(line, "],\"omitted\":");
    put_u64(line, event->u.picked.omitted);
}

/* ---- an event ---- */

#define MEMBER(name, value)                                                                                  \
    {                                                                                                        \
        PUT(line, ",\"" name "\":");                                                                         \
        value;                                                                                               \
    }
#define MEMBER_IF(is, name, value)                                                                           \
    if (is)                                                                                                  \
    MEMBER(name, value)

/* The fields of the event, by its row. */
static void put_fields(struct line *line, const struct weir_event *event,
                       const struct weir_event_place *place)
{
#define U32(member, name)  MEMBER(name, put_u64(line, event->u.member))
#define U64(member, name)  MEMBER(name, put_u64(line, event->u.member))
#define MS(member, name)   MEMBER(name, put_ms(line, event->u.member))
#define S(member, name)    MEMBER(name, put_s(line, event->u.member))
#define TIME(member, name) MEMBER(name, put_time(line, wall_of(place, event->u.member)))
#define FLAG(member, name) MEMBER(name, put_flag(line, event->u.member))
#define TEXT(member, name) MEMBER_IF(event->u.member.len > 0, name, put_string(line, event->u.member))
#define ORDER(member, name)                                                                                  \
    MEMBER_IF(event->u.member != WEIR_UNSET_ORDER, name, put_i32(line, event->u.member))
#define FAILURE(member, name)    MEMBER(name, put_failure(line, &event->u.member))
#define STREAM(member, name)     MEMBER_IF(is_seen(&event->u.member), name, put_stream(line, &event->u.member))
#define HOP(member, name)        MEMBER(name, put_word(line, weir_hop_name(event->u.member)))
#define REFUSED(member, name)    MEMBER(name, put_word(line, weir_refused_name(event->u.member)))
#define RULE(member, name)       MEMBER(name, put_word(line, weir_cooldown_rule_name(event->u.member)))
#define PURPOSE(member, name)    MEMBER(name, put_word(line, weir_pick_purpose_name(event->u.member)))
#define CANDIDATES(member, name) MEMBER(name, put_candidates(line, event, place))
    switch ((unsigned)event->kind) {
#define X(event, list)                                                                                       \
    case WEIR_EVENT_##event:                                                                                 \
        list return;
#include "gateway/story/tbl/event_fields.h"
#undef X
    }
#include "gateway/story/tbl/event_fields_end.h"
}

/* The texts of an event: how long they are, and whether any of them needs an escape. */
struct texts {
    size_t bytes;
    size_t members; /* beside those that an event has at most */
    bool are_plain;
};

static inline void look_at(struct texts *texts, struct weir_slice text)
{
    texts->bytes += text.len;
    texts->are_plain = texts->are_plain && weir_bytes_are_plain(text.ptr, text.len);
}

static void look_at_candidates(struct texts *texts, const struct weir_event *event)
{
    texts->members += (size_t)event->u.picked.count * 3;
    for (uint32_t i = 0; i < event->u.picked.count; i++) {
        struct weir_slice id = event->u.picked.candidates[i].deployment;

        if (id.ptr == event->deployment.ptr && id.len == event->deployment.len)
            texts->bytes += id.len; /* it was looked at */
        else
            look_at(texts, id);
    }
}

static void look_at_fields(struct texts *texts, const struct weir_event *event)
{
    for (const struct weir_event_field *f = weir_event_fields(event->kind); f->type != WEIR_FIELD_END; f++) {
        const void *value = (const char *)event + f->offset;

        if (f->type == WEIR_FIELD_TEXT)
            look_at(texts, *(const struct weir_slice *)value);
        else if (f->type == WEIR_FIELD_CANDIDATES)
            look_at_candidates(texts, event);
    }
}

/* With its comma: lives for ever. */
static struct weir_slice kind_member(weir_event_kind kind)
{
    static const struct weir_slice members[WEIR_EVENT_KINDS] = {
#define X(event, name, prose) [WEIR_EVENT_##event] = WEIR_SLICE_INIT(",\"kind\":\"" name "\""),
#include <weir/tbl/events.h>
#undef X
    };

    return members[kind];
}

/* What every event has. */
static void put_common(struct line *line, const struct weir_event *event,
                       const struct weir_event_place *place)
{
    uint64_t wall_ns = wall_of(place, event->time_ns);

    PUT(line, "{\"time\":");
    if (place->clock != NULL)
        put_word(line, weir_text_clock_time(place->clock, wall_ns));
    else
        put_time(line, wall_ns);
    MEMBER_IF(place->in_call, "ms",
              put_ms(line, event->time_ns > place->at_ns ? event->time_ns - place->at_ns : 0))
    MEMBER_IF(place->call_id.len > 0, "call_id", put_word(line, place->call_id)) /* of weir's own making */
    put(line, kind_member(event->kind));
    MEMBER_IF(event->attempt > 0, "attempt", put_u64(line, event->attempt))
    MEMBER_IF(event->group.len > 0, "group", put_string(line, event->group))
    MEMBER_IF(event->deployment.len > 0, "deployment", put_string(line, event->deployment))
}

void weir_event_json(struct weir_json_writer *writer, const struct weir_event *event,
                     const struct weir_event_place *place)
{
    struct texts texts = {.members = MEMBERS_MAX, .are_plain = true};
    struct line line;

    look_at(&texts, event->group);
    look_at(&texts, event->deployment);
    look_at_fields(&texts, event);
    line.is_plain = texts.are_plain;
    line.at = weir_json_room(writer, texts.members * MEMBER_MAX + place->call_id.len +
                                         texts.bytes * (line.is_plain ? 1 : ESCAPE_MAX));
    if (line.at == NULL)
        return;
    put_common(&line, event, place);
    put_fields(&line, event, place);
    *line.at++ = '}';
    weir_json_filled(writer, line.at);
}

/* ---- its parts, for others ---- */

void weir_event_json_text(struct weir_json_writer *writer, struct weir_slice key, struct weir_slice text)
{
    if (text.len > 0)
        weir_json_put_text_member(writer, key, text);
}

/* A member whose value the caller puts, of a few numbers and words; then it is ended. */
static bool begin_member(struct weir_json_writer *writer, struct weir_slice key, struct line *ret_line)
{
    weir_json_put_key(writer, key);
    *ret_line = (struct line){.at = weir_json_room(writer, 4 * (size_t)MEMBER_MAX)};
    return ret_line->at != NULL;
}

void weir_event_json_ms(struct weir_json_writer *writer, struct weir_slice key, uint64_t length_ns)
{
    char digits[WEIR_TEXT_FIXED_MAX];

    weir_json_put_raw_member(writer, key, weir_text_short(length_ns / WEIR_NS_PER_US, 3, digits));
}

void weir_event_json_s(struct weir_json_writer *writer, struct weir_slice key, uint64_t length_ns)
{
    char digits[WEIR_TEXT_FIXED_MAX];

    weir_json_put_raw_member(writer, key, weir_text_short(length_ns / WEIR_NS_PER_MS, 3, digits));
}

void weir_event_json_time(struct weir_json_writer *writer, struct weir_slice key, uint64_t wall_ns)
{
    char room[WEIR_TEXT_TIME_MAX];

    weir_json_put_word_member(writer, key, weir_text_time(wall_ns, room));
}

void weir_event_json_failure(struct weir_json_writer *writer, struct weir_slice key,
                             const struct weir_failure *failure)
{
    struct line line;

    if (!begin_member(writer, key, &line))
        return;
    put_failure(&line, failure);
    weir_json_filled(writer, line.at);
}

void weir_event_json_order(struct weir_json_writer *writer, struct weir_slice key, int32_t order)
{
    struct line line;

    if (order == WEIR_UNSET_ORDER || !begin_member(writer, key, &line))
        return;
    put_i32(&line, order);
    weir_json_filled(writer, line.at);
}
