/*
 * Routing events of the whole process for those who listen: a ring of the newest texts, and readers with a
 * place in it each.
 *
 * Any thread publishes; nothing is kept, and nothing need be composed, while nobody listens.  Readers belong
 * to the port of their worker, whose loop is told when there is something new.  A reader that is too slow
 * finds its place overwritten: it is told how many events of the kinds that it wants are lost, and goes on
 * with the oldest that is left.  So all that listening costs is the ring, however many listen and however
 * slowly.
 *
 *   any worker:       compose -> publish --> ring
 *   reader's worker:  (the port's task) take, take ... -> WEIR_FEED_NONE
 */
#ifndef WEIR_GATEWAY_FEED_H
#define WEIR_GATEWAY_FEED_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <weir/attr.h>
#include <weir/event.h>
#include <weir/mem.h>
#include <weir/shared.h>
#include <weir/slice.h>

#include "base/buf.h"
#include "gateway/log/log.h"
#include "net/loop.h"

/* Events of calls, and behind them those outside of calls. */
enum { WEIR_FEED_KINDS = WEIR_EVENT_KINDS + (int)WEIR_ROUTER_EVENT_KINDS };

enum {
    WEIR_FEED_READERS_MAX = 64,
    WEIR_FEED_BYTES = 1024 * 1024,
    WEIR_FEED_TEXT_MAX = WEIR_LOG_LINE_MAX /* of an event */
};

/* A worker's place at the feed; its readers' too. */
struct weir_feed_port {
    struct weir_feed_port *next;
    weir_loop *loop;
    struct weir_loop_task task; /* run by the loop when there may be something to take */
    size_t readers;
    bool posted;
};

struct weir_feed {
    const struct weir_mem *mem;
    atomic_size_t readers;
    pthread_mutex_t lock;         /* of all that follows, and of the ports' posted and readers */
    struct weir_feed_port *ports; /* that have readers */
    char *bytes;                  /* NULL: nobody listens */
    uint64_t head;                /* bytes ever put in */
    uint64_t tail;                /* bytes taken out to make room */
    uint64_t next_id;
    uint64_t oldest_id;
    uint64_t published[WEIR_FEED_KINDS];
    uint64_t dropped[WEIR_FEED_KINDS]; /* of these, the ones that the ring does not hold any more */
};

struct weir_feed_reader {
    uint64_t wanted; /* bit n: kind n */
    uint64_t at;
    uint64_t id;
    uint64_t passed[WEIR_FEED_KINDS];
};

/* "CooldownSet", ...  Lives for ever. */
struct weir_slice weir_feed_kind_name(size_t kind);

/* The kinds of that name, as bits: some have the same in a call and outside of it.  0: none. */
uint64_t weir_feed_kinds_named(struct weir_slice name);

void weir_feed_init(struct weir_feed *ret_feed, const struct weir_mem *mem);

/* After the last reader has left.  Accepts a zeroed one. */
void weir_feed_deinit(struct weir_feed *feed);

/* run is called on the loop; the port lives as long as the loop, and longer than its readers. */
void weir_feed_port_init(struct weir_feed_port *ret_port, weir_loop *loop,
                         void (*run)(struct weir_loop_task *task));

/* From any thread: events must be published. */
static inline bool weir_feed_is_heard(const struct weir_feed *feed)
{
    return atomic_load_explicit(&feed->readers, memory_order_relaxed) > 0;
}

/* From any thread: text, at most WEIR_FEED_TEXT_MAX bytes, is copied. */
void weir_feed_publish(struct weir_feed *feed, size_t kind, struct weir_slice text);

/* What follows is for the port's thread. */

/* There are WEIR_FEED_READERS_MAX. */
#define WEIR_FEED_FULL 1

/* Begins to listen to what is published from now on.  0, WEIR_FEED_FULL or WEIR_ERR_NOMEM; weir_feed_leave is
 * due after 0. */
WEIR_MUST_USE int weir_feed_join(struct weir_feed *feed, struct weir_feed_port *port, uint64_t wanted,
                                 struct weir_feed_reader *ret_reader);
void weir_feed_leave(struct weir_feed *feed, struct weir_feed_port *port);

/* The port's task runs: it is posted again for what is published from now on. */
void weir_feed_begin(struct weir_feed *feed, struct weir_feed_port *port);

/* Asks for the task once more, for what was left. */
void weir_feed_again(struct weir_feed *feed, struct weir_feed_port *port);

struct weir_feed_item {
    size_t kind;
    uint64_t id;   /* of an event: they are counted through, those that are not wanted too */
    uint64_t lost; /* of WEIR_FEED_LOST */
};

/* What weir_feed_take has found. */
#define WEIR_FEED_NONE  0
#define WEIR_FEED_EVENT 1
#define WEIR_FEED_LOST  2

/*
 * The next event that the reader wants: its text is appended to buf, behind before.  WEIR_FEED_NONE: there is
 * none yet; WEIR_FEED_LOST: so many are lost that it would have wanted; or the failure of the buffer, and
 * nothing is changed.
 */
WEIR_MUST_USE int weir_feed_take(struct weir_feed *feed, struct weir_feed_reader *reader,
                                 struct weir_slice before, struct weir_buf *buf,
                                 struct weir_feed_item *ret_item);

#endif
