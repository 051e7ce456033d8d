/*
 * The dials of the client: for one fetch, to its upstream or to the proxy before it.  Each attempt is a
 * connection object in phase CONNECTING; the one that wins goes on with the fetch.
 */
#include <string.h>

#include "base/container.h"
#include "base/slice.h"
#include "net/client_conn.h"

struct weir_client_dial {
    struct weir_dial dial;
    weir_client *client;
    struct weir_upstream *upstream;
    struct weir_fetch *fetch;
};

static struct weir_client_dial *of(struct weir_dial *dial)
{
    return WEIR_CONTAINER(dial, struct weir_client_dial, dial);
}

static void free_dial(struct weir_client_dial *own)
{
    weir_client *client = own->client;

    own->upstream->users--;
    own->fetch->dial = NULL;
    client->mem->free(client->mem->user, own, sizeof(*own));
}

void weir_client_dial_cancel(struct weir_client_dial *own)
{
    weir_dial_cancel(&own->dial);
    free_dial(own);
}

static struct weir_dial_attempt *on_open(struct weir_dial *dial)
{
    struct weir_client_conn *conn = weir_link_new(of(dial)->client, of(dial)->upstream);

    return conn == NULL ? NULL : &conn->attempt;
}

static void on_drop(struct weir_dial_attempt *attempt)
{
    weir_link_close(WEIR_CONTAINER(attempt, struct weir_client_conn, attempt));
}

static void on_connected(struct weir_dial *dial, struct weir_dial_attempt *attempt)
{
    struct weir_fetch *fetch = of(dial)->fetch;

    free_dial(of(dial));
    weir_link_established(WEIR_CONTAINER(attempt, struct weir_client_conn, attempt), fetch);
}

static enum weir_fetch_failure_kind kind_of(enum weir_dial_failure failure)
{
    switch (failure) {
    case WEIR_DIAL_NAME:
        return WEIR_FETCH_DNS;
    case WEIR_DIAL_UNREACHABLE:
        return WEIR_FETCH_UNREACHABLE;
    case WEIR_DIAL_TIMEOUT:
        return WEIR_FETCH_CONNECT_TIMEOUT;
    case WEIR_DIAL_LIMIT:
        return WEIR_FETCH_LIMIT;
    case WEIR_DIAL_NOMEM:
        return WEIR_FETCH_NOMEM;
    case WEIR_DIAL_REFUSED:
        break;
    }
    return WEIR_FETCH_REFUSED;
}

static void on_failed(struct weir_dial *dial, enum weir_dial_failure failure, const char *detail)
{
    struct weir_fetch *fetch = of(dial)->fetch;

    free_dial(of(dial));
    weir_fetch_fail(fetch, kind_of(failure), weir_slice_str(detail), false);
}

static const struct weir_dial_events dial_events = {
    .on_open = on_open, .on_drop = on_drop, .on_connected = on_connected, .on_failed = on_failed};

static struct weir_client_dial *new_dial(struct weir_fetch *fetch, struct weir_upstream *upstream)
{
    const struct weir_proxy *proxy = upstream->proxy;
    weir_client *client = fetch->client;
    struct weir_client_dial *own = client->mem->alloc(client->mem->user, sizeof(*own));

    if (own == NULL)
        return NULL;
    memset(own, 0, sizeof(*own));
    own->client = client;
    own->upstream = upstream;
    own->fetch = fetch;
    own->dial.events = &dial_events;
    own->dial.loop = client->loop;
    own->dial.resolver = client->config.resolver;
    own->dial.host = proxy != NULL ? proxy->host : upstream->host;
    own->dial.port = proxy != NULL ? proxy->port : upstream->port;
    own->dial.by_ns = fetch->connect_by_ns;
    upstream->users++;
    return own;
}

void weir_client_dial_start(struct weir_fetch *fetch, struct weir_upstream *upstream)
{
    struct weir_client_dial *own = new_dial(fetch, upstream);

    if (own == NULL) {
        weir_fetch_fail_later(fetch, WEIR_FETCH_NOMEM, "no memory is left");
        return;
    }
    fetch->dial = own;
    if (weir_dial_start(&own->dial) == WEIR_DIAL_FAILED) {
        weir_fetch_fail_later(fetch, kind_of(own->dial.failure), own->dial.detail);
        free_dial(own);
    }
}
