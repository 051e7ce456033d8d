/*
 * What a plain scalar of YAML 1.1 stands for, by the rules of PyYAML's safe_load.
 */
#ifndef WEIR_CONFIG_SCALAR_H
#define WEIR_CONFIG_SCALAR_H

#include <stdbool.h>
#include <stdint.h>

#include <weir/slice.h>

enum weir_scalar_kind {
    WEIR_SCALAR_NULL,
    WEIR_SCALAR_BOOL,
    WEIR_SCALAR_INT,
    WEIR_SCALAR_FLOAT,
    WEIR_SCALAR_TEXT
};

struct weir_scalar {
    enum weir_scalar_kind kind;
    bool date; /* TEXT that is a date, or a date and a time */
    bool boolean;
    int64_t integer;
    double number; /* of INT too */
};

/*
 * Resolves an unquoted scalar.  Dates are TEXT with a mark; whole numbers beyond 64 bits are FLOAT.  Pure.
 */
struct weir_scalar weir_scalar_resolve(struct weir_slice text);

#endif
