/*
 * One TCP connection on a loop: reads into the loop's shared buffer, writes with the fewest system calls.
 *
 * A write goes to the socket at once, all its parts in one call.  What the socket does not take is either
 * copied to the stream's queue (weir_stream_write) or stays where it is, lent until on_flushed
 * (weir_stream_lend).  So a stream has three places for bytes that wait, in this order: being sent (with the
 * kernel request), queued, lent.  While a loan is out nothing else is written.
 *
 * The stream is embedded in its owner's object, which may be freed from on_closed on.  One thread.
 */
#ifndef WEIR_NET_STREAM_H
#define WEIR_NET_STREAM_H

#include <stdbool.h>
#include <stddef.h>

#include <weir/attr.h>
#include <weir/slice.h>

#include "base/buf.h"
#include "net/loop.h"

#include <uv.h>

enum { WEIR_STREAM_PARTS_MAX = 20 };

struct weir_stream;

struct weir_stream_events {
    /* Bytes came; alive during the call.  The stream may be closed from inside. */
    void (*on_read)(struct weir_stream *stream, struct weir_slice bytes);
    /* The peer will send nothing more: orderly, or (broken) by a failure of the connection. */
    void (*on_eof)(struct weir_stream *stream, bool broken);
    /* All that waited is with the kernel, the loan is over; or (broken) the connection failed. */
    void (*on_flushed)(struct weir_stream *stream, bool broken);
    /* After weir_stream_connect: error is 0 or a negative errno. */
    void (*on_connect)(struct weir_stream *stream, int error);
    /* The last call.  The owner's memory is its own again. */
    void (*on_closed)(struct weir_stream *stream);
    /* Optional: room of the owner's for the next read, so that a body is read where it belongs.  Returns its
     * size; 0 takes the loop's buffer. */
    size_t (*on_room)(struct weir_stream *stream, char **ret_room);
};

struct weir_stream {
    weir_loop *loop;
    const struct weir_stream_events *events;
    uv_tcp_t tcp;
    uv_write_t write; /* at most one at a time */
    struct weir_buf sending;
    struct weir_buf queue;
    struct weir_slice *lent; /* the parts that wait, shortened by what was sent; NULL: no loan */
    size_t lent_count;
    bool writing; /* the kernel request is out */
    bool reading;
    bool closing;
    bool broken; /* a write failed */
};

/* 0 or WEIR_ERR_IO.  After a failure the stream needs no close. */
WEIR_MUST_USE int weir_stream_init(struct weir_stream *stream, weir_loop *loop,
                                   const struct weir_stream_events *events, size_t max_queue_bytes);

/* The peer closed while it waited, or the system is short of something: close the stream. */
#define WEIR_STREAM_BROKEN 1

/* Takes a connected socket, which is the stream's from now on (or closed); sets TCP_NODELAY.  0 or
 * WEIR_STREAM_BROKEN. */
WEIR_MUST_USE int weir_stream_adopt(struct weir_stream *stream, int fd);

/* Begins to connect; on_connect follows.  0, or WEIR_STREAM_BROKEN with *ret_error a negative errno.  request
 * is the caller's and lives as long as the stream. */
WEIR_MUST_USE int weir_stream_connect(struct weir_stream *stream, uv_connect_t *request,
                                      const struct sockaddr *address, int *ret_error);

/* Both do nothing when it is so already. */
void weir_stream_read_start(struct weir_stream *stream);
void weir_stream_read_stop(struct weir_stream *stream);

/*
 * Sends the parts, copying what does not go out at once.  0 (look at weir_stream_waiting for what waits),
 * WEIR_STREAM_BROKEN, or WEIR_ERR_LIMIT and WEIR_ERR_NOMEM with nothing of it queued in whole: close the
 * stream then.  Not while a loan is out.
 */
WEIR_MUST_USE int weir_stream_write(struct weir_stream *stream, const struct weir_slice *parts, size_t count);

/* Some of the parts wait: on_flushed follows. */
#define WEIR_STREAM_WAITS 2

/*
 * Sends head (which may be empty and is copied where it does not go out) and the parts, which are not copied.
 * 0: all is with the kernel; WEIR_STREAM_WAITS: the array and its bytes are lent (and the array is changed)
 * until on_flushed or close; WEIR_STREAM_BROKEN; or negative.  At most WEIR_STREAM_PARTS_MAX - 1 parts.
 */
WEIR_MUST_USE int weir_stream_lend(struct weir_stream *stream, struct weir_slice head,
                                   struct weir_slice *parts, size_t count);

/* Bytes that wait to be sent. */
size_t weir_stream_waiting(const struct weir_stream *stream);

/* Tells the peer that nothing more comes; reading goes on.  Only when nothing waits. */
void weir_stream_shutdown(struct weir_stream *stream);

/* Closes; on_closed follows from the loop, nothing else does.  A second call does nothing. */
void weir_stream_close(struct weir_stream *stream);

/* The same with a reset, where the system can: the peer must not take what it has for the whole. */
void weir_stream_reset(struct weir_stream *stream);

/* Bytes or an end are waiting in the socket: for a connection that should have nothing to say. */
bool weir_stream_is_quiet(const struct weir_stream *stream);

#endif
