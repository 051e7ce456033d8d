/* Listening sockets: who may have a port, and how workers share it. */
#include <netinet/in.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <weir/mem_libc.h>

#include "base/slice.h"
#include "net/inherited.h"
#include "net/listener.h"
#include "net/port_owner.h"
#include "net_kit.h"

#include <cmocka.h>

static int open_at(const char *host, uint16_t port, size_t workers, char *text, weir_listener **ret_listener)
{
    const struct weir_listener_config config = {weir_slice_str(host), port, 0, workers};

    return weir_listener_new(weir_mem_libc(), &config, text, ret_listener);
}

static void a_port_in_use_is_refused_with_its_owner(void **state)
{
    char text[WEIR_LISTENER_TEXT_MAX];
    char expected[64];
    weir_listener *first;
    weir_listener *second = NULL;

    (void)state;
    for (size_t workers = 1; workers <= 3; workers += 2) {
        assert_int_equal(open_at("127.0.0.1", 0, workers, text, &first), 0);
        assert_int_equal(open_at("127.0.0.1", weir_listener_port(first), workers, text, &second),
                         WEIR_LISTENER_IN_USE);
        assert_null(second);
        (void)snprintf(expected, sizeof(expected), "127.0.0.1:%u is in use by test_listener (pid %ld)",
                       (unsigned)weir_listener_port(first), (long)getpid());
        assert_string_equal(text, expected);
        weir_listener_free(first);
    }
}

static void a_port_is_free_again_afterwards(void **state)
{
    char text[WEIR_LISTENER_TEXT_MAX];
    weir_listener *listener;
    uint16_t port;

    (void)state;
    assert_int_equal(open_at("127.0.0.1", 0, 2, text, &listener), 0);
    port = weir_listener_port(listener);
    weir_listener_free(listener);
    assert_int_equal(open_at("127.0.0.1", port, 2, text, &listener), 0);
    assert_int_equal(weir_listener_port(listener), port);
    weir_listener_free(listener);
}

static void a_port_of_another_kind_of_socket_is_refused_too(void **state)
{
    char text[WEIR_LISTENER_TEXT_MAX];
    weir_listener *listener;
    struct weir_port_owner owner;
    uint16_t port;
    int fd = kit_listen(&port);

    (void)state;
    assert_int_equal(open_at("127.0.0.1", port, 1, text, &listener), WEIR_LISTENER_IN_USE);
    assert_int_equal(weir_port_owner_find(port, &owner), 0);
    assert_int_equal(owner.pid, getpid());
    (void)close(fd);
    assert_int_equal(weir_port_owner_find(port, &owner), WEIR_PORT_OWNER_UNKNOWN);
}

static void names_and_wildcards_have_all_their_addresses(void **state)
{
    char text[WEIR_LISTENER_TEXT_MAX];
    weir_listener *listener;
    struct weir_slice name;

    (void)state;
    assert_int_equal(open_at("localhost", 0, 1, text, &listener), 0);
    for (size_t i = 0; i < weir_listener_addresses(listener); i++) {
        name = weir_listener_address(listener, i);
        assert_true(weir_slice_starts(name, WEIR_SLICE("127.0.0.1:")) ||
                    weir_slice_starts(name, WEIR_SLICE("[::1]:")));
    }
    weir_listener_free(listener);
    assert_int_equal(open_at("*", 0, 1, text, &listener), 0);
    assert_true(weir_listener_addresses(listener) >= 1);
    weir_listener_free(listener);
    assert_int_equal(open_at("weir.invalid", 0, 1, text, &listener), WEIR_LISTENER_NO_SUCH_HOST);
    assert_non_null(strstr(text, "weir.invalid"));
    assert_int_equal(open_at("192.0.2.1", 0, 1, text, &listener), WEIR_LISTENER_REFUSED);
    assert_non_null(strstr(text, "192.0.2.1"));
}

static size_t accept_all(int fd)
{
    size_t count = 0;
    int peer;

    while ((peer = accept4(fd, NULL, NULL, SOCK_CLOEXEC)) >= 0) {
        (void)close(peer);
        count++;
    }
    return count;
}

