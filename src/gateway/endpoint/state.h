/*
 * GET /weir/state: each group and deployment as it is now, and why it may not be picked (beyond.md 7).
 */
#ifndef WEIR_GATEWAY_STATE_H
#define WEIR_GATEWAY_STATE_H

struct weir_job;

void weir_state_page(struct weir_job *job);

#endif
