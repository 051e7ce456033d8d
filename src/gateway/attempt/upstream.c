/*
 * TLS contexts are costly, so deployments with the same settings share one, and the process's is made for the
 * first deployment that is reached by TLS: a bad file of certificates is told at start.  Where all are plain
 * it is made when a call is sent elsewhere after all, by a fallback target or a caller who may.  A
 * deployment's value that cannot stand in a header is left out of it.
 */
#include "gateway/attempt/upstream.h"

#include <stdio.h>
#include <string.h>

#include <weir/error.h>

#include "base/slice.h"
#include "config/config.h"
#include "gateway/attempt/trust.h"
#include "provider/dialect.h"
#include "provider/endpoint.h"
#include "provider/fields.h"
#include "wire/http_field.h"

struct weir_upstream *weir_upstream_of(const struct weir_endpoint *endpoint)
{
    return endpoint->user;
}

static struct weir_slice header_line(struct weir_arena *arena, struct weir_slice name,
                                     struct weir_slice value)
{
    const struct weir_slice parts[] = {name, WEIR_SLICE(": "), value, WEIR_SLICE("\r\n")};

    if (value.len == 0 || !weir_http_is_value(value))
        return WEIR_SLICE_EMPTY;
    return weir_arena_join(arena, parts, sizeof(parts) / sizeof(parts[0]));
}

static bool same_tls(const struct weir_endpoint_tls *a, const struct weir_endpoint_tls *b)
{
    return a->insecure == b->insecure && weir_slice_eq(a->ca_file, b->ca_file) &&
           weir_slice_eq(a->cert_file, b->cert_file);
}

/* The context of an earlier deployment with the same settings, or NULL. */
static weir_tls_context *find_tls(const struct weir_upstreams *upstreams, size_t before,
                                  const struct weir_endpoint_tls *tls)
{
    for (size_t i = 0; i < before; i++)
        if (upstreams->list[i].tls != NULL && same_tls(&upstreams->list[i].endpoint->tls, tls))
            return upstreams->list[i].tls;
    return NULL;
}

static int make_default_tls(struct weir_upstreams *upstreams, char text[WEIR_UPSTREAMS_TEXT_MAX])
{
    const struct weir_settings *settings = upstreams->settings;
    const struct weir_tls_spec spec = {.insecure = !settings->ssl_verify, .ca_file = settings->ca_file};
    char reason[WEIR_TLS_TEXT_MAX];
    int r = weir_trust_get(upstreams->trust, &spec, reason, &upstreams->default_tls);

    if (r > 0)
        (void)snprintf(text, WEIR_UPSTREAMS_TEXT_MAX, "certificates to trust: %s", reason);
    return r;
}

weir_tls_context *weir_upstreams_tls(struct weir_upstreams *upstreams, const struct weir_upstream *upstream)
{
    char text[WEIR_UPSTREAMS_TEXT_MAX];
    weir_tls_context *tls;

    if (upstream->tls != NULL)
        return upstream->tls;
    (void)pthread_mutex_lock(&upstreams->lock);
    if (upstreams->default_tls == NULL && make_default_tls(upstreams, text) != 0)
        upstreams->default_tls = NULL;
    tls = upstreams->default_tls;
    (void)pthread_mutex_unlock(&upstreams->lock);
    return tls;
}

static int make_own_tls(struct weir_upstreams *upstreams, struct weir_upstream *upstream,
                        char text[WEIR_UPSTREAMS_TEXT_MAX])
{
    const struct weir_endpoint_tls *tls = &upstream->endpoint->tls;
    const struct weir_tls_spec spec = {.insecure = tls->insecure,
                                       .ca_file =
                                           tls->ca_file.len > 0 ? tls->ca_file : upstreams->settings->ca_file,
                                       .cert_file = tls->cert_file};
    char reason[WEIR_TLS_TEXT_MAX];
    int r = weir_trust_get(upstreams->trust, &spec, reason, &upstream->tls);

    if (r > 0)
        (void)snprintf(text, WEIR_UPSTREAMS_TEXT_MAX, "deployment %.*s: %s", (int)upstream->id.len,
                       upstream->id.ptr, reason);
    return r;
}

