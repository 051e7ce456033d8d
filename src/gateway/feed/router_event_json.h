/*
 * An event outside of any call as a JSON object, with the same names as those of calls have (event_json.h).
 */
#ifndef WEIR_GATEWAY_ROUTER_EVENT_JSON_H
#define WEIR_GATEWAY_ROUTER_EVENT_JSON_H

#include <stdint.h>

#include <weir/shared.h>

#include "wire/json_write.h"

/* Appends the object; wall_ns is the wall clock's time at now_ns, which is not before the event's. */
void weir_router_event_json(struct weir_json_writer *writer, const struct weir_router_event *event,
                            uint64_t now_ns, uint64_t wall_ns);

#endif
