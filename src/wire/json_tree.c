/* yyjson's allocator interface over an arena; the arena frees everything at once. */
#include "wire/json_tree.h"

#include <string.h>

#include <weir/error.h>

static void *tree_alloc(void *arena, size_t size)
{
    return weir_arena_alloc(arena, size);
}

static void *tree_resize(void *arena, void *ptr, size_t old_size, size_t size)
{
    const struct weir_mem *mem = weir_arena_mem(arena);

    return mem->resize(mem->user, ptr, old_size, size);
}

static void tree_free(void *arena, void *ptr)
{
    (void)arena;
    (void)ptr;
}

int weir_json_tree(struct weir_slice text, struct weir_arena *arena, yyjson_val **ret_root)
{
    const yyjson_alc alc = {tree_alloc, tree_resize, tree_free, arena};
    yyjson_read_err error;
    struct weir_json_value value;
    size_t bad_at;
    char *copy;
    yyjson_doc *doc;

    if (weir_json_check(text, WEIR_JSON_DEPTH_MAX, &value, &bad_at) != 0)
        return WEIR_JSON_BAD;
    /* Read in place in a copy of our own: yyjson only reads in place what it may write to. */
    copy = weir_arena_zalloc(arena, 1, value.text.len + YYJSON_PADDING_SIZE);
    if (copy == NULL)
        return WEIR_ERR_NOMEM;
    memcpy(copy, value.text.ptr, value.text.len);
    doc = yyjson_read_opts(copy, value.text.len, YYJSON_READ_INSITU, &alc, &error);
    if (doc == NULL)
        return error.code == YYJSON_READ_ERROR_MEMORY_ALLOCATION ? WEIR_ERR_NOMEM : WEIR_JSON_BAD;
    *ret_root = yyjson_doc_get_root(doc);
    return 0;
}

struct weir_slice weir_json_tree_text(yyjson_val *value)
{
    return yyjson_is_str(value) ? (struct weir_slice){yyjson_get_str(value), yyjson_get_len(value)}
                                : WEIR_SLICE_EMPTY;
}
