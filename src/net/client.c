/*
 * Upstreams in a small hash table, their idle connections in a stack each: the one that came last serves
 * next, so that the others grow old and go.
 *
 * A connection that was idle for a while is asked before it is used again whether its peer has closed it (a
 * look at the socket, no byte is read): the loop may not have come to tell yet.  One that served a moment ago
 * is not worth the system call.
 */
#include "net/client.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

#include <weir/error.h>

#include "base/container.h"
#include "base/slice.h"
#include "base/text.h"
#include "base/time.h"
#include "net/client_conn.h"

enum {
    DEFAULT_UPSTREAMS = 4096,
    DEFAULT_CONNECTIONS = 16384,
    DEFAULT_IDLE = 256,
    DEFAULT_RATIO = 200,
    DEFAULT_IDLE_S = 60,
    DEFAULT_CONNECT_S = 10,
    HTTP_PORT = 80,
    HTTPS_PORT = 443
};

/* Idle for longer than this, a connection is looked at before it is used. */
#define LOOK_AFTER_NS WEIR_NS_PER_S

/* ---- failures ---- */

struct weir_slice weir_fetch_failure_slug(enum weir_fetch_failure_kind kind)
{
    static const struct weir_slice slugs[] = {
#define X(name, slug) WEIR_SLICE_INIT(slug),
#include "net/tbl/fetch_failures.h"
#undef X
    };

    return kind < WEIR_FETCH_FAILURES ? slugs[kind] : WEIR_SLICE("unknown");
}

void weir_fetch_fail(struct weir_fetch *fetch, enum weir_fetch_failure_kind kind, struct weir_slice detail,
                     bool sent)
{
    const struct weir_fetch_request *request = fetch->request;
    weir_client *client = fetch->client;
    struct weir_fetch_failure failure = {.kind = kind, .sent = sent};

    assert(fetch->conn == NULL && fetch->dial == NULL);
    (void)snprintf(client->text, sizeof(client->text), "%s://%.*s:%u: %.*s", request->tls ? "https" : "http",
                   (int)request->host.len, request->host.ptr, (unsigned)request->port, (int)detail.len,
                   detail.ptr);
    failure.text = weir_slice_str(client->text);
    fetch->client = NULL;
    fetch->events->on_error(fetch, &failure);
}

static void run_failed(struct weir_loop_task *task)
{
    struct weir_fetch *fetch = WEIR_CONTAINER(task, struct weir_fetch, failed);

    weir_fetch_fail(fetch, fetch->failure, weir_slice_str(fetch->detail), false);
}

void weir_fetch_fail_later(struct weir_fetch *fetch, enum weir_fetch_failure_kind kind, const char *detail)
{
    fetch->failure = kind;
    fetch->detail = detail;
    fetch->failed = (struct weir_loop_task){.run = run_failed};
    weir_loop_post(fetch->client->loop, &fetch->failed);
}

/* ---- upstreams ---- */

static uint64_t hash_of(const struct weir_fetch_request *request)
{
    return weir_slice_hash(request->host, (uint64_t)request->port << 1 | request->tls);
}

static weir_tls_context *context_of(const struct weir_fetch_request *request)
{
    return request->tls ? request->tls_context : NULL;
}

static bool is_for(const struct weir_upstream *upstream, const struct weir_fetch_request *request)
{
    return upstream->port == request->port && upstream->tls == request->tls &&
           upstream->tls_context == context_of(request) && weir_slice_eq(upstream->host, request->host);
}

static struct weir_upstream *find_upstream(weir_client *client, const struct weir_fetch_request *request,
                                           uint64_t hash)
{
    for (struct weir_upstream *u = client->buckets[hash % WEIR_UPSTREAM_BUCKETS]; u != NULL; u = u->chain) {
        if (u->hash == hash && is_for(u, request))
            return u;
    }
    return NULL;
}

static void free_upstream(weir_client *client, struct weir_upstream *upstream)
{
    struct weir_upstream **at = &client->buckets[upstream->hash % WEIR_UPSTREAM_BUCKETS];

    while (*at != upstream)
        at = &(*at)->chain;
    *at = upstream->chain;
    client->upstreams--;
    weir_tls_session_deinit(&upstream->session);
    weir_tls_context_unref(upstream->tls_context);
    client->mem->free(client->mem->user, upstream, sizeof(*upstream) + upstream->text_bytes);
}

