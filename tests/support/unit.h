/* cmocka with what it wants included before it, and the checks on slices that it lacks. */
#ifndef TEST_UNIT_H
#define TEST_UNIT_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <weir/slice.h>

#include "base/slice.h"

static inline void unit_assert_slice(struct weir_slice s, const char *expected, const char *file, int line)
{
    struct weir_slice want = weir_slice_str(expected);

    if (!weir_slice_eq(s, want)) {
        print_error("\"%.*s\" instead of \"%s\"\n", (int)s.len, s.len == 0 ? "" : s.ptr, expected);
        _fail(file, line);
    }
}

/* The slice holds exactly the bytes of the C string. */
#define assert_slice_is(slice, expected) unit_assert_slice((slice), (expected), __FILE__, __LINE__)

#endif
