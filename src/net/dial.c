/*
 * A dial turns a host into a connected socket, in the manner of RFC 8305: the addresses are tried in order,
 * the next one as soon as one fails or 250 ms after the last was begun, all of them racing; the first that is
 * connected wins and the others are closed.
 *
 * Each attempt is a connection object in phase CONNECTING, in the dial's list.  One timer serves the pace and
 * the limit of the whole.
 */
#include <string.h>

#include "base/container.h"
#include "base/slice.h"
#include "base/time.h"
#include "net/client_conn.h"

#define PACE_NS (250 * WEIR_NS_PER_MS)

struct weir_dial {
    weir_client *client;
    struct weir_upstream *upstream;
    struct weir_fetch *fetch;
    struct weir_client_conn *attempts;
    struct weir_timer timer;
    struct weir_resolve_query query;
    struct weir_addresses addresses;
    size_t next;
    int error;     /* the first failure of an attempt, a negative errno */
    bool starting; /* weir_dial_start has not returned: nothing may be told */
};

static void free_dial(struct weir_dial *dial)
{
    weir_client *client = dial->client;

    weir_loop_cancel(client->loop, &dial->timer);
    dial->upstream->users--;
    client->mem->free(client->mem->user, dial, sizeof(*dial));
}

static void forget_attempt(struct weir_dial *dial, struct weir_client_conn *conn)
{
    struct weir_client_conn **at = &dial->attempts;

    while (*at != conn)
        at = &(*at)->next;
    *at = conn->next;
    conn->next = NULL;
    conn->dial = NULL;
}

static void close_attempts(struct weir_dial *dial)
{
    while (dial->attempts != NULL) {
        struct weir_client_conn *conn = dial->attempts;

        forget_attempt(dial, conn);
        weir_link_close(conn);
    }
}

void weir_dial_cancel(struct weir_dial *dial)
{
    weir_resolver_cancel(&dial->query);
    close_attempts(dial);
    free_dial(dial);
}

static void fail(struct weir_dial *dial, enum weir_fetch_failure_kind kind, const char *detail)
{
    struct weir_fetch *fetch = dial->fetch;
    bool later = dial->starting;

    fetch->dial = NULL;
    weir_dial_cancel(dial);
    if (later)
        weir_fetch_fail_later(fetch, kind, detail);
    else
        weir_fetch_fail(fetch, kind, weir_slice_str(detail), false);
}

static enum weir_fetch_failure_kind kind_of(int error)
{
    switch (error) {
    case UV_EHOSTUNREACH:
    case UV_ENETUNREACH:
    case UV_EADDRNOTAVAIL:
    case UV_EAFNOSUPPORT:
        return WEIR_FETCH_UNREACHABLE;
    case UV_ETIMEDOUT:
        return WEIR_FETCH_CONNECT_TIMEOUT;
    case UV_EMFILE:
    case UV_ENFILE:
    case UV_ENOBUFS:
        return WEIR_FETCH_LIMIT;
    case UV_ENOMEM:
        return WEIR_FETCH_NOMEM;
    default:
        return WEIR_FETCH_REFUSED;
    }
}

/* What is told of several failures: the first, but a refusal rather than a missing route. */
static void note_error(struct weir_dial *dial, int error)
{
    if (dial->error == 0 || kind_of(dial->error) == WEIR_FETCH_UNREACHABLE)
        dial->error = error;
}

static void set_port(union weir_address *address, uint16_t port)
{
    if (address->sa.sa_family == AF_INET6)
        address->in6.sin6_port = htons(port);
    else
        address->in.sin_port = htons(port);
}

/* Begins to connect to the next address; false when it failed at once. */
static bool try_next(struct weir_dial *dial)
{
    const struct weir_proxy *proxy = dial->upstream->proxy;
    union weir_address address = dial->addresses.list[dial->next++];
    struct weir_client_conn *conn;
    int error = UV_EMFILE;

    set_port(&address, proxy != NULL ? proxy->port : dial->upstream->port);
    conn = weir_link_new(dial->client, dial->upstream);
    if (conn == NULL) {
        note_error(dial, error);
        return false;
    }
    if (weir_stream_connect(&conn->stream, &conn->connect, &address.sa, &error) != 0) {
        note_error(dial, error);
        weir_link_close(conn);
        return false;
    }
    conn->dial = dial;
    conn->next = dial->attempts;
    dial->attempts = conn;
    return true;
}

