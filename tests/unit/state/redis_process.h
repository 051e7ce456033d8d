/* Real redis-servers, started and ended by a test. */
#ifndef WEIR_TESTS_REDIS_PROCESS_H
#define WEIR_TESTS_REDIS_PROCESS_H

#include <stdbool.h>
#include <stdint.h>

#include <sys/types.h>

struct redis_process {
    pid_t pid;
    uint16_t port;
    char directory[64]; /* its own, removed at the end */
};

/* There is a redis-server in the PATH. */
bool redis_process_is_possible(void);

/*
 * Starts one that keeps nothing on disk.  port 0 takes a free one.  config is more lines of its
 * configuration, without "port"; sentinel makes it a Sentinel.  Returns when it accepts connections.
 */
void redis_process_start(struct redis_process *process, uint16_t port, const char *config, bool sentinel);

void redis_process_signal(const struct redis_process *process, int signal);

/* Kills it, waits for its end and removes its directory.  Does nothing on one that is not running. */
void redis_process_end(struct redis_process *process);

#endif
