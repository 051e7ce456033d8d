/* A file of a time zone of any sort is read or refused; the changes of its clocks follow each other. */
#include <stdint.h>
#include <stdlib.h>

#include "base/slice.h"
#include "config/zone.h"
#include "test_mem.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void must(bool holds)
{
    if (!holds)
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const struct weir_slice file = {size == 0 ? "" : (const char *)data, size};
    struct weir_zone zone;
    struct weir_arena arena;
    struct test_mem mem;
    int r;

    test_mem_init(&mem, 0);
    weir_arena_init(&arena, &mem.mem, 4096, 64 << 20);
    r = weir_zone_parse(file, &arena, &zone);
    must(r == 0 || r == WEIR_ZONE_UNKNOWN);
    for (size_t i = 1; r == 0 && i < zone.count; i++)
        must(zone.changes[i - 1].since_min <= zone.changes[i].since_min);
    weir_arena_deinit(&arena);
    test_mem_assert_empty(&mem);
    return 0;
}