static void set_timer(struct weir_dial *dial)
{
    uint64_t at_ns = dial->fetch->connect_by_ns;

    if (dial->attempts != NULL && dial->next < dial->addresses.count) {
        uint64_t next_ns = weir_time_add(weir_loop_now(dial->client->loop), PACE_NS);

        at_ns = next_ns < at_ns ? next_ns : at_ns;
    }
    weir_loop_arm(dial->client->loop, &dial->timer, at_ns);
}

/* Begins the next attempt that can be begun, or gives up when none is left. */
static void go_on(struct weir_dial *dial)
{
    while (dial->next < dial->addresses.count) {
        if (try_next(dial)) {
            set_timer(dial);
            return;
        }
    }
    if (dial->attempts == NULL)
        fail(dial, kind_of(dial->error), uv_strerror(dial->error));
    else
        set_timer(dial);
}

static void on_timer(struct weir_timer *timer)
{
    struct weir_dial *dial = WEIR_CONTAINER(timer, struct weir_dial, timer);

    if (weir_loop_now(dial->client->loop) >= dial->fetch->connect_by_ns)
        fail(dial, WEIR_FETCH_CONNECT_TIMEOUT, "not connected in time");
    else
        go_on(dial);
}

void weir_dial_connected(struct weir_client_conn *conn, int error)
{
    struct weir_dial *dial = conn->dial;
    struct weir_fetch *fetch = dial->fetch;

    forget_attempt(dial, conn);
    if (error != 0) {
        note_error(dial, error);
        weir_link_close(conn);
        go_on(dial);
        return;
    }
    close_attempts(dial);
    fetch->dial = NULL;
    free_dial(dial);
    weir_link_established(conn, fetch);
}

static void on_resolved(struct weir_resolve_query *query, const struct weir_addresses *addresses,
                        const char *failure)
{
    struct weir_dial *dial = WEIR_CONTAINER(query, struct weir_dial, query);

    if (failure != NULL) {
        fail(dial, WEIR_FETCH_DNS, failure);
        return;
    }
    dial->addresses = *addresses;
    go_on(dial);
}

static struct weir_dial *new_dial(struct weir_fetch *fetch, struct weir_upstream *upstream)
{
    weir_client *client = fetch->client;
    struct weir_dial *dial = client->mem->alloc(client->mem->user, sizeof(*dial));

    if (dial == NULL)
        return NULL;
    memset(dial, 0, sizeof(*dial));
    dial->client = client;
    dial->upstream = upstream;
    dial->fetch = fetch;
    dial->starting = true;
    dial->query.loop = client->loop;
    dial->query.done = on_resolved;
    weir_timer_init(&dial->timer, on_timer);
    upstream->users++;
    return dial;
}

void weir_dial_start(struct weir_fetch *fetch, struct weir_upstream *upstream)
{
    struct weir_slice host = upstream->proxy != NULL ? upstream->proxy->host : upstream->host;
    weir_resolver *resolver = fetch->client->config.resolver;
    struct weir_dial *dial = new_dial(fetch, upstream);
    const char *failure = NULL;
    int r;

    if (dial == NULL) {
        weir_fetch_fail_later(fetch, WEIR_FETCH_NOMEM, "no memory is left");
        return;
    }
    fetch->dial = dial;
    r = weir_resolver_ask(resolver, host, &dial->query, &dial->addresses, &failure);
    if (r == 0)
        go_on(dial);
    else if (r == WEIR_RESOLVE_PENDING)
        set_timer(dial);
    else if (r == WEIR_RESOLVE_FAILED)
        fail(dial, WEIR_FETCH_DNS, failure);
    else
        fail(dial, WEIR_FETCH_LIMIT, "too many host names are being looked up");
    /* A failure has freed the dial. */
    if (fetch->dial != NULL)
        fetch->dial->starting = false;
}