/* Forgets the upstream that was unused for the longest; false when all are in use. */
static bool make_room(weir_client *client)
{
    struct weir_upstream *oldest = NULL;

    if (client->upstreams < client->config.max_upstreams)
        return true;
    for (size_t b = 0; b < WEIR_UPSTREAM_BUCKETS; b++) {
        for (struct weir_upstream *u = client->buckets[b]; u != NULL; u = u->chain) {
            if (u->users == 0 && (oldest == NULL || u->used_ns < oldest->used_ns))
                oldest = u;
        }
    }
    if (oldest == NULL)
        return false;
    free_upstream(client, oldest);
    return true;
}

/* Writes "host", "[v6]", with ":port" where the scheme has another; returns the length. */
static size_t write_authority(const struct weir_fetch_request *request, char *out)
{
    bool v6 = weir_slice_find_char(request->host, ':') != WEIR_SLICE_NONE;
    char digits[WEIR_TEXT_U64_MAX];
    struct weir_slice port = weir_text_u64(request->port, digits);
    size_t len = 0;

    if (v6)
        out[len++] = '[';
    memcpy(out + len, request->host.ptr, request->host.len);
    len += request->host.len;
    if (v6)
        out[len++] = ']';
    if (request->port != (request->tls ? HTTPS_PORT : HTTP_PORT)) {
        out[len++] = ':';
        memcpy(out + len, port.ptr, port.len);
        len += port.len;
    }
    return len;
}

static struct weir_upstream *add_upstream(weir_client *client, const struct weir_fetch_request *request,
                                          uint64_t hash)
{
    size_t text_bytes = 2 * request->host.len + WEIR_TEXT_U64_MAX + 3;
    struct weir_upstream *u = client->mem->alloc(client->mem->user, sizeof(*u) + text_bytes);
    struct weir_upstream **bucket = &client->buckets[hash % WEIR_UPSTREAM_BUCKETS];
    const struct weir_proxies *proxies = client->config.proxies;

    if (u == NULL)
        return NULL;
    *u = (struct weir_upstream){.hash = hash, .tls = request->tls, .port = request->port, .chain = *bucket};
    u->text_bytes = text_bytes;
    memcpy(u->text, request->host.ptr, request->host.len);
    u->host = (struct weir_slice){u->text, request->host.len};
    u->authority.ptr = u->text + request->host.len;
    u->authority.len = write_authority(request, u->text + request->host.len);
    if (request->tls)
        u->tls_context = weir_tls_context_ref(request->tls_context);
    if (proxies != NULL)
        u->proxy = weir_proxies_find(proxies, request->tls, request->host, request->port);
    *bucket = u;
    client->upstreams++;
    return u;
}

/* ---- pools ---- */

void weir_client_unpool(struct weir_client_conn *conn)
{
    struct weir_upstream *upstream = conn->upstream;

    if (conn->prev != NULL)
        conn->prev->next = conn->next;
    else
        upstream->idle = conn->next;
    if (conn->next != NULL)
        conn->next->prev = conn->prev;
    upstream->idle_count--;
    conn->client->idle--;
    weir_loop_cancel(conn->client->loop, &conn->timer);
}

void weir_client_pool(struct weir_client_conn *conn)
{
    weir_client *client = conn->client;
    struct weir_upstream *upstream = conn->upstream;
    uint64_t keep_ns = client->config.idle_timeout_ns;

    if (conn->keep_ns < keep_ns)
        keep_ns = conn->keep_ns;
    if (client->closing || keep_ns == 0 || upstream->idle_count >= client->config.max_idle_per_upstream) {
        weir_link_close(conn);
        return;
    }
    conn->phase = WEIR_LINK_IDLE;
    conn->idle_since_ns = weir_loop_now(client->loop);
    conn->prev = NULL;
    conn->next = upstream->idle;
    if (upstream->idle != NULL)
        upstream->idle->prev = conn;
    upstream->idle = conn;
    upstream->idle_count++;
    client->idle++;
    /* A fetch that was paused to its last byte has stopped it. */
    weir_stream_read_start(&conn->stream);
    weir_loop_arm(client->loop, &conn->timer, weir_time_add(conn->idle_since_ns, keep_ns));
}

static struct weir_client_conn *take_idle(weir_client *client, struct weir_upstream *upstream)
{
    uint64_t now_ns = weir_loop_now(client->loop);
    struct weir_client_conn *conn;

    while ((conn = upstream->idle) != NULL) {
        if (now_ns - conn->idle_since_ns < LOOK_AFTER_NS || weir_stream_is_quiet(&conn->stream)) {
            weir_client_unpool(conn);
            return conn;
        }
        weir_link_close(conn);
    }
    return NULL;
}

/* ---- fetches ---- */

