/*
 * The values are copied into an arena, then cut where they lie.  Exceptions are matched in the order of the
 * list; names from their end, addresses as numbers.
 */
#include "net/proxy.h"

#include <arpa/inet.h>
#include <string.h>

#include <weir/error.h>

#include "base/slice.h"
#include "net/resolve.h"
#include "wire/url.h"

#include <openssl/evp.h>

enum { BLOCK_BYTES = 1024, MAX_BYTES = 256 * 1024, CREDENTIALS_MAX = 1024 };

static int hex_of(char c)
{
    if (weir_char_is_digit(c))
        return c - '0';
    c = weir_char_lower(c);
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* Undoes %XX; the result is at most as long as the text. */
static size_t unescape(struct weir_slice text, unsigned char *out)
{
    size_t len = 0;

    for (size_t i = 0; i < text.len; i++) {
        int high = i + 2 < text.len && text.ptr[i] == '%' ? hex_of(text.ptr[i + 1]) : -1;
        int low = high >= 0 ? hex_of(text.ptr[i + 2]) : -1;

        if (low >= 0) {
            out[len++] = (unsigned char)(high << 4 | low);
            i += 2;
        } else {
            out[len++] = (unsigned char)text.ptr[i];
        }
    }
    return len;
}

static int set_credentials(struct weir_proxies *proxies, struct weir_slice user,
                           struct weir_slice *ret_authorization)
{
    unsigned char plain[CREDENTIALS_MAX];
    unsigned char coded[CREDENTIALS_MAX / 3 * 4 + 5];
    struct weir_slice parts[2] = {WEIR_SLICE_INIT("Basic "), WEIR_SLICE_INIT("")};
    int coded_len;

    if (user.len == 0)
        return 0;
    if (user.len > sizeof(plain))
        return WEIR_PROXIES_UNREADABLE;
    coded_len = EVP_EncodeBlock(coded, plain, (int)unescape(user, plain));
    parts[1] = (struct weir_slice){(const char *)coded, (size_t)coded_len};
    *ret_authorization = weir_arena_join(&proxies->arena, parts, 2);
    return weir_arena_failed(&proxies->arena) ? WEIR_ERR_NOMEM : 0;
}

static int set_proxy(struct weir_proxies *proxies, struct weir_slice value, struct weir_proxy *ret_proxy)
{
    const struct weir_slice parts[2] = {WEIR_SLICE_INIT("http://"), value};
    bool has_scheme = weir_slice_has(value, WEIR_SLICE("://"));
    struct weir_url url;
    struct weir_slice text;

    if (value.len == 0)
        return 0;
    text = weir_arena_join(&proxies->arena, parts + has_scheme, has_scheme ? 1 : 2);
    if (weir_arena_failed(&proxies->arena))
        return WEIR_ERR_NOMEM;
    if (weir_url_parse(text, &url) != 0 || url.secure)
        return WEIR_PROXIES_UNREADABLE;
    ret_proxy->host = url.host;
    ret_proxy->port = url.port;
    return set_credentials(proxies, url.user, &ret_proxy->authorization);
}

static int set_bypass(struct weir_proxies *proxies, struct weir_slice value)
{
    struct weir_slice rest = weir_arena_copy(&proxies->arena, value);
    struct weir_slice entry;
    bool done = false;

    if (weir_arena_failed(&proxies->arena))
        return WEIR_ERR_NOMEM;
    while (weir_slice_cut(&rest, ',', &done, &entry)) {
        entry = weir_slice_trim(entry);
        if (entry.len == 0)
            continue;
        if (proxies->bypass_count == WEIR_PROXIES_BYPASS_MAX)
            return WEIR_PROXIES_UNREADABLE;
        proxies->bypass[proxies->bypass_count++] = entry;
    }
    return 0;
}

static struct weir_slice first_set(struct weir_slice a, struct weir_slice b)
{
    return a.len > 0 ? a : b;
}

int weir_proxies_init(struct weir_proxies *proxies, const struct weir_mem *mem,
                      const struct weir_proxies_values *values)
{
    int r;

    memset(proxies, 0, sizeof(*proxies));
    weir_arena_init(&proxies->arena, mem, BLOCK_BYTES, MAX_BYTES);
    r = set_proxy(proxies, weir_slice_trim(first_set(values->http, values->all)), &proxies->http);
    if (r == 0)
        r = set_proxy(proxies, weir_slice_trim(first_set(values->https, values->all)), &proxies->https);
    if (r == 0)
        r = set_bypass(proxies, values->no_proxy);
    if (r != 0)
        weir_proxies_deinit(proxies);
    return r;
}

int weir_proxies_init_variables(struct weir_proxies *proxies, const struct weir_mem *mem,
                                weir_proxies_variable_fn *get, void *user)
{
    const char *upper_http = get(user, "REQUEST_METHOD").len == 0 ? "HTTP_PROXY" : "http_proxy";
    const struct weir_proxies_values values = {
        .http = first_set(get(user, "http_proxy"), get(user, upper_http)),
        .https = first_set(get(user, "https_proxy"), get(user, "HTTPS_PROXY")),
        .all = first_set(get(user, "all_proxy"), get(user, "ALL_PROXY")),
        .no_proxy = first_set(get(user, "no_proxy"), get(user, "NO_PROXY")),
    };

    return weir_proxies_init(proxies, mem, &values);
}

static bool same_proxy(const struct weir_proxy *a, const struct weir_proxy *b)
{
    return a->port == b->port && weir_slice_eq(a->host, b->host) &&
           weir_slice_eq(a->authorization, b->authorization);
}

bool weir_proxies_eq(const struct weir_proxies *a, const struct weir_proxies *b)
{
    if (!same_proxy(&a->http, &b->http) || !same_proxy(&a->https, &b->https) ||
        a->bypass_count != b->bypass_count)
        return false;
    for (size_t i = 0; i < a->bypass_count; i++)
        if (!weir_slice_eq(a->bypass[i], b->bypass[i]))
            return false;
    return true;
}

void weir_proxies_deinit(struct weir_proxies *proxies)
{
    weir_arena_deinit(&proxies->arena);
    proxies->http = (struct weir_proxy){0};
    proxies->https = (struct weir_proxy){0};
    proxies->bypass_count = 0;
}

/* ---- exceptions ---- */

/* The bytes of an address in network order. */
static struct weir_slice address_bytes(const union weir_address *address)
{
    if (address->sa.sa_family == AF_INET6)
        return (struct weir_slice){(const char *)&address->in6.sin6_addr, sizeof(address->in6.sin6_addr)};
    return (struct weir_slice){(const char *)&address->in.sin_addr, sizeof(address->in.sin_addr)};
}

static bool is_address(struct weir_slice text, struct weir_addresses *ret_address)
{
    return weir_resolve_literal(text, ret_address) == 0 && ret_address->count == 1;
}

static bool same_bits(struct weir_slice a, struct weir_slice b, uint64_t bits)
{
    size_t bytes = (size_t)(bits / 8);
    unsigned rest = (unsigned)(bits % 8);

    if (a.len != b.len || bits > a.len * 8 || memcmp(a.ptr, b.ptr, bytes) != 0)
        return false;
    return rest == 0 || ((unsigned char)a.ptr[bytes] ^ (unsigned char)b.ptr[bytes]) >> (8 - rest) == 0;
}

static bool network_has(struct weir_slice entry, size_t slash, struct weir_slice host)
{
    struct weir_addresses network;
    struct weir_addresses address;
    uint64_t bits;

    return is_address(weir_slice_sub(entry, 0, slash), &network) && is_address(host, &address) &&
           weir_slice_u64(weir_slice_sub(entry, slash + 1, entry.len), &bits) == 0 &&
           same_bits(address_bytes(&network.list[0]), address_bytes(&address.list[0]), bits);
}

static bool name_has(struct weir_slice entry, struct weir_slice host)
{
    struct weir_slice tail;

    while (entry.len > 0 && (entry.ptr[0] == '.' || entry.ptr[0] == '*'))
        entry = weir_slice_sub(entry, 1, entry.len);
    if (entry.len == 0 || host.len < entry.len)
        return false;
    tail = weir_slice_sub(host, host.len - entry.len, host.len);
    return weir_slice_eq_ci(tail, entry) &&
           (host.len == entry.len || host.ptr[host.len - entry.len - 1] == '.');
}

/* Cuts ":port" off, and the brackets of an IPv6 address; 0 when there is no port. */
static struct weir_slice without_port(struct weir_slice entry, uint64_t *ret_port)
{
    size_t colon = weir_slice_find_char(entry, ':');
    size_t bracket = weir_slice_find_char(entry, ']');

    *ret_port = 0;
    if (bracket != WEIR_SLICE_NONE && entry.ptr[0] == '[') {
        if (weir_slice_u64(weir_slice_sub(entry, bracket + 2, entry.len), ret_port) != 0)
            *ret_port = 0;
        return weir_slice_sub(entry, 1, bracket);
    }
    if (colon == WEIR_SLICE_NONE ||
        weir_slice_u64(weir_slice_sub(entry, colon + 1, entry.len), ret_port) != 0)
        return entry;
    return weir_slice_sub(entry, 0, colon);
}

static bool bypassed(struct weir_slice entry, struct weir_slice host, uint16_t port)
{
    size_t slash = weir_slice_find_char(entry, '/');
    struct weir_addresses a;
    struct weir_addresses b;
    uint64_t only_port;

    if (weir_slice_eq(entry, WEIR_SLICE("*")))
        return true;
    if (slash != WEIR_SLICE_NONE)
        return network_has(entry, slash, host);
    entry = without_port(entry, &only_port);
    if (only_port != 0 && only_port != port)
        return false;
    if (!is_address(host, &b))
        return name_has(entry, host);
    return is_address(entry, &a) && weir_slice_eq(address_bytes(&a.list[0]), address_bytes(&b.list[0]));
}

const struct weir_proxy *weir_proxies_find(const struct weir_proxies *proxies, bool tls,
                                           struct weir_slice host, uint16_t port)
{
    const struct weir_proxy *proxy = tls ? &proxies->https : &proxies->http;

    if (proxy->host.len == 0)
        return NULL;
    for (size_t i = 0; i < proxies->bypass_count; i++) {
        if (bypassed(proxies->bypass[i], host, port))
            return NULL;
    }
    return proxy;
}
