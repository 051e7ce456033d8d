/*
 * Splitting a stream of server-sent events (WHATWG HTML 9.2.6).
 *
 *     while ((r = weir_sse_next(&sse, &input, &event)) == WEIR_SSE_EVENT)
 *         ...
 *
 * An event is a run of lines up to an empty one.  One that lies whole inside the input is told without a
 * copy; one that is cut is gathered in a bounded buffer.  The raw slices, joined, are the input byte for
 * byte, with blank lines, comments and all but a byte-order mark at its front, so that a relay may pass on
 * what it has looked at.  LF, CR LF and CR end a line; an event whose last CR is the last byte at hand is
 * told at once, and an LF that follows goes to the front of the next raw slice.
 *
 * One splitter belongs to one thread.
 */
#ifndef WEIR_WIRE_SSE_H
#define WEIR_WIRE_SSE_H

#include <stdbool.h>
#include <stddef.h>

#include <weir/attr.h>
#include <weir/mem.h>
#include <weir/slice.h>

#include "base/buf.h"

/*
 * Slices live until the next call with the same splitter, and not longer than the input they came with.
 * name, id and data are the fields' values without the one blank after the colon; several data lines are
 * joined with LF.  other covers the lines that are no fields of this format, from the first such line to the
 * end of the last: servers have been seen to write bare JSON and "error: {...}".
 */
struct weir_sse_event {
    struct weir_slice raw; /* the event's bytes, with the empty line that ends it */
    struct weir_slice name;
    struct weir_slice id;
    struct weir_slice data;
    struct weir_slice other;
    bool has_data; /* data may be there and empty; without it (comments, blank lines) a client sees nothing */
    bool lone_cr;  /* a CR alone has ended a line of this stream: lines of raw may end so */
};

struct weir_sse {
    struct weir_buf held;   /* the front of an event that is not whole yet; or the one last told */
    struct weir_buf joined; /* data of several lines */
    bool told_held;         /* held is the event last told and goes at the next call */
    bool started;           /* something came: a byte-order mark is no longer expected */
    bool after_cr;          /* the last byte was a CR: an LF would belong to it */
    bool lone_cr;           /* a CR had none */
    bool in_line;           /* the current line has at least one byte */
    size_t max_event_bytes;
};

/* Allocates nothing yet. */
void weir_sse_init(struct weir_sse *sse, const struct weir_mem *mem, size_t max_event_bytes);

/* Accepts a zeroed splitter. */
void weir_sse_deinit(struct weir_sse *sse);

/* Conditions of weir_sse_next and weir_sse_finish. */
#define WEIR_SSE_EVENT    1
#define WEIR_SSE_TOO_LONG 2 /* an event has more than max_event_bytes; the splitter is of no more use */

/* Takes the next event off the front of *input.  0: all was taken.  Negative: WEIR_ERR_NOMEM. */
WEIR_MUST_USE int weir_sse_next(struct weir_sse *sse, struct weir_slice *input,
                                struct weir_sse_event *ret_event);

/*
 * The stream is over: what came after the last empty line is told as an event of its own, once.  0: nothing
 * was left.  The WHATWG text drops such an event; providers end streams so, hence it is told.
 */
WEIR_MUST_USE int weir_sse_finish(struct weir_sse *sse, struct weir_sse_event *ret_event);

/*
 * Appends an event whose data is the JSON in these parts, joined, in one line.  0, or the failure of the
 * buffer; what it holds then is not to be sent.
 */
WEIR_MUST_USE int weir_sse_write_json(struct weir_buf *out, const struct weir_slice *parts, size_t count);

#endif
