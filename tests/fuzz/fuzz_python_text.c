/*
 * Text that is read can be written in both forms; what was written reads back as the same value, in that form
 * or in the one that both share.
 */
#include <stdint.h>
#include <stdlib.h>

#include <weir/mem_libc.h>

#include "base/slice.h"
#include "state/python_text.h"
#include "state/python_write.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { ARENA_BYTES = 1 << 22, TEXT_BYTES = 1 << 22 };

static bool equal(const struct weir_literal *a, const struct weir_literal *b)
{
    const struct weir_literal *x = a->first, *y = b->first;

    if (a->kind != b->kind || a->truth != b->truth || a->number != b->number || a->count != b->count ||
        !weir_slice_eq(a->key, b->key) || !weir_slice_eq(a->text, b->text))
        return false;
    for (; x != NULL && y != NULL; x = x->next, y = y->next)
        if (!equal(x, y))
            return false;
    return x == NULL && y == NULL;
}

static void write_and_read(struct weir_arena *arena, const struct weir_literal *value,
                           enum weir_literal_form form)
{
    const struct weir_literal *back;
    enum weir_literal_form back_form;
    struct weir_buf buf;

    weir_buf_init(&buf, weir_mem_libc(), TEXT_BYTES);
    if (weir_literal_write(&buf, form, value) != 0 ||
        weir_literal_read(arena, weir_buf_slice(&buf), &back, &back_form) != 0 || !equal(value, back))
        abort();
    if (form == WEIR_LITERAL_AS_JSON && back_form != WEIR_LITERAL_AS_JSON)
        abort();
    weir_buf_deinit(&buf);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const struct weir_literal *value;
    struct weir_arena arena;

    weir_arena_init(&arena, weir_mem_libc(), 4096, ARENA_BYTES);
    if (size < 65536 &&
        weir_literal_read(&arena, (struct weir_slice){(const char *)data, size}, &value, NULL) == 0) {
        write_and_read(&arena, value, WEIR_LITERAL_AS_JSON);
        write_and_read(&arena, value, WEIR_LITERAL_AS_PYTHON);
    }
    weir_arena_deinit(&arena);
    return 0;
}
