/*
 * Files that a configuration names.
 */
#ifndef WEIR_CONFIG_FILE_H
#define WEIR_CONFIG_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>
#include <time.h>

#include <weir/attr.h>
#include <weir/slice.h>

#include "base/arena.h"

/* A file by whatever path, and which state of it. */
struct weir_file_stamp {
    dev_t device;
    ino_t inode;
    off_t size;
    struct timespec written; /* when it was, last */
};

struct weir_config_file {
    struct weir_slice path; /* ends with NUL, which is not counted */
    struct weir_file_stamp stamp;
};

/* It cannot be read, or is larger than it may be. */
#define WEIR_FILE_REFUSED 1

/* Of what is there now; path ends with NUL.  0 or WEIR_FILE_REFUSED. */
WEIR_MUST_USE int weir_file_stamp_of(struct weir_slice path, struct weir_file_stamp *ret_stamp);

/* The same state of the same file. */
bool weir_file_stamp_eq(const struct weir_file_stamp *a, const struct weir_file_stamp *b);

/*
 * Reads a file of at most max_bytes into the arena.  path ends with NUL, which is not counted.  0;
 * WEIR_FILE_REFUSED with *ret_why, which lives as long as the arena; or WEIR_ERR_NOMEM.
 */
WEIR_MUST_USE int weir_file_read(struct weir_slice path, size_t max_bytes, struct weir_arena *arena,
                                 struct weir_file_stamp *ret_stamp, struct weir_slice *ret_text,
                                 struct weir_slice *ret_why);

/* The path that name means in the file at base, with a NUL behind it that is not counted; ptr NULL where
 * memory ran out. */
struct weir_slice weir_file_beside(struct weir_slice base, struct weir_slice name, struct weir_arena *arena);

#endif
