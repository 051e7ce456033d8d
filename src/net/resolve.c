/*
 * One entry a host name, all of them under one lock, which is held for look-ups in the table only: a question
 * comes with each new connection, not with each request.
 *
 * An entry has an answer or not, is being asked for or not (busy), and has a list of waiting questions, which
 * is empty unless it is busy.  Busy entries stand in the queue of the threads until one takes them.  An entry
 * is forgotten, the longest unused first, only when it is not busy.
 *
 * A question that is answered leaves its entry's list and is posted to its loop.  Cancelling takes it out of
 * whichever of the two it is in; both happen under the resolver's lock, on the loop's own thread.
 */
#include "net/resolve.h"

#include <arpa/inet.h>
#include <assert.h>
#include <netdb.h>
#include <string.h>

#include <weir/error.h>

#include "base/container.h"
#include "base/slice.h"
#include "base/text.h"
#include "base/time.h"

#include <uv.h>

enum {
    DEFAULT_THREADS = 2,
    THREADS_MAX = 16,
    DEFAULT_HOSTS = 4096,
    DEFAULT_TTL_S = 30,
    DEFAULT_STALE_S = 300,
    DEFAULT_NEGATIVE_S = 1,
    BUCKETS = 1024
};

struct weir_resolve_entry {
    struct weir_resolve_entry *chain; /* of the bucket */
    struct weir_resolve_entry *newer; /* order of use */
    struct weir_resolve_entry *older;
    struct weir_resolve_entry *queued;  /* the next one for the threads */
    struct weir_resolve_query *waiting; /* newest first */
    uint64_t hash;
    uint64_t fresh_until_ns;
    uint64_t stale_until_ns;
    bool busy;
    const char *failure; /* of the last look-up, when there is no answer */
    struct weir_addresses addresses;
    size_t host_len;
    char host[WEIR_RESOLVE_HOST_MAX + 1];
};

struct weir_resolver {
    const struct weir_mem *mem;
    struct weir_resolver_config config;
    uv_mutex_t lock; /* guards all below */
    uv_cond_t work;
    bool ending;
    size_t hosts;
    struct weir_resolve_entry *newest;
    struct weir_resolve_entry *oldest;
    struct weir_resolve_entry *queue_first;
    struct weir_resolve_entry *queue_last;
    struct weir_resolve_entry *buckets[BUCKETS];
    unsigned threads_running;
    uv_thread_t threads[THREADS_MAX];
};

bool weir_address_loopback(const struct sockaddr *address)
{
    const union weir_address *any = (const union weir_address *)(const void *)address;

    return address->sa_family == AF_INET ? ntohl(any->in.sin_addr.s_addr) >> 24 == 127
                                         : IN6_IS_ADDR_LOOPBACK(&any->in6.sin6_addr) != 0;
}

struct weir_slice weir_address_text(const struct sockaddr *address, char text[WEIR_ADDRESS_TEXT_MAX])
{
    char digits[WEIR_TEXT_U64_MAX];
    struct weir_slice port;
    bool v6 = address->sa_family == AF_INET6;
    size_t len;

    text[0] = '[';
    if (v6)
        (void)inet_ntop(AF_INET6, &((const struct sockaddr_in6 *)(const void *)address)->sin6_addr, text + 1,
                        INET6_ADDRSTRLEN);
    else
        (void)inet_ntop(AF_INET, &((const struct sockaddr_in *)(const void *)address)->sin_addr, text,
                        INET6_ADDRSTRLEN);
    len = strnlen(text, INET6_ADDRSTRLEN);
    if (v6)
        text[len++] = ']';
    text[len++] = ':';
    port = weir_text_u64(ntohs(v6 ? ((const struct sockaddr_in6 *)(const void *)address)->sin6_port
                                  : ((const struct sockaddr_in *)(const void *)address)->sin_port),
                         digits);
    memcpy(text + len, port.ptr, port.len);
    return (struct weir_slice){text, len + port.len};
}

/* ---- answers without asking ---- */

static void add_v4(struct weir_addresses *list, struct in_addr address)
{
    list->list[list->count++].in = (struct sockaddr_in){.sin_family = AF_INET, .sin_addr = address};
}

static void add_v6(struct weir_addresses *list, struct in6_addr address)
{
    list->list[list->count++].in6 = (struct sockaddr_in6){.sin6_family = AF_INET6, .sin6_addr = address};
}

