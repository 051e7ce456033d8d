/*
 * inotify by folder.  The folder that a path names is watched, and the one where the file is in truth, links
 * followed: the first tells of a file or link that takes its place, the second of writing into it.
 *
 * Which of the events was for one of the files is not asked: the stamps know.  A busy folder costs a look at
 * each file ten times a second at most.
 */
#include "gateway/process/file_watch.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/inotify.h>
#include <unistd.h>

#include <weir/error.h>

#include "base/container.h"
#include "base/time.h"

#define SETTLE_NS (100 * WEIR_NS_PER_MS)

enum { EVENTS_BYTES = 4096 };

static void on_events(struct weir_fd_watch *events)
{
    struct weir_file_watch *watch = WEIR_CONTAINER(events, struct weir_file_watch, events);
    char room[EVENTS_BYTES];

    while (read(events->fd, room, sizeof(room)) > 0)
        continue;
    if (watch->count > 0 && !weir_timer_armed(&watch->timer))
        weir_loop_arm(watch->loop, &watch->timer, weir_time_add(weir_loop_now(watch->loop), SETTLE_NS));
}

/* Whether a file that is there is not what it was; the stamps are brought up to date. */
static bool look(struct weir_file_watch *watch)
{
    bool news = false;

    for (size_t i = 0; i < watch->count; i++) {
        struct weir_file_stamp stamp;

        if (weir_file_stamp_of(watch->files[i].path, &stamp) != 0 ||
            weir_file_stamp_eq(&stamp, &watch->stamps[i]))
            continue;
        watch->stamps[i] = stamp;
        news = true;
    }
    return news;
}

static void on_settled(struct weir_timer *timer)
{
    struct weir_file_watch *watch = WEIR_CONTAINER(timer, struct weir_file_watch, timer);

    if (look(watch))
        watch->changed(watch);
}

void weir_file_watch_init(struct weir_file_watch *ret_watch, weir_loop *loop,
                          void (*changed)(struct weir_file_watch *watch))
{
    *ret_watch = (struct weir_file_watch){.loop = loop, .changed = changed};
    weir_timer_init(&ret_watch->timer, on_settled);
}

static int open_events(struct weir_file_watch *watch)
{
    int fd;

    if (watch->events.open)
        return 0;
    fd = inotify_init1(IN_NONBLOCK | IN_CLOEXEC);
    if (fd < 0)
        return WEIR_ERR_IO;
    if (weir_fd_watch_start(watch->loop, &watch->events, fd, on_events) == 0)
        return 0;
    (void)close(fd);
    return WEIR_ERR_IO;
}

static int watch_folder(struct weir_file_watch *watch, const char *path)
{
    const uint32_t mask = IN_CLOSE_WRITE | IN_MOVED_TO | IN_CREATE | IN_ONLYDIR;
    const char *slash = strrchr(path, '/');
    char folder[PATH_MAX] = ".";
    int number;

    if (slash != NULL && (size_t)(slash - path) + 1 < sizeof(folder)) {
        memcpy(folder, path, (size_t)(slash - path) + 1);
        folder[slash - path + 1] = '\0';
    }
    number = inotify_add_watch(watch->events.fd, folder, mask);
    if (number < 0)
        return WEIR_ERR_IO;
    for (size_t i = 0; i < watch->folder_count; i++)
        if (watch->folders[i] == number)
            return 0;
    watch->folders[watch->folder_count++] = number;
    return 0;
}

static int watch_file(struct weir_file_watch *watch, const char *path)
{
    char real[PATH_MAX];
    int r = watch_folder(watch, path);

    if (r == 0 && realpath(path, real) != NULL)
        r = watch_folder(watch, real);
    return r;
}

static void forget(struct weir_file_watch *watch)
{
    weir_loop_cancel(watch->loop, &watch->timer);
    for (size_t i = 0; i < watch->folder_count; i++)
        (void)inotify_rm_watch(watch->events.fd, watch->folders[i]);
    watch->folder_count = 0;
    watch->count = 0;
    watch->files = NULL;
}

int weir_file_watch_set(struct weir_file_watch *watch, const struct weir_config_file *files, size_t count)
{
    int r = 0;

    forget(watch);
    if (count == 0)
        return 0;
    r = open_events(watch);
    for (size_t i = 0; i < count && r == 0; i++) {
        watch->stamps[i] = files[i].stamp;
        r = watch_file(watch, files[i].path.ptr);
    }
    if (r < 0) {
        forget(watch);
        return r;
    }
    watch->files = files;
    watch->count = count;
    /* What has changed since it was read was told to nobody. */
    weir_loop_arm(watch->loop, &watch->timer, weir_time_add(weir_loop_now(watch->loop), SETTLE_NS));
    return 0;
}

void weir_file_watch_note(struct weir_file_watch *watch)
{
    (void)look(watch);
}

void weir_file_watch_close(struct weir_file_watch *watch)
{
    if (watch->loop == NULL)
        return;
    forget(watch);
    weir_fd_watch_stop(&watch->events);
}
