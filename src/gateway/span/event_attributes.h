/*
 * What an event of a call carries, as attributes of an event of a span: the same fields as in JSON
 * (story/tbl/event_fields.h), with "weir." before their names.
 */
#ifndef WEIR_GATEWAY_EVENT_ATTRIBUTES_H
#define WEIR_GATEWAY_EVENT_ATTRIBUTES_H

#include <weir/event.h>

#include "wire/protobuf.h"

/* field: the number of the list of attributes in its message. */
void weir_event_attributes(struct weir_protobuf_writer *writer, unsigned field,
                           const struct weir_event *event);

#endif
