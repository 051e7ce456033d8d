/*
 * Counters: allowed fails (16.1), usage of the minute (6.3, 19), attempts that run (6.2).
 *
 * An increment that makes its key would make it without an end.  So each comes behind a SET of 0 with the
 * key's life that does nothing where the key exists: the life is that from the first increment, as LiteLLM
 * sets it, and the pair is all that old servers need to know.
 */
#include <weir/error.h>

#include "base/slice.h"
#include "base/text.h"
#include "base/time.h"
#include "state/sync/parts.h"

#define MINUTE_NS (60 * WEIR_NS_PER_S)

enum { RUNNING_LIFE_S = 600, USAGE_LIFE_S = 60, SIGNED_MAX = WEIR_TEXT_U64_MAX + 1 };

static struct weir_slice signed_text(int64_t value, char text[SIGNED_MAX])
{
    uint64_t size = value < 0 ? 0 - (uint64_t)value : (uint64_t)value;
    struct weir_slice digits = weir_text_u64(size, text + 1);

    if (value >= 0)
        return digits;
    memmove(text + 1, digits.ptr, digits.len);
    text[0] = '-';
    return (struct weir_slice){text, digits.len + 1};
}

/* A counter and how it changes. */
struct step {
    struct weir_slice key;
    struct weir_slice command; /* INCRBY, INCRBYFLOAT */
    uint64_t life_ms;
    int64_t amount;
    bool is_begun; /* the counter is there */
};

/* Makes the counter, with its life, where there is none. */
static int send_begin(weir_sync *sync, const struct step *step)
{
    char life[WEIR_TEXT_U64_MAX];

    return WEIR_SYNC_SEND(sync, WEIR_SYNC_NOBODY, WEIR_SLICE("SET"), step->key, WEIR_SLICE("0"),
                          WEIR_SLICE("PX"), weir_text_u64(step->life_ms, life), WEIR_SLICE("NX"));
}

static int send_step(weir_sync *sync, const struct step *step, struct weir_redis_sink sink)
{
    char amount[SIGNED_MAX];
    int r = step->is_begun ? 0 : send_begin(sync, step);

    if (r != 0)
        return r;
    return WEIR_SYNC_SEND(sync, sink, step->command, step->key, signed_text(step->amount, amount));
}

/* The count in the reply to the command of a change, which is done by it. */
static void on_count(void *user, uint64_t tag, const struct weir_reply *reply)
{
    struct weir_sync_told *told = user;
    weir_sync *sync = told->sync;
    int64_t count;

    (void)tag;
    if (weir_sync_judge(told, reply) != 0)
        return;
    if (weir_reply_number(reply, &count) != 0)
        weir_router_change_unknown(sync->router, &told->change);
    else
        weir_router_change_done(sync->router, sync->snapshot, &told->change, count < 0 ? 0 : (uint64_t)count,
                                weir_sync_now(sync));
    weir_sync_drop(told);
}

static void tell_step(weir_sync *sync, const struct weir_change *change, const struct step *step,
                      weir_redis_done_fn *done)
{
    struct weir_sync_told *told = weir_sync_keep(sync, change);

    if (told == NULL)
        weir_router_change_undone(sync->router, change);
    else if (send_step(sync, step, (struct weir_redis_sink){.done = done, .user = told}) != 0)
        weir_sync_undo(told);
}

/* ---- allowed fails ---- */

void weir_sync_tell_fails(weir_sync *sync, const struct weir_change *change)
{
    const struct weir_key_parts parts = {.id = change->id, .suffix = change->u.fails.suffix};
    enum weir_key key = parts.suffix.len > 0 ? WEIR_KEY_ALLOWED_FAILS_OF : WEIR_KEY_ALLOWED_FAILS;
    uint64_t life_ms = change->u.fails.life_ns / WEIR_NS_PER_MS;
    const struct step step = {.key = weir_sync_key(sync, key, &parts),
                              .command = WEIR_SLICE("INCRBY"),
                              .life_ms = life_ms > 0 ? life_ms : 1,
                              .amount = change->u.fails.amount};

    tell_step(sync, change, &step, on_count);
}

/* ---- usage ---- */

static const struct weir_slice counters[WEIR_USAGES] = {[WEIR_USAGE_REQUESTS] = WEIR_SLICE_INIT("rpm"),
                                                        [WEIR_USAGE_TOKENS] = WEIR_SLICE_INIT("tpm"),
                                                        [WEIR_USAGE_INPUT] = WEIR_SLICE_INIT("itpm"),
                                                        [WEIR_USAGE_OUTPUT] = WEIR_SLICE_INIT("otpm")};

