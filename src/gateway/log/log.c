/*
 * Rings and their writer.
 *
 * A ring has one producer (its lane's thread) and one consumer (the writer): head counts the bytes ever put
 * in, tail those taken out, and their difference, at most the ring's size, is what it holds.  Whole lines are
 * published at once by one store of head, so the writer never sees half a line.
 *
 * The writer sleeps on an eventfd.  Who finds it asleep wakes it; then it waits a moment before it writes, so
 * that under load one wake-up and one system call serve many lines.  Who fills the second half of a ring cuts
 * that moment short.
 *
 * A pipe that nobody empties holds up the writer, which then waits in poll alone: it writes no more at once
 * than a pipe that takes anything takes whole, and gives up soon when the process ends.
 */
#include "gateway/log/log.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/stat.h>
#include <unistd.h>

#include <weir/error.h>

#include "base/slice.h"

enum { RING_BYTES = 128 * 1024, GATHER_MS = 20, PATH_MAX_BYTES = 4096 };

/* How long the writer waits for room at a time, and how often when the process ends. */
enum { LOOK_MS = 100, END_LOOK_MS = 10, END_LOOKS = 100 };

struct ring {
    atomic_size_t head;
    atomic_size_t untold; /* of the lines dropped */
    _Atomic uint64_t dropped;
    char *bytes; /* NULL: the log is off */
    atomic_size_t tail;
};

struct file {
    const char *name;
    enum weir_log_format format;
    int fd;             /* -1: off */
    bool plain;         /* never blocks */
    bool refuses;       /* which was told */
    unsigned looks;     /* that are left at the end */
    char *path;         /* NULL: not opened here */
    struct ring *rings; /* by lanes; NULL: off */
};

struct weir_log {
    const struct weir_mem *mem;
    struct file files[WEIR_LOGS];
    size_t lanes;
    struct weir_buf *rooms; /* by lanes */
    int wake_fd;
    atomic_bool asleep;
    atomic_bool reopen;
    atomic_bool stopping;
    bool running;
    pthread_t thread;
};

static const char *const names[WEIR_LOGS] = {
    [WEIR_LOG_ACCESS] = "access log", [WEIR_LOG_EVENTS] = "event log"};

/* ---- putting lines ---- */

bool weir_log_is_on(const weir_log *log, weir_log_kind kind)
{
    return log->files[kind].rings != NULL;
}

enum weir_log_format weir_log_format_of(const weir_log *log, weir_log_kind kind)
{
    return log->files[kind].format;
}

struct weir_buf *weir_log_room(weir_log *log, size_t lane)
{
    weir_buf_clear(&log->rooms[lane]);
    return &log->rooms[lane];
}

/* Cannot fail: the counter never comes near its end. */
static void knock(const weir_log *log)
{
    const uint64_t one = 1;

    (void)!write(log->wake_fd, &one, sizeof(one));
}

static void lose(struct ring *ring, size_t lines)
{
    atomic_fetch_add_explicit(&ring->dropped, lines, memory_order_relaxed);
    atomic_fetch_add_explicit(&ring->untold, lines, memory_order_relaxed);
}

/* Puts the line into the ring; true when it is the one that enters the second half. */
static bool ring_put(struct ring *ring, struct weir_slice line)
{
    size_t head = atomic_load_explicit(&ring->head, memory_order_relaxed);
    size_t tail = atomic_load_explicit(&ring->tail, memory_order_acquire);
    size_t at = head % RING_BYTES;
    size_t first = line.len < RING_BYTES - at ? line.len : RING_BYTES - at;

    if (line.len > RING_BYTES - (head - tail)) {
        lose(ring, 1);
        return false;
    }
    memcpy(ring->bytes + at, line.ptr, first);
    if (first < line.len)
        memcpy(ring->bytes, line.ptr + first, line.len - first);
    /*
     * Ordered with the test of asleep: either the writer sees the line before it sleeps, or we see it asleep.
     */
    atomic_store_explicit(&ring->head, head + line.len, memory_order_seq_cst);
    return head - tail <= RING_BYTES / 2 && head - tail + line.len > RING_BYTES / 2;
}

static void wake(weir_log *log)
{
    if (atomic_load_explicit(&log->asleep, memory_order_seq_cst) &&
        atomic_exchange_explicit(&log->asleep, false, memory_order_seq_cst))
        knock(log);
}

