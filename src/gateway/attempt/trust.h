/*
 * TLS contexts of the process, by their settings: whoever wants the same gets the same one.
 *
 * They outlive a configuration, because connections to providers are kept by context: a reload that leaves
 * the settings of a place alone leaves its connections alone too.  A context is made anew when one of its
 * files has become another, so a reload takes up renewed certificates.
 */
#ifndef WEIR_GATEWAY_TRUST_H
#define WEIR_GATEWAY_TRUST_H

#include <pthread.h>
#include <stdint.h>

#include <weir/attr.h>
#include <weir/mem.h>

#include "net/tls.h"

struct weir_trust_entry;

struct weir_trust {
    const struct weir_mem *mem;
    pthread_mutex_t lock;
    struct weir_trust_entry *first;
    uint64_t round; /* of reloads */
};

void weir_trust_init(struct weir_trust *ret_trust, const struct weir_mem *mem);

/* Contexts that are in use elsewhere live on.  Accepts a zeroed one. */
void weir_trust_deinit(struct weir_trust *trust);

/* The context of these settings, with a reference; spec is copied.  Results as of weir_tls_context_new.
 * Thread-safe. */
WEIR_MUST_USE int weir_trust_get(struct weir_trust *trust, const struct weir_tls_spec *spec,
                                 char text[WEIR_TLS_TEXT_MAX], weir_tls_context **ret_context);

/* A setup is about to be made; and, when it was: what it did not ask for is forgotten. */
void weir_trust_begin(struct weir_trust *trust);
void weir_trust_end(struct weir_trust *trust);

#endif
