/*
 * What an answer cost, from what it used and what its model's tokens cost.
 */
#ifndef WEIR_PROVIDER_PRICE_H
#define WEIR_PROVIDER_PRICE_H

#include <stdbool.h>
#include <stdint.h>

#include "provider/dialect.h"
#include "provider/model_facts.h"

/* Costs are whole parts of this: a millionth of a millionth of a dollar. */
#define WEIR_PICODOLLARS 1e12

/*
 * Tokens from the cache, tokens written to it and tokens of reasoning are parts of the prompt and the answer;
 * each has its own price where one is known, else that of the others.  False: the price of some token is not
 * known, or nothing was told of what was used.
 */
bool weir_price(const struct weir_model_facts *facts, const struct weir_usage *usage,
                uint64_t *ret_picodollars);

#endif