void weir_log_put(weir_log *log, weir_log_kind kind, size_t lane, struct weir_slice line)
{
    struct file *file = &log->files[kind];

    if (file->rings == NULL)
        return;
    if (ring_put(&file->rings[lane], line))
        knock(log);
    else
        wake(log);
}

void weir_log_lose(weir_log *log, weir_log_kind kind, size_t lane)
{
    if (log->files[kind].rings != NULL)
        lose(&log->files[kind].rings[lane], 1);
}

uint64_t weir_log_dropped(const weir_log *log, weir_log_kind kind)
{
    const struct file *file = &log->files[kind];
    uint64_t dropped = 0;

    for (size_t i = 0; file->rings != NULL && i < log->lanes; i++)
        dropped += atomic_load_explicit(&file->rings[i].dropped, memory_order_relaxed);
    return dropped;
}

/* ---- writing them out ---- */

/* Waits until the file takes something; false: the process ends, and it takes nothing. */
static bool await_room(const weir_log *log, struct file *file)
{
    struct pollfd poll_fd = {.fd = file->fd, .events = POLLOUT};

    while (!file->plain && file->looks > 0) {
        bool ends = atomic_load_explicit(&log->stopping, memory_order_acquire);

        if (poll(&poll_fd, 1, ends ? END_LOOK_MS : LOOK_MS) > 0)
            return true;
        file->looks -= ends;
    }
    return file->plain;
}

/* What may be written at once: whole lines, unless one is too long. */
static struct weir_slice piece_of(const struct file *file, struct weir_slice bytes)
{
    size_t len = PIPE_BUF;

    if (file->plain || bytes.len <= PIPE_BUF)
        return bytes;
    while (len > 0 && bytes.ptr[len - 1] != '\n')
        len--;
    return weir_slice_sub(bytes, 0, len > 0 ? len : PIPE_BUF);
}

/* Said once, until it is mended. */
static void tell_refused(struct file *file, bool refuses)
{
    const char *path = file->path == NULL ? "" : file->path;

    if (refuses == file->refuses)
        return;
    if (refuses)
        (void)fprintf(stderr, "weir: the %s%s%.128s takes no lines: %.64s\n", file->name,
                      path[0] == '\0' ? "" : " ", path, strerror(errno));
    else
        (void)fprintf(stderr, "weir: the %s takes lines again\n", file->name);
    file->refuses = refuses;
}

/* Writes all of it; what is left of it when the file takes no more. */
static struct weir_slice write_all(const weir_log *log, struct file *file, struct weir_slice bytes)
{
    while (bytes.len > 0 && await_room(log, file)) {
        struct weir_slice piece = piece_of(file, bytes);
        ssize_t n = write(file->fd, piece.ptr, piece.len);

        if (n < 0 && (errno == EAGAIN || errno == EINTR))
            continue;
        tell_refused(file, n < 0);
        if (n < 0)
            break;
        bytes = weir_slice_sub(bytes, (size_t)n, bytes.len);
    }
    return bytes;
}

/* Says how many lines were lost since the last time. */
static void tell_dropped(const weir_log *log, struct file *file, struct ring *ring)
{
    size_t dropped = atomic_exchange_explicit(&ring->untold, 0, memory_order_relaxed);
    char text[96];
    int len;

    if (dropped == 0)
        return;
    len = snprintf(text, sizeof(text),
                   file->format == WEIR_LOG_JSON ? "{\"dropped_lines\":%zu}\n" : "dropped_lines=%zu\n",
                   dropped);
    if (len > 0 && write_all(log, file, (struct weir_slice){text, (size_t)len}).len > 0)
        atomic_fetch_add_explicit(&ring->untold, dropped, memory_order_relaxed);
}

static size_t count_lines(struct weir_slice bytes)
{
    size_t lines = 0;

    for (size_t i = 0; i < bytes.len; i++)
        lines += bytes.ptr[i] == '\n';
    return lines;
}

/* Takes out what the ring holds now.  A file that refuses it loses it: the log never holds up the calls. */
static bool ring_drain(const weir_log *log, struct file *file, struct ring *ring)
{
    size_t tail = atomic_load_explicit(&ring->tail, memory_order_relaxed);
    size_t head = atomic_load_explicit(&ring->head, memory_order_seq_cst);

    if (head == tail)
        return false;
    while (tail != head) {
        size_t at = tail % RING_BYTES;
        size_t len = head - tail < RING_BYTES - at ? head - tail : RING_BYTES - at;
        struct weir_slice left = write_all(log, file, (struct weir_slice){ring->bytes + at, len});

        lose(ring, count_lines(left));
        tail += len;
        atomic_store_explicit(&ring->tail, tail, memory_order_release);
    }
    tell_dropped(log, file, ring);
    return true;
}

