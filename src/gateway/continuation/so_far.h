/*
 * What the caller has of a streamed answer, as far as another deployment must know it to carry the answer on
 * when its stream breaks (decisions 32): the text, the names that the stream goes by, and what its attempts
 * used.
 *
 * The text is kept, decoded and from the memory budget, only while the answer may still be carried on: it is
 * dropped when there is more of it than WEIR_CONTINUE_TEXT_MAX, when the budget has no more room, and when
 * something comes that is not plain text.
 */
#ifndef WEIR_GATEWAY_SO_FAR_H
#define WEIR_GATEWAY_SO_FAR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <weir/attr.h>
#include <weir/call.h>
#include <weir/mem.h>
#include <weir/slice.h>

#include "base/arena.h"
#include "base/buf.h"
#include "gateway/attempt/cost.h"
#include "provider/dialect.h"

enum { WEIR_SO_FAR_USAGE_MAX = 64 * 1024 };

/* Members of a chunk that are the same in all chunks of an answer. */
enum weir_identity {
    WEIR_IDENTITY_ID,
    WEIR_IDENTITY_OBJECT,
    WEIR_IDENTITY_CREATED,
    WEIR_IDENTITY_MODEL,
    WEIR_IDENTITY_FINGERPRINT,
    WEIR_IDENTITIES
};

struct weir_so_far {
    uint32_t attempt; /* that speaks, or spoke last */
    bool keeps;       /* the answer may be carried on so far */
    bool named;
    bool explains;                /* parts are kept */
    struct weir_slice deployment; /* of the attempt; where parts are kept */
    struct weir_buf text;
    uint64_t deltas; /* that text came in */
    /* By enum weir_identity; of a member that the stream does not have the value is empty. */
    struct weir_param identity[WEIR_IDENTITIES];
    struct weir_buf usage;     /* JSON of what the running attempt told; empty: nothing */
    struct weir_buf used;      /* JSON of what the attempts before it told, added up; empty: nothing */
    struct weir_buf parts;     /* JSON of what each attempt before it told, with commas between */
    struct weir_usage running; /* the counts of usage */
    struct weir_usage before;  /* the counts of used */
    struct weir_cost running_cost;
    struct weir_cost before_cost;
};

/* A zeroed one holds nothing and keeps nothing. */
void weir_so_far_init(struct weir_so_far *so_far, const struct weir_mem *budget);

/* Accepts a zeroed one. */
void weir_so_far_deinit(struct weir_so_far *so_far);

/* An attempt begins a new answer, and nothing of an earlier one was given to the caller. */
void weir_so_far_begin(struct weir_so_far *so_far, uint32_t attempt, bool keeps);

/* Before the first attempt: what each one told is to be known by itself too (beyond 3). */
void weir_so_far_explain(struct weir_so_far *so_far);

/* The attempt that speaks now is of this deployment, whose id lives as long. */
void weir_so_far_note_speaker(struct weir_so_far *so_far, struct weir_slice deployment);

/*
 * Appends the member "weir" that tells what each attempt told of its usage, the last one this; nothing where
 * no parts are kept.  0 or the failure of the buffer.
 */
WEIR_MUST_USE int weir_so_far_put_parts(const struct weir_so_far *so_far, struct weir_slice last,
                                        struct weir_buf *out);

/* The stream has broken; another attempt carries on. */
void weir_so_far_carry_on(struct weir_so_far *so_far, uint32_t attempt);

/* The name of a member. */
struct weir_slice weir_identity_name(enum weir_identity identity);

/* Remembers the names in a chunk's data; reported is the model's for the caller.  Without memory there are
 * none. */
void weir_so_far_note_names(struct weir_so_far *so_far, struct weir_slice data, struct weir_slice reported,
                            struct weir_arena *arena);

/*
 * Takes a chunk before it is told to the engine; *ret_bytes of text are in it, for which there is room then.
 * 0, also while nothing is kept (*ret_bytes is 0), or WEIR_SO_FAR_LOST: the answer cannot be carried on
 * behind it.
 */
#define WEIR_SO_FAR_LOST 1
WEIR_MUST_USE int weir_so_far_take(struct weir_so_far *so_far, const struct weir_chunk *facts,
                                   size_t *ret_bytes);

/* Room for bytes of text more, while it keeps; false: the answer cannot be carried on any more. */
bool weir_so_far_reserve(struct weir_so_far *so_far, size_t bytes);

/* The caller gets this text (encoded: it stands in JSON), for which there is room. */
void weir_so_far_add(struct weir_so_far *so_far, struct weir_slice text);
void weir_so_far_add_encoded(struct weir_so_far *so_far, struct weir_slice raw);

/* Nothing more is kept. */
void weir_so_far_stop(struct weir_so_far *so_far);

/* The running attempt has told its usage in a chunk with this data; a later one takes its place. */
void weir_so_far_note_usage(struct weir_so_far *so_far, struct weir_slice data,
                            const struct weir_usage *counts, struct weir_cost cost);

#endif
