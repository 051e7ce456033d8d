/*
 * Comments for clients whose stream is silent, so that nothing between them and weir takes the connection for
 * dead (decisions 30; router-semantics 2.2, 2.5).
 *
 * `keepalive_seconds` counts from the commit on: the deployment's that serves, else the router's, and the
 * client's own where the deployment allows it; a deployment's 0 forbids them whatever the client says.
 * `sse_keepalive_ping_interval_seconds` counts from the beginning of the call: its first comment commits the
 * status 200, and recovery goes on behind it.
 */
#ifndef WEIR_GATEWAY_KEEPALIVE_H
#define WEIR_GATEWAY_KEEPALIVE_H

struct weir_job;
struct weir_timer;
struct weir_upcall;

/* The job's call has begun. */
void weir_keepalive_begin(struct weir_job *job);

/* The attempt's content goes to the client from now on. */
void weir_keepalive_commit(struct weir_job *job, const struct weir_upcall *upcall);

/* The job's ping_timer. */
void weir_keepalive_on_timer(struct weir_timer *timer);

#endif
