/*
 * Content is counted, not kept: what a client is confused by is who spoke and in which order, not what was
 * said.
 */
#include "caller_model.h"

#include <stddef.h>

static void complain(struct caller *caller, const char *offence)
{
    if (caller->complaint == NULL)
        caller->complaint = offence;
}

void caller_begin(struct caller *caller, bool may_continue, bool may_hedge)
{
    /* attempts are written when they start */
    caller->complaint = NULL;
    caller->may_continue = may_continue;
    caller->may_hedge = may_hedge;
    caller->over = caller->gone = caller->asked = false;
    caller->attempts[0] = (struct caller_attempt){.running = false};
    caller->attempt_count = 0;
    caller->output = (struct caller_output){.roles = 0};
}

uint32_t caller_running(const struct caller *caller, uint32_t above)
{
    for (uint32_t i = above + 1; i <= caller->attempt_count; i++) {
        if (caller->attempts[i].running)
            return i;
    }
    return 0;
}

/* Whether another attempt has answered, and is still what the caller will get. */
static bool is_beaten(const struct caller *caller, const struct caller_attempt *attempt)
{
    for (uint32_t i = 1; i <= caller->attempt_count; i++) {
        const struct caller_attempt *other = &caller->attempts[i];

        if (other != attempt && other->has_answered && !other->is_broken && !other->is_lost)
            return true;
    }
    return false;
}

void caller_check_rest(struct caller *caller)
{
    uint32_t first = caller_running(caller, 0);

    if (first == 0 || caller_running(caller, first) == 0)
        return;
    for (uint32_t i = first; i != 0; i = caller_running(caller, i)) {
        if (caller->attempts[i].has_answered || is_beaten(caller, &caller->attempts[i]))
            complain(caller, "a loser runs on");
    }
}

/* ---- the output ---- */

static void check_output(struct caller *caller)
{
    const struct caller_output *out = &caller->output;

    if (out->roles > 1)
        complain(caller, "a second role");
    if (out->finishes > 1)
        complain(caller, "a second finish reason");
    if (out->errors > 1 || (out->errors == 1 && !caller->over))
        complain(caller, "an error that is not the end");
    /* to a client that has left nothing is said any more */
    if (out->errors == 1 && out->finishes == 1 && !caller->gone)
        complain(caller, "an error beside a finish reason");
}

static void speak(struct caller *caller, uint32_t number)
{
    struct caller_output *out = &caller->output;

    if (out->errors > 0)
        complain(caller, "content after an error");
    if (out->speaker != number && out->speaker != 0 &&
        (!caller->attempts[number].continues || !caller->attempts[out->speaker].is_broken))
        complain(caller, "the text of one attempt mixed into that of another");
    out->speaker = number;
}

/* Puts out what is held, or what has just come. */
static void flush(struct caller *caller, uint32_t number)
{
    struct caller_attempt *attempt = &caller->attempts[number];
    struct caller_output *out = &caller->output;

    if (attempt->texts > 0 || attempt->tools > 0)
        speak(caller, number);
    if (attempt->has_role && !attempt->continues)
        out->roles++;
    out->texts += attempt->texts;
    out->tools += attempt->tools;
    out->finishes += attempt->has_finish;
    attempt->has_role = false;
    attempt->texts = 0;
    attempt->tools = 0;
    attempt->has_finish = false;
    check_output(caller);
}

/* ---- what attempts give ---- */

void caller_hear(struct caller *caller, uint32_t number, const struct weir_stream_chunk *chunk, bool is_role)
{
    struct caller_attempt *attempt = &caller->attempts[number];

    attempt->opened = true;
    attempt->has_role |= is_role;
    if (chunk->other)
        attempt->tools += chunk->deltas;
    else
        attempt->texts += chunk->deltas;
    attempt->has_finish |= chunk->finish;
    attempt->is_complete |= chunk->finish;
    attempt->has_answered |= chunk->finish || chunk->deltas > 0;
}

