/* libuv's poll handle, with the descriptor's end tied to it. */
#include "net/fd_watch.h"

#include <unistd.h>

#include <weir/error.h>

#include "base/container.h"

static void on_poll(uv_poll_t *poll, int status, int events)
{
    struct weir_fd_watch *watch = WEIR_CONTAINER(poll, struct weir_fd_watch, poll);

    (void)events;
    /* What is wrong with the descriptor is met when it is read. */
    (void)status;
    watch->ready(watch);
}

int weir_fd_watch_start(weir_loop *loop, struct weir_fd_watch *ret_watch, int fd,
                        void (*ready)(struct weir_fd_watch *watch))
{
    struct weir_fd_watch *watch = ret_watch;

    if (uv_poll_init(weir_loop_uv(loop), &watch->poll, fd) != 0)
        return WEIR_ERR_IO;
    watch->ready = ready;
    watch->fd = fd;
    watch->open = true;
    if (uv_poll_start(&watch->poll, UV_READABLE, on_poll) == 0)
        return 0;
    watch->open = false;
    uv_close((uv_handle_t *)&watch->poll, NULL);
    return WEIR_ERR_IO;
}

void weir_fd_watch_stop(struct weir_fd_watch *watch)
{
    if (!watch->open)
        return;
    watch->open = false;
    (void)uv_poll_stop(&watch->poll);
    uv_close((uv_handle_t *)&watch->poll, NULL);
    (void)close(watch->fd);
}
