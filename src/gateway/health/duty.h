/*
 * Which one of several processes asks the deployments: the one that holds a lock in Redis (RS 2.6, 17).
 *
 *            a lock was got, or is still ours
 *   ASKING ----------------------------------> MINE      has the duty, renews the lock
 *     |  \-----------------------------------> OTHERS    looks again and again whether the lock is free
 *     |      somebody else has it               |
 *     `---------- Redis is away for long -------'----> ALONE      has the duty, as all others do
 *
 * A lock that nobody renews ends by itself, so the duty of a process that died passes to another one.  What a
 * process finds reaches the others by state/sync, whoever has the duty.
 *
 * Reads no clock.  One thread, that of the line's answers.
 */
#ifndef WEIR_GATEWAY_DUTY_H
#define WEIR_GATEWAY_DUTY_H

#include <stdbool.h>
#include <stdint.h>

#include <weir/slice.h>

#include "base/time.h"
#include "state/redis.h"

enum { WEIR_DUTY_NAME_MAX = 96, WEIR_DUTY_KEY_MAX = 512 };

/* How long a lock lasts. */
#define WEIR_DUTY_LOCK_S 60

typedef enum weir_duty_state {
    WEIR_DUTY_NONE, /* it was not begun, or has ended */
    WEIR_DUTY_ASKING,
    WEIR_DUTY_MINE,
    WEIR_DUTY_OTHERS,
    WEIR_DUTY_ALONE
} weir_duty_state;

struct weir_duty_host {
    void *user;
    /* As weir_redis_send. */
    int (*send)(void *user, const struct weir_slice *args, size_t count, struct weir_redis_sink sink);
    uint64_t (*now_ns)(void *user);
    /* State or owner is another; not called from inside of begin and end. */
    void (*changed)(void *user);
};

struct weir_duty {
    struct weir_duty_host host;
    weir_duty_state state;
    uint64_t due_ns;     /* WEIR_TIME_NEVER: an answer is waited for */
    uint64_t heard_ns;   /* when Redis answered last */
    uint64_t renewed_ns; /* when the lock was made to last anew */
    uint64_t generation; /* of the answers that are waited for */
    char key[WEIR_DUTY_KEY_MAX];
    size_t key_len;
    char name[WEIR_DUTY_NAME_MAX];
    size_t name_len;
    char owner[WEIR_DUTY_NAME_MAX]; /* of the lock, as far as it is known */
    size_t owner_len;
};

/* Begins to ask; name tells this process from all others.  Both are copied, and cut off at their maximum. */
void weir_duty_begin(struct weir_duty *duty, const struct weir_duty_host *host, struct weir_slice key,
                     struct weir_slice name);

/* Gives the lock back, if it is held here.  Answers that come later are ignored; the duty must live as long
 * as they may.  Accepts a zeroed one. */
void weir_duty_end(struct weir_duty *duty);

/* What is due is done. */
void weir_duty_tick(struct weir_duty *duty);

/* This process asks. */
static inline bool weir_duty_is_here(const struct weir_duty *duty)
{
    return duty->state == WEIR_DUTY_MINE || duty->state == WEIR_DUTY_ALONE;
}

#endif
