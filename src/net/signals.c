/* A signalfd on the loop. */
#include "net/signals.h"

#include <pthread.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include <weir/error.h>

#include "base/container.h"

void weir_signals_claim(const sigset_t *set)
{
    (void)pthread_sigmask(SIG_BLOCK, set, NULL);
}

/* One turn takes one: a second one may end what the first has begun. */
static void on_ready(struct weir_fd_watch *watch)
{
    struct weir_signals *signals = WEIR_CONTAINER(watch, struct weir_signals, watch);
    struct signalfd_siginfo info;

    if (read(watch->fd, &info, sizeof(info)) == (ssize_t)sizeof(info))
        signals->on_signal(signals, (int)info.ssi_signo);
}

int weir_signals_start(weir_loop *loop, struct weir_signals *ret_signals, const sigset_t *set,
                       void (*on_signal)(struct weir_signals *signals, int number))
{
    int fd = signalfd(-1, set, SFD_NONBLOCK | SFD_CLOEXEC);

    if (fd < 0)
        return WEIR_ERR_IO;
    ret_signals->on_signal = on_signal;
    if (weir_fd_watch_start(loop, &ret_signals->watch, fd, on_ready) == 0)
        return 0;
    (void)close(fd);
    return WEIR_ERR_IO;
}

void weir_signals_stop(struct weir_signals *signals)
{
    weir_fd_watch_stop(&signals->watch);
}
