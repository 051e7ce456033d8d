/*
 * Listening sockets for all workers of one process.
 *
 * Each address of the host name is first bound without SO_REUSEPORT, so that a second process on the same
 * port is refused, with the owner's name where the system tells it.  Only then are the sockets opened to
 * sharing, one for each worker.  Sockets that the process was started with are taken as they are: there may
 * be more of them than workers or fewer, and each is somebody's, or connections would wait on it for ever.
 *
 * Servers take copies.  The listener keeps its own for a process that is to go on after this one; a socket is
 * closed when all of its copies are.  Made before the threads start; for the main thread alone afterwards.
 */
#ifndef WEIR_NET_LISTENER_H
#define WEIR_NET_LISTENER_H

#include <stddef.h>
#include <stdint.h>

#include <weir/attr.h>
#include <weir/mem.h>
#include <weir/slice.h>

struct weir_inherited;

struct weir_listener_config {
    struct weir_slice host; /* name or address; "" and "*": every address, IPv6 and IPv4 */
    uint16_t port;          /* 0: the system chooses one */
    unsigned backlog;       /* connections that wait in the kernel, each socket; 0: 1024 */
    size_t workers;         /* 1 to 1024 */
    /* Sockets to take over instead of binding any: host, port and backlog are those that they have.  NULL, or
     * none of them: bind. */
    const struct weir_inherited *inherited;
};

typedef struct weir_listener weir_listener;

enum { WEIR_LISTENER_TEXT_MAX = 256, WEIR_LISTENER_ADDRESSES_MAX = 8 };

/* Conditions of weir_listener_new; the text says what a person needs to know. */
enum { WEIR_LISTENER_IN_USE = 1, WEIR_LISTENER_REFUSED = 2, WEIR_LISTENER_NO_SUCH_HOST = 3 };

/*
 * Binds all sockets.  Blocks while the host name is looked up.  On a positive or negative result text holds a
 * NUL-terminated sentence such as "127.0.0.1:4000 is in use by weir (pid 4711)".
 */
WEIR_MUST_USE int weir_listener_new(const struct weir_mem *mem, const struct weir_listener_config *config,
                                    char text[WEIR_LISTENER_TEXT_MAX], weir_listener **ret_listener);

/* Closes the listener's own copies of the sockets; what it tells of addresses stays. */
void weir_listener_close(weir_listener *listener);

/* Closes, and frees.  Accepts NULL. */
void weir_listener_free(weir_listener *listener);

/* The port in use: the configured one, or what the system chose for 0. */
uint16_t weir_listener_port(const weir_listener *listener);

/* As configured, or the default; 0: the sockets listen already, as somebody else has settled. */
int weir_listener_backlog(const weir_listener *listener);

/* How many addresses the host name has here. */
size_t weir_listener_addresses(const weir_listener *listener);

/* "127.0.0.1:4000" or "[::1]:4000" of address i; lives as long as the listener. */
struct weir_slice weir_listener_address(const weir_listener *listener, size_t i);

/* How many of the sockets are the worker's, of all addresses: at least one of each. */
size_t weir_listener_share(const weir_listener *listener, size_t worker);

/* A copy of the i-th of them, which the caller closes; -1 when the system has no descriptor left. */
int weir_listener_take(const weir_listener *listener, size_t worker, size_t i);

/* All sockets, each once, to be handed over to another process; they stay the listener's.  Before the close.
 */
size_t weir_listener_socket_count(const weir_listener *listener);
int weir_listener_socket(const weir_listener *listener, size_t i);

#endif
