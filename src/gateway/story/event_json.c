/* The members follow from the table of fields. */
#include "gateway/story/event_json.h"

#include "base/slice.h"
#include "base/text.h"
#include "base/time.h"
#include "gateway/story/event_fields.h"

#include <weir/snapshot.h>

/* A number with as few decimals as it needs. */
static void put_short(struct weir_json_writer *writer, struct weir_slice key, uint64_t thousandths)
{
    char digits[WEIR_TEXT_FIXED_MAX];

    weir_json_put_raw_member(writer, key, weir_text_short(thousandths, 3, digits));
}

void weir_event_json_text(struct weir_json_writer *writer, struct weir_slice key, struct weir_slice text)
{
    if (text.len > 0)
        weir_json_put_text_member(writer, key, text);
}

void weir_event_json_ms(struct weir_json_writer *writer, struct weir_slice key, uint64_t length_ns)
{
    put_short(writer, key, length_ns / WEIR_NS_PER_US);
}

void weir_event_json_s(struct weir_json_writer *writer, struct weir_slice key, uint64_t length_ns)
{
    put_short(writer, key, length_ns / WEIR_NS_PER_MS);
}

void weir_event_json_time(struct weir_json_writer *writer, struct weir_slice key, uint64_t wall_ns)
{
    char room[WEIR_TEXT_TIME_MAX];

    weir_json_put_word_member(writer, key, weir_text_time(wall_ns, room));
}

void weir_event_json_failure(struct weir_json_writer *writer, struct weir_slice key,
                             const struct weir_failure *failure)
{
    weir_json_put_key(writer, key);
    weir_json_open(writer, '{');
    weir_json_put_word_member(writer, WEIR_SLICE("kind"), weir_kind_row(failure->kind)->name);
    weir_json_put_u64_member(writer, WEIR_SLICE("status"),
                             failure->status > 0 ? (uint64_t)failure->status : 0);
    if (failure->retry_after_ns > 0)
        weir_event_json_s(writer, WEIR_SLICE("retry_after_s"), failure->retry_after_ns);
    weir_json_put_word_member(writer, WEIR_SLICE("origin"), weir_origin_name(failure->origin));
    weir_json_close(writer, '}');
}

static void put_stream(struct weir_json_writer *writer, struct weir_slice key,
                       const struct weir_stream_facts *stream)
{
    if (stream->chunks == 0 && stream->longest_silence_ns == 0)
        return;
    weir_json_put_key(writer, key);
    weir_json_open(writer, '{');
    if (stream->first_chunk_ns > 0)
        weir_event_json_ms(writer, WEIR_SLICE("first_chunk_ms"), stream->first_chunk_ns);
    if (stream->first_content_ns > 0)
        weir_event_json_ms(writer, WEIR_SLICE("first_content_ms"), stream->first_content_ns);
    weir_event_json_ms(writer, WEIR_SLICE("longest_silence_ms"), stream->longest_silence_ns);
    weir_json_put_u64_member(writer, WEIR_SLICE("chunks"), stream->chunks);
    weir_json_put_u64_member(writer, WEIR_SLICE("deltas"), stream->deltas);
    weir_json_close(writer, '}');
}

void weir_event_json_order(struct weir_json_writer *writer, struct weir_slice key, int32_t order)
{
    char digits[WEIR_TEXT_U64_MAX + 1];
    struct weir_slice text;

    if (order == WEIR_UNSET_ORDER)
        return;
    text = weir_text_u64(order < 0 ? 0 - (uint64_t)order : (uint64_t)order, digits + 1);
    if (order < 0)
        digits[(size_t)(text.ptr - digits) - 1] = '-';
    weir_json_put_key(writer, key);
    weir_json_put_raw(writer, order < 0 ? (struct weir_slice){text.ptr - 1, text.len + 1} : text);
}

static uint64_t wall_of(const struct weir_event_place *place, uint64_t time_ns)
{
    return place->wall_ns + (time_ns - place->at_ns);
}

