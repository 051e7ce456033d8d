/*
 * One question at a time: who wants the lock tries to set it; where it is set already, whose it is is asked;
 * who holds it looks whether it still does before it makes it last.  Between the look and the renewal another
 * process cannot get in unless the lock has nearly run out, which takes a holder that was late by most of its
 * length; then two ask for a while, and that is all.
 */
#include "gateway/health/duty.h"

#include <string.h>

#include "base/slice.h"

#define TRY_EVERY_NS   (5 * WEIR_NS_PER_S)
#define RENEW_EVERY_NS (20 * WEIR_NS_PER_S)
#define AGAIN_NS       WEIR_NS_PER_S
#define START_GRACE_NS (3 * WEIR_NS_PER_S)
#define LOCK_NS        (WEIR_DUTY_LOCK_S * WEIR_NS_PER_S)

enum question { TRY, WHOSE, LOOK, RENEW, QUESTIONS };

static struct weir_slice key_of(const struct weir_duty *duty)
{
    return (struct weir_slice){duty->key, duty->key_len};
}

static struct weir_slice name_of(const struct weir_duty *duty)
{
    return (struct weir_slice){duty->name, duty->name_len};
}

static size_t copy(char *room, size_t max, struct weir_slice text)
{
    size_t len = text.len < max ? text.len : max;

    if (len > 0)
        memcpy(room, text.ptr, len);
    return len;
}

static void become(struct weir_duty *duty, weir_duty_state state, struct weir_slice owner, uint64_t due_ns)
{
    bool same =
        duty->state == state && weir_slice_eq((struct weir_slice){duty->owner, duty->owner_len}, owner);

    duty->state = state;
    duty->due_ns = due_ns;
    duty->owner_len = copy(duty->owner, sizeof(duty->owner), owner);
    if (!same)
        duty->host.changed(duty->host.user);
}

/* Redis did not answer. */
static void go_without(struct weir_duty *duty, uint64_t now_ns)
{
    uint64_t grace_ns = duty->state == WEIR_DUTY_ASKING ? START_GRACE_NS : LOCK_NS;
    struct weir_slice owner = {duty->owner, duty->owner_len};

    if (now_ns >= weir_time_add(duty->heard_ns, grace_ns))
        become(duty, WEIR_DUTY_ALONE, WEIR_SLICE_EMPTY, weir_time_add(now_ns, AGAIN_NS));
    else
        become(duty, duty->state, owner, weir_time_add(now_ns, AGAIN_NS));
}

static void on_reply(void *user, uint64_t tag, const struct weir_reply *reply);

static void ask(struct weir_duty *duty, enum question question)
{
    const struct weir_slice key = key_of(duty), name = name_of(duty), life = WEIR_SLICE("60");
    const struct weir_slice try[] = {WEIR_SLICE("SET"), key, name, WEIR_SLICE("NX"), WEIR_SLICE("EX"), life};
    const struct weir_slice get[] = {WEIR_SLICE("GET"), key};
    const struct weir_slice renew[] = {WEIR_SLICE("EXPIRE"), key, life};
    const struct {
        const struct weir_slice *args;
        size_t count;
    } commands[QUESTIONS] = {[TRY] = {try, 6}, [WHOSE] = {get, 2}, [LOOK] = {get, 2}, [RENEW] = {renew, 3}};
    const struct weir_redis_sink sink = {
        .done = on_reply, .user = duty, .tag = duty->generation * QUESTIONS + (uint64_t)question};

    _Static_assert(WEIR_DUTY_LOCK_S == 60, "the command says so");
    duty->due_ns = WEIR_TIME_NEVER;
    if (duty->host.send(duty->host.user, commands[question].args, commands[question].count, sink) != 0)
        go_without(duty, duty->host.now_ns(duty->host.user));
}

static void hold(struct weir_duty *duty, uint64_t now_ns)
{
    duty->renewed_ns = now_ns;
    become(duty, WEIR_DUTY_MINE, name_of(duty), weir_time_add(now_ns, RENEW_EVERY_NS));
}

/* Whose the lock is; empty: nobody's. */
static void take_owner(struct weir_duty *duty, struct weir_slice owner, uint64_t now_ns)
{
    if (weir_slice_eq(owner, name_of(duty)))
        ask(duty, RENEW);
    else if (owner.len == 0)
        become(duty, duty->state == WEIR_DUTY_MINE ? WEIR_DUTY_ASKING : duty->state, WEIR_SLICE_EMPTY,
               now_ns);
    else
        become(duty, WEIR_DUTY_OTHERS, owner, weir_time_add(now_ns, TRY_EVERY_NS));
}

static void on_reply(void *user, uint64_t tag, const struct weir_reply *reply)
{
    struct weir_duty *duty = user;
    uint64_t now_ns;

    if (duty->state == WEIR_DUTY_NONE || tag / QUESTIONS != duty->generation)
        return;
    now_ns = duty->host.now_ns(duty->host.user);
    if (reply == NULL || reply->kind == WEIR_REPLY_ERROR) {
        go_without(duty, now_ns);
        return;
    }
    duty->heard_ns = now_ns;
    switch ((enum question)(tag % QUESTIONS)) {
    case TRY:
        if (reply->kind == WEIR_REPLY_STATUS)
            hold(duty, now_ns);
        else
            ask(duty, WHOSE);
        return;
    case WHOSE:
    case LOOK:
        take_owner(duty, reply->text, now_ns);
        return;
    case RENEW:
        if (reply->number == 1)
            hold(duty, now_ns);
        else
            take_owner(duty, WEIR_SLICE_EMPTY, now_ns);
        return;
    case QUESTIONS:
        return;
    }
}

void weir_duty_begin(struct weir_duty *duty, const struct weir_duty_host *host, struct weir_slice key,
                     struct weir_slice name)
{
    duty->host = *host;
    duty->generation++;
    duty->state = WEIR_DUTY_ASKING;
    duty->key_len = copy(duty->key, sizeof(duty->key), key);
    duty->name_len = copy(duty->name, sizeof(duty->name), name);
    duty->owner_len = 0;
    duty->due_ns = duty->heard_ns = host->now_ns(host->user);
}

void weir_duty_end(struct weir_duty *duty)
{
    const struct weir_slice args[] = {WEIR_SLICE("DEL"), key_of(duty)};
    const struct weir_redis_sink nobody = {.done = NULL};

    /* Nothing but time can have taken the lock away, if that was renewed of late. */
    if (duty->state == WEIR_DUTY_MINE &&
        duty->host.now_ns(duty->host.user) < weir_time_add(duty->renewed_ns, LOCK_NS / 2))
        (void)!duty->host.send(duty->host.user, args, 2, nobody);
    duty->state = WEIR_DUTY_NONE;
    duty->due_ns = WEIR_TIME_NEVER;
    duty->owner_len = 0;
}

void weir_duty_tick(struct weir_duty *duty)
{
    if (duty->state == WEIR_DUTY_NONE || duty->host.now_ns(duty->host.user) < duty->due_ns)
        return;
    ask(duty, duty->state == WEIR_DUTY_MINE ? LOOK : TRY);
}
