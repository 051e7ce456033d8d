/*
 * The process is in one of four states: it serves (ready, once nobody else speaks for the service), it has
 * been replaced by another one, it drains because it was told to, it ends.  A process that was replaced may
 * be told to drain as well: then its idle connections are closed at once.
 *
 * Whether the last worker has ended is looked at from time to time, while draining only: nobody else waits
 * for it, and a worker's last act is to say that it has ended.
 */
#include "gateway/process/process.h"

#include <stdio.h>
#include <unistd.h>

#include <weir/snapshot.h>

#include "base/container.h"
#include "base/time.h"
#include "config/config.h"
#include "gateway/crew.h"
#include "gateway/gateway.h"

#define LOOK_EVERY_NS (20 * WEIR_NS_PER_MS)

/* ---- what the service manager is told ---- */

static void tell_ready(struct weir_process *process)
{
    const struct weir_config *config = process->gateway->setup->config;
    struct weir_slice address = weir_crew_address(process->crew);

    weir_notify_send(
        &process->notify, "READY=1\nSTATUS=Serves on http://%.*s (deployments: %zu, groups: %zu)\n",
        (int)address.len, address.ptr, config->deployment_count, weir_snapshot_group_count(config->snapshot));
}

static void on_reload(struct weir_reload *reload, bool begins)
{
    struct weir_process *process = WEIR_CONTAINER(reload, struct weir_process, reload);

    if (!process->ready)
        return;
    if (begins)
        weir_notify_send(&process->notify,
                         "RELOADING=1\nMONOTONIC_USEC=%llu\nSTATUS=Reads the configuration again\n",
                         (unsigned long long)(weir_loop_now(process->loop) / WEIR_NS_PER_US));
    else
        tell_ready(process);
}

/* This process speaks for the service: from the start, or from when the one before has stepped back. */
static void on_alone(struct weir_successor *successor)
{
    struct weir_process *process = WEIR_CONTAINER(successor, struct weir_process, successor);

    process->ready = true;
    tell_ready(process);
    weir_watchdog_start(&process->watchdog, process->loop, process->crew, &process->notify);
}

/* ---- the end ---- */

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

static void tell_stopping(const struct weir_process *process)
{
    uint64_t limit_ns = process->gateway->setup->config->settings.drain_timeout_ns;

    weir_notify_send(&process->notify,
                     "STOPPING=1\nSTATUS=Finishes the calls under way\nEXTEND_TIMEOUT_USEC=%llu\n",
                     (unsigned long long)((limit_ns + WEIR_NS_PER_S) / WEIR_NS_PER_US));
}

static void end(struct weir_process *process)
{
    if (process->draining) {
        weir_crew_stop(process->crew);
        return;
    }
    process->draining = true;
    weir_upgrade_cancel(&process->upgrade);
    (void)fputs("weir: draining: no new calls; those under way may finish (again to end at once)\n", stderr);
    tell_stopping(process);
    weir_reload_close(&process->reload);
    weir_crew_drain(process->crew);
    look_later(process);
}

/* ---- another process takes over ---- */

/* The service manager takes this one's word for who speaks from now on, so it comes first. */
static void on_taken_over(struct weir_upgrade *upgrade)
{
    struct weir_process *process = WEIR_CONTAINER(upgrade, struct weir_process, upgrade);

    (void)fprintf(stderr,
                  "weir: process %ld serves in the place of %ld, which drains: calls under way may finish\n",
                  (long)upgrade->pid, (long)getpid());
    process->replaced = true;
    weir_watchdog_stop(&process->watchdog);
    weir_notify_send(&process->notify, "MAINPID=%ld\n", (long)upgrade->pid);
    weir_notify_close(&process->notify);
    weir_reload_close(&process->reload);
    weir_crew_hand_over(process->crew);
    weir_upgrade_step_back(upgrade);
    look_later(process);
}

static void on_not_taken_over(struct weir_upgrade *upgrade, const char *why)
{
    struct weir_process *process = WEIR_CONTAINER(upgrade, struct weir_process, upgrade);

    (void)fprintf(stderr, "weir: not upgraded, process %ld goes on: %s\n", (long)getpid(), why);
    if (process->ready)
        tell_ready(process);
}

static void upgrade(struct weir_process *process)
{
    if (process->draining || process->replaced) {
        (void)fputs("weir: SIGUSR2: not upgraded, this process is ending\n", stderr);
        return;
    }
    (void)fputs("weir: SIGUSR2: starting the process that takes over\n", stderr);
    weir_upgrade_start(&process->upgrade, process->crew->listener, &process->set,
                       process->gateway->setup->config->settings.upgrade_timeout_ns);
}

/* ---- the thread ---- */

static void on_signal(struct weir_signals *signals, int number)
{
    struct weir_process *process = WEIR_CONTAINER(signals, struct weir_process, signals);

    if (number == SIGHUP)
        weir_reload_request(&process->reload, WEIR_RELOAD_BY_SIGNAL);
    else if (number == SIGUSR2)
        upgrade(process);
    else
        end(process);
}

static void claim_signals(struct weir_process *process)
{
    static const int numbers[] = {SIGTERM, SIGINT, SIGHUP, SIGUSR2};

    (void)signal(SIGPIPE, SIG_IGN);
    (void)signal(SIGXFSZ, SIG_IGN);
    (void)sigemptyset(&process->set);
    for (size_t i = 0; i < sizeof(numbers) / sizeof(*numbers); i++)
        (void)sigaddset(&process->set, numbers[i]);
    weir_signals_claim(&process->set);
}

int weir_process_init(struct weir_process *ret_process, const struct weir_mem *mem,
                      char text[WEIR_PROCESS_TEXT_MAX])
{
    struct weir_process *process = ret_process;
    int r;

    *process = (struct weir_process){0};
    weir_timer_init(&process->end_timer, on_look);
    claim_signals(process);
    weir_notify_init(&process->notify);
    weir_successor_init(&process->successor, on_alone);
    if (weir_inherited_take(&process->inherited, text) != 0)
        return WEIR_PROCESS_REFUSED;
    r = weir_loop_new(mem, &process->loop);
    if (r < 0)
        return r;
    weir_upgrade_init(&process->upgrade, process->loop, mem);
    process->upgrade.ready = on_taken_over;
    process->upgrade.failed = on_not_taken_over;
    return 0;
}

void weir_process_attend(struct weir_process *process, struct weir_gateway *gateway,
                         const struct weir_reload_source *source)
{
    process->gateway = gateway;
    weir_reload_init(&process->reload, process->loop, gateway, source);
    process->reload.phase = on_reload;
}

int weir_process_run(struct weir_process *process, struct weir_crew *crew)
{
    int r;

    process->crew = crew;
    r = weir_signals_start(process->loop, &process->signals, &process->set, on_signal);
    if (r < 0)
        return r;
    weir_successor_ready(&process->successor, process->loop);
    weir_loop_run(process->loop);
    return 0;
}

void weir_process_leave(struct weir_process *process)
{
    if (process->loop == NULL)
        return;
    weir_loop_cancel(process->loop, &process->end_timer);
    weir_watchdog_stop(&process->watchdog);
    weir_upgrade_cancel(&process->upgrade);
    weir_successor_close(&process->successor);
    weir_reload_close(&process->reload);
    weir_signals_stop(&process->signals);
}

void weir_process_deinit(struct weir_process *process)
{
    weir_process_leave(process);
    weir_notify_close(&process->notify);
    weir_loop_free(process->loop);
    process->loop = NULL;
}
