/*
 * Which proxy an upstream is reached through: HTTP_PROXY, HTTPS_PROXY, ALL_PROXY and NO_PROXY.
 *
 * Read once at start and never changed; safe for all threads afterwards.  An entry of NO_PROXY is a host name
 * (which covers its subdomains, with or without a leading dot), an address, a network ("10.0.0.0/8"), or "*";
 * a port after it limits it to that port.  As everywhere, the lower-case variable wins, and HTTP_PROXY in
 * upper case is ignored where REQUEST_METHOD is set (it would be a caller's Proxy field in a CGI program).
 */
#ifndef WEIR_NET_PROXY_H
#define WEIR_NET_PROXY_H

#include <stdbool.h>
#include <stdint.h>

#include <weir/attr.h>
#include <weir/mem.h>
#include <weir/slice.h>

#include "base/arena.h"

struct weir_proxy {
    struct weir_slice host;
    uint16_t port;
    struct weir_slice authorization; /* "Basic ...", or empty */
};

enum { WEIR_PROXIES_BYPASS_MAX = 256 };

struct weir_proxies {
    struct weir_arena arena; /* owns what the slices point to */
    struct weir_proxy http;  /* host empty: none */
    struct weir_proxy https;
    struct weir_slice bypass[WEIR_PROXIES_BYPASS_MAX];
    size_t bypass_count;
};

/* The values of the variables; empty where one is not set. */
struct weir_proxies_values {
    struct weir_slice http;
    struct weir_slice https;
    struct weir_slice all; /* for a scheme that has none of its own */
    struct weir_slice no_proxy;
};

/* A proxy's URL is not "[http://][user:password@]host[:port][/]", or there are too many exceptions. */
#define WEIR_PROXIES_UNREADABLE 1

/* 0, WEIR_PROXIES_UNREADABLE with proxies empty, or negative.  Copies what it keeps. */
WEIR_MUST_USE int weir_proxies_init(struct weir_proxies *proxies, const struct weir_mem *mem,
                                    const struct weir_proxies_values *values);

/* The value of a variable, alive until the proxies are made; empty where it is not set. */
typedef struct weir_slice weir_proxies_variable_fn(void *user, const char *name);

/* The same from variables, whose names and precedence are known here. */
WEIR_MUST_USE int weir_proxies_init_variables(struct weir_proxies *proxies, const struct weir_mem *mem,
                                              weir_proxies_variable_fn *get, void *user);

/* Both send every upstream the same way. */
bool weir_proxies_eq(const struct weir_proxies *a, const struct weir_proxies *b);

/* Accepts a zeroed one. */
void weir_proxies_deinit(struct weir_proxies *proxies);

/* The proxy for that upstream, or NULL for a direct connection.  host without brackets.  Loopback is no
 * exception of its own: NO_PROXY names it where it is to be one. */
const struct weir_proxy *weir_proxies_find(const struct weir_proxies *proxies, bool tls,
                                           struct weir_slice host, uint16_t port);

#endif
