/*
 * A host name to a connected socket, in the manner of RFC 8305: the addresses are tried in order, the next
 * one as soon as one fails or 250 ms after the last was begun, all of them racing; the first that is
 * connected wins and the others are dropped.
 *
 * The sockets are streams of the owner's, one for each attempt, since what becomes of them is the owner's
 * affair. The dial is embedded in what needs the connection.  One thread.
 */
#ifndef WEIR_NET_DIAL_H
#define WEIR_NET_DIAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <weir/attr.h>
#include <weir/slice.h>

#include "net/loop.h"
#include "net/resolve.h"
#include "net/stream.h"

enum weir_dial_failure {
    WEIR_DIAL_NAME, /* cannot be looked up */
    WEIR_DIAL_REFUSED,
    WEIR_DIAL_UNREACHABLE,
    WEIR_DIAL_TIMEOUT,
    WEIR_DIAL_LIMIT, /* no more sockets, or too many names are being looked up */
    WEIR_DIAL_NOMEM
};

struct weir_dial;

/* One socket of the race; embedded beside its stream, and alive until that is closed. */
struct weir_dial_attempt {
    struct weir_stream *stream; /* set by the owner, whose on_connect calls weir_dial_connected */
    /* private */
    struct weir_dial *dial;
    struct weir_dial_attempt *next;
    uv_connect_t connect;
};

struct weir_dial_events {
    /* Makes a stream for one more attempt; NULL: the owner can have no more. */
    struct weir_dial_attempt *(*on_open)(struct weir_dial *dial);
    /* The attempt has lost: close its stream. */
    void (*on_drop)(struct weir_dial_attempt *attempt);
    /* The dial is over, and may be freed. */
    void (*on_connected)(struct weir_dial *dial, struct weir_dial_attempt *attempt);
    /* The same; detail is one clause that lives for ever. */
    void (*on_failed)(struct weir_dial *dial, enum weir_dial_failure failure, const char *detail);
};

struct weir_dial {
    /* The owner's, set before the start and unchanged until the end. */
    const struct weir_dial_events *events;
    weir_loop *loop;
    weir_resolver *resolver;
    struct weir_slice host;
    uint16_t port;
    uint64_t by_ns; /* when to give up */
    /* private */
    struct weir_dial_attempt *attempts;
    struct weir_timer timer;
    struct weir_resolve_query query;
    struct weir_addresses addresses;
    size_t next;
    int error;     /* the first failure of an attempt, a negative errno */
    bool starting; /* weir_dial_start has not returned: nothing may be told */
    bool over;
    enum weir_dial_failure failure; /* of a dial that is over before it began */
    const char *detail;
};

/* The dial has failed at once: failure and detail say how, and nothing is called. */
#define WEIR_DIAL_FAILED 1

/* Begins.  0: on_connected or on_failed follows, from the loop; or WEIR_DIAL_FAILED. */
WEIR_MUST_USE int weir_dial_start(struct weir_dial *dial);

/* Gives up a dial that is under way; on_drop alone is called.  Does nothing on one that is over. */
void weir_dial_cancel(struct weir_dial *dial);

/* The socket of an attempt is connected (0) or not (a negative errno). */
void weir_dial_connected(struct weir_dial_attempt *attempt, int error);

#endif
