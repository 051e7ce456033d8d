/*
 * The last usage is spliced: its shape is what the caller's client knows from the provider that it came from.
 * Sums are written to a list of digits, since they must live until the parts are joined.
 */
#include "gateway/continuation/usage_sum.h"

#include <stdint.h>

#include <weir/error.h>

#include "base/slice.h"
#include "base/text.h"
#include "wire/json_read.h"
#include "wire/json_splice.h"

enum { DEPTH_MAX = 32 };

struct sum {
    struct weir_json_splice splice;
    size_t count;
    char digits[WEIR_JSON_SPLICE_EDITS][WEIR_TEXT_U64_MAX];
};

static bool is_sum(const struct weir_json_item *item, bool details)
{
    return details || weir_slice_ends(item->key, WEIR_SLICE("_tokens"));
}

static bool is_details(const struct weir_json_item *item, bool details)
{
    return !details && item->value.type == WEIR_JSON_OBJECT &&
           weir_slice_ends(item->key, WEIR_SLICE("_details"));
}

/* The member of that key as it is written. */
static bool find(struct weir_slice object, struct weir_slice key, struct weir_json_value *ret_value)
{
    struct weir_json_cursor cursor;
    struct weir_json_item item;

    if (weir_json_enter(&cursor, object, DEPTH_MAX) != 0)
        return false;
    while (weir_json_next(&cursor, &item) == WEIR_JSON_ITEM)
        if (weir_slice_eq(item.key, key)) {
            *ret_value = item.value;
            return true;
        }
    return false;
}

static int add_number(struct sum *sum, const struct weir_json_value *last,
                      const struct weir_json_value *earlier)
{
    uint64_t a, b;

    if (weir_json_u64(last, &a) != 0 || weir_json_u64(earlier, &b) != 0 || __builtin_add_overflow(a, b, &a))
        return 0;
    if (sum->count == WEIR_JSON_SPLICE_EDITS)
        return WEIR_ERR_LIMIT;
    return weir_json_splice_replace(&sum->splice, last, weir_text_u64(a, sum->digits[sum->count++]));
}

/* What only the earlier ones told; null says nothing. */
static int add_missing(struct sum *sum, struct weir_slice earlier, const struct weir_json_value *last,
                       bool details)
{
    struct weir_json_cursor cursor;
    struct weir_json_item item;
    struct weir_json_value value;
    int r = 0;

    if (weir_json_enter(&cursor, earlier, DEPTH_MAX) != 0)
        return 0;
    while (r == 0 && weir_json_next(&cursor, &item) == WEIR_JSON_ITEM) {
        bool counts =
            is_details(&item, details) || (item.value.type == WEIR_JSON_NUMBER && is_sum(&item, details));

        if (!counts)
            continue;
        if (!find(last->text, item.key, &value))
            r = weir_json_splice_add(&sum->splice, last, weir_json_item_text(&item));
        else if (value.type == WEIR_JSON_NULL)
            r = weir_json_splice_replace(&sum->splice, &value, item.value.text);
    }
    return r;
}

static int add_object(struct sum *sum, struct weir_slice earlier, const struct weir_json_value *last,
                      bool details)
{
    struct weir_json_cursor cursor;
    struct weir_json_item item;
    struct weir_json_value before;
    int r = weir_json_enter(&cursor, last->text, DEPTH_MAX);

    while (r == 0 && weir_json_next(&cursor, &item) == WEIR_JSON_ITEM) {
        if (!find(earlier, item.key, &before))
            continue;
        if (item.value.type == WEIR_JSON_NUMBER && is_sum(&item, details))
            r = add_number(sum, &item.value, &before);
        else if (is_details(&item, details) && before.type == WEIR_JSON_OBJECT)
            r = add_object(sum, before.text, &item.value, true);
    }
    return r == 0 ? add_missing(sum, earlier, last, details) : r;
}

int weir_usage_sum(struct weir_slice earlier, struct weir_slice last, struct weir_buf *out)
{
    const struct weir_json_value value = {last, WEIR_JSON_OBJECT, false};
    struct sum sum;

    sum.count = 0;
    weir_json_splice_init(&sum.splice, last);
    /* One with more members than can be edited stays as it is. */
    if (earlier.len == 0 || add_object(&sum, earlier, &value, false) != 0 ||
        weir_json_splice_finish(&sum.splice) != 0)
        return weir_buf_append(out, last);
    return weir_buf_append_all(out, sum.splice.parts, sum.splice.part_count);
}
