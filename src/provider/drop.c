/*
 * A value that loses parts is copied without them, container by container along the path; what the path does
 * not lead through is copied as it stands.  Several paths into one member are taken one after the other.
 */
#include "provider/drop.h"

#include <weir/error.h>

#include "base/buf.h"
#include "base/slice.h"
#include "wire/json_read.h"

enum { STEPS_MAX = 16 };

/* One step into a value: a member's name, an element's number, or every element. */
struct step {
    struct weir_slice name; /* ptr NULL: an element */
    bool every;
    uint64_t index;
};

/* Cuts the next step off the front; false: there is none, or none that is well formed. */
static bool cut_step(struct weir_slice *rest, struct step *ret_step)
{
    size_t len = 1;

    *ret_step = (struct step){.every = false};
    if (rest->len < 2)
        return false;
    if (rest->ptr[0] == '[') {
        size_t end = weir_slice_find_char(*rest, ']');
        struct weir_slice inside = weir_slice_sub(*rest, 1, end == WEIR_SLICE_NONE ? 0 : end);

        ret_step->every = weir_slice_eq(inside, WEIR_SLICE("*"));
        if (!ret_step->every && weir_slice_u64(inside, &ret_step->index) != 0)
            return false;
        *rest = weir_slice_sub(*rest, end + 1, rest->len);
        return true;
    }
    if (rest->ptr[0] != '.')
        return false;
    while (len < rest->len && rest->ptr[len] != '.' && rest->ptr[len] != '[')
        len++;
    ret_step->name = weir_slice_sub(*rest, 1, len);
    *rest = weir_slice_sub(*rest, len, rest->len);
    return ret_step->name.len > 0;
}

/* The name at the front of a path, and what follows it. */
static struct weir_slice head_of(struct weir_slice path, struct weir_slice *ret_rest)
{
    size_t len = 0;

    while (len < path.len && path.ptr[len] != '.' && path.ptr[len] != '[')
        len++;
    *ret_rest = weir_slice_sub(path, len, path.len);
    return weir_slice_sub(path, 0, len);
}

bool weir_drop_path_ok(struct weir_slice path)
{
    struct weir_slice rest;
    struct step step;
    size_t steps = 0;

    if (head_of(path, &rest).len == 0)
        return false;
    while (rest.len > 0)
        if (steps++ == STEPS_MAX || !cut_step(&rest, &step))
            return false;
    return true;
}

bool weir_drops_member(const struct weir_drops *drops, struct weir_slice name)
{
    for (size_t i = 0; i < drops->count; i++)
        if (weir_slice_eq(drops->paths[i], name))
            return true;
    return false;
}

static bool leads_to(const struct step *step, const struct weir_json_item *item, uint64_t index)
{
    if (item->key.ptr != NULL)
        return step->name.ptr != NULL && weir_json_key_is(item, step->name);
    return step->name.ptr == NULL && (step->every || step->index == index);
}

static int put_without(struct weir_buf *out, struct weir_slice text, struct weir_slice path);

/* One member or element that the path leads through. */
static int put_shortened(struct weir_buf *out, const struct weir_json_item *item, struct weir_slice path)
{
    struct weir_slice whole = weir_json_item_text(item);
    int r = weir_buf_append(out, weir_slice_sub(whole, 0, whole.len - item->value.text.len));

    return r == 0 ? put_without(out, item->value.text, path) : r;
}

static int put_items(struct weir_buf *out, struct weir_json_cursor *cursor, const struct step *step,
                     struct weir_slice rest)
{
    struct weir_json_item item;
    bool first = true;
    uint64_t index = 0;
    int r = 0;

    while (r == 0 && weir_json_next(cursor, &item) == WEIR_JSON_ITEM) {
        bool here = leads_to(step, &item, index++);

        if (here && rest.len == 0)
            continue;
        if (!first)
            r = weir_buf_append(out, WEIR_SLICE(","));
        first = false;
        if (r == 0)
            r = here ? put_shortened(out, &item, rest) : weir_buf_append(out, weir_json_item_text(&item));
    }
    return r;
}

/* The value without what the path leads to. */
static int put_without(struct weir_buf *out, struct weir_slice text, struct weir_slice path)
{
    struct weir_json_cursor cursor;
    struct step step;
    int r;

    if (!cut_step(&path, &step) || weir_json_enter(&cursor, text, WEIR_JSON_DEPTH_MAX) != 0)
        return weir_buf_append(out, text);
    r = weir_buf_append(out, cursor.object ? WEIR_SLICE("{") : WEIR_SLICE("["));
    if (r == 0)
        r = put_items(out, &cursor, &step, path);
    return r == 0 ? weir_buf_append(out, cursor.object ? WEIR_SLICE("}") : WEIR_SLICE("]")) : r;
}

static int shorten(struct weir_slice text, struct weir_slice path, struct weir_arena *arena,
                   struct weir_slice *ret_text)
{
    struct weir_buf out;
    char *room;
    int r;

    weir_buf_init(&out, weir_arena_mem(arena), text.len);
    r = weir_buf_reserve(&out, text.len, &room);
    if (r == 0)
        r = put_without(&out, text, path);
    if (r == 0)
        *ret_text = weir_buf_slice(&out);
    return r;
}

int weir_drops_part(const struct weir_drops *drops, const struct weir_json_item *member,
                    struct weir_arena *arena, struct weir_slice *ret_text)
{
    struct weir_slice text = member->value.text, rest;
    int found = 0, r = 0;

    for (size_t i = 0; i < drops->count && r == 0; i++) {
        if (!weir_json_key_is(member, head_of(drops->paths[i], &rest)) || rest.len == 0)
            continue;
        found = WEIR_DROP_PART;
        r = shorten(text, rest, arena, &text);
    }
    if (r == 0 && found != 0)
        *ret_text = text;
    return r == 0 ? found : r;
}
