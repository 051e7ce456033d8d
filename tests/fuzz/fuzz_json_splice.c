/*
 * The input is a byte that seeds the edits, then an object. What splicing makes of it must parse, and hold
 * what the same edits, made on yyjson's tree, leave.
 */
#include <stdint.h>
#include <stdlib.h>

#include <weir/mem_libc.h>

#include "base/buf.h"
#include "base/rand.h"
#include "base/slice.h"
#include "wire/json_splice.h"

#include <yyjson.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { MAX_BYTES = 1 << 22 };

static void require(bool condition)
{
    if (!condition)
        abort();
}

/* One edit of the n-th member, on both sides. */
static void edit(struct weir_json_splice *splice, const struct weir_json_item *item,
                 yyjson_mut_obj_iter *iter, uint64_t lot)
{
    yyjson_mut_val *key = yyjson_mut_obj_iter_next(iter);

    require(key != NULL);
    if (lot == 0) {
        require(weir_json_splice_remove(splice, item) == 0);
        require(yyjson_mut_obj_iter_remove(iter) != NULL);
    } else if (lot == 1) {
        yyjson_mut_val *value = yyjson_mut_obj_iter_get_val(key);

        require(weir_json_splice_replace(splice, &item->value, WEIR_SLICE("\"new\"")) == 0);
        yyjson_mut_set_str(value, "new");
    }
}

static void edit_all(struct weir_json_splice *splice, const struct weir_json_value *root, yyjson_mut_doc *doc,
                     uint64_t seed)
{
    yyjson_mut_val *object = yyjson_mut_doc_get_root(doc);
    yyjson_mut_obj_iter iter = yyjson_mut_obj_iter_with(object);
    struct weir_json_cursor c;
    struct weir_json_item item;
    struct weir_rand rand;

    weir_rand_init(&rand, seed);
    require(weir_json_enter(&c, root->text, WEIR_JSON_DEPTH_MAX) == 0);
    while (weir_json_next(&c, &item) == WEIR_JSON_ITEM && splice->edit_count < WEIR_JSON_SPLICE_EDITS - 1)
        edit(splice, &item, &iter, weir_rand_below(&rand, 3));
    if (weir_rand_below(&rand, 2) == 0) {
        require(weir_json_splice_add(splice, root, WEIR_SLICE("\"z\":[0]")) == 0);
        require(yyjson_mut_obj_add_val(doc, object, "z", yyjson_mut_arr_with_sint(doc, (int64_t[]){0}, 1)));
    }
}

static void join(const struct weir_json_splice *splice, struct weir_buf *out)
{
    weir_buf_init(out, weir_mem_libc(), MAX_BYTES);
    for (size_t i = 0; i < splice->part_count; i++)
        require(weir_buf_append(out, splice->parts[i]) == 0);
    require(weir_buf_len(out) == splice->total_bytes);
}

/* The same members in the same order; compared as yyjson writes them. */
static void compare(struct weir_slice ours, yyjson_mut_doc *theirs)
{
    yyjson_doc *doc = yyjson_read(ours.ptr, ours.len, YYJSON_READ_NUMBER_AS_RAW);
    size_t our_len = 0, their_len = 0;
    char *our_text, *their_text;

    require(doc != NULL);
    our_text = yyjson_write(doc, 0, &our_len);
    their_text = yyjson_mut_write(theirs, 0, &their_len);
    require(our_text != NULL && their_text != NULL);
    require(
        weir_slice_eq((struct weir_slice){our_text, our_len}, (struct weir_slice){their_text, their_len}));
    free(our_text);
    free(their_text);
    yyjson_doc_free(doc);
}

static void splice_and_compare(const struct weir_json_value *root, yyjson_mut_doc *tree, uint64_t seed)
{
    struct weir_json_splice *splice = malloc(sizeof(*splice));
    struct weir_buf out;

    require(splice != NULL);
    weir_json_splice_init(splice, root->text);
    edit_all(splice, root, tree, seed);
    require(weir_json_splice_finish(splice) == 0);
    join(splice, &out);
    compare(weir_buf_slice(&out), tree);
    weir_buf_deinit(&out);
    free(splice);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct weir_slice text = {(const char *)data, size};
    struct weir_json_value root;
    yyjson_doc *doc;
    size_t bad_at;

    text = weir_slice_sub(text, 1, size);
    if (weir_json_check(text, WEIR_JSON_DEPTH_MAX, &root, &bad_at) != 0 || root.type != WEIR_JSON_OBJECT)
        return 0;
    doc = yyjson_read(root.text.ptr, root.text.len, YYJSON_READ_NUMBER_AS_RAW);
    if (doc != NULL) {
        yyjson_mut_doc *tree = yyjson_doc_mut_copy(doc, NULL);

        require(tree != NULL);
        splice_and_compare(&root, tree, data[0]);
        yyjson_mut_doc_free(tree);
    }
    yyjson_doc_free(doc);
    return 0;
}
