/*
 * The limits of time of a stream and its commit window, written down a second time (decisions 17, beyond.md 1
 * and 2): when an attempt must be broken off, and when its content may go out.
 *
 * The model hears what the engine hears.  An attempt that is told a piece must not have been overdue; one
 * that is cancelled must be due at that very time, or its call's deadline is, or its caller has left.
 */
#ifndef TEST_SIM_CLOCK_MODEL_H
#define TEST_SIM_CLOCK_MODEL_H

#include "engine_kit.h"

/* Tokens that are remembered; more of them in one attempt are not measured. */
#define CLOCK_TOKENS_MAX 64

struct clock {
    struct weir_limits limits; /* found for the attempt; a timeout of a stream is in timeout_ns */
    bool is_stream;
    bool continues;
    bool opened;
    bool paused;
    bool committed;
    bool is_full;
    bool is_complete;
    uint32_t deltas;
    uint64_t began_ns; /* or the end of the last pause */
    uint64_t first_chunk_ns;
    uint64_t first_content_ns;
    uint64_t last_content_ns;
    uint64_t complete_ns;
    uint64_t tokens_ns[CLOCK_TOKENS_MAX]; /* when each of them came */
};

void clock_begin(struct clock *clock, const struct kit_call *call, const struct kit_attempt *attempt);
/* until_ns: when the time of the call is up. */
void clock_tell(struct clock *clock, const struct kit_call *call, const struct kit_piece *piece,
                uint64_t until_ns);
void clock_commit(struct clock *clock, const struct kit_call *call);
void clock_cancel(const struct clock *clock, const struct kit_call *call, uint64_t until_ns);

/* Since the beginning of the call; WEIR_UNSET_NS: there is no deadline. */
uint64_t clock_deadline(const struct clock *clock);

#endif
