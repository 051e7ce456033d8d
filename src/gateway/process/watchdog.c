/*
 * Each worker is asked four times as often as the manager wants to hear, and what it is told is that all have
 * answered the question before.  A worker that hangs makes the telling end within a quarter of the limit, and
 * one that is busy for less than half of it is not taken for one that hangs.
 */
#include "gateway/process/watchdog.h"

#include "base/container.h"
#include "base/time.h"
#include "gateway/crew.h"

enum { ASKED_AS_OFTEN = 4 };

static void arm(struct weir_watchdog *watchdog)
{
    weir_loop_arm(watchdog->loop, &watchdog->timer,
                  weir_time_add(weir_loop_now(watchdog->loop), watchdog->every_ns));
}

static void on_time(struct weir_timer *timer)
{
    struct weir_watchdog *watchdog = WEIR_CONTAINER(timer, struct weir_watchdog, timer);

    if (weir_crew_beat(watchdog->crew))
        weir_notify_send(watchdog->notify, "WATCHDOG=1");
    arm(watchdog);
}

void weir_watchdog_start(struct weir_watchdog *ret_watchdog, weir_loop *loop, struct weir_crew *crew,
                         const struct weir_notify *notify)
{
    uint64_t limit_ns = weir_notify_watchdog_ns();

    *ret_watchdog = (struct weir_watchdog){
        .loop = loop, .crew = crew, .notify = notify, .every_ns = limit_ns / ASKED_AS_OFTEN};
    weir_timer_init(&ret_watchdog->timer, on_time);
    if (weir_notify_heard(notify) && limit_ns > 0)
        arm(ret_watchdog);
}

void weir_watchdog_stop(struct weir_watchdog *watchdog)
{
    if (watchdog->loop != NULL)
        weir_loop_cancel(watchdog->loop, &watchdog->timer);
}
