#include "built.h"

#include "unit.h"

#include <assert.h>

#include <weir/mem_libc.h>

#define MEMBERS_MAX 128

void built_init(struct built *built, const char *model)
{
    weir_arena_init(&built->arena, weir_mem_libc(), 16384, 8 << 20);
    weir_endpoint_init(&built->endpoint);
    built->endpoint.model = weir_slice_str(model);
    assert_int_equal(
        weir_provider_find(built->endpoint.model, WEIR_SLICE_EMPTY, &built->endpoint.provider, NULL), 0);
    built->endpoint.api_base = WEIR_SLICE("http://up.example/v1");
    built->endpoint.api_key = WEIR_SLICE("k-secret");
    built->build = (struct weir_build){.endpoint = &built->endpoint, .model = built->endpoint.model};
}

void built_deinit(struct built *built)
{
    weir_arena_deinit(&built->arena);
}

void built_prepare(struct built *built)
{
    assert_int_equal(weir_endpoint_prepare(&built->endpoint, &built->arena), 0);
}

void built_body(struct built *built, const char *body)
{
    struct weir_json_item *members = weir_arena_zalloc(&built->arena, MEMBERS_MAX, sizeof(*members));
    struct weir_json_cursor cursor;
    size_t count = 0;

    assert(members != NULL);
    assert_int_equal(weir_json_enter(&cursor, weir_slice_str(body), 100), 0);
    while (weir_json_next(&cursor, &members[count]) == WEIR_JSON_ITEM)
        assert_true(++count < MEMBERS_MAX);
    built->build.body = weir_slice_str(body);
    built->build.members = members;
    built->build.member_count = count;
}

int built_make(struct built *built)
{
    struct weir_json_value whole;
    size_t bad_at;
    int r = weir_build_request(&built->build, &built->arena, &built->request);

    if (r != 0)
        return r;
    built->body = weir_arena_join(&built->arena, built->request.parts, built->request.part_count);
    assert_int_equal(weir_json_check(built->body, 100, &whole, &bad_at), 0);
    assert_int_equal(whole.type, WEIR_JSON_OBJECT);
    return 0;
}
