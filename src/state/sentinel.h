/*
 * Asking Redis Sentinels for the master of a service.
 *
 * They are asked one after the other, the one that answered last first; the first that names a master ends
 * the round.  One round at a time; embedded in its owner, whose loop tells the outcome.
 */
#ifndef WEIR_STATE_SENTINEL_H
#define WEIR_STATE_SENTINEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <weir/attr.h>
#include <weir/slice.h>

#include "net/resolve.h"
#include "state/redis.h"
#include "state/redis_link.h"

struct weir_sentinel {
    struct weir_redis_link_spec spec; /* of a connection, without the address */
    const struct weir_redis_address *servers;
    size_t count;
    struct weir_slice service;
    /* The outcome: NONE with the master's address, which lives until the next round; or the cause with a
     * detail.  Another round may be begun from inside. */
    void (*done)(struct weir_sentinel *sentinel, enum weir_redis_cause cause, struct weir_slice detail);
    struct weir_redis_address master;
    /* private */
    struct weir_redis_link link;
    struct weir_timer next; /* to the next of them, from the loop */
    size_t first;           /* who answered last */
    size_t asked;           /* of this round; 0: none is under way */
    enum weir_redis_cause cause;
    char host[WEIR_RESOLVE_HOST_MAX + 1];
    char detail[WEIR_REDIS_DETAIL_MAX];
    size_t detail_len;
};

/* The public members are set; spec.role, events and address are not the caller's. */
void weir_sentinel_init(struct weir_sentinel *sentinel);

/* Begins a round; done follows from the loop. */
void weir_sentinel_ask(struct weir_sentinel *sentinel);

/* Ends a round without a word.  Does nothing when none is under way; accepts a zeroed one. */
void weir_sentinel_stop(struct weir_sentinel *sentinel);

#endif
