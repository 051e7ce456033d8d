/*
 * Whether the last worker has ended is looked at from time to time, while draining only: nobody else waits
 * for it, and a worker's last act is to say that it has ended.
 */
#include "gateway/process/process.h"

#include <stdio.h>

#include "base/container.h"
#include "base/time.h"
#include "gateway/crew.h"
#include "gateway/gateway.h"

#define LOOK_EVERY_NS (20 * WEIR_NS_PER_MS)

static void look_later(struct weir_process *process)
{
    weir_loop_arm(process->loop, &process->end_timer,
                  weir_time_add(weir_loop_now(process->loop), LOOK_EVERY_NS));
}

static void on_look(struct weir_timer *timer)
{
    struct weir_process *process = WEIR_CONTAINER(timer, struct weir_process, end_timer);

    if (weir_crew_ended(process->crew))
        weir_loop_stop(process->loop);
    else
        look_later(process);
}

static void end(struct weir_process *process)
{
    if (process->draining) {
        weir_crew_stop(process->crew);
        return;
    }
    process->draining = true;
    (void)fputs("weir: draining: no new calls; those under way may finish (again to end at once)\n", stderr);
    weir_reload_close(&process->reload);
    weir_crew_drain(process->crew);
    look_later(process);
}

static void on_signal(struct weir_signals *signals, int number)
{
    struct weir_process *process = WEIR_CONTAINER(signals, struct weir_process, signals);

    if (number == SIGHUP)
        weir_reload_request(&process->reload, WEIR_RELOAD_BY_SIGNAL);
    else
        end(process);
}

int weir_process_init(struct weir_process *ret_process, const struct weir_mem *mem)
{
    *ret_process = (struct weir_process){0};
    weir_timer_init(&ret_process->end_timer, on_look);
    (void)signal(SIGPIPE, SIG_IGN);
    (void)sigemptyset(&ret_process->set);
    (void)sigaddset(&ret_process->set, SIGTERM);
    (void)sigaddset(&ret_process->set, SIGINT);
    (void)sigaddset(&ret_process->set, SIGHUP);
    weir_signals_claim(&ret_process->set);
    return weir_loop_new(mem, &ret_process->loop);
}

void weir_process_attend(struct weir_process *process, struct weir_gateway *gateway,
                         const struct weir_reload_source *source)
{
    weir_reload_init(&process->reload, process->loop, gateway, source);
}

int weir_process_run(struct weir_process *process, struct weir_crew *crew)
{
    int r;

    process->crew = crew;
    r = weir_signals_start(process->loop, &process->signals, &process->set, on_signal);
    if (r < 0)
        return r;
    weir_loop_run(process->loop);
    return 0;
}

void weir_process_leave(struct weir_process *process)
{
    if (process->loop == NULL)
        return;
    weir_loop_cancel(process->loop, &process->end_timer);
    weir_reload_close(&process->reload);
    weir_signals_stop(&process->signals);
}

void weir_process_deinit(struct weir_process *process)
{
    weir_process_leave(process);
    weir_loop_free(process->loop);
    process->loop = NULL;
}
