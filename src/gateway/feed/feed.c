/*
 * The ring holds whole entries, a head and a text each, from tail to head.  Places are counts of bytes that
 * never go back, so a place before tail is one that was overwritten.
 *
 * How many events a reader has lost is counted by kinds: the ring counts those of a kind that it has dropped,
 * a reader those that it has passed, and what was dropped and not passed is lost.
 *
 * The lock is held for copying one text.  Readers are few, and step over what they do not want by its head.
 */
#include "gateway/feed/feed.h"

#include <assert.h>
#include <string.h>

#include <weir/error.h>

#include "base/slice.h"

struct entry {
    uint32_t len; /* of the text behind it */
    uint32_t kind;
};

_Static_assert(WEIR_FEED_KINDS <= 64, "kinds are bits of a word");
_Static_assert(WEIR_FEED_TEXT_MAX + sizeof(struct entry) <= WEIR_FEED_BYTES, "a text fits");

struct weir_slice weir_feed_kind_name(size_t kind)
{
    return kind < WEIR_EVENT_KINDS
               ? weir_event_name((weir_event_kind)kind)
               : weir_router_event_name((weir_router_event_kind)(kind - WEIR_EVENT_KINDS));
}

uint64_t weir_feed_kinds_named(struct weir_slice name)
{
    uint64_t kinds = 0;

    for (size_t kind = 0; kind < WEIR_FEED_KINDS; kind++)
        if (weir_slice_eq(weir_feed_kind_name(kind), name))
            kinds |= UINT64_C(1) << kind;
    return kinds;
}

void weir_feed_init(struct weir_feed *ret_feed, const struct weir_mem *mem)
{
    *ret_feed = (struct weir_feed){.mem = mem, .next_id = 1, .oldest_id = 1};
    atomic_init(&ret_feed->readers, 0);
    (void)pthread_mutex_init(&ret_feed->lock, NULL);
}

void weir_feed_deinit(struct weir_feed *feed)
{
    if (feed->mem == NULL)
        return;
    assert(!weir_feed_is_heard(feed));
    (void)pthread_mutex_destroy(&feed->lock);
}

void weir_feed_port_init(struct weir_feed_port *ret_port, weir_loop *loop,
                         void (*run)(struct weir_loop_task *task))
{
    *ret_port = (struct weir_feed_port){.loop = loop, .task.run = run};
}

/* ---- the ring ---- */

static void ring_read(const struct weir_feed *feed, uint64_t at, void *to, size_t len)
{
    size_t from = (size_t)(at % WEIR_FEED_BYTES);
    size_t first = len < WEIR_FEED_BYTES - from ? len : WEIR_FEED_BYTES - from;

    memcpy(to, feed->bytes + from, first);
    memcpy((char *)to + first, feed->bytes, len - first);
}

static void ring_write(struct weir_feed *feed, const void *from, size_t len)
{
    size_t to = (size_t)(feed->head % WEIR_FEED_BYTES);
    size_t first = len < WEIR_FEED_BYTES - to ? len : WEIR_FEED_BYTES - to;

    memcpy(feed->bytes + to, from, first);
    memcpy(feed->bytes, (const char *)from + first, len - first);
    feed->head += len;
}

static struct entry entry_at(const struct weir_feed *feed, uint64_t at)
{
    struct entry entry;

    ring_read(feed, at, &entry, sizeof(entry));
    return entry;
}

static void drop_oldest(struct weir_feed *feed)
{
    struct entry entry = entry_at(feed, feed->tail);

    feed->tail += sizeof(entry) + entry.len;
    feed->oldest_id++;
    feed->dropped[entry.kind]++;
}

static void wake(struct weir_feed_port *port)
{
    if (port->posted)
        return;
    port->posted = true;
    weir_loop_post(port->loop, &port->task);
}

void weir_feed_publish(struct weir_feed *feed, size_t kind, struct weir_slice text)
{
    const struct entry entry = {(uint32_t)text.len, (uint32_t)kind};

    (void)pthread_mutex_lock(&feed->lock);
    if (feed->bytes != NULL) {
        while (feed->head - feed->tail + sizeof(entry) + text.len > WEIR_FEED_BYTES)
            drop_oldest(feed);
        ring_write(feed, &entry, sizeof(entry));
        ring_write(feed, text.ptr, text.len);
        feed->next_id++;
        feed->published[kind]++;
        for (struct weir_feed_port *port = feed->ports; port != NULL; port = port->next)
            wake(port);
    }
    (void)pthread_mutex_unlock(&feed->lock);
}

/* ---- readers ---- */

/* Nobody listens: what there was is forgotten. */
static void close_ring(struct weir_feed *feed)
{
    feed->mem->free(feed->mem->user, feed->bytes, WEIR_FEED_BYTES);
    feed->bytes = NULL;
    feed->tail = feed->head;
    feed->oldest_id = feed->next_id;
    memcpy(feed->dropped, feed->published, sizeof(feed->dropped));
}

