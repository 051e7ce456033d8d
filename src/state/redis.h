/*
 * A Redis client on one loop: commands in a pipeline, and one channel listened to (RS 22, decisions 33-35).
 *
 * The client connects by itself, at once and again after each loss, in the pace of weir_breaker; nobody waits
 * for it.  While there is no connection a command is refused where it is asked for.  One that was taken gets
 * exactly one call of done: with the reply, or with NULL when the connection was lost, in which case nobody
 * knows whether the server did it.  A reply that takes longer than timeout_ns loses the connection, and with
 * it whatever else is under way: in a pipeline later answers cannot overtake a missing one.
 *
 * A server is plain, or the master of a service that Sentinels name; a lost master is asked for anew, so a
 * failover is followed, and another master ends the rest that the breaker gave to the old one.  Cluster is
 * refused as a cause of its own.
 *
 * Commands of one turn of the loop leave in one write.  All for the loop's own thread; no callback comes from
 * inside of a function of this header but weir_redis_free.
 */
#ifndef WEIR_STATE_REDIS_H
#define WEIR_STATE_REDIS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <weir/attr.h>
#include <weir/slice.h>

#include "net/loop.h"
#include "net/resolve.h"
#include "net/tls.h"
#include "state/reply.h"

typedef struct weir_redis weir_redis;

enum weir_redis_cause {
#define X(name, text) WEIR_REDIS_##name,
#include "state/tbl/redis_causes.h"
#undef X
    WEIR_REDIS_CAUSES
};

/* Text of the table; lives for ever. */
struct weir_slice weir_redis_cause_text(enum weir_redis_cause cause);

struct weir_redis_login {
    struct weir_slice username; /* an ACL user; empty: the default user */
    struct weir_slice password; /* empty: no login */
};

struct weir_redis_address {
    struct weir_slice host; /* a name or an address, without brackets */
    uint16_t port;
};

enum { WEIR_REDIS_SENTINELS_MAX = 16, WEIR_REDIS_STATE_TEXT_MAX = 384 };

/* What is told when something changes: for one line in the log each. */
struct weir_redis_state {
    bool up;                     /* commands are taken */
    bool resting;                /* the breaker is open: nothing is tried for a while */
    bool deaf;                   /* up, but the channel cannot be listened to */
    enum weir_redis_cause cause; /* NONE when up */
    struct weir_slice text;      /* one sentence without secrets, for people; lives during the call */
};

/* The channel that is listened to told something; lives during the call. */
typedef void weir_redis_message_fn(void *user, struct weir_slice payload);

/* Called once for each change of one of the four, the first connection included. */
typedef void weir_redis_state_fn(void *user, const struct weir_redis_state *state);

/* A command was answered after so long, or it was refused, or a connection was lost or not had. */
typedef void weir_redis_command_fn(void *user, uint64_t took_ns, bool answered);

/* Copied, with all its texts. */
struct weir_redis_spec {
    weir_loop *loop;
    weir_resolver *resolver;
    weir_tls_context *tls;                    /* NULL: in the clear.  A reference is kept */
    weir_tls_context *sentinel_tls;           /* the same, for the Sentinels */
    const struct weir_redis_address *servers; /* one; or, with a service, the Sentinels, up to the maximum */
    size_t server_count;
    struct weir_slice service; /* the Sentinels' name of the master; empty: servers[0] is the server */
    struct weir_redis_login login;
    struct weir_redis_login sentinel_login;
    uint32_t database;
    uint64_t timeout_ns;               /* of a reply; 0: 0.1 s */
    uint64_t connect_timeout_ns;       /* until the server is ready for commands; 0: ten times timeout_ns */
    uint64_t idle_ns;                  /* of silence until the server is asked whether it is there; 0: 5 s */
    unsigned breaker_threshold;        /* 0: 5 */
    uint64_t breaker_recovery_ns;      /* 0: 60 s */
    size_t max_pending;                /* commands without an answer; 0: 65536 */
    size_t max_queue_bytes;            /* bytes of commands that are not sent; 0: 8 MiB */
    size_t max_reply_bytes;            /* 0: 8 MiB */
    size_t max_reply_items;            /* 0: 65536 */
    uint64_t seed;                     /* of the pace's randomness */
    struct weir_slice channel;         /* empty: nothing is listened to */
    weir_redis_message_fn *on_message; /* may be NULL without a channel */
    weir_redis_state_fn *on_state;     /* may be NULL */
    weir_redis_command_fn *on_command; /* may be NULL; calls nothing of this header */
    void *user;                        /* of all three */
};

/* 0, WEIR_ERR_NOMEM, or WEIR_ERR_INVALID for a spec without a server.  The first trial begins at once; its
 * outcome is told by on_state. */
WEIR_MUST_USE int weir_redis_new(const struct weir_redis_spec *spec, weir_redis **ret_redis);

/* Tells every command that was taken its loss, then frees the client; on_state is not called.  Accepts NULL.
 * Not from inside of a callback of the client. */
void weir_redis_free(weir_redis *redis);

/* The end of one command: reply lives during the call; NULL: the connection was lost.  tag is the asker's. */
typedef void weir_redis_done_fn(void *user, uint64_t tag, const struct weir_reply *reply);

struct weir_redis_sink {
    weir_redis_done_fn *done; /* NULL: nobody wants the answer */
    void *user;
    uint64_t tag;
};

/* Conditions of weir_redis_send: the command is not taken, and done not called. */
#define WEIR_REDIS_AWAY 1 /* there is no connection */
#define WEIR_REDIS_FULL 2 /* too many commands wait for answers, or too many bytes for the wire */

/* Takes a command: its name and arguments, copied.  0, a condition, or WEIR_ERR_NOMEM. */
WEIR_MUST_USE int weir_redis_send(weir_redis *redis, const struct weir_slice *args, size_t count,
                                  struct weir_redis_sink sink);

/* Commands are taken now. */
bool weir_redis_is_up(const weir_redis *redis);

/* The channel is listened to now. */
bool weir_redis_listens(const weir_redis *redis);

/* Commands without an answer. */
size_t weir_redis_pending(const weir_redis *redis);

/* Since the start. */
struct weir_redis_counts {
    uint64_t commands; /* taken */
    uint64_t refused;  /* not taken */
    uint64_t messages; /* of the channel */
    uint64_t trials;   /* of becoming connected */
    uint64_t failures; /* of the breaker's counting: trials that failed and connections that were lost */
};
void weir_redis_counts(const weir_redis *redis, struct weir_redis_counts *ret_counts);

#endif
