#include "classify_case.h"

#include "unit.h"

#include <assert.h>
#include <string.h>

#include <weir/mem_libc.h>

#include "base/arena.h"
#include "base/slice.h"
#include "provider/error_body.h"
#include "provider/rules.h"

static const struct weir_provider *provider_of(const char *name)
{
    static const struct weir_provider together = {
        .name = WEIR_SLICE_INIT("together"),
        .display = WEIR_SLICE_INIT("Together"),
        .families = WEIR_FAMILY_TOGETHER,
    };
    const struct weir_provider *provider = weir_provider_named(weir_slice_str(name));

    if (strcmp(name, "together") != 0)
        assert_non_null(provider);
    return provider == NULL ? &together : provider;
}

void classify_case_check(const struct classify_case *c)
{
    struct weir_arena arena;
    struct weir_verdict verdict;
    struct weir_mishap_report report = {.provider = provider_of(c->provider),
                                        .mishap = c->mishap,
                                        .status = c->status,
                                        .body = weir_slice_str(c->body)};

    weir_arena_init(&arena, weir_mem_libc(), 4096, 1 << 20);
    assert_int_equal(weir_classify(&report, &arena, &verdict), 0);
    if (verdict.failure.kind != c->kind || verdict.failure.status != c->status_out)
        fail_msg("%s %d %s: kind %d status %d, not kind %d status %d", c->provider, c->status, c->body,
                 (int)verdict.failure.kind, verdict.failure.status, (int)c->kind, c->status_out);
    assert_int_equal(verdict.failure.origin, WEIR_ORIGIN_PROVIDER);
    assert_true(verdict.text.len > 0);
    assert_true(verdict.type.len > 0);
    weir_arena_deinit(&arena);
}

size_t classify_case_row(const struct classify_case *c)
{
    struct weir_arena arena;
    struct weir_error_body error;
    struct weir_rule_facts facts;
    struct weir_slice body = weir_slice_str(c->body);
    weir_kind kind;
    int status;
    size_t row;
    char *lower;

    weir_arena_init(&arena, weir_mem_libc(), 4096, 1 << 20);
    assert_int_equal(weir_error_body_read(body, &arena, &error), 0);
    lower = weir_arena_alloc(&arena, body.len + 1);
    assert(lower != NULL);
    for (size_t i = 0; i < body.len; i++)
        lower[i] = weir_char_lower(body.ptr[i]);
    facts = (struct weir_rule_facts){.families = provider_of(c->provider)->families,
                                     .status = c->status,
                                     .text = body,
                                     .lower = {lower, body.len},
                                     .code = error.code,
                                     .type = error.type,
                                     .page = error.html};
    weir_rules_match(&facts, &kind, &status, &row);
    weir_arena_deinit(&arena);
    return row;
}