/* In a child of its own, where the first descriptors after standard error can be had. */
static int shares_of_inherited(size_t sockets, size_t workers)
{
    struct weir_inherited inherited = {sockets};
    const struct weir_listener_config config = {.workers = workers, .inherited = &inherited};
    char text[WEIR_LISTENER_TEXT_MAX];
    weir_listener *listener;
    size_t taken[4] = {0};
    uint16_t port;

    for (size_t i = 0; i < sockets; i++)
        if (dup2(kit_listen(&port), 100 + (int)i) < 0)
            return 1;
    for (size_t i = 0; i < sockets; i++)
        if (dup2(100 + (int)i, WEIR_INHERITED_FIRST + (int)i) < 0)
            return 2;
    if (weir_listener_new(weir_mem_libc(), &config, text, &listener) != 0 ||
        weir_listener_socket_count(listener) != sockets || weir_listener_backlog(listener) != 0)
        return 3;
    for (size_t w = 0; w < workers; w++) {
        for (size_t i = 0; i < weir_listener_share(listener, w); i++) {
            struct sockaddr_in sa;
            socklen_t len = sizeof(sa);
            int fd = weir_listener_take(listener, w, i);

            if (fd < 0 || getsockname(fd, (struct sockaddr *)&sa, &len) != 0)
                return 4;
            for (size_t a = 0; a < weir_listener_addresses(listener); a++) {
                char name[32];

                (void)snprintf(name, sizeof(name), "127.0.0.1:%u", (unsigned)ntohs(sa.sin_port));
                taken[a] += weir_slice_eq(weir_listener_address(listener, a), weir_slice_str(name));
            }
            (void)close(fd);
        }
    }
    for (size_t a = 0; a < sockets; a++)
        if (taken[a] != workers)
            return 5;
    weir_listener_free(listener);
    return 0;
}

static void inherited_sockets_of_several_addresses_are_everybodys(void **state)
{
    (void)state;
    for (size_t sockets = 1; sockets <= 3; sockets++) {
        int status = 0;
        pid_t pid = fork();

        if (pid == 0)
            _exit(shares_of_inherited(sockets, 2));
        assert_true(pid > 0 && waitpid(pid, &status, 0) == pid);
        assert_int_equal(status, 0);
    }
}

static void connections_are_spread_over_the_workers(void **state)
{
    enum { WORKERS = 3, CONNECTIONS = 300 };
    char text[WEIR_LISTENER_TEXT_MAX];
    weir_listener *listener;
    int fds[WORKERS];
    int clients[CONNECTIONS];
    size_t total = 0;

    (void)state;
    assert_int_equal(open_at("127.0.0.1", 0, WORKERS, text, &listener), 0);
    for (size_t w = 0; w < WORKERS; w++) {
        fds[w] = weir_listener_take(listener, w, 0);
        assert_true(fds[w] >= 0);
        assert_int_equal(weir_listener_share(listener, w), 1);
        assert_int_equal(listen(fds[w], 1024), 0);
    }
    for (size_t i = 0; i < CONNECTIONS; i++)
        clients[i] = kit_connect(weir_listener_port(listener));
    for (size_t w = 0; w < WORKERS; w++) {
        size_t count = accept_all(fds[w]);

        assert_true(count > CONNECTIONS / WORKERS / 3);
        total += count;
        (void)close(fds[w]);
    }
    assert_int_equal(total, CONNECTIONS);
    for (size_t i = 0; i < CONNECTIONS; i++)
        (void)close(clients[i]);
    weir_listener_free(listener);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_port_in_use_is_refused_with_its_owner),
        cmocka_unit_test(a_port_is_free_again_afterwards),
        cmocka_unit_test(a_port_of_another_kind_of_socket_is_refused_too),
        cmocka_unit_test(names_and_wildcards_have_all_their_addresses),
        cmocka_unit_test(inherited_sockets_of_several_addresses_are_everybodys),
        cmocka_unit_test(connections_are_spread_over_the_workers),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