static void put_candidates(struct weir_json_writer *writer, struct weir_slice key,
                           const struct weir_event *event, const struct weir_event_place *place)
{
    weir_json_put_key(writer, key);
    weir_json_open(writer, '[');
    for (uint32_t i = 0; i < event->u.picked.count; i++) {
        const struct weir_candidate *candidate = &event->u.picked.candidates[i];

        weir_json_open(writer, '{');
        weir_event_json_text(writer, WEIR_SLICE("deployment"), candidate->deployment);
        weir_json_put_word_member(writer, WEIR_SLICE("fate"), weir_fate_name(candidate->fate));
        if (candidate->until_ns > 0)
            weir_event_json_time(writer, WEIR_SLICE("until"), wall_of(place, candidate->until_ns));
        weir_json_close(writer, '}');
    }
    weir_json_close(writer, ']');
    weir_json_put_u64_member(writer, WEIR_SLICE("omitted"), event->u.picked.omitted);
}

static void put_field(struct weir_json_writer *writer, const struct weir_event_field *field,
                      const struct weir_event *event, const struct weir_event_place *place)
{
    const void *value = (const char *)event + field->offset;

    switch (field->type) {
    case WEIR_FIELD_U32:
        weir_json_put_u64_member(writer, field->name, *(const uint32_t *)value);
        return;
    case WEIR_FIELD_U64:
        weir_json_put_u64_member(writer, field->name, *(const uint64_t *)value);
        return;
    case WEIR_FIELD_MS:
        weir_event_json_ms(writer, field->name, *(const uint64_t *)value);
        return;
    case WEIR_FIELD_S:
        weir_event_json_s(writer, field->name, *(const uint64_t *)value);
        return;
    case WEIR_FIELD_TIME:
        weir_event_json_time(writer, field->name, wall_of(place, *(const uint64_t *)value));
        return;
    case WEIR_FIELD_FLAG:
        weir_json_put_bool_member(writer, field->name, *(const bool *)value);
        return;
    case WEIR_FIELD_TEXT:
        weir_event_json_text(writer, field->name, *(const struct weir_slice *)value);
        return;
    case WEIR_FIELD_ORDER:
        weir_event_json_order(writer, field->name, *(const int32_t *)value);
        return;
    case WEIR_FIELD_FAILURE:
        weir_event_json_failure(writer, field->name, value);
        return;
    case WEIR_FIELD_STREAM:
        put_stream(writer, field->name, value);
        return;
    case WEIR_FIELD_HOP:
    case WEIR_FIELD_REFUSED:
    case WEIR_FIELD_RULE:
    case WEIR_FIELD_PURPOSE:
        weir_json_put_word_member(writer, field->name, weir_event_field_word(field, event));
        return;
    case WEIR_FIELD_CANDIDATES:
        put_candidates(writer, field->name, event, place);
        return;
    case WEIR_FIELD_END:
        return;
    }
}

void weir_event_json(struct weir_json_writer *writer, const struct weir_event *event,
                     const struct weir_event_place *place)
{
    weir_json_open(writer, '{');
    weir_event_json_time(writer, WEIR_SLICE("time"), wall_of(place, event->time_ns));
    if (place->in_call)
        weir_event_json_ms(writer, WEIR_SLICE("ms"),
                           event->time_ns > place->at_ns ? event->time_ns - place->at_ns : 0);
    if (place->call_id.len > 0)
        weir_json_put_word_member(writer, WEIR_SLICE("call_id"), place->call_id); /* of weir's own making */
    weir_json_put_word_member(writer, WEIR_SLICE("kind"), weir_event_name(event->kind));
    if (event->attempt > 0)
        weir_json_put_u64_member(writer, WEIR_SLICE("attempt"), event->attempt);
    weir_event_json_text(writer, WEIR_SLICE("group"), event->group);
    weir_event_json_text(writer, WEIR_SLICE("deployment"), event->deployment);
    for (const struct weir_event_field *f = weir_event_fields(event->kind); f->type != WEIR_FIELD_END; f++)
        put_field(writer, f, event, place);
    weir_json_close(writer, '}');
}
