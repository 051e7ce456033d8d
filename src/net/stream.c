/*
 * libuv's try-write does what a proxy wants nearly always: one writev, and the answer at once.  Only its
 * remainder takes the longer way of a write request, of which a stream has one: either for the buffer
 * `sending` or for the loan.  While it is out, copied bytes gather in `queue`; the two buffers change places
 * when it returns.
 *
 * Invariants: writing implies that sending or the loan is not empty; a loan is out only while queue is empty
 * or still ahead of it; after close no event but on_closed is called.
 */
#include "net/stream.h"

#include <assert.h>
#include <errno.h>
#include <sys/socket.h>
#include <unistd.h>

#include <weir/error.h>

#include "base/slice.h"

static struct weir_stream *of_handle(uv_handle_t *handle)
{
    return handle->data;
}

int weir_stream_init(struct weir_stream *stream, weir_loop *loop, const struct weir_stream_events *events,
                     size_t max_queue_bytes)
{
    const struct weir_mem *mem = weir_loop_mem(loop);

    if (uv_tcp_init(weir_loop_uv(loop), &stream->tcp) != 0)
        return WEIR_ERR_IO;
    stream->loop = loop;
    stream->events = events;
    stream->tcp.data = stream;
    stream->lent = NULL;
    stream->lent_count = 0;
    stream->writing = false;
    stream->reading = false;
    stream->closing = false;
    stream->broken = false;
    weir_buf_init(&stream->sending, mem, max_queue_bytes);
    weir_buf_init(&stream->queue, mem, max_queue_bytes);
    return 0;
}

int weir_stream_adopt(struct weir_stream *stream, int fd)
{
    if (uv_tcp_open(&stream->tcp, fd) != 0) {
        (void)close(fd);
        return WEIR_STREAM_BROKEN;
    }
    (void)uv_tcp_nodelay(&stream->tcp, 1);
    return 0;
}

static void on_connected(uv_connect_t *request, int status)
{
    struct weir_stream *stream = request->data;

    if (stream->closing)
        return;
    if (status == 0)
        (void)uv_tcp_nodelay(&stream->tcp, 1);
    stream->events->on_connect(stream, status);
}

int weir_stream_connect(struct weir_stream *stream, uv_connect_t *request, const struct sockaddr *address,
                        int *ret_error)
{
    int r;

    request->data = stream;
    r = uv_tcp_connect(request, &stream->tcp, address, on_connected);
    if (r == 0)
        return 0;
    *ret_error = r;
    return WEIR_STREAM_BROKEN;
}

static void on_alloc(uv_handle_t *handle, size_t suggested, uv_buf_t *ret_buf)
{
    struct weir_stream *stream = of_handle(handle);
    char *room = NULL;
    size_t size = 0;

    (void)suggested;
    if (stream->events->on_room != NULL)
        size = stream->events->on_room(stream, &room);
    if (size == 0) {
        room = weir_loop_read_room(stream->loop);
        size = WEIR_LOOP_READ_BYTES;
    }
    *ret_buf = uv_buf_init(room, (unsigned)size);
}

static void on_read(uv_stream_t *tcp, ssize_t count, const uv_buf_t *buf)
{
    struct weir_stream *stream = of_handle((uv_handle_t *)tcp);

    if (count > 0) {
        stream->events->on_read(stream, (struct weir_slice){buf->base, (size_t)count});
    } else if (count < 0) {
        weir_stream_read_stop(stream);
        stream->events->on_eof(stream, count != UV_EOF);
    }
}

void weir_stream_read_start(struct weir_stream *stream)
{
    if (stream->reading || stream->closing)
        return;
    /* Fails only on a handle that is closing or not connected; the latter is told by on_connect. */
    stream->reading = uv_read_start((uv_stream_t *)&stream->tcp, on_alloc, on_read) == 0;
}

void weir_stream_read_stop(struct weir_stream *stream)
{
    if (!stream->reading)
        return;
    stream->reading = false;
    (void)uv_read_stop((uv_stream_t *)&stream->tcp);
}

size_t weir_stream_waiting(const struct weir_stream *stream)
{
    size_t total = weir_buf_len(&stream->queue);
    bool loan_is_out = stream->writing && weir_buf_len(&stream->sending) == 0;

    if (stream->writing)
        total += uv_stream_get_write_queue_size((const uv_stream_t *)&stream->tcp);
    for (size_t i = 0; i < stream->lent_count && !loan_is_out; i++)
        total += stream->lent[i].len;
    return total;
}

/* Shortens the parts by what was sent; returns how many of them are done with. */
static size_t advance(struct weir_slice *parts, size_t count, size_t sent)
{
    size_t i = 0;

    while (i < count && sent >= parts[i].len) {
        sent -= parts[i].len;
        i++;
    }
    if (i < count) {
        parts[i].ptr += sent;
        parts[i].len -= sent;
    }
    return i;
}

/* libuv's buffers are not const, though a write does not change them. */
static uv_buf_t buf_of(struct weir_slice part)
{
    union {
        const char *in;
        char *out;
    } ptr = {.in = part.ptr};

    return uv_buf_init(ptr.out, (unsigned)part.len);
}

static unsigned fill_bufs(uv_buf_t bufs[WEIR_STREAM_PARTS_MAX], const struct weir_slice *parts, size_t count)
{
    unsigned filled = 0;

    for (size_t i = 0; i < count; i++) {
        if (parts[i].len > 0)
            bufs[filled++] = buf_of(parts[i]);
    }
    return filled;
}

