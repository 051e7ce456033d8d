/*
 * Cutting an absolute URL into its parts: for addresses of providers and of proxies.
 *
 * Pure; every slice is a part of the text.  Only http and https are known.
 */
#ifndef WEIR_WIRE_URL_H
#define WEIR_WIRE_URL_H

#include <stdbool.h>
#include <stdint.h>

#include <weir/attr.h>
#include <weir/slice.h>

struct weir_url {
    bool secure;                 /* https */
    struct weir_slice user;      /* "name:password" as written, or empty */
    struct weir_slice host;      /* of an IPv6 address without its brackets */
    uint16_t port;               /* as written, else 80 or 443 */
    struct weir_slice authority; /* host and port as written, for a Host header */
    struct weir_slice path;      /* from the first '/'; may be empty */
    struct weir_slice query;     /* without its '?'; empty when there is none */
};

/* The text is no such URL. */
#define WEIR_URL_BAD 1

/* 0 or WEIR_URL_BAD: another scheme, no host, a port that is none, blanks, controls, a fragment. */
WEIR_MUST_USE int weir_url_parse(struct weir_slice text, struct weir_url *ret_url);

#endif
