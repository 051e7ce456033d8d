/*
 * One request of a client on its way through the gateway, from its head until the last byte of the answer and
 * the last word of every provider that was asked for it.
 *
 * A job belongs to its worker's thread and comes from the worker's pool.  Everything it needs lives in its
 * arena, but for what is large and comes from outside (bodies, held streams): that is taken from the memory
 * budget.  The client may leave before the call is over (decisions 25), and a provider may still be talking
 * after the client has its answer, so a job goes back only when neither is left and no function of it runs:
 * whoever enters a job from the loop brackets its work with weir_job_enter and weir_job_leave.
 */
#ifndef WEIR_GATEWAY_JOB_H
#define WEIR_GATEWAY_JOB_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <weir/attr.h>
#include <weir/call.h>

#include "base/arena.h"
#include "base/buf.h"
#include "gateway/admission.h"
#include "gateway/answer/fail_text.h"
#include "gateway/answer/headers.h"
#include "gateway/continuation/so_far.h"
#include "gateway/log/access_log.h"
#include "gateway/metrics/count.h"
#include "gateway/request/asked.h"
#include "gateway/span/trace.h"
#include "net/server.h"
#include "net/timer.h"
#include "provider/prompt_text.h"
#include "provider/route.h"

struct weir_asking;
struct weir_checkup;
struct weir_draft;
struct weir_health_page;
struct weir_listening;
struct weir_pieces;
struct weir_setup;
struct weir_upcall;
struct weir_worker;

enum { WEIR_JOB_PARTS = WEIR_EXCHANGE_PARTS_MAX };

struct weir_job {
    struct weir_job *next; /* in the worker's list: of those in use, or of spare ones */
    struct weir_job *prev;
    struct weir_worker *worker;
    struct weir_setup *setup; /* that it began with, and keeps to its end */
    weir_exchange *exchange;  /* NULL: the client's side is over */
    struct weir_buf body;     /* the request's; from the budget */
    uint64_t begun_ns;
    struct weir_ticket ticket;    /* of a call to a model; see turns.h, with the next two */
    struct weir_timer turn_timer; /* armed while it waits for its turn */
    uint64_t queued_at_ns;        /* when it began to */
    bool cors;                    /* the client is a page of another origin */
    unsigned depth;

    /* The call; call is NULL for requests that are none. */
    weir_route route;
    struct weir_asked asked;
    struct weir_prompt prompt; /* where its length is looked at */
    weir_call *call;
    struct weir_draft *draft; /* of its story; NULL: nobody wants it */
    bool over;                /* the engine has said its last word */
    struct weir_timer timer;
    uint64_t timer_ns;
    struct weir_upcall *attempts; /* running, or still talking */
    struct weir_upcall *server;   /* whose answer the client gets */
    struct weir_failed *failed;   /* newest first */
    uint64_t deltas;              /* pieces of content that went to the client */

    size_t part_count;             /* of parts, below */
    struct weir_slice begin_lines; /* the head of a streamed answer, to go with the first bytes; else empty */
    uint64_t sent_ns;              /* when bytes of a stream were last handed over */
    struct weir_timer ping_timer;  /* see keepalive.h */
    uint64_t ping_every_ns;

    struct weir_asking *asking;           /* see endpoint/reload.h; NULL: it has not */
    struct weir_health_page *health_page; /* see endpoint/health.c */
    struct weir_checkup *checkup;         /* see health/checkup.h; NULL: there is none */
    struct weir_listening *listening;     /* see endpoint/events.c; NULL: it does not listen */

    struct weir_pieces *pieces; /* see answer/pieces.h; NULL: none */

    struct weir_call_counts counts;

    struct weir_trace trace;
    struct weir_access access;

    /* What a fresh job has cleared ends here. */
    struct weir_arena arena;
    struct weir_so_far so_far; /* of a streamed answer */
    /* Bytes that were not handed over to the client yet; they live as long as the callback that made them. */
    struct weir_slice parts[WEIR_JOB_PARTS];
    char call_id_room[WEIR_CALL_ID_LEN];
};

/* A new id, in room; what is answered without a job needs one too. */
struct weir_slice weir_job_call_id(struct weir_worker *worker, char room[WEIR_CALL_ID_LEN]);

/* A fresh job for the exchange, or NULL when there is no memory. */
struct weir_job *weir_job_new(struct weir_worker *worker, weir_exchange *exchange);

/* The time on the clock of the job's loop. */
uint64_t weir_job_now(const struct weir_job *job);

/* Brackets of every entry from the loop; the last weir_job_leave may end the job. */
static inline void weir_job_enter(struct weir_job *job)
{
    job->depth++;
}
void weir_job_leave(struct weir_job *job);

/* Stops whatever still runs and gives the job back; its exchange must be over.  Only when a worker ends. */
void weir_job_kill(struct weir_job *job);

/* Frees a spare job. */
void weir_job_free(struct weir_job *job);

/* The worker's rest_timer: spare jobs that were not needed lately are freed, and free memory goes back. */
void weir_job_on_rest(struct weir_timer *timer);

#endif
