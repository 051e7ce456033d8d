/*
 * The variables are ours only if LISTEN_PID says so: a process that somebody started with the sockets may
 * start others, which have the variables but were not meant.
 */
#include "net/inherited.h"

#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/slice.h"
#include "net/resolve.h"

enum { NAME_SHOWN = 64 };

/* A decimal number; 0 for anything else. */
static uint64_t number_of(const char *name)
{
    const char *text = getenv(name);
    uint64_t value;

    return text != NULL && weir_slice_u64(weir_slice_str(text), &value) == 0 ? value : 0;
}

static bool is_tcp_listener(int fd)
{
    struct sockaddr_storage sa;
    socklen_t sa_len = sizeof(sa);
    int value = 0;
    socklen_t len = sizeof(value);

    if (getsockopt(fd, SOL_SOCKET, SO_ACCEPTCONN, &value, &len) != 0 || value == 0)
        return false;
    return getsockname(fd, (struct sockaddr *)&sa, &sa_len) == 0 &&
           (sa.ss_family == AF_INET || sa.ss_family == AF_INET6);
}

static bool prepare(int fd)
{
    int flags = fcntl(fd, F_GETFL);

    return flags >= 0 && fcntl(fd, F_SETFL, flags | O_NONBLOCK) == 0 && fcntl(fd, F_SETFD, FD_CLOEXEC) == 0;
}

/* The i-th of the names, "" where there is none. */
static struct weir_slice name_of(size_t i)
{
    const char *names = getenv("LISTEN_FDNAMES");
    struct weir_slice name = {names, 0};

    if (names == NULL)
        return WEIR_SLICE_EMPTY;
    for (; i > 0 && name.ptr != NULL; i--) {
        name.ptr = strchr(name.ptr, ':');
        name.ptr += name.ptr != NULL;
    }
    if (name.ptr == NULL)
        return WEIR_SLICE_EMPTY;
    name.len = strcspn(name.ptr, ":");
    return name;
}

static int refuse(size_t i, char text[WEIR_INHERITED_TEXT_MAX])
{
    struct weir_slice name = name_of(i);

    (void)snprintf(text, WEIR_INHERITED_TEXT_MAX,
                   "descriptor %d%s%.*s%s of LISTEN_FDS is no TCP socket that listens",
                   WEIR_INHERITED_FIRST + (int)i, name.len > 0 ? " (" : "",
                   name.len < NAME_SHOWN ? (int)name.len : NAME_SHOWN, name.len > 0 ? name.ptr : "",
                   name.len > 0 ? ")" : "");
    return WEIR_INHERITED_REFUSED;
}

static int take(struct weir_inherited *ret_inherited, char text[WEIR_INHERITED_TEXT_MAX])
{
    uint64_t count = number_of("LISTEN_FDS");

    if (number_of("LISTEN_PID") != (uint64_t)getpid() || count == 0)
        return 0;
    if (count > WEIR_INHERITED_MAX) {
        (void)snprintf(text, WEIR_INHERITED_TEXT_MAX, "LISTEN_FDS tells of more than %d sockets",
                       (int)WEIR_INHERITED_MAX);
        return WEIR_INHERITED_REFUSED;
    }
    for (size_t i = 0; i < count; i++) {
        int fd = WEIR_INHERITED_FIRST + (int)i;

        if (!is_tcp_listener(fd) || !prepare(fd))
            return refuse(i, text);
    }
    ret_inherited->count = (size_t)count;
    return 0;
}

int weir_inherited_take(struct weir_inherited *ret_inherited, char text[WEIR_INHERITED_TEXT_MAX])
{
    struct weir_inherited inherited = {0};
    int r = take(&inherited, text);

    (void)unsetenv("LISTEN_PID");
    (void)unsetenv("LISTEN_FDS");
    (void)unsetenv("LISTEN_FDNAMES");
    if (r == 0)
        *ret_inherited = inherited;
    return r;
}

bool weir_inherited_loopback(const struct weir_inherited *inherited)
{
    for (size_t i = 0; i < inherited->count; i++) {
        struct sockaddr_storage sa;
        socklen_t len = sizeof(sa);

        if (getsockname(WEIR_INHERITED_FIRST + (int)i, (struct sockaddr *)&sa, &len) != 0 ||
            !weir_address_loopback((const struct sockaddr *)&sa))
            return false;
    }
    return true;
}
