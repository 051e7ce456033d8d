/*
 * The first socket of an address is bound and listens without SO_REUSEPORT, which fails when anybody else
 * does, and gets the flag afterwards: from then on the workers' other sockets may join it.  There is no
 * moment in which the port is free again, so two processes that start together cannot both succeed.
 *
 * Sockets that were inherited are sorted by their address and spread over the workers: worker w of n has the
 * sockets w, w + n, w + 2n, ...; where there are fewer sockets than workers, several share one.
 */
#include "net/listener.h"

#include <errno.h>
#include <fcntl.h>
#include <netdb.h>
#include <netinet/in.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <weir/error.h>

#include "base/slice.h"
#include "net/inherited.h"
#include "net/port_owner.h"
#include "net/resolve.h"

enum { WORKERS_MAX = 1024, DEFAULT_BACKLOG = 1024, HOST_MAX = 256, CLOSED = -1 };

struct listen_address {
    struct sockaddr_storage sa;
    socklen_t sa_len;
    char text[WEIR_ADDRESS_TEXT_MAX];
    size_t text_len;
    int *fds;
    size_t fd_count;
    size_t fds_max;
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
        int fd = bind_one(address, listener->backlog, w > 0);

        if (fd < 0)
            return false;
        address->fds[address->fd_count++] = fd;
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

static struct listen_address *find(weir_listener *listener, const void *sa, socklen_t sa_len)
{
    for (size_t i = 0; i < listener->count; i++) {
        if (listener->addresses[i].sa_len == sa_len && memcmp(&listener->addresses[i].sa, sa, sa_len) == 0)
            return &listener->addresses[i];
    }
    return NULL;
}

static int add_address(weir_listener *listener, const void *sa, socklen_t sa_len, size_t fds_max)
{
    struct listen_address *address = &listener->addresses[listener->count];

    *address = (struct listen_address){.sa_len = sa_len, .fds_max = fds_max};
    address->fds = listener->mem->alloc(listener->mem->user, fds_max * sizeof(int));
    if (address->fds == NULL)
        return WEIR_ERR_NOMEM;
    memcpy(&address->sa, sa, sa_len);
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
        if (listener->count == WEIR_LISTENER_ADDRESSES_MAX ||
            find(listener, info->ai_addr, info->ai_addrlen) != NULL)
            continue;
        r = add_address(listener, info->ai_addr, info->ai_addrlen, listener->workers);
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

static void close_address(struct listen_address *address)
{
    for (size_t i = 0; i < address->fd_count; i++) {
        if (address->fds[i] != CLOSED)
            (void)close(address->fds[i]);
        address->fds[i] = CLOSED;
    }
}

static void drop_address(weir_listener *listener, size_t i)
{
    struct listen_address *address = &listener->addresses[i];

    close_address(address);
    listener->mem->free(listener->mem->user, address->fds, address->fds_max * sizeof(int));
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
    return 0;
}

/* The inherited sockets, by their addresses. */
static int sort_in(weir_listener *listener, const struct weir_inherited *inherited, char *text)
{
    for (size_t i = 0; i < inherited->count; i++) {
        int fd = WEIR_INHERITED_FIRST + (int)i;
        struct sockaddr_storage sa = {0};
        socklen_t len = sizeof(sa);
        struct listen_address *address;
        int r;

        if (getsockname(fd, (struct sockaddr *)&sa, &len) != 0)
            return WEIR_ERR_IO;
        address = find(listener, &sa, len);
        if (address == NULL && listener->count == WEIR_LISTENER_ADDRESSES_MAX) {
            (void)snprintf(text, WEIR_LISTENER_TEXT_MAX,
                           "the sockets of LISTEN_FDS have more than %d addresses",
                           (int)WEIR_LISTENER_ADDRESSES_MAX);
            return WEIR_LISTENER_REFUSED;
        }
        if (address == NULL) {
            r = add_address(listener, &sa, len, inherited->count);
            if (r < 0)
                return r;
            address = &listener->addresses[listener->count - 1];
        }
        address->fds[address->fd_count++] = fd;
    }
    listener->port = port_of(&listener->addresses[0].sa);
    listener->backlog = 0;
    return 0;
}

static int open_sockets(weir_listener *listener, const struct weir_listener_config *config, char *text)
{
    int r;

    if (config->inherited != NULL && config->inherited->count > 0) {
        r = sort_in(listener, config->inherited, text);
    } else {
        r = look_up(listener, config->host, text);
        if (r == 0)
            r = bind_all(listener, text);
    }
    for (size_t i = 0; i < listener->count && r == 0; i++)
        name_address(&listener->addresses[i]);
    return r;
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
    r = open_sockets(listener, config, text);
    if (r != 0) {
        weir_listener_free(listener);
        return r;
    }
    *ret_listener = listener;
    return 0;
}

void weir_listener_close(weir_listener *listener)
{
    for (size_t i = 0; i < listener->count; i++)
        close_address(&listener->addresses[i]);
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

/* Of one address. */
static size_t share_of(const weir_listener *listener, const struct listen_address *address, size_t worker)
{
    size_t n = listener->workers;

    return address->fd_count < n ? 1 : (address->fd_count - worker + n - 1) / n;
}

size_t weir_listener_share(const weir_listener *listener, size_t worker)
{
    size_t share = 0;

    for (size_t i = 0; i < listener->count; i++)
        share += share_of(listener, &listener->addresses[i], worker);
    return share;
}

int weir_listener_take(const weir_listener *listener, size_t worker, size_t i)
{
    const struct listen_address *address = listener->addresses;
    size_t share;

    while (i >= (share = share_of(listener, address, worker))) {
        i -= share;
        address++;
    }
    return fcntl(address->fds[(worker + i * listener->workers) % address->fd_count], F_DUPFD_CLOEXEC, 0);
}

size_t weir_listener_socket_count(const weir_listener *listener)
{
    size_t count = 0;

    for (size_t i = 0; i < listener->count; i++)
        count += listener->addresses[i].fd_count;
    return count;
}

int weir_listener_socket(const weir_listener *listener, size_t i)
{
    const struct listen_address *address = listener->addresses;

    while (i >= address->fd_count) {
        i -= address->fd_count;
        address++;
    }
    return address->fds[i];
}
