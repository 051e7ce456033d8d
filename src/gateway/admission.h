/*
 * How many calls a worker has in hand at once, and who waits for a turn (router-semantics 2.6).
 *
 * A call enters with its ticket; it may go on, waits in a queue first, or is turned away.  The queue is first
 * in, first out, and all wait equally long, so its head is always the next whose time is over.  Pure: the
 * caller has the clock, and does what the outcome asks for.  One thread at a time.
 */
#ifndef WEIR_GATEWAY_ADMISSION_H
#define WEIR_GATEWAY_ADMISSION_H

#include <stdbool.h>
#include <stdint.h>

#include <weir/attr.h>

enum weir_turn { WEIR_TURN_NONE, WEIR_TURN_WAITS, WEIR_TURN_HAS };

/* Of one call, who owns it; all zero before it enters and after it has left. */
struct weir_ticket {
    struct weir_ticket *next; /* in the queue; later ones */
    struct weir_ticket *prev;
    uint64_t since_ns; /* when it entered */
    enum weir_turn turn;
};

struct weir_admission {
    uint32_t max_running; /* 0: any number */
    uint32_t max_waiting;
    uint64_t wait_ns; /* the longest */
    uint32_t running;
    uint32_t waiting;
    struct weir_ticket *first;
    struct weir_ticket *last;
};

void weir_admission_init(struct weir_admission *ret_admission, uint32_t max_running, uint32_t max_waiting,
                         uint64_t wait_ns);

/* The ticket waits for its turn. */
#define WEIR_ADMISSION_WAIT 1
/* Neither a turn is free nor a place in the queue; the ticket stays outside. */
#define WEIR_ADMISSION_FULL 2

/* 0 (it has its turn), WEIR_ADMISSION_WAIT or WEIR_ADMISSION_FULL. */
WEIR_MUST_USE int weir_admission_enter(struct weir_admission *admission, struct weir_ticket *ticket,
                                       uint64_t now_ns);

/* At any time: gives back the turn or the place in the queue; of a ticket that is outside nothing. */
void weir_admission_leave(struct weir_admission *admission, struct weir_ticket *ticket);

/* Gives a free turn to the ticket that waits longest; NULL when there is no turn or nobody waits. */
struct weir_ticket *weir_admission_next(struct weir_admission *admission);

/* Takes out a ticket that has waited for its time; NULL when there is none (any more). */
struct weir_ticket *weir_admission_overdue(struct weir_admission *admission, uint64_t now_ns);

/* When to ask for the next and the overdue ones: 0, at once; WEIR_TIME_NEVER, not before something changes.
 */
uint64_t weir_admission_expiry(const struct weir_admission *admission);

/* Whether counts and queue agree; for tests. */
bool weir_admission_validate(const struct weir_admission *admission);

#endif
