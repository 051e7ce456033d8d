/*
 * Growth doubles, so that appending is linear, and is cut at the maximum.  Before growing, consumed space at
 * the front is reclaimed when it is at least half of the buffer: a stream that is read as fast as it is
 * written then never allocates again.
 */
#include "base/buf.h"

#include <assert.h>
#include <string.h>

#include <weir/error.h>

enum { FIRST_CAPACITY = 256 };

void weir_buf_init(struct weir_buf *buf, const struct weir_mem *mem, size_t max_bytes)
{
    *buf = (struct weir_buf){.mem = mem, .max = max_bytes};
}

void weir_buf_deinit(struct weir_buf *buf)
{
    if (buf->ptr != NULL)
        buf->mem->free(buf->mem->user, buf->ptr, buf->cap);
    weir_buf_init(buf, buf->mem, buf->max);
}

void weir_buf_clear(struct weir_buf *buf)
{
    buf->start = 0;
    buf->end = 0;
}

static void move_to_front(struct weir_buf *buf)
{
    size_t len = weir_buf_len(buf);

    if (len > 0)
        memmove(buf->ptr, buf->ptr + buf->start, len);
    buf->start = 0;
    buf->end = len;
}

static int grow(struct weir_buf *buf, size_t needed)
{
    size_t cap = buf->cap == 0 ? FIRST_CAPACITY : buf->cap;
    char *ptr;

    while (cap < needed && cap <= SIZE_MAX / 2)
        cap *= 2;
    if (cap > buf->max)
        cap = buf->max;
    ptr = buf->mem->resize(buf->mem->user, buf->ptr, buf->cap, cap);
    if (ptr == NULL)
        return WEIR_ERR_NOMEM;
    buf->ptr = ptr;
    buf->cap = cap;
    return 0;
}

int weir_buf_make_room(struct weir_buf *buf, size_t extra, char **ret_room)
{
    size_t len = weir_buf_len(buf);
    int r;

    if (extra > buf->max || len > buf->max - extra)
        return WEIR_ERR_LIMIT;
    if (buf->cap - buf->end < extra && buf->start > 0 &&
        (buf->start >= buf->cap / 2 || extra > buf->max - buf->end))
        move_to_front(buf);
    if (buf->cap - buf->end < extra) {
        r = grow(buf, buf->end + extra);
        if (r < 0)
            return r;
    }
    *ret_room = buf->ptr == NULL ? NULL : buf->ptr + buf->end;
    return 0;
}

void weir_buf_consume(struct weir_buf *buf, size_t count)
{
    assert(count <= weir_buf_len(buf));
    buf->start += count;
    if (buf->start == buf->end)
        weir_buf_clear(buf);
}

bool weir_buf_validate(const struct weir_buf *buf)
{
    return buf->start <= buf->end && buf->end <= buf->cap && buf->cap <= buf->max &&
           (buf->ptr == NULL) == (buf->cap == 0);
}
