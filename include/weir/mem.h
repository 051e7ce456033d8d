/*
 * The allocator that weir is given.
 *
 * No part of the library calls malloc: every object is made with the allocator handed to its constructor and
 * is returned to the same one.  Sizes come back on free and resize, so that an allocator need not remember
 * them.  An allocator that is used by several threads must be safe for that; the engine itself allocates only
 * while a snapshot is built, a router adopts one, or a call begins or grows.
 */
#ifndef WEIR_MEM_H
#define WEIR_MEM_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

struct weir_mem {
    void *user;
    /* Returns size bytes (size > 0) aligned for any object, or NULL. */
    void *(*alloc)(void *user, size_t size);
    /* Grows or shrinks ptr (NULL: allocates); NULL leaves the old block as it was. */
    void *(*resize)(void *user, void *ptr, size_t old_size, size_t new_size);
    /* Gives ptr (NULL allowed) of that size back. */
    void (*free)(void *user, void *ptr, size_t size);
};

#ifdef __cplusplus
}
#endif

#endif
