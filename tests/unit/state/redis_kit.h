/*
 * A client of Redis under test, what it told, and the server's side of it, played by hand.
 */
#ifndef WEIR_TESTS_REDIS_KIT_H
#define WEIR_TESTS_REDIS_KIT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "net_kit.h"
#include "state/redis.h"
#include "test_mem.h"

enum { REDIS_KIT_STATES_MAX = 64, REDIS_KIT_TEXT_MAX = 400 };

struct redis_kit_state {
    bool up;
    bool resting;
    bool deaf;
    enum weir_redis_cause cause;
    char text[REDIS_KIT_TEXT_MAX];
};

/* The answers of commands that were sent by redis_kit_send, in the order in which they came. */
struct redis_kit_answer {
    uint64_t tag;
    bool lost;
    enum weir_reply_kind kind;
    int64_t number;
    char text[64];
    size_t count;
};

enum { REDIS_KIT_ANSWERS_MAX = 4096 };

struct redis_kit {
    struct test_mem mem;
    weir_loop *loop;
    weir_resolver *resolver;
    weir_redis *redis;
    struct weir_redis_spec spec; /* to be changed before redis_kit_start */
    struct weir_redis_address server;
    int listening;
    size_t state_count;
    struct redis_kit_state states[REDIS_KIT_STATES_MAX];
    size_t answer_count;
    struct redis_kit_answer answers[REDIS_KIT_ANSWERS_MAX];
    size_t message_count;
    char message[64]; /* the last one */
    struct kit_text text;
};

/* A loop, a resolver, a spec for a server that listens on server.port of 127.0.0.1, which is a socket of the
 * test's own.  The client's limits of time are short. */
struct redis_kit *redis_kit_open(void);

/* Frees all; every byte must have come back. */
void redis_kit_close(struct redis_kit *kit);

void redis_kit_start(struct redis_kit *kit);

/* Waits for the next connection of the client and lets it in: a plain master. */
int redis_kit_serve(struct redis_kit *kit);

/* The same with an answer to HELLO and to PING of the caller's. */
int redis_kit_serve_as(struct redis_kit *kit, const char *hello, const char *ping);

/* Waits until so many states were told; returns the last of them. */
const struct redis_kit_state *redis_kit_state(struct redis_kit *kit, size_t count);

/* Waits until so many answers came. */
void redis_kit_answers(struct redis_kit *kit, size_t count);
void redis_kit_messages(struct redis_kit *kit, size_t count);

/* One command of up to three words; the result of weir_redis_send. */
int redis_kit_send(struct redis_kit *kit, uint64_t tag, const char *a, const char *b, const char *c);

/* Answers of HELLO. */
extern const char redis_kit_master[], redis_kit_replica[], redis_kit_cluster[], redis_kit_sentinel[];

#endif