/* Tries the socket: how many bytes went out, or WEIR_STREAM_BROKEN. */
static int try_parts(struct weir_stream *stream, const struct weir_slice *parts, size_t count,
                     size_t *ret_sent)
{
    uv_buf_t bufs[WEIR_STREAM_PARTS_MAX];
    unsigned filled = fill_bufs(bufs, parts, count);
    int r;

    *ret_sent = 0;
    if (stream->broken)
        return WEIR_STREAM_BROKEN;
    if (filled == 0 || stream->writing)
        return 0;
    r = uv_try_write((uv_stream_t *)&stream->tcp, bufs, filled);
    if (r >= 0)
        *ret_sent = (size_t)r;
    else if (r != UV_EAGAIN)
        stream->broken = true;
    return stream->broken ? WEIR_STREAM_BROKEN : 0;
}

static void on_written(uv_write_t *write, int status);

static void send_parts(struct weir_stream *stream, const struct weir_slice *parts, size_t count)
{
    uv_buf_t bufs[WEIR_STREAM_PARTS_MAX];
    unsigned filled = fill_bufs(bufs, parts, count);

    stream->write.data = stream;
    stream->writing = true;
    if (uv_write(&stream->write, (uv_stream_t *)&stream->tcp, bufs, filled, on_written) != 0) {
        stream->writing = false;
        stream->broken = true;
    }
}

/* Gives the kernel request its next work. */
static void pump(struct weir_stream *stream)
{
    struct weir_slice bytes;

    if (stream->writing || stream->broken)
        return;
    if (weir_buf_len(&stream->queue) > 0) {
        struct weir_buf swap = stream->sending;

        stream->sending = stream->queue;
        stream->queue = swap;
        bytes = weir_buf_slice(&stream->sending);
        send_parts(stream, &bytes, 1);
    } else if (stream->lent_count > 0) {
        send_parts(stream, stream->lent, stream->lent_count);
    }
}

static void on_written(uv_write_t *write, int status)
{
    struct weir_stream *stream = write->data;

    stream->writing = false;
    if (stream->closing)
        return;
    if (weir_buf_len(&stream->sending) > 0)
        weir_buf_clear(&stream->sending);
    else
        stream->lent_count = 0;
    stream->broken = stream->broken || status != 0;
    pump(stream);
    if (stream->broken || !stream->writing) {
        stream->lent = NULL;
        stream->lent_count = 0;
        weir_buf_deinit(&stream->sending);
        weir_buf_deinit(&stream->queue);
        stream->events->on_flushed(stream, stream->broken);
    }
}

int weir_stream_write(struct weir_stream *stream, const struct weir_slice *parts, size_t count)
{
    struct weir_slice rest[WEIR_STREAM_PARTS_MAX];
    size_t sent;
    size_t done;
    int r;

    assert(count <= WEIR_STREAM_PARTS_MAX && stream->lent == NULL);
    r = try_parts(stream, parts, count, &sent);
    if (r != 0)
        return r;
    for (size_t i = 0; i < count; i++)
        rest[i] = parts[i];
    done = advance(rest, count, sent);
    r = weir_buf_append_all(&stream->queue, rest + done, count - done);
    if (r < 0)
        return r;
    pump(stream);
    return stream->broken ? WEIR_STREAM_BROKEN : 0;
}

int weir_stream_lend(struct weir_stream *stream, struct weir_slice head, struct weir_slice *parts,
                     size_t count)
{
    struct weir_slice all[WEIR_STREAM_PARTS_MAX];
    size_t sent;
    size_t done;

    assert(count < WEIR_STREAM_PARTS_MAX && stream->lent == NULL);
    all[0] = head;
    for (size_t i = 0; i < count; i++)
        all[i + 1] = parts[i];
    if (try_parts(stream, all, count + 1, &sent) != 0)
        return WEIR_STREAM_BROKEN;
    if (sent < head.len) {
        int r = weir_buf_append(&stream->queue, weir_slice_sub(head, sent, head.len));

        if (r < 0)
            return r;
        sent = head.len;
    }
    done = advance(parts, count, sent - head.len);
    if (done == count && !stream->writing && weir_buf_len(&stream->queue) == 0)
        return 0;
    stream->lent = parts + done;
    stream->lent_count = count - done;
    pump(stream);
    return stream->broken ? WEIR_STREAM_BROKEN : WEIR_STREAM_WAITS;
}

static int fd_of(const struct weir_stream *stream)
{
    uv_os_fd_t fd = -1;

    return uv_fileno((const uv_handle_t *)&stream->tcp, &fd) == 0 ? fd : -1;
}

void weir_stream_shutdown(struct weir_stream *stream)
{
    int fd = fd_of(stream);

    if (fd >= 0)
        (void)shutdown(fd, SHUT_WR);
}

static void on_closed(uv_handle_t *handle)
{
    struct weir_stream *stream = of_handle(handle);

    weir_buf_deinit(&stream->sending);
    weir_buf_deinit(&stream->queue);
    stream->events->on_closed(stream);
}

/* Called before the handle closes: no loan outlives it. */
static bool begin_close(struct weir_stream *stream)
{
    if (stream->closing)
        return false;
    stream->closing = true;
    stream->reading = false;
    stream->lent = NULL;
    stream->lent_count = 0;
    return true;
}

void weir_stream_close(struct weir_stream *stream)
{
    if (begin_close(stream))
        uv_close((uv_handle_t *)&stream->tcp, on_closed);
}

void weir_stream_reset(struct weir_stream *stream)
{
    if (begin_close(stream) && uv_tcp_close_reset(&stream->tcp, on_closed) != 0)
        uv_close((uv_handle_t *)&stream->tcp, on_closed);
}

bool weir_stream_is_quiet(const struct weir_stream *stream)
{
    int fd = fd_of(stream);
    char byte;

    return fd >= 0 && recv(fd, &byte, 1, MSG_PEEK | MSG_DONTWAIT) < 0 && (errno == EAGAIN || errno == EINTR);
}
