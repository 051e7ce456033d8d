/*
 * Every limit is worked out anew, at each question, from what is remembered of the attempt: nothing is armed,
 * so nothing can be armed wrongly.
 */
#include "clock_model.h"

#include "base/slice.h"
#include "base/time.h"

#define TAIL_NS (5 * WEIR_NS_PER_S)

/* ---- where limits are said ---- */

/* NULL: nothing is set for the group. */
static const struct weir_limits *group_limits(const struct kit_config *config, struct weir_slice group)
{
    for (size_t i = 0; i < config->group_count; i++) {
        if (weir_slice_eq(config->groups[i].name, group))
            return &config->groups[i].spec.limits;
    }
    return NULL;
}

static uint64_t first_said(uint64_t a_ns, uint64_t b_ns)
{
    return a_ns != WEIR_UNSET_NS ? a_ns : b_ns;
}

/* A limit of nothing is none. */
static uint64_t or_none(uint64_t ns)
{
    return ns == 0 ? WEIR_UNSET_NS : ns;
}

static void add_level(struct weir_limits *found, const struct weir_limits *level)
{
    found->timeout_ns = first_said(found->timeout_ns, level->timeout_ns);
    found->stream_timeout_ns = first_said(found->stream_timeout_ns, level->stream_timeout_ns);
    found->ttft_timeout_ns = first_said(found->ttft_timeout_ns, level->ttft_timeout_ns);
    found->stream_idle_timeout_ns = first_said(found->stream_idle_timeout_ns, level->stream_idle_timeout_ns);
    found->call_deadline_ns = first_said(found->call_deadline_ns, level->call_deadline_ns);
    if (found->min_stream_rate.tokens_per_s < 0)
        found->min_stream_rate = level->min_stream_rate;
    if (!found->stream_hold.said)
        found->stream_hold = level->stream_hold;
}

void clock_begin(struct clock *clock, const struct kit_call *call, const struct kit_attempt *attempt)
{
    const struct kit_config *config = call->config;
    const struct weir_limits *group = group_limits(config, attempt->deployment->spec.group);
    struct weir_limits found = WEIR_LIMITS_NONE;

    add_level(&found, &call->request.request.controls.limits);
    add_level(&found, &attempt->deployment->spec.limits);
    if (group != NULL)
        add_level(&found, group);
    add_level(&found, &config->router.limits);
    *clock = (struct clock){.limits = found,
                            .is_stream = call->request.request.stream,
                            .continues = attempt->continues,
                            .began_ns = call->kit->now_ns};
    if (clock->is_stream)
        clock->limits.timeout_ns = first_said(found.stream_timeout_ns, found.timeout_ns);
    clock->limits.timeout_ns = or_none(clock->limits.timeout_ns);
    clock->limits.ttft_timeout_ns = or_none(found.ttft_timeout_ns);
    clock->limits.stream_idle_timeout_ns = or_none(found.stream_idle_timeout_ns);
    clock->limits.call_deadline_ns = or_none(found.call_deadline_ns);
}

uint64_t clock_deadline(const struct clock *clock)
{
    return clock->limits.call_deadline_ns;
}

/* ---- when an attempt is due ---- */

static uint64_t later(uint64_t a_ns, uint64_t b_ns)
{
    return a_ns > b_ns ? a_ns : b_ns;
}

static uint64_t sooner(uint64_t a_ns, uint64_t b_ns)
{
    return a_ns < b_ns ? a_ns : b_ns;
}

static uint64_t due(const struct clock *c)
{
    uint64_t timeout_ns = weir_time_add(c->began_ns, c->limits.timeout_ns);
    uint64_t ttft_ns = weir_time_add(c->began_ns, c->limits.ttft_timeout_ns);
    uint64_t heard_ns = later(later(c->first_chunk_ns, c->last_content_ns), c->began_ns);
    uint64_t idle_ns = weir_time_add(heard_ns, c->limits.stream_idle_timeout_ns);

    if (c->paused)
        return WEIR_TIME_NEVER;
    if (!c->is_stream)
        return c->opened ? timeout_ns : sooner(timeout_ns, ttft_ns);
    if (c->is_complete)
        return weir_time_add(later(c->complete_ns, c->began_ns), TAIL_NS);
    if (c->first_chunk_ns == 0)
        return sooner(timeout_ns, ttft_ns);
    return c->first_content_ns == 0 ? sooner(ttft_ns, idle_ns) : idle_ns;
}

