/*
 * zlib asks for memory by count and size and gives it back without, so each block remembers its size in front
 * of itself.  The two limits are looked at after every step, whose output is bounded by the caller's room: at
 * most one room more than the limits is ever unfolded.
 */
#include "wire/inflate.h"

#include <stdalign.h>
#include <string.h>

#include <weir/error.h>

#include "base/slice.h"

enum {
    HEAD_BYTES = alignof(max_align_t),
    GZIP_WINDOW = 15 + 16, /* zlib's way of saying "gzip only" */
    ZLIB_WINDOW = 15,
    RAW_WINDOW = -15,
};

static void *zlib_alloc(void *user, unsigned count, unsigned size)
{
    const struct weir_inflate *inf = user;
    size_t bytes = HEAD_BYTES + (size_t)count * size;
    char *block = inf->mem->alloc(inf->mem->user, bytes);

    if (block == NULL)
        return NULL;
    memcpy(block, &bytes, sizeof(bytes));
    return block + HEAD_BYTES;
}

static void zlib_free(void *user, void *ptr)
{
    const struct weir_inflate *inf = user;
    char *block = (char *)ptr - HEAD_BYTES;
    size_t bytes;

    memcpy(&bytes, block, sizeof(bytes));
    inf->mem->free(inf->mem->user, block, bytes);
}

void weir_inflate_init(struct weir_inflate *inf, enum weir_inflate_format format, const struct weir_mem *mem,
                       uint64_t max_output_bytes, uint64_t max_ratio)
{
    *inf = (struct weir_inflate){
        .mem = mem, .format = format, .max_output_bytes = max_output_bytes, .max_ratio = max_ratio};
}

void weir_inflate_deinit(struct weir_inflate *inf)
{
    if (inf->started)
        (void)inflateEnd(&inf->stream);
    inf->started = false;
}

int weir_inflate_format_of(struct weir_slice content_encoding, enum weir_inflate_format *ret_format)
{
    struct weir_slice name = weir_slice_trim(content_encoding);

    if (weir_slice_eq_ci(name, WEIR_SLICE("gzip")) || weir_slice_eq_ci(name, WEIR_SLICE("x-gzip")))
        *ret_format = WEIR_INFLATE_GZIP;
    else if (weir_slice_eq_ci(name, WEIR_SLICE("deflate")))
        *ret_format = WEIR_INFLATE_DEFLATE;
    else
        return WEIR_INFLATE_UNKNOWN;
    return 0;
}

/* The first byte of the zlib format names method 8 in its low half; that of bare deflate never does in
 * practice: it would be a stored block whose padding is not zero. */
static int window_of(const struct weir_inflate *inf, char first)
{
    if (inf->format == WEIR_INFLATE_GZIP)
        return GZIP_WINDOW;
    return (first & 0x0f) == 8 ? ZLIB_WINDOW : RAW_WINDOW;
}

static int start(struct weir_inflate *inf, char first)
{
    inf->stream = (z_stream){.zalloc = zlib_alloc, .zfree = zlib_free, .opaque = inf};
    if (inflateInit2(&inf->stream, window_of(inf, first)) != Z_OK)
        return WEIR_ERR_NOMEM;
    inf->started = true;
    return 0;
}

/* After the end of the data: another member begins, or the rest is of no interest. */
static int go_on(struct weir_inflate *inf, char first)
{
    if (inf->format != WEIR_INFLATE_GZIP || first != '\x1f') {
        inf->over = true;
        return 0;
    }
    inf->whole = false;
    return inflateReset(&inf->stream) == Z_OK ? 0 : WEIR_ERR_INTERNAL;
}

static int prepare(struct weir_inflate *inf, struct weir_slice input)
{
    if (input.len == 0 || inf->over)
        return 0;
    if (!inf->started)
        return start(inf, input.ptr[0]);
    return inf->whole ? go_on(inf, input.ptr[0]) : 0;
}

static bool is_too_big(const struct weir_inflate *inf)
{
    if (inf->out_bytes > inf->max_output_bytes)
        return true;
    return inf->out_bytes > WEIR_INFLATE_RATIO_FLOOR && inf->out_bytes / inf->max_ratio > inf->in_bytes;
}

static unsigned cut_to_unsigned(size_t n)
{
    return n > UINT32_MAX / 2 ? UINT32_MAX / 2 : (unsigned)n;
}

/* One run of zlib; what it took and gave is counted. */
static int run(struct weir_inflate *inf, struct weir_slice *input, char *room, size_t room_bytes,
               size_t *ret_len)
{
    z_stream *z = &inf->stream;
    unsigned in = cut_to_unsigned(input->len), out = cut_to_unsigned(room_bytes);
    int result;

    z->next_in = (const unsigned char *)(in == 0 ? "" : input->ptr);
    z->avail_in = in;
    z->next_out = (unsigned char *)room;
    z->avail_out = out;
    result = inflate(z, Z_NO_FLUSH);
    *input = weir_slice_sub(*input, in - z->avail_in, input->len);
    *ret_len = out - z->avail_out;
    inf->in_bytes += in - z->avail_in;
    inf->out_bytes += *ret_len;
    return result;
}

static int step(struct weir_inflate *inf, struct weir_slice *input, char *room, size_t room_bytes,
                size_t *ret_len)
{
    switch (run(inf, input, room, room_bytes, ret_len)) {
    case Z_STREAM_END:
        inf->whole = true;
        break;
    case Z_OK:
    case Z_BUF_ERROR: /* no progress was possible: more input or more room is needed */
        break;
    case Z_MEM_ERROR:
        return WEIR_ERR_NOMEM;
    default:
        return WEIR_INFLATE_BAD;
    }
    if (is_too_big(inf))
        return WEIR_INFLATE_TOO_BIG;
    return *ret_len == room_bytes ? WEIR_INFLATE_MORE : 0;
}

int weir_inflate_next(struct weir_inflate *inf, struct weir_slice *input, char *room, size_t room_bytes,
                      size_t *ret_len)
{
    size_t len = 0;
    int r = 0;

    while (r == 0) {
        size_t piece = 0;

        r = prepare(inf, *input);
        if (r < 0 || !inf->started || inf->over || (inf->whole && input->len == 0))
            break;
        r = step(inf, input, room + len, room_bytes - len, &piece);
        len += piece;
        if (input->len == 0)
            break;
    }
    if (inf->over)
        *input = WEIR_SLICE_EMPTY;
    *ret_len = len;
    return r;
}

bool weir_inflate_complete(const struct weir_inflate *inf)
{
    return inf->whole || !inf->started;
}
