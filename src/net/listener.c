/*
 * The first socket of an address is bound and listens without SO_REUSEPORT, which fails when anybody else
 * does, and gets the flag afterwards: from then on the workers' other sockets may join it.  There is no
 * moment in which the port is free again, so two processes that start together cannot both succeed.
 */
#include "net/listener.h"

#include <errno.h>
#include <netdb.h>
#include <netinet/in.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <weir/error.h>

#include "base/slice.h"
#include "net/port_owner.h"
#include "net/resolve.h"

enum { WORKERS_MAX = 1024, DEFAULT_BACKLOG = 1024, HOST_MAX = 256, TAKEN = -1 };

struct listen_address {
    struct sockaddr_storage sa;
    socklen_t sa_len;
    char text[WEIR_ADDRESS_TEXT_MAX];
    size_t text_len;
    int *fds; /* one a worker */
};

struct weir_listener {
    const struct weir_mem *mem;
    size_t workers;
    uint16_t port;
    int backlog;
    size_t count;
    struct listen_address addresses[WEIR_LISTENER_ADDRESSES_MAX];
};

static void set_port(struct sockaddr_storage *sa, uint16_t port)
{
    if (sa->ss_family == AF_INET6)
        ((struct sockaddr_in6 *)sa)->sin6_port = htons(port);
    else
        ((struct sockaddr_in *)sa)->sin_port = htons(port);
}

static uint16_t port_of(const struct sockaddr_storage *sa)
{
    return ntohs(sa->ss_family == AF_INET6 ? ((const struct sockaddr_in6 *)sa)->sin6_port
                                           : ((const struct sockaddr_in *)sa)->sin_port);
}

static int close_with(int fd, int error)
{
    (void)close(fd);
    errno = error;
    return -1;
}

/* A bound socket, listening when it is the first of its address; -1 with errno. */
static int bind_one(const struct listen_address *address, int backlog, bool shared)
{
    int family = address->sa.ss_family;
    int fd = socket(family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    int on = 1;

    if (fd < 0)
        return -1;
    (void)setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
    if (family == AF_INET6)
        (void)setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &on, sizeof(on));
    if (shared && setsockopt(fd, SOL_SOCKET, SO_REUSEPORT, &on, sizeof(on)) != 0)
        return close_with(fd, errno);
    if (bind(fd, (const struct sockaddr *)&address->sa, address->sa_len) != 0)
        return close_with(fd, errno);
    if (shared)
        return fd;
    if (listen(fd, backlog) != 0 || setsockopt(fd, SOL_SOCKET, SO_REUSEPORT, &on, sizeof(on)) != 0)
        return close_with(fd, errno);
    return fd;
}

static void name_address(struct listen_address *address)
{
    address->text_len = weir_address_text((const struct sockaddr *)&address->sa, address->text).len;
}

/* All workers' sockets of one address; false with errno. */
static bool bind_address(weir_listener *listener, struct listen_address *address)
{
    socklen_t len = sizeof(address->sa);

    set_port(&address->sa, listener->port);
    for (size_t w = 0; w < listener->workers; w++) {
        address->fds[w] = bind_one(address, listener->backlog, w > 0);
        if (address->fds[w] < 0)
            return false;
        if (w > 0)
            continue;
        /* The port of the first socket is that of all others, also when the system chose it. */
        if (getsockname(address->fds[0], (struct sockaddr *)&address->sa, &len) != 0)
            return false;
        listener->port = port_of(&address->sa);
    }
    return true;
}

static int refuse(weir_listener *listener, struct listen_address *address, int error, char *text)
{
    struct weir_port_owner owner;

    name_address(address);
    if (error != EADDRINUSE) {
        (void)snprintf(text, WEIR_LISTENER_TEXT_MAX, "cannot listen on %.*s: %s", (int)address->text_len,
                       address->text, strerror(error));
        return WEIR_LISTENER_REFUSED;
    }
    if (weir_port_owner_find(listener->port, &owner) == 0)
        (void)snprintf(text, WEIR_LISTENER_TEXT_MAX, "%.*s is in use by %s (pid %ld)", (int)address->text_len,
                       address->text, owner.name, (long)owner.pid);
    else
        (void)snprintf(text, WEIR_LISTENER_TEXT_MAX, "%.*s is in use by another process",
                       (int)address->text_len, address->text);
    return WEIR_LISTENER_IN_USE;
}

static void free_info(struct addrinfo **info)
{
    if (*info != NULL)
        freeaddrinfo(*info);
}

static bool known(const weir_listener *listener, const struct addrinfo *info)
{
    for (size_t i = 0; i < listener->count; i++) {
        if (listener->addresses[i].sa_len == info->ai_addrlen &&
            memcmp(&listener->addresses[i].sa, info->ai_addr, info->ai_addrlen) == 0)
            return true;
    }
    return false;
}

