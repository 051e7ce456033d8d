/*
 * What the client gets: the answer of the attempt that served, as a whole or as a stream, or the failure.
 *
 * A stream's bytes gather in the job until its callback ends (weir_deliver_flush), so that one read from the
 * provider is one write to the client.  When the client takes too little the attempt is paused until the
 * exchange has drained.
 */
#ifndef WEIR_GATEWAY_DELIVER_H
#define WEIR_GATEWAY_DELIVER_H

#include <weir/attr.h>
#include <weir/call.h>
#include <weir/slice.h>

struct weir_upcall;
struct weir_job;

/* The attempt's content may go to the client from now on: status, headers, and what was held. */
void weir_deliver_commit(struct weir_job *job, struct weir_upcall *upcall);

/* Begins a stream before anybody has answered: status 200 and no more headers than are known then.  The call
 * can only end as a stream from now on. */
void weir_deliver_open(struct weir_job *job);

/* More bytes of a committed answer; on loan until weir_deliver_flush. */
void weir_deliver_add(struct weir_job *job, struct weir_slice bytes);
void weir_deliver_flush(struct weir_job *job);

/* The attempt's answer is complete, and is the client's. */
void weir_deliver_answer(struct weir_job *job, struct weir_upcall *upcall);

/* The call has failed: an HTTP error, or the end of a stream that had begun. */
void weir_deliver_failure(struct weir_job *job, const struct weir_fail *fail);

#endif
