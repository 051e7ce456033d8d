/*
 * A message is written into a bounded buffer in the call's arena: the failure's own words first, then the
 * retries, then the walk.  Details of other groups are cut at DETAIL_MAX, so a long chain cannot make a
 * message of any length.
 */
#include "gateway/answer/fail_text.h"

#include <weir/error.h>

#include "base/slice.h"
#include "base/text.h"
#include "base/time.h"
#include "gateway/attempt/upstream.h"
#include "provider/endpoint.h"
#include "provider/message.h"

enum { MESSAGE_MAX = 16 * 1024, DETAIL_MAX = 2000 };

/* Appends until something fails; then the message stays as it was so far. */
struct message {
    struct weir_buf buf;
    int error;
};

static void say(struct message *message, struct weir_slice text)
{
    if (message->error == 0)
        message->error = weir_buf_append(&message->buf, text);
}

static void say_u64(struct message *message, uint64_t number)
{
    char digits[WEIR_TEXT_U64_MAX];

    say(message, weir_text_u64(number, digits));
}

const struct weir_failed *weir_failed_find(const struct weir_failed *newest, uint32_t attempt)
{
    while (newest != NULL && newest->attempt != attempt)
        newest = newest->next;
    return newest;
}

uint64_t weir_fail_retry_after_s(const struct weir_fail *fail)
{
    if (fail->reason != WEIR_REASON_NO_DEPLOYMENTS)
        return 0;
    if (fail->failure.retry_after_ns <= WEIR_NS_PER_S)
        return 1;
    return (fail->failure.retry_after_ns - 1) / WEIR_NS_PER_S + 1;
}

/* The form of router-semantics 16.4. */
static void say_no_deployments(struct message *message, const struct weir_fail *fail,
                               const struct weir_slice *cooling, size_t count)
{
    say(message,
        WEIR_SLICE("litellm.RateLimitError: RateLimitError: No deployments available for selected model, "
                   "Try again in "));
    say_u64(message, weir_fail_retry_after_s(fail));
    say(message, WEIR_SLICE(" seconds. "));
    if (count > 0)
        say(message, WEIR_SLICE("All deployments for selected model are in cooldown. "));
    say(message, WEIR_SLICE("Passed model="));
    say(message, fail->group);
    say(message, WEIR_SLICE(". pre-call-checks=False, cooldown_list=["));
    for (size_t i = 0; i < count; i++) {
        say(message, i == 0 ? WEIR_SLICE("'") : WEIR_SLICE(", '"));
        say(message, cooling[i]);
        say(message, WEIR_SLICE("'"));
    }
    say(message, WEIR_SLICE("]"));
}

/* "litellm.Class: Class: text", for failures that no provider's words are known of. */
static void say_plain(struct message *message, weir_kind kind, struct weir_slice text)
{
    if (message->error == 0)
        message->error = weir_failure_message(kind, WEIR_SLICE_EMPTY, text, &message->buf);
}

static void say_attempt(struct message *message, const struct weir_fail *fail,
                        const struct weir_failed *failed)
{
    struct weir_slice text = fail->reason == WEIR_REASON_CONTENT_FILTERED
                                 ? WEIR_SLICE("The answer was stopped by the provider's content filter "
                                              "(finish_reason content_filter)")
                                 : failed->verdict.text;

    if (message->error == 0)
        message->error = weir_failure_message(
            fail->failure.kind, failed->upstream->endpoint->provider->display, text, &message->buf);
}

static void say_unknown_model(struct message *message, struct weir_slice group)
{
    say(message, WEIR_SLICE("litellm.BadRequestError: You passed in model="));
    say(message, group);
    say(message, WEIR_SLICE(". There are no healthy deployments for this model"));
}

static void say_paused(struct message *message, struct weir_slice group)
{
    say(message, WEIR_SLICE("litellm.ServiceUnavailableError: ServiceUnavailableError: deployment "));
    say(message, group);
    say(message, WEIR_SLICE(" is currently paused"));
}

static void say_cause(struct message *message, const struct weir_fail *fail, const struct weir_failed *failed,
                      const struct weir_slice *cooling, size_t cooling_count)
{
    switch (fail->reason) {
    case WEIR_REASON_NO_DEPLOYMENTS:
        say_no_deployments(message, fail, cooling, cooling_count);
        return;
    case WEIR_REASON_UNKNOWN_MODEL:
        say_unknown_model(message, fail->group);
        return;
    case WEIR_REASON_PAUSED:
        say_paused(message, fail->group);
        return;
    case WEIR_REASON_MOCK:
        say_plain(message, fail->failure.kind,
                  WEIR_SLICE("This is a mock failure that the request asked for"));
        return;
    case WEIR_REASON_CLIENT_GONE:
        say_plain(message, fail->failure.kind, WEIR_SLICE("The client has left"));
        return;
    case WEIR_REASON_NOMEM:
        say_plain(message, fail->failure.kind, WEIR_SLICE("The call needed more memory than it may use"));
        return;
    case WEIR_REASON_ATTEMPT:
    case WEIR_REASON_TIMEOUT:
    case WEIR_REASON_CONTENT_FILTERED:
    case WEIR_REASON_MINUTE_LIMIT:
    case WEIR_REASON_SLOTS:
    case WEIR_REASON_USAGE:
    case WEIR_REASON_TAGS:
    case WEIR_REASON_PROMPT_TOO_LONG:
    case WEIR_REASON_UNSUITABLE:
    case WEIR_REASON_USAGE_LIMIT:
        break;
    }
    if (failed != NULL)
        say_attempt(message, fail, failed);
    else
        say_plain(message, fail->failure.kind,
                  fail->reason == WEIR_REASON_TIMEOUT ? WEIR_SLICE("Request timed out.")
                                                      : WEIR_SLICE("The attempt failed"));
}

