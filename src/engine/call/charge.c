/*
 * Strategies keep nothing themselves: whatever any of them looks at is entered here for every attempt, so a
 * reload may change the strategy of a group, and the new one knows its deployments.
 */
#include "engine/call/charge.h"

#include "base/time.h"
#include "engine/live/latency.h"
#include "engine/router.h"

/* A sample as long as this stands for a timeout (router-semantics 6.5). */
static const double timeout_sample_s = 1000;

/* Which limits of the minute hold for the attempt. */
static enum weir_quota_rule rule_of(const struct weir_call *call, const struct weir_attempt *attempt)
{
    const struct weir_set *set = attempt->frame->from.set;

    if (call->snapshot->spec.enforce_minute_limits)
        return WEIR_QUOTA_ALL;
    if (set == NULL)
        set = attempt->deployment->group;
    return set->strategy->strategy == WEIR_STRATEGY_USAGE ? WEIR_QUOTA_REQUESTS : WEIR_QUOTA_FREE;
}

int weir_charge_begin(struct weir_call *call, struct weir_attempt *attempt, struct weir_refusal *ret_refusal)
{
    const struct weir_quota_ask ask = {
        .rule = rule_of(call, attempt),
        .input = weir_snapshot_sure_tokens(call->snapshot, call->request.prompt_tokens),
        .output = call->request.max_output_tokens,
        .now_ns = call->now_ns};

    if (call->request.caller_credentials)
        return 0;
    return weir_quota_take(&call->router->live, attempt->deployment, &ask, &attempt->quota, ret_refusal);
}

static uint64_t greater(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

/*
 * For those ends that tell no usage.  As long as no content came nothing was used; else the prompt was, and a
 * token with each piece of content, and where more was reserved that is the best that is known.
 */
static void enter_estimate(struct weir_call *call, struct weir_attempt *attempt)
{
    uint64_t prompt = weir_snapshot_sure_tokens(call->snapshot, call->request.prompt_tokens), input = 0,
             output = 0;

    if (attempt->stream.content) {
        input = greater(prompt, attempt->quota.input);
        output = greater(attempt->stream.deltas, attempt->quota.output);
    }
    weir_quota_settle(&call->router->live, attempt->deployment->slot, &attempt->quota, input, output,
                      call->now_ns);
}

void weir_charge_end(struct weir_call *call, struct weir_attempt *attempt)
{
    if (!attempt->quota.running)
        return;
    weir_quota_end(&call->router->live, attempt->deployment->slot, &attempt->quota);
    if (attempt->stream.state != WEIR_STREAM_DONE)
        enter_estimate(call, attempt);
}

static void enter_tokens(struct weir_call *call, struct weir_attempt *attempt)
{
    const struct weir_outcome *outcome = &attempt->outcome;

    if (outcome->prompt_tokens > 0 || outcome->completion_tokens > 0)
        weir_quota_settle(&call->router->live, attempt->deployment->slot, &attempt->quota,
                          outcome->prompt_tokens, outcome->completion_tokens, call->now_ns);
    else if (attempt->stream.content)
        enter_estimate(call, attempt);
}

static void enter_speed(const struct weir_call *call, const struct weir_attempt *attempt, weir_pace pace,
                        double sample, double seconds)
{
    struct weir_live *live = &call->router->live;
    const struct weir_strategy_spec *strategy = attempt->deployment->group->strategy;

    weir_latency_sample(live, attempt->deployment->slot, pace, sample, strategy, call->now_ns);
    weir_latency_note_peak(live, attempt->deployment->slot, pace, seconds, strategy->decay_ns, call->now_ns);
}

void weir_charge_success(struct weir_call *call, struct weir_attempt *attempt)
{
    const struct weir_stream *stream = &attempt->stream;
    const struct weir_outcome *outcome = &attempt->outcome;
    double seconds = weir_time_to_s(attempt->ended_ns - stream->began_ns);

    if (call->request.caller_credentials)
        return;
    enter_tokens(call, attempt);
    enter_speed(call, attempt, WEIR_PACE_WHOLE,
                outcome->completion_tokens > 0 ? seconds / (double)outcome->completion_tokens : seconds,
                seconds);
    if (call->request.stream && stream->content) {
        seconds = weir_time_to_s(stream->first_content_ns - stream->began_ns);
        enter_speed(call, attempt, WEIR_PACE_FIRST, seconds, seconds);
    }
}

void weir_charge_failure(struct weir_call *call, const struct weir_attempt *attempt)
{
    double seconds = weir_time_to_s(attempt->ended_ns - attempt->stream.began_ns);

    if (call->request.caller_credentials || attempt->failure.kind != WEIR_KIND_TIMEOUT ||
        attempt->failure.origin == WEIR_ORIGIN_CALLER_LIMIT)
        return;
    enter_speed(call, attempt, WEIR_PACE_WHOLE, timeout_sample_s, seconds);
    if (call->request.stream)
        enter_speed(call, attempt, WEIR_PACE_FIRST, timeout_sample_s, seconds);
}
