/*
 * Whatever a first stream said and another one says after it: what the caller gets are whole events with JSON
 * in them, under the first stream's names.
 *
 * The first line is the chunk that names the first stream; each other line is data of the second.
 */
#include <stdint.h>
#include <stdlib.h>

#include <weir/error.h>
#include <weir/mem_libc.h>

#include "base/slice.h"
#include "gateway/continuation/continued.h"
#include "provider/openai_read.h"
#include "provider/prefill.h"
#include "wire/json_read.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { DEPTH_MAX = 200, OUT_MAX = 1 << 20 };

static struct weir_chunk read_chunk(struct weir_slice data, struct weir_sse_event *ret_event)
{
    struct weir_chunk facts;

    *ret_event = (struct weir_sse_event){.raw = data, .data = data, .has_data = true};
    weir_openai_read_chunk(WEIR_ROUTE_CHAT, ret_event, &facts);
    return facts;
}

static bool passes(const struct weir_chunk *facts)
{
    return facts->chunk_class == WEIR_CHUNK_EMPTY || facts->chunk_class == WEIR_CHUNK_TEXT ||
           facts->chunk_class == WEIR_CHUNK_OTHER;
}

/* The names are the first stream's, each there once or not at all. */
static void check_names(const struct weir_so_far *so_far, struct weir_slice json)
{
    struct weir_json_cursor cursor;
    struct weir_json_item item;
    unsigned seen[WEIR_IDENTITIES] = {0};

    if (weir_json_enter(&cursor, json, DEPTH_MAX + 56) != 0)
        abort();
    while (weir_json_next(&cursor, &item) == WEIR_JSON_ITEM)
        for (unsigned i = 0; i < WEIR_IDENTITIES; i++)
            if (weir_json_key_is(&item, weir_identity_name(i))) {
                seen[i]++;
                if (!weir_slice_eq(item.value.text, so_far->identity[i].value))
                    abort();
            }
    for (unsigned i = 0; i < WEIR_IDENTITIES; i++)
        if (seen[i] != (so_far->identity[i].value.len > 0))
            abort();
}

/* "data: JSON\n\n", as often as it comes. */
static void check_events(const struct weir_so_far *so_far, struct weir_slice bytes)
{
    struct weir_slice prefix = WEIR_SLICE("data: ");
    struct weir_json_value value;
    size_t bad_at;

    while (bytes.len > 0) {
        size_t end = weir_slice_find(bytes, WEIR_SLICE("\n\n"));
        struct weir_slice json;

        if (end == WEIR_SLICE_NONE || !weir_slice_starts(bytes, prefix))
            abort();
        json = weir_slice_sub(bytes, prefix.len, end);
        if (weir_json_check(json, DEPTH_MAX + 56, &value, &bad_at) != 0 || value.type != WEIR_JSON_OBJECT ||
            weir_slice_find_char(json, '\n') != WEIR_SLICE_NONE)
            abort();
        check_names(so_far, json);
        bytes = weir_slice_sub(bytes, end + 2, bytes.len);
    }
}

static void play(struct weir_so_far *so_far, struct weir_continued *continued, struct weir_slice rest)
{
    struct weir_slice line;
    bool done = false;

    while (weir_slice_cut(&rest, '\n', &done, &line)) {
        struct weir_sse_event event;
        struct weir_chunk facts = read_chunk(line, &event);
        size_t text_bytes = 0, before = weir_buf_len(&so_far->text);
        struct weir_slice bytes;

        if (!passes(&facts) || line.len == 0)
            continue;
        if (weir_continued_take(continued, &facts, &text_bytes) < 0)
            abort();
        if (weir_continued_write(continued, &event, &facts, &bytes) != 0)
            continue; /* more edits than are made of one chunk */
        check_events(so_far, bytes);
        if (so_far->keeps && weir_buf_len(&so_far->text) > before + text_bytes)
            abort();
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct weir_slice input = {(const char *)data, size};
    size_t line = weir_slice_find_char(input, '\n');
    struct weir_continued *continued;
    struct weir_sse_event event;
    struct weir_so_far so_far;
    struct weir_arena arena;
    struct weir_chunk facts;

    if (line == WEIR_SLICE_NONE)
        return 0;
    facts = read_chunk(weir_slice_sub(input, 0, line), &event);
    if (facts.chunk_class != WEIR_CHUNK_TEXT ||
        weir_json_decoded_len(weir_json_inside(&facts.text)) == WEIR_SLICE_NONE)
        return 0;
    weir_arena_init(&arena, weir_mem_libc(), 65536, 64 << 20);
    weir_so_far_init(&so_far, weir_mem_libc());
    weir_so_far_begin(&so_far, 1, true);
    weir_so_far_note_names(&so_far, event.data, WEIR_SLICE("\"A\""), &arena);
    weir_so_far_add_encoded(&so_far, weir_json_inside(&facts.text));
    if (facts.usage.told)
        weir_so_far_note_usage(&so_far, event.data, &facts.usage, (struct weir_cost){false, 0});
    weir_so_far_carry_on(&so_far, 2);
    continued = weir_continued_new(&so_far, weir_mem_libc(), OUT_MAX, &arena);
    if (continued == NULL)
        abort();
    if (size % 2 == 0)
        weir_continued_show(continued, weir_prefill_sent(WEIR_PREFILL_TRIMMED, continued->prefill).len);
    play(&so_far, continued, weir_slice_sub(input, line + 1, size));
    weir_continued_deinit(continued);
    weir_so_far_deinit(&so_far);
    weir_arena_deinit(&arena);
    return 0;
}
