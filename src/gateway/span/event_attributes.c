/* Candidates of a pick have no form here: no span tells of picks. */
#include "gateway/span/event_attributes.h"

#include <weir/snapshot.h>

#include "base/slice.h"
#include "base/time.h"
#include "gateway/span/attributes.h"
#include "gateway/story/event_fields.h"

struct place {
    struct weir_protobuf_writer *writer;
    unsigned field;
};

static void text(const struct place *place, struct weir_slice name, struct weir_slice value)
{
    char room[WEIR_ATTRIBUTE_KEY_MAX];

    weir_attribute_text(place->writer, place->field, weir_attribute_key_of(WEIR_SLICE("weir."), name, room),
                        value);
}

static void number(const struct place *place, struct weir_slice name, uint64_t value)
{
    char room[WEIR_ATTRIBUTE_KEY_MAX];

    weir_attribute_u64(place->writer, place->field, weir_attribute_key_of(WEIR_SLICE("weir."), name, room),
                       value);
}

static void fraction(const struct place *place, struct weir_slice name, uint64_t value_ns, uint64_t unit_ns)
{
    char room[WEIR_ATTRIBUTE_KEY_MAX];

    weir_attribute_double(place->writer, place->field, weir_attribute_key_of(WEIR_SLICE("weir."), name, room),
                          (double)value_ns / (double)unit_ns);
}

static void flag(const struct place *place, struct weir_slice name, bool value)
{
    char room[WEIR_ATTRIBUTE_KEY_MAX];

    weir_attribute_flag(place->writer, place->field, weir_attribute_key_of(WEIR_SLICE("weir."), name, room),
                        value);
}

static void failure(const struct place *place, const struct weir_failure *value)
{
    weir_attribute_text(place->writer, place->field, weir_attribute_key(WEIR_ATTRIBUTE_ERROR_TYPE),
                        weir_kind_row(value->kind)->name);
    number(place, WEIR_SLICE("status"), value->status > 0 ? (uint64_t)value->status : 0);
    text(place, WEIR_SLICE("origin"), weir_origin_name(value->origin));
    if (value->retry_after_ns > 0)
        fraction(place, WEIR_SLICE("retry_after_s"), value->retry_after_ns, WEIR_NS_PER_S);
}

static void put_field(const struct place *place, const struct weir_event_field *field,
                      const struct weir_event *event)
{
    const void *value = (const char *)event + field->offset;

    switch (field->type) {
    case WEIR_FIELD_U32:
        number(place, field->name, *(const uint32_t *)value);
        return;
    case WEIR_FIELD_U64:
        number(place, field->name, *(const uint64_t *)value);
        return;
    case WEIR_FIELD_MS:
        fraction(place, field->name, *(const uint64_t *)value, WEIR_NS_PER_MS);
        return;
    case WEIR_FIELD_S:
        fraction(place, field->name, *(const uint64_t *)value, WEIR_NS_PER_S);
        return;
    case WEIR_FIELD_FLAG:
        flag(place, field->name, *(const bool *)value);
        return;
    case WEIR_FIELD_TEXT:
        text(place, field->name, *(const struct weir_slice *)value);
        return;
    case WEIR_FIELD_ORDER:
        if (*(const int32_t *)value != WEIR_UNSET_ORDER && *(const int32_t *)value >= 0)
            number(place, field->name, (uint64_t) * (const int32_t *)value);
        return;
    case WEIR_FIELD_FAILURE:
        failure(place, value);
        return;
    case WEIR_FIELD_HOP:
    case WEIR_FIELD_REFUSED:
    case WEIR_FIELD_RULE:
    case WEIR_FIELD_PURPOSE:
        text(place, field->name, weir_event_field_word(field, event));
        return;
    case WEIR_FIELD_TIME:   /* the length tells it */
    case WEIR_FIELD_STREAM: /* the span of the attempt does */
    case WEIR_FIELD_CANDIDATES:
    case WEIR_FIELD_END:
        return;
    }
}

void weir_event_attributes(struct weir_protobuf_writer *writer, unsigned field,
                           const struct weir_event *event)
{
    const struct place place = {writer, field};

    if (event->attempt > 0)
        number(&place, WEIR_SLICE("attempt"), event->attempt);
    text(&place, WEIR_SLICE("group"), event->group);
    text(&place, WEIR_SLICE("deployment"), event->deployment);
    for (const struct weir_event_field *f = weir_event_fields(event->kind); f->type != WEIR_FIELD_END; f++)
        put_field(&place, f, event);
}