static int open_ring(struct weir_feed *feed)
{
    if (feed->bytes == NULL)
        feed->bytes = feed->mem->alloc(feed->mem->user, WEIR_FEED_BYTES);
    return feed->bytes == NULL ? WEIR_ERR_NOMEM : 0;
}

static void enter(struct weir_feed *feed, struct weir_feed_port *port)
{
    atomic_fetch_add_explicit(&feed->readers, 1, memory_order_relaxed);
    if (port->readers++ > 0)
        return;
    port->next = feed->ports;
    feed->ports = port;
}

int weir_feed_join(struct weir_feed *feed, struct weir_feed_port *port, uint64_t wanted,
                   struct weir_feed_reader *ret_reader)
{
    int r = WEIR_FEED_FULL;

    (void)pthread_mutex_lock(&feed->lock);
    if (atomic_load_explicit(&feed->readers, memory_order_relaxed) < WEIR_FEED_READERS_MAX)
        r = open_ring(feed);
    if (r == 0) {
        enter(feed, port);
        *ret_reader = (struct weir_feed_reader){.wanted = wanted, .at = feed->head, .id = feed->next_id};
        memcpy(ret_reader->passed, feed->published, sizeof(ret_reader->passed));
    }
    (void)pthread_mutex_unlock(&feed->lock);
    return r;
}

static void take_out(struct weir_feed *feed, struct weir_feed_port *port)
{
    struct weir_feed_port **at = &feed->ports;

    while (*at != port)
        at = &(*at)->next;
    *at = port->next;
    port->posted = false;
}

void weir_feed_leave(struct weir_feed *feed, struct weir_feed_port *port)
{
    (void)pthread_mutex_lock(&feed->lock);
    if (--port->readers == 0) {
        take_out(feed, port);
        weir_loop_unpost(port->loop, &port->task);
    }
    if (atomic_fetch_sub_explicit(&feed->readers, 1, memory_order_relaxed) == 1)
        close_ring(feed);
    (void)pthread_mutex_unlock(&feed->lock);
}

void weir_feed_begin(struct weir_feed *feed, struct weir_feed_port *port)
{
    (void)pthread_mutex_lock(&feed->lock);
    port->posted = false;
    (void)pthread_mutex_unlock(&feed->lock);
}

void weir_feed_again(struct weir_feed *feed, struct weir_feed_port *port)
{
    (void)pthread_mutex_lock(&feed->lock);
    if (port->readers > 0)
        wake(port);
    (void)pthread_mutex_unlock(&feed->lock);
}

/* ---- taking ---- */

/* The reader's place is gone: to the oldest entry; how many that it wanted are lost. */
static uint64_t catch_up(const struct weir_feed *feed, struct weir_feed_reader *reader)
{
    uint64_t lost = 0;

    for (size_t kind = 0; kind < WEIR_FEED_KINDS; kind++)
        if ((reader->wanted >> kind & 1) != 0)
            lost += feed->dropped[kind] - reader->passed[kind];
    memcpy(reader->passed, feed->dropped, sizeof(reader->passed));
    reader->at = feed->tail;
    reader->id = feed->oldest_id;
    return lost;
}

static void pass(struct weir_feed_reader *reader, const struct entry *entry)
{
    reader->at += sizeof(*entry) + entry->len;
    reader->id++;
    reader->passed[entry->kind]++;
}

static int copy_text(const struct weir_feed *feed, uint64_t at, size_t len, struct weir_slice before,
                     struct weir_buf *buf)
{
    char *room;
    int r = weir_buf_reserve(buf, before.len + len, &room);

    if (r < 0)
        return r;
    if (before.len > 0)
        memcpy(room, before.ptr, before.len);
    ring_read(feed, at, room + before.len, len);
    weir_buf_commit(buf, before.len + len);
    return 0;
}

static int take(const struct weir_feed *feed, struct weir_feed_reader *reader, struct weir_slice before,
                struct weir_buf *buf, struct weir_feed_item *ret_item)
{
    if (reader->at < feed->tail) {
        ret_item->lost = catch_up(feed, reader);
        if (ret_item->lost > 0)
            return WEIR_FEED_LOST;
    }
    while (reader->at < feed->head) {
        struct entry entry = entry_at(feed, reader->at);

        if ((reader->wanted >> entry.kind & 1) != 0) {
            int r = copy_text(feed, reader->at + sizeof(entry), entry.len, before, buf);

            if (r < 0)
                return r;
            ret_item->kind = entry.kind;
            ret_item->id = reader->id;
            pass(reader, &entry);
            return WEIR_FEED_EVENT;
        }
        pass(reader, &entry);
    }
    return WEIR_FEED_NONE;
}

int weir_feed_take(struct weir_feed *feed, struct weir_feed_reader *reader, struct weir_slice before,
                   struct weir_buf *buf, struct weir_feed_item *ret_item)
{
    int r;

    *ret_item = (struct weir_feed_item){0};
    (void)pthread_mutex_lock(&feed->lock);
    r = take(feed, reader, before, buf, ret_item);
    (void)pthread_mutex_unlock(&feed->lock);
    return r;
}
