/* Whatever a provider answers, the verdict is one that the router can work with, and no secret is in it. */
#include <stdint.h>
#include <stdlib.h>

#include <weir/mem_libc.h>

#include "base/slice.h"
#include "provider/classify.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { HEAD = 4, SHOWN_MAX = 2000 * 9 };

static void check(const struct weir_mishap_report *report, const struct weir_verdict *verdict)
{
    if (verdict->failure.kind >= WEIR_KIND_COUNT || verdict->failure.status < 400 ||
        verdict->failure.status > 599)
        abort();
    if (verdict->failure.origin != WEIR_ORIGIN_PROVIDER || verdict->type.len == 0)
        abort();
    if (verdict->text.len > SHOWN_MAX || weir_slice_has(verdict->text, report->secret))
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct weir_mishap_report report = {.secret = WEIR_SLICE("sk-secret")};
    struct weir_verdict verdict;
    struct weir_arena arena;

    if (size < HEAD)
        return 0;
    report.provider = weir_provider_at(data[0] % weir_provider_count());
    report.mishap = (weir_mishap)(data[1] % WEIR_MISHAPS);
    report.status = data[2] * 4 + data[3] % 4;
    report.body = (struct weir_slice){(const char *)data + HEAD, size - HEAD};
    weir_arena_init(&arena, weir_mem_libc(), 4096, 64 << 20);
    if (weir_classify(&report, &arena, &verdict) != 0)
        abort();
    check(&report, &verdict);
    weir_arena_deinit(&arena);
    return 0;
}
