/*
 * One worker's event loop: libuv's, with a clock that is read once a turn, timers that cost no system call,
 * and work posted from other threads.
 *
 * All functions are for the loop's own thread, except weir_loop_post.  Objects on a loop (servers, clients,
 * fetches) are closed by their owners; their last memory is given back by close callbacks, so a loop is freed
 * after them and runs what is left in weir_loop_free.
 */
#ifndef WEIR_NET_LOOP_H
#define WEIR_NET_LOOP_H

#include <stddef.h>
#include <stdint.h>

#include <weir/attr.h>
#include <weir/mem.h>
#include <weir/slice.h>

#include "net/timer.h"

struct weir_buf;
struct uv_loop_s;

typedef struct weir_loop weir_loop;

/* The sizes of the loop's shared rooms: what one read takes at most; a TLS record and its like; a piece of a
 * decoded body. */
enum {
    WEIR_LOOP_READ_BYTES = 64 * 1024,
    WEIR_LOOP_PLAIN_BYTES = 16 * 1024,
    WEIR_LOOP_DECODED_BYTES = 16 * 1024
};

/* mem must be safe for several threads when it is shared by several loops.  The process must ignore SIGPIPE:
 * libuv writes in a way that raises it.  0, WEIR_ERR_NOMEM or WEIR_ERR_IO. */
WEIR_MUST_USE int weir_loop_new(const struct weir_mem *mem, weir_loop **ret_loop);

/* Runs the close callbacks that are outstanding, then frees the loop.  Accepts NULL.  Every server, client,
 * timer and foreign uv handle on it must be closed or closing. */
void weir_loop_free(weir_loop *loop);

/* Runs until weir_loop_stop is called. */
void weir_loop_run(weir_loop *loop);

/* Makes weir_loop_run return after the current turn.  From other threads: post a task that calls it. */
void weir_loop_stop(weir_loop *loop);

/* The monotonic time, read at most once a turn. */
uint64_t weir_loop_now(weir_loop *loop);

/* The seconds of the wall clock, for dates and log lines. */
uint64_t weir_loop_wall_s(weir_loop *loop);

/* The wall clock's time at weir_loop_now, in nanoseconds since 1970 in UTC: what is so far apart on the
 * loop's clock is as far apart on this one, but where the wall clock was set within the last second. */
uint64_t weir_loop_wall_ns(weir_loop *loop);

/* For handles that weir has no word for (signals). */
struct uv_loop_s *weir_loop_uv(weir_loop *loop);

const struct weir_mem *weir_loop_mem(const weir_loop *loop);

/* Arms the timer, or moves it, to a time of weir_loop_now's clock; WEIR_TIME_NEVER cancels. */
void weir_loop_arm(weir_loop *loop, struct weir_timer *timer, uint64_t at_ns);

/* Does nothing when the timer is idle. */
void weir_loop_cancel(weir_loop *loop, struct weir_timer *timer);

/* A piece of work for a loop; embedded in what it works on, which lives until run was called. */
struct weir_loop_task {
    struct weir_loop_task *next;
    struct weir_loop_task *prev;
    void (*run)(struct weir_loop_task *task);
};

/* Queues the task, in order, for the loop's thread.  From any thread, as long as the loop exists.  A task is
 * in one queue at a time. */
void weir_loop_post(weir_loop *loop, struct weir_loop_task *task);

/* Takes a posted task back when it has not run yet; else does nothing.  From the loop's own thread. */
void weir_loop_unpost(weir_loop *loop, struct weir_loop_task *task);

/*
 * Memory that the loop lends for the length of one callback: room for one read (WEIR_LOOP_READ_BYTES), room
 * for what TLS makes of it, and a buffer to compose a message head in.  For the files of net only.
 */
char *weir_loop_read_room(weir_loop *loop);
char *weir_loop_plain_room(weir_loop *loop);
char *weir_loop_decoded_room(weir_loop *loop);
struct weir_buf *weir_loop_head_room(weir_loop *loop);

/* "Sun, 06 Nov 1994 08:49:37 GMT" of now; lives until the next call. */
struct weir_slice weir_loop_http_date(weir_loop *loop);

#endif
