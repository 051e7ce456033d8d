/*
 * Tells when one of a few files has become another.
 *
 * Editors and deployments replace a file rather than write into it, or swap a link somewhere on its path.  So
 * what is watched is the folders; when something has happened in one, and a moment has passed, the files are
 * compared with what they were.  A file that is missing is waited for.
 *
 * Everything belongs to the loop's thread.
 */
#ifndef WEIR_GATEWAY_FILE_WATCH_H
#define WEIR_GATEWAY_FILE_WATCH_H

#include <stdbool.h>
#include <stddef.h>

#include <weir/attr.h>

#include "config/config.h"
#include "config/file.h"
#include "net/fd_watch.h"
#include "net/loop.h"

struct weir_file_watch {
    weir_loop *loop;
    void (*changed)(struct weir_file_watch *watch);
    struct weir_fd_watch events; /* opened with the first set */
    struct weir_timer timer;
    const struct weir_config_file *files; /* borrowed until the next set */
    size_t count;
    struct weir_file_stamp stamps[WEIR_CONFIG_FILES_MAX]; /* as they were when last looked at */
    int folders[2 * WEIR_CONFIG_FILES_MAX];               /* watched, by the kernel's number */
    size_t folder_count;
};

void weir_file_watch_init(struct weir_file_watch *ret_watch, weir_loop *loop,
                          void (*changed)(struct weir_file_watch *watch));

/* Watches these instead, from what they were when they were read; count 0: none.  They live until the next
 * set.  0, or WEIR_ERR_IO where the system cannot watch. */
WEIR_MUST_USE int weir_file_watch_set(struct weir_file_watch *watch, const struct weir_config_file *files,
                                      size_t count);

/* What is there now is no news. */
void weir_file_watch_note(struct weir_file_watch *watch);

/* Before the loop is freed.  Accepts a zeroed or closed one. */
void weir_file_watch_close(struct weir_file_watch *watch);

#endif