static struct weir_key_parts usage_parts(const weir_deployment *deployment, weir_usage_kind usage,
                                         uint64_t minute, char text[WEIR_KEY_MINUTE_BYTES])
{
    return (struct weir_key_parts){.id = weir_deployment_id(deployment),
                                   .model = weir_deployment_model(deployment),
                                   .counter = counters[usage],
                                   .minute = weir_key_minute(minute * MINUTE_NS, text)};
}

/* Input and output tokens have one key; of requests and tokens there are two, whose counts are alike: that of
 * strategies and enforced limits, and the router's book, which the check before a call looks at. */
static enum weir_key usage_key(const weir_sync *sync, weir_usage_kind usage)
{
    bool split = usage == WEIR_USAGE_INPUT || usage == WEIR_USAGE_OUTPUT;

    return split || sync->book_only ? WEIR_KEY_ROUTER_USAGE : WEIR_KEY_USAGE;
}

static uint64_t limit_of(const weir_deployment *deployment, weir_usage_kind usage)
{
    const struct weir_minute_limits *limits = weir_deployment_minute_limits(deployment);
    const uint64_t all[WEIR_USAGES] = {[WEIR_USAGE_REQUESTS] = limits->requests,
                                       [WEIR_USAGE_TOKENS] = limits->tokens,
                                       [WEIR_USAGE_INPUT] = limits->input_tokens,
                                       [WEIR_USAGE_OUTPUT] = limits->output_tokens};

    return all[usage];
}

/* The router's book is kept where there are limits (19). */
static bool is_booked(const weir_deployment *deployment)
{
    return limit_of(deployment, WEIR_USAGE_REQUESTS) != WEIR_UNSET_NS ||
           limit_of(deployment, WEIR_USAGE_TOKENS) != WEIR_UNSET_NS;
}

/* Whether this process has begun the key, which it has from now on. */
static bool begin(weir_sync *sync, struct weir_slice key)
{
    uint64_t hash = weir_slice_hash(key, 0);
    uint64_t *place = &sync->begun[hash % WEIR_SYNC_BEGUN];
    bool before = *place == hash;

    *place = hash;
    return before;
}

static void give_life(weir_sync *sync, enum weir_key key, const struct weir_key_parts *parts)
{
    char life[WEIR_TEXT_U64_MAX];

    (void)!WEIR_SYNC_SEND(sync, WEIR_SYNC_NOBODY, WEIR_SLICE("PEXPIRE"), weir_sync_key(sync, key, parts),
                          weir_text_u64(USAGE_LIFE_S * 1000, life));
}

static void on_usage(void *user, uint64_t tag, const struct weir_reply *reply)
{
    struct weir_sync_told *told = user;
    weir_sync *sync = told->sync;
    const struct weir_change *change = &told->change;
    const weir_deployment *deployment = weir_snapshot_find_deployment(sync->snapshot, change->id);
    char text[WEIR_KEY_MINUTE_BYTES];
    struct weir_key_parts parts;
    int64_t count;

    if (reply != NULL && deployment != NULL && weir_reply_number(reply, &count) == 0 &&
        count == change->u.usage.amount) {
        parts = usage_parts(deployment, change->u.usage.usage, change->u.usage.minute, text);
        give_life(sync, usage_key(sync, change->u.usage.usage), &parts);
        give_life(sync, WEIR_KEY_ROUTER_USAGE, &parts);
    }
    on_count(user, tag, reply);
}

void weir_sync_tell_usage(weir_sync *sync, const struct weir_change *change)
{
    const weir_deployment *deployment = weir_snapshot_find_deployment(sync->snapshot, change->id);
    weir_usage_kind usage = change->u.usage.usage;
    enum weir_key key = usage_key(sync, usage);
    char text[WEIR_KEY_MINUTE_BYTES];
    struct weir_key_parts parts;
    struct step step = {.command = key == WEIR_KEY_USAGE ? WEIR_SLICE("INCRBY") : WEIR_SLICE("INCRBYFLOAT"),
                        .life_ms = USAGE_LIFE_S * 1000,
                        .amount = change->u.usage.amount};

    if (deployment == NULL) { /* its model is not known any more */
        weir_router_change_unknown(sync->router, change);
        return;
    }
    parts = usage_parts(deployment, usage, change->u.usage.minute, text);
    step.key = weir_sync_key(sync, key, &parts);
    step.is_begun = begin(sync, step.key);
    tell_step(sync, change, &step, on_usage);
    if (key != WEIR_KEY_USAGE || !is_booked(deployment))
        return;
    step.key = weir_sync_key(sync, WEIR_KEY_ROUTER_USAGE, &parts);
    step.command = WEIR_SLICE("INCRBYFLOAT");
    (void)!send_step(sync, &step, WEIR_SYNC_NOBODY); /* a book that nobody here reads */
}

/* ---- what runs ---- */

