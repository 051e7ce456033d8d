/*
 * How many calls a process has in hand at once, and who waits for a turn (router-semantics 2.6, decisions 3).
 *
 * A call enters with its ticket; it may go on, waits in a queue first, or is turned away.  There is one count
 * and one queue, first in, first out, for the calls of all threads.  A ticket belongs to the thread that
 * entered it; a turn that becomes free in one thread goes at once to the first in the queue, whose thread is
 * woken to begin that call.  No clock: how long a call waits is its thread's business.
 *
 * Without a limit nothing is counted and no lock is taken.
 */
#ifndef WEIR_GATEWAY_ADMISSION_H
#define WEIR_GATEWAY_ADMISSION_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#include <weir/attr.h>

struct weir_waiters;

enum weir_turn {
    WEIR_TURN_NONE,
    WEIR_TURN_WAITS,
    WEIR_TURN_CALLED, /* has its turn, and its thread does not know yet */
    WEIR_TURN_HAS
};

/* Of one call, who owns it; all zero before it enters and after it has left.  The lock guards it. */
struct weir_ticket {
    struct weir_ticket *next; /* later ones, in the queue or among those who were called */
    struct weir_ticket *prev;
    struct weir_waiters *waiters;
    enum weir_turn turn;
};

struct weir_ticket_list {
    struct weir_ticket *first;
    struct weir_ticket *last;
};

struct weir_admission {
    uint32_t max_running; /* 0: any number */
    uint32_t max_waiting;
    pthread_mutex_t lock; /* guards all below, the tickets that are inside, and the waiters */
    uint32_t running;     /* those that were called too */
    uint32_t waiting;
    struct weir_ticket_list queue;
};

/* One thread's side of it; lives until its last ticket has left. */
struct weir_waiters {
    struct weir_ticket_list called;
    /* Has the thread ask weir_admission_called soon.  From any thread, under the lock: calls nothing of this
     * header.  Not again before that function had no more to give. */
    void (*wake)(struct weir_waiters *waiters);
    bool woken;
};

void weir_admission_init(struct weir_admission *ret_admission, uint32_t max_running, uint32_t max_waiting);

/* All tickets must have left. */
void weir_admission_deinit(struct weir_admission *admission);

static inline void weir_waiters_init(struct weir_waiters *ret_waiters,
                                     void (*wake)(struct weir_waiters *waiters))
{
    *ret_waiters = (struct weir_waiters){.wake = wake};
}

/* The ticket waits for its turn. */
#define WEIR_ADMISSION_WAIT 1
/* Neither a turn is free nor a place in the queue; the ticket stays outside. */
#define WEIR_ADMISSION_FULL 2

/* 0 (it has its turn), WEIR_ADMISSION_WAIT or WEIR_ADMISSION_FULL.  The waiters are those of the calling
 * thread, which alone uses the ticket from here on. */
WEIR_MUST_USE int weir_admission_enter(struct weir_admission *admission, struct weir_waiters *waiters,
                                       struct weir_ticket *ticket);

/* At any time: gives back the turn or the place in the queue; of a ticket that is outside nothing. */
void weir_admission_leave(struct weir_admission *admission, struct weir_ticket *ticket);

/* Takes a ticket out that has waited long enough.  Returns whether it waited still: one that was called
 * meanwhile keeps its turn, and weir_admission_called will tell. */
WEIR_MUST_USE bool weir_admission_give_up(struct weir_admission *admission, struct weir_ticket *ticket);

/* The next of the thread's own tickets whose turn has come; NULL when there is none (any more). */
struct weir_ticket *weir_admission_called(struct weir_admission *admission, struct weir_waiters *waiters);

/* How many calls have a turn, and how many wait for one, at this moment.  From any thread. */
struct weir_admission_counts {
    uint32_t running;
    uint32_t waiting;
};
struct weir_admission_counts weir_admission_counts(struct weir_admission *admission);

/* Whether counts and queue agree; for tests. */
bool weir_admission_validate(struct weir_admission *admission);

#endif
