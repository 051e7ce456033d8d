/*
 * One attempt's answer as it comes in, streamed or plain: how far it is, what was seen of it, and which
 * limits of time run (tbl/stream.h).
 *
 * It knows no call: whose attempt it is, and what follows, is the business of run.c.
 */
#ifndef WEIR_ENGINE_STREAM_H
#define WEIR_ENGINE_STREAM_H

#include <stdbool.h>
#include <stdint.h>

#include <weir/call.h>
#include <weir/event.h>

#include "engine/call/rate.h"
#include "engine/snapshot/limits.h"

enum weir_stream_state {
#define WEIR_STREAM_STATE(state, stream_clocks, plain_clocks, prose) WEIR_STREAM_##state,
#include "engine/tbl/stream.h"
    WEIR_STREAM_STATES, /* those in which the attempt runs */
    WEIR_STREAM_BEFORE_ENDS = WEIR_STREAM_STATES - 1,
#define WEIR_STREAM_END(state, prose) WEIR_STREAM_##state,
#include "engine/tbl/stream.h"
};

enum weir_stream_input {
#define WEIR_STREAM_INPUT(input, prose) WEIR_STREAM_ON_##input,
#include "engine/tbl/stream.h"
    WEIR_STREAM_INPUTS
};

struct weir_stream {
    enum weir_stream_state state;
    bool is_plain;
    bool paused;
    bool opened;
    bool content; /* there was some: it is committed when the window is over */
    bool other;   /* and it was not all plain text */
    uint32_t chunks;
    uint32_t deltas;
    uint64_t text_bytes;
    uint64_t began_ns;
    uint64_t heard_ns; /* the last chunk, or the end of a pause */
    uint64_t first_chunk_ns;
    uint64_t first_content_ns;
    uint64_t longest_silence_ns;
    uint64_t window_end_ns; /* of the commit window; while HOLDING */
    uint64_t ends_ns[WEIR_CLOCKS];
    struct weir_rate rate;
    struct weir_attempt_limits limits;
};

/* What the table says. */
enum weir_stream_state weir_stream_next(enum weir_stream_state state, enum weir_stream_input input);

/* Begins with an attempt: ASKED.  The stream is zeroed. */
void weir_stream_begin(struct weir_stream *stream, const struct weir_attempt_limits *limits, bool is_plain,
                       uint64_t now_ns);

static inline bool weir_stream_runs(const struct weir_stream *stream)
{
    return stream->state < WEIR_STREAM_STATES;
}

/* Whether it has given what a caller waits for: content, a whole answer or, of a plain one, its head. */
static inline bool weir_stream_has_answered(const struct weir_stream *stream)
{
    return stream->content || (stream->is_plain && stream->opened) || stream->state == WEIR_STREAM_ENDING ||
           stream->state == WEIR_STREAM_DONE;
}

/* Takes an input that is no chunk. */
void weir_stream_feed(struct weir_stream *stream, enum weir_stream_input input);

/* Takes a chunk while the attempt runs: counts it, and feeds CHUNK or CONTENT, and FINISH. */
void weir_stream_chunk(struct weir_stream *stream, const struct weir_stream_chunk *chunk, uint64_t now_ns);

/* Stops all clocks, or begins them anew. */
void weir_stream_pause(struct weir_stream *stream, bool paused, uint64_t now_ns);

/* When to look at it next: the soonest end of a clock or of the window; WEIR_TIME_NEVER. */
uint64_t weir_stream_due(const struct weir_stream *stream);

/* Whether a clock has run out; *ret_by_caller then says whether it is the caller's own alone. */
bool weir_stream_is_late(struct weir_stream *stream, uint64_t now_ns, bool *ret_by_caller);

/* Whether the window is over, so that WINDOW_OVER is due. */
static inline bool weir_stream_window_is_over(const struct weir_stream *stream, uint64_t now_ns)
{
    return stream->state == WEIR_STREAM_HOLDING && stream->window_end_ns <= now_ns;
}

/* What was seen of it, up to the end, which is now; zeros for a plain answer. */
struct weir_stream_facts weir_stream_facts(const struct weir_stream *stream, uint64_t now_ns);

#endif
