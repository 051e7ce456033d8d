/*
 * A redirected call is prepared as a deployment is, on a copy of the endpoint: the rare case pays for itself,
 * and there is no second way to make an address.
 *
 * Two sayers, in this order: the caller's body, the target's overrides.  Both are read into one list of
 * places, so that the later one wins and the question "whose address is it" has one answer.
 */
#include "provider/redirect.h"

#include <weir/error.h>

#include "base/slice.h"
#include "provider/fields.h"
#include "wire/json_read.h"

struct said {
    const struct weir_field *field;
    struct weir_json_value value;
    bool by_caller;
};

enum { SAID_MAX = 32 };

struct places {
    struct said items[SAID_MAX];
    size_t count;
};

static void note(struct places *places, const struct weir_field *field, const struct weir_json_value *value,
                 bool by_caller)
{
    if (value->type != WEIR_JSON_NULL && places->count < SAID_MAX)
        places->items[places->count++] = (struct said){field, *value, by_caller};
}

static bool allowed(const struct weir_endpoint *endpoint, const struct weir_field *field)
{
    return field != NULL && field->field_class == WEIR_FIELD_PLACE &&
           (endpoint->caller_places & WEIR_PLACE_BIT(field->place)) != 0;
}

static void gather_body(const struct weir_build *build, struct places *places)
{
    if (build->endpoint->caller_places == 0)
        return;
    for (size_t i = 0; i < build->member_count; i++) {
        const struct weir_field *field = weir_field_of(&build->members[i]);

        if (allowed(build->endpoint, field))
            note(places, field, &build->members[i].value, true);
    }
}

static int gather_overrides(const struct weir_build *build, const struct weir_params *overrides,
                            struct places *places)
{
    for (size_t i = 0; i < overrides->count; i++) {
        const struct weir_field *field = weir_field_find(overrides->items[i].name);
        bool trusted = build->overrides_trusted && field != NULL && field->field_class == WEIR_FIELD_PLACE;
        struct weir_json_value value;
        size_t bad_at;

        if (!trusted && !allowed(build->endpoint, field))
            continue;
        if (weir_json_check(overrides->items[i].value, WEIR_JSON_DEPTH_MAX, &value, &bad_at) != 0)
            return WEIR_ERR_MALFORMED;
        note(places, field, &value, !trusted);
    }
    return 0;
}

static int read_headers(struct weir_slice json, struct weir_arena *arena, struct weir_header **ret_headers,
                        size_t *ret_count, size_t spare)
{
    struct weir_params members;
    struct weir_header *headers;
    int r = weir_endpoint_params(json, arena, &members);

    if (r != 0)
        return r < 0 ? r : WEIR_BUILD_BAD_PLACE;
    headers = weir_arena_zalloc(arena, members.count + spare + 1, sizeof(*headers));
    if (headers == NULL)
        return WEIR_ERR_NOMEM;
    for (size_t i = 0; i < members.count; i++) {
        struct weir_json_value value;
        size_t bad_at;

        if (weir_json_check(members.items[i].value, 1, &value, &bad_at) != 0 ||
            weir_json_string(&value, arena, &headers[i].value) != 0)
            return WEIR_BUILD_BAD_PLACE;
        headers[i].name = members.items[i].name;
    }
    *ret_headers = headers;
    *ret_count = members.count;
    return 0;
}

static int set_headers(struct weir_endpoint *endpoint, struct weir_slice json, struct weir_arena *arena)
{
    struct weir_header *headers;
    size_t count, said;
    int r = read_headers(json, arena, &headers, &said, endpoint->header_count);

    if (r != 0)
        return r;
    count = said;
    for (size_t i = 0; i < endpoint->header_count; i++)
        if (!weir_header_among(headers, said, endpoint->headers[i].name))
            headers[count++] = endpoint->headers[i];
    endpoint->headers = headers;
    endpoint->header_count = count;
    return 0;
}

static int set_provider(struct weir_endpoint *endpoint, struct weir_slice name)
{
    const struct weir_provider *provider = weir_provider_named(name);

    if (provider == NULL || weir_dialect_of(provider->dialect) == NULL)
        return WEIR_BUILD_BAD_PLACE;
    endpoint->provider = provider;
    return 0;
}

static int set_text(struct weir_endpoint *endpoint, const struct weir_field *field, struct weir_slice text)
{
    switch (field->place) {
    case WEIR_PLACE_BASE:
        endpoint->api_base = text;
        return 0;
    case WEIR_PLACE_KEY:
        endpoint->api_key = text;
        return 0;
    case WEIR_PLACE_VERSION:
        endpoint->api_version = text;
        return 0;
    case WEIR_PLACE_ORGANIZATION:
        endpoint->organization = text;
        return 0;
    case WEIR_PLACE_PROVIDER:
        return set_provider(endpoint, text);
    case WEIR_PLACE_CREDENTIAL:
        if (weir_slice_eq(field->name, WEIR_SLICE("azure_ad_token")))
            endpoint->azure_ad_token = text;
        return 0;
    case WEIR_PLACE_HEADERS:
    case WEIR_PLACE_NONE:
        break;
    }
    return WEIR_BUILD_BAD_PLACE;
}

static int apply(struct weir_endpoint *endpoint, const struct said *said, struct weir_arena *arena)
{
    struct weir_slice text;
    int r;

    if (said->field->place == WEIR_PLACE_HEADERS)
        return said->value.type == WEIR_JSON_OBJECT ? set_headers(endpoint, said->value.text, arena)
                                                    : WEIR_BUILD_BAD_PLACE;
    r = weir_json_string(&said->value, arena, &text);
    if (r < 0)
        return r;
    return r == 0 ? set_text(endpoint, said->field, text) : WEIR_BUILD_BAD_PLACE;
}

static bool caller_moves_it(const struct places *places)
{
    bool moved = false;

    for (size_t i = 0; i < places->count; i++) {
        weir_field_place place = places->items[i].field->place;

        if (place == WEIR_PLACE_BASE || place == WEIR_PLACE_PROVIDER)
            moved = places->items[i].by_caller;
    }
    return moved;
}

static void drop_secrets(struct weir_endpoint *endpoint)
{
    endpoint->api_key = WEIR_SLICE_EMPTY;
    endpoint->azure_ad_token = WEIR_SLICE_EMPTY;
    endpoint->organization = WEIR_SLICE_EMPTY;
    endpoint->headers = NULL;
    endpoint->header_count = 0;
}

int weir_redirect(const struct weir_build *build, const struct weir_params *overrides,
                  struct weir_arena *arena, const struct weir_endpoint **ret_endpoint)
{
    struct places places;
    struct weir_endpoint *copy;
    bool moved;
    int r;

    places.count = 0; /* the room for items is large and mostly stays unused */
    gather_body(build, &places);
    r = gather_overrides(build, overrides, &places);
    if (r != 0)
        return r;
    if (places.count == 0) {
        *ret_endpoint = build->endpoint;
        return 0;
    }
    copy = weir_arena_alloc(arena, sizeof(*copy));
    if (copy == NULL)
        return WEIR_ERR_NOMEM;
    *copy = *build->endpoint;
    moved = caller_moves_it(&places);
    if (moved)
        drop_secrets(copy);
    for (size_t i = 0; i < places.count && r == 0; i++)
        if (!moved || places.items[i].by_caller)
            r = apply(copy, &places.items[i], arena);
    if (r == 0)
        r = weir_endpoint_prepare(copy, arena);
    if (r != 0)
        return r < 0 ? r : WEIR_BUILD_BAD_PLACE;
    *ret_endpoint = copy;
    return 0;
}
