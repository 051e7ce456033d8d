/*
 * Host names to addresses, off the loops.
 *
 * A few threads of our own ask the system's resolver (getaddrinfo), one query a host at a time: who asks for
 * the same name meanwhile waits for the same answer.  An answer is good for ttl_ns; for stale_ns more it is
 * still handed out at once while one query refreshes it, so a slow resolver delays nobody who has been served
 * before. A failure is remembered for negative_ns.  Literal addresses and "localhost" need no thread and no
 * lock.
 *
 * One resolver serves the process and is safe for all its loops; free it after the loops' clients are closed.
 */
#ifndef WEIR_NET_RESOLVE_H
#define WEIR_NET_RESOLVE_H

#include <netinet/in.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <weir/attr.h>
#include <weir/mem.h>
#include <weir/slice.h>

#include "net/loop.h"

enum { WEIR_RESOLVE_ADDRESSES_MAX = 8, WEIR_RESOLVE_HOST_MAX = 253 };

/* One address without a port. */
union weir_address {
    struct sockaddr sa;
    struct sockaddr_in in;
    struct sockaddr_in6 in6;
};

struct weir_addresses {
    size_t count;
    union weir_address list[WEIR_RESOLVE_ADDRESSES_MAX]; /* in the order to try; families alternate */
};

/* What getaddrinfo does, replaceable for tests: fills at least one address and returns NULL, or the text of
 * the failure, which lives for ever.  Called from the resolver's threads; host is NUL-terminated. */
typedef const char *weir_resolve_lookup_fn(void *user, const char *host,
                                           struct weir_addresses *ret_addresses);

struct weir_resolver_config {
    unsigned threads;     /* 0: 2 */
    size_t max_hosts;     /* names remembered; 0: 4096.  Beyond it the longest unused is forgotten */
    uint64_t ttl_ns;      /* 0: 30 s */
    uint64_t stale_ns;    /* 0: 5 minutes */
    uint64_t negative_ns; /* 0: 1 s */
    weir_resolve_lookup_fn *lookup; /* NULL: getaddrinfo */
    void *lookup_user;
};

typedef struct weir_resolver weir_resolver;

/* Starts the threads; config is copied.  0, WEIR_ERR_NOMEM or WEIR_ERR_IO. */
WEIR_MUST_USE int weir_resolver_new(const struct weir_mem *mem, const struct weir_resolver_config *config,
                                    weir_resolver **ret_resolver);

/* How long a name's addresses are used, of those that are looked up from now on; 0: 30 s.  From any thread.
 */
void weir_resolver_set_ttl(weir_resolver *resolver, uint64_t ttl_ns);

/* Waits for the look-ups that are running.  Accepts NULL.  No query may be waiting. */
void weir_resolver_free(weir_resolver *resolver);

struct weir_resolve_entry;

/* One question; embedded by who asks, alive until done was called or the query was cancelled. */
struct weir_resolve_query {
    weir_loop *loop;
    /* Called on the loop.  failure is NULL, or a text that lives for ever; addresses live during the call. */
    void (*done)(struct weir_resolve_query *query, const struct weir_addresses *addresses,
                 const char *failure);
    /* private */
    struct weir_loop_task task;
    weir_resolver *resolver;
    struct weir_resolve_entry *entry;
    struct weir_resolve_query *next;
    struct weir_addresses addresses;
    const char *failure;
};

/* The answer comes later, through done. */
#define WEIR_RESOLVE_PENDING 1
/* The name cannot be looked up: *ret_failure says why. */
#define WEIR_RESOLVE_FAILED 2

/*
 * Looks host up.  0 with the addresses at once, WEIR_RESOLVE_PENDING, WEIR_RESOLVE_FAILED with a text that
 * lives for ever (a remembered failure, or no host name at all), or negative.  The caller sets query->loop
 * and query->done before; now_ns is the loop's time.
 */
WEIR_MUST_USE int weir_resolver_ask(weir_resolver *resolver, struct weir_slice host,
                                    struct weir_resolve_query *query, struct weir_addresses *ret_addresses,
                                    const char **ret_failure);

/* Takes a pending question back: done will not be called.  From the query's own loop. */
void weir_resolver_cancel(struct weir_resolve_query *query);

/* An IPv4 or IPv6 address as text (without brackets), or a name of this machine's loopback: 0, or
 * WEIR_RESOLVE_FAILED when the host is neither. */
WEIR_MUST_USE int weir_resolve_literal(struct weir_slice host, struct weir_addresses *ret_addresses);

/* Whether only this machine reaches it. */
bool weir_address_loopback(const struct sockaddr *address);

/* The text of an address with a port: "127.0.0.1:80", "[::1]:80". */
enum { WEIR_ADDRESS_TEXT_MAX = 56 };
struct weir_slice weir_address_text(const struct sockaddr *address, char text[WEIR_ADDRESS_TEXT_MAX]);

#endif
