/*
 * How far estimates are off, measured on texts whose tokens published tokenizers have counted
 * (prompt_samples.txt), and what answers teach.
 *
 * Texts that teach are never those that judge: one half of each kind is for the answers, the other for the
 * prompts that are estimated.
 */
#include "unit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/rand.h"
#include "provider/prompt_scale.h"

enum { SAMPLES_MAX = 128, TOKENIZERS_MAX = 8, LINE_MAX_BYTES = 8192, ANSWERS = 50, JUDGED = 400, RUNS = 10 };

struct sample {
    char kind[16];
    struct weir_prompt prompt;
    uint64_t tokens[TOKENIZERS_MAX];
};

static const char *samples_path;
static struct sample samples[SAMPLES_MAX];
static size_t sample_count;
static char tokenizers[TOKENIZERS_MAX][16];
static size_t tokenizer_count;

/* ---- the samples ---- */

/* "%% kind" and the names of the tokenizers, then "%% KIND" and their counts before each text. */
static void read_head(char *line)
{
    char *save = NULL;
    char *kind = strtok_r(line + 3, " \n", &save);
    struct sample *sample = NULL;
    char *word;
    size_t at = 0;

    assert_non_null(kind);
    if (tokenizer_count > 0) {
        assert_in_range(sample_count, 0, SAMPLES_MAX - 1);
        sample = &samples[sample_count++];
        *sample = (struct sample){.kind = ""};
        (void)snprintf(sample->kind, sizeof(sample->kind), "%s", kind);
    }
    for (; (word = strtok_r(NULL, " \n", &save)) != NULL; at++) {
        assert_in_range(at, 0, TOKENIZERS_MAX - 1);
        if (sample == NULL)
            (void)snprintf(tokenizers[at], sizeof(tokenizers[at]), "%s", word);
        else
            sample->tokens[at] = strtoull(word, NULL, 10);
    }
    if (sample == NULL)
        tokenizer_count = at;
    assert_int_equal(at, tokenizer_count);
}

static int read_samples(void **state)
{
    static char line[LINE_MAX_BYTES];
    struct weir_prompt_text text = {.prompt = NULL};
    FILE *file = fopen(samples_path, "r");

    (void)state;
    assert_non_null(file);
    while (fgets(line, sizeof(line), file) != NULL) {
        size_t len = strlen(line);

        if (strncmp(line, "%% ", 3) == 0) {
            if (text.prompt != NULL)
                weir_prompt_text_end(&text);
            read_head(line);
            if (sample_count > 0)
                weir_prompt_text_begin(&text, &samples[sample_count - 1].prompt);
            continue;
        }
        assert_int_equal(line[len - 1], '\n');
        if (text.prompt !=
            NULL) /* the line end before the next head is no part of the text: it weighs nothing */
            weir_prompt_text_add(&text, (struct weir_slice){line, len});
    }
    weir_prompt_text_end(&text);
    (void)fclose(file);
    return 0;
}

/* ---- prompts ---- */

struct made {
    struct weir_prompt prompt;
    uint64_t tokens;
};

static bool fits(const struct sample *sample, size_t index, const char *kind, size_t half)
{
    return strcmp(sample->kind, "other") != 0 && index % 2 == half &&
           (kind == NULL || strcmp(sample->kind, kind) == 0);
}

static const struct sample *draw(struct weir_rand *rand, const char *kind, size_t half)
{
    for (;;) {
        size_t index = (size_t)weir_rand_below(rand, sample_count);

        if (fits(&samples[index], index, kind, half))
            return &samples[index];
    }
}

/* A chat of one to six messages; kind NULL: each of another kind. */
static struct made make(struct weir_rand *rand, const char *kind, size_t half, size_t tokenizer)
{
    uint64_t messages = 1 + weir_rand_below(rand, 6);
    struct made made = {.tokens = 3 + 4 * messages};

    made.prompt.units[WEIR_PROMPT_TOKEN] = made.tokens;
    for (uint64_t m = 0; m < messages; m++) {
        const struct sample *sample = draw(rand, kind, half);

        for (size_t u = 0; u < WEIR_PROMPT_UNITS; u++)
            made.prompt.units[u] += sample->prompt.units[u];
        made.tokens += sample->tokens[tokenizer];
    }
    return made;
}

static const char *const kinds[] = {"english", "code", "chinese", "json"};

static const char *pick_kind(struct weir_rand *rand, bool mixed)
{
    return mixed ? NULL : kinds[weir_rand_below(rand, sizeof(kinds) / sizeof(kinds[0]))];
}

static int by_size(const void *a, const void *b)
{
    double left = *(const double *)a;
    double right = *(const double *)b;

    return (left > right) - (left < right);
}

/* The error that 95 of 100 estimates stay below, after so many answers. */
static double measure(size_t tokenizer, bool mixed, unsigned answers)
{
    static double errors[RUNS * JUDGED];
    size_t count = 0;

    for (uint64_t run = 0; run < RUNS; run++) {
        struct weir_prompt_scale scale;
        struct weir_rand rand;

        weir_rand_init(&rand, run + 1);
        weir_prompt_scale_init(&scale);
        for (unsigned a = 0; a < answers; a++) {
            struct made made = make(&rand, pick_kind(&rand, mixed), run % 2, tokenizer);

            weir_prompt_learn(&scale, &made.prompt, made.tokens);
        }
        for (unsigned j = 0; j < JUDGED; j++) {
            struct made made = make(&rand, pick_kind(&rand, mixed), 1 - run % 2, tokenizer);
            double off = (double)weir_prompt_tokens(&made.prompt, &scale) / (double)made.tokens - 1;

            errors[count++] = off < 0 ? -off : off;
        }
    }
    qsort(errors, count, sizeof(errors[0]), by_size);
    return errors[count * 95 / 100];
}

