/*
 * Who may ask: the master key, as a bearer token or in one of the two fields that SDKs use.
 */
#ifndef WEIR_GATEWAY_AUTH_H
#define WEIR_GATEWAY_AUTH_H

#include <stdbool.h>

#include <weir/slice.h>

struct weir_http1_head;

/*
 * True when no key is set, or when "Authorization: Bearer KEY", "x-api-key: KEY" or "api-key: KEY" carries
 * it.  The comparison takes a time that tells nothing about the key's bytes.
 */
bool weir_auth_allows(const struct weir_http1_head *head, struct weir_slice master_key);

#endif