static uint64_t or_default(uint64_t ns)
{
    return ns == WEIR_UNSET_NS ? 10 * WEIR_NS_PER_S : ns;
}

/* Whether the last window has brought too few tokens. */
static bool is_slow(const struct clock *c, uint64_t now_ns)
{
    const struct weir_stream_rate *rate = &c->limits.min_stream_rate;
    uint64_t window_ns = or_default(rate->window_ns);
    uint64_t from_ns = later(c->first_content_ns, c->began_ns);
    double tokens = 0;

    if (!c->is_stream || rate->tokens_per_s <= 0 || c->first_content_ns == 0 || c->is_complete || c->paused)
        return false;
    if (now_ns < from_ns + or_default(rate->grace_ns) || c->deltas > CLOCK_TOKENS_MAX)
        return now_ns >= from_ns + or_default(rate->grace_ns);
    for (uint32_t i = 0; i < c->deltas; i++)
        tokens += c->tokens_ns[i] + window_ns > now_ns && c->tokens_ns[i] >= from_ns;
    return tokens < rate->tokens_per_s * weir_time_to_s(sooner(window_ns, now_ns - from_ns));
}

void clock_cancel(const struct clock *c, const struct kit_call *call, uint64_t until_ns)
{
    uint64_t now_ns = call->kit->now_ns;

    if (now_ns != due(c) && !is_slow(c, now_ns) && now_ns != until_ns &&
        now_ns != weir_time_add(call->begun_ns, call->request.gone_after_ns))
        kit_die(call->kit, "an attempt is cancelled that is not due");
}

/* ---- the commit window ---- */

static bool window_is_over(const struct clock *c, uint64_t now_ns)
{
    const struct weir_stream_hold *hold = &c->limits.stream_hold;

    if (!c->is_stream || c->continues || !hold->said || c->is_full || c->is_complete)
        return true;
    if (hold->tokens != WEIR_UNSET && c->deltas >= hold->tokens)
        return true;
    return hold->window_ns != WEIR_UNSET_NS && now_ns >= weir_time_add(c->first_content_ns, hold->window_ns);
}

void clock_commit(struct clock *c, const struct kit_call *call)
{
    if (!window_is_over(c, call->kit->now_ns))
        kit_die(call->kit, "a commit inside the window");
    c->committed = true;
}

/* ---- what is told ---- */

static void tell_chunk(struct clock *c, const struct weir_stream_chunk *chunk, uint64_t now_ns)
{
    c->opened = true;
    if (c->first_chunk_ns == 0)
        c->first_chunk_ns = now_ns;
    if (chunk->deltas > 0 || chunk->full) {
        if (c->first_content_ns == 0)
            c->first_content_ns = now_ns;
        c->last_content_ns = now_ns;
    }
    for (uint32_t i = 0; i < chunk->deltas; i++, c->deltas++) {
        if (c->deltas < CLOCK_TOKENS_MAX)
            c->tokens_ns[c->deltas] = now_ns;
    }
    c->is_full |= chunk->full;
    if (chunk->finish && !c->is_complete)
        c->complete_ns = now_ns;
    c->is_complete |= chunk->finish;
}

void clock_tell(struct clock *c, const struct kit_call *call, const struct kit_piece *piece,
                uint64_t until_ns)
{
    uint64_t now_ns = call->kit->now_ns;

    if (now_ns > due(c) || now_ns > until_ns)
        kit_die(call->kit, "an attempt runs that is overdue");
    /* the window of this very moment is looked at after the piece */
    if (c->first_content_ns != 0 && !c->committed && now_ns > 0 && window_is_over(c, now_ns - 1))
        kit_die(call->kit, "content is held though the window is over");
    switch (piece->kind) {
    case KIT_OPEN:
        c->opened = true;
        break;
    case KIT_CHUNK:
        /* of a plain call only what is too large to hold is told */
        if (c->is_stream || piece->u.chunk.deltas > 0)
            tell_chunk(c, &piece->u.chunk, now_ns);
        break;
    case KIT_PAUSE:
        c->paused = true;
        break;
    case KIT_RESUME:
        if (c->paused)
            c->began_ns = now_ns;
        c->paused = false;
        break;
    case KIT_OK:
    case KIT_FILTERED:
        c->is_complete = true;
        break;
    case KIT_FAILURE:
    case KIT_HANG:
    default:
        break;
    }
}
