/*
 * An edit is a range of the source and the text that takes its place.  Finishing sorts the ranges, and gives
 * removed members their commas: neighbours that go together are first made one run; a run takes the comma
 * before it, or, at the front of its container, the one behind it.  So whatever is left has exactly one comma
 * between two members, without looking at any other byte of the container.
 *
 * An addition is an empty range at the closing bracket; it brings a comma unless the container is empty by
 * then: nothing before it but the opening bracket, or a run that begins there.
 */
#include "wire/json_splice.h"

#include <stdbool.h>
#include <string.h>

#include <weir/error.h>

#include "base/slice.h"

void weir_json_splice_init(struct weir_json_splice *splice, struct weir_slice source)
{
    splice->source = source;
    splice->edit_count = 0;
    splice->part_count = 0;
    splice->total_bytes = 0;
}

static int add_edit(struct weir_json_splice *splice, struct weir_slice place, struct weir_slice text,
                    enum weir_json_edit_kind kind)
{
    size_t from;

    if (splice->edit_count == WEIR_JSON_SPLICE_EDITS)
        return WEIR_ERR_LIMIT;
    if (place.ptr < splice->source.ptr || place.ptr > splice->source.ptr + splice->source.len)
        return WEIR_ERR_INVALID;
    from = (size_t)(place.ptr - splice->source.ptr);
    if (place.len > splice->source.len - from)
        return WEIR_ERR_INVALID;
    splice->edits[splice->edit_count] = (struct weir_json_edit){.from = from,
                                                                .to = from + place.len,
                                                                .text = text,
                                                                .kind = kind,
                                                                .order = (unsigned)splice->edit_count};
    splice->edit_count++;
    return 0;
}

int weir_json_splice_replace(struct weir_json_splice *splice, const struct weir_json_value *value,
                             struct weir_slice text)
{
    return add_edit(splice, value->text, text, WEIR_JSON_REPLACE);
}

int weir_json_splice_remove(struct weir_json_splice *splice, const struct weir_json_item *item)
{
    struct weir_slice place = weir_json_item_text(item), source = splice->source;

    /* A member has a bracket on both sides, which take_comma looks at. */
    if (place.ptr == source.ptr || place.ptr + place.len == source.ptr + source.len)
        return WEIR_ERR_INVALID;
    return add_edit(splice, place, WEIR_SLICE_EMPTY, WEIR_JSON_REMOVE);
}

int weir_json_splice_add(struct weir_json_splice *splice, const struct weir_json_value *container,
                         struct weir_slice text)
{
    struct weir_slice place;

    if (container->type != WEIR_JSON_OBJECT && container->type != WEIR_JSON_ARRAY)
        return WEIR_ERR_INVALID;
    if (text.len == 0)
        return 0;
    place = (struct weir_slice){container->text.ptr + container->text.len - 1, 0};
    return add_edit(splice, place, text, WEIR_JSON_ADD);
}

static bool before(const struct weir_json_edit *a, const struct weir_json_edit *b)
{
    return a->from != b->from ? a->from < b->from : a->order < b->order;
}

/* Few edits, mostly given in their order: insertion is the sort for that. */
static void sort_edits(struct weir_json_splice *splice)
{
    for (size_t i = 1; i < splice->edit_count; i++) {
        struct weir_json_edit edit = splice->edits[i];
        size_t at = i;

        for (; at > 0 && before(&edit, &splice->edits[at - 1]); at--)
            splice->edits[at] = splice->edits[at - 1];
        splice->edits[at] = edit;
    }
}

static bool overlap(const struct weir_json_splice *splice)
{
    for (size_t i = 1; i < splice->edit_count; i++)
        if (splice->edits[i].from < splice->edits[i - 1].to)
            return true;
    return false;
}

static bool is_space(char c)
{
    return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

/* The last byte before at that is no white space, and where it is.  Within a container there is one. */
static size_t look_back(struct weir_slice source, size_t at)
{
    while (at > 1 && is_space(source.ptr[at - 1]))
        at--;
    return at == 0 ? 0 : at - 1;
}

static size_t look_ahead(struct weir_slice source, size_t at)
{
    while (at + 1 < source.len && is_space(source.ptr[at]))
        at++;
    return at;
}

/* The second removal goes into the first when only a comma stands between them. */
static bool join_removals(struct weir_slice source, struct weir_json_edit *first,
                          const struct weir_json_edit *second)
{
    size_t comma = look_ahead(source, first->to);

    if (first->kind != WEIR_JSON_REMOVE || second->kind != WEIR_JSON_REMOVE || source.ptr[comma] != ',' ||
        look_ahead(source, comma + 1) != second->from)
        return false;
    first->to = second->to;
    return true;
}

static void join_runs(struct weir_json_splice *splice)
{
    size_t kept = 0;

    for (size_t i = 0; i < splice->edit_count; i++)
        if (kept == 0 || !join_removals(splice->source, &splice->edits[kept - 1], &splice->edits[i]))
            splice->edits[kept++] = splice->edits[i];
    splice->edit_count = kept;
}

static void take_comma(struct weir_slice source, struct weir_json_edit *run)
{
    size_t left = look_back(source, run->from), right = look_ahead(source, run->to);

    if (source.ptr[left] == ',')
        run->from = left;
    else if (source.ptr[right] == ',')
        run->to = look_ahead(source, right + 1);
}

/* Nothing will stand between the brackets before this addition; previous is the edit before it, or NULL. */
static bool adds_to_nothing(struct weir_slice source, const struct weir_json_edit *add,
                            const struct weir_json_edit *previous)
{
    size_t last = look_back(source, add->from);

    if (source.ptr[last] == '{' || source.ptr[last] == '[')
        return previous == NULL || previous->kind != WEIR_JSON_ADD || previous->from != add->from;
    if (previous == NULL || previous->kind != WEIR_JSON_REMOVE || last >= previous->to ||
        last < previous->from)
        return false;
    last = look_back(source, previous->from);
    return source.ptr[previous->from] != ',' && (source.ptr[last] == '{' || source.ptr[last] == '[');
}

static void add_part(struct weir_json_splice *splice, struct weir_slice part)
{
    if (part.len == 0)
        return;
    splice->parts[splice->part_count++] = part;
    splice->total_bytes += part.len;
}

int weir_json_splice_finish(struct weir_json_splice *splice)
{
    const struct weir_json_edit *previous = NULL;
    size_t at = 0;

    sort_edits(splice);
    if (overlap(splice))
        return WEIR_ERR_INVALID;
    join_runs(splice);
    splice->part_count = 0;
    splice->total_bytes = 0;
    for (size_t i = 0; i < splice->edit_count; i++) {
        struct weir_json_edit *edit = &splice->edits[i];

        if (edit->kind == WEIR_JSON_REMOVE)
            take_comma(splice->source, edit);
        add_part(splice, weir_slice_sub(splice->source, at, edit->from));
        if (edit->kind == WEIR_JSON_ADD && !adds_to_nothing(splice->source, edit, previous))
            add_part(splice, WEIR_SLICE(","));
        add_part(splice, edit->text);
        at = edit->to;
        previous = edit;
    }
    add_part(splice, weir_slice_sub(splice->source, at, splice->source.len));
    return 0;
}
