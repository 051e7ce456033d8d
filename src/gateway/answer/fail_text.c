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
#include "provider/parameter.h"

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
    if (fail->reason != WEIR_REASON_NO_DEPLOYMENTS && fail->reason != WEIR_REASON_USAGE &&
        fail->reason != WEIR_REASON_USAGE_LIMIT)
        return 0;
    if (fail->failure.retry_after_ns <= WEIR_NS_PER_S)
        return 1;
    return (fail->failure.retry_after_ns - 1) / WEIR_NS_PER_S + 1;
}

/* What is there to be told beside the failure; zeros and NULL: it is not known. */
struct telling {
    const struct weir_fail *fail;
    const struct weir_failed *failed;
    const struct weir_fail_story *story; /* NULL: of a hop, whose group is not the first */
};

static void say_nobody(struct message *message, const struct weir_fail *fail)
{
    say(message,
        WEIR_SLICE("litellm.RateLimitError: RateLimitError: No deployments available for selected model, "
                   "Try again in "));
    say_u64(message, weir_fail_retry_after_s(fail));
    say(message, WEIR_SLICE(" seconds. "));
}

/* The form of router-semantics 16.4. */
static void say_no_deployments(struct message *message, const struct telling *telling)
{
    size_t count = telling->story == NULL ? 0 : telling->story->cooling_count;
    bool checks = telling->story != NULL && telling->story->pre_call_checks;

    say_nobody(message, telling->fail);
    if (count > 0)
        say(message, WEIR_SLICE("All deployments for selected model are in cooldown. "));
    say(message, WEIR_SLICE("Passed model="));
    say(message, telling->fail->group);
    say(message, checks ? WEIR_SLICE(". pre-call-checks=True") : WEIR_SLICE(". pre-call-checks=False"));
    say(message, WEIR_SLICE(", cooldown_list=["));
    for (size_t i = 0; i < count; i++) {
        say(message, i == 0 ? WEIR_SLICE("'") : WEIR_SLICE(", '"));
        say(message, telling->story->cooling[i]);
        say(message, WEIR_SLICE("'"));
    }
    say(message, WEIR_SLICE("]"));
}

/* ---- limits (router-semantics 6.3, 18, 19) ---- */

static void say_limit(struct message *message, struct weir_slice name, uint64_t limit)
{
    say(message, name);
    if (limit == WEIR_UNSET_NS)
        say(message, WEIR_SLICE("None"));
    else
        say_u64(message, limit);
}

static void say_used(struct message *message, struct weir_slice name, uint64_t used)
{
    say(message, name);
    say_u64(message, used);
}

/* Of each deployment what it was used for, and how much it may be. */
static void say_usage(struct message *message, const struct telling *telling)
{
    size_t count = telling->story == NULL ? 0 : telling->story->usage_count;

    say_nobody(message, telling->fail);
    say(message, WEIR_SLICE("Passed model="));
    say(message, telling->fail->group);
    say(message, WEIR_SLICE(". Deployments={"));
    for (size_t i = 0; i < count; i++) {
        const struct weir_fail_usage *usage = &telling->story->usage[i];

        say(message, i == 0 ? WEIR_SLICE("'") : WEIR_SLICE(", '"));
        say(message, usage->id);
        say_used(message, WEIR_SLICE("': {current_tpm="), usage->used.tokens);
        say_limit(message, WEIR_SLICE(", tpm_limit="), usage->limits.tokens);
        say_used(message, WEIR_SLICE(", current_rpm="), usage->used.requests);
        say_limit(message, WEIR_SLICE(", rpm_limit="), usage->limits.requests);
        say(message, WEIR_SLICE("}"));
    }
    say(message, WEIR_SLICE("}"));
}

static void say_minute_limit(struct message *message, const struct weir_limit_story *limit)
{
    say(message, WEIR_SLICE("litellm.RateLimitError: RateLimitError: Model rate limit exceeded. "));
    say(message, limit->what);
    say_used(message, WEIR_SLICE(" limit="), limit->limit);
    say_used(message, WEIR_SLICE(", current usage="), limit->usage);
}

static void say_usage_limit(struct message *message, const struct weir_limit_story *limit)
{
    say(message, WEIR_SLICE("litellm.RateLimitError: RateLimitError: Deployment over defined rpm limit="));
    say_u64(message, limit->limit);
    say_used(message, WEIR_SLICE(". current usage="), limit->usage);
}

static void say_slots(struct message *message, const struct weir_limit_story *limit)
{
    say(message,
        WEIR_SLICE("litellm.RateLimitError: RateLimitError: Deployment has all max_parallel_requests "
                   "slots in use. Deployment="));
    say(message, limit->deployment);
    say_used(message, WEIR_SLICE(", max_parallel_requests="), limit->limit);
}

