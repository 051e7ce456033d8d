/*
 * The C library's allocator as a struct weir_mem, for hosts that have no other.
 *
 * Header-only, so that the library itself does not refer to malloc.
 */
#ifndef WEIR_MEM_LIBC_H
#define WEIR_MEM_LIBC_H

#include <stdlib.h>

#include <weir/mem.h>

#ifdef __cplusplus
extern "C" {
#endif

static inline void *weir_mem_libc_alloc(void *user, size_t size)
{
    (void)user;
    return malloc(size);
}

static inline void *weir_mem_libc_resize(void *user, void *ptr, size_t old_size, size_t new_size)
{
    (void)user;
    (void)old_size;
    return realloc(ptr, new_size);
}

static inline void weir_mem_libc_free(void *user, void *ptr, size_t size)
{
    (void)user;
    (void)size;
    free(ptr);
}

/* Thread-safe.  Lives for ever. */
static inline const struct weir_mem *weir_mem_libc(void)
{
    static const struct weir_mem mem = {NULL, weir_mem_libc_alloc, weir_mem_libc_resize, weir_mem_libc_free};
    return &mem;
}

#ifdef __cplusplus
}
#endif

#endif
