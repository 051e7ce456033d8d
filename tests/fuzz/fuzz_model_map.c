/*
 * A model map of any sort is read or refused; what it says of a model is a number that can be, and comes with
 * its source.
 */
#include <stdint.h>
#include <stdlib.h>

#include "base/slice.h"
#include "provider/model_map.h"
#include "provider/price.h"
#include "test_mem.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void must(bool holds)
{
    if (!holds)
        abort();
}

static void look_up(const struct weir_model_map *map, struct weir_slice model)
{
    const struct weir_usage usage = {.told = true, .prompt_tokens = 300000, .completion_tokens = 7};
    struct weir_model_facts facts;
    uint64_t cost;

    if (!weir_model_map_find(map, weir_provider_named(WEIR_SLICE("openai")), model, &facts))
        must(facts.lacks == 0);
    for (int i = 0; i < WEIR_FIGURES; i++)
        must(weir_figure_known(&facts, (enum weir_figure)i) == (facts.figures[i] >= 0));
    if (weir_price(&facts, &usage, &cost))
        must(weir_figure_known(&facts, WEIR_FIGURE_INPUT) ||
             weir_figure_known(&facts, WEIR_FIGURE_LONG_INPUT));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const struct weir_slice text = {size == 0 ? "" : (const char *)data, size};
    struct weir_model_map map;
    struct weir_arena arena;
    struct test_mem mem;
    size_t bad_at = 0;
    int r;

    test_mem_init(&mem, 0);
    weir_arena_init(&arena, &mem.mem, 4096, 64 << 20);
    r = weir_model_map_read(text, &arena, &map, &bad_at);
    must(r == 0 || r == WEIR_JSON_BAD || r == WEIR_JSON_OTHER);
    must(r != WEIR_JSON_BAD || bad_at <= size);
    if (r == 0) {
        look_up(&map, WEIR_SLICE("m"));
        look_up(&map, WEIR_SLICE("openai/m"));
        look_up(&map, WEIR_SLICE("openai/gpt-4o"));
    }
    weir_arena_deinit(&arena);
    test_mem_assert_empty(&mem);
    return 0;
}
