/*
 * An HTTP/1.1 client on one loop, with a pool of idle connections for each upstream.
 *
 * A fetch is one request and its answer.  It is embedded in its caller's object, so that starting one
 * allocates nothing when a connection is idle.  The answer is delivered as it comes: head, pieces of the body
 * (decoded when it is gzip or deflate), done.  A fetch may be paused, and cancelled at any time.
 *
 *   start ----> on_head ----> (on_body+ on_flush)* ----> on_done
 *      \-----------\-----------------\-----------------> on_error   cancel: nothing more is called
 *
 * Pool (decisions 26): connections are reused last in, first out; idle ones stay armed for reading and are
 * dropped on any byte or end; the peer's "Keep-Alive: timeout" is honoured.  A reused connection that fails
 * before the request was wholly written is replaced by a fresh one, once.  Everything else that fails is the
 * caller's to judge: the client retries nothing.
 *
 * A name's addresses are tried in turn, the next one after a failure or 250 ms.  Everything belongs to the
 * loop's thread.  The client calls back from the loop, never from inside weir_client_start.
 */
#ifndef WEIR_NET_CLIENT_H
#define WEIR_NET_CLIENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <weir/attr.h>
#include <weir/mem.h>
#include <weir/slice.h>

#include "net/loop.h"
#include "net/proxy.h"
#include "net/resolve.h"
#include "net/tls.h"

struct weir_http1_head;

typedef struct weir_client weir_client;
struct weir_client_conn;
struct weir_client_dial;
struct weir_fetch;

/* 0 in a member: the default in brackets. */
struct weir_client_config {
    weir_resolver *resolver;            /* shared; outlives the client */
    const struct weir_proxies *proxies; /* outlives the client; NULL: none */
    size_t max_upstreams;               /* distinct (scheme, host, port, TLS) at once [4096] */
    size_t max_connections;             /* of this client, busy and idle [16,384] */
    size_t max_idle_per_upstream;       /* [256] */
    size_t max_head_bytes;              /* of an answer [64 KiB] */
    size_t max_headers;                 /* of an answer [128] */
    size_t max_decoded_ratio;           /* how much a compressed body may grow [200], beyond the first MiB */
    uint64_t idle_timeout_ns;           /* [60 s] */
};

/* config is copied.  0 or WEIR_ERR_NOMEM. */
WEIR_MUST_USE int weir_client_new(weir_loop *loop, const struct weir_client_config *config,
                                  weir_client **ret_client);

/* Other limits, for the connections that are made or become idle from now on.  config is copied; its resolver
 * and proxies are those of the client. */
void weir_client_configure(weir_client *client, const struct weir_client_config *config);

/* Closes all connections and frees the client once that is done; the pointer is dead at once.  No fetch may
 * be active.  Accepts NULL. */
void weir_client_close(weir_client *client);

size_t weir_client_idle(const weir_client *client);        /* connections waiting in the pools */
size_t weir_client_connections(const weir_client *client); /* all of them */

enum weir_fetch_failure_kind {
#define X(name, slug) WEIR_FETCH_##name,
#include "net/tbl/fetch_failures.h"
#undef X
    WEIR_FETCH_FAILURES
};

/* The word of the table; lives for ever. */
struct weir_slice weir_fetch_failure_slug(enum weir_fetch_failure_kind kind);

struct weir_fetch_failure {
    enum weir_fetch_failure_kind kind;
    struct weir_slice text; /* a clause for a log: what failed, with whom; no secrets; alive in the call */
    bool sent;              /* the request was wholly written */
};

/* Each of them may cancel the fetch; after on_done, on_error and a cancel the fetch is the caller's again,
 * and may be started anew or freed from inside the call. */
struct weir_fetch_events {
    /* Status and fields; the head lives until the fetch is over. */
    void (*on_head)(struct weir_fetch *fetch, const struct weir_http1_head *head);
    /* The next bytes of the body; alive until on_flush, on_done or on_error, whichever comes next. */
    void (*on_body)(struct weir_fetch *fetch, struct weir_slice bytes);
    void (*on_done)(struct weir_fetch *fetch);
    void (*on_error)(struct weir_fetch *fetch, const struct weir_fetch_failure *failure);
    /* All that was read so far is told, and the loop goes on: who gathers pieces, to pass them on with one
     * system call, does so now.  NULL: nobody gathers. */
    void (*on_flush)(struct weir_fetch *fetch);
};

enum { WEIR_FETCH_PARTS_MAX = 16 };

/* All that is pointed to stays unchanged until the fetch is over. */
struct weir_fetch_request {
    bool tls;
    struct weir_slice host; /* name or address, IPv6 without brackets */
    uint16_t port;
    weir_tls_context *tls_context; /* needed with tls; part of the pool's key */
    struct weir_slice method;
    struct weir_slice target; /* path and query, beginning with "/" */
    /* Whole header lines, "Name: value\r\n" each, valid by contract; without Host, Content-Length,
     * Connection, which are added.  With "Accept-Encoding: gzip, deflate" in it answers may be compressed. */
    struct weir_slice fields;
    const struct weir_slice *parts; /* the body; sent as they are, in as few writes as the socket allows */
    size_t part_count;              /* at most WEIR_FETCH_PARTS_MAX */
    /* Look-up, TCP, proxy and TLS together; 0: 10 s.  Waiting for the answer is bounded by the caller, who
     * cancels. */
    uint64_t connect_timeout_ns;
};

struct weir_fetch {
    const struct weir_fetch_events *events;
    void *user; /* the caller's */
    /* private */
    weir_client *client; /* NULL: not active */
    const struct weir_fetch_request *request;
    struct weir_client_conn *conn; /* once there is one */
    struct weir_client_dial *dial; /* until then */
    struct weir_loop_task failed;  /* a failure that start itself met, told from the loop */
    enum weir_fetch_failure_kind failure;
    const char *detail;
    uint64_t connect_by_ns;
    bool replaced; /* a stale connection was replaced already */
    bool paused;
};

/*
 * Starts the fetch; the caller has set events and user.  Always ends in exactly one of on_done and on_error,
 * unless cancelled.  request and what it points to stay until then.
 */
void weir_client_start(weir_client *client, struct weir_fetch *fetch,
                       const struct weir_fetch_request *request);

/* Closes the connection at once (it is never reused); nothing is called any more.  Does nothing on a fetch
 * that is over. */
void weir_fetch_cancel(struct weir_fetch *fetch);

/*
 * Stops reading the body: on_body is not called until resume; the peer feels it.  At most one read is held.
 */
void weir_fetch_pause(struct weir_fetch *fetch);

/* Goes on from the loop, not from inside the call. */
void weir_fetch_resume(struct weir_fetch *fetch);

/* The fetch was started and is not over. */
bool weir_fetch_active(const struct weir_fetch *fetch);

/* Its connection had served before. */
bool weir_fetch_reused(const struct weir_fetch *fetch);

#endif
