/* Every strategy that there is, by its number in a configuration. */
#include "engine/strategy/strategy.h"

#include <stddef.h>

static const struct weir_strategy_row *const strategies[WEIR_STRATEGY_COUNT] = {
    [WEIR_STRATEGY_SIMPLE_SHUFFLE] = &weir_simple_shuffle,
};

const struct weir_strategy_row *weir_strategy_of(weir_strategy strategy)
{
    return (unsigned)strategy < WEIR_STRATEGY_COUNT ? strategies[strategy] : NULL;
}
