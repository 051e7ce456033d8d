/*
 * A connection of a server, and the exchange that is on it: shared by the files of the server only.
 *
 *   server.c         connections' lives, timers, drain
 *   server_accept.c  listening sockets
 *   server_read.c    bytes of the client to requests
 *   exchange.c       answers to bytes
 *
 * One object serves both, since a connection has one exchange at a time.  Phases:
 *
 *   IDLE -> HEAD -> BODY -> ASKED -> STREAMING -> SENDING -> IDLE (next request)
 *                     \--------\-----> SENDING --------------> CLOSED, or LINGER -> CLOSED
 *
 * Any phase may be followed by CLOSED; then the object lives until the loop reports the socket closed, so
 * code that called out may still look at its phase.
 */
#ifndef WEIR_NET_SERVER_CONN_H
#define WEIR_NET_SERVER_CONN_H

#include "base/buf.h"
#include "net/resolve.h"
#include "net/server.h"
#include "net/stream.h"
#include "wire/http1_read.h"

enum weir_conn_phase {
    WEIR_CONN_IDLE,      /* no byte of the next request has come */
    WEIR_CONN_HEAD,      /* some have */
    WEIR_CONN_BODY,      /* on_head was called */
    WEIR_CONN_ASKED,     /* on_request was called */
    WEIR_CONN_STREAMING, /* an answer was begun */
    WEIR_CONN_SENDING,   /* it is complete here; some of it may wait for the client */
    WEIR_CONN_LINGER,    /* all is said; what comes is thrown away */
    WEIR_CONN_CLOSED
};

/* Bytes of later requests that are kept: two reads. */
enum { WEIR_CONN_AHEAD_BYTES = 2 * WEIR_LOOP_READ_BYTES };

struct weir_exchange {
    struct weir_stream stream;
    weir_server *server;
    struct weir_exchange *next; /* of the server's connections */
    struct weir_exchange *prev;
    struct weir_timer timer;
    struct weir_http1_reader reader;
    struct weir_buf body;
    struct weir_buf ahead; /* bytes of later requests */
    void *user;
    uint64_t begun_ns;
    uint64_t since_ns;    /* of the phase, where a limit is counted from there */
    uint64_t accepted;    /* bytes of answers given to the stream, ever */
    uint64_t sent_before; /* of them, sent when the timer was armed */
    size_t requests;
    enum weir_conn_phase phase;
    bool active;      /* between on_head and on_end */
    bool whole;       /* the request was read to its end */
    bool advancing;   /* server_read is at work further up the stack */
    bool close_after; /* no request follows this answer */
    bool chunked;
    bool bodiless; /* the answer to HEAD, 204, 304 */
    bool told_full;
    size_t peer_len;
    char peer[WEIR_ADDRESS_TEXT_MAX];
    struct weir_slice loan[WEIR_EXCHANGE_PARTS_MAX];
};

struct weir_server_socket {
    uv_poll_t poll;
    weir_server *server;
    int fd;
};

struct weir_server {
    weir_loop *loop;
    const struct weir_mem *mem;
    struct weir_server_config config;
    struct weir_server_handler handler;
    struct weir_server_shared *shared;
    struct weir_server_socket *sockets; /* as many as it was given */
    size_t sockets_max;
    size_t socket_count;    /* open */
    struct weir_timer rest; /* armed: nothing is accepted until it fires */
    size_t open_handles;    /* connections and sockets that the loop has not reported closed */
    size_t connections;
    struct weir_exchange *first; /* of the connections */
    bool draining;
    uint64_t quiet_until_ns; /* while draining: connections without a request may stay so long, at least */
    bool closing;
    void (*drained)(void *user);
    void *drained_user;
};

/* server.c */

/* Makes a connection of an accepted socket, or closes it. */
void weir_conn_open(weir_server *server, int fd, const struct sockaddr *peer);

/* Frees the server when it is closing and the loop has let go of all of it. */
void weir_server_maybe_free(weir_server *server);

/* Closes the connection, with the exchange that is on it ending so. */
void weir_conn_close(struct weir_exchange *conn, enum weir_exchange_end end);

/* Arms the timer that the phase asks for. */
void weir_conn_set_timer(struct weir_exchange *conn);

/* Calls on_end if there is an exchange. */
void weir_conn_end_exchange(struct weir_exchange *conn, enum weir_exchange_end end);

/* server_accept.c */

void weir_server_accept_init(weir_server *server);

/* Takes what the kernel has accepted for us, so that it is not reset with the socket. */
void weir_server_accept_rest(weir_server *server);

void weir_server_stop_accepting(weir_server *server);

/* server_read.c */

/* Takes the client's bytes, as far as they are in turn. */
void weir_conn_advance(struct weir_exchange *conn, struct weir_slice input);

/* The exchange is over and another request may follow. */
void weir_conn_next_request(struct weir_exchange *conn);

/* Room for the next read where the body goes, or 0. */
size_t weir_conn_body_room(struct weir_exchange *conn, char **ret_room);

/* exchange.c */

/* Answers what the peer did wrong (or what is too much) in the host's words, and reads no more requests. */
void weir_conn_refuse(struct weir_exchange *conn, unsigned status, struct weir_slice reason);

/* What waited has gone. */
void weir_conn_flushed(struct weir_exchange *conn);

#endif
