/*
 * Another process takes over: the program as it is on disk now, with the same command line and the same
 * listening sockets.
 *
 *   start -> (it reads its configuration and starts workers on the sockets; both serve) -> done(true)
 *        \-> it ends, cannot be run, or takes too long: it is made to end, done(false), as if nothing were
 *
 * As the sockets are the same ones, connections that wait in their queues are lost in neither case.  Nothing
 * of this process changes before done(true); stepping back is what its owner does then.  For the loop's
 * thread.
 */
#ifndef WEIR_GATEWAY_UPGRADE_H
#define WEIR_GATEWAY_UPGRADE_H

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include <weir/attr.h>
#include <weir/mem.h>

#include "net/fd_watch.h"
#include "net/listener.h"
#include "net/loop.h"
#include "net/timer.h"

struct weir_upgrade;

struct weir_upgrade_link {
    struct weir_fd_watch watch;
    struct weir_upgrade *upgrade;
};

struct weir_upgrade {
    weir_loop *loop;
    const struct weir_mem *mem;
    /* It serves; or why it does not, NUL-terminated. */
    void (*ready)(struct weir_upgrade *upgrade);
    void (*failed)(struct weir_upgrade *upgrade, const char *why);
    struct weir_upgrade_link links[2]; /* in turn, as one that was stopped is the loop's for a moment */
    size_t turn;
    struct weir_timer timer;
    uint64_t limit_ns;
    pid_t pid; /* of the other process; 0: none was started, or it has failed */
};

/* ready and failed are to be set. */
void weir_upgrade_init(struct weir_upgrade *ret_upgrade, weir_loop *loop, const struct weir_mem *mem);

/*
 * Starts the other process, unless there is one; ready or failed follows, failed perhaps from inside.
 * blocked are signals that are blocked here; it is given limit_ns to serve.
 */
void weir_upgrade_start(struct weir_upgrade *upgrade, const weir_listener *listener, const sigset_t *blocked,
                        uint64_t limit_ns);

/* After ready: the other process is told that it is alone. */
void weir_upgrade_step_back(struct weir_upgrade *upgrade);

/* One that does not serve yet is made to end; neither ready nor failed follows.  Accepts a zeroed one. */
void weir_upgrade_cancel(struct weir_upgrade *upgrade);

#endif
