/*
 * The inside of a call: what its states share.  The contract is <weir/call.h>.
 *
 * A call is a stack of *frames*, one for each group that is being walked: the asked one at the bottom, then
 * each hop that has not been given up.  The top frame runs a *retry loop*; when that is lost the frame looks
 * for the next way on (orders, siblings, chain), and when it has none the frame below takes the next
 * target of its chain.  The continuation of a cut stream walks the same way from the frame whose attempt was
 * cut, without retry loops (continuation.c).  Attempts stand beside the frames in a list; all that run are
 * looked at by number, and none of them is the current one.
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
#include "engine/event.h"
#include "engine/pick/filter.h"
#include "engine/snapshot/resolve.h"

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
    struct weir_failure failure; /* status 0: nothing is lost */
    weir_reason reason;
    struct weir_limit_story limit;
    struct weir_slice group; /* that failed so */
    uint32_t attempt;        /* 0: none was made */
    uint32_t retries;        /* made when it happened ... */
    uint32_t max_retries;    /* ... of so many */
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

/* A loop that cooldowns alone have ended; see cool.c. */
struct weir_starved {
    bool is;
    const weir_deployment *failed; /* a retry is owed for its failure; NULL: a pick found nobody */
    struct weir_loop loop;
};

struct weir_frame {
    struct weir_frame *below; /* NULL: the asked group's */
    uint32_t level;
    struct weir_slice name;           /* as it was asked or written in the chain */
    const struct weir_target *target; /* of the hop; NULL: the asked group's */
    struct weir_resolution from;
    struct weir_loop loop;
    struct weir_loop
        owing; /* the last one before the siblings that counted retries: a wait uses what is left */
    enum weir_frame_phase phase;
    bool attempted; /* a deployment was tried in it */
    bool mocked;    /* the 429 of the testing flag was given */
    bool left;      /* its failure was noted for the caller */
    struct weir_starved starved;
    int32_t last_order;      /* the tier of the last failed attempt */
    struct weir_loss latest; /* decides where to go */
    bool has_first;
    struct weir_loss first; /* its first loop's: what the caller is told */
    struct weir_chain chain;
    size_t next_target;
};

/* A target that was tried or refused: it is not asked for again. */
struct weir_tried {
    struct weir_tried *next;
    struct weir_slice name; /* aliases put through */
    struct weir_slice overrides;
};

/* The continuation of a stream; see continuation.c. */
struct weir_continuation {
    struct weir_frame *base;     /* whose attempt broke last; NULL: nothing is continued */
    struct weir_loss first;      /* the first break: what the caller is told when there is no way on */
    struct weir_failure failure; /* the latest break's ... */
    uint32_t attempt;            /* ... and its attempt */
    const weir_deployment *deployment;
    bool itself_is_left;        /* the deployment that broke may be tried at last */
    uint32_t next_source;       /* of the deployment's continue_to; past them: itself */
    struct weir_slot_set tried; /* deployments that are not offered (again) */
};

/* The race of the attempts that run; see hedge.c. */
struct weir_race {
    uint64_t at_ns; /* when another one joins; WEIR_TIME_NEVER: nobody does */
    uint32_t left;  /* that may join */
    struct weir_slot_set excluded;
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
    uint64_t deadline_ns;   /* of the call, as its latest attempt has it */
    uint64_t cool_limit_ns; /* of waits for cooldowns; 0: none was thought of yet */

    struct weir_frame root;
    struct weir_frame *frame; /* the top one */
    struct weir_frame *spare_frames;
    struct weir_tried *tried;
    uint32_t tried_count;
    struct weir_attempt *attempts; /* attempt.h; not yet dealt with, by number */
    struct weir_attempt *spare_attempts;
    struct weir_slot_set failed;
    struct weir_slot_set pool; /* of the latest pick, where tags route */
    struct weir_race race;

    uint32_t tries; /* attempts, the testing flags' included */
    uint32_t attempts_started;
    uint32_t hops;
    uint32_t asks;
    bool asking;        /* the last ask has no answer yet */
    weir_answer answer; /* to the last ask */
    bool committed;
    bool broken;         /* a stream broke before content */
    bool other;          /* the caller has content that is not plain text ... */
    uint64_t text_bytes; /* ... and so much that is */
    struct weir_continuation continuation;
    struct weir_failure stop; /* for which attempts are stopped that still run */
    bool lost;                /* the call ends with a failure ... */
    struct weir_loss end;     /* ... this one: what WEIR_CALL_FAIL tells */
    struct weir_hop_failure *failures;
    size_t failure_count;
    size_t failure_cap;
};

/* The number of retries that the frame's hop, or else the request, asks for; WEIR_UNSET: neither. */
uint32_t weir_call_num_retries(const struct weir_call *call, const struct weir_frame *frame);

/* Ends the call with a failure. */
void weir_call_fail(struct weir_call *call, const struct weir_loss *loss);

/* Ends the call because its time is up (beyond 1). */
void weir_call_fail_late(struct weir_call *call);

/* Makes room for all slots in a set of the call; when memory runs out it has no words and the call ends. */
void weir_call_make_set(struct weir_call *call, struct weir_slot_set *set);

/* Adds a slot to a set of the call; when memory runs out the call ends. */
void weir_call_mark(struct weir_call *call, struct weir_slot_set *set, uint32_t slot);

static inline bool weir_call_is_continuing(const struct weir_call *call)
{
    return call->continuation.base != NULL;
}

/* Takes the time that the host tells, which never goes back. */
static inline void weir_call_note_time(struct weir_call *call, uint64_t now_ns)
{
    if (now_ns > call->now_ns)
        call->now_ns = now_ns;
}

/* Whether the deployment is reserved for others now: then it is not even told of. */
bool weir_call_is_shut(const struct weir_call *call, const weir_deployment *d, uint64_t now_ns);

#endif
