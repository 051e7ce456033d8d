/* The one before steps back by closing its end, which an end of its own does as well. */
#include "gateway/process/successor.h"

#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/container.h"
#include "base/slice.h"

void weir_successor_init(struct weir_successor *ret_successor,
                         void (*alone)(struct weir_successor *successor))
{
    const char *text = getenv(WEIR_SUCCESSOR_VARIABLE);
    uint64_t fd;

    *ret_successor = (struct weir_successor){.fd = -1, .alone = alone};
    if (text == NULL)
        return;
    if (weir_slice_u64(weir_slice_str(text), &fd) == 0 && fd > STDERR_FILENO && fd <= INT_MAX &&
        fcntl((int)fd, F_SETFD, FD_CLOEXEC) == 0 && fcntl((int)fd, F_SETFL, O_NONBLOCK) == 0)
        ret_successor->fd = (int)fd;
    (void)unsetenv(WEIR_SUCCESSOR_VARIABLE);
}

static void on_link(struct weir_fd_watch *link)
{
    struct weir_successor *successor = WEIR_CONTAINER(link, struct weir_successor, link);

    weir_successor_close(successor);
    successor->alone(successor);
}

void weir_successor_ready(struct weir_successor *successor, weir_loop *loop)
{
    const int serves = 0;

    if (successor->fd >= 0 &&
        send(successor->fd, &serves, sizeof(serves), MSG_NOSIGNAL) == (ssize_t)sizeof(serves) &&
        weir_fd_watch_start(loop, &successor->link, successor->fd, on_link) == 0)
        return;
    weir_successor_close(successor);
    successor->alone(successor);
}

/* What never said that it serves leaves the closing to the process's end: so that this, with its status, is
 * what the one before sees. */
void weir_successor_close(struct weir_successor *successor)
{
    if (successor->link.open)
        weir_fd_watch_stop(&successor->link);
    successor->fd = -1;
}
