/*
 * Rings and their writer.
 *
 * A ring has one producer (its worker) and one consumer (the writer): head counts the bytes ever put in, tail
 * those taken out, and their difference, at most the ring's size, is what it holds.  Whole lines are
 * published at once by one store of head, so the writer never sees half a line.
 *
 * The writer sleeps on an eventfd.  Who finds it asleep wakes it; then it waits a moment before it writes, so
 * that under load one wake-up and one system call serve many lines.  Who fills the second half of a ring cuts
 * that moment short.
 */
#include "gateway/log/access_log.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

#include <weir/error.h>

#include "base/slice.h"
#include "base/time.h"

enum { RING_BYTES = 128 * 1024, GATHER_MS = 20, PATH_MAX_BYTES = 4096 };

struct ring {
    atomic_size_t head;
    atomic_size_t dropped;
    struct weir_buf line; /* the worker's room for formatting */
    char *bytes;
    atomic_size_t tail;
};

struct weir_access_log {
    const struct weir_mem *mem;
    enum weir_log_format format;
    int fd; /* -1: off */
    bool own_fd;
    int wake_fd;
    atomic_bool asleep;
    atomic_bool stopping;
    bool running;
    pthread_t thread;
    size_t workers;
    struct ring *rings;
};

static uint64_t wall_now_ns(void)
{
    struct timespec now;

    clock_gettime(CLOCK_REALTIME, &now);
    return (uint64_t)now.tv_sec * WEIR_NS_PER_S + (uint64_t)now.tv_nsec;
}

/* Cannot fail: the counter never comes near its end. */
static void knock(const weir_access_log *log)
{
    const uint64_t one = 1;

    (void)!write(log->wake_fd, &one, sizeof(one));
}

/* Puts the line into the ring; true when it is the one that enters the second half. */
static bool ring_put(struct ring *ring, struct weir_slice line)
{
    size_t head = atomic_load_explicit(&ring->head, memory_order_relaxed);
    size_t tail = atomic_load_explicit(&ring->tail, memory_order_acquire);
    size_t at = head % RING_BYTES;
    size_t first = line.len < RING_BYTES - at ? line.len : RING_BYTES - at;

    if (line.len > RING_BYTES - (head - tail)) {
        atomic_fetch_add_explicit(&ring->dropped, 1, memory_order_relaxed);
        return false;
    }
    memcpy(ring->bytes + at, line.ptr, first);
    memcpy(ring->bytes, line.ptr + first, line.len - first);
    /*
     * Ordered with the test of asleep: either the writer sees the line before it sleeps, or we see it asleep.
     */
    atomic_store_explicit(&ring->head, head + line.len, memory_order_seq_cst);
    return head - tail <= RING_BYTES / 2 && head - tail + line.len > RING_BYTES / 2;
}

void weir_access_log_write(weir_access_log *log, size_t worker, const struct weir_access *access)
{
    struct ring *ring;
    bool half_full;

    if (log->fd < 0)
        return;
    ring = &log->rings[worker];
    weir_buf_clear(&ring->line);
    if (weir_access_format(access, log->format, wall_now_ns(), &ring->line) < 0) {
        atomic_fetch_add_explicit(&ring->dropped, 1, memory_order_relaxed);
        return;
    }
    half_full = ring_put(ring, weir_buf_slice(&ring->line));
    if (half_full || (atomic_load_explicit(&log->asleep, memory_order_seq_cst) &&
                      atomic_exchange_explicit(&log->asleep, false, memory_order_seq_cst)))
        knock(log);
}

/* Writes all of it; false when the file takes no more. */
static bool write_all(int fd, struct weir_slice bytes)
{
    while (bytes.len > 0) {
        ssize_t n = write(fd, bytes.ptr, bytes.len);

        if (n >= 0) {
            bytes.ptr += n;
            bytes.len -= (size_t)n;
        } else if (errno == EAGAIN) {
            struct pollfd poll_fd = {.fd = fd, .events = POLLOUT};

            (void)poll(&poll_fd, 1, 1000);
        } else if (errno != EINTR) {
            return false;
        }
    }
    return true;
}

/* Says how many lines were lost since the last time. */
static void tell_dropped(weir_access_log *log, struct ring *ring)
{
    size_t dropped = atomic_exchange_explicit(&ring->dropped, 0, memory_order_relaxed);
    char text[96];
    int len;

    if (dropped == 0)
        return;
    len =
        snprintf(text, sizeof(text),
                 log->format == WEIR_LOG_JSON ? "{\"dropped_lines\":%zu}\n" : "dropped_lines=%zu\n", dropped);
    if (len > 0)
        (void)write_all(log->fd, (struct weir_slice){text, (size_t)len});
}

/* Takes out what the ring holds now.  A file that refuses it loses it: the log never holds up the calls. */
static bool ring_drain(weir_access_log *log, struct ring *ring)
{
    size_t tail = atomic_load_explicit(&ring->tail, memory_order_relaxed);
    size_t head = atomic_load_explicit(&ring->head, memory_order_seq_cst);

    if (head == tail)
        return false;
    while (tail != head) {
        size_t at = tail % RING_BYTES;
        size_t len = head - tail < RING_BYTES - at ? head - tail : RING_BYTES - at;

        (void)write_all(log->fd, (struct weir_slice){ring->bytes + at, len});
        tail += len;
        atomic_store_explicit(&ring->tail, tail, memory_order_release);
    }
    tell_dropped(log, ring);
    return true;
}