/* Below nothing: a count that expired while attempts ran, whose ends were told. */
static void raise_to_zero(weir_sync *sync, const struct weir_sync_told *told, int64_t count)
{
    const weir_deployment *deployment = weir_snapshot_find_deployment(sync->snapshot, told->change.id);
    struct weir_key_parts parts;
    char amount[SIGNED_MAX];

    if (deployment == NULL)
        return;
    parts = (struct weir_key_parts){.id = told->change.id, .group = weir_deployment_group(deployment)};
    (void)!WEIR_SYNC_SEND(sync, WEIR_SYNC_NOBODY, WEIR_SLICE("INCRBY"),
                          weir_sync_key(sync, WEIR_KEY_RUNNING, &parts), signed_text(-count, amount));
}

static void on_running(void *user, uint64_t tag, const struct weir_reply *reply)
{
    struct weir_sync_told *told = user;
    int64_t count;

    if (reply != NULL && reply->kind == WEIR_REPLY_INTEGER && weir_reply_number(reply, &count) == 0 &&
        count < 0)
        raise_to_zero(told->sync, told, count);
    on_count(user, tag, reply);
}

void weir_sync_tell_running(weir_sync *sync, const struct weir_change *change)
{
    const weir_deployment *deployment = weir_snapshot_find_deployment(sync->snapshot, change->id);
    struct weir_key_parts parts;
    struct step step = {.command = WEIR_SLICE("INCRBY"),
                        .life_ms = RUNNING_LIFE_S * 1000,
                        .amount = change->u.running.amount};

    if (deployment == NULL) {
        weir_router_change_unknown(sync->router, change);
        return;
    }
    parts = (struct weir_key_parts){.id = change->id, .group = weir_deployment_group(deployment)};
    step.key = weir_sync_key(sync, WEIR_KEY_RUNNING, &parts);
    tell_step(sync, change, &step, on_running);
}

/* ---- reading ---- */

static weir_usage_kind usage_of(enum weir_sync_pass pass)
{
    static const weir_usage_kind usages[WEIR_SYNC_PASSES] = {[WEIR_SYNC_REQUESTS] = WEIR_USAGE_REQUESTS,
                                                             [WEIR_SYNC_TOKENS] = WEIR_USAGE_TOKENS,
                                                             [WEIR_SYNC_INPUT] = WEIR_USAGE_INPUT,
                                                             [WEIR_SYNC_OUTPUT] = WEIR_USAGE_OUTPUT};

    return usages[pass];
}

static int usage_pass_key(weir_sync *sync, weir_usage_kind usage, uint64_t minute,
                          const weir_deployment *deployment)
{
    bool split = usage == WEIR_USAGE_INPUT || usage == WEIR_USAGE_OUTPUT;
    char text[WEIR_KEY_MINUTE_BYTES];
    struct weir_key_parts parts;

    if (!weir_sync_shares(sync, deployment, WEIR_SHARED_USAGE) ||
        (split && limit_of(deployment, usage) == WEIR_UNSET_NS))
        return 1;
    parts = usage_parts(deployment, usage, minute, text);
    return weir_key_write(&sync->keys, sync->name_space, usage_key(sync, usage), &parts);
}

int weir_sync_pass_key(weir_sync *sync, enum weir_sync_pass pass, uint64_t minute,
                       const weir_deployment *deployment)
{
    const struct weir_key_parts parts = {.id = weir_deployment_id(deployment),
                                         .group = weir_deployment_group(deployment)};
    bool cooldowns = pass == WEIR_SYNC_COOLDOWNS;

    if (!cooldowns && pass != WEIR_SYNC_RUNNING)
        return usage_pass_key(sync, usage_of(pass), minute, deployment);
    if (!weir_sync_shares(sync, deployment, cooldowns ? WEIR_SHARED_COOLDOWN : WEIR_SHARED_RUNNING))
        return 1;
    return weir_key_write(&sync->keys, sync->name_space, cooldowns ? WEIR_KEY_COOLDOWN : WEIR_KEY_RUNNING,
                          &parts);
}

void weir_sync_see_count(weir_sync *sync, const struct weir_sync_piece *piece, uint32_t index,
                         const struct weir_reply *value)
{
    const weir_deployment *deployment = weir_snapshot_deployment(sync->snapshot, index);
    int64_t count = 0;

    if (value->kind != WEIR_REPLY_NIL && weir_reply_number(value, &count) != 0)
        return; /* somebody else's */
    if (count < 0)
        count = 0;
    if (piece->pass == WEIR_SYNC_RUNNING)
        weir_router_learn_running(sync->router, deployment, (uint64_t)count);
    else
        weir_router_learn_usage(sync->router, deployment, usage_of(piece->pass), piece->minute,
                                (uint64_t)count);
}
