/*
 * POST and DELETE /weir/cooldowns/{id}: cooldowns by hand (beyond.md 7, decisions 7).
 */
#ifndef WEIR_GATEWAY_COOLDOWNS_H
#define WEIR_GATEWAY_COOLDOWNS_H

#include <weir/slice.h>

struct weir_job;

/* id is as it stands in the path.  Both answer; and tell what they did as an event. */
void weir_cooldowns_set(struct weir_job *job, struct weir_slice id);
void weir_cooldowns_lift(struct weir_job *job, struct weir_slice id);

#endif
