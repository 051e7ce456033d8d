/*
 * One provider call of a job, from the engine's START to its end.
 *
 * Whoever answers, a provider over the network or one inside the process, feeds the attempt the same way:
 * head, body, done or error.  A plain answer is held until it is whole and then read once; a stream is split
 * into events, which are held until content comes and pass on as they are afterwards.  The attempt tells the
 * engine (through driver.h) what has come of it, once.
 */
#ifndef WEIR_GATEWAY_UPCALL_H
#define WEIR_GATEWAY_UPCALL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <weir/attr.h>
#include <weir/call.h>

#include "base/buf.h"
#include "gateway/attempt/sim.h"
#include "net/client.h"
#include "net/timer.h"
#include "provider/classify.h"
#include "provider/dialect.h"
#include "wire/sse.h"

struct weir_config_deployment;
struct weir_continued;
struct weir_job;
struct weir_upstream;

struct weir_upcall {
    struct weir_upcall *next;
    struct weir_job *job;
    uint32_t number;
    struct weir_upstream *upstream;
    const struct weir_config_deployment *deployment;
    struct weir_slice model;    /* that is asked, with its provider; lives as long as the call */
    struct weir_slice reported; /* the model's name for the caller, as a JSON string (decisions 16) */
    uint64_t limit_ns;          /* that the engine has set, for the head of a failure */
    uint64_t started_ns;
    uint64_t ended_ns;
    bool stream;
    bool entered;   /* its source is talking: it cannot become another attempt meanwhile */
    bool told;      /* the engine knows its end, or has cancelled it */
    bool committed; /* its content goes to the client */
    bool paused;

    /* Who answers: the network, or sim. */
    bool simulated;
    struct weir_upstream_request built;
    struct weir_fetch_request request;
    struct weir_fetch fetch;
    struct weir_sim_run sim;
    struct weir_timer linger; /* how long the rest of a finished stream is waited for */

    /* The answer. */
    const struct weir_http1_head *head; /* NULL before it came */
    struct weir_slice provider_lines;
    struct weir_slice base_line; /* of a place that is not the endpoint's own; else empty */
    struct weir_buf body;        /* of a plain answer or of an error; from the budget */
    struct weir_plain_answer answer;
    struct weir_usage usage;
    struct weir_slice finish; /* the finish reason, in the job's arena; empty: none */
    bool has_content;
    bool content_filtered;
    bool refuses_empty; /* an answer without content is a failure (beyond 6) */

    /* A stream. */
    bool may_be_continued;
    struct weir_continued *continued; /* it carries on what the caller has; NULL: it begins */
    struct weir_sse sse;
    struct weir_buf held; /* events before the commit, with the reported name; from the budget */
    unsigned held_events; /* of them, those before the first content */
    uint64_t wanted;      /* choices that were asked for; 0: not counted yet */
    uint64_t ended;       /* choices that have a finish reason, a bit each */
    uint64_t spoken;      /* choices that were seen at all */
    bool complete;        /* nothing that may still come decides: the engine knows */
};

/* Starts the attempt that the engine asked for; continues: it carries on what the caller has.  0;
 * WEIR_UPCALL_FAILED when it failed at once (the engine is told by the caller, with *ret_failure); or
 * negative. */
#define WEIR_UPCALL_FAILED 1
WEIR_MUST_USE int weir_upcall_start(struct weir_job *job, uint32_t number, const struct weir_start *start,
                                    bool continues, struct weir_failure *ret_failure);

/* A fresh one, zeroed but for its links: what is the same for all attempts of the job. */
void weir_upcall_init(struct weir_upcall *upcall, struct weir_job *job, uint32_t number);

/* Keeps what a failure says in the job's arena; without memory for that the facts alone must do. */
void weir_upcall_record(struct weir_upcall *upcall, const struct weir_verdict *verdict);

/* Brackets of what a source does of its own accord, from the loop.  The second may end the job. */
void weir_upcall_enter(struct weir_upcall *upcall);
void weir_upcall_leave(struct weir_upcall *upcall);

/* Stops it; nothing is told any more.  what says why, for the record.  Events that it holds are dropped,
 * unless its answer is complete. */
void weir_upcall_cancel(struct weir_upcall *upcall, weir_mishap what);

/* Holds the answer back, and lets it come again; the engine knows. */
void weir_upcall_pause(struct weir_upcall *upcall);
void weir_upcall_resume(struct weir_upcall *upcall);

/* The attempt of that number among those of the job, or NULL. */
struct weir_upcall *weir_upcall_find(struct weir_job *job, uint32_t number);

/* Nothing more comes from its source. */
bool weir_upcall_quiet(const struct weir_upcall *upcall);

/* What the source says, as a fetch does: bytes are on loan until the next flush or end. */
void weir_upcall_on_head(struct weir_upcall *upcall, const struct weir_http1_head *head);
void weir_upcall_on_body(struct weir_upcall *upcall, struct weir_slice bytes);
void weir_upcall_on_flush(struct weir_upcall *upcall);
void weir_upcall_on_done(struct weir_upcall *upcall);
void weir_upcall_on_broken(struct weir_upcall *upcall, weir_mishap mishap);

/* Fails the attempt: classifies, records the words, and tells the engine.  text is what to classify. */
void weir_upcall_fail(struct weir_upcall *upcall, weir_mishap mishap, struct weir_slice text);

/* The same where weir's own limits keep it from an answer: nobody's failure but weir's. */
void weir_upcall_fail_here(struct weir_upcall *upcall);

/* It would be a complete answer, if such an empty one were taken for an answer. */
bool weir_upcall_is_empty(const struct weir_upcall *upcall);

/* The answer is complete: tells the engine. */
void weir_upcall_finish(struct weir_upcall *upcall);

/* What it held is with the client, or with nobody: gives its room back. */
static inline void weir_upcall_drop_held(struct weir_upcall *upcall)
{
    if (upcall->held.ptr != NULL)
        weir_buf_deinit(&upcall->held);
}

/* Gives back what it holds; its source must be quiet. */
void weir_upcall_release(struct weir_upcall *upcall);

#endif
