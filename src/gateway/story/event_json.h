/*
 * One event as a JSON object: the same in the story of a call, in the log of events, on the feed and in what
 * is sent to others.  docs/routes.md tells the fields.
 */
#ifndef WEIR_GATEWAY_EVENT_JSON_H
#define WEIR_GATEWAY_EVENT_JSON_H

#include <stdbool.h>
#include <stdint.h>

#include <weir/event.h>
#include <weir/slice.h>

#include "base/text.h"
#include "wire/json_write.h"

/* Where an event stands in time, and whose it is. */
struct weir_event_place {
    uint64_t wall_ns;              /* the wall clock's time, since 1970 ... */
    uint64_t at_ns;                /* ... at this time of the monotonic clock */
    bool in_call;                  /* "ms" tells the time since at_ns: that is when the call began */
    struct weir_slice call_id;     /* empty: left out */
    struct weir_text_clock *clock; /* for events that come one after the other; NULL: none */
};

/* Appends the object.  Texts are written as JSON wants them, so that names cannot break it. */
void weir_event_json(struct weir_json_writer *writer, const struct weir_event *event,
                     const struct weir_event_place *place);

/* Its parts, for objects of other events: "KEY": VALUE.  An empty text is left out. */
void weir_event_json_text(struct weir_json_writer *writer, struct weir_slice key, struct weir_slice text);
void weir_event_json_failure(struct weir_json_writer *writer, struct weir_slice key,
                             const struct weir_failure *failure);
/* Nanoseconds as milliseconds or seconds, with at most three decimals. */
void weir_event_json_ms(struct weir_json_writer *writer, struct weir_slice key, uint64_t length_ns);
void weir_event_json_s(struct weir_json_writer *writer, struct weir_slice key, uint64_t length_ns);
/* WEIR_UNSET_ORDER is left out. */
void weir_event_json_order(struct weir_json_writer *writer, struct weir_slice key, int32_t order);
/* Nanoseconds since 1970 as RFC 3339. */
void weir_event_json_time(struct weir_json_writer *writer, struct weir_slice key, uint64_t wall_ns);

#endif
