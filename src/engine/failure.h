/*
 * Failures as hosts tell them, made such that the tables have a row for them.
 */
#ifndef WEIR_ENGINE_FAILURE_H
#define WEIR_ENGINE_FAILURE_H

#include <weir/failure.h>

/* The kind, or INTERNAL for a number that is none. */
weir_kind weir_failure_kind(weir_kind told);

/* The same failure with a kind and a status that exist. */
struct weir_failure weir_failure_sane(const struct weir_failure *told);

#endif
