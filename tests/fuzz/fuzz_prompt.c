/*
 * Reading how large a prompt is: of no body more is counted than its bytes can hold, a text in one piece
 * counts as the same text escape by escape, and learning keeps estimates within what factors allow.
 */
#include <stdint.h>
#include <stdlib.h>

#include "base/slice.h"
#include "provider/prompt.h"
#include "provider/prompt_scale.h"
#include "wire/json_read.h"

enum { MEMBERS_MAX = 64, UNITS_A_BYTE = 4, FRAME_TOKENS = 7 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(bool condition)
{
    if (!condition)
        abort();
}

/* A string of the body, read from its escapes and from its text. */
static void compare(const struct weir_json_value *value)
{
    struct weir_slice raw = weir_json_inside(value);
    struct weir_prompt whole = {{0}}, pieces = {{0}};
    struct weir_prompt_text text;
    char *room = malloc(raw.len == 0 ? 1 : raw.len);

    require(room != NULL);
    weir_prompt_text_begin(&text, &whole);
    weir_prompt_text_add(&text, (struct weir_slice){room, weir_json_decode(raw, room)});
    weir_prompt_text_end(&text);
    weir_prompt_json_text(&pieces, raw);
    require(memcmp(&whole, &pieces, sizeof(whole)) == 0);
    free(room);
}

static void check(const struct weir_prompt *prompt, size_t size)
{
    struct weir_prompt_scale scale;
    uint64_t units = 0, first;

    for (size_t u = 0; u < WEIR_PROMPT_UNITS; u++)
        units += prompt->units[u];
    require(units <= UNITS_A_BYTE * size + FRAME_TOKENS);
    weir_prompt_scale_init(&scale);
    first = weir_prompt_tokens(prompt, &scale);
    for (unsigned i = 0; i < 20; i++)
        weir_prompt_learn(&scale, prompt, i % 2 == 0 ? first * 4 : first / 4 + 1);
    require(weir_prompt_tokens(prompt, &scale) <= 4 * first + 4);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct weir_json_item members[MEMBERS_MAX];
    struct weir_json_cursor cursor;
    struct weir_prompt prompt;
    size_t count = 0;

    if (weir_json_enter(&cursor, (struct weir_slice){(const char *)data, size}, 200) != 0)
        return 0;
    while (count < MEMBERS_MAX && weir_json_next(&cursor, &members[count]) == WEIR_JSON_ITEM) {
        if (members[count].value.type == WEIR_JSON_STRING)
            compare(&members[count].value);
        if (cursor.object)
            count++;
    }
    weir_prompt_read(members, count, &prompt);
    check(&prompt, size);
    return 0;
}
