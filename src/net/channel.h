/*
 * A connection to a server by its name, in the clear or under TLS: bytes in, bytes out, no protocol.
 *
 * For what talks to one server for long, in small messages.  (The HTTP client does its own: it lends bodies
 * instead of copying them.)  The channel is embedded in its owner.  Closing is done when the call returns:
 * nothing is called afterwards, and the memory is the owner's again; what the loop still has to do for the
 * socket is done on memory of its own.  From inside of on_ready, on_read and on_end the channel may be
 * closed, not freed.  One thread.
 */
#ifndef WEIR_NET_CHANNEL_H
#define WEIR_NET_CHANNEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <weir/attr.h>
#include <weir/slice.h>

#include "net/dial.h"
#include "net/loop.h"
#include "net/resolve.h"
#include "net/tls.h"

enum weir_channel_end {
    WEIR_CHANNEL_NAME,        /* the name cannot be looked up */
    WEIR_CHANNEL_UNREACHABLE, /* refused, no route, or no more sockets */
    WEIR_CHANNEL_TIMEOUT,     /* not ready in time */
    WEIR_CHANNEL_TLS,
    WEIR_CHANNEL_CLOSED, /* by the server, or the connection broke */
    WEIR_CHANNEL_NOMEM
};

struct weir_channel;

struct weir_channel_events {
    /* Connected, and TLS done: bytes may be written. */
    void (*on_ready)(struct weir_channel *channel);
    /* Bytes of the server, deciphered; alive during the call. */
    void (*on_read)(struct weir_channel *channel, struct weir_slice bytes);
    /* The channel has closed by itself: the last call.  detail is a clause; it lives during the call. */
    void (*on_end)(struct weir_channel *channel, enum weir_channel_end end, struct weir_slice detail);
};

/* All that is pointed to lives until the channel is closed. */
struct weir_channel_spec {
    const struct weir_channel_events *events;
    weir_loop *loop;
    weir_resolver *resolver;
    struct weir_slice host;
    uint16_t port;
    weir_tls_context *tls;  /* NULL: in the clear */
    uint64_t by_ns;         /* when to give up becoming ready */
    size_t max_queue_bytes; /* written and not yet taken by the socket */
};

struct weir_channel_socket;

struct weir_channel {
    struct weir_channel_spec spec;
    struct weir_dial dial;
    struct weir_channel_socket *socket; /* once there is one */
    struct weir_tls *tls;
    struct weir_timer timer; /* of the TLS handshake */
    bool open;
    bool ready;
};

/*
 * Begins to connect; on_ready or on_end follows.  0; or WEIR_CHANNEL_FAILED, when that failed at once:
 * *ret_end and *ret_detail (which lives for ever) say how, and nothing is called.
 */
#define WEIR_CHANNEL_FAILED 1
WEIR_MUST_USE int weir_channel_open(struct weir_channel *channel, const struct weir_channel_spec *spec,
                                    enum weir_channel_end *ret_end, const char **ret_detail);

/*
 * Sends the bytes, copying what does not go out at once.  0, WEIR_CHANNEL_BROKEN, or negative when more waits
 * than is allowed.  After a failure close the channel; a broken one may have bytes left to be read, and ends
 * by itself.  Only on a ready channel.
 */
#define WEIR_CHANNEL_BROKEN 1
WEIR_MUST_USE int weir_channel_write(struct weir_channel *channel, struct weir_slice bytes);

/* Bytes that the socket has not taken. */
size_t weir_channel_waiting(const struct weir_channel *channel);

/* Closes; does nothing on a channel that is not open.  Accepts a zeroed one. */
void weir_channel_close(struct weir_channel *channel);

#endif