static struct weir_slice type_of(const struct weir_fail *fail, const struct weir_failed *failed, bool cooling)
{
    if (fail->reason == WEIR_REASON_NO_DEPLOYMENTS)
        return cooling ? WEIR_SLICE("all_deployments_in_cooldown") : WEIR_SLICE("rate_limit_error");
    if (fail->reason == WEIR_REASON_ATTEMPT && failed != NULL)
        return failed->verdict.type;
    return weir_failure_type(&fail->failure);
}

static void fill(struct weir_error_reply *error, const struct weir_fail *fail,
                 const struct weir_failed *failed, bool cooling)
{
    *error =
        (struct weir_error_reply){.status = fail->failure.status, .type = type_of(fail, failed, cooling)};
    if (fail->reason == WEIR_REASON_ATTEMPT && failed != NULL) {
        error->param = failed->verdict.param;
        error->inner_error = failed->verdict.inner_error;
    }
}

static void open_message(struct message *message, struct weir_arena *arena)
{
    message->error = 0;
    weir_buf_init(&message->buf, weir_arena_mem(arena), MESSAGE_MAX);
}

/* A message that reached its maximum is told as far as it goes; only a lack of memory is a failure. */
static int close_message(const struct message *message, struct weir_error_reply *error)
{
    error->message = weir_buf_slice(&message->buf);
    return message->error == WEIR_ERR_NOMEM ? WEIR_ERR_NOMEM : 0;
}

int weir_fail_hop_error(const struct weir_hop_failure *hop, const struct weir_failed *failed,
                        struct weir_arena *arena, struct weir_error_reply *ret_error)
{
    const struct weir_fail fail = {
        .failure = hop->failure, .reason = hop->reason, .attempt = hop->attempt, .group = hop->group};
    const struct weir_failed *record = weir_failed_find(failed, hop->attempt);
    struct message message;

    open_message(&message, arena);
    say_cause(&message, &fail, record, NULL, 0);
    fill(ret_error, &fail, record, false);
    return close_message(&message, ret_error);
}

/* A group that was left after the failure; of a stream that broke, those before it are no matter. */
static bool is_target(const struct weir_hop_failure *hop, const struct weir_fail *fail)
{
    return !weir_slice_eq(hop->group, fail->group) && (!fail->committed || hop->attempt > fail->attempt);
}

/* The names of the targets that failed as well, and then what they said. */
static void say_targets(struct message *message, const struct weir_fail_story *story,
                        struct weir_arena *arena)
{
    struct weir_error_reply error;
    size_t detail = 0;
    bool first = true;

    for (size_t i = 0; i < story->summary->failure_count; i++) {
        const struct weir_hop_failure *hop = &story->summary->failures[i];

        if (!is_target(hop, story->fail))
            continue;
        say(message, first ? WEIR_SLICE(" Fallback to ") : WEIR_SLICE(", "));
        say(message, hop->group);
        first = false;
    }
    if (first) {
        say(message, WEIR_SLICE(" No fallback was attempted."));
        return;
    }
    say(message, WEIR_SLICE(" also failed: "));
    for (size_t i = 0; i < story->summary->failure_count && detail < DETAIL_MAX; i++) {
        const struct weir_hop_failure *hop = &story->summary->failures[i];

        if (!is_target(hop, story->fail) || weir_fail_hop_error(hop, story->failed, arena, &error) != 0)
            continue;
        error.message = weir_slice_sub(error.message, 0, DETAIL_MAX - detail);
        say(message, detail == 0 ? WEIR_SLICE("") : WEIR_SLICE("; "));
        say(message, error.message);
        detail += error.message.len;
    }
}

static bool tells_walk(weir_reason reason)
{
    return reason != WEIR_REASON_UNKNOWN_MODEL && reason != WEIR_REASON_PAUSED &&
           reason != WEIR_REASON_CLIENT_GONE && reason != WEIR_REASON_NOMEM;
}

int weir_fail_error(const struct weir_fail_story *story, struct weir_arena *arena,
                    struct weir_error_reply *ret_error)
{
    const struct weir_failed *failed = weir_failed_find(story->failed, story->fail->attempt);
    struct message message;

    open_message(&message, arena);
    say_cause(&message, story->fail, failed, story->cooling, story->cooling_count);
    if (story->debug && story->summary->retries > 0) {
        say(&message, WEIR_SLICE(" LiteLLM Retried: "));
        say_u64(&message, story->summary->retries);
        say(&message, WEIR_SLICE(" times, LiteLLM Max Retries: "));
        say_u64(&message, story->summary->max_retries);
    }
    if (story->debug && tells_walk(story->fail->reason)) {
        say(&message, WEIR_SLICE("\n\nLiteLLM: model group '"));
        say(&message, story->fail->group);
        say(&message, WEIR_SLICE("' failed with the error above."));
        say_targets(&message, story, arena);
    }
    fill(ret_error, story->fail, failed, story->cooling_count > 0);
    return close_message(&message, ret_error);
}
