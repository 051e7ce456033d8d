/*
 * Parts are taken one after the other, each by one atomic step that refuses rather than overshoots, so a
 * limit holds however many threads begin attempts at once.  The first refusal gives back what was taken
 * before it.
 */
#include "engine/live/quota.h"

#include "base/slice.h"
#include "base/time.h"
#include "engine/live/shared.h"
#include "engine/live/usage.h"

/* What usage-based routing asks a caller to wait (router-semantics 6.3). */
static const uint64_t usage_retry_after_ns = 60 * WEIR_NS_PER_S;

/* The limits of the minute, in the order in which they are taken. */
static const struct part {
    weir_usage_kind usage;
    struct weir_slice name;
} parts[] = {
    {WEIR_USAGE_TOKENS, WEIR_SLICE_INIT("TPM")},
    {WEIR_USAGE_INPUT, WEIR_SLICE_INIT("ITPM")},
    {WEIR_USAGE_OUTPUT, WEIR_SLICE_INIT("OTPM")},
    {WEIR_USAGE_REQUESTS, WEIR_SLICE_INIT("RPM")},
};

enum { PARTS = sizeof(parts) / sizeof(*parts) };

static uint64_t limit_of(const weir_deployment *d, weir_usage_kind usage)
{
    const struct weir_minute_limits *limits = &d->spec.minute;

    switch (usage) {
    case WEIR_USAGE_REQUESTS:
        return limits->requests;
    case WEIR_USAGE_TOKENS:
        return limits->tokens;
    case WEIR_USAGE_INPUT:
        return limits->input_tokens;
    case WEIR_USAGE_OUTPUT:
        return limits->output_tokens;
    case WEIR_USAGES:
        break;
    }
    return WEIR_UNSET_NS;
}

/* The limit that holds for the attempt; WEIR_UNSET_NS: none. */
static uint64_t limit_for(const struct weir_quota_ask *ask, const weir_deployment *d, weir_usage_kind usage)
{
    bool holds =
        ask->rule == WEIR_QUOTA_ALL || (ask->rule == WEIR_QUOTA_REQUESTS && usage == WEIR_USAGE_REQUESTS);

    return holds ? limit_of(d, usage) : WEIR_UNSET_NS;
}

/* How much is taken of a limit: a request is one, and so is a number of tokens that nobody knows. */
static uint64_t amount_of(const struct weir_quota_ask *ask, weir_usage_kind usage)
{
    uint64_t amount = 1;

    if (usage == WEIR_USAGE_TOKENS)
        return 0;
    if (usage == WEIR_USAGE_INPUT)
        amount = ask->input;
    else if (usage == WEIR_USAGE_OUTPUT)
        amount = ask->output;
    return amount > 0 ? amount : 1;
}

/* Takes a part of one limit.  Returns whether it was there; *ret_used is what is used up without it. */
static bool take_part(struct weir_live *live, const weir_deployment *d, const struct weir_quota_ask *ask,
                      weir_usage_kind usage, struct weir_quota *quota, uint64_t *ret_used)
{
    uint64_t limit = limit_for(ask, d, usage), amount = amount_of(ask, usage);

    if (usage == WEIR_USAGE_TOKENS) {
        *ret_used = weir_usage_of(live, d->slot, usage, quota->minute);
        return *ret_used < limit;
    }
    /* Nothing is reserved where nothing limits it. */
    if (limit == WEIR_UNSET_NS && usage != WEIR_USAGE_REQUESTS)
        return true;
    if (!weir_usage_add_within(live, d->slot, usage, quota->minute, amount, limit, ret_used))
        return false;
    if (usage == WEIR_USAGE_INPUT)
        quota->input = amount;
    if (usage == WEIR_USAGE_OUTPUT)
        quota->output = amount;
    return true;
}

static void give_back(struct weir_live *live, uint32_t slot, struct weir_quota *quota)
{
    weir_usage_take_back(live, slot, WEIR_USAGE_INPUT, quota->minute, quota->input);
    weir_usage_take_back(live, slot, WEIR_USAGE_OUTPUT, quota->minute, quota->output);
    quota->input = 0;
    quota->output = 0;
}

