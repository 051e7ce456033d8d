/* A level is taken after all that stand above it, so whatever is said already stays. */
#include "engine/snapshot/limits.h"

#include "base/time.h"

enum limit_field {
#define X(field, member, is_said) FIELD_##field,
#include "engine/tbl/limit_fields.h"
#undef X
};

static const uint64_t default_window_ns = 10 * WEIR_NS_PER_S;
static const uint64_t default_grace_ns = 10 * WEIR_NS_PER_S;

#define X(field, member, is_said_)                                                                           \
    static bool says_##member(const struct weir_limits *limits)                                              \
    {                                                                                                        \
        const __typeof__(limits->member) it = limits->member;                                                \
                                                                                                             \
        return is_said_;                                                                                     \
    }
#include "engine/tbl/limit_fields.h"
#undef X

unsigned weir_limits_take(struct weir_limits *limits, const struct weir_limits *from)
{
    unsigned taken = 0;

#define X(field, member, is_said)                                                                            \
    if (!says_##member(limits) && says_##member(from)) {                                                     \
        limits->member = from->member;                                                                       \
        taken |= 1U << FIELD_##field;                                                                        \
    }
#include "engine/tbl/limit_fields.h"
#undef X
    return taken;
}

/* "Not said" is the same number as "never"; 0 is no limit. */
static uint64_t length(uint64_t limit_ns)
{
    return limit_ns == 0 ? WEIR_TIME_NEVER : limit_ns;
}

uint64_t weir_limits_call_deadline(const struct weir_limits *request, const struct weir_limits *router)
{
    return length(says_call_deadline_ns(request) ? request->call_deadline_ns : router->call_deadline_ns);
}

static struct weir_stream_rate rate_of(const struct weir_limits *found)
{
    struct weir_stream_rate rate = found->min_stream_rate;

    if (rate.tokens_per_s < 0)
        rate.tokens_per_s = 0;
    if (rate.window_ns == 0 || rate.window_ns == WEIR_UNSET_NS)
        rate.window_ns = default_window_ns;
    if (rate.grace_ns == WEIR_UNSET_NS)
        rate.grace_ns = default_grace_ns;
    return rate;
}

static unsigned clock_bit(unsigned fields, enum limit_field field, enum weir_clock clock)
{
    return (fields >> field & 1) << clock;
}

void weir_limits_find(const struct weir_controls *hop, const struct weir_controls *request,
                      const struct weir_limits *configured, bool stream,
                      struct weir_attempt_limits *ret_limits)
{
    struct weir_limits found = WEIR_LIMITS_NONE;
    unsigned taken, own = 0;
    bool by_stream_timeout;

    if (hop != NULL) {
        taken = weir_limits_take(&found, &hop->limits);
        own |= hop->by_caller ? taken : 0;
    }
    taken = weir_limits_take(&found, &request->limits);
    own |= request->by_caller ? taken : 0;
    (void)weir_limits_take(&found, configured);
    by_stream_timeout = stream && found.stream_timeout_ns != WEIR_UNSET_NS;
    *ret_limits = (struct weir_attempt_limits){
        .timeout_ns = length(by_stream_timeout ? found.stream_timeout_ns : found.timeout_ns),
        .ttft_ns = length(found.ttft_timeout_ns),
        .idle_ns = length(found.stream_idle_timeout_ns),
        .call_deadline_ns = length(found.call_deadline_ns),
        .rate = rate_of(&found),
        .by_caller =
            clock_bit(own, by_stream_timeout ? FIELD_STREAM_TIMEOUT : FIELD_TIMEOUT, WEIR_CLOCK_TIMEOUT) |
            clock_bit(own, FIELD_TTFT, WEIR_CLOCK_TTFT) | clock_bit(own, FIELD_IDLE, WEIR_CLOCK_IDLE) |
            clock_bit(own, FIELD_RATE, WEIR_CLOCK_RATE)};
    if (stream && found.stream_hold.said)
        ret_limits->hold = found.stream_hold;
}
