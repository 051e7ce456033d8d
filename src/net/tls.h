/*
 * TLS for upstream connections: OpenSSL behind memory buffers, so that it works on any byte stream.
 *
 * A context is what connections with the same settings share: trust anchors, an own certificate,
 * verification. It is made before the threads start, counted with atomics, and unchanged afterwards.  A
 * session cell keeps one resumable session for one upstream on one loop.  A connection is a filter without
 * I/O: the caller feeds what came from the peer, and sends what the filter leaves in its output buffer.
 */
#ifndef WEIR_NET_TLS_H
#define WEIR_NET_TLS_H

#include <stdbool.h>
#include <stddef.h>

#include <weir/attr.h>
#include <weir/mem.h>
#include <weir/slice.h>

#include "base/buf.h"

typedef struct weir_tls_context weir_tls_context;
typedef struct weir_tls weir_tls;

enum { WEIR_TLS_TEXT_MAX = 256 };

struct weir_tls_spec {
    bool insecure;               /* ssl_verify: false: any certificate will do */
    struct weir_slice ca_file;   /* PEM; empty: SSL_CERT_FILE and SSL_CERT_DIR, else the system's */
    struct weir_slice cert_file; /* PEM chain of our own certificate; empty: none */
    struct weir_slice key_file;  /* its key; empty: in cert_file */
};

/* A file cannot be read or holds nothing of its kind; text names it. */
#define WEIR_TLS_UNREADABLE 1

/* 0, WEIR_TLS_UNREADABLE or negative; text is NUL-terminated.  Reads files. */
WEIR_MUST_USE int weir_tls_context_new(const struct weir_mem *mem, const struct weir_tls_spec *spec,
                                       char text[WEIR_TLS_TEXT_MAX], weir_tls_context **ret_context);
weir_tls_context *weir_tls_context_ref(weir_tls_context *context);
void weir_tls_context_unref(weir_tls_context *context); /* accepts NULL */

/* Where one upstream's session waits for the next connection; one thread. */
struct weir_tls_session {
    void *session; /* an SSL_SESSION, or NULL */
};
void weir_tls_session_deinit(struct weir_tls_session *session);

/*
 * A client's side of one connection to host (a name or an address; sent as SNI and checked against the
 * certificate).  cell may be NULL and must outlive the connection otherwise.  Keeps a reference of the
 * context.  0, or WEIR_ERR_NOMEM, also for a host that OpenSSL does not take.
 */
WEIR_MUST_USE int weir_tls_new(weir_tls_context *context, const struct weir_mem *mem, struct weir_slice host,
                               struct weir_tls_session *cell, weir_tls **ret_tls);
void weir_tls_free(weir_tls *tls); /* accepts NULL */

/* Conditions of the functions below. */
#define WEIR_TLS_WANT       1 /* the input is used up: feed more */
#define WEIR_TLS_CLOSED     2 /* the peer said that nothing more comes */
#define WEIR_TLS_UNVERIFIED 3 /* its certificate was refused; weir_tls_reason says why */
#define WEIR_TLS_BROKEN     4 /* the protocol failed; weir_tls_reason says how */

/*
 * Lends the ciphertext that came; it must stay until it is used up (WEIR_TLS_WANT) or the connection freed.
 */
void weir_tls_feed(weir_tls *tls, struct weir_slice ciphertext);

/* Goes on with the handshake.  0: done.  Whatever it returns, the output must be sent. */
WEIR_MUST_USE int weir_tls_shake(weir_tls *tls);

/* Deciphers into room.  0 with at least one byte, or a condition.  The output must be sent afterwards. */
WEIR_MUST_USE int weir_tls_read(weir_tls *tls, char *room, size_t room_bytes, size_t *ret_bytes);

/* Enciphers all of the bytes into the output. 0, WEIR_TLS_BROKEN or negative. */
WEIR_MUST_USE int weir_tls_write(weir_tls *tls, struct weir_slice bytes);

/* Ciphertext to be sent; the caller consumes it. */
struct weir_buf *weir_tls_output(weir_tls *tls);

/* A sentence about the last failure; lives as long as the connection. */
struct weir_slice weir_tls_reason(const weir_tls *tls);

#endif
