/*
 * Undoing gzip and deflate of upstream answers, by zlib, within bounds.
 *
 *     do {
 *         r = weir_inflate_next(&inf, &input, room, sizeof(room), &len);
 *         ... len bytes of room ...
 *     } while (r == WEIR_INFLATE_MORE);
 *
 * Two limits stop a small answer that unfolds to an enormous one: the output in all, and, once the output is
 * over WEIR_INFLATE_RATIO_FLOOR, its ratio to the input.  Memory (about 40 KiB) is taken at the first byte.
 */
#ifndef WEIR_WIRE_INFLATE_H
#define WEIR_WIRE_INFLATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <weir/attr.h>
#include <weir/mem.h>
#include <weir/slice.h>

#ifndef ZLIB_CONST
#define ZLIB_CONST /* input is const */
#endif
#include <zlib.h>

#define WEIR_INFLATE_RATIO_FLOOR UINT64_C(1048576) /* 1 MiB */

enum weir_inflate_format {
    WEIR_INFLATE_GZIP,   /* one or more members, each with its checksum */
    WEIR_INFLATE_DEFLATE /* the zlib format, or the bare one that some servers send under that name */
};

struct weir_inflate {
    const struct weir_mem *mem;
    z_stream stream;
    uint64_t max_output_bytes;
    uint64_t max_ratio;
    uint64_t in_bytes;
    uint64_t out_bytes;
    enum weir_inflate_format format;
    bool started;
    bool whole; /* a member has ended and no other has begun */
    bool over;  /* nothing more is read */
};

/* Allocates nothing yet.  max_ratio is at least 1.  The object must not be moved until deinit. */
void weir_inflate_init(struct weir_inflate *inf, enum weir_inflate_format format, const struct weir_mem *mem,
                       uint64_t max_output_bytes, uint64_t max_ratio);

/* Accepts a zeroed object. */
void weir_inflate_deinit(struct weir_inflate *inf);

/* The format that a Content-Encoding value names. */
#define WEIR_INFLATE_UNKNOWN 1
WEIR_MUST_USE int weir_inflate_format_of(struct weir_slice content_encoding,
                                         enum weir_inflate_format *ret_format);

/* Conditions of weir_inflate_next. */
#define WEIR_INFLATE_MORE    1 /* room is full; call again, with more input or without */
#define WEIR_INFLATE_BAD     2 /* not this format, or damaged */
#define WEIR_INFLATE_TOO_BIG 3 /* one of the two limits */

/*
 * Takes from the front of *input and writes up to room_bytes (at least 1) to room.  *ret_len is always set.
 * 0: all input was taken and all its output given.  Input after the end of the data is ignored unless it is
 * another gzip member.  Negative: WEIR_ERR_NOMEM.
 */
WEIR_MUST_USE int weir_inflate_next(struct weir_inflate *inf, struct weir_slice *input, char *room,
                                    size_t room_bytes, size_t *ret_len);

/* The input is over: is the data complete?  An empty body is. */
bool weir_inflate_complete(const struct weir_inflate *inf);

#endif
