/*
 * Strategies keep nothing themselves: whatever any of them looks at is entered here for every attempt, so a
 * reload may change the strategy of a group, and the new one knows its deployments.
 */
#include "engine/charge.h"

#include "base/time.h"
#include "engine/latency.h"
#include "engine/router.h"
#include "engine/usage.h"

/* A sample as long as this stands for a timeout (router-semantics 6.5). */
static const double timeout_sample_s = 1000;

void weir_charge_begin(struct weir_call *call, struct weir_attempt *attempt)
{
    struct weir_live *live = &call->router->live;

    if (call->request.caller_credentials)
        return;
    attempt->charged = true;
    attempt->minute = weir_usage_minute(live, call->now_ns);
    (void)weir_usage_begin(live, attempt->deployment->slot);
    (void)weir_usage_add(live, attempt->deployment->slot, WEIR_USAGE_REQUESTS, attempt->minute, 1);
}

void weir_charge_end(struct weir_call *call, struct weir_attempt *attempt)
{
    if (attempt->charged)
        weir_usage_end(&call->router->live, attempt->deployment->slot);
    attempt->charged = false;
}

static void enter_tokens(struct weir_live *live, uint32_t slot, const struct weir_outcome *outcome,
                         uint64_t minute)
{
    uint64_t tokens = weir_time_add(outcome->prompt_tokens, outcome->completion_tokens);

    (void)weir_usage_add(live, slot, WEIR_USAGE_TOKENS, minute, tokens);
    (void)weir_usage_add(live, slot, WEIR_USAGE_INPUT, minute, outcome->prompt_tokens);
    (void)weir_usage_add(live, slot, WEIR_USAGE_OUTPUT, minute, outcome->completion_tokens);
}

static void enter_speed(const struct weir_call *call, const struct weir_attempt *attempt, enum weir_pace pace,
                        double sample, double seconds)
{
    struct weir_live *live = &call->router->live;
    const struct weir_strategy_spec *strategy = attempt->deployment->group->strategy;

    weir_latency_sample(live, attempt->deployment->slot, pace, sample, strategy, call->now_ns);
    weir_latency_note_peak(live, attempt->deployment->slot, pace, seconds, strategy->decay_ns, call->now_ns);
}

void weir_charge_success(struct weir_call *call, const struct weir_attempt *attempt)
{
    const struct weir_stream *stream = &attempt->stream;
    const struct weir_outcome *outcome = &attempt->outcome;
    double seconds = weir_time_to_s(attempt->ended_ns - stream->began_ns);

    if (call->request.caller_credentials)
        return;
    enter_tokens(&call->router->live, attempt->deployment->slot, outcome,
                 weir_usage_minute(&call->router->live, call->now_ns));
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