static int add_address(weir_listener *listener, const struct addrinfo *info)
{
    struct listen_address *address = &listener->addresses[listener->count];

    address->fds = listener->mem->alloc(listener->mem->user, listener->workers * sizeof(int));
    if (address->fds == NULL)
        return WEIR_ERR_NOMEM;
    for (size_t w = 0; w < listener->workers; w++)
        address->fds[w] = TAKEN;
    memcpy(&address->sa, info->ai_addr, info->ai_addrlen);
    address->sa_len = info->ai_addrlen;
    listener->count++;
    return 0;
}

/* Fills the addresses of the host name. */
static int look_up(weir_listener *listener, struct weir_slice host, char *text)
{
    struct addrinfo hints = {.ai_family = AF_UNSPEC, .ai_socktype = SOCK_STREAM, .ai_flags = AI_PASSIVE};
    WEIR_CLEANUP(free_info) struct addrinfo *list = NULL;
    bool any = host.len == 0 || weir_slice_eq(host, WEIR_SLICE("*"));
    char name[HOST_MAX];
    int r;

    (void)snprintf(name, sizeof(name), "%.*s", (int)host.len, host.len == 0 ? "" : host.ptr);
    r = getaddrinfo(any ? NULL : name, "0", &hints, &list);
    if (r != 0 || host.len >= sizeof(name)) {
        (void)snprintf(text, WEIR_LISTENER_TEXT_MAX, "no address to listen on for \"%.128s\": %s", name,
                       r != 0 ? gai_strerror(r) : "the name is too long");
        return WEIR_LISTENER_NO_SUCH_HOST;
    }
    for (struct addrinfo *info = list; info != NULL; info = info->ai_next) {
        if (listener->count == WEIR_LISTENER_ADDRESSES_MAX || known(listener, info))
            continue;
        r = add_address(listener, info);
        if (r < 0)
            return r;
    }
    return 0;
}

/* A machine without IPv6 may still resolve names to it. */
static bool is_missing_family(int error)
{
    return error == EAFNOSUPPORT || error == EADDRNOTAVAIL;
}

static void drop_address(weir_listener *listener, size_t i)
{
    struct listen_address *address = &listener->addresses[i];

    for (size_t w = 0; w < listener->workers; w++) {
        if (address->fds[w] != TAKEN)
            (void)close(address->fds[w]);
    }
    listener->mem->free(listener->mem->user, address->fds, listener->workers * sizeof(int));
    listener->count--;
    memmove(address, address + 1, (listener->count - i) * sizeof(*address));
}

static int bind_all(weir_listener *listener, char *text)
{
    size_t i = 0;

    while (i < listener->count) {
        if (bind_address(listener, &listener->addresses[i])) {
            i++;
        } else {
            int error = errno;

            if (!is_missing_family(error) || listener->count == 1)
                return refuse(listener, &listener->addresses[i], error, text);
            drop_address(listener, i);
        }
    }
    for (i = 0; i < listener->count; i++)
        name_address(&listener->addresses[i]);
    return 0;
}

int weir_listener_new(const struct weir_mem *mem, const struct weir_listener_config *config,
                      char text[WEIR_LISTENER_TEXT_MAX], weir_listener **ret_listener)
{
    weir_listener *listener;
    int r;

    (void)snprintf(text, WEIR_LISTENER_TEXT_MAX, "out of memory");
    if (config->workers == 0 || config->workers > WORKERS_MAX)
        return WEIR_ERR_INVALID;
    listener = mem->alloc(mem->user, sizeof(*listener));
    if (listener == NULL)
        return WEIR_ERR_NOMEM;
    memset(listener, 0, sizeof(*listener));
    listener->mem = mem;
    listener->workers = config->workers;
    listener->port = config->port;
    listener->backlog = config->backlog == 0 ? DEFAULT_BACKLOG : (int)config->backlog;
    r = look_up(listener, config->host, text);
    if (r == 0)
        r = bind_all(listener, text);
    if (r != 0) {
        weir_listener_free(listener);
        return r;
    }
    *ret_listener = listener;
    return 0;
}

void weir_listener_free(weir_listener *listener)
{
    if (listener == NULL)
        return;
    while (listener->count > 0)
        drop_address(listener, listener->count - 1);
    listener->mem->free(listener->mem->user, listener, sizeof(*listener));
}

uint16_t weir_listener_port(const weir_listener *listener)
{
    return listener->port;
}

int weir_listener_backlog(const weir_listener *listener)
{
    return listener->backlog;
}

size_t weir_listener_addresses(const weir_listener *listener)
{
    return listener->count;
}

struct weir_slice weir_listener_address(const weir_listener *listener, size_t i)
{
    const struct listen_address *address = &listener->addresses[i];

    return (struct weir_slice){address->text, address->text_len};
}

int weir_listener_take(weir_listener *listener, size_t worker, size_t i)
{
    int fd = listener->addresses[i].fds[worker];

    listener->addresses[i].fds[worker] = TAKEN;
    return fd;
}
