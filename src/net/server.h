/*
 * An HTTP/1.1 server on one loop.
 *
 * The server reads a request whole (head, then body up to a maximum) and then asks the handler, which answers
 * through the exchange: at once or later, whole or as a stream.  Requests on one connection are served one
 * after the other.  What a peer does wrong, and what exceeds a limit, is answered here; the handler's
 * write_problem gives those answers their shape.
 *
 * An exchange begins with on_head and ends with on_end, exactly once each; in between its slices are stable.
 *
 *   on_head ----> (body) ----> on_request ----> respond | begin write* end | abort ----> on_end
 *      \-> respond: refused early, the body is not read             client left ---------^
 *
 * A client that closes its side, or half of it, after a complete request has left (decisions 25): on_end says
 * so within that turn of the loop.  An HTTP/1.0 client gets a stream that ends with the connection.
 *
 * Every callback and function belongs to the loop's thread.  Callbacks may call any function of the exchange;
 * respond, end and abort may call on_end before they return.
 */
#ifndef WEIR_NET_SERVER_H
#define WEIR_NET_SERVER_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <weir/attr.h>
#include <weir/mem.h>
#include <weir/slice.h>

#include "base/buf.h"
#include "net/listener.h"
#include "net/loop.h"

struct weir_http1_head;

typedef struct weir_server weir_server;
typedef struct weir_exchange weir_exchange;

/* How an exchange ended. */
enum weir_exchange_end {
    WEIR_EXCHANGE_SENT,    /* the whole answer is with the kernel */
    WEIR_EXCHANGE_GONE,    /* the client left, or its connection broke */
    WEIR_EXCHANGE_LATE,    /* the client did not send its body, or not take its answer, within the limits */
    WEIR_EXCHANGE_REFUSED, /* the rest of the request was wrong or too large; the server has answered */
    WEIR_EXCHANGE_ABORTED, /* weir_exchange_abort, or the server was closed */
};

struct weir_server_handler {
    void *user;

    /*
     * The head is complete.  The handler may set weir_exchange_set_user, lower the body limit, or refuse by
     * answering now; then the body is not read.
     */
    void (*on_head)(void *user, weir_exchange *exchange);

    /* The body is complete as well (it may be empty).  Not called after an early answer. */
    void (*on_request)(void *user, weir_exchange *exchange);

    /* After weir_exchange_write returned WEIR_EXCHANGE_FULL: all that was queued is with the kernel (whose
     * own buffer keeps the wire busy meanwhile).  Optional. */
    void (*on_drain)(void *user, weir_exchange *exchange);

    /* The last word about the exchange: lent memory is free again, the exchange is not touched after it. */
    void (*on_end)(void *user, weir_exchange *exchange, enum weir_exchange_end end);

    /*
     * Writes the answer to a problem that the server found: whole header lines (Content-Type ...) into
     * fields, the body into body.  The server adds status, Content-Length and Connection.  Optional: an empty
     * body.  Of the exchange only peer and user may be asked: a problem may come before the head is read, and
     * then there is no user and no on_end.
     */
    void (*write_problem)(void *user, const weir_exchange *exchange, int status, struct weir_slice reason,
                          struct weir_buf *fields, struct weir_buf *body);
};

/* What all servers of one process share: the count of open connections.  Zero it, set the maximum. */
struct weir_server_shared {
    atomic_size_t max_connections; /* 0: 10,000; beyond it a connection is answered 503 and closed */
    atomic_size_t connections;
};

/* 0 in a member: the default in brackets.  Times are durations. */
struct weir_server_config {
    size_t max_head_bytes;   /* request line and fields [64 KiB]; 431 */
    size_t max_target_bytes; /* [16 KiB]; 414 */
    size_t max_headers;      /* [128]; 431 */
    size_t max_body_bytes;   /* [64 MiB]; 413 */
    size_t max_requests;     /* on one connection [1,000,000]; the last answer closes it */
    size_t high_water_bytes; /* of a stream's queue: above it writes say FULL [256 KiB] */
    size_t max_queue_bytes;  /* what a handler that ignores FULL may queue [1 MiB] */
    uint64_t
        head_timeout_ns; /* from the first byte [15 s]; 408.  A new connection has so long to its first */
    uint64_t body_timeout_ns; /* without a byte of the body [30 s]; 408 */
    uint64_t idle_timeout_ns; /* between requests [75 s]; closed silently */
    uint64_t send_timeout_ns; /* without a byte of the answer taken [60 s]; closed */
    uint64_t linger_ns;       /* reading on after an early answer, so that it can be read [5 s] */
    /* Where bodies live: a budget may answer NULL, then the request gets 503.  NULL: the loop's allocator.
     * A body may outlive the exchange (weir_exchange_take_body) but not this allocator. */
    const struct weir_mem *body_mem;
};

