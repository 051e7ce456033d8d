/*
 * A price is looked up as the special one of long prompts, then as that of its sort, then as the common one
 * of prompt or answer.  Parts that are larger than their whole, as some providers tell them, count as all of
 * it.
 */
#include "provider/price.h"

#define COST_MAX 1e18 /* in picodollars: a million dollars for one answer */

static uint64_t at_most(uint64_t part, uint64_t whole)
{
    return part < whole ? part : whole;
}

/* The first figure of the list that is known; negative: none.  The list ends with WEIR_FIGURES. */
static double first_known(const struct weir_model_facts *facts, const enum weir_figure *figures)
{
    for (; *figures != WEIR_FIGURES; figures++)
        if (weir_figure_known(facts, *figures))
            return facts->figures[*figures];
    return -1;
}

static bool is_long(const struct weir_model_facts *facts, const struct weir_usage *usage)
{
    return weir_figure_known(facts, WEIR_FIGURE_LONG_FROM) &&
           (double)usage->prompt_tokens > facts->figures[WEIR_FIGURE_LONG_FROM];
}

/* Adds what so many tokens cost; false: nobody knows. */
static bool add(const struct weir_model_facts *facts, uint64_t tokens, bool longer,
                const enum weir_figure *of_long, const enum weir_figure *usual, double *total)
{
    double price;

    if (tokens == 0)
        return true;
    price = longer ? first_known(facts, of_long) : -1;
    if (price < 0)
        price = first_known(facts, usual);
    *total += price * (double)tokens;
    return price >= 0;
}

bool weir_price(const struct weir_model_facts *facts, const struct weir_usage *usage,
                uint64_t *ret_picodollars)
{
#define LIST(...) ((const enum weir_figure[]){__VA_ARGS__, WEIR_FIGURES})
    uint64_t read = at_most(usage->cached_tokens, usage->prompt_tokens);
    uint64_t written = at_most(usage->cache_write_tokens, usage->prompt_tokens - read);
    uint64_t reasoning = at_most(usage->reasoning_tokens, usage->completion_tokens);
    bool longer = is_long(facts, usage);
    double total = 0;
    bool known = usage->told;

    known = known && add(facts, usage->prompt_tokens - read - written, longer, LIST(WEIR_FIGURE_LONG_INPUT),
                         LIST(WEIR_FIGURE_INPUT), &total);
    known = known && add(facts, read, longer, LIST(WEIR_FIGURE_LONG_CACHE_READ),
                         LIST(WEIR_FIGURE_CACHE_READ, WEIR_FIGURE_INPUT), &total);
    known = known && add(facts, written, longer, LIST(WEIR_FIGURE_LONG_CACHE_WRITE),
                         LIST(WEIR_FIGURE_CACHE_WRITE, WEIR_FIGURE_INPUT), &total);
    known = known && add(facts, usage->completion_tokens - reasoning, longer, LIST(WEIR_FIGURE_LONG_OUTPUT),
                         LIST(WEIR_FIGURE_OUTPUT), &total);
    known = known && add(facts, reasoning, longer, LIST(WEIR_FIGURE_LONG_OUTPUT),
                         LIST(WEIR_FIGURE_REASONING, WEIR_FIGURE_OUTPUT), &total);
#undef LIST
    total = total * WEIR_PICODOLLARS + 0.5;
    if (!known || !(total < COST_MAX))
        return false;
    *ret_picodollars = (uint64_t)total;
    return true;
}
