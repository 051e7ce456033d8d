/*
 * The estimate is a sum, part times factor.  Learning is one step of normalised least mean squares on it: the
 * relative error, divided among the factors by their parts' shares, so that a step of 1 would make this very
 * estimate right.  Steps begin at a half and shrink with the number of answers to a twentieth, which follows
 * a provider that changes its tokenizer, and evens out what single prompts have of their own.
 */
#include "provider/prompt_scale.h"

#include <stdbool.h>

#define STEP_FIRST   0.5
#define STEP_LEAST   0.05
#define STEP_ANSWERS 16.0 /* after so many the step is half as large */

/* How far one answer may move the estimate, as a part of it. */
#define ERROR_LEAST (-0.75)
#define ERROR_MOST  3.0

/* A text has at least a part, and at most a multiple, of the tokens that it is taken for at first: other
 * counts are of something else, such as a hidden prompt or a server that makes them up. */
#define BELIEVED_TIMES 4.0

enum { WORTH_ONE = 100, FACTOR_LEAST = WEIR_PROMPT_FACTOR_ONE / 4, FACTOR_MOST = WEIR_PROMPT_FACTOR_ONE * 4 };

static const struct unit_row {
    enum weir_prompt_part part;
    uint32_t worth;
} unit_rows[WEIR_PROMPT_UNITS] = {
#define X(unit, part, worth, prose) {WEIR_PROMPT_##part, worth},
#include "provider/tbl/prompt_units.h"
#undef X
};

struct sums {
    double parts[WEIR_PROMPT_PARTS]; /* tokens, by the factors that hold */
    double all;
    double at_first; /* tokens, by factors of 1 */
};

static struct sums sums_of(const struct weir_prompt *prompt, const struct weir_prompt_scale *scale)
{
    struct sums sums = {.all = 0};

    for (unsigned u = 0; u < WEIR_PROMPT_UNITS; u++)
        sums.parts[unit_rows[u].part] += (double)prompt->units[u] * unit_rows[u].worth / WORTH_ONE;
    for (unsigned p = 0; p < WEIR_PROMPT_PARTS; p++) {
        uint32_t factor = atomic_load_explicit(&scale->factors[p], memory_order_relaxed);

        sums.at_first += sums.parts[p];
        sums.parts[p] *= (double)factor / WEIR_PROMPT_FACTOR_ONE;
        sums.all += sums.parts[p];
    }
    return sums;
}

void weir_prompt_scale_init(struct weir_prompt_scale *scale)
{
    for (unsigned p = 0; p < WEIR_PROMPT_PARTS; p++)
        atomic_init(&scale->factors[p], WEIR_PROMPT_FACTOR_ONE);
    atomic_init(&scale->answers, 0);
}

void weir_prompt_scale_copy(struct weir_prompt_scale *ret_scale, const struct weir_prompt_scale *other)
{
    for (size_t i = 0; i < WEIR_PROMPT_PARTS; i++)
        atomic_init(&ret_scale->factors[i], atomic_load_explicit(&other->factors[i], memory_order_relaxed));
    atomic_init(&ret_scale->answers, atomic_load_explicit(&other->answers, memory_order_relaxed));
}

uint64_t weir_prompt_tokens(const struct weir_prompt *prompt, const struct weir_prompt_scale *scale)
{
    return (uint64_t)(sums_of(prompt, scale).all + 0.5);
}

static double within(double value, double least, double most)
{
    if (value < least)
        return least;
    return value > most ? most : value;
}

static void move(_Atomic uint32_t *factor, double by)
{
    double moved = atomic_load_explicit(factor, memory_order_relaxed) * (1 + by);

    atomic_store_explicit(factor, (uint32_t)within(moved, FACTOR_LEAST, FACTOR_MOST), memory_order_relaxed);
}

/* What media cost is not known beforehand. */
static bool is_believable(const struct weir_prompt *prompt, const struct sums *sums, uint64_t tokens)
{
    return prompt->units[WEIR_PROMPT_MEDIA] > 0 || ((double)tokens >= sums->at_first / BELIEVED_TIMES &&
                                                    (double)tokens <= sums->at_first * BELIEVED_TIMES);
}

static double next_step(struct weir_prompt_scale *scale)
{
    uint32_t answers = atomic_load_explicit(&scale->answers, memory_order_relaxed);

    if (answers < UINT32_MAX)
        atomic_store_explicit(&scale->answers, answers + 1, memory_order_relaxed);
    return within(STEP_FIRST / (1 + answers / STEP_ANSWERS), STEP_LEAST, STEP_FIRST);
}

void weir_prompt_learn(struct weir_prompt_scale *scale, const struct weir_prompt *prompt, uint64_t tokens)
{
    struct sums sums = sums_of(prompt, scale);
    double squares = 0;
    double step;

    if (tokens == 0 || !(sums.all > 0) || !is_believable(prompt, &sums, tokens))
        return;
    for (unsigned p = 0; p < WEIR_PROMPT_PARTS; p++)
        squares += (sums.parts[p] / sums.all) * (sums.parts[p] / sums.all);
    step = next_step(scale) * within((double)tokens / sums.all - 1, ERROR_LEAST, ERROR_MOST) / squares;
    for (unsigned p = 0; p < WEIR_PROMPT_PARTS; p++)
        move(&scale->factors[p], step * sums.parts[p] / sums.all);
}
