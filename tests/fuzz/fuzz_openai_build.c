/*
 * A body (first line) and overrides (the rest) of any sort make a body that is JSON, names the right model,
 * and holds no field of the router's and none that is dropped; and where an answer is carried on, its
 * messages end in the text so far.
 */
#include <stdint.h>
#include <stdlib.h>

#include <weir/mem_libc.h>

#include "base/slice.h"
#include "provider/dialect.h"
#include "provider/fields.h"
#include "provider/parameter.h"
#include "wire/json_read.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define KEY  WEIR_SLICE("k-secret-key")
#define SAID WEIR_SLICE("so \"far\" so\tgood")

enum { MEMBERS_MAX = 256, DEPTH_MAX = 200 };

static const struct weir_slice drops[] = {WEIR_SLICE_INIT("user"), WEIR_SLICE_INIT("messages[*].name"),
                                          WEIR_SLICE_INIT("messages[0].x.y"),
                                          WEIR_SLICE_INIT("tools[*].strict")};

static size_t scan(struct weir_slice body, struct weir_json_item *members)
{
    struct weir_json_cursor cursor;
    size_t count = 0;
    int r;

    if (weir_json_enter(&cursor, body, DEPTH_MAX) != 0 || !cursor.object)
        return SIZE_MAX;
    while ((r = weir_json_next(&cursor, &members[count])) == WEIR_JSON_ITEM)
        if (++count == MEMBERS_MAX)
            return SIZE_MAX;
    return r == 0 ? count : SIZE_MAX;
}

/* messages ends in one of the assistant that ends in what was said. */
static void check_carried_on(const struct weir_json_item *members, size_t count, struct weir_arena *arena)
{
    struct weir_json_value last = {0}, content;
    struct weir_slice text;
    struct weir_json_cursor cursor;
    struct weir_json_item item;

    for (size_t i = 0; i < count; i++)
        if (weir_json_key_is(&members[i], WEIR_SLICE("messages")) &&
            weir_json_enter(&cursor, members[i].value.text, DEPTH_MAX) == 0)
            while (weir_json_next(&cursor, &item) == WEIR_JSON_ITEM)
                last = item.value;
    if (last.type != WEIR_JSON_OBJECT || weir_json_enter(&cursor, last.text, DEPTH_MAX) != 0)
        abort();
    content = (struct weir_json_value){0};
    while (weir_json_next(&cursor, &item) == WEIR_JSON_ITEM)
        if (weir_json_key_is(&item, WEIR_SLICE("content")))
            content = item.value;
    if (weir_json_string(&content, arena, &text) != 0 || !weir_slice_ends(text, SAID))
        abort();
}

static void check(const struct weir_build *build, const struct weir_upstream_request *request,
                  struct weir_slice input, struct weir_arena *arena)
{
    struct weir_slice body = weir_arena_join(arena, request->parts, request->part_count);
    struct weir_json_item *members = weir_arena_zalloc(arena, 2 * MEMBERS_MAX, sizeof(*members));
    size_t count, models = 0;

    if (members == NULL)
        abort();
    count = scan(body, members);
    if (count == SIZE_MAX)
        abort();
    for (size_t i = 0; i < count; i++) {
        const struct weir_field *field = weir_field_of(&members[i]);

        if (field != NULL && field->field_class != WEIR_FIELD_CONTROL)
            abort();
        if ((build->dropped != 0 && (build->dropped & weir_parameter_asked(&members[i])) != 0) ||
            (build->endpoint->drops.count > 0 && weir_json_key_is(&members[i], drops[0])))
            abort();
        if (weir_json_key_is(&members[i], WEIR_SLICE("model")))
            models += weir_json_string_is(&members[i].value, WEIR_SLICE("gpt-4o")) ? 1 : 2;
    }
    if (models != 1 || (weir_slice_has(body, KEY) && !weir_slice_has(input, KEY)))
        abort();
    if (build->prefill.len > 0)
        check_carried_on(members, count, arena);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct weir_slice input = {(const char *)data, size};
    size_t line = weir_slice_find_char(input, '\n');
    struct weir_json_item *members;
    struct weir_upstream_request request;
    struct weir_endpoint endpoint;
    struct weir_build build = {.endpoint = &endpoint, .stream = size % 2 == 1, .stream_usage = size % 3 == 0};
    struct weir_arena arena;

    weir_arena_init(&arena, weir_mem_libc(), 65536, 64 << 20);
    weir_endpoint_init(&endpoint);
    endpoint.provider = weir_provider_named(size % 7 < 2   ? WEIR_SLICE("openai")
                                            : size % 7 < 4 ? WEIR_SLICE("mistral")
                                                           : WEIR_SLICE("hosted_vllm"));
    if (size % 7 > 0) {
        build.prefill = SAID;
        build.sent_tokens = size;
    }
    endpoint.model = build.model = WEIR_SLICE("gpt-4o");
    endpoint.api_base = WEIR_SLICE("http://up.example/v1");
    endpoint.api_key = KEY;
    endpoint.defaults = WEIR_SLICE("{\"temperature\":0.5,\"seed\":1}");
    if (size % 4 == 0) {
        endpoint.drops = (struct weir_drops){drops, sizeof(drops) / sizeof(drops[0])};
        build.dropped = weir_parameter_set(WEIR_SLICE("stop temperature top_p"));
    }
    endpoint.caller_places = size % 5 == 0 ? WEIR_PLACE_ALL : 0;
    members = weir_arena_zalloc(&arena, MEMBERS_MAX, sizeof(*members));
    if (members == NULL || weir_endpoint_prepare(&endpoint, &arena) != 0)
        abort();
    build.body = weir_slice_sub(input, 0, line == WEIR_SLICE_NONE ? size : line);
    build.overrides = line == WEIR_SLICE_NONE ? WEIR_SLICE_EMPTY : weir_slice_sub(input, line + 1, size);
    build.members = members;
    build.member_count = scan(build.body, members);
    if (build.member_count != SIZE_MAX && weir_build_request(&build, &arena, &request) == 0)
        check(&build, &request, input, &arena);
    weir_arena_deinit(&arena);
    return 0;
}
