/*
 * One socket lies between the two processes.  What comes on it is one int: 0 when the other one serves, an
 * errno when the program could not be run; or its end, when the other process has ended.
 */
#include "gateway/process/upgrade.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/container.h"
#include "base/time.h"
#include "gateway/process/relaunch.h"

enum { WHY_MAX = 160 };

static struct weir_fd_watch *link_of(struct weir_upgrade *upgrade)
{
    return &upgrade->links[upgrade->turn % 2].watch;
}

/* Sees to its end; the status.  It cannot be long: who is killed does not ask for time. */
static int end_child(struct weir_upgrade *upgrade)
{
    int status = 0;

    weir_loop_cancel(upgrade->loop, &upgrade->timer);
    weir_fd_watch_stop(link_of(upgrade));
    (void)kill(upgrade->pid, SIGKILL); /* what ends already keeps its status */
    while (waitpid(upgrade->pid, &status, 0) < 0 && errno == EINTR)
        continue;
    upgrade->pid = 0;
    return status;
}

static void fail_ended(struct weir_upgrade *upgrade)
{
    int status = end_child(upgrade);
    char why[WHY_MAX];

    if (WIFEXITED(status))
        (void)snprintf(why, sizeof(why), "the new process ended with status %d", WEXITSTATUS(status));
    else
        (void)snprintf(why, sizeof(why), "the new process was ended by signal %d", WTERMSIG(status));
    upgrade->failed(upgrade, why);
}

static void fail_run(struct weir_upgrade *upgrade, int error)
{
    char why[WHY_MAX];

    (void)end_child(upgrade);
    (void)snprintf(why, sizeof(why), "the program cannot be run: %s", strerror(error));
    upgrade->failed(upgrade, why);
}

static void on_link(struct weir_fd_watch *watch)
{
    struct weir_upgrade *upgrade = WEIR_CONTAINER(watch, struct weir_upgrade_link, watch)->upgrade;
    int word;
    ssize_t n = recv(watch->fd, &word, sizeof(word), 0);

    if (n < 0 && (errno == EAGAIN || errno == EINTR))
        return;
    if (n != (ssize_t)sizeof(word)) {
        fail_ended(upgrade);
    } else if (word != 0) {
        fail_run(upgrade, word);
    } else {
        weir_loop_cancel(upgrade->loop, &upgrade->timer);
        upgrade->ready(upgrade);
    }
}

static void on_limit(struct weir_timer *timer)
{
    struct weir_upgrade *upgrade = WEIR_CONTAINER(timer, struct weir_upgrade, timer);
    char why[WHY_MAX];

    (void)end_child(upgrade);
    (void)snprintf(why, sizeof(why), "the new process did not serve within %.1f seconds",
                   (double)upgrade->limit_ns / (double)WEIR_NS_PER_S);
    upgrade->failed(upgrade, why);
}

void weir_upgrade_init(struct weir_upgrade *ret_upgrade, weir_loop *loop, const struct weir_mem *mem)
{
    *ret_upgrade = (struct weir_upgrade){.loop = loop, .mem = mem};
    for (size_t i = 0; i < 2; i++)
        ret_upgrade->links[i].upgrade = ret_upgrade;
    weir_timer_init(&ret_upgrade->timer, on_limit);
}

/* false: there is nothing to end. */
static bool launch(struct weir_upgrade *upgrade, const weir_listener *listener, const sigset_t *blocked)
{
    struct weir_relaunch relaunch = {.mem = upgrade->mem, .listener = listener, .blocked = blocked};
    int ends[2];
    int r;

    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, ends) != 0)
        return false;
    upgrade->turn++;
    relaunch.link = ends[1];
    r = weir_fd_watch_start(upgrade->loop, link_of(upgrade), ends[0], on_link);
    if (r < 0)
        (void)close(ends[0]);
    else
        r = weir_relaunch(&relaunch, &upgrade->pid);
    (void)close(ends[1]);
    if (r < 0)
        weir_fd_watch_stop(link_of(upgrade));
    return r == 0;
}

void weir_upgrade_start(struct weir_upgrade *upgrade, const weir_listener *listener, const sigset_t *blocked,
                        uint64_t limit_ns)
{
    if (upgrade->pid != 0) {
        upgrade->failed(upgrade, "one is under way");
        return;
    }
    if (!launch(upgrade, listener, blocked)) {
        upgrade->failed(upgrade, "no process can be started");
        return;
    }
    upgrade->limit_ns = limit_ns;
    weir_loop_arm(upgrade->loop, &upgrade->timer, weir_time_add(weir_loop_now(upgrade->loop), limit_ns));
}

void weir_upgrade_step_back(struct weir_upgrade *upgrade)
{
    weir_fd_watch_stop(link_of(upgrade));
}

void weir_upgrade_cancel(struct weir_upgrade *upgrade)
{
    if (upgrade->pid != 0 && link_of(upgrade)->open)
        (void)end_child(upgrade);
}
