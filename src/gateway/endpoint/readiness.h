/*
 * The routes that orchestrators ask, /health/liveliness and /health/readiness, which say yes or no and
 * nothing else to who has no key (decisions 23); and /health/shared-status.
 */
#ifndef WEIR_GATEWAY_READINESS_H
#define WEIR_GATEWAY_READINESS_H

struct weir_job;

/* The process answers. */
void weir_health_live(struct weir_job *job);

/* It takes calls: 200, or 503 while it drains; and, for who has the key, what it depends on. */
void weir_health_ready(struct weir_job *job);

/* Which of several processes makes the health checks. */
void weir_health_shared(struct weir_job *job);

#endif
