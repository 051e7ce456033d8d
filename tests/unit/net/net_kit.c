#include "net_kit.h"

#include <arpa/inet.h>
#include <errno.h>
#include <poll.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <uv.h>

#include <cmocka.h>

int kit_setup(void **state)
{
    (void)state;
    (void)signal(SIGPIPE, SIG_IGN);
    return 0;
}

void kit_turn(weir_loop *loop)
{
    (void)uv_run(weir_loop_uv(loop), UV_RUN_NOWAIT);
    (void)poll(NULL, 0, 1);
}

void kit_until(weir_loop *loop, bool (*done)(void *user), void *user)
{
    uint64_t end_ns = uv_hrtime() + KIT_PATIENCE_NS;

    while (!done(user)) {
        assert_true(uv_hrtime() < end_ns);
        kit_turn(loop);
    }
}

void kit_for(weir_loop *loop, uint64_t time_ns)
{
    uint64_t end_ns = uv_hrtime() + time_ns;

    while (uv_hrtime() < end_ns)
        kit_turn(loop);
}

static struct sockaddr_in loopback(uint16_t port)
{
    return (struct sockaddr_in){
        .sin_family = AF_INET, .sin_port = htons(port), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
}

int kit_listen(uint16_t *ret_port)
{
    struct sockaddr_in sa = loopback(0);
    socklen_t len = sizeof(sa);
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);

    assert_true(fd >= 0);
    assert_int_equal(bind(fd, (struct sockaddr *)&sa, sizeof(sa)), 0);
    assert_int_equal(listen(fd, 16), 0);
    assert_int_equal(getsockname(fd, (struct sockaddr *)&sa, &len), 0);
    *ret_port = ntohs(sa.sin_port);
    return fd;
}

int kit_accept(weir_loop *loop, int listening)
{
    uint64_t end_ns = uv_hrtime() + KIT_PATIENCE_NS;
    int fd;

    while ((fd = accept4(listening, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC)) < 0) {
        assert_true(uv_hrtime() < end_ns);
        kit_turn(loop);
    }
    return fd;
}

int kit_connect(uint16_t port)
{
    struct sockaddr_in sa = loopback(port);
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

    assert_true(fd >= 0);
    assert_int_equal(connect(fd, (struct sockaddr *)&sa, sizeof(sa)), 0);
    return fd;
}

void kit_send_bytes(weir_loop *loop, int fd, const char *bytes, size_t len)
{
    uint64_t end_ns = uv_hrtime() + KIT_PATIENCE_NS;

    while (len > 0) {
        ssize_t sent = send(fd, bytes, len, MSG_DONTWAIT | MSG_NOSIGNAL);

        assert_true(uv_hrtime() < end_ns);
        if (sent > 0) {
            bytes += sent;
            len -= (size_t)sent;
        } else if (errno == EPIPE || errno == ECONNRESET) {
            return;
        }
        (void)uv_run(weir_loop_uv(loop), UV_RUN_NOWAIT);
    }
}

void kit_send(weir_loop *loop, int fd, const char *text)
{
    kit_send_bytes(loop, fd, text, strlen(text));
}

static void receive_once(weir_loop *loop, int fd, struct kit_text *text)
{
    ssize_t got = recv(fd, text->bytes + text->len, sizeof(text->bytes) - 1 - text->len, MSG_DONTWAIT);

    if (got > 0) {
        text->len += (size_t)got;
        assert_true(text->len < sizeof(text->bytes) - 1);
    } else if (got == 0) {
        text->ended = true;
    } else if (errno == ECONNRESET) {
        text->ended = true;
        text->reset = true;
    } else {
        kit_turn(loop);
    }
    text->bytes[text->len] = '\0';
}

void kit_receive(weir_loop *loop, int fd, struct kit_text *text, const char *needle)
{
    uint64_t end_ns = uv_hrtime() + KIT_PATIENCE_NS;

    text->bytes[text->len] = '\0';
    while (needle == NULL ? !text->ended : strstr(text->bytes, needle) == NULL) {
        assert_true(uv_hrtime() < end_ns);
        assert_false(needle != NULL && text->ended);
        receive_once(loop, fd, text);
    }
}

size_t kit_discard(weir_loop *loop, int fd, struct kit_text *text)
{
    ssize_t got = recv(fd, text->bytes, sizeof(text->bytes) - 1, MSG_DONTWAIT);

    text->len = got > 0 ? (size_t)got : 0;
    text->bytes[text->len] = '\0';
    kit_turn(loop);
    return text->len;
}

void kit_expect_end(weir_loop *loop, int fd, struct kit_text *text)
{
    kit_receive(loop, fd, text, NULL);
}

void kit_reset(int fd)
{
    struct linger now = {.l_onoff = 1, .l_linger = 0};

    assert_int_equal(setsockopt(fd, SOL_SOCKET, SO_LINGER, &now, sizeof(now)), 0);
    (void)close(fd);
}
