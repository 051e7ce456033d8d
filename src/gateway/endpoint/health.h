/*
 * /health and the two routes that orchestrators ask.  Those are open and say yes or no and nothing else
 * (decisions 23).
 */
#ifndef WEIR_GATEWAY_HEALTH_H
#define WEIR_GATEWAY_HEALTH_H

struct weir_job;

/* Which deployments may be picked now and which are cooling down. */
void weir_health_deployments(struct weir_job *job);

/* The process answers. */
void weir_health_live(struct weir_job *job);

/* It takes calls: 200, or 503 while it drains. */
void weir_health_ready(struct weir_job *job);

#endif