static void estimates_are_within_15_percent_after_50_answers(void **state)
{
    (void)state;
    assert_int_equal(tokenizer_count, 5);
    for (size_t t = 0; t < tokenizer_count; t++)
        for (unsigned mixed = 0; mixed < 2; mixed++) {
            double before = measure(t, mixed != 0, 0);
            double after = measure(t, mixed != 0, ANSWERS);

            print_message("%-9s %-16s p95 %4.1f %%, after %d answers %4.1f %%\n", tokenizers[t],
                          mixed != 0 ? "mixed prompts" : "of one kind each", before * 100, ANSWERS,
                          after * 100);
            assert_true(after < 0.15);
        }
}

/* ---- learning ---- */

static struct weir_prompt of(enum weir_prompt_unit unit, uint64_t times)
{
    struct weir_prompt prompt = {{0}};

    prompt.units[unit] = times;
    return prompt;
}

static void an_empty_prompt_has_no_tokens_and_teaches_nothing(void **state)
{
    struct weir_prompt prompt = {{0}};
    struct weir_prompt_scale scale;

    (void)state;
    weir_prompt_scale_init(&scale);
    assert_int_equal(weir_prompt_tokens(&prompt, &scale), 0);
    weir_prompt_learn(&scale, &prompt, 100);
    assert_int_equal(scale.answers, 0);
}

static void an_answer_without_a_count_teaches_nothing(void **state)
{
    struct weir_prompt prompt = of(WEIR_PROMPT_WORD, 1000);
    struct weir_prompt_scale scale;

    (void)state;
    weir_prompt_scale_init(&scale);
    weir_prompt_learn(&scale, &prompt, 0);
    assert_int_equal(weir_prompt_tokens(&prompt, &scale), 970);
}

static void an_answer_moves_the_estimate_half_the_way_and_later_ones_less(void **state)
{
    struct weir_prompt prompt = of(WEIR_PROMPT_TOKEN, 1000);
    struct weir_prompt_scale scale;

    (void)state;
    weir_prompt_scale_init(&scale);
    weir_prompt_learn(&scale, &prompt, 2000);
    assert_in_range(weir_prompt_tokens(&prompt, &scale), 1499, 1500);
    for (unsigned i = 0; i < 1000; i++)
        weir_prompt_learn(&scale, &prompt, 2000);
    assert_in_range(weir_prompt_tokens(&prompt, &scale), 1995, 2000);
    weir_prompt_learn(&scale, &prompt, 1000);
    assert_in_range(weir_prompt_tokens(&prompt, &scale), 1940, 1960);
}

static void what_a_prompt_does_not_have_is_not_taught(void **state)
{
    struct weir_prompt words = of(WEIR_PROMPT_WORD, 1000);
    struct weir_prompt han = of(WEIR_PROMPT_HAN, 1000);
    struct weir_prompt_scale scale;

    (void)state;
    weir_prompt_scale_init(&scale);
    for (unsigned i = 0; i < 100; i++)
        weir_prompt_learn(&scale, &han, 1400);
    assert_in_range(weir_prompt_tokens(&han, &scale), 1390, 1400);
    assert_int_equal(weir_prompt_tokens(&words, &scale), 970);
}

static void counts_that_no_text_can_have_teach_nothing(void **state)
{
    struct weir_prompt prompt = of(WEIR_PROMPT_TOKEN, 1000);
    struct weir_prompt_scale scale;

    (void)state;
    weir_prompt_scale_init(&scale);
    weir_prompt_learn(&scale, &prompt, 249);
    weir_prompt_learn(&scale, &prompt, 4001);
    weir_prompt_learn(&scale, &prompt, UINT64_MAX);
    assert_int_equal(weir_prompt_tokens(&prompt, &scale), 1000);
    assert_int_equal(scale.answers, 0);
    weir_prompt_learn(&scale, &prompt, 4000);
    assert_in_range(weir_prompt_tokens(&prompt, &scale), 2499, 2500);
}

static void what_media_cost_is_believed_within_bounds(void **state)
{
    struct weir_prompt prompt = of(WEIR_PROMPT_MEDIA, 100);
    struct weir_prompt_scale scale;

    (void)state;
    weir_prompt_scale_init(&scale);
    for (unsigned i = 0; i < 1000; i++)
        weir_prompt_learn(&scale, &prompt, UINT64_MAX);
    assert_int_equal(weir_prompt_tokens(&prompt, &scale), 4 * 8500);
    for (unsigned i = 0; i < 1000; i++)
        weir_prompt_learn(&scale, &prompt, 1);
    assert_int_equal(weir_prompt_tokens(&prompt, &scale), 8500 / 4);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(estimates_are_within_15_percent_after_50_answers),
        cmocka_unit_test(an_empty_prompt_has_no_tokens_and_teaches_nothing),
        cmocka_unit_test(an_answer_without_a_count_teaches_nothing),
        cmocka_unit_test(an_answer_moves_the_estimate_half_the_way_and_later_ones_less),
        cmocka_unit_test(what_a_prompt_does_not_have_is_not_taught),
        cmocka_unit_test(counts_that_no_text_can_have_teach_nothing),
        cmocka_unit_test(what_media_cost_is_believed_within_bounds),
    };

    if (argc != 2)
        return 2;
    samples_path = argv[1];
    return cmocka_run_group_tests(tests, read_samples, NULL);
}