/* config and handler are copied; shared outlives the server.  0 or WEIR_ERR_NOMEM. */
WEIR_MUST_USE int weir_server_new(weir_loop *loop, const struct weir_server_config *config,
                                  const struct weir_server_handler *handler,
                                  struct weir_server_shared *shared, weir_server **ret_server);

/* Other limits, for the requests and connections that come from now on.  config is copied. */
void weir_server_configure(weir_server *server, const struct weir_server_config *config);

/* Accepts on the listener's sockets of that worker, of which it takes copies.  0, WEIR_ERR_IO,
 * WEIR_ERR_NOMEM, or WEIR_ERR_INVALID on a second call. */
WEIR_MUST_USE int weir_server_listen(weir_server *server, const weir_listener *listener, size_t worker);

/*
 * Stops accepting, closes idle connections (new ones a second after they were made), lets the exchanges end
 * (their answers say "Connection: close") and calls drained(user) once, when no connection is left; from
 * inside the call if there is none.
 */
void weir_server_drain(weir_server *server, void (*drained)(void *user), void *user);

/*
 * The same where another process accepts on the same sockets from now on: connections that nobody has taken
 * yet are left to it, and idle ones may stay for five seconds, so that hardly a request meets a connection
 * that is being closed.  A drain may follow.
 */
void weir_server_hand_over(weir_server *server, void (*drained)(void *user), void *user);

/* Ends every exchange (ABORTED), closes every connection and frees the server once that is done.  The pointer
 * is dead at once.  Accepts NULL.  Not from inside a callback of this server. */
void weir_server_close(weir_server *server);

/* ---- the request ---- */

/* Method, target, fields; stable until on_end. */
const struct weir_http1_head *weir_exchange_head(const weir_exchange *exchange);

/* What has come of the body; complete from on_request on, stable until on_end or take_body. */
struct weir_slice weir_exchange_body(const weir_exchange *exchange);

/* Gives the body's memory to the caller, who deinits it; for calls that go on after their client left.
 * *ret_body must be empty.  The bytes do not move.  From on_request on. */
void weir_exchange_take_body(weir_exchange *exchange, struct weir_buf *ret_body);

/* The client's address, "127.0.0.1:50112". */
struct weir_slice weir_exchange_peer(const weir_exchange *exchange);

/* When the head was complete, on the loop's clock. */
uint64_t weir_exchange_begun_ns(const weir_exchange *exchange);

/* NULL until it is set, and again after on_end. */
void weir_exchange_set_user(weir_exchange *exchange, void *user);
void *weir_exchange_user(const weir_exchange *exchange);

/* ---- the answer ---- */

enum { WEIR_EXCHANGE_PARTS_MAX = 16 };

/*
 * Answers whole: status, field lines ("Name: value\r\n" each, valid by contract, without Content-Length,
 * Transfer-Encoding, Connection and Date, which are added), and the parts of the body.  fields are copied;
 * the memory of the parts (not the array) is lent until on_end.  One system call when the socket takes it.
 * HEAD, 204 and 304 send no body.  A head that is too large aborts the exchange, with its on_end.
 */
void weir_exchange_respond(weir_exchange *exchange, int status, struct weir_slice fields,
                           const struct weir_slice *parts, size_t count);

/* The queue is above the high-water mark: pause the source until on_drain. */
#define WEIR_EXCHANGE_FULL 1

/*
 * Begins a streamed answer with its first bytes (count may be 0), in one system call.  Results as for write.
 */
WEIR_MUST_USE int weir_exchange_begin(weir_exchange *exchange, int status, struct weir_slice fields,
                                      const struct weir_slice *parts, size_t count);

/*
 * Sends the next bytes; what the socket does not take is copied to the queue.  0, WEIR_EXCHANGE_FULL (taken
 * all the same), WEIR_ERR_LIMIT when the queue's maximum is exceeded, or another negative code; after a
 * negative one the only way on is weir_exchange_abort.
 */
WEIR_MUST_USE int weir_exchange_write(weir_exchange *exchange, const struct weir_slice *parts, size_t count);

/* Sends the last bytes (count may be 0) and the end of the stream; on_end follows when all is sent. */
void weir_exchange_end(weir_exchange *exchange, const struct weir_slice *parts, size_t count);

/* Ends the exchange so that the client sees an incomplete answer: no last chunk, a reset where possible. */
void weir_exchange_abort(weir_exchange *exchange);

/* Bytes of the answer that wait for the client. */
size_t weir_exchange_queued(const weir_exchange *exchange);

/* The head of an answer was sent: only more of it, end or abort can follow. */
bool weir_exchange_begun(const weir_exchange *exchange);

#endif
