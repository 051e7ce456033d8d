/*
 * Timers for one loop: a hierarchical wheel whose entries are embedded in what they guard.
 *
 * Arming, moving and cancelling cost a few pointer writes and no allocation, since nearly every timer of a
 * proxy is cancelled.  The price is precision: a timer fires at its time or up to WEIR_TIMER_TICK_NS after
 * it, never before.  A time further away than the wheel reaches (about four hours) is taken in several
 * rounds.
 *
 * The wheel reads no clock; the loop that owns it tells the time.  One thread only.
 */
#ifndef WEIR_NET_TIMER_H
#define WEIR_NET_TIMER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define WEIR_TIMER_TICK_NS (UINT64_C(1) << 20)

enum { WEIR_TIMER_LEVELS = 4, WEIR_TIMER_SLOT_BITS = 6, WEIR_TIMER_SLOTS = 1 << WEIR_TIMER_SLOT_BITS };

struct weir_timer;

/* Called once when the time has come, with the timer disarmed; it may arm it again or free its owner. */
typedef void weir_timer_fire_fn(struct weir_timer *timer);

struct weir_timer {
    struct weir_timer *next; /* NULL: not armed */
    struct weir_timer *prev;
    uint64_t at_ns;
    weir_timer_fire_fn *fire;
};

struct weir_timer_wheel {
    uint64_t tick;                    /* everything before this tick has fired */
    uint64_t full[WEIR_TIMER_LEVELS]; /* bit i: slot i of the level is not empty */
    struct weir_timer slots[WEIR_TIMER_LEVELS][WEIR_TIMER_SLOTS]; /* list heads */
};

/* The timer is idle afterwards.  Never call it on an armed one. */
static inline void weir_timer_init(struct weir_timer *timer, weir_timer_fire_fn *fire)
{
    *timer = (struct weir_timer){.fire = fire};
}

static inline bool weir_timer_armed(const struct weir_timer *timer)
{
    return timer->next != NULL;
}

void weir_timer_wheel_init(struct weir_timer_wheel *wheel, uint64_t now_ns);

/* Puts an idle timer in; a time that is past fires at the next run. */
void weir_timer_wheel_add(struct weir_timer_wheel *wheel, struct weir_timer *timer, uint64_t at_ns);

/* Takes the timer out; does nothing when it is idle. */
void weir_timer_wheel_remove(struct weir_timer_wheel *wheel, struct weir_timer *timer);

/* A time before which nothing fires: exact for what is near, early for what is far; WEIR_TIME_NEVER when the
 * wheel is empty. */
uint64_t weir_timer_wheel_next(const struct weir_timer_wheel *wheel);

/*
 * Fires all that is due at now_ns.  One that is armed from inside for a past time fires a tick later.
 */
void weir_timer_wheel_run(struct weir_timer_wheel *wheel, uint64_t now_ns);

/* Each timer stands in the slot that its time and the wheel's tick demand, and the bits tell the truth. */
bool weir_timer_wheel_validate(const struct weir_timer_wheel *wheel);

#endif
