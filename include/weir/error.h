/*
 * Fatal results.
 *
 * Functions return 0 for done, a negative code from this list when they could not do their work, and a
 * positive number for a condition that the function names itself and that its caller must handle.  A negative
 * code is passed up and never matched; a positive one is handled and never passed up.
 */
#ifndef WEIR_ERROR_H
#define WEIR_ERROR_H

#include <weir/attr.h>
#include <weir/slice.h>

#ifdef __cplusplus
extern "C" {
#endif

/* X(name, code, text) */
#define WEIR_ERROR_TABLE(X)                                                                                  \
    X(NOMEM, -1, "out of memory")                                                                            \
    X(LIMIT, -2, "a fixed limit was reached")                                                                \
    X(INVALID, -3, "an argument breaks the function's contract")                                             \
    X(MALFORMED, -4, "the input does not follow its format")                                                 \
    X(IO, -5, "the system refused an operation")                                                             \
    X(INTERNAL, -6, "an invariant of weir itself does not hold")

enum weir_error {
#define WEIR_ERROR_ENUM(name, code, text) WEIR_ERR_##name = (code),
    WEIR_ERROR_TABLE(WEIR_ERROR_ENUM)
#undef WEIR_ERROR_ENUM
};

/* The text of a code; "unknown error" for others.  Thread-safe; the slice lives for ever. */
WEIR_EXPORT struct weir_slice weir_error_text(int code);

#ifdef __cplusplus
}
#endif

#endif
