/* Whole files at once: what a configuration names is read at the start only, and has a maximum. */
#include "config/file.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include <weir/error.h>

#include "base/slice.h"
#include "base/text.h"

#define MIB ((size_t)1024 * 1024)

static void close_file(FILE **file)
{
    if (*file != NULL)
        (void)fclose(*file);
}

static int refuse(struct weir_slice why, struct weir_arena *arena, struct weir_slice *ret_why)
{
    *ret_why = weir_arena_copy(arena, why);
    return WEIR_FILE_REFUSED;
}

static int refuse_size(size_t max_bytes, struct weir_arena *arena, struct weir_slice *ret_why)
{
    char digits[WEIR_TEXT_U64_MAX];
    const struct weir_slice parts[] = {WEIR_SLICE("it is larger than "),
                                       weir_text_u64(max_bytes / MIB, digits), WEIR_SLICE(" MiB")};

    *ret_why = weir_arena_join(arena, parts, sizeof(parts) / sizeof(parts[0]));
    return WEIR_FILE_REFUSED;
}

static struct weir_file_stamp stamp_of(const struct stat *status)
{
    return (struct weir_file_stamp){status->st_dev, status->st_ino, status->st_size, status->st_mtim};
}

int weir_file_stamp_of(struct weir_slice path, struct weir_file_stamp *ret_stamp)
{
    struct stat status;

    if (stat(path.ptr, &status) != 0)
        return WEIR_FILE_REFUSED;
    *ret_stamp = stamp_of(&status);
    return 0;
}

bool weir_file_stamp_eq(const struct weir_file_stamp *a, const struct weir_file_stamp *b)
{
    return a->device == b->device && a->inode == b->inode && a->size == b->size &&
           a->written.tv_sec == b->written.tv_sec && a->written.tv_nsec == b->written.tv_nsec;
}

static int read_open(FILE *file, size_t max_bytes, struct weir_arena *arena,
                     struct weir_file_stamp *ret_stamp, struct weir_slice *ret_text,
                     struct weir_slice *ret_why)
{
    struct stat status;
    size_t room, len;
    char *text;

    if (fstat(fileno(file), &status) != 0)
        return refuse(weir_slice_str(strerror(errno)), arena, ret_why);
    if (S_ISDIR(status.st_mode))
        return refuse(WEIR_SLICE("it is a directory"), arena, ret_why);
    /* A pipe has no size; it is read up to the maximum. */
    room = S_ISREG(status.st_mode) && status.st_size >= 0 ? (size_t)status.st_size : max_bytes;
    if (room > max_bytes)
        return refuse_size(max_bytes, arena, ret_why);
    text = weir_arena_alloc(arena, room + 1);
    if (text == NULL)
        return WEIR_ERR_NOMEM;
    len = fread(text, 1, room, file);
    if (ferror(file) != 0)
        return refuse(weir_slice_str(strerror(errno)), arena, ret_why);
    *ret_stamp = stamp_of(&status);
    *ret_text = (struct weir_slice){text, len};
    return 0;
}

int weir_file_read(struct weir_slice path, size_t max_bytes, struct weir_arena *arena,
                   struct weir_file_stamp *ret_stamp, struct weir_slice *ret_text, struct weir_slice *ret_why)
{
    WEIR_CLEANUP(close_file) FILE *file = NULL;

    if (weir_slice_find_char(path, '\0') != WEIR_SLICE_NONE)
        return refuse(WEIR_SLICE("its path holds a NUL byte"), arena, ret_why);
    file = fopen(path.ptr, "rbe");
    if (file == NULL)
        return refuse(weir_slice_str(strerror(errno)), arena, ret_why);
    return read_open(file, max_bytes, arena, ret_stamp, ret_text, ret_why);
}

struct weir_slice weir_file_beside(struct weir_slice base, struct weir_slice name, struct weir_arena *arena)
{
    size_t dir = base.len;
    struct weir_slice parts[3] = {WEIR_SLICE_EMPTY, name, {"", 1}};
    struct weir_slice path;

    while (dir > 0 && base.ptr[dir - 1] != '/')
        dir--;
    if (!weir_slice_starts(name, WEIR_SLICE("/")))
        parts[0] = weir_slice_sub(base, 0, dir);
    path = weir_arena_join(arena, parts, sizeof(parts) / sizeof(*parts));
    path.len -= path.len > 0; /* the NUL is not counted */
    return path;
}
