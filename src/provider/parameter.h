/*
 * Parameters of requests that some models do not take: for `drop_params`, and for the check of them before a
 * call (router-semantics 18).
 *
 * A set of them is a word with a bit for each row of tbl/parameters.h.  Pure.
 */
#ifndef WEIR_PROVIDER_PARAMETER_H
#define WEIR_PROVIDER_PARAMETER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <weir/slice.h>

#include "wire/json_scan.h"

/* The bit of a name; 0: every model is taken to know it. */
uint64_t weir_parameter_bit(struct weir_slice name);

/* The bit of a member of a request, if its value asks something of the model; else 0. */
uint64_t weir_parameter_asked(const struct weir_json_item *member);

/* Those whose names stand in a list with blanks between them. */
uint64_t weir_parameter_set(struct weir_slice names);

/* The name of the lowest bit, for a message; empty: none is set. */
struct weir_slice weir_parameter_first(uint64_t set);

#endif
