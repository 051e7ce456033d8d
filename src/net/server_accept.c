/*
 * Listening sockets, polled and accepted from by hand: libuv's own listening stops for good when a callback
 * does not take its connection, which happens when memory is short.
 *
 * A turn of the loop accepts at most BURST connections of one socket, so that those there are get served.
 * When the system has no descriptor left, accepting rests for a moment instead of being told the same again
 * at once.
 */
#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <weir/error.h>

#include "base/container.h"
#include "base/time.h"
#include "net/server_conn.h"

enum { BURST = 64 };

#define REST_NS (100 * WEIR_NS_PER_MS)

static void on_readable(uv_poll_t *poll, int status, int events);

static bool is_passing(int error)
{
    return error == ECONNABORTED || error == EINTR || error == EPROTO;
}

static void rest(weir_server *server)
{
    for (size_t i = 0; i < server->socket_count; i++)
        (void)uv_poll_stop(&server->sockets[i].poll);
    weir_loop_arm(server->loop, &server->rest, weir_time_add(weir_loop_now(server->loop), REST_NS));
}

static void accept_some(struct weir_server_socket *socket, size_t max)
{
    weir_server *server = socket->server;

    for (size_t i = 0; i < max && server->socket_count > 0; i++) {
        struct sockaddr_storage peer;
        socklen_t len = sizeof(peer);
        int fd = accept4(socket->fd, (struct sockaddr *)&peer, &len, SOCK_NONBLOCK | SOCK_CLOEXEC);

        if (fd >= 0) {
            weir_conn_open(server, fd, (const struct sockaddr *)&peer);
        } else if (!is_passing(errno)) {
            if (errno != EAGAIN)
                rest(server);
            return;
        }
    }
}

static void on_readable(uv_poll_t *poll, int status, int events)
{
    struct weir_server_socket *socket = poll->data;

    (void)events;
    if (status == 0)
        accept_some(socket, BURST);
    else
        rest(socket->server);
}

/* Cannot fail on a handle that is not closing. */
static void watch(struct weir_server_socket *socket)
{
    (void)uv_poll_start(&socket->poll, UV_READABLE, on_readable);
}

static void on_rested(struct weir_timer *timer)
{
    weir_server *server = WEIR_CONTAINER(timer, struct weir_server, rest);

    for (size_t i = 0; i < server->socket_count; i++)
        watch(&server->sockets[i]);
}

void weir_server_accept_init(weir_server *server)
{
    weir_timer_init(&server->rest, on_rested);
}

static int open_socket(weir_server *server, int fd, int backlog)
{
    struct weir_server_socket *socket = &server->sockets[server->socket_count];

    if ((backlog > 0 && listen(fd, backlog) != 0) ||
        uv_poll_init(weir_loop_uv(server->loop), &socket->poll, fd) != 0) {
        (void)close(fd);
        return WEIR_ERR_IO;
    }
    socket->poll.data = socket;
    socket->server = server;
    socket->fd = fd;
    server->socket_count++;
    server->open_handles++;
    watch(socket);
    return 0;
}

int weir_server_listen(weir_server *server, const weir_listener *listener, size_t worker)
{
    size_t share = weir_listener_share(listener, worker);
    int r = 0;

    if (server->sockets != NULL)
        return WEIR_ERR_INVALID;
    server->sockets = server->mem->alloc(server->mem->user, share * sizeof(*server->sockets));
    if (server->sockets == NULL)
        return WEIR_ERR_NOMEM;
    memset(server->sockets, 0, share * sizeof(*server->sockets));
    server->sockets_max = share;
    for (size_t i = 0; i < share && r == 0; i++) {
        int fd = weir_listener_take(listener, worker, i);

        r = fd < 0 ? WEIR_ERR_IO : open_socket(server, fd, weir_listener_backlog(listener));
    }
    return r;
}

void weir_server_accept_rest(weir_server *server)
{
    for (size_t i = 0; i < server->socket_count; i++)
        accept_some(&server->sockets[i], SIZE_MAX);
}

static void on_socket_closed(uv_handle_t *poll)
{
    struct weir_server_socket *socket = poll->data;

    socket->server->open_handles--;
    weir_server_maybe_free(socket->server);
}

void weir_server_stop_accepting(weir_server *server)
{
    weir_loop_cancel(server->loop, &server->rest);
    for (size_t i = 0; i < server->socket_count; i++) {
        uv_close((uv_handle_t *)&server->sockets[i].poll, on_socket_closed);
        (void)close(server->sockets[i].fd);
    }
    server->socket_count = 0;
}
