/*
 * Model: the settings of one place (the router's, or the cache's) are laid out alike, what a URL says is put
 * over them, and what is missing then comes from variables.  A URL's own parts beat the keys beside it, as
 * they do in LiteLLM.  Variables alone turn nothing on.
 */
#include "config/redis.h"

#include <weir/error.h>

#include "base/slice.h"
#include "config/loader.h"
#include "config/value.h"

enum { DEFAULT_PORT = 6379, DEFAULT_SENTINEL_PORT = 26379, DATABASE_MAX = 1000000 };

/* What one place says of it. */
struct said {
    const struct weir_yaml *node; /* where complaints point to */
    struct weir_path path;
    struct weir_slice url;
    struct weir_slice url_key;
    struct weir_slice host;
    uint32_t port; /* WEIR_UNSET: not said; so for database */
    struct weir_slice username;
    struct weir_slice password;
    uint32_t database;
    enum weir_yes_no tls;
    bool insecure;
};

static int refuse(struct weir_loader *loader, const struct said *said, struct weir_slice key,
                  struct weir_slice text)
{
    struct weir_path path = {&said->path, key, 0};
    const struct weir_yaml_pair *pair = weir_yaml_pair(said->node, key);

    WEIR_REPORT(loader, FATAL, pair == NULL ? said->node : pair->value, key.len == 0 ? &said->path : &path,
                text);
    return WEIR_CONFIG_REFUSED;
}

/* ---- the URL ---- */

