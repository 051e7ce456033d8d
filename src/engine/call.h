/*
 * The inside of a call: what its states share.  The contract is <weir/call.h>.
 *
 * A call is a stack of *frames*, one for each group that is being walked: the asked one at the bottom, then
 * each hop that has not been given up.  The top frame runs a *retry loop*; when that is lost the frame looks
 * for the next way on (orders, siblings, chain), and when it has none the frame below takes the next
 * target of its chain.  Attempts stand beside the frames in a list; all that run are looked at by
 * number, and none of them is the current one.
 *
 * All memory comes from the call's arena: failed allocations show in its flag, which ends the call.
 */
#ifndef WEIR_ENGINE_CALL_H
#define WEIR_ENGINE_CALL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <weir/call.h>

#include "base/arena.h"
#include "base/rand.h"
#include "engine/cooldown.h"
#include "engine/event.h"
#include "engine/filter.h"
#include "engine/resolve.h"

/* Bounds on all that a configuration or a request may ask of one call: attempts and hops together, and
 * targets that are looked at.  A call that reaches one ends as if it had nowhere left to go. */
enum { WEIR_CALL_TRIES_MAX = 10000, WEIR_CALL_TARGETS_MAX = 1000 };

enum weir_call_state {
#define X(state, function, prose) WEIR_CALL_##state,
#include "engine/tbl/steps.h"
#undef X
    WEIR_CALL_STATES
};

/* What a state says to the loop over the states. */
enum weir_turn {
    WEIR_TURN_AGAIN, /* go on with the state that the call is in now */
    WEIR_TURN_STEP,  /* there is a step for the host */
    WEIR_TURN_IDLE   /* nothing to do before an input or the expiry */
};

#define X(state, function, prose) enum weir_turn function(struct weir_call *call, struct weir_step *ret_step);
#include "engine/tbl/steps.h"
#undef X

/* A failure that a retry loop ended with, or is about to deal with. */
struct weir_loss {
    struct weir_failure failure;
    weir_reason reason;
    uint32_t attempt;     /* 0: none was made */
    uint32_t retries;     /* made when it happened ... */
    uint32_t max_retries; /* ... of so many */
};

/* One retry loop: the ordinary one of a frame, one of an order, or a single attempt on a sibling. */
struct weir_loop {
    enum weir_pick_mode mode;
    int32_t order; /* of WEIR_PICK_ORDER */
    bool begun;    /* its first attempt was made */
    bool limit_known;
    uint32_t retries;
    uint32_t limit; /* N */
    uint64_t wait_ns;
    uint64_t wait_until_ns;
};

/* How far a frame has come with what it does after its first loop; never goes back. */
enum weir_frame_phase { WEIR_PHASE_ORDERS, WEIR_PHASE_SIBLINGS, WEIR_PHASE_CHAIN };

struct weir_frame {
    struct weir_frame *below; /* NULL: the asked group's */
    uint32_t level;
    struct weir_slice name;           /* as it was asked or written in the chain */
    const struct weir_target *target; /* of the hop; NULL: the asked group's */
    struct weir_resolution from;
    struct weir_loop loop;
    enum weir_frame_phase phase;
    bool attempted;          /* a deployment was tried in it */
    bool mocked;             /* the 429 of the testing flag was given */
    bool left;               /* its failure was noted for the caller */
    int32_t last_order;      /* the tier of the last failed attempt */
    struct weir_loss latest; /* decides where to go */
    bool has_first;
    struct weir_loss first; /* its first loop's: what the caller is told */
    struct weir_chain chain;
    size_t next_target;
};

enum weir_attempt_state { WEIR_ATTEMPT_RUNNING, WEIR_ATTEMPT_FINISHED, WEIR_ATTEMPT_FAILED };