int weir_resolve_literal(struct weir_slice host, struct weir_addresses *ret_addresses)
{
    struct weir_addresses found = {0};
    char text[INET6_ADDRSTRLEN];
    struct in6_addr v6;
    struct in_addr v4;

    if (weir_slice_eq_ci(host, WEIR_SLICE("localhost"))) {
        v4.s_addr = htonl(INADDR_LOOPBACK);
        add_v4(&found, v4);
        add_v6(&found, in6addr_loopback);
        *ret_addresses = found;
        return 0;
    }
    if (host.len == 0 || host.len >= sizeof(text) || memchr(host.ptr, '\0', host.len) != NULL)
        return WEIR_RESOLVE_FAILED;
    memcpy(text, host.ptr, host.len);
    text[host.len] = '\0';
    if (inet_pton(AF_INET, text, &v4) == 1)
        add_v4(&found, v4);
    else if (inet_pton(AF_INET6, text, &v6) == 1)
        add_v6(&found, v6);
    else
        return WEIR_RESOLVE_FAILED;
    *ret_addresses = found;
    return 0;
}

/* ---- asking ---- */

static bool take_family(const struct addrinfo *info, int family, size_t skip, union weir_address *ret_address)
{
    for (; info != NULL; info = info->ai_next) {
        if (info->ai_family != family || info->ai_addrlen > sizeof(*ret_address))
            continue;
        if (skip-- > 0)
            continue;
        memcpy(ret_address, info->ai_addr, info->ai_addrlen);
        return true;
    }
    return false;
}

/* Families alternate, beginning with the one that the system put first (RFC 8305 section 4). */
static void alternate(const struct addrinfo *list, struct weir_addresses *ret_addresses)
{
    int first = list->ai_family;
    int second = first == AF_INET ? AF_INET6 : AF_INET;
    struct weir_addresses found = {0};
    bool more = true;

    for (size_t turn = 0; more; turn++) {
        more = false;
        for (int family = 0; family < 2; family++) {
            if (found.count < WEIR_RESOLVE_ADDRESSES_MAX &&
                take_family(list, family == 0 ? first : second, turn, &found.list[found.count])) {
                found.count++;
                more = true;
            }
        }
    }
    *ret_addresses = found;
}

static const char *system_lookup(void *user, const char *host, struct weir_addresses *ret_addresses)
{
    struct addrinfo hints = {.ai_family = AF_UNSPEC, .ai_socktype = SOCK_STREAM, .ai_flags = AI_ADDRCONFIG};
    struct addrinfo *list;
    int r = getaddrinfo(host, NULL, &hints, &list);

    (void)user;
    if (r != 0)
        return gai_strerror(r);
    alternate(list, ret_addresses);
    freeaddrinfo(list);
    return ret_addresses->count == 0 ? "no usable address" : NULL;
}

/* ---- the table, under the lock ---- */

static struct weir_resolve_entry **bucket_of(weir_resolver *resolver, uint64_t hash)
{
    return &resolver->buckets[hash % BUCKETS];
}

static struct weir_resolve_entry *find(weir_resolver *resolver, struct weir_slice host, uint64_t hash)
{
    for (struct weir_resolve_entry *e = *bucket_of(resolver, hash); e != NULL; e = e->chain) {
        if (e->hash == hash && weir_slice_eq((struct weir_slice){e->host, e->host_len}, host))
            return e;
    }
    return NULL;
}

static void unlink_use(weir_resolver *resolver, struct weir_resolve_entry *entry)
{
    if (entry->newer != NULL)
        entry->newer->older = entry->older;
    else
        resolver->newest = entry->older;
    if (entry->older != NULL)
        entry->older->newer = entry->newer;
    else
        resolver->oldest = entry->newer;
}

static void link_newest(weir_resolver *resolver, struct weir_resolve_entry *entry)
{
    entry->newer = NULL;
    entry->older = resolver->newest;
    if (resolver->newest != NULL)
        resolver->newest->newer = entry;
    else
        resolver->oldest = entry;
    resolver->newest = entry;
}

static void forget(weir_resolver *resolver, struct weir_resolve_entry *entry)
{
    struct weir_resolve_entry **at = bucket_of(resolver, entry->hash);

    while (*at != entry)
        at = &(*at)->chain;
    *at = entry->chain;
    unlink_use(resolver, entry);
    resolver->hosts--;
    resolver->mem->free(resolver->mem->user, entry, sizeof(*entry));
}

static bool make_room(weir_resolver *resolver)
{
    struct weir_resolve_entry *entry = resolver->oldest;

    if (resolver->hosts < resolver->config.max_hosts)
        return true;
    while (entry != NULL && entry->busy)
        entry = entry->newer;
    if (entry == NULL)
        return false;
    forget(resolver, entry);
    return true;
}

static int add(weir_resolver *resolver, struct weir_slice host, uint64_t hash,
               struct weir_resolve_entry **ret_entry)
{
    struct weir_resolve_entry **bucket = bucket_of(resolver, hash);
    struct weir_resolve_entry *entry;