static struct weir_refusal refusal_by_minute(const struct weir_quota_ask *ask, const weir_deployment *d,
                                             const struct part *part, uint64_t used)
{
    bool by_usage = ask->rule == WEIR_QUOTA_REQUESTS;

    return (struct weir_refusal){
        .failure = {.kind = WEIR_KIND_RATE_LIMIT,
                    .status = weir_kind_row(WEIR_KIND_RATE_LIMIT)->status,
                    .retry_after_ns = by_usage ? usage_retry_after_ns : 0,
                    .origin = WEIR_ORIGIN_PROVIDER},
        .reason = by_usage ? WEIR_REASON_USAGE_LIMIT : WEIR_REASON_MINUTE_LIMIT,
        .limit = {
            .deployment = d->spec.id, .what = part->name, .limit = limit_of(d, part->usage), .usage = used}};
}

static struct weir_refusal refusal_by_slots(const weir_deployment *d)
{
    return (struct weir_refusal){.failure = {.kind = WEIR_KIND_RATE_LIMIT,
                                             .status = weir_kind_row(WEIR_KIND_RATE_LIMIT)->status,
                                             .origin = WEIR_ORIGIN_ROUTER},
                                 .reason = WEIR_REASON_SLOTS,
                                 .limit = {.deployment = d->spec.id,
                                           .what = WEIR_SLICE("max_parallel_requests"),
                                           .limit = d->spec.max_parallel,
                                           .usage = d->spec.max_parallel}};
}

/* Takes a part of each limit that holds.  The one that refuses, or NULL; *ret_used is what is used of it. */
static const struct part *take_parts(struct weir_live *live, const weir_deployment *d,
                                     const struct weir_quota_ask *ask, struct weir_quota *quota,
                                     uint64_t *ret_used)
{
    if (ask->rule == WEIR_QUOTA_FREE) {
        weir_usage_add(live, d->slot, WEIR_USAGE_REQUESTS, quota->minute, 1);
        return NULL;
    }
    for (size_t i = 0; i < PARTS; i++)
        if (!take_part(live, d, ask, parts[i].usage, quota, ret_used))
            return &parts[i];
    return NULL;
}

int weir_quota_take(struct weir_live *live, const weir_deployment *deployment,
                    const struct weir_quota_ask *ask, struct weir_quota *ret_quota,
                    struct weir_refusal *ret_refusal)
{
    struct weir_quota quota = {.running = true, .minute = weir_usage_minute(live, ask->now_ns)};
    const struct part *refusing;
    uint64_t used = 0;

    if (!weir_usage_begin(live, deployment->slot, deployment->spec.max_parallel)) {
        *ret_refusal = refusal_by_slots(deployment);
        return WEIR_QUOTA_REFUSED;
    }
    refusing = take_parts(live, deployment, ask, &quota, &used);
    if (refusing != NULL) {
        give_back(live, deployment->slot, &quota);
        weir_usage_end(live, deployment->slot);
        *ret_refusal = refusal_by_minute(ask, deployment, refusing, used);
        return WEIR_QUOTA_REFUSED;
    }
    weir_shared_mark(live, deployment->slot, WEIR_SHARED_BIT(RUNNING) | WEIR_SHARED_BIT(USAGE));
    *ret_quota = quota;
    return 0;
}

void weir_quota_end(struct weir_live *live, uint32_t slot, struct weir_quota *quota)
{
    if (!quota->running)
        return;
    weir_usage_end(live, slot);
    weir_shared_mark(live, slot, WEIR_SHARED_BIT(RUNNING));
    quota->running = false;
}

void weir_quota_settle(struct weir_live *live, uint32_t slot, struct weir_quota *quota, uint64_t input,
                       uint64_t output, uint64_t now_ns)
{
    uint64_t minute = weir_usage_minute(live, now_ns);

    /* What was reserved is put right where it was; the rest counts when it is known. */
    weir_usage_add(live, slot, WEIR_USAGE_INPUT, quota->input > 0 ? quota->minute : minute, input);
    weir_usage_add(live, slot, WEIR_USAGE_OUTPUT, quota->output > 0 ? quota->minute : minute, output);
    weir_usage_add(live, slot, WEIR_USAGE_TOKENS, minute, weir_time_add(input, output));
    give_back(live, slot, quota);
    weir_shared_mark(live, slot, WEIR_SHARED_BIT(USAGE));
}

bool weir_quota_is_spent(const struct weir_live *live, const weir_deployment *deployment, uint64_t minute)
{
    for (size_t i = 0; i < PARTS; i++)
        if (weir_usage_of(live, deployment->slot, parts[i].usage, minute) >=
            limit_of(deployment, parts[i].usage))
            return true;
    return false;
}
