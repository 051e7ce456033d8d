/*
 * Between fork and exec a child of a process with threads may do little: another thread may have held any
 * lock when it was made.  So all that the child needs is laid out before, and it makes system calls only.
 * That LISTEN_PID must be the child's own number, which nobody knows before, is why it writes digits into a
 * room that was left for them.
 *
 * Descriptors are moved out of the way first and then to their places, as a place may be where one of the
 * others is.
 */
#include "gateway/process/relaunch.h"

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <weir/error.h>

#include "base/arena.h"
#include "base/slice.h"
#include "gateway/process/successor.h"
#include "net/inherited.h"

enum {
    BLOCK_BYTES = 16 * 1024,
    TEXT_MAX = 2 * 1024 * 1024, /* what the kernel takes by itself, about */
    PLAN_MAX = 32 * 1024 * 1024,
    VARIABLE_MAX = 64,
    PID_DIGITS = 10
};

struct plan {
    const char *program;
    char **argv;
    char **envp;
    char *pid_room; /* of PID_DIGITS */
    int *fds;       /* the sockets and the link */
    size_t fd_count;
    const sigset_t *blocked;
};

/* ---- what to run ---- */

static int read_command_line(struct weir_arena *arena, struct weir_slice *ret_text)
{
    char *room = weir_arena_alloc(arena, TEXT_MAX);
    int fd = open("/proc/self/cmdline", O_RDONLY | O_CLOEXEC);
    size_t len = 0;
    ssize_t n = 1;

    while (fd >= 0 && room != NULL && n > 0 && len < TEXT_MAX) {
        n = read(fd, room + len, TEXT_MAX - len);
        len += n > 0 ? (size_t)n : 0;
    }
    if (fd >= 0)
        (void)close(fd);
    if (room == NULL || n != 0 || len == 0 || room[len - 1] != '\0')
        return WEIR_ERR_IO;
    *ret_text = (struct weir_slice){room, len};
    return 0;
}

/* Words that end with a NUL each. */
static char **split(struct weir_arena *arena, struct weir_slice text)
{
    size_t count = 0;
    char **words;
    char *at = (char *)(uintptr_t)text.ptr;

    for (size_t i = 0; i < text.len; i++)
        count += text.ptr[i] == '\0';
    words = weir_arena_zalloc(arena, count + 1, sizeof(*words));
    for (size_t i = 0; words != NULL && i < count; i++) {
        words[i] = at;
        at += strlen(at) + 1;
    }
    return words;
}

/* The file that the shell would have found; the word itself where there is none. */
static const char *find_program(struct weir_arena *arena, const char *word)
{
    const char *path = getenv("PATH");

    while (strchr(word, '/') == NULL && path != NULL) {
        size_t len = strcspn(path, ":");
        const struct weir_slice parts[] = {
            {path, len}, WEIR_SLICE("/"), {word, strlen(word) + 1}}; /* with its NUL */
        struct weir_slice file = weir_arena_join(arena, parts, sizeof(parts) / sizeof(*parts));

        if (len > 0 && file.len > 0 && access(file.ptr, X_OK) == 0)
            return file.ptr;
        path = path[len] == ':' ? path + len + 1 : NULL;
    }
    return word;
}

/* ---- its environment ---- */

/* What is this process's own, or is said anew. */
static bool is_ours(const char *variable)
{
    static const char *const names[] = {
        "LISTEN_PID=", "LISTEN_FDS=", "LISTEN_FDNAMES=", "WATCHDOG_PID=", WEIR_SUCCESSOR_VARIABLE "="};

    for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
        if (strncmp(variable, names[i], strlen(names[i])) == 0)
            return true;
    return false;
}

static char *variable(struct weir_arena *arena, const char *name, size_t value)
{
    char *text = weir_arena_zalloc(arena, VARIABLE_MAX, 1);

    if (text != NULL)
        (void)snprintf(text, VARIABLE_MAX, "%s=%0*zu", name, PID_DIGITS, value);
    return text;
}

