#include "redis_process.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "net_kit.h"
#include "unit.h"

#include <netinet/in.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>

enum { PATIENCE_MS = 10000 };

bool redis_process_is_possible(void)
{
    return system("command -v redis-server >/dev/null 2>&1") == 0;
}

static uint16_t free_port(void)
{
    uint16_t port;

    (void)close(kit_listen(&port));
    return port;
}

static void nap(void)
{
    const struct timespec time = {.tv_nsec = 5000000};

    (void)nanosleep(&time, NULL);
}

static bool accepts(uint16_t port)
{
    struct sockaddr_in sa = {.sin_family = AF_INET, .sin_port = htons(port)};
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    bool done;

    sa.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    assert_true(fd >= 0);
    done = connect(fd, (struct sockaddr *)&sa, sizeof(sa)) == 0;
    (void)close(fd);
    return done;
}

static void write_config(const struct redis_process *process, const char *path, const char *config)
{
    FILE *file = fopen(path, "w");

    assert_non_null(file);
    (void)fprintf(file, "port %u\nbind 127.0.0.1\nsave \"\"\nappendonly no\ndir %s\n%s\n", process->port,
                  process->directory, config);
    assert_int_equal(fclose(file), 0);
}

static void run(const char *path, bool sentinel)
{
    int null = open("/dev/null", O_RDWR | O_CLOEXEC);

    /* A test that fails ends nothing. */
    (void)prctl(PR_SET_PDEATHSIG, SIGKILL);
    (void)dup2(null, STDOUT_FILENO);
    (void)dup2(null, STDERR_FILENO);
    (void)execlp("redis-server", "redis-server", path, sentinel ? "--sentinel" : NULL, (char *)NULL);
    _exit(127);
}

void redis_process_start(struct redis_process *process, uint16_t port, const char *config, bool sentinel)
{
    char path[96];

    (void)snprintf(process->directory, sizeof(process->directory), "/tmp/weir-redis-XXXXXX");
    assert_non_null(mkdtemp(process->directory));
    process->port = port == 0 ? free_port() : port;
    (void)snprintf(path, sizeof(path), "%s/conf", process->directory);
    write_config(process, path, config);
    process->pid = fork();
    assert_true(process->pid >= 0);
    if (process->pid == 0)
        run(path, sentinel);
    for (unsigned i = 0; i < PATIENCE_MS / 5; i++) {
        if (accepts(process->port))
            return;
        nap();
    }
    redis_process_end(process);
    fail_msg("redis-server did not start");
}

void redis_process_signal(const struct redis_process *process, int signal)
{
    assert_int_equal(kill(process->pid, signal), 0);
}

void redis_process_end(struct redis_process *process)
{
    char command[96];

    if (process->pid <= 0)
        return;
    (void)kill(process->pid, SIGKILL);
    (void)waitpid(process->pid, NULL, 0);
    process->pid = 0;
    (void)snprintf(command, sizeof(command), "rm -rf '%s'", process->directory);
    assert_int_equal(system(command), 0);
}
