/*
 * A socket is an object of its own, which the loop frees when it has closed it; it knows its channel only as
 * long as the channel wants it.  While the dial races, several sockets are about, and none is the channel's.
 *
 * Every call out may close the channel.  So each function that calls out looks at `socket` or `open`
 * afterwards, or does nothing more.
 */
#include "net/channel.h"

#include <assert.h>
#include <string.h>

#include <weir/error.h>

#include "base/buf.h"
#include "base/container.h"
#include "base/slice.h"
#include "net/stream.h"

struct weir_channel_socket {
    struct weir_stream stream;
    struct weir_dial_attempt attempt;
    struct weir_channel *channel; /* NULL: nobody's any more */
    const struct weir_mem *mem;
};

static struct weir_channel_socket *socket_of(struct weir_stream *stream)
{
    return WEIR_CONTAINER(stream, struct weir_channel_socket, stream);
}

/* ---- the end ---- */

static void on_closed(struct weir_stream *stream)
{
    struct weir_channel_socket *own = socket_of(stream);

    own->mem->free(own->mem->user, own, sizeof(*own));
}

static void drop_socket(struct weir_channel_socket *own)
{
    own->channel = NULL;
    weir_stream_close(&own->stream);
}

void weir_channel_close(struct weir_channel *channel)
{
    if (!channel->open)
        return;
    channel->open = false;
    channel->ready = false;
    weir_dial_cancel(&channel->dial);
    weir_loop_cancel(channel->spec.loop, &channel->timer);
    if (channel->socket != NULL)
        drop_socket(channel->socket);
    channel->socket = NULL;
    weir_tls_free(channel->tls);
    channel->tls = NULL;
}

static void end(struct weir_channel *channel, enum weir_channel_end how, struct weir_slice detail)
{
    weir_channel_close(channel);
    channel->spec.events->on_end(channel, how, detail);
}

/* The reason lives in what is freed by closing. */
static void end_tls(struct weir_channel *channel, int r)
{
    char text[WEIR_TLS_TEXT_MAX];
    struct weir_slice reason = weir_tls_reason(channel->tls);

    if (r < 0) {
        end(channel, WEIR_CHANNEL_NOMEM, WEIR_SLICE("no memory is left"));
    } else if (r == WEIR_TLS_CLOSED) {
        end(channel, WEIR_CHANNEL_CLOSED, WEIR_SLICE_EMPTY);
    } else {
        reason = weir_slice_sub(reason, 0, sizeof(text));
        if (reason.len > 0)
            memcpy(text, reason.ptr, reason.len);
        end(channel, WEIR_CHANNEL_TLS, (struct weir_slice){text, reason.len});
    }
}

/* ---- writing ---- */

/* Sends what TLS has produced.  0, WEIR_CHANNEL_BROKEN or negative. */
static int flush_tls(struct weir_channel *channel)
{
    struct weir_buf *output = weir_tls_output(channel->tls);
    struct weir_slice bytes = weir_buf_slice(output);
    int r = bytes.len == 0 ? 0 : weir_stream_write(&channel->socket->stream, &bytes, 1);

    weir_buf_deinit(output);
    return r == WEIR_STREAM_BROKEN ? WEIR_CHANNEL_BROKEN : r;
}

/* In pieces, since what TLS makes of them is buffered between two of them only. */
static int write_tls(struct weir_channel *channel, struct weir_slice bytes)
{
    while (bytes.len > 0) {
        struct weir_slice piece = weir_slice_sub(bytes, 0, WEIR_LOOP_PLAIN_BYTES);
        int r = weir_tls_write(channel->tls, piece);

        if (r == 0)
            r = flush_tls(channel);
        else if (r > 0)
            r = WEIR_CHANNEL_BROKEN;
        if (r != 0)
            return r;
        bytes = weir_slice_sub(bytes, piece.len, bytes.len);
    }
    return 0;
}

int weir_channel_write(struct weir_channel *channel, struct weir_slice bytes)
{
    int r;

    assert(channel->ready);
    if (channel->tls != NULL)
        return write_tls(channel, bytes);
    r = weir_stream_write(&channel->socket->stream, &bytes, 1);
    return r == WEIR_STREAM_BROKEN ? WEIR_CHANNEL_BROKEN : r;
}

size_t weir_channel_waiting(const struct weir_channel *channel)
{
    return channel->socket == NULL ? 0 : weir_stream_waiting(&channel->socket->stream);
}

/* ---- reading ---- */

static void become_ready(struct weir_channel *channel)
{
    weir_loop_cancel(channel->spec.loop, &channel->timer);
    channel->ready = true;
    channel->spec.events->on_ready(channel);
}

/* Goes on with the handshake; false when it is not done, or failed. */
static bool shake(struct weir_channel *channel)
{
    int r = weir_tls_shake(channel->tls);

    /* What cannot be sent, an alert mostly, is for the reader to find out. */
    if (flush_tls(channel) < 0)
        r = WEIR_ERR_NOMEM;
    if (r == WEIR_TLS_WANT)
        return false;
    if (r != 0) {
        end_tls(channel, r);
        return false;
    }
    become_ready(channel);
    return channel->socket != NULL;
}

static void read_tls(struct weir_channel *channel, struct weir_slice bytes)
{
    char *room = weir_loop_plain_room(channel->spec.loop);
    size_t count;

    weir_tls_feed(channel->tls, bytes);
    if (!channel->ready && !shake(channel))
        return;
    while (channel->socket != NULL) {
        int r = weir_tls_read(channel->tls, room, WEIR_LOOP_PLAIN_BYTES, &count);

        if (r == 0) {
            channel->spec.events->on_read(channel, (struct weir_slice){room, count});
            continue;
        }
        if (flush_tls(channel) < 0)
            r = WEIR_ERR_NOMEM;
        if (r != WEIR_TLS_WANT)
            end_tls(channel, r);
        return;
    }
}