static int hex_of(char c)
{
    if (weir_char_is_digit(c))
        return c - '0';
    c = weir_char_lower(c);
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* With %41 and its like as the bytes that they stand for. */
static struct weir_slice unescape(struct weir_slice text, struct weir_arena *arena)
{
    char *out = weir_arena_alloc(arena, text.len + 1);
    size_t len = 0;

    if (out == NULL)
        return WEIR_SLICE_EMPTY;
    for (size_t i = 0; i < text.len; i++) {
        int high = i + 2 < text.len && text.ptr[i] == '%' ? hex_of(text.ptr[i + 1]) : -1;
        int low = high < 0 ? -1 : hex_of(text.ptr[i + 2]);

        out[len++] = low < 0 ? text.ptr[i] : (char)(high * 16 + low);
        i += low < 0 ? 0 : 2;
    }
    return (struct weir_slice){out, len};
}

static bool port_of(struct weir_slice text, uint32_t *ret_port)
{
    uint64_t port;

    if (weir_slice_u64(text, &port) != 0 || port == 0 || port > UINT16_MAX)
        return false;
    *ret_port = (uint32_t)port;
    return true;
}

/* "host:6380", "[::1]", "" (which leaves host and port as they are). */
static bool read_host(struct weir_slice text, struct weir_slice *host, uint32_t *port)
{
    size_t end = weir_slice_starts(text, WEIR_SLICE("[")) ? weir_slice_find_char(text, ']') : WEIR_SLICE_NONE;
    size_t colon;

    if (text.len == 0)
        return true;
    if (end != WEIR_SLICE_NONE) {
        *host = weir_slice_sub(text, 1, end);
        text = weir_slice_sub(text, end + 1, text.len);
        colon = 0;
        if (text.len == 0)
            return host->len > 0;
        if (text.ptr[0] != ':')
            return false;
    } else {
        colon = weir_slice_find_char(text, ':');
        *host = weir_slice_sub(text, 0, colon == WEIR_SLICE_NONE ? text.len : colon);
    }
    return host->len > 0 &&
           (colon == WEIR_SLICE_NONE || port_of(weir_slice_sub(text, colon + 1, text.len), port));
}

/* "user:password", ":password". */
static void read_login(struct weir_slice text, struct said *said, struct weir_arena *arena)
{
    size_t colon = weir_slice_find_char(text, ':');
    struct weir_slice user = weir_slice_sub(text, 0, colon == WEIR_SLICE_NONE ? text.len : colon);

    if (user.len > 0)
        said->username = unescape(user, arena);
    if (colon != WEIR_SLICE_NONE)
        said->password = unescape(weir_slice_sub(text, colon + 1, text.len), arena);
}

static bool read_database(struct weir_slice text, uint32_t *ret_database)
{
    uint64_t number;

    if (text.len == 0)
        return true;
    if (weir_slice_u64(text, &number) != 0 || number > DATABASE_MAX)
        return false;
    *ret_database = (uint32_t)number;
    return true;
}

/* What stands behind the "?": two names mean something here. */
static bool read_query(struct weir_slice text, struct said *said)
{
    bool done = text.len == 0;
    struct weir_slice field;

    while (weir_slice_cut(&text, '&', &done, &field)) {
        if (weir_slice_starts(field, WEIR_SLICE("db=")) &&
            !read_database(weir_slice_sub(field, 3, field.len), &said->database))
            return false;
        if (weir_slice_eq_ci(field, WEIR_SLICE("ssl_cert_reqs=none")))
            said->insecure = true;
    }
    return true;
}

static struct weir_slice cut_behind(struct weir_slice *text, char separator)
{
    size_t at = weir_slice_find_char(*text, separator);
    struct weir_slice behind = WEIR_SLICE_EMPTY;

    if (at != WEIR_SLICE_NONE) {
        behind = weir_slice_sub(*text, at + 1, text->len);
        *text = weir_slice_sub(*text, 0, at);
    }
    return behind;
}

/* A password may hold an "@" that nobody escaped: the last one counts. */
static void cut_login(struct weir_slice *text, struct said *said, struct weir_arena *arena)
{
    size_t at = text->len;

    while (at > 0 && text->ptr[at - 1] != '@')
        at--;
    if (at == 0)
        return;
    read_login(weir_slice_sub(*text, 0, at - 1), said, arena);
    *text = weir_slice_sub(*text, at, text->len);
}

static int read_url(struct weir_loader *loader, struct said *said)
{
    struct weir_slice text = weir_slice_trim(said->url), query, database;

    if (text.len == 0)
        return 0;
    if (weir_slice_starts(text, WEIR_SLICE("unix:")))
        return refuse(loader, said, said->url_key, WEIR_SLICE("Redis on a Unix socket is not supported"));
    if (weir_slice_starts(text, WEIR_SLICE("rediss://")))
        said->tls = WEIR_YES;
    else if (weir_slice_starts(text, WEIR_SLICE("redis://")))
        said->tls = said->tls == WEIR_UNSAID ? WEIR_NO : said->tls;
    else
        return refuse(
            loader, said, said->url_key,
            WEIR_SLICE("expected redis://[user:password@]host[:port][/database], or rediss:// for TLS"));
    text = weir_slice_sub(text, weir_slice_find(text, WEIR_SLICE("://")) + 3, text.len);
    query = cut_behind(&text, '?');
    cut_login(&text, said, loader->arena);
    database = cut_behind(&text, '/');
    said->port = DEFAULT_PORT;
    if (!read_host(text, &said->host, &said->port))
        return refuse(loader, said, said->url_key, WEIR_SLICE("the URL has no host, or a port that is none"));
    if (!read_database(database, &said->database) || !read_query(query, said))
        return refuse(loader, said, said->url_key, WEIR_SLICE("the database in the URL is no number"));
    if (said->host.len == 0)
        said->host = WEIR_SLICE("localhost");
    return 0;
}

/* ---- variables ---- */

/* Whatever the place does not say. */
static int add_variables(struct weir_loader *loader, struct said *said)
{
    const struct weir_settings *s = &loader->config->settings;

    if (said->url.len == 0 && said->host.len == 0) {
        said->url = s->variable_redis_url;
        said->url_key = WEIR_SLICE("REDIS_URL");
        if (said->url.len == 0)
            said->host = s->variable_redis_host;
    }
    if (said->port == WEIR_UNSET && s->variable_redis_port.len > 0 &&
        !port_of(weir_slice_trim(s->variable_redis_port), &said->port) && said->url.len == 0)
        return refuse(loader, said, WEIR_SLICE_EMPTY,
                      WEIR_SLICE("the environment variable REDIS_PORT is no port, expected 1 to 65535"));
    if (said->username.len == 0)
        said->username = s->variable_redis_username;
    if (said->password.len == 0)
        said->password = s->variable_redis_password;
    if (said->tls == WEIR_UNSAID)
        said->tls = s->variable_redis_ssl;
    return 0;
}

/* ---- the two places ---- */

static struct said router_says(struct weir_loader *loader)
{
    const struct weir_settings *s = &loader->config->settings;

    return (struct said){.node = weir_yaml_get(loader->root, WEIR_SLICE("router_settings")),
                         .path = {NULL, WEIR_SLICE("router_settings"), 0},
                         .url = s->router_redis_url,
                         .url_key = WEIR_SLICE("redis_url"),
                         .host = s->router_redis_host,
                         .port = s->router_redis_port,
                         .username = s->router_redis_username,
                         .password = s->router_redis_password,
                         .database = s->router_redis_db,
                         .tls = s->router_redis_ssl};
}

static const struct weir_path litellm_path = {NULL, WEIR_SLICE_INIT("litellm_settings"), 0};

static struct said cache_says(struct weir_loader *loader, const struct weir_yaml *params)
{
    const struct weir_settings *s = &loader->config->settings;
    bool other = s->cache_url.len == 0 && s->cache_redis_url.len > 0;

    return (struct said){.node = params != NULL ? params : loader->root,
                         .path = {&litellm_path, WEIR_SLICE("cache_params"), 0},
                         .url = other ? s->cache_redis_url : s->cache_url,
                         .url_key = other ? WEIR_SLICE("redis_url") : WEIR_SLICE("url"),
                         .host = s->cache_host,
                         .port = s->cache_port,
                         .username = s->cache_username,
                         .password = s->cache_password,
                         .database = s->cache_db,
                         .tls = s->cache_ssl,
                         .insecure = weir_slice_eq_ci(s->cache_cert_reqs, WEIR_SLICE("none")) ||
                                     weir_slice_eq(s->cache_cert_reqs, WEIR_SLICE("CERT_NONE"))};
}

static void settle(struct weir_loader *loader, const struct said *said)
{
    const struct weir_settings *s = &loader->config->settings;
    struct weir_config_redis *redis = &loader->config->redis;

    redis->on = true;
    if (redis->service.len == 0) {
        redis->servers[0] = (struct weir_config_address){
            said->host, said->port == WEIR_UNSET ? DEFAULT_PORT : (uint16_t)said->port};
        redis->server_count = 1;
    }
    redis->username = said->username;
    redis->password = said->password;
    redis->database = said->database == WEIR_UNSET ? 0 : said->database;
    redis->tls = said->tls == WEIR_YES;
    redis->insecure = said->insecure;
    redis->timeout_ns = s->redis_timeout_ns;
    redis->breaker_failures = s->redis_breaker_failures;
    redis->breaker_recovery_ns = s->redis_breaker_recovery_ns;
}

static int read_router(struct weir_loader *loader)
{
    struct said said = router_says(loader);
    int rv = add_variables(loader, &said);

    if (rv == 0)
        rv = read_url(loader, &said);
    if (rv == 0)
        settle(loader, &said);
    return rv;
}

/* One [host, port] of the Sentinels, or "host:port". */
static bool read_node(const struct weir_yaml *node, struct weir_config_address *ret_address)
{
    struct weir_slice host = node->text;
    uint64_t number = DEFAULT_SENTINEL_PORT;
    uint32_t port = DEFAULT_SENTINEL_PORT;

    if (node->kind == WEIR_YAML_TEXT && !read_host(weir_slice_trim(node->text), &host, &port))
        return false;
    if (node->kind == WEIR_YAML_LIST) {
        if (node->count == 0 || node->count > 2 || node->items[0]->kind != WEIR_YAML_TEXT)
            return false;
        host = node->items[0]->text;
        if (node->count == 2 && (!weir_value_whole(node->items[1], UINT16_MAX, &number) || number == 0))
            return false;
        port = (uint32_t)number;
    } else if (node->kind != WEIR_YAML_TEXT) {
        return false;
    }
    *ret_address = (struct weir_config_address){host, (uint16_t)port};
    return host.len > 0;
}

static int read_sentinels(struct weir_loader *loader, const struct said *said, const struct weir_yaml *list)
{
    struct weir_config_redis *redis = &loader->config->redis;
    struct weir_slice key = WEIR_SLICE("sentinel_nodes");

    if (list == NULL)
        return 0;
    if (list->kind != WEIR_YAML_LIST || list->count == 0 || list->count > WEIR_CONFIG_SENTINELS_MAX)
        return refuse(loader, said, key, WEIR_SLICE("expected a list of one to sixteen [host, port]"));
    for (size_t i = 0; i < list->count; i++)
        if (!read_node(list->items[i], &redis->servers[i]))
            return refuse(loader, said, key, WEIR_SLICE("expected a list of one to sixteen [host, port]"));
    redis->server_count = list->count;
    redis->service = loader->config->settings.cache_service;
    redis->sentinel_password = loader->config->settings.cache_sentinel_password;
    return redis->service.len > 0
               ? 0
               : refuse(loader, said, key, WEIR_SLICE("service_name is missing: the master's name"));
}

static bool is_cluster(const struct weir_yaml *params)
{
    const struct weir_yaml *nodes = weir_yaml_get(params, WEIR_SLICE("redis_startup_nodes"));

    return nodes != NULL && !(nodes->kind == WEIR_YAML_LIST && nodes->count == 0);
}

static int read_cache(struct weir_loader *loader, const struct weir_yaml *params)
{
    const struct weir_settings *s = &loader->config->settings;
    struct said said = cache_says(loader, params);
    int rv;

    if (is_cluster(params))
        return refuse(loader, &said, WEIR_SLICE("redis_startup_nodes"),
                      WEIR_SLICE("Redis Cluster is not supported, expected host and port of one server, or "
                                 "sentinel_nodes and service_name"));
    rv = read_sentinels(loader, &said, weir_yaml_get(params, WEIR_SLICE("sentinel_nodes")));
    if (rv == 0)
        rv = add_variables(loader, &said);
    if (rv == 0 && loader->config->redis.service.len == 0)
        rv = read_url(loader, &said);
    if (rv != 0)
        return rv;
    if (said.host.len == 0 && loader->config->redis.service.len == 0) {
        WEIR_REPORT(loader, WARNING, said.node, &said.path,
                    WEIR_SLICE("Redis has no address: neither host nor url, nor REDIS_HOST or REDIS_URL; "
                               "nothing is shared"));
        return 0;
    }
    settle(loader, &said);
    loader->config->redis.ca_file = s->cache_ca_file;
    loader->config->redis.name_space = s->cache_namespace;
    if (s->cache_timeout_ns != WEIR_UNSET_NS)
        loader->config->redis.timeout_ns = s->cache_timeout_ns;
    return 0;
}

/* Who wrote `cache: true` may expect more of it. */
static void tell_cache(struct weir_loader *loader, const struct weir_yaml *params)
{
    const struct weir_yaml_pair *pair =
        weir_yaml_pair(weir_yaml_get(loader->root, litellm_path.key), WEIR_SLICE("cache"));
    const struct weir_yaml *mode = weir_yaml_get(params, WEIR_SLICE("mode"));
    struct weir_path path = {&litellm_path, WEIR_SLICE("cache"), 0};

    if (pair != NULL && (mode == NULL || !weir_slice_eq(mode->text, WEIR_SLICE("default_off"))))
        WEIR_REPORT(
            loader, WARNING, pair->key, &path,
            WEIR_SLICE("answers are not cached: of a cache only its Redis is used, for what processes "
                       "share"));
}

int weir_redis_settings_read(struct weir_loader *loader)
{
    const struct weir_settings *s = &loader->config->settings;
    const struct weir_yaml *params =
        weir_yaml_get(weir_yaml_get(loader->root, litellm_path.key), WEIR_SLICE("cache_params"));

    if (s->cache)
        tell_cache(loader, params);
    if (s->router_redis_url.len > 0 || s->router_redis_host.len > 0)
        return read_router(loader);
    if (!s->cache || !weir_slice_eq(s->cache_type, WEIR_SLICE("redis")))
        return 0;
    return read_cache(loader, params);
}
