/*
 * Without a limit a worker takes what comes until everything is slow for everybody; with one, the calls that
 * it has stay fast, a short burst waits a moment, and the rest is told at once to come again.
 *
 * Invariants: nobody waits while a turn is free, but between a call's leaving and the next question for who
 * is next; the queue is ordered by since_ns, since time never goes back.
 */
#include "gateway/admission.h"

#include <stddef.h>

#include "base/time.h"

void weir_admission_init(struct weir_admission *ret_admission, uint32_t max_running, uint32_t max_waiting,
                         uint64_t wait_ns)
{
    *ret_admission =
        (struct weir_admission){.max_running = max_running, .max_waiting = max_waiting, .wait_ns = wait_ns};
}

static bool has_turn(const struct weir_admission *admission)
{
    return admission->max_running == 0 || admission->running < admission->max_running;
}

static void give_turn(struct weir_admission *admission, struct weir_ticket *ticket)
{
    ticket->turn = WEIR_TURN_HAS;
    admission->running++;
}

static void append(struct weir_admission *admission, struct weir_ticket *ticket)
{
    ticket->turn = WEIR_TURN_WAITS;
    ticket->next = NULL;
    ticket->prev = admission->last;
    if (ticket->prev != NULL)
        ticket->prev->next = ticket;
    else
        admission->first = ticket;
    admission->last = ticket;
    admission->waiting++;
}

static void take_out(struct weir_admission *admission, struct weir_ticket *ticket)
{
    if (ticket->prev != NULL)
        ticket->prev->next = ticket->next;
    else
        admission->first = ticket->next;
    if (ticket->next != NULL)
        ticket->next->prev = ticket->prev;
    else
        admission->last = ticket->prev;
    ticket->next = NULL;
    ticket->prev = NULL;
    ticket->turn = WEIR_TURN_NONE;
    admission->waiting--;
}

int weir_admission_enter(struct weir_admission *admission, struct weir_ticket *ticket, uint64_t now_ns)
{
    ticket->since_ns = now_ns;
    if (admission->first == NULL && has_turn(admission)) {
        give_turn(admission, ticket);
        return 0;
    }
    if (admission->waiting >= admission->max_waiting)
        return WEIR_ADMISSION_FULL;
    append(admission, ticket);
    return WEIR_ADMISSION_WAIT;
}

void weir_admission_leave(struct weir_admission *admission, struct weir_ticket *ticket)
{
    switch (ticket->turn) {
    case WEIR_TURN_NONE:
        return;
    case WEIR_TURN_WAITS:
        take_out(admission, ticket);
        return;
    case WEIR_TURN_HAS:
        ticket->turn = WEIR_TURN_NONE;
        admission->running--;
        return;
    }
}

struct weir_ticket *weir_admission_next(struct weir_admission *admission)
{
    struct weir_ticket *ticket = admission->first;

    if (ticket == NULL || !has_turn(admission))
        return NULL;
    take_out(admission, ticket);
    give_turn(admission, ticket);
    return ticket;
}

static uint64_t due_ns(const struct weir_admission *admission)
{
    return weir_time_add(admission->first->since_ns, admission->wait_ns);
}

struct weir_ticket *weir_admission_overdue(struct weir_admission *admission, uint64_t now_ns)
{
    struct weir_ticket *ticket = admission->first;

    if (ticket == NULL || now_ns < due_ns(admission))
        return NULL;
    take_out(admission, ticket);
    return ticket;
}

uint64_t weir_admission_expiry(const struct weir_admission *admission)
{
    if (admission->first == NULL)
        return WEIR_TIME_NEVER;
    return has_turn(admission) ? 0 : due_ns(admission);
}

bool weir_admission_validate(const struct weir_admission *admission)
{
    const struct weir_ticket *before = NULL;
    uint32_t waiting = 0;

    for (const struct weir_ticket *t = admission->first; t != NULL; t = t->next) {
        if (t->turn != WEIR_TURN_WAITS || t->prev != before ||
            (before != NULL && before->since_ns > t->since_ns))
            return false;
        before = t;
        waiting++;
    }
    return before == admission->last && waiting == admission->waiting && waiting <= admission->max_waiting &&
           (admission->max_running == 0 || admission->running <= admission->max_running);
}
