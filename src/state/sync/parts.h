/*
 * The parts of weir_sync, for the files of this folder: what is told and waits for its reply, the pieces of a
 * reading, and the maps.
 *
 * Invariants: a told change belongs to exactly one of the free list, a map, and a command under way.  What
 * came of a snapshot is used only while the generation is the one that it was asked in.
 */
#ifndef WEIR_STATE_SYNC_PARTS_H
#define WEIR_STATE_SYNC_PARTS_H

#include <weir/shared.h>

#include "base/arena.h"
#include "base/buf.h"
#include "base/map.h"
#include "state/keys.h"
#include "state/sync/sync.h"

enum {
    WEIR_SYNC_CHANGES = 4 * WEIR_CHANGES_MAX, /* taken at once */
    WEIR_SYNC_TOLD_MAX = 16384,               /* changes without a reply */
    WEIR_SYNC_PIECE = 64,                     /* keys of one MGET */
    WEIR_SYNC_PIECES = 4,                     /* that are under way at once */
    WEIR_SYNC_BEGUN = 1024,                   /* counters that are remembered as begun */
    WEIR_SYNC_MAP_BYTES = 4 * 1024 * 1024     /* of one map's text */
};

/* A change that was taken from the router. */
struct weir_sync_told {
    weir_sync *sync;
    struct weir_sync_told *next;
    struct weir_change change;
};

/* A cooldown as it stood in Redis, by the index of its deployment. */
struct weir_sync_seen {
    uint64_t hash;      /* of its value; 0: there was none */
    uint64_t expiry_ns; /* of the key */
    uint64_t until_ns;  /* of the deployment's cooldown, when it was learned; 0: another one holds longer */
};

/* A map in Redis: the samples of a group's deployments, or the results of probes. */
struct weir_sync_map {
    enum weir_key key;
    struct weir_slice group;
    struct weir_sync_told *told; /* waits to be written into it, the newest first */
};

/* What a reading looks at, one after the other. */
enum weir_sync_pass {
    WEIR_SYNC_COOLDOWNS,
    WEIR_SYNC_REQUESTS,
    WEIR_SYNC_TOKENS,
    WEIR_SYNC_INPUT,
    WEIR_SYNC_OUTPUT,
    WEIR_SYNC_RUNNING,
    WEIR_SYNC_PASSES
};

/* One MGET under way. */
struct weir_sync_piece {
    weir_sync *sync;
    bool busy;
    uint64_t generation;
    enum weir_sync_pass pass;
    uint64_t minute;
    size_t count;
    uint32_t index[WEIR_SYNC_PIECE];
};

struct weir_sync {
    const struct weir_mem *mem;
    weir_router *router;
    struct weir_sync_host host;
    struct weir_arena texts; /* the two below */
    struct weir_slice name_space;
    struct weir_slice process;
    uint64_t instance;

    const weir_snapshot *snapshot;
    uint64_t generation; /* of the snapshot */
    size_t count;        /* of its deployments; seen has as many */
    struct weir_sync_seen *seen;
    struct weir_sync_map *maps;
    size_t map_count;
    size_t map_cap;
    struct weir_map maps_by_group;
    bool shares_health;
    bool book_only; /* no strategy and no enforced limit looks at usage: it has keys of its own */

    bool up;
    bool maps_wait;            /* changes of maps are taken for the reading that begins */
    uint64_t paused_till_ns;   /* after a refusal */
    uint64_t complain_from_ns; /* when a refusal is worth a word again */

    bool reading;
    bool first; /* since Redis came up */
    enum weir_sync_pass pass;
    uint32_t at;  /* the next deployment of the pass */
    size_t lives; /* of keys, that were asked for */
    size_t map_at;
    bool map_busy; /* the one at map_at was asked for */
    struct weir_sync_piece pieces[WEIR_SYNC_PIECES];

    struct weir_buf keys; /* rooms to compose commands in */
    struct weir_buf text;
    struct weir_arena arena;         /* of one value */
    uint64_t begun[WEIR_SYNC_BEGUN]; /* hashes of keys of usage, by their lower bits */
    struct weir_sync_told *free;
    size_t told_count; /* in use */
    struct weir_change changes[WEIR_SYNC_CHANGES];
};

