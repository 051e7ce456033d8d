/*
 * A thread's place at the current setup.
 *
 * The main thread offers each new setup to every seat; the seat's own thread takes it up from its loop and
 * works by it from then on.  What is under way keeps the setup that it began with: it is counted here, by
 * seat and setup, without an atomic and without an allocation, and with the last of it the thread's reference
 * goes back.
 *
 *   main thread:  offer ----.                      (a newer offer replaces one that was not taken up)
 *   seat's loop:             `-> take up: changed -> hold ... release, hold ... release
 */
#ifndef WEIR_GATEWAY_SEAT_H
#define WEIR_GATEWAY_SEAT_H

#include <stdatomic.h>
#include <stddef.h>

#include "gateway/setup.h"
#include "net/loop.h"

struct weir_seat;

/* A new setup holds; the seat's is the new one already. */
typedef void weir_seat_changed_fn(struct weir_seat *seat);

struct weir_seat {
    struct weir_seat *next; /* in the gateway's list */
    weir_loop *loop;
    size_t index;             /* in weir_setup.uses */
    struct weir_setup *setup; /* the current one; for the seat's thread only */
    /* private */
    weir_seat_changed_fn *changed;
    _Atomic(struct weir_setup *) offered; /* NULL: nothing new */
    struct weir_loop_task task;           /* posted while something is offered */
};

/* Before the thread starts.  The loop outlives the last offer.  changed may be NULL; it is called on the
 * loop. */
void weir_seat_init(struct weir_seat *ret_seat, weir_loop *loop, size_t index, struct weir_setup *setup,
                    weir_seat_changed_fn *changed);

/* After the thread's end, and the last release.  Accepts a zeroed one. */
void weir_seat_deinit(struct weir_seat *seat);

/* From one thread at a time, any: the seat's thread shall work by the setup. */
void weir_seat_offer(struct weir_seat *seat, struct weir_setup *setup);

/* Something begins: the setup that it works by, to be released when it is over. */
static inline struct weir_setup *weir_seat_hold(struct weir_seat *seat)
{
    seat->setup->uses[seat->index].jobs++;
    return seat->setup;
}
void weir_seat_release(struct weir_seat *seat, struct weir_setup *setup);

#endif
