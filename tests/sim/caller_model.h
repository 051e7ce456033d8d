/*
 * A caller in small, who believes all that a call tells it: it holds what an attempt gives until COMMIT and
 * passes on what comes after it, drops the role of an attempt that continues, and ends with DELIVER or FAIL.
 *
 * What it has put out, and what it was asked to do, must always be such that a client is not confused:
 *   - one role and one finish reason at most, and no finish reason without a whole answer;
 *   - nothing after an error, and no error but at the end;
 *   - the text of one attempt only, or of attempts that continue one another, all but the last broken;
 *   - one attempt at a time, or two while neither has answered, and none that runs when the call is over.
 * The first offence is kept as a complaint.
 */
#ifndef TEST_SIM_CALLER_MODEL_H
#define TEST_SIM_CALLER_MODEL_H

#include <stdbool.h>
#include <stdint.h>

#include <weir/weir.h>

#define CALLER_ATTEMPTS_MAX 64

/* One attempt as the caller sees it. */
struct caller_attempt {
    bool running;
    bool opened;
    bool paused;
    bool continues;
    bool committed;
    bool is_complete;  /* gave a finish reason or its end */
    bool has_answered; /* that, or content */
    bool is_broken;
    bool is_lost; /* stopped because another one had answered */
    /* held until it is committed */
    bool has_role;
    bool has_finish;
    uint32_t texts;
    uint32_t tools;
};

/* What the caller's client has got. */
struct caller_output {
    uint32_t roles;
    uint32_t texts;
    uint32_t tools;
    uint32_t finishes;
    uint32_t errors;
    uint32_t speaker; /* the attempt that spoke last; 0: none did */
};

struct caller {
    const char *complaint; /* NULL: there is none */
    bool may_continue;
    bool may_hedge;
    bool over;
    bool gone;
    bool asked;
    struct weir_ask ask;
    struct caller_attempt attempts[CALLER_ATTEMPTS_MAX + 1]; /* by number; the first is nobody's */
    uint32_t attempt_count;
    struct caller_output output;
};

void caller_begin(struct caller *caller, bool may_continue, bool may_hedge);

/* The running attempt with the lowest number above the given one; 0: there is none. */
uint32_t caller_running(const struct caller *caller, uint32_t above);

/* What a running attempt gives, before the call is told; then caller_pass_on. */
void caller_hear(struct caller *caller, uint32_t number, const struct weir_stream_chunk *chunk, bool is_role);
void caller_pass_on(struct caller *caller, uint32_t number);
/* The running attempt has ended by itself: whole, or by a failure. */
void caller_end(struct caller *caller, uint32_t number, bool is_whole);
/* The call has said all for now: what must hold of those that run. */
void caller_check_rest(struct caller *caller);

void caller_perform(struct caller *caller, const struct weir_step *step);

#endif
