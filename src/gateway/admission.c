/*
 * Without a limit a process takes what comes until everything is slow for everybody; with one, the calls that
 * it has stay fast, a short burst waits a moment, and the rest is told at once to come again.
 *
 * A turn is never free while somebody waits: who leaves hands it to the first in the queue under the same
 * lock, so nobody can come between, and no waiter depends on another thread's asking.  That thread only has
 * to be told, which happens under the lock too: once a thread's last ticket has left, nobody wakes it.
 *
 * Invariants: running <= max_running and waiting <= max_waiting; the queue is empty unless all turns are
 * taken; a ticket is in the queue when it waits, in its thread's list when it was called, else in none.
 */
#include "gateway/admission.h"

#include <assert.h>
#include <stddef.h>

static void append(struct weir_ticket_list *list, struct weir_ticket *ticket)
{
    ticket->next = NULL;
    ticket->prev = list->last;
    if (ticket->prev != NULL)
        ticket->prev->next = ticket;
    else
        list->first = ticket;
    list->last = ticket;
}

static void take_out(struct weir_ticket_list *list, struct weir_ticket *ticket)
{
    if (ticket->prev != NULL)
        ticket->prev->next = ticket->next;
    else
        list->first = ticket->next;
    if (ticket->next != NULL)
        ticket->next->prev = ticket->prev;
    else
        list->last = ticket->prev;
    ticket->next = NULL;
    ticket->prev = NULL;
}

static void leave_queue(struct weir_admission *admission, struct weir_ticket *ticket)
{
    take_out(&admission->queue, ticket);
    admission->waiting--;
}

static void wake(struct weir_waiters *waiters)
{
    if (waiters->woken)
        return;
    waiters->woken = true;
    waiters->wake(waiters);
}

/* A turn has become free: for the first in the queue, else for whoever comes. */
static void hand_on(struct weir_admission *admission)
{
    struct weir_ticket *ticket = admission->queue.first;

    if (ticket == NULL) {
        admission->running--;
        return;
    }
    leave_queue(admission, ticket);
    ticket->turn = WEIR_TURN_CALLED;
    append(&ticket->waiters->called, ticket);
    wake(ticket->waiters);
}

static int enter(struct weir_admission *admission, struct weir_ticket *ticket)
{
    if (admission->running < admission->max_running) {
        ticket->turn = WEIR_TURN_HAS;
        admission->running++;
        return 0;
    }
    if (admission->waiting >= admission->max_waiting)
        return WEIR_ADMISSION_FULL;
    ticket->turn = WEIR_TURN_WAITS;
    append(&admission->queue, ticket);
    admission->waiting++;
    return WEIR_ADMISSION_WAIT;
}

static void leave(struct weir_admission *admission, struct weir_ticket *ticket)
{
    enum weir_turn turn = ticket->turn;

    ticket->turn = WEIR_TURN_NONE;
    switch (turn) {
    case WEIR_TURN_NONE:
        return;
    case WEIR_TURN_WAITS:
        leave_queue(admission, ticket);
        return;
    case WEIR_TURN_CALLED:
        take_out(&ticket->waiters->called, ticket);
        hand_on(admission);
        return;
    case WEIR_TURN_HAS:
        hand_on(admission);
        return;
    }
}

static struct weir_ticket *called(struct weir_waiters *waiters)
{
    struct weir_ticket *ticket = waiters->called.first;

    if (ticket == NULL) {
        waiters->woken = false;
        return NULL;
    }
    take_out(&waiters->called, ticket);
    ticket->turn = WEIR_TURN_HAS;
    return ticket;
}

void weir_admission_init(struct weir_admission *ret_admission, uint32_t max_running, uint32_t max_waiting)
{
    *ret_admission = (struct weir_admission){.max_running = max_running, .max_waiting = max_waiting};
    (void)pthread_mutex_init(&ret_admission->lock, NULL);
}

void weir_admission_deinit(struct weir_admission *admission)
{
    assert(admission->running == 0 && admission->waiting == 0);
    (void)pthread_mutex_destroy(&admission->lock);
}

int weir_admission_enter(struct weir_admission *admission, struct weir_waiters *waiters,
                         struct weir_ticket *ticket)
{
    int outcome;

    if (admission->max_running == 0)
        return 0;
    (void)pthread_mutex_lock(&admission->lock);
    ticket->waiters = waiters;
    outcome = enter(admission, ticket);
    (void)pthread_mutex_unlock(&admission->lock);
    return outcome;
}

void weir_admission_leave(struct weir_admission *admission, struct weir_ticket *ticket)
{
    if (admission->max_running == 0)
        return;
    (void)pthread_mutex_lock(&admission->lock);
    leave(admission, ticket);
    (void)pthread_mutex_unlock(&admission->lock);
}

bool weir_admission_give_up(struct weir_admission *admission, struct weir_ticket *ticket)
{
    bool waited;

    (void)pthread_mutex_lock(&admission->lock);
    waited = ticket->turn == WEIR_TURN_WAITS;
    if (waited)
        leave(admission, ticket);
    (void)pthread_mutex_unlock(&admission->lock);
    return waited;
}

struct weir_ticket *weir_admission_called(struct weir_admission *admission, struct weir_waiters *waiters)
{
    struct weir_ticket *ticket;

    (void)pthread_mutex_lock(&admission->lock);
    ticket = called(waiters);
    (void)pthread_mutex_unlock(&admission->lock);
    return ticket;
}

static bool counts_agree(const struct weir_admission *admission)
{
    const struct weir_ticket *before = NULL;
    uint32_t waiting = 0;

    for (const struct weir_ticket *t = admission->queue.first; t != NULL; t = t->next) {
        if (t->turn != WEIR_TURN_WAITS || t->prev != before)
            return false;
        before = t;
        waiting++;
    }
    return before == admission->queue.last && waiting == admission->waiting &&
           waiting <= admission->max_waiting && admission->running <= admission->max_running &&
           (waiting == 0 || admission->running == admission->max_running);
}

struct weir_admission_counts weir_admission_counts(struct weir_admission *admission)
{
    struct weir_admission_counts counts;

    (void)pthread_mutex_lock(&admission->lock);
    counts = (struct weir_admission_counts){admission->running, admission->waiting};
    (void)pthread_mutex_unlock(&admission->lock);
    return counts;
}

bool weir_admission_validate(struct weir_admission *admission)
{
    bool good;

    (void)pthread_mutex_lock(&admission->lock);
    good = counts_agree(admission);
    (void)pthread_mutex_unlock(&admission->lock);
    return good;
}
