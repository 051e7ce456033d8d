/*
 * One connection to a Redis server or a Sentinel: login, a pipeline of commands, its end.
 *
 * A link is opened, becomes ready when the server has agreed to everything that was asked of it (RS 22:
 * password, database, channel), and ends once: by itself, with a cause, or closed by its owner.  In both
 * cases every command that was taken and not answered is told its loss first.  A link that has nothing to
 * wait for asks the server now and then whether it is there, so that a dead connection is found out.
 *
 * Embedded in its owner.  From inside of the callbacks it may be closed, but neither freed nor opened again.
 */
#ifndef WEIR_STATE_REDIS_LINK_H
#define WEIR_STATE_REDIS_LINK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <weir/attr.h>
#include <weir/slice.h>

#include "base/buf.h"
#include "net/channel.h"
#include "state/pending.h"
#include "state/redis.h"
#include "state/reply.h"

enum weir_redis_role {
    WEIR_REDIS_ROLE_SERVER,   /* takes commands */
    WEIR_REDIS_ROLE_LISTENER, /* listens to a channel */
    WEIR_REDIS_ROLE_SENTINEL
};

struct weir_redis_link;

struct weir_redis_link_events {
    void (*on_ready)(struct weir_redis_link *link);
    /* A command, also one of the link's own, was answered by a link that is ready. */
    void (*on_answer)(struct weir_redis_link *link, uint64_t took_ns);
    void (*on_message)(struct weir_redis_link *link, struct weir_slice payload);
    /* The last call; detail may be empty and lives during it. */
    void (*on_end)(struct weir_redis_link *link, enum weir_redis_cause cause, struct weir_slice detail);
};

/* All that is pointed to outlives the link. */
struct weir_redis_link_spec {
    const struct weir_redis_link_events *events;
    enum weir_redis_role role;
    weir_loop *loop;
    weir_resolver *resolver;
    weir_tls_context *tls; /* NULL: in the clear */
    struct weir_slice host;
    uint16_t port;
    struct weir_redis_login login;
    uint32_t database;         /* of a SERVER */
    struct weir_slice channel; /* of a LISTENER */
    uint64_t timeout_ns;
    uint64_t connect_timeout_ns;
    uint64_t idle_ns;
    size_t max_pending;
    size_t max_queue_bytes;
    struct weir_reply_limits reply_limits;
};

enum { WEIR_REDIS_DETAIL_MAX = 160 };

struct weir_redis_link {
    struct weir_redis_link_spec spec;
    struct weir_channel channel;
    weir_reply_reader *reader;
    struct weir_pending pending;
    struct weir_buf out;         /* commands of this turn */
    struct weir_loop_task flush; /* sends them */
    bool flushing;               /* it is posted; the task itself is other threads' business then */
    struct weir_timer timer;     /* of the login; of the next answer; of the next look whether it is there */
    uint64_t ready_by_ns;
    unsigned steps_left; /* of the login */
    bool open;
    bool ready;
    bool late;    /* the timer has gone off, and the socket is looked at once more before that counts */
    bool reading; /* bytes are being taken: the reader is in use */
    enum weir_redis_cause failed_at_once;
    char detail[WEIR_REDIS_DETAIL_MAX];
    size_t detail_len;
};

/* Begins.  0: on_ready or on_end follows, from the loop; or WEIR_ERR_NOMEM, with nothing to be closed. */
WEIR_MUST_USE int weir_redis_link_open(struct weir_redis_link *link, const struct weir_redis_link_spec *spec);

/* Takes a command on a ready link: 0, WEIR_REDIS_FULL or WEIR_ERR_NOMEM. */
WEIR_MUST_USE int weir_redis_link_send(struct weir_redis_link *link, const struct weir_slice *args,
                                       size_t count, struct weir_redis_sink sink);

/* Closes; the commands that wait are told.  Does nothing on a link that is not open; accepts a zeroed one. */
void weir_redis_link_close(struct weir_redis_link *link);

#endif
