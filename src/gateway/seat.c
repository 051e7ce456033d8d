/*
 * Invariants: the seat has one reference to its current setup, one to what is offered, and one to each
 * earlier setup by which something is still under way.  The task is in the loop's queue exactly from an offer
 * that found nothing offered until it runs, so an offer that replaces another needs none.
 */
#include "gateway/seat.h"

#include "base/container.h"

static void let_go(const struct weir_seat *seat, struct weir_setup *setup)
{
    if (setup->uses[seat->index].jobs == 0)
        weir_setup_unref(setup);
}

static void take_up(struct weir_loop_task *task)
{
    struct weir_seat *seat = WEIR_CONTAINER(task, struct weir_seat, task);
    struct weir_setup *before = seat->setup;

    seat->setup = atomic_exchange_explicit(&seat->offered, NULL, memory_order_acquire);
    if (seat->changed != NULL)
        seat->changed(seat);
    let_go(seat, before);
}

void weir_seat_init(struct weir_seat *ret_seat, weir_loop *loop, size_t index, struct weir_setup *setup,
                    weir_seat_changed_fn *changed)
{
    *ret_seat = (struct weir_seat){.loop = loop,
                                   .index = index,
                                   .setup = weir_setup_ref(setup),
                                   .changed = changed,
                                   .task = {.run = take_up}};
    atomic_init(&ret_seat->offered, NULL);
}

void weir_seat_deinit(struct weir_seat *seat)
{
    weir_setup_unref(atomic_load_explicit(&seat->offered, memory_order_relaxed));
    weir_setup_unref(seat->setup);
    *seat = (struct weir_seat){0};
}

void weir_seat_offer(struct weir_seat *seat, struct weir_setup *setup)
{
    struct weir_setup *passed_over;

    passed_over = atomic_exchange_explicit(&seat->offered, weir_setup_ref(setup), memory_order_acq_rel);
    if (passed_over == NULL)
        weir_loop_post(seat->loop, &seat->task);
    else
        weir_setup_unref(passed_over);
}

void weir_seat_release(struct weir_seat *seat, struct weir_setup *setup)
{
    setup->uses[seat->index].jobs--;
    if (setup != seat->setup)
        let_go(seat, setup);
}