    if (!make_room(resolver))
        return WEIR_ERR_LIMIT;
    entry = resolver->mem->alloc(resolver->mem->user, sizeof(*entry));
    if (entry == NULL)
        return WEIR_ERR_NOMEM;
    memset(entry, 0, sizeof(*entry));
    entry->hash = hash;
    entry->host_len = host.len;
    memcpy(entry->host, host.ptr, host.len);
    entry->chain = *bucket;
    *bucket = entry;
    link_newest(resolver, entry);
    resolver->hosts++;
    *ret_entry = entry;
    return 0;
}

static void enqueue(weir_resolver *resolver, struct weir_resolve_entry *entry)
{
    entry->busy = true;
    entry->queued = NULL;
    if (resolver->queue_first == NULL)
        resolver->queue_first = entry;
    else
        resolver->queue_last->queued = entry;
    resolver->queue_last = entry;
    uv_cond_signal(&resolver->work);
}

static void on_answer(struct weir_loop_task *task)
{
    struct weir_resolve_query *query = WEIR_CONTAINER(task, struct weir_resolve_query, task);

    query->resolver = NULL;
    query->done(query, &query->addresses, query->failure);
}

static int ask_entry(weir_resolver *resolver, struct weir_resolve_entry *entry,
                     struct weir_resolve_query *query, struct weir_addresses *ret_addresses,
                     const char **ret_failure)
{
    uint64_t now_ns = weir_loop_now(query->loop);

    unlink_use(resolver, entry);
    link_newest(resolver, entry);
    if (now_ns >= entry->fresh_until_ns && !entry->busy)
        enqueue(resolver, entry);
    if (now_ns < entry->stale_until_ns && entry->failure == NULL) {
        *ret_addresses = entry->addresses;
        return 0;
    }
    if (now_ns < entry->fresh_until_ns) {
        *ret_failure = entry->failure;
        return WEIR_RESOLVE_FAILED;
    }
    query->resolver = resolver;
    query->entry = entry;
    query->task = (struct weir_loop_task){.run = on_answer};
    query->next = entry->waiting;
    entry->waiting = query;
    return WEIR_RESOLVE_PENDING;
}

int weir_resolver_ask(weir_resolver *resolver, struct weir_slice host, struct weir_resolve_query *query,
                      struct weir_addresses *ret_addresses, const char **ret_failure)
{
    uint64_t hash = weir_slice_hash(host, 0);
    struct weir_resolve_entry *entry;
    int r = 0;

    query->resolver = NULL;
    if (weir_resolve_literal(host, ret_addresses) == 0)
        return 0;
    if (host.len == 0 || host.len > WEIR_RESOLVE_HOST_MAX || memchr(host.ptr, '\0', host.len) != NULL) {
        *ret_failure = "not a host name";
        return WEIR_RESOLVE_FAILED;
    }
    uv_mutex_lock(&resolver->lock);
    entry = find(resolver, host, hash);
    if (entry == NULL)
        r = add(resolver, host, hash, &entry);
    if (r == 0)
        r = ask_entry(resolver, entry, query, ret_addresses, ret_failure);
    uv_mutex_unlock(&resolver->lock);
    return r;
}

void weir_resolver_cancel(struct weir_resolve_query *query)
{
    weir_resolver *resolver = query->resolver;
    struct weir_resolve_query **at;

    if (resolver == NULL)
        return;
    uv_mutex_lock(&resolver->lock);
    if (query->entry != NULL) {
        for (at = &query->entry->waiting; *at != query; at = &(*at)->next)
            assert(*at != NULL);
        *at = query->next;
    } else {
        weir_loop_unpost(query->loop, &query->task);
    }
    uv_mutex_unlock(&resolver->lock);
    query->resolver = NULL;
}

/* ---- the threads ---- */

static void store(weir_resolver *resolver, struct weir_resolve_entry *entry, const char *failure,
                  const struct weir_addresses *addresses)
{
    uint64_t now_ns = uv_hrtime();

    entry->busy = false;
    if (failure == NULL) {
        entry->failure = NULL;
        entry->addresses = *addresses;
        entry->fresh_until_ns = weir_time_add(now_ns, resolver->config.ttl_ns);
        entry->stale_until_ns = weir_time_add(entry->fresh_until_ns, resolver->config.stale_ns);
        return;
    }
    /* What is known stays in use for its time; else the failure is remembered. */
    if (now_ns >= entry->stale_until_ns)
        entry->failure = failure;
    entry->fresh_until_ns = weir_time_add(now_ns, resolver->config.negative_ns);
}

