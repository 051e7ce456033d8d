/*
 * The main thread while weir serves: it waits on a loop of its own for signals and for what other threads ask
 * of it.
 *
 *   SIGTERM, SIGINT   drain: stop accepting, let calls finish up to weir_settings.drain_timeout; a second one
 *                     ends at once
 *   SIGHUP            reload the configuration (reload.h)
 *   SIGPIPE           ignored: writes say it themselves
 */
#ifndef WEIR_GATEWAY_PROCESS_H
#define WEIR_GATEWAY_PROCESS_H

#include <signal.h>
#include <stdbool.h>

#include <weir/attr.h>
#include <weir/mem.h>

#include "gateway/process/reload.h"
#include "net/loop.h"
#include "net/signals.h"

struct weir_crew;
struct weir_gateway;

struct weir_process {
    weir_loop *loop; /* the gateway's home */
    sigset_t set;
    struct weir_signals signals;
    struct weir_crew *crew;
    struct weir_reload reload;
    struct weir_timer end_timer; /* while it drains */
    bool draining;
};

/* Before any thread exists: takes the signals, and makes the loop.  0 or negative; weir_process_deinit is due
 * in every case. */
WEIR_MUST_USE int weir_process_init(struct weir_process *ret_process, const struct weir_mem *mem);

/* Before the crew starts: the gateway's configuration may be reloaded, from that source. */
void weir_process_attend(struct weir_process *process, struct weir_gateway *gateway,
                         const struct weir_reload_source *source);

/* Serves until the crew has ended.  0, or negative when nothing was served. */
WEIR_MUST_USE int weir_process_run(struct weir_process *process, struct weir_crew *crew);

/* The threads that may ask have ended; before the gateway is taken down.  May be called again. */
void weir_process_leave(struct weir_process *process);

/* After the gateway, whose home it is.  Accepts a zeroed one. */
void weir_process_deinit(struct weir_process *process);

#endif
