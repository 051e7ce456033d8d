/*
 * What processes share, carried between the router (weir/shared.h) and Redis in the keys and forms of LiteLLM
 * (RS 22, 15.1, 16.1, 6.2, 6.3, 6.5, 17, 19; decisions 33, 34).
 *
 *     tell   changes of the router become commands, replies go back to it
 *     read   the keys in use are looked at, in pieces: what others wrote is learned
 *     hear   a cooldown that another process has published
 *
 * Cooldowns and counts are told at once.  Maps (samples of latency, results of probes) are read and written
 * as a whole, so their changes wait for the next reading.  While Redis is away nothing is taken from the
 * router, where changes coalesce; what may have been lost is told again when it is back.
 *
 * Whoever carries the commands answers in the order in which they were sent.  One thread; callbacks of
 * commands may come until weir_sync_free.
 */
#ifndef WEIR_STATE_SYNC_H
#define WEIR_STATE_SYNC_H

#include <stddef.h>
#include <stdint.h>

#include <weir/attr.h>
#include <weir/mem.h>
#include <weir/router.h>
#include <weir/slice.h>
#include <weir/snapshot.h>

#include "state/redis.h"

typedef struct weir_sync weir_sync;

/* Who carries the commands and knows the time. */
struct weir_sync_host {
    void *user;
    /* As weir_redis_send. */
    int (*send)(void *user, const struct weir_slice *args, size_t count, struct weir_redis_sink sink);
    uint64_t (*now_ns)(void *user);
    uint64_t (*wall_ns)(void *user); /* since 1970, in UTC */
    /* The first reading since Redis came up is over. */
    void (*is_read)(void *user);
    /* Redis has refused a command, for the first time in a minute: its words, alive during the call. */
    void (*refused)(void *user, struct weir_slice text);
};

struct weir_sync_spec {
    const struct weir_mem *mem;
    weir_router *router; /* shares (weir_router_share) */
    struct weir_sync_host host;
    struct weir_slice name_space; /* copied, as is the next */
    struct weir_slice process;    /* its name, for people */
    uint64_t instance;            /* tells this process from all others */
};

/* 0 or WEIR_ERR_NOMEM. */
WEIR_MUST_USE int weir_sync_new(const struct weir_sync_spec *spec, weir_sync **ret_sync);

/* After every command was answered or lost.  Accepts NULL. */
void weir_sync_free(weir_sync *sync);

/* The router's newest snapshot, which lives until the next one is given; before anything else.  0, or
 * WEIR_ERR_NOMEM: not all of it is read then until the next one. */
WEIR_MUST_USE int weir_sync_adopt(weir_sync *sync, const weir_snapshot *snapshot);

/* Redis takes commands: it may have forgotten everything. */
void weir_sync_came_up(weir_sync *sync);
void weir_sync_went_down(weir_sync *sync);

/* Tells what has changed; returns how much that was.  Does nothing while Redis is away. */
size_t weir_sync_tell(weir_sync *sync);

/* Begins to read all keys in use, and tells what waits for that; does nothing while Redis is away, or while
 * the last reading is under way. */
void weir_sync_read(weir_sync *sync);

/* The channel of cooldowns, appended to the buffer.  0 or negative. */
WEIR_MUST_USE int weir_sync_channel(const weir_sync *sync, struct weir_buf *buf);

/* What was told on that channel. */
void weir_sync_hear(weir_sync *sync, struct weir_slice payload);

#endif
