#include "asked_kit.h"

#include "test_mem.h"
#include "unit.h"

#include <weir/mem_libc.h>

int asked_kit_begin(void **state)
{
    struct asked_kit *kit = test_calloc(1, sizeof(*kit));

    weir_arena_init(&kit->arena, weir_mem_libc(), 4096, 1 << 20);
    kit->rules.max_depth = 20;
    kit->head.fields = kit->fields;
    *state = kit;
    return 0;
}

int asked_kit_end(void **state)
{
    struct asked_kit *kit = *state;

    weir_arena_deinit(&kit->arena);
    test_free(kit);
    return 0;
}

void asked_kit_header(struct asked_kit *kit, const char *name, const char *value)
{
    assert_true(kit->head.field_count < sizeof(kit->fields) / sizeof(*kit->fields));
    kit->fields[kit->head.field_count++] =
        (struct weir_http1_field){weir_slice_str(name), weir_slice_str(value)};
}

int asked_kit_read(struct asked_kit *kit, const char *body)
{
    return weir_asked_read(&kit->rules, &kit->head, weir_slice_str(body), kit->path_model, &kit->arena,
                           &kit->asked, &kit->problem);
}

const struct weir_request *asked_kit_accept(struct asked_kit *kit, const char *body)
{
    int r = asked_kit_read(kit, body);

    if (r == WEIR_REFUSED)
        print_error("refused: %.*s\n", (int)kit->problem.message.len, kit->problem.message.ptr);
    assert_int_equal(r, 0);
    return &kit->asked.request;
}

void asked_kit_refuse(struct asked_kit *kit, const char *body, const char *param, const char *words)
{
    assert_int_equal(asked_kit_read(kit, body), WEIR_REFUSED);
    assert_int_equal(kit->problem.status, 400);
    assert_slice_is(kit->problem.param, param);
    if (!weir_slice_has(kit->problem.message, weir_slice_str(words)))
        fail_msg("\"%.*s\" does not say \"%s\"", (int)kit->problem.message.len, kit->problem.message.ptr,
                 words);
}

void asked_kit_run_out_of_memory(struct asked_kit *kit, const char *body)
{
    struct test_mem mem;
    int r = -1;

    for (size_t n = 1; r != 0; n++) {
        struct weir_arena arena;

        test_mem_init(&mem, n);
        weir_arena_init(&arena, &mem.mem, 256, 1 << 20);
        r = weir_asked_read(&kit->rules, &kit->head, weir_slice_str(body), WEIR_SLICE_EMPTY, &arena,
                            &kit->asked, &kit->problem);
        assert_true(r == 0 || mem.failed);
        weir_arena_deinit(&arena);
        test_mem_assert_empty(&mem);
    }
}
