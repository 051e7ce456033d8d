/*
 * The main thread while weir serves: it waits on a loop of its own for signals and for what other threads ask
 * of it.
 *
 *   SIGTERM, SIGINT   drain: stop accepting, let calls finish up to weir_settings.drain_timeout; a second one
 *                     ends at once
 *   SIGHUP            reload the configuration (reload.h)
 *   SIGUSR2           another process takes over (upgrade.h), and this one drains
 *   SIGPIPE, SIGXFSZ  ignored: writes say it themselves
 *
 * A service manager is told of all of it (notify.h).
 */
#ifndef WEIR_GATEWAY_PROCESS_H
#define WEIR_GATEWAY_PROCESS_H

#include <signal.h>
#include <stdbool.h>

#include <weir/attr.h>
#include <weir/mem.h>

#include "gateway/process/notify.h"
#include "gateway/process/reload.h"
#include "gateway/process/successor.h"
#include "gateway/process/upgrade.h"
#include "gateway/process/watchdog.h"
#include "net/inherited.h"
#include "net/loop.h"
#include "net/signals.h"

struct weir_crew;
struct weir_gateway;

struct weir_process {
    weir_loop *loop; /* the gateway's home */
    sigset_t set;
    struct weir_signals signals;
    struct weir_inherited inherited; /* sockets to listen on */
    struct weir_notify notify;
    struct weir_successor successor;
    struct weir_gateway *gateway;
    struct weir_crew *crew;
    struct weir_reload reload;
    struct weir_upgrade upgrade;
    struct weir_watchdog watchdog;
    struct weir_timer end_timer; /* while it drains */
    bool ready;
    bool draining; /* as it was told to */
    bool replaced; /* another process has taken over, and this one drains */
};

enum { WEIR_PROCESS_TEXT_MAX = WEIR_INHERITED_TEXT_MAX };

/* The process was started with what it cannot use: text says with what, for a person. */
#define WEIR_PROCESS_REFUSED 1

/* Before any thread exists: takes the signals and what was handed over to the process, and makes the loop.
 * 0, WEIR_PROCESS_REFUSED with a NUL-terminated text, or negative; weir_process_deinit is due in every case.
 */
WEIR_MUST_USE int weir_process_init(struct weir_process *ret_process, const struct weir_mem *mem,
                                    char text[WEIR_PROCESS_TEXT_MAX]);

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