static bool drain_all(weir_log *log)
{
    bool any = false;

    for (size_t kind = 0; kind < WEIR_LOGS; kind++)
        for (size_t i = 0; log->files[kind].rings != NULL && i < log->lanes; i++)
            any |= ring_drain(log, &log->files[kind], &log->files[kind].rings[i]);
    return any;
}

/* A pipe that nobody reads is refused, not waited for. */
static int open_path(const char *path)
{
    return open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC | O_NONBLOCK, 0640);
}

static void use(struct file *file, int fd)
{
    struct stat facts;

    file->fd = fd;
    file->plain = fstat(fd, &facts) == 0 && S_ISREG(facts.st_mode);
}

/* What was put before goes where it was put for. */
static void reopen_all(weir_log *log)
{
    if (!atomic_exchange_explicit(&log->reopen, false, memory_order_acquire))
        return;
    (void)drain_all(log);
    for (size_t kind = 0; kind < WEIR_LOGS; kind++) {
        struct file *file = &log->files[kind];
        int fd;

        if (file->path == NULL)
            continue;
        fd = open_path(file->path);
        if (fd < 0) {
            (void)fprintf(stderr, "weir: the %s %.128s cannot be opened again: %.64s\n", file->name,
                          file->path, strerror(errno));
            continue;
        }
        (void)close(file->fd);
        use(file, fd);
    }
}

void weir_log_reopen(weir_log *log)
{
    atomic_store_explicit(&log->reopen, true, memory_order_seq_cst);
    wake(log);
}

/* Waits for a knock, at most so long (negative: for ever). */
static void await_knock(const weir_log *log, int limit_ms)
{
    struct pollfd poll_fd = {.fd = log->wake_fd, .events = POLLIN};
    uint64_t count;

    if (poll(&poll_fd, 1, limit_ms) > 0)
        (void)!read(log->wake_fd, &count, sizeof(count));
}

static void *writer_main(void *user)
{
    weir_log *log = user;

    while (!atomic_load_explicit(&log->stopping, memory_order_acquire)) {
        reopen_all(log);
        if (drain_all(log)) {
            await_knock(log, GATHER_MS);
            continue;
        }
        atomic_store_explicit(&log->asleep, true, memory_order_seq_cst);
        if (drain_all(log) || atomic_load_explicit(&log->reopen, memory_order_seq_cst)) {
            /* Who saw us asleep has knocked: the next wait is then short, for nothing. */
            atomic_store_explicit(&log->asleep, false, memory_order_seq_cst);
            await_knock(log, GATHER_MS);
            continue;
        }
        await_knock(log, -1);
        await_knock(log, atomic_load_explicit(&log->stopping, memory_order_acquire) ? 0 : GATHER_MS);
    }
    (void)drain_all(log);
    return NULL;
}

/* ---- making and ending ---- */

static int refuse(char text[WEIR_LOG_TEXT_MAX], const char *what, const char *path)
{
    (void)snprintf(text, WEIR_LOG_TEXT_MAX, "the %s%s%.128s: %.64s", what, path[0] == '\0' ? "" : " ", path,
                   strerror(errno));
    return WEIR_LOG_REFUSED;
}

static int open_file(const struct weir_mem *mem, struct file *file, struct weir_slice where,
                     char text[WEIR_LOG_TEXT_MAX])
{
    int fd;

    if (weir_slice_eq(where, WEIR_SLICE("stdout"))) {
        use(file, STDOUT_FILENO);
        return 0;
    }
    if (weir_slice_eq(where, WEIR_SLICE("stderr"))) {
        use(file, STDERR_FILENO);
        return 0;
    }
    if (where.len >= PATH_MAX_BYTES) {
        errno = ENAMETOOLONG;
        return refuse(text, file->name, "");
    }
    file->path = mem->alloc(mem->user, PATH_MAX_BYTES);
    if (file->path == NULL)
        return WEIR_ERR_NOMEM;
    memcpy(file->path, where.ptr, where.len);
    file->path[where.len] = '\0';
    fd = open_path(file->path);
    if (fd < 0)
        return refuse(text, file->name, file->path);
    use(file, fd);
    return 0;
}

