/*
 * What the files of the client share.
 *
 *   client.c       upstreams and their pools; starting and cancelling
 *   client_dial.c  a name to a connected socket, for a fetch
 *   client_conn.c  one connection: tunnel, TLS, writing the request, idling
 *   fetch.c        bytes of the upstream to an answer
 *
 * A connection: CONNECTING -> [TUNNEL] -> [SHAKING] -> BUSY <-> IDLE, and CLOSED from anywhere; the object
 * lives until the loop reports the socket closed, so code that called out may still look at its phase.
 */
#ifndef WEIR_NET_CLIENT_CONN_H
#define WEIR_NET_CLIENT_CONN_H

#include "base/buf.h"
#include "net/client.h"
#include "net/dial.h"
#include "net/stream.h"
#include "wire/http1_read.h"
#include "wire/inflate.h"

enum { WEIR_UPSTREAM_BUCKETS = 256, WEIR_FAILURE_TEXT_MAX = 384 };

/* One (scheme, host, port, TLS context): where its idle connections wait. */
struct weir_upstream {
    struct weir_upstream *chain; /* of the bucket */
    uint64_t hash;
    size_t users; /* connections and dials */
    uint64_t used_ns;
    bool tls;
    uint16_t port;
    weir_tls_context *tls_context; /* a reference */
    struct weir_tls_session session;
    const struct weir_proxy *proxy;
    struct weir_client_conn *idle; /* the last one that came is the first to go */
    size_t idle_count;
    struct weir_slice host;
    struct weir_slice authority; /* for Host: with the port where it is not the scheme's own */
    size_t text_bytes;
    char text[]; /* host and authority */
};

enum weir_link_phase {
    WEIR_LINK_CONNECTING,
    WEIR_LINK_TUNNEL,  /* CONNECT was sent */
    WEIR_LINK_SHAKING, /* TLS */
    WEIR_LINK_BUSY,    /* with a fetch */
    WEIR_LINK_IDLE,
    WEIR_LINK_CLOSED
};

/* Undoes the coding of a body. */
struct weir_decoding {
    struct weir_inflate inflate;
    struct weir_buf rest; /* coded bytes that wait while the fetch is paused */
};

struct weir_client_conn {
    struct weir_stream stream;
    weir_client *client;
    struct weir_upstream *upstream;
    struct weir_fetch *fetch;         /* BUSY, TUNNEL, SHAKING */
    struct weir_dial_attempt attempt; /* CONNECTING */
    struct weir_client_conn *next;    /* of the idle ones */
    struct weir_client_conn *prev;
    struct weir_timer timer; /* TUNNEL, SHAKING: the connect limit; IDLE: when to go */
    uint64_t idle_since_ns;
    uint64_t keep_ns; /* how long the peer said it keeps an idle connection */
    struct weir_http1_reader reader;
    struct weir_decoding *decoding; /* NULL: the body is as it is */
    struct weir_tls *tls;
    struct weir_buf held; /* bytes that came while the fetch was paused */
    struct weir_loop_task resume;
    enum weir_link_phase phase;
    bool reused;
    bool sent;         /* the request is wholly written */
    bool answered;     /* a byte of the answer came */
    bool ended;        /* the peer's end came while bytes were held */
    bool torn;         /* that end was no orderly one */
    size_t part_count; /* TLS: plaintext still to be enciphered; else the loan */
    struct weir_slice parts[WEIR_FETCH_PARTS_MAX + 1];
};

struct weir_client {
    weir_loop *loop;
    const struct weir_mem *mem;
    struct weir_client_config config;
    size_t connections;
    size_t idle;
    size_t upstreams;
    bool closing;
    struct weir_upstream *buckets[WEIR_UPSTREAM_BUCKETS];
    char text[WEIR_FAILURE_TEXT_MAX];
};

/* client.c */

/* Ends the fetch with a failure; detail is one clause.  The fetch has no connection and no dial any more. */
void weir_fetch_fail(struct weir_fetch *fetch, enum weir_fetch_failure_kind kind, struct weir_slice detail,
                     bool sent);

/* The same from the loop; detail lives for ever. */
void weir_fetch_fail_later(struct weir_fetch *fetch, enum weir_fetch_failure_kind kind, const char *detail);

/* The answer is complete: pools the connection if it can serve again, else closes it. */
void weir_client_pool(struct weir_client_conn *conn);
void weir_client_unpool(struct weir_client_conn *conn);

/* Frees the client when it is closing and its last connection is gone. */
void weir_client_settle(weir_client *client);

/* client_dial.c */

/* Looks up and connects for the fetch; ends in weir_link_established or weir_fetch_fail. */
void weir_client_dial_start(struct weir_fetch *fetch, struct weir_upstream *upstream);

/* Gives up; nothing is called. */
void weir_client_dial_cancel(struct weir_client_dial *own);

/* client_conn.c */

/* A connection in phase CONNECTING, or NULL. */
struct weir_client_conn *weir_link_new(weir_client *client, struct weir_upstream *upstream);

/* The fetch has a connected socket: tunnel and TLS come first. */
void weir_link_established(struct weir_client_conn *conn, struct weir_fetch *fetch);

/* Sends the fetch's request on a ready connection. */
void weir_link_send(struct weir_client_conn *conn, struct weir_fetch *fetch);

/* Closes; a fetch on it is detached and not told. */
void weir_link_close(struct weir_client_conn *conn);

/* Closes, and tells the fetch; or replaces a connection that was stale. */
void weir_link_fail(struct weir_client_conn *conn, enum weir_fetch_failure_kind kind,
                    struct weir_slice detail);

/* After a whole answer: the upstream has said nothing more, as far as it has been read. */
bool weir_link_is_clean(struct weir_client_conn *conn);

/* fetch.c */

/* Takes plain bytes of the answer. */
void weir_answer_take(struct weir_client_conn *conn, struct weir_slice bytes);

/* The upstream will send no more. */
void weir_answer_end(struct weir_client_conn *conn, bool torn);

/* Ready for the next answer on the connection. */
void weir_answer_reset(struct weir_client_conn *conn);
void weir_answer_deinit(struct weir_client_conn *conn);

#endif
