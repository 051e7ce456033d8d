/*
 * The table of what events carry (tbl/event_fields.h), as data.
 */
#ifndef WEIR_GATEWAY_EVENT_FIELDS_H
#define WEIR_GATEWAY_EVENT_FIELDS_H

#include <stddef.h>

#include <weir/event.h>
#include <weir/slice.h>

/* As the table describes them. */
enum weir_field_type {
    WEIR_FIELD_END, /* behind the last field of an event */
    WEIR_FIELD_U32,
    WEIR_FIELD_U64,
    WEIR_FIELD_MS,
    WEIR_FIELD_S,
    WEIR_FIELD_TIME,
    WEIR_FIELD_FLAG,
    WEIR_FIELD_TEXT,
    WEIR_FIELD_ORDER,
    WEIR_FIELD_FAILURE,
    WEIR_FIELD_STREAM,
    WEIR_FIELD_HOP,
    WEIR_FIELD_REFUSED,
    WEIR_FIELD_RULE,
    WEIR_FIELD_PURPOSE,
    WEIR_FIELD_CANDIDATES
};

struct weir_event_field {
    enum weir_field_type type;
    size_t offset; /* in struct weir_event */
    struct weir_slice name;
};

/* The fields of an event, up to one of type WEIR_FIELD_END.  Lives for ever. */
const struct weir_event_field *weir_event_fields(weir_event_kind kind);

/* The name of the value of a field of type HOP, REFUSED, RULE or PURPOSE; else empty.  Lives for ever. */
struct weir_slice weir_event_field_word(const struct weir_event_field *field, const struct weir_event *event);

#endif
