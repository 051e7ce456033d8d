/*
 * The chunks of an attempt that carries on a broken answer, written so that the caller sees one answer
 * (router-semantics 14.4, decisions 32): the names of the first stream, no second role, text without a seam,
 * and the usage of all attempts.  What else a chunk holds stays byte for byte.
 *
 * Start-up chunks are dropped, as are chunks whose text was all a repeat.  A chunk is told to the engine
 * between weir_continued_take, which says what of its text passes, and weir_continued_write; one that ends
 * the attempt is not written.
 */
#ifndef WEIR_GATEWAY_CONTINUED_H
#define WEIR_GATEWAY_CONTINUED_H

#include <stdbool.h>
#include <stddef.h>

#include <weir/attr.h>
#include <weir/slice.h>

#include "base/arena.h"
#include "base/buf.h"
#include "gateway/continuation/seam.h"
#include "gateway/continuation/so_far.h"
#include "provider/dialect.h"
#include "wire/sse.h"

/* Of what was held back, of the piece, and of what the seam gives up at the end. */
enum { WEIR_CONTINUED_PARTS = 3 };

/* What is done with the chunk that was taken last. */
struct weir_continued_chunk {
    struct weir_slice before;                     /* text that goes out ahead of it, in a chunk of its own */
    struct weir_slice text[WEIR_CONTINUED_PARTS]; /* stands for its text; to be joined */
    bool as_written;                              /* its text stays as it is instead */
};

struct weir_continued {
    struct weir_so_far *so_far;
    struct weir_slice prefill; /* the text so far when it began; in the arena */
    struct weir_seam seam;
    bool begun; /* it has had content: what is empty is no start-up any more */
    struct weir_continued_chunk taken;
    struct weir_buf piece;  /* the new text, decoded */
    struct weir_buf values; /* what is put into a chunk */
    struct weir_buf out;    /* what was written last */
};

/*
 * In the arena; buffers from the budget, none of them larger than max_bytes.  shown is what of the text so
 * far the deployment gets.  The memory of so_far's names must last.  NULL without memory.
 */
struct weir_continued *weir_continued_new(struct weir_so_far *so_far, const struct weir_mem *budget,
                                          size_t max_bytes, struct weir_arena *arena);

/* How much of the prefill the deployment is shown; before the first chunk. */
void weir_continued_show(struct weir_continued *continued, size_t shown);

/* Accepts NULL. */
void weir_continued_deinit(struct weir_continued *continued);

/* Takes a chunk; *ret_bytes of text will pass.  0, WEIR_SO_FAR_LOST: the chunk passes, but the answer cannot
 * be carried on behind it; or negative: memory. */
WEIR_MUST_USE int weir_continued_take(struct weir_continued *continued, const struct weir_chunk *facts,
                                      size_t *ret_bytes);

/*
 * What the caller gets of the event, whose chunk was taken if it has data: until the next one.  Empty:
 * nothing.  An end marker needs not be taken.  0 or negative.
 */
WEIR_MUST_USE int weir_continued_write(struct weir_continued *continued, const struct weir_sse_event *event,
                                       const struct weir_chunk *facts, struct weir_slice *ret_bytes);

#endif