static void say_too_long(struct message *message, const struct telling *telling)
{
    say(message,
        WEIR_SLICE("litellm.ContextWindowExceededError: Context Window exceeded for given call. Model="));
    say(message, telling->fail->group);
    say_used(message, WEIR_SLICE(", Max Input Tokens="), telling->fail->limit.limit);
    say_used(message, WEIR_SLICE(", Got="), telling->fail->limit.usage);
}

static void say_parameters(struct message *message, uint64_t set)
{
    for (bool first = true; set != 0; set &= set - 1, first = false) {
        say(message, first ? WEIR_SLICE(". Parameters: ") : WEIR_SLICE(", "));
        say(message, weir_parameter_first(set));
    }
}

static void say_unsuitable(struct message *message, const struct telling *telling)
{
    const struct weir_request *request = telling->story == NULL ? NULL : telling->story->request;

    say(message, WEIR_SLICE("litellm."));
    say(message, weir_kind_row(telling->fail->failure.kind)->class_name);
    say(message, WEIR_SLICE(": No deployment of the model is in the allowed region and takes the parameters. "
                            "Passed model="));
    say(message, telling->fail->group);
    if (request == NULL)
        return;
    say_parameters(message, request->parameters);
    if (request->region.len > 0)
        say(message, WEIR_SLICE(". Region: "));
    say(message, request->region);
}

/* The form of router-semantics 20. */
static void say_tags(struct message *message, const struct telling *telling)
{
    static const struct weir_slice marks[] = {[WEIR_TAG_PLAIN] = WEIR_SLICE_INIT(""),
                                              [WEIR_TAG_REQUIRED] = WEIR_SLICE_INIT("&"),
                                              [WEIR_TAG_EXCLUDED] = WEIR_SLICE_INIT("!")};
    const struct weir_request *request = telling->story == NULL ? NULL : telling->story->request;

    say(message, WEIR_SLICE("Not allowed to access model due to tags configuration. Passed model="));
    say(message, telling->fail->group);
    say(message, WEIR_SLICE(" and tags=["));
    for (size_t i = 0; request != NULL && i < request->tag_count; i++) {
        say(message, i == 0 ? WEIR_SLICE("'") : WEIR_SLICE(", '"));
        say(message, marks[request->tags[i].kind]);
        say(message, request->tags[i].name);
        say(message, WEIR_SLICE("'"));
    }
    say(message, WEIR_SLICE("]"));
}

/* ---- causes ---- */

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

/* The attempt's own words. */
static void say_failed(struct message *message, const struct telling *telling)
{
    if (telling->failed != NULL)
        say_attempt(message, telling->fail, telling->failed);
    else
        say_plain(message, telling->fail->failure.kind,
                  telling->fail->reason == WEIR_REASON_TIMEOUT ? WEIR_SLICE("Request timed out.")
                                                               : WEIR_SLICE("The attempt failed"));
}

static void say_cause(struct message *message, const struct telling *telling)
{
    const struct weir_fail *fail = telling->fail;

    switch (fail->reason) {
    case WEIR_REASON_NO_DEPLOYMENTS:
        say_no_deployments(message, telling);
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
    case WEIR_REASON_MINUTE_LIMIT:
        say_minute_limit(message, &fail->limit);
        return;
    case WEIR_REASON_SLOTS:
        say_slots(message, &fail->limit);
        return;
    case WEIR_REASON_USAGE:
        say_usage(message, telling);
        return;
    case WEIR_REASON_USAGE_LIMIT:
        say_usage_limit(message, &fail->limit);
        return;
    case WEIR_REASON_TAGS:
        say_tags(message, telling);
        return;
    case WEIR_REASON_PROMPT_TOO_LONG:
        say_too_long(message, telling);
        return;
    case WEIR_REASON_UNSUITABLE:
        say_unsuitable(message, telling);
        return;
    case WEIR_REASON_ATTEMPT:
    case WEIR_REASON_TIMEOUT:
    case WEIR_REASON_CONTENT_FILTERED:
        say_failed(message, telling);
        return;
    }
}

static struct weir_slice type_of(const struct weir_fail *fail, const struct weir_failed *failed, bool cooling)
{
    if (fail->reason == WEIR_REASON_TAGS)
        return weir_error_type(500); /* as LiteLLM has it, with its status of 401 (router-semantics 25) */
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
    const struct weir_fail fail = {.failure = hop->failure,
                                   .reason = hop->reason,
                                   .limit = hop->limit,
                                   .attempt = hop->attempt,
                                   .group = hop->group};
    const struct weir_failed *record = weir_failed_find(failed, hop->attempt);
    struct message message;

    open_message(&message, arena);
    say_cause(&message, &(struct telling){&fail, record, NULL});
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
    say_cause(&message, &(struct telling){story->fail, failed, story});
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