static void lay_out_environment(struct plan *plan, struct weir_arena *arena, size_t sockets)
{
    size_t count = 0;
    char *pid;

    while (environ != NULL && environ[count] != NULL)
        count++;
    plan->envp = weir_arena_zalloc(arena, count + 4, sizeof(*plan->envp));
    pid = variable(arena, "LISTEN_PID", 0);
    if (plan->envp == NULL || pid == NULL)
        return;
    plan->pid_room = pid + strlen("LISTEN_PID=");
    count = 0;
    for (char **v = environ; v != NULL && *v != NULL; v++)
        if (!is_ours(*v))
            plan->envp[count++] = *v;
    plan->envp[count++] = variable(arena, WEIR_SUCCESSOR_VARIABLE, WEIR_INHERITED_FIRST + sockets);
    plan->envp[count++] = variable(arena, "LISTEN_FDS", sockets);
    plan->envp[count++] = pid;
}

static int lay_out(const struct weir_relaunch *relaunch, struct weir_arena *arena, struct plan *ret_plan)
{
    size_t sockets = weir_listener_socket_count(relaunch->listener);
    struct plan plan = {.blocked = relaunch->blocked, .fd_count = sockets + 1};
    struct weir_slice text;
    int r = read_command_line(arena, &text);

    if (r < 0)
        return r;
    plan.argv = split(arena, text);
    plan.fds = weir_arena_zalloc(arena, plan.fd_count, sizeof(*plan.fds));
    lay_out_environment(&plan, arena, sockets);
    if (weir_arena_failed(arena))
        return WEIR_ERR_NOMEM;
    for (size_t i = 0; i < sockets; i++)
        plan.fds[i] = weir_listener_socket(relaunch->listener, i);
    plan.fds[sockets] = relaunch->link;
    plan.program = find_program(arena, plan.argv[0]);
    *ret_plan = plan;
    return 0;
}

/* ---- in the child ---- */

static void write_pid(char *room)
{
    pid_t pid = getpid();

    for (size_t i = PID_DIGITS; i > 0; i--) {
        room[i - 1] = (char)('0' + pid % 10);
        pid /= 10;
    }
}

static int place_descriptors(struct plan *plan)
{
    int above = WEIR_INHERITED_FIRST + (int)plan->fd_count;

    for (size_t i = 0; i < plan->fd_count; i++) {
        plan->fds[i] = fcntl(plan->fds[i], F_DUPFD_CLOEXEC, above);
        if (plan->fds[i] < 0)
            return errno;
    }
    for (size_t i = 0; i < plan->fd_count; i++)
        if (dup2(plan->fds[i], WEIR_INHERITED_FIRST + (int)i) < 0)
            return errno;
    return 0;
}

_Noreturn static void become(struct plan *plan)
{
    int link = plan->fds[plan->fd_count - 1];
    int error = place_descriptors(plan);

    if (error == 0) {
        link = plan->fds[plan->fd_count - 1];
        write_pid(plan->pid_room);
        (void)signal(SIGPIPE, SIG_DFL);
        (void)signal(SIGXFSZ, SIG_DFL);
        (void)sigprocmask(SIG_UNBLOCK, plan->blocked, NULL);
        (void)execve(plan->program, plan->argv, plan->envp);
        error = errno;
    }
    (void)!write(link, &error, sizeof(error));
    _exit(127);
}

int weir_relaunch(const struct weir_relaunch *relaunch, pid_t *ret_pid)
{
    WEIR_CLEANUP(weir_arena_deinit) struct weir_arena arena;
    struct plan plan;
    pid_t pid;
    int r;

    weir_arena_init(&arena, relaunch->mem, BLOCK_BYTES, PLAN_MAX);
    r = lay_out(relaunch, &arena, &plan);
    if (r < 0)
        return r;
    pid = fork();
    if (pid == 0)
        become(&plan);
    if (pid < 0)
        return WEIR_ERR_IO;
    *ret_pid = pid;
    return 0;
}
