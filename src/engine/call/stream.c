/*
 * The table says where an input leads and which clocks run; here chunks are turned into inputs, and clocks
 * are set.  A clock is the time at which it runs out, written when it begins anew, so that the next of them
 * is the least of a few numbers.
 *
 * Invariants: content is set from HOLDING on and never without a chunk; a clock that is off never ends.
 */
#include "engine/call/stream.h"

#include "base/time.h"

/* After a finish reason the usage and the end marker are due within this. */
static const uint64_t tail_ns = 5 * WEIR_NS_PER_S;

enum {
    TIMEOUT = 1 << WEIR_CLOCK_TIMEOUT,
    TTFT = 1 << WEIR_CLOCK_TTFT,
    IDLE = 1 << WEIR_CLOCK_IDLE,
    RATE = 1 << WEIR_CLOCK_RATE,
    TAIL = 1 << WEIR_CLOCK_TAIL
};

static const struct {
    unsigned stream;
    unsigned plain;
} clocks[WEIR_STREAM_STATES] = {
#define WEIR_STREAM_STATE(state, stream_clocks, plain_clocks, prose)                                         \
    [WEIR_STREAM_##state] = {(stream_clocks), (plain_clocks)},
#include "engine/tbl/stream.h"
};

static const unsigned char rows[WEIR_STREAM_STATES][WEIR_STREAM_INPUTS] = {
#define WEIR_STREAM_ROW(state, input, next, prose)                                                           \
    [WEIR_STREAM_##state][WEIR_STREAM_ON_##input] = WEIR_STREAM_##next,
#include "engine/tbl/stream.h"
};

/* A row twice is a warning of the compiler's; one that is missing shows here. */
enum {
    ROWS = 0
#define WEIR_STREAM_ROW(state, input, next, prose) +1
#include "engine/tbl/stream.h"
};
_Static_assert((int)ROWS == (int)WEIR_STREAM_STATES * (int)WEIR_STREAM_INPUTS,
               "a state and an input have no row");

enum weir_stream_state weir_stream_next(enum weir_stream_state state, enum weir_stream_input input)
{
    return state < WEIR_STREAM_STATES ? (enum weir_stream_state)rows[state][input] : state;
}

/* Begins the clocks that count from the beginning of the attempt, or from the end of a pause. */
static void begin_clocks(struct weir_stream *s, uint64_t now_ns)
{
    s->ends_ns[WEIR_CLOCK_TIMEOUT] = weir_time_add(now_ns, s->limits.timeout_ns);
    s->ends_ns[WEIR_CLOCK_TTFT] = weir_time_add(now_ns, s->limits.ttft_ns);
    s->ends_ns[WEIR_CLOCK_IDLE] = weir_time_add(now_ns, s->limits.idle_ns);
    s->ends_ns[WEIR_CLOCK_TAIL] = weir_time_add(now_ns, tail_ns);
}

void weir_stream_begin(struct weir_stream *stream, const struct weir_attempt_limits *limits, bool is_plain,
                       uint64_t now_ns)
{
    stream->is_plain = is_plain;
    stream->began_ns = now_ns;
    stream->limits = *limits;
    begin_clocks(stream, now_ns);
}

void weir_stream_feed(struct weir_stream *stream, enum weir_stream_input input)
{
    stream->opened |=
        input == WEIR_STREAM_ON_OPENED || input == WEIR_STREAM_ON_CHUNK || input == WEIR_STREAM_ON_CONTENT;
    stream->state = weir_stream_next(stream->state, input);
}

static uint64_t later(uint64_t a_ns, uint64_t b_ns)
{
    return a_ns > b_ns ? a_ns : b_ns;
}

static void note_chunk(struct weir_stream *s, uint64_t now_ns)
{
    if (s->chunks == 0) {
        s->first_chunk_ns = now_ns;
        s->ends_ns[WEIR_CLOCK_IDLE] = weir_time_add(now_ns, s->limits.idle_ns);
    } else if (!s->paused) {
        s->longest_silence_ns = later(s->longest_silence_ns, now_ns - s->heard_ns);
    }
    s->heard_ns = now_ns;
    s->chunks++;
}

static void begin_content(struct weir_stream *s, uint64_t now_ns)
{
    const struct weir_stream_hold *hold = &s->limits.hold;

    s->content = true;
    s->first_content_ns = now_ns;
    s->window_end_ns =
        hold->window_ns == WEIR_UNSET_NS ? WEIR_TIME_NEVER : weir_time_add(now_ns, hold->window_ns);
    s->ends_ns[WEIR_CLOCK_RATE] = weir_rate_begin(&s->rate, &s->limits.rate, now_ns);
}

static void note_content(struct weir_stream *s, const struct weir_stream_chunk *chunk, uint64_t now_ns)
{
    if (!s->content)
        begin_content(s, now_ns);
    s->deltas += chunk->deltas;
    s->text_bytes += chunk->text_bytes;
    s->ends_ns[WEIR_CLOCK_IDLE] = weir_time_add(now_ns, s->limits.idle_ns);
    weir_rate_count(&s->rate, chunk->deltas, now_ns);
    if (chunk->full || s->deltas >= s->limits.hold.tokens)
        s->window_end_ns = now_ns;
}

void weir_stream_chunk(struct weir_stream *stream, const struct weir_stream_chunk *chunk, uint64_t now_ns)
{
    /* What is too much to hold is shown, whatever it is. */
    bool content = chunk->deltas > 0 || chunk->full;

    note_chunk(stream, now_ns);
    stream->other |= chunk->other;
    if (content)
        note_content(stream, chunk, now_ns);
    weir_stream_feed(stream, content ? WEIR_STREAM_ON_CONTENT : WEIR_STREAM_ON_CHUNK);
    if (!chunk->finish)
        return;
    if (stream->state != WEIR_STREAM_ENDING)
        stream->ends_ns[WEIR_CLOCK_TAIL] = weir_time_add(now_ns, tail_ns);
    weir_stream_feed(stream, WEIR_STREAM_ON_FINISH);
}

void weir_stream_pause(struct weir_stream *stream, bool paused, uint64_t now_ns)
{
    if (stream->paused == paused)
        return;
    stream->paused = paused;
    if (stream->chunks > 0 && paused)
        stream->longest_silence_ns = later(stream->longest_silence_ns, now_ns - stream->heard_ns);
    if (paused)
        return;
    stream->heard_ns = now_ns;
    begin_clocks(stream, now_ns);
    if (stream->content)
        stream->ends_ns[WEIR_CLOCK_RATE] = weir_rate_begin(&stream->rate, &stream->limits.rate, now_ns);
}

static unsigned running(const struct weir_stream *s)
{
    if (s->paused || !weir_stream_runs(s))
        return 0;
    return s->is_plain ? clocks[s->state].plain : clocks[s->state].stream;
}

uint64_t weir_stream_due(const struct weir_stream *stream)
{
    unsigned on = running(stream);
    uint64_t due_ns = stream->state == WEIR_STREAM_HOLDING ? stream->window_end_ns : WEIR_TIME_NEVER;

    for (unsigned clock = 0; clock < WEIR_CLOCKS; clock++)
        if ((on >> clock & 1) != 0 && stream->ends_ns[clock] < due_ns)
            due_ns = stream->ends_ns[clock];
    return due_ns;
}

/* The clock of the speed ends with a look, which may put it off. */
static bool has_ended(struct weir_stream *s, enum weir_clock clock, uint64_t now_ns)
{
    if (s->ends_ns[clock] > now_ns)
        return false;
    return clock != WEIR_CLOCK_RATE || weir_rate_look(&s->rate, now_ns, &s->ends_ns[WEIR_CLOCK_RATE]);
}

bool weir_stream_is_late(struct weir_stream *stream, uint64_t now_ns, bool *ret_by_caller)
{
    unsigned on = running(stream);
    bool late = false, is_callers = false, own;
    uint64_t first_ns = 0;

    for (unsigned clock = 0; clock < WEIR_CLOCKS; clock++) {
        if ((on >> clock & 1) == 0 || !has_ended(stream, (enum weir_clock)clock, now_ns))
            continue;
        own = (stream->limits.by_caller >> clock & 1) != 0;
        /* The one that ended first; of two at once the one that counts. */
        if (late && (stream->ends_ns[clock] > first_ns || (stream->ends_ns[clock] == first_ns && own)))
            continue;
        late = true;
        is_callers = own;
        first_ns = stream->ends_ns[clock];
    }
    if (late)
        *ret_by_caller = is_callers;
    return late;
}

/* A time as one since the attempt began; what came with the beginning came a nanosecond later. */
static uint64_t since(const struct weir_stream *s, uint64_t time_ns)
{
    return time_ns > s->began_ns ? time_ns - s->began_ns : 1;
}

struct weir_stream_facts weir_stream_facts(const struct weir_stream *stream, uint64_t now_ns)
{
    struct weir_stream_facts facts = {
        .chunks = stream->chunks, .deltas = stream->deltas, .longest_silence_ns = stream->longest_silence_ns};

    if (stream->is_plain)
        return (struct weir_stream_facts){.chunks = 0};
    if (stream->chunks == 0)
        return facts;
    facts.first_chunk_ns = since(stream, stream->first_chunk_ns);
    if (stream->content)
        facts.first_content_ns = since(stream, stream->first_content_ns);
    if (!stream->paused)
        facts.longest_silence_ns = later(facts.longest_silence_ns, now_ns - stream->heard_ns);
    return facts;
}