static bool drain_all(weir_access_log *log)
{
    bool any = false;

    for (size_t i = 0; i < log->workers; i++)
        any |= ring_drain(log, &log->rings[i]);
    return any;
}

/* Waits for a knock, at most so long (negative: for ever). */
static void await_knock(const weir_access_log *log, int limit_ms)
{
    struct pollfd poll_fd = {.fd = log->wake_fd, .events = POLLIN};
    uint64_t count;

    if (poll(&poll_fd, 1, limit_ms) > 0)
        (void)!read(log->wake_fd, &count, sizeof(count));
}

static void *writer_main(void *user)
{
    weir_access_log *log = user;

    while (!atomic_load_explicit(&log->stopping, memory_order_acquire)) {
        if (drain_all(log)) {
            await_knock(log, GATHER_MS);
            continue;
        }
        atomic_store_explicit(&log->asleep, true, memory_order_seq_cst);
        if (drain_all(log)) {
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

static int refuse(char text[WEIR_ACCESS_LOG_TEXT_MAX], const char *what, const char *path)
{
    (void)snprintf(text, WEIR_ACCESS_LOG_TEXT_MAX, "%s%s%.128s: %.64s", what, path[0] == '\0' ? "" : " ",
                   path, strerror(errno));
    return WEIR_ACCESS_LOG_REFUSED;
}

static int open_file(weir_access_log *log, struct weir_slice where, char text[WEIR_ACCESS_LOG_TEXT_MAX])
{
    char path[PATH_MAX_BYTES];

    if (weir_slice_eq(where, WEIR_SLICE("stdout"))) {
        log->fd = STDOUT_FILENO;
        return 0;
    }
    if (weir_slice_eq(where, WEIR_SLICE("stderr"))) {
        log->fd = STDERR_FILENO;
        return 0;
    }
    if (where.len >= sizeof(path)) {
        errno = ENAMETOOLONG;
        return refuse(text, "the access log's path", "");
    }
    memcpy(path, where.ptr, where.len);
    path[where.len] = '\0';
    log->fd = open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0640);
    if (log->fd < 0)
        return refuse(text, "the access log", path);
    log->own_fd = true;
    return 0;
}

static int make_rings(weir_access_log *log, size_t workers)
{
    log->rings = log->mem->alloc(log->mem->user, workers * sizeof(*log->rings));
    if (log->rings == NULL)
        return WEIR_ERR_NOMEM;
    memset(log->rings, 0, workers * sizeof(*log->rings));
    log->workers = workers;
    for (size_t i = 0; i < workers; i++) {
        weir_buf_init(&log->rings[i].line, log->mem, WEIR_ACCESS_LINE_MAX);
        log->rings[i].bytes = log->mem->alloc(log->mem->user, RING_BYTES);
        if (log->rings[i].bytes == NULL)
            return WEIR_ERR_NOMEM;
    }
    return 0;
}

static int start(weir_access_log *log, char text[WEIR_ACCESS_LOG_TEXT_MAX])
{
    log->wake_fd = eventfd(0, EFD_CLOEXEC);
    if (log->wake_fd < 0)
        return refuse(text, "the access log's eventfd", "");
    errno = pthread_create(&log->thread, NULL, writer_main, log);
    if (errno != 0)
        return refuse(text, "the access log's thread", "");
    log->running = true;
    return 0;
}

int weir_access_log_new(const struct weir_mem *mem, struct weir_slice where, enum weir_log_format format,
                        size_t workers, char text[WEIR_ACCESS_LOG_TEXT_MAX], weir_access_log **ret_log)
{
    weir_access_log *log = mem->alloc(mem->user, sizeof(*log));
    int r = 0;

    if (log == NULL)
        return WEIR_ERR_NOMEM;
    *log = (weir_access_log){.mem = mem, .format = format, .fd = -1, .wake_fd = -1};
    if (!weir_slice_eq(where, WEIR_SLICE("off"))) {
        r = open_file(log, where, text);
        if (r == 0)
            r = make_rings(log, workers);
        if (r == 0)
            r = start(log, text);
    }
    if (r != 0) {
        weir_access_log_free(log);
        return r;
    }
    *ret_log = log;
    return 0;
}

static void stop(weir_access_log *log)
{
    if (!log->running)
        return;
    atomic_store_explicit(&log->stopping, true, memory_order_release);
    knock(log);
    (void)pthread_join(log->thread, NULL);
}

void weir_access_log_free(weir_access_log *log)
{
    if (log == NULL)
        return;
    stop(log);
    for (size_t i = 0; i < log->workers; i++) {
        weir_buf_deinit(&log->rings[i].line);
        log->mem->free(log->mem->user, log->rings[i].bytes, RING_BYTES);
    }
    if (log->rings != NULL)
        log->mem->free(log->mem->user, log->rings, log->workers * sizeof(*log->rings));
    if (log->own_fd)
        (void)close(log->fd);
    if (log->wake_fd >= 0)
        (void)close(log->wake_fd);
    log->mem->free(log->mem->user, log, sizeof(*log));
}