static int make_tls(struct weir_upstreams *upstreams, size_t index, char text[WEIR_UPSTREAMS_TEXT_MAX])
{
    const struct weir_endpoint_tls none = {0};
    struct weir_upstream *upstream = &upstreams->list[index];
    weir_tls_context *found;
    int r = 0;

    if (!same_tls(&upstream->endpoint->tls, &none)) {
        found = find_tls(upstreams, index, &upstream->endpoint->tls);
        if (found == NULL)
            return make_own_tls(upstreams, upstream, text);
    } else {
        if (!upstream->endpoint->secure)
            return 0;
        if (upstreams->default_tls == NULL)
            r = make_default_tls(upstreams, text);
        if (r != 0)
            return r;
        found = upstreams->default_tls;
    }
    upstream->tls = weir_tls_context_ref(found);
    return 0;
}

static int make_one(struct weir_upstreams *upstreams, const struct weir_config *config, size_t index,
                    char text[WEIR_UPSTREAMS_TEXT_MAX])
{
    struct weir_config_deployment *deployment = config->deployments[index];
    struct weir_upstream *upstream = &upstreams->list[index];

    upstream->id = deployment->id;
    upstream->endpoint = deployment->endpoint;
    upstream->id_line = header_line(&upstreams->arena, WEIR_SLICE("x-litellm-model-id"), deployment->id);
    upstream->base_line =
        header_line(&upstreams->arena, WEIR_SLICE("x-litellm-model-api-base"), deployment->endpoint->base);
    atomic_init(&upstream->simulated, 0);
    atomic_init(&upstream->failing, false);
    for (size_t i = 0; i < WEIR_REMAININGS; i++)
        atomic_init(&upstream->remaining[i], -1);
    deployment->endpoint->user = upstream;
    upstreams->caller_places |= deployment->endpoint->caller_places;
    return make_tls(upstreams, index, text);
}

int weir_upstreams_init(struct weir_upstreams *ret_upstreams, const struct weir_config *config,
                        struct weir_trust *trust, const struct weir_mem *mem,
                        char text[WEIR_UPSTREAMS_TEXT_MAX])
{
    size_t bytes = 64 * 1024 + config->deployment_count * 4096;
    int r = 0;

    *ret_upstreams = (struct weir_upstreams){.mem = mem, .settings = &config->settings, .trust = trust};
    (void)pthread_mutex_init(&ret_upstreams->lock, NULL);
    weir_arena_init(&ret_upstreams->arena, mem, 4096, bytes);
    ret_upstreams->list =
        weir_arena_zalloc(&ret_upstreams->arena, config->deployment_count + 1, sizeof(*ret_upstreams->list));
    if (ret_upstreams->list == NULL)
        return WEIR_ERR_NOMEM;
    ret_upstreams->count = config->deployment_count;
    for (size_t i = 0; i < config->deployment_count && r == 0; i++)
        r = make_one(ret_upstreams, config, i, text);
    return r == 0 && weir_arena_failed(&ret_upstreams->arena) ? WEIR_ERR_NOMEM : r;
}

void weir_upstreams_deinit(struct weir_upstreams *upstreams)
{
    for (size_t i = 0; i < upstreams->count; i++)
        weir_tls_context_unref(upstreams->list[i].tls);
    weir_tls_context_unref(upstreams->default_tls);
    weir_arena_deinit(&upstreams->arena);
    if (upstreams->mem != NULL)
        (void)pthread_mutex_destroy(&upstreams->lock);
    *upstreams = (struct weir_upstreams){0};
}

int weir_upstreams_request(struct weir_upstreams *upstreams, const struct weir_upstream *upstream,
                           const struct weir_upstream_request *built, struct weir_fetch_request *ret_request)
{
    weir_tls_context *tls = built->secure ? weir_upstreams_tls(upstreams, upstream) : NULL;

    if (built->secure && tls == NULL)
        return WEIR_ERR_IO;
    *ret_request = (struct weir_fetch_request){.tls = built->secure,
                                               .host = built->host,
                                               .port = built->port,
                                               .tls_context = tls,
                                               .method = WEIR_SLICE("POST"),
                                               .target = built->target,
                                               .fields = built->fields,
                                               .parts = built->parts,
                                               .part_count = built->part_count,
                                               .connect_timeout_ns = upstreams->settings->connect_timeout_ns};
    return 0;
}

void weir_upstream_inherit(struct weir_upstream *upstream, const struct weir_upstream *before)
{
    atomic_store_explicit(&upstream->failing, atomic_load_explicit(&before->failing, memory_order_relaxed),
                          memory_order_relaxed);
    for (size_t i = 0; i < WEIR_REMAININGS; i++)
        atomic_store_explicit(&upstream->remaining[i],
                              atomic_load_explicit(&before->remaining[i], memory_order_relaxed),
                              memory_order_relaxed);
}
