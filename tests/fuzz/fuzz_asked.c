/*
 * Any bytes as the body of a request: it is read or refused with a reason, limits that were read are within
 * the bounds of the file, and all memory comes back.
 */
#include <stdint.h>
#include <stdlib.h>

#include "gateway/continuation/continuable.h"
#include "gateway/request/asked_choice.h"
#include "test_mem.h"
#include "wire/http1_read.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void must(bool holds)
{
    if (!holds)
        abort();
}

static void check_controls(const struct weir_controls *controls)
{
    const struct weir_limits *limits = &controls->limits;

    must(limits->call_deadline_ns == WEIR_UNSET_NS || controls->by_caller);
    must(limits->min_stream_rate.tokens_per_s < 0 || limits->min_stream_rate.tokens_per_s <= 1e6);
    must(limits->stream_hold.said || limits->stream_hold.tokens == WEIR_UNSET);
    must(controls->hedge.max <= 100);
}

static void check_lists(const struct weir_request *request)
{
    for (int kind = 0; kind < WEIR_LIST_KINDS; kind++) {
        const struct weir_chain_list *list = &request->lists[kind];

        for (size_t i = 0; i < list->count; i++)
            for (size_t t = 0; t < list->chains[i].count; t++)
                check_controls(&list->chains[i].targets[t].controls);
    }
}

static void check_choice(const struct weir_request *request)
{
    must(request->tag_count <= WEIR_ASKED_TAGS_MAX && request->weight_count <= WEIR_ASKED_WEIGHTS_MAX);
    for (size_t i = 0; i < request->tag_count; i++)
        must(request->tags[i].name.len > 0);
    must(request->lar1.confidence >= 0 && request->lar1.confidence <= 1);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const struct weir_asked_rules rules = {.max_depth = 100,
                                           .mock_flags = true,
                                           .overrides = UINT32_MAX,
                                           .caller_places = UINT32_MAX,
                                           .tag_prefix = WEIR_SLICE("r:"),
                                           .parameters = true,
                                           .web_search = true};
    const struct weir_slice body = {size == 0 ? "" : (const char *)data, size};
    const struct weir_http1_head head = {0};
    struct weir_asked asked;
    struct weir_problem problem;
    struct weir_arena arena;
    struct test_mem mem;
    int r;

    test_mem_init(&mem, 0);
    weir_arena_init(&arena, &mem.mem, 4096, 64 << 20);
    r = weir_asked_read(&rules, &head, body, WEIR_SLICE_EMPTY, &arena, &asked, &problem);
    must(r == 0 || r == WEIR_REFUSED);
    if (r == 0) {
        check_controls(&asked.request.controls);
        check_lists(&asked.request);
        check_choice(&asked.request);
        must(asked.request.stream || !weir_continuable(WEIR_ROUTE_CHAT, &asked));
    } else {
        must(problem.status == 400 && problem.message.len > 0);
    }
    weir_arena_deinit(&arena);
    test_mem_assert_empty(&mem);
    return 0;
}
