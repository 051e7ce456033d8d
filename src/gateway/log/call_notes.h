/*
 * What the access log tells of a call's way, taken from the engine's events.
 */
#ifndef WEIR_GATEWAY_CALL_NOTES_H
#define WEIR_GATEWAY_CALL_NOTES_H

#include <weir/event.h>

struct weir_job;

/* Each event of the job's call, in their order. */
void weir_call_notes_event(struct weir_job *job, const struct weir_event *event);

/* Once, when the job is over and before its line is written. */
void weir_call_notes_end(struct weir_job *job);

#endif
