/*
 * Routing events as lines of JSON: to the event log, and to those who listen.  Nothing is composed where
 * there is neither.
 */
#ifndef WEIR_GATEWAY_TELL_H
#define WEIR_GATEWAY_TELL_H

#include <stdint.h>

#include <weir/event.h>
#include <weir/shared.h>

struct weir_gateway;
struct weir_job;

/* An event of the job's call; on the thread of its worker. */
void weir_tell_event(struct weir_job *job, const struct weir_event *event);

/* An event outside of any call; wall_ns is the wall clock's time at now_ns.  One thread at a time, which has
 * the last lane of the logs for it. */
void weir_tell_router_event(struct weir_gateway *gateway, const struct weir_router_event *event,
                            uint64_t now_ns, uint64_t wall_ns);

#endif