static void on_read(struct weir_stream *stream, struct weir_slice bytes)
{
    struct weir_channel *channel = socket_of(stream)->channel;

    if (channel == NULL)
        return;
    if (channel->tls != NULL)
        read_tls(channel, bytes);
    else
        channel->spec.events->on_read(channel, bytes);
}

static void on_eof(struct weir_stream *stream, bool broken)
{
    struct weir_channel *channel = socket_of(stream)->channel;

    if (channel == NULL)
        return;
    if (channel->tls != NULL && !channel->ready)
        end(channel, WEIR_CHANNEL_TLS, WEIR_SLICE("the connection was closed in the handshake"));
    else
        end(channel, WEIR_CHANNEL_CLOSED, broken ? WEIR_SLICE("connection reset") : WEIR_SLICE_EMPTY);
}

/* A write that failed is told by the reading side, which may have an answer to read first. */
static void on_flushed(struct weir_stream *stream, bool broken)
{
    (void)stream;
    (void)broken;
}

/* ---- becoming ready ---- */

static void on_connect(struct weir_stream *stream, int error)
{
    weir_dial_connected(&socket_of(stream)->attempt, error);
}

static const struct weir_stream_events socket_events = {.on_read = on_read,
                                                        .on_eof = on_eof,
                                                        .on_flushed = on_flushed,
                                                        .on_connect = on_connect,
                                                        .on_closed = on_closed};

static struct weir_dial_attempt *on_open(struct weir_dial *dial)
{
    struct weir_channel *channel = WEIR_CONTAINER(dial, struct weir_channel, dial);
    const struct weir_mem *mem = weir_loop_mem(dial->loop);
    struct weir_channel_socket *own = mem->alloc(mem->user, sizeof(*own));

    if (own == NULL)
        return NULL;
    memset(own, 0, sizeof(*own));
    if (weir_stream_init(&own->stream, dial->loop, &socket_events, channel->spec.max_queue_bytes) < 0) {
        mem->free(mem->user, own, sizeof(*own));
        return NULL;
    }
    own->mem = mem;
    own->attempt.stream = &own->stream;
    return &own->attempt;
}

static void on_drop(struct weir_dial_attempt *attempt)
{
    drop_socket(WEIR_CONTAINER(attempt, struct weir_channel_socket, attempt));
}

static void on_shake_timer(struct weir_timer *timer)
{
    end(WEIR_CONTAINER(timer, struct weir_channel, timer), WEIR_CHANNEL_TIMEOUT,
        WEIR_SLICE("the TLS handshake was not done in time"));
}

static void on_connected(struct weir_dial *dial, struct weir_dial_attempt *attempt)
{
    struct weir_channel *channel = WEIR_CONTAINER(dial, struct weir_channel, dial);
    const struct weir_channel_spec *spec = &channel->spec;

    channel->socket = WEIR_CONTAINER(attempt, struct weir_channel_socket, attempt);
    channel->socket->channel = channel;
    weir_stream_read_start(&channel->socket->stream);
    if (spec->tls == NULL) {
        become_ready(channel);
        return;
    }
    if (weir_tls_new(spec->tls, weir_loop_mem(spec->loop), spec->host, NULL, &channel->tls) < 0) {
        end(channel, WEIR_CHANNEL_NOMEM, WEIR_SLICE("TLS could not be set up"));
        return;
    }
    weir_loop_arm(spec->loop, &channel->timer, spec->by_ns);
    (void)shake(channel);
}

static enum weir_channel_end end_of(enum weir_dial_failure failure)
{
    switch (failure) {
    case WEIR_DIAL_NAME:
        return WEIR_CHANNEL_NAME;
    case WEIR_DIAL_TIMEOUT:
        return WEIR_CHANNEL_TIMEOUT;
    case WEIR_DIAL_NOMEM:
        return WEIR_CHANNEL_NOMEM;
    case WEIR_DIAL_REFUSED:
    case WEIR_DIAL_UNREACHABLE:
    case WEIR_DIAL_LIMIT:
        break;
    }
    return WEIR_CHANNEL_UNREACHABLE;
}

static void on_failed(struct weir_dial *dial, enum weir_dial_failure failure, const char *detail)
{
    end(WEIR_CONTAINER(dial, struct weir_channel, dial), end_of(failure), weir_slice_str(detail));
}

static const struct weir_dial_events dial_events = {
    .on_open = on_open, .on_drop = on_drop, .on_connected = on_connected, .on_failed = on_failed};

int weir_channel_open(struct weir_channel *channel, const struct weir_channel_spec *spec,
                      enum weir_channel_end *ret_end, const char **ret_detail)
{
    *channel = (struct weir_channel){.spec = *spec, .open = true};
    weir_timer_init(&channel->timer, on_shake_timer);
    channel->dial.events = &dial_events;
    channel->dial.loop = spec->loop;
    channel->dial.resolver = spec->resolver;
    channel->dial.host = spec->host;
    channel->dial.port = spec->port;
    channel->dial.by_ns = spec->by_ns;
    if (weir_dial_start(&channel->dial) == 0)
        return 0;
    weir_channel_close(channel);
    *ret_end = end_of(channel->dial.failure);
    *ret_detail = channel->dial.detail;
    return WEIR_CHANNEL_FAILED;
}