void caller_pass_on(struct caller *caller, uint32_t number)
{
    if (caller->attempts[number].committed)
        flush(caller, number);
}

void caller_end(struct caller *caller, uint32_t number, bool is_whole)
{
    struct caller_attempt *attempt = &caller->attempts[number];

    attempt->running = false;
    attempt->is_complete |= is_whole;
    attempt->has_answered |= is_whole;
    attempt->is_broken = !attempt->is_complete;
}

/* ---- steps ---- */

static void do_start(struct caller *caller, const struct weir_step *step)
{
    bool continues = step->kind == WEIR_STEP_CONTINUE;

    uint32_t beside = caller_running(caller, 0);

    if (beside != 0 && (continues || !caller->may_hedge || caller->attempts[beside].has_answered ||
                        caller_running(caller, beside) != 0))
        complain(caller, "an attempt beside another");
    if (step->attempt != caller->attempt_count + 1 || step->attempt > CALLER_ATTEMPTS_MAX) {
        complain(caller, "an attempt whose number does not follow");
        return;
    }
    if (continues != (caller->output.speaker != 0))
        complain(caller, "a continuation before content, or a start after it");
    if (continues && (!caller->may_continue || caller->output.tools > 0 || caller->output.texts == 0))
        complain(caller, "a continuation of what may not be continued");
    caller->attempts[++caller->attempt_count] =
        (struct caller_attempt){.running = true, .continues = continues};
}

static void do_commit(struct caller *caller, struct caller_attempt *attempt, uint32_t number)
{
    if (attempt->committed || (!attempt->running && !attempt->is_complete))
        complain(caller, "a commit too many");
    if (attempt->texts + attempt->tools == 0)
        complain(caller, "a commit without content");
    if (attempt->is_lost || is_beaten(caller, attempt))
        complain(caller, "a commit of a loser");
    attempt->committed = true;
    flush(caller, number);
}

static void do_cancel(struct caller *caller, struct caller_attempt *attempt)
{
    if (!attempt->running)
        complain(caller, "a cancel of an attempt that does not run");
    attempt->running = false;
    attempt->is_lost = is_beaten(caller, attempt) && !attempt->has_answered;
    attempt->is_broken = !attempt->is_complete && !attempt->is_lost;
}

static void do_deliver(struct caller *caller, const struct caller_attempt *attempt, uint32_t number)
{
    if (attempt->running || !attempt->is_complete)
        complain(caller, "an answer is delivered that is not complete");
    caller->over = true;
    flush(caller, number);
    /* an answer that ended without a finish reason of its own is complete all the same */
    if (caller->output.finishes == 0)
        caller->output.finishes = 1;
}

static void do_fail(struct caller *caller, const struct weir_fail *fail)
{
    if (fail->committed != (caller->output.speaker != 0))
        complain(caller, "a failure that says the wrong thing of what has gone out");
    caller->output.errors++;
    caller->over = true;
    check_output(caller);
}

void caller_perform(struct caller *caller, const struct weir_step *step)
{
    bool is_known = step->attempt <= caller->attempt_count;
    struct caller_attempt *attempt = &caller->attempts[is_known ? step->attempt : 0];

    if (caller->over)
        complain(caller, "a step after the end");
    switch (step->kind) {
    case WEIR_STEP_START:
    case WEIR_STEP_CONTINUE:
        do_start(caller, step);
        break;
    case WEIR_STEP_CANCEL:
        do_cancel(caller, attempt);
        break;
    case WEIR_STEP_ASK:
        caller->asked = true;
        caller->ask = step->u.ask;
        break;
    case WEIR_STEP_COMMIT:
        do_commit(caller, attempt, step->attempt);
        break;
    case WEIR_STEP_DELIVER:
        do_deliver(caller, attempt, step->attempt);
        break;
    case WEIR_STEP_FAIL:
        do_fail(caller, &step->u.fail);
        break;
    case WEIR_STEP_NONE:
    default:
        complain(caller, "an unknown step");
    }
}