struct weir_attempt {
    struct weir_attempt *next; /* with a higher number */
    uint32_t number;
    enum weir_attempt_state state;
    struct weir_frame *frame;
    const weir_deployment *deployment;
    uint64_t started_ns;
    uint64_t ended_ns;
    uint64_t limit_ns;    /* from its start, or from the end of a pause */
    uint64_t deadline_ns; /* WEIR_TIME_NEVER: none any more */
    bool by_caller;       /* the deadline is the caller's own */
    bool opened;
    bool content;
    bool paused;
    bool committed;
    bool cancel; /* the host must be told to stop it */
    struct weir_failure failure;
    weir_reason reason;
    struct weir_outcome outcome;
    bool cooled; /* its failure set a cooldown */
    struct weir_cooldown cooldown;
};

/* A target that was tried or refused: it is not asked for again. */
struct weir_tried {
    struct weir_tried *next;
    struct weir_slice name; /* aliases put through */
    struct weir_slice overrides;
};

struct weir_call {
    weir_router *router;
    weir_snapshot *snapshot;
    const struct weir_mem *mem;
    struct weir_arena arena;
    struct weir_rand rand;
    struct weir_request request;
    struct weir_event_queue events;
    enum weir_call_state state;
    uint64_t began_ns;
    uint64_t now_ns;

    struct weir_frame root;
    struct weir_frame *frame; /* the top one */
    struct weir_frame *spare_frames;
    struct weir_tried *tried;
    uint32_t tried_count;
    struct weir_attempt *attempts; /* not yet dealt with, by number */
    struct weir_attempt *spare_attempts;
    struct weir_slot_set failed;

    uint32_t tries; /* attempts, the testing flags' included */
    uint32_t attempts_started;
    uint32_t hops;
    uint32_t asks;
    bool asking;        /* the last ask has no answer yet */
    weir_answer answer; /* to the last ask */
    bool committed;
    bool broken;          /* a stream broke before content */
    bool lost;            /* the call ends with a failure ... */
    struct weir_loss end; /* ... this one: what WEIR_CALL_FAIL tells */
    struct weir_hop_failure *failures;
    size_t failure_count;
    size_t failure_cap;
};

/* attempt.c: the life of an attempt. */

/* NULL when it does not run. */
struct weir_attempt *weir_attempt_running(const struct weir_call *call, uint32_t number);

/* Ends a running attempt with a failure: counts it, and keeps later picks of the call away from it. */
void weir_attempt_fail(struct weir_call *call, struct weir_attempt *attempt,
                       const struct weir_failure *failure, weir_reason reason);

/* Tells observers of a failed attempt, and of the cooldown that it set. */
void weir_attempt_report(struct weir_call *call, const struct weir_attempt *attempt, bool will_retry,
                         uint64_t wait_ns);

/* Takes an attempt out of the list once its end was dealt with. */
void weir_attempt_drop(struct weir_call *call, struct weir_attempt *attempt);

/* stream.c: how an answer comes in. */

/* What an attempt of the request may take, and whether the caller says so (router-semantics 25). */
uint64_t weir_stream_limit(const struct weir_call *call, const struct weir_frame *frame,
                           const weir_deployment *deployment, bool *ret_by_caller);

/* retry.c: after a failure. */

/* Decides between another attempt in the loop and giving it up; reports the attempt, if there was one. */
void weir_retry_judge(struct weir_call *call, const struct weir_failure *failure, weir_reason reason,
                      struct weir_attempt *attempt);

/* Gives the loop up without a retry, for a failure that no attempt had. */
void weir_retry_give_up(struct weir_call *call, const struct weir_failure *failure, weir_reason reason);

/* walk.c: where to go when a loop is given up. */

/* Notes that the call tried a target; false when it had before. */
bool weir_walk_try(struct weir_call *call, struct weir_slice name, struct weir_slice overrides);

/* call.c */

/* The number of retries that the frame's hop, or else the request, asks for; WEIR_UNSET: neither. */
uint32_t weir_call_num_retries(const struct weir_call *call, const struct weir_frame *frame);

/* Ends the call with a failure. */
void weir_call_fail(struct weir_call *call, const struct weir_loss *loss);

/* Takes the time that the host tells, which never goes back. */
static inline void weir_call_note_time(struct weir_call *call, uint64_t now_ns)
{
    if (now_ns > call->now_ns)
        call->now_ns = now_ns;
}

#endif
