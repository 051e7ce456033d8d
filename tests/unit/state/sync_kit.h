/*
 * Processes that share a store, in virtual time: each is an engine kit with a weir_sync, and the store is a
 * small Redis.  A command is carried out when it is sent; its answer waits until the process is let go on.
 */
#ifndef TEST_SYNC_KIT_H
#define TEST_SYNC_KIT_H

#include "engine_kit.h"
#include "state/sync/sync.h"
#include "unit.h"

enum {
    STORE_KEYS_MAX = 512,
    STORE_LOG_MAX = 65536,
    STORE_TEXT_MAX = 4096,
    ANSWERS_MAX = 4096,
    PROCESSES_MAX = 4
};

struct store_key {
    char key[256];
    char text[STORE_TEXT_MAX];
    uint64_t ends_ms; /* of the store's clock; 0: never */
    bool is_list;     /* somebody else's, of another type */
};

struct process;

struct store {
    struct store_key keys[STORE_KEYS_MAX];
    size_t count;
    uint64_t now_ms;
    const char *refuses; /* what every command is answered with; NULL: it is carried out */
    size_t commands;
    size_t most_args;
    char log[STORE_LOG_MAX]; /* one line a command; the first that fit */
    size_t log_len;
    struct process *processes[PROCESSES_MAX];
    size_t process_count;
};

struct answer {
    struct weir_redis_sink sink;
    struct weir_reply reply;
    struct weir_reply items[128];
    char *text; /* of all of it */
};

struct process {
    struct store *store;
    struct kit *kit;
    weir_sync *sync; /* NULL: there was no memory for it */
    struct test_mem mem;
    int64_t clock_s; /* how far its wall clock is ahead */
    bool away;       /* commands are not taken */
    struct answer *answers;
    size_t answer_count;
    size_t reads;    /* first readings */
    size_t refusals; /* told */
    char heard[16][512];
    size_t heard_count;
};

/* The wall time at the kit's first: 2023-11-14 22:13:20 UTC. */
#define STORE_EPOCH_S UINT64_C(1700000000)

void store_init(struct store *store);
void store_set(struct store *store, const char *key, const char *text, double life_s); /* 0: no end */
void store_drop(struct store *store, const char *key);
void store_flush(struct store *store);
/* The text, or NULL. */
const char *store_get(struct store *store, const char *key);
/* Seconds that it lives; -1: for ever; -2: it is not there. */
double store_life(struct store *store, const char *key);
void store_make_list(struct store *store, const char *key);

/* A process with the configuration of an engine kit, which shares; connected. */
void process_open(struct process *process, struct store *store, const char *name, const char *name_space,
                  const char *config);
/* The same with memory that ends at the n-th allocation of the weir_sync; 0: never.  0 or negative. */
int process_open_poor(struct process *process, struct store *store, size_t fail_from, const char *config);
void process_close(struct process *process);
void process_reload(struct process *process, const char *config);

/* Gives it the answers that wait, until there are none; and what was published. */
void process_go_on(struct process *process);
/* The connection is lost with all answers; it is back. */
void process_lose(struct process *process);
void process_come_back(struct process *process);

/* Tells and goes on; reads and goes on. */
void process_tell(struct process *process);
void process_read(struct process *process);

/* Lets time go by for the store and all processes. */
void store_advance(struct store *store, double seconds);

#endif