void weir_client_start(weir_client *client, struct weir_fetch *fetch,
                       const struct weir_fetch_request *request)
{
    uint64_t hash = hash_of(request);
    uint64_t limit_ns =
        request->connect_timeout_ns == 0 ? DEFAULT_CONNECT_S * WEIR_NS_PER_S : request->connect_timeout_ns;
    struct weir_upstream *upstream = find_upstream(client, request, hash);
    struct weir_client_conn *conn;

    assert(!client->closing && request->part_count <= WEIR_FETCH_PARTS_MAX);
    fetch->client = client;
    fetch->request = request;
    fetch->conn = NULL;
    fetch->dial = NULL;
    fetch->replaced = false;
    fetch->paused = false;
    fetch->failed.next = NULL;
    fetch->connect_by_ns = weir_time_add(weir_loop_now(client->loop), limit_ns);
    if (upstream == NULL) {
        if (!make_room(client)) {
            weir_fetch_fail_later(fetch, WEIR_FETCH_LIMIT, "too many upstreams are in use");
            return;
        }
        upstream = add_upstream(client, request, hash);
        if (upstream == NULL) {
            weir_fetch_fail_later(fetch, WEIR_FETCH_NOMEM, "no memory is left");
            return;
        }
    }
    upstream->used_ns = weir_loop_now(client->loop);
    conn = take_idle(client, upstream);
    if (conn != NULL) {
        conn->reused = true;
        weir_link_send(conn, fetch);
    } else {
        weir_client_dial_start(fetch, upstream);
    }
}

void weir_fetch_cancel(struct weir_fetch *fetch)
{
    struct weir_client_dial *dial = fetch->dial;
    struct weir_client_conn *conn = fetch->conn;

    if (fetch->client == NULL)
        return;
    if (fetch->failed.next != NULL)
        weir_loop_unpost(fetch->client->loop, &fetch->failed);
    fetch->client = NULL;
    fetch->dial = NULL;
    if (dial != NULL)
        weir_client_dial_cancel(dial);
    if (conn != NULL)
        weir_link_close(conn);
}

bool weir_fetch_active(const struct weir_fetch *fetch)
{
    return fetch->client != NULL;
}

bool weir_fetch_reused(const struct weir_fetch *fetch)
{
    return fetch->conn != NULL && fetch->conn->reused;
}

/* ---- the client ---- */

void weir_client_configure(weir_client *client, const struct weir_client_config *config)
{
    struct weir_client_config *c = &client->config;

    *c = *config;
    c->max_upstreams = c->max_upstreams == 0 ? DEFAULT_UPSTREAMS : c->max_upstreams;
    c->max_connections = c->max_connections == 0 ? DEFAULT_CONNECTIONS : c->max_connections;
    c->max_idle_per_upstream = c->max_idle_per_upstream == 0 ? DEFAULT_IDLE : c->max_idle_per_upstream;
    c->max_head_bytes = c->max_head_bytes == 0 ? WEIR_HTTP1_MAX_HEAD_BYTES : c->max_head_bytes;
    c->max_headers = c->max_headers == 0 ? WEIR_HTTP1_MAX_FIELDS : c->max_headers;
    c->max_decoded_ratio = c->max_decoded_ratio == 0 ? DEFAULT_RATIO : c->max_decoded_ratio;
    c->idle_timeout_ns = c->idle_timeout_ns == 0 ? DEFAULT_IDLE_S * WEIR_NS_PER_S : c->idle_timeout_ns;
}

int weir_client_new(weir_loop *loop, const struct weir_client_config *config, weir_client **ret_client)
{
    const struct weir_mem *mem = weir_loop_mem(loop);
    weir_client *client = mem->alloc(mem->user, sizeof(*client));

    if (client == NULL)
        return WEIR_ERR_NOMEM;
    memset(client, 0, sizeof(*client));
    client->loop = loop;
    client->mem = mem;
    weir_client_configure(client, config);
    *ret_client = client;
    return 0;
}

void weir_client_settle(weir_client *client)
{
    if (!client->closing || client->connections > 0)
        return;
    for (size_t b = 0; b < WEIR_UPSTREAM_BUCKETS; b++) {
        while (client->buckets[b] != NULL)
            free_upstream(client, client->buckets[b]);
    }
    client->mem->free(client->mem->user, client, sizeof(*client));
}

void weir_client_close(weir_client *client)
{
    if (client == NULL)
        return;
    client->closing = true;
    for (size_t b = 0; b < WEIR_UPSTREAM_BUCKETS; b++) {
        for (struct weir_upstream *u = client->buckets[b]; u != NULL; u = u->chain) {
            while (u->idle != NULL)
                weir_link_close(u->idle);
        }
    }
    weir_client_settle(client);
}

size_t weir_client_idle(const weir_client *client)
{
    return client->idle;
}

size_t weir_client_connections(const weir_client *client)
{
    return client->connections;
}
