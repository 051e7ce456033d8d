/*
 * A growable byte buffer with a maximum that is fixed where the buffer is made.
 *
 * Invariant (weir_buf_validate): start <= end <= cap <= max, and ptr is NULL exactly when cap is 0.
 * Bytes are appended at the end and consumed from the start; consuming never moves memory, growing may.
 * A slice of the content lives until the next append, reserve, clear or deinit.
 */
#ifndef WEIR_BASE_BUF_H
#define WEIR_BASE_BUF_H

#include <assert.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <weir/attr.h>
#include <weir/error.h>
#include <weir/mem.h>
#include <weir/slice.h>

struct weir_buf {
    const struct weir_mem *mem;
    char *ptr;
    size_t start;
    size_t end;
    size_t cap;
    size_t max;
};

/* An empty buffer that will hold at most max_bytes at once.  Allocates nothing yet. */
void weir_buf_init(struct weir_buf *buf, const struct weir_mem *mem, size_t max_bytes);

/* Gives the memory back; the buffer is empty and usable afterwards.  Accepts a zeroed buffer. */
void weir_buf_deinit(struct weir_buf *buf);

/* Forgets the content and keeps the memory. */
void weir_buf_clear(struct weir_buf *buf);

static inline struct weir_slice weir_buf_slice(const struct weir_buf *buf)
{
    return (struct weir_slice){buf->ptr == NULL ? NULL : buf->ptr + buf->start, buf->end - buf->start};
}

static inline size_t weir_buf_len(const struct weir_buf *buf)
{
    return buf->end - buf->start;
}

/* The part of weir_buf_reserve that moves or grows. */
WEIR_MUST_USE int weir_buf_make_room(struct weir_buf *buf, size_t extra, char **ret_room);

/* Room for extra more bytes at the returned place.  0, WEIR_ERR_LIMIT or WEIR_ERR_NOMEM; nothing changes
 * then.  In the header, as is appending: most heads and lines are composed in a buffer that has the room. */
static inline WEIR_MUST_USE int weir_buf_reserve(struct weir_buf *buf, size_t extra, char **ret_room)
{
    if (buf->ptr == NULL || extra > buf->cap - buf->end)
        return weir_buf_make_room(buf, extra, ret_room);
    *ret_room = buf->ptr + buf->end;
    return 0;
}

/* Counts bytes that were written to reserved room; never more than was reserved. */
static inline void weir_buf_commit(struct weir_buf *buf, size_t written)
{
    assert(written <= buf->cap - buf->end);
    buf->end += written;
}

/* Drops bytes from the front; never more than the content. */
void weir_buf_consume(struct weir_buf *buf, size_t count);

/* Appends; all of it or, with a negative result, nothing. */
static inline WEIR_MUST_USE int weir_buf_append(struct weir_buf *buf, struct weir_slice bytes)
{
    char *room;
    int r;

    if (bytes.len == 0)
        return 0;
    r = weir_buf_reserve(buf, bytes.len, &room);
    if (r < 0)
        return r;
    assert(room != NULL); /* there is room for at least a byte */
    memcpy(room, bytes.ptr, bytes.len);
    weir_buf_commit(buf, bytes.len);
    return 0;
}

/* Appends the parts one after the other; all of them or, with a negative result, nothing. */
static inline WEIR_MUST_USE int weir_buf_append_all(struct weir_buf *buf, const struct weir_slice *parts,
                                                    size_t count)
{
    size_t total = 0;
    char *room;
    int r;

    for (size_t i = 0; i < count; i++)
        if (__builtin_add_overflow(total, parts[i].len, &total))
            return WEIR_ERR_LIMIT;
    if (total == 0)
        return 0;
    r = weir_buf_reserve(buf, total, &room);
    if (r < 0)
        return r;
    for (size_t i = 0; i < count; i++) {
        if (parts[i].len > 0)
            memcpy(room, parts[i].ptr, parts[i].len);
        room += parts[i].len;
    }
    weir_buf_commit(buf, total);
    return 0;
}

/* weir_buf_append_all with the parts as arguments. */
#define WEIR_BUF_APPEND(buf, ...)                                                                            \
    weir_buf_append_all((buf), (const struct weir_slice[]){__VA_ARGS__},                                     \
                        sizeof((const struct weir_slice[]){__VA_ARGS__}) / sizeof(struct weir_slice))

/* The invariant above; for tests and fuzzers. */
bool weir_buf_validate(const struct weir_buf *buf);

#endif