static inline uint64_t weir_sync_now(const weir_sync *sync)
{
    return sync->host.now_ns(sync->host.user);
}

static inline uint64_t weir_sync_wall(const weir_sync *sync)
{
    return sync->host.wall_ns(sync->host.user);
}

static inline bool weir_sync_shares(const weir_sync *sync, const weir_deployment *deployment,
                                    weir_shared_kind kind)
{
    return (weir_router_shares(sync->router, deployment) & (1U << kind)) != 0;
}

/* ---- sync.c ---- */

/* Keeps a change until its reply; NULL: there is no room. */
struct weir_sync_told *weir_sync_keep(weir_sync *sync, const struct weir_change *change);
void weir_sync_drop(struct weir_sync_told *told);

/* A command was refused where it was asked for, or by Redis: the change waits, and so do all for a moment. */
void weir_sync_undo(struct weir_sync_told *told);

/* What came of the command of a change: 0 done, and the count is in the reply; else the change was given
 * back, and told dropped. */
WEIR_MUST_USE int weir_sync_judge(struct weir_sync_told *told, const struct weir_reply *reply);

/* Redis has answered with an error. */
void weir_sync_complain(weir_sync *sync, const struct weir_reply *reply);

/* The key, alive until the next is composed; empty: no memory. */
struct weir_slice weir_sync_key(weir_sync *sync, enum weir_key key, const struct weir_key_parts *parts);

/* Sends a command of up to eight arguments.  0 or a condition of weir_redis_send or negative. */
WEIR_MUST_USE int weir_sync_send(weir_sync *sync, struct weir_redis_sink sink, const struct weir_slice *args,
                                 size_t count);

/* weir_sync_send with the arguments as arguments. */
#define WEIR_SYNC_SEND(sync, sink, ...)                                                                      \
    weir_sync_send((sync), (sink), (const struct weir_slice[]){__VA_ARGS__},                                 \
                   sizeof((const struct weir_slice[]){__VA_ARGS__}) / sizeof(struct weir_slice))

#define WEIR_SYNC_NOBODY ((struct weir_redis_sink){.done = NULL})

/* ---- by concept: telling a change, and what a reading found ---- */

typedef void weir_sync_tell_fn(weir_sync *sync, const struct weir_change *change);

weir_sync_tell_fn weir_sync_tell_lift;
weir_sync_tell_fn weir_sync_tell_cooldown;
weir_sync_tell_fn weir_sync_tell_fails;
weir_sync_tell_fn weir_sync_tell_usage;
weir_sync_tell_fn weir_sync_tell_running;
weir_sync_tell_fn weir_sync_tell_map; /* of latency and health */

/* The value of a deployment's key, or nil. */
void weir_sync_see_cooldown(weir_sync *sync, uint32_t index, const struct weir_reply *value);
void weir_sync_see_count(weir_sync *sync, const struct weir_sync_piece *piece, uint32_t index,
                         const struct weir_reply *value);

/* The key of a pass for a deployment, appended to keys; 1: the pass does not look at it. */
WEIR_MUST_USE int weir_sync_pass_key(weir_sync *sync, enum weir_sync_pass pass, uint64_t minute,
                                     const weir_deployment *deployment);

/* The kind of that name, or whose class the text names; else the first with that status, else internal. */
weir_kind weir_sync_kind_named(struct weir_slice name, int status);

/* Lists the maps of a new snapshot; 0 or negative. */
WEIR_MUST_USE int weir_sync_list_maps(weir_sync *sync);

/* Reads the next map, and goes on with the one after it; false: there is none left. */
bool weir_sync_read_map(weir_sync *sync);

/* The maps take nothing any more: what they hold goes back to the router. */
void weir_sync_give_back(weir_sync *sync);

/* A map was read, or cannot be. */
void weir_sync_go_on(weir_sync *sync);

#endif