static void answer(struct weir_resolve_entry *entry, const char *failure,
                   const struct weir_addresses *addresses)
{
    while (entry->waiting != NULL) {
        struct weir_resolve_query *query = entry->waiting;

        entry->waiting = query->next;
        query->entry = NULL;
        query->failure = failure;
        if (failure == NULL)
            query->addresses = *addresses;
        weir_loop_post(query->loop, &query->task);
    }
}

static struct weir_resolve_entry *next_entry(weir_resolver *resolver)
{
    struct weir_resolve_entry *entry;

    while (resolver->queue_first == NULL && !resolver->ending)
        uv_cond_wait(&resolver->work, &resolver->lock);
    if (resolver->ending)
        return NULL;
    entry = resolver->queue_first;
    resolver->queue_first = entry->queued;
    return entry;
}

static void run_thread(void *arg)
{
    weir_resolver *resolver = arg;
    struct weir_resolve_entry *entry;

    uv_mutex_lock(&resolver->lock);
    while ((entry = next_entry(resolver)) != NULL) {
        struct weir_addresses addresses = {0};
        const char *failure;

        /* A busy entry is not forgotten and its name never changes. */
        uv_mutex_unlock(&resolver->lock);
        failure = resolver->config.lookup(resolver->config.lookup_user, entry->host, &addresses);
        uv_mutex_lock(&resolver->lock);
        store(resolver, entry, failure, &addresses);
        answer(entry, failure, &addresses);
    }
    uv_mutex_unlock(&resolver->lock);
}

static uint64_t or_seconds(uint64_t value_ns, uint64_t fallback_s)
{
    return value_ns == 0 ? fallback_s * WEIR_NS_PER_S : value_ns;
}

static void set_config(weir_resolver *resolver, const struct weir_resolver_config *config)
{
    struct weir_resolver_config *c = &resolver->config;

    *c = *config;
    c->threads = c->threads == 0 ? DEFAULT_THREADS : c->threads;
    c->threads = c->threads > THREADS_MAX ? THREADS_MAX : c->threads;
    c->max_hosts = c->max_hosts == 0 ? DEFAULT_HOSTS : c->max_hosts;
    c->ttl_ns = or_seconds(c->ttl_ns, DEFAULT_TTL_S);
    c->stale_ns = or_seconds(c->stale_ns, DEFAULT_STALE_S);
    c->negative_ns = or_seconds(c->negative_ns, DEFAULT_NEGATIVE_S);
    c->lookup = c->lookup == NULL ? system_lookup : c->lookup;
}

void weir_resolver_set_ttl(weir_resolver *resolver, uint64_t ttl_ns)
{
    uv_mutex_lock(&resolver->lock);
    resolver->config.ttl_ns = or_seconds(ttl_ns, DEFAULT_TTL_S);
    uv_mutex_unlock(&resolver->lock);
}

int weir_resolver_new(const struct weir_mem *mem, const struct weir_resolver_config *config,
                      weir_resolver **ret_resolver)
{
    weir_resolver *resolver = mem->alloc(mem->user, sizeof(*resolver));

    if (resolver == NULL)
        return WEIR_ERR_NOMEM;
    memset(resolver, 0, sizeof(*resolver));
    resolver->mem = mem;
    set_config(resolver, config);
    if (uv_mutex_init(&resolver->lock) != 0)
        goto fail_lock;
    if (uv_cond_init(&resolver->work) != 0)
        goto fail_cond;
    while (resolver->threads_running < resolver->config.threads) {
        if (uv_thread_create(&resolver->threads[resolver->threads_running], run_thread, resolver) != 0)
            goto fail_thread;
        resolver->threads_running++;
    }
    *ret_resolver = resolver;
    return 0;

fail_thread:
    weir_resolver_free(resolver);
    return WEIR_ERR_IO;
fail_cond:
    uv_mutex_destroy(&resolver->lock);
fail_lock:
    mem->free(mem->user, resolver, sizeof(*resolver));
    return WEIR_ERR_IO;
}

void weir_resolver_free(weir_resolver *resolver)
{
    if (resolver == NULL)
        return;
    uv_mutex_lock(&resolver->lock);
    resolver->ending = true;
    uv_cond_broadcast(&resolver->work);
    uv_mutex_unlock(&resolver->lock);
    for (unsigned i = 0; i < resolver->threads_running; i++)
        (void)uv_thread_join(&resolver->threads[i]);
    while (resolver->oldest != NULL)
        forget(resolver, resolver->oldest);
    uv_cond_destroy(&resolver->work);
    uv_mutex_destroy(&resolver->lock);
    resolver->mem->free(resolver->mem->user, resolver, sizeof(*resolver));
}
