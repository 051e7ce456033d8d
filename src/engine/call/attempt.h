/*
 * The life of an attempt: begun for a deployment, ended by what the host tells, entered in the counters.
 */
#ifndef WEIR_ENGINE_ATTEMPT_H
#define WEIR_ENGINE_ATTEMPT_H

#include <stdbool.h>
#include <stdint.h>

#include <weir/call.h>

#include "engine/call/call.h"
#include "engine/call/stream.h"
#include "engine/live/cooldown.h"
#include "engine/live/quota.h"

struct weir_attempt {
    struct weir_attempt *next; /* with a higher number */
    uint32_t number;           /* 0: it was refused before it began, and has failed so */
    struct weir_frame *frame;
    const weir_deployment *deployment;
    struct weir_stream stream;
    uint64_t ended_ns;
    bool continues; /* carries on what the caller has */
    bool committed;
    bool cancel;             /* the host must be told to stop it */
    struct weir_quota quota; /* what it holds of its deployment's limits; see charge.h */
    struct weir_failure failure;
    weir_reason reason;
    struct weir_limit_story limit; /* that refused it */
    struct weir_outcome outcome;
    bool cooled; /* its failure set a cooldown */
    struct weir_cooldown cooldown;
};

/*
 * Starts an attempt of the top frame on the deployment, with a step of the kind: START or CONTINUE.  When the
 * time of the call is up it ends the call instead.  Where the deployment's limits refuse the attempt there is
 * no step: it is one that has failed, without a number.
 */
enum weir_turn weir_attempt_start(struct weir_call *call, const weir_deployment *deployment,
                                  weir_step_kind kind, struct weir_step *ret_step);

/* When the time of the call would be up, had the deployment its latest attempt. */
uint64_t weir_attempt_deadline(const struct weir_call *call, const weir_deployment *deployment);

/* The order of the tier that it was picked from. */
int32_t weir_attempt_order(const struct weir_attempt *attempt);

/* NULL when it does not run. */
struct weir_attempt *weir_attempt_running(const struct weir_call *call, uint32_t number);

/* Whether there is content that the caller may have and has not: the window is over, or the answer is
 * complete. */
static inline bool weir_attempt_wants_commit(const struct weir_attempt *attempt)
{
    enum weir_stream_state state = attempt->stream.state;

    return attempt->stream.content && !attempt->committed &&
           (state == WEIR_STREAM_FLOWING || state == WEIR_STREAM_ENDING || state == WEIR_STREAM_DONE);
}

/* When the call must look at it: now, once there is something to do about it. */
static inline uint64_t weir_attempt_due(const struct weir_attempt *attempt, uint64_t now_ns)
{
    if (!weir_stream_runs(&attempt->stream) || weir_attempt_wants_commit(attempt))
        return now_ns;
    return weir_stream_due(&attempt->stream);
}

/* Ends a running attempt with success: its entry in the counters. */
void weir_attempt_finish(struct weir_call *call, struct weir_attempt *attempt, enum weir_stream_input input,
                         const struct weir_outcome *outcome);

/* Ends a running attempt with a failure, by FAILED or LATE: counts it, and keeps later picks of the call away
 * from it.  After a finish reason it ends with success all the same. */
void weir_attempt_fail(struct weir_call *call, struct weir_attempt *attempt, enum weir_stream_input input,
                       const struct weir_failure *failure, weir_reason reason);

/* Ends a running attempt that the call does not want any more: neither a success nor a failure. */
void weir_attempt_stop(struct weir_call *call, struct weir_attempt *attempt);

/* Tells observers of a failed attempt, of its stream, and of the cooldown that it set. */
void weir_attempt_report(struct weir_call *call, const struct weir_attempt *attempt, bool will_retry,
                         uint64_t wait_ns);

/* Tells observers how a stream that had opened ended without being complete. */
void weir_attempt_report_broken(struct weir_call *call, const struct weir_attempt *attempt,
                                const struct weir_failure *failure);

/* An event that is about the attempt. */
struct weir_event *weir_attempt_event(struct weir_call *call, const struct weir_attempt *attempt,
                                      weir_event_kind kind, uint64_t time_ns);

/* What is lost with a failed attempt. */
struct weir_loss weir_attempt_loss(const struct weir_attempt *attempt);

/* Takes an attempt out of the list once its end was dealt with. */
void weir_attempt_drop(struct weir_call *call, struct weir_attempt *attempt);

#endif
