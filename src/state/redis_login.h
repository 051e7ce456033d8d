/*
 * What a new connection asks of its server before it counts as ready, and what the answers mean.
 *
 * All questions leave in one write.  They never bring a secret into a text: where a server's answer could
 * repeat what it was sent, only the answer's first word is kept.
 */
#ifndef WEIR_STATE_REDIS_LOGIN_H
#define WEIR_STATE_REDIS_LOGIN_H

#include <stddef.h>
#include <stdint.h>

#include <weir/attr.h>
#include <weir/slice.h>

#include "base/text.h"
#include "state/redis.h"
#include "state/redis_link.h"
#include "state/reply.h"

/* In the order in which they are asked. */
enum weir_redis_step {
    WEIR_REDIS_STEP_LOGIN,
    WEIR_REDIS_STEP_HELLO,
    WEIR_REDIS_STEP_SELECT,
    WEIR_REDIS_STEP_PING,
    WEIR_REDIS_STEP_SUBSCRIBE,
    WEIR_REDIS_STEPS
};

enum { WEIR_REDIS_STEP_ARGS_MAX = 3 };

/* A question as a command. */
struct weir_redis_question {
    struct weir_slice args[WEIR_REDIS_STEP_ARGS_MAX];
    size_t count;                   /* 0: a link of that spec does not ask this */
    char digits[WEIR_TEXT_U64_MAX]; /* of an argument */
};

void weir_redis_step_ask(const struct weir_redis_link_spec *spec, enum weir_redis_step step,
                         struct weir_redis_question *ret_question);

/* Why the answer ends the connection, or NONE; *ret_detail is the part of the answer that may be shown. */
enum weir_redis_cause weir_redis_step_judge(enum weir_redis_step step, const struct weir_reply *reply,
                                            struct weir_slice *ret_detail);

/* The same for the answer to any command later on. */
enum weir_redis_cause weir_redis_answer_judge(const struct weir_reply *reply, struct weir_slice *ret_detail);

#endif