static int make_rings(const weir_log *log, struct file *file)
{
    file->rings = log->mem->alloc(log->mem->user, log->lanes * sizeof(*file->rings));
    if (file->rings == NULL)
        return WEIR_ERR_NOMEM;
    memset(file->rings, 0, log->lanes * sizeof(*file->rings));
    for (size_t i = 0; i < log->lanes; i++) {
        file->rings[i].bytes = log->mem->alloc(log->mem->user, RING_BYTES);
        if (file->rings[i].bytes == NULL)
            return WEIR_ERR_NOMEM;
    }
    return 0;
}

static int make_rooms(weir_log *log, size_t lanes)
{
    log->rooms = log->mem->alloc(log->mem->user, lanes * sizeof(*log->rooms));
    if (log->rooms == NULL)
        return WEIR_ERR_NOMEM;
    log->lanes = lanes;
    for (size_t i = 0; i < lanes; i++)
        weir_buf_init(&log->rooms[i], log->mem, WEIR_LOG_LINE_MAX);
    return 0;
}

static int start(weir_log *log, char text[WEIR_LOG_TEXT_MAX])
{
    log->wake_fd = eventfd(0, EFD_CLOEXEC);
    if (log->wake_fd < 0)
        return refuse(text, "eventfd of the logs", "");
    errno = pthread_create(&log->thread, NULL, writer_main, log);
    if (errno != 0)
        return refuse(text, "thread of the logs", "");
    log->running = true;
    return 0;
}

/* Opens those that are on, and starts the thread if there are any. */
static int open_all(weir_log *log, const struct weir_log_spec specs[WEIR_LOGS], char text[WEIR_LOG_TEXT_MAX])
{
    bool any = false;
    int r = 0;

    for (size_t kind = 0; kind < WEIR_LOGS && r == 0; kind++) {
        struct file *file = &log->files[kind];

        file->format = specs[kind].format;
        if (weir_slice_eq(specs[kind].where, WEIR_SLICE("off")))
            continue;
        r = open_file(log->mem, file, specs[kind].where, text);
        if (r == 0)
            r = make_rings(log, file);
        any = true;
    }
    return r == 0 && any ? start(log, text) : r;
}

int weir_log_new(const struct weir_mem *mem, const struct weir_log_spec specs[WEIR_LOGS], size_t lanes,
                 char text[WEIR_LOG_TEXT_MAX], weir_log **ret_log)
{
    weir_log *log = mem->alloc(mem->user, sizeof(*log));
    int r;

    if (log == NULL)
        return WEIR_ERR_NOMEM;
    *log = (weir_log){.mem = mem, .wake_fd = -1};
    for (size_t kind = 0; kind < WEIR_LOGS; kind++)
        log->files[kind] = (struct file){.name = names[kind], .fd = -1, .looks = END_LOOKS};
    r = make_rooms(log, lanes);
    if (r == 0)
        r = open_all(log, specs, text);
    if (r != 0) {
        weir_log_free(log);
        return r;
    }
    *ret_log = log;
    return 0;
}

static void stop(weir_log *log)
{
    if (!log->running)
        return;
    atomic_store_explicit(&log->stopping, true, memory_order_release);
    knock(log);
    (void)pthread_join(log->thread, NULL);
}

static void close_file(const weir_log *log, struct file *file)
{
    const struct weir_mem *mem = log->mem;

    for (size_t i = 0; file->rings != NULL && i < log->lanes; i++)
        mem->free(mem->user, file->rings[i].bytes, RING_BYTES);
    if (file->rings != NULL)
        mem->free(mem->user, file->rings, log->lanes * sizeof(*file->rings));
    if (file->path == NULL)
        return;
    if (file->fd >= 0)
        (void)close(file->fd);
    mem->free(mem->user, file->path, PATH_MAX_BYTES);
}

void weir_log_free(weir_log *log)
{
    if (log == NULL)
        return;
    stop(log);
    for (size_t kind = 0; kind < WEIR_LOGS; kind++)
        close_file(log, &log->files[kind]);
    for (size_t i = 0; i < log->lanes; i++)
        weir_buf_deinit(&log->rooms[i]);
    if (log->rooms != NULL)
        log->mem->free(log->mem->user, log->rooms, log->lanes * sizeof(*log->rooms));
    if (log->wake_fd >= 0)
        (void)close(log->wake_fd);
    log->mem->free(log->mem->user, log, sizeof(*log));
}
