/*
 * What an attempt cost.
 */
#ifndef WEIR_GATEWAY_COST_H
#define WEIR_GATEWAY_COST_H

#include <stdbool.h>
#include <stdint.h>

#include "provider/dialect.h"

struct weir_upcall;

struct weir_cost {
    bool known;
    uint64_t picodollars; /* provider/price.h */
};

/* By what is known of the model that the attempt asked. */
struct weir_cost weir_cost_of(const struct weir_upcall *upcall, const struct weir_usage *usage);

/* Both together: known where each is. */
struct weir_cost weir_cost_add(struct weir_cost a, struct weir_cost b);

#endif
