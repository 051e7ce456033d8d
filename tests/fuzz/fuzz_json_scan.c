/*
 * The scanner and yyjson agree on what is JSON, but for half surrogate pairs, which only the scanner takes;
 * the scanner's walk agrees with its check; and every string decodes to what yyjson makes of it.
 */
#include <stdint.h>
#include <stdlib.h>

#include <weir/mem_libc.h>

#include "base/slice.h"
#include "wire/json_read.h"

#include <yyjson.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(bool condition)
{
    if (!condition)
        abort();
}

/* A walk over everything, at every depth. */
static void walk(struct weir_slice text, unsigned depth)
{
    struct weir_json_cursor c;
    struct weir_json_item item;
    int r;

    require(weir_json_enter(&c, text, depth) == 0);
    while ((r = weir_json_next(&c, &item)) == WEIR_JSON_ITEM) {
        struct weir_slice bytes = weir_json_item_text(&item);

        require(bytes.ptr >= text.ptr && bytes.ptr + bytes.len <= text.ptr + text.len);
        if (item.value.type >= WEIR_JSON_ARRAY)
            walk(item.value.text, depth - 1);
    }
    require(r == 0);
}

static bool has_half_pair(const char *json, const yyjson_read_err *error)
{
    return error->code == YYJSON_READ_ERROR_INVALID_STRING && strstr(json, "\\u") != NULL;
}

static void compare_string(const struct weir_json_value *value, yyjson_val *theirs)
{
    struct weir_slice raw = weir_json_inside(value), want = {yyjson_get_str(theirs), yyjson_get_len(theirs)};
    char *room = malloc(raw.len == 0 ? 1 : raw.len);

    require(room != NULL);
    require(weir_slice_eq((struct weir_slice){room, weir_json_decode(raw, room)}, want));
    require(weir_json_string_is(value, want));
    free(room);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct weir_slice text = {(const char *)data, size};
    char *copy = calloc(1, size + 1);
    struct weir_json_value value = {0};
    yyjson_read_err error;
    size_t bad_at = 0;
    bool ok = weir_json_check(text, WEIR_JSON_DEPTH_MAX, &value, &bad_at) == 0;
    yyjson_doc *doc;

    require(copy != NULL);
    if (size > 0)
        memcpy(copy, data, size);
    doc = yyjson_read_opts(copy, size, YYJSON_READ_NUMBER_AS_RAW, NULL, &error);
    if (ok)
        require(doc != NULL || has_half_pair(copy, &error));
    else
        require(bad_at <= size && (doc == NULL || size > WEIR_JSON_DEPTH_MAX));
    if (ok && value.type >= WEIR_JSON_ARRAY)
        walk(text, WEIR_JSON_DEPTH_MAX);
    if (ok && doc != NULL && value.type == WEIR_JSON_STRING)
        compare_string(&value, yyjson_doc_get_root(doc));
    yyjson_doc_free(doc);
    free(copy);
    return 0;
}
