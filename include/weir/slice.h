/*
 * A borrowed run of bytes: the only form in which text and wire data travel through weir.
 *
 * A slice owns nothing and is never NUL-terminated by contract.  Whoever returns one says, in the comment of
 * the function, which event ends the loan.  The empty slice has len 0; its ptr may be NULL.
 */
#ifndef WEIR_SLICE_H
#define WEIR_SLICE_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

struct weir_slice {
    const char *ptr;
    size_t len;
};

/* A slice over a string literal, without its NUL. */
#define WEIR_SLICE(literal) ((struct weir_slice){("" literal), sizeof(literal) - 1})

/* The same as a constant initialiser, for tables. */
#define WEIR_SLICE_INIT(literal)                                                                             \
    {                                                                                                        \
        ("" literal), sizeof(literal) - 1                                                                    \
    }

#define WEIR_SLICE_EMPTY ((struct weir_slice){NULL, 0})

#ifdef __cplusplus
}
#endif

#endif
