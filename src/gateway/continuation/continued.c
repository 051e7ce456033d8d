/*
 * A chunk's data is spliced like a request's body.  New text that still waits at the seam when the stream
 * ends has no chunk to go in, so it gets one of its own ahead of the last.
 *
 * Text is taken as written once the seam is open, and where it holds half of a surrogate pair, which has no
 * decoded form: such a text is no repeat, and nothing can be carried on behind it.
 */
#include "gateway/continuation/continued.h"

#include <weir/error.h>

#include "base/slice.h"
#include "gateway/continuation/usage_sum.h"
#include "wire/json_read.h"
#include "wire/json_splice.h"
#include "wire/json_write.h"

enum { DEPTH_MAX = 256 };

struct weir_continued *weir_continued_new(struct weir_so_far *so_far, const struct weir_mem *budget,
                                          size_t max_bytes, struct weir_arena *arena)
{
    struct weir_continued *continued = weir_arena_zalloc(arena, 1, sizeof(*continued));

    if (continued == NULL)
        return NULL;
    continued->so_far = so_far;
    continued->prefill = weir_arena_copy(arena, weir_buf_slice(&so_far->text));
    weir_buf_init(&continued->piece, budget, max_bytes);
    weir_buf_init(&continued->values, budget, max_bytes);
    weir_buf_init(&continued->out, budget, max_bytes);
    weir_continued_show(continued, continued->prefill.len);
    return weir_arena_failed(arena) ? NULL : continued;
}

void weir_continued_show(struct weir_continued *continued, size_t shown)
{
    weir_seam_init(&continued->seam, continued->prefill, shown);
}

void weir_continued_deinit(struct weir_continued *continued)
{
    if (continued == NULL)
        return;
    weir_buf_deinit(&continued->piece);
    weir_buf_deinit(&continued->values);
    weir_buf_deinit(&continued->out);
}

/* ---- taking ---- */

static size_t total(const struct weir_slice *parts, size_t count)
{
    size_t len = 0;

    for (size_t i = 0; i < count; i++)
        len += parts[i].len;
    return len;
}

static int take_text(struct weir_continued *continued, struct weir_slice raw, bool last)
{
    struct weir_continued_chunk *taken = &continued->taken;
    struct weir_seam_out out;
    char *room;
    int r;

    weir_buf_clear(&continued->piece);
    r = weir_buf_reserve(&continued->piece, raw.len, &room);
    if (r < 0)
        return r;
    weir_buf_commit(&continued->piece, weir_json_decode(raw, room));
    out = weir_seam_take(&continued->seam, weir_buf_slice(&continued->piece));
    taken->text[0] = out.held;
    taken->text[1] = out.piece;
    taken->text[2] = last ? weir_seam_end(&continued->seam) : WEIR_SLICE_EMPTY;
    return 0;
}

int weir_continued_take(struct weir_continued *continued, const struct weir_chunk *facts, size_t *ret_bytes)
{
    struct weir_slice raw = weir_json_inside(&facts->text);
    size_t decoded = weir_json_decoded_len(raw), passing, room;
    bool is_text = decoded != WEIR_SLICE_NONE, last = facts->ended != 0;
    struct weir_continued_chunk *taken = &continued->taken;
    int r = 0;

    *taken = (struct weir_continued_chunk){.as_written = raw.len == 0 || !is_text ||
                                                         continued->seam.state == WEIR_SEAM_OPEN};
    continued->begun |= facts->deltas > 0;
    if (!taken->as_written)
        r = take_text(continued, raw, last);
    else if (last || !is_text)
        taken->before = weir_seam_end(&continued->seam);
    if (r < 0)
        return r;
    passing = room = taken->before.len + total(taken->text, WEIR_CONTINUED_PARTS);
    if (taken->as_written) {
        passing += is_text ? decoded : 0;
        room += raw.len; /* it is decoded in place of what it will be */
    }
    *ret_bytes = passing;
    if (!is_text || facts->deltas > 1)
        weir_so_far_stop(continued->so_far);
    return weir_so_far_reserve(continued->so_far, room) ? 0 : WEIR_SO_FAR_LOST;
}

/* ---- writing ---- */

/* The values that are put into a chunk; they stay where they are while it is written. */
struct values {
    struct weir_slice text;
    struct weir_slice usage;
    struct weir_slice parts; /* the member that tells what it is the sum of; empty: none */
};

static int write_values(struct weir_continued *continued, struct weir_slice data,
                        const struct weir_chunk *facts, struct values *ret_values)
{
    struct weir_buf *buf = &continued->values;
    struct weir_json_value usage;
    struct weir_slice whole;
    bool told;
    size_t text_len, sum_len;
    int r;

    weir_buf_clear(buf);
    r = weir_buf_append(buf, WEIR_SLICE("\""));
    for (size_t i = 0; i < WEIR_CONTINUED_PARTS && r == 0; i++)
        r = weir_json_escape(buf, continued->taken.text[i]);
    if (r == 0)
        r = weir_buf_append(buf, WEIR_SLICE("\""));
    text_len = weir_buf_len(buf);
    told = facts->usage.told && weir_json_find(data, WEIR_SLICE("usage"), &usage) == 0;
    if (r == 0 && told)
        r = weir_usage_sum(weir_buf_slice(&continued->so_far->used), usage.text, buf);
    sum_len = weir_buf_len(buf);
    if (r == 0 && told)
        r = weir_so_far_put_parts(continued->so_far, usage.text, buf);
    whole = weir_buf_slice(buf);
    ret_values->text = weir_slice_sub(whole, 0, text_len);
    ret_values->usage = weir_slice_sub(whole, text_len, sum_len);
    ret_values->parts = weir_slice_sub(whole, sum_len, whole.len);
    return r;
}

/* The edits of one chunk. */
struct edits {
    struct weir_json_splice splice;
    const struct weir_continued *continued;
    const struct weir_chunk *facts;
    struct values values;
    bool named[WEIR_IDENTITIES];
};

static int edit_delta(struct edits *edits, const struct weir_json_value *delta)
{
    struct weir_json_cursor cursor;
    struct weir_json_item item;
    int r = weir_json_enter(&cursor, delta->text, DEPTH_MAX);

    while (r == 0 && weir_json_next(&cursor, &item) == WEIR_JSON_ITEM) {
        if (weir_json_key_is(&item, WEIR_SLICE("role")))
            r = weir_json_splice_remove(&edits->splice, &item);
        else if (item.value.text.ptr == edits->facts->text.text.ptr && !edits->continued->taken.as_written)
            r = weir_json_splice_replace(&edits->splice, &item.value, edits->values.text);
    }
    return r;
}

static int edit_choice(struct edits *edits, const struct weir_json_value *choice)
{
    struct weir_json_cursor cursor;
    struct weir_json_item item;
    int r = weir_json_enter(&cursor, choice->text, DEPTH_MAX);

    while (r == 0 && weir_json_next(&cursor, &item) == WEIR_JSON_ITEM)
        if (item.value.type == WEIR_JSON_OBJECT &&
            (weir_json_key_is(&item, WEIR_SLICE("delta")) || weir_json_key_is(&item, WEIR_SLICE("message"))))
            r = edit_delta(edits, &item.value);
    return r;
}

static int edit_choices(struct edits *edits, const struct weir_json_value *choices)
{
    struct weir_json_cursor cursor;
    struct weir_json_item item;
    int r = weir_json_enter(&cursor, choices->text, DEPTH_MAX);

    while (r == 0 && weir_json_next(&cursor, &item) == WEIR_JSON_ITEM)
        if (item.value.type == WEIR_JSON_OBJECT)
            r = edit_choice(edits, &item.value);
    return r;
}

static int edit_name(struct edits *edits, enum weir_identity identity, const struct weir_json_item *item)
{
    const struct weir_param *known = &edits->continued->so_far->identity[identity];
    bool again = edits->named[identity];

    edits->named[identity] = true;
    if (again || known->value.len == 0)
        return weir_json_splice_remove(&edits->splice, item);
    return weir_json_splice_replace(&edits->splice, &item->value, known->value);
}

static int edit_member(struct edits *edits, const struct weir_json_item *item)
{
    for (unsigned i = 0; i < WEIR_IDENTITIES; i++)
        if (weir_json_key_is(item, weir_identity_name(i)))
            return edit_name(edits, i, item);
    if (item->value.type == WEIR_JSON_ARRAY && weir_json_key_is(item, WEIR_SLICE("choices")))
        return edit_choices(edits, &item->value);
    if (item->value.type == WEIR_JSON_OBJECT && edits->values.usage.len > 0 &&
        weir_json_key_is(item, WEIR_SLICE("usage")))
        return weir_json_splice_replace(&edits->splice, &item->value, edits->values.usage);
    return 0;
}

static int edit(struct edits *edits, struct weir_slice data)
{
    const struct weir_json_value root = {data, WEIR_JSON_OBJECT, false};
    const struct weir_param *identity = edits->continued->so_far->identity;
    struct weir_json_cursor cursor;
    struct weir_json_item item;
    int r = weir_json_enter(&cursor, data, DEPTH_MAX);

    while (r == 0 && weir_json_next(&cursor, &item) == WEIR_JSON_ITEM)
        r = edit_member(edits, &item);
    for (unsigned i = 0; i < WEIR_IDENTITIES && r == 0; i++)
        if (!edits->named[i] && identity[i].value.len > 0)
            r = weir_json_splice_add(&edits->splice, &root, identity[i].member);
    if (r == 0)
        r = weir_json_splice_add(&edits->splice, &root, edits->values.parts);
    return r == 0 ? weir_json_splice_finish(&edits->splice) : r;
}

/* A chunk with nothing but this text. */
static int write_text_chunk(struct weir_continued *continued, struct weir_slice text)
{
    const struct weir_param *identity = continued->so_far->identity;
    struct weir_buf *out = &continued->out;
    int r;

    if (text.len == 0)
        return 0;
    r = weir_buf_append(out, WEIR_SLICE("data: {"));
    for (unsigned i = 0; i < WEIR_IDENTITIES && r == 0; i++)
        if (identity[i].value.len > 0)
            r = WEIR_BUF_APPEND(out, identity[i].member, WEIR_SLICE(","));
    if (r == 0)
        r = weir_buf_append(out, WEIR_SLICE("\"choices\":[{\"index\":0,\"delta\":{\"content\":\""));
    if (r == 0)
        r = weir_json_escape(out, text);
    return r == 0 ? weir_buf_append(out, WEIR_SLICE("\"},\"finish_reason\":null}]}\n\n")) : r;
}

/* Nothing in it is the caller's: of the start-up, or a repeat. */
static bool is_dropped(const struct weir_continued *continued, const struct weir_chunk *facts)
{
    const struct weir_continued_chunk *taken = &continued->taken;

    if (facts->ended != 0 || facts->usage.told || facts->chunk_class == WEIR_CHUNK_OTHER)
        return false;
    return facts->text.text.len > 0 ? !taken->as_written && total(taken->text, WEIR_CONTINUED_PARTS) == 0
                                    : !continued->begun;
}

static int write_chunk(struct weir_continued *continued, struct weir_slice data,
                       const struct weir_chunk *facts)
{
    struct edits edits = {.continued = continued, .facts = facts};
    int r;

    if (is_dropped(continued, facts))
        return 0;
    r = write_values(continued, data, facts, &edits.values);
    if (r < 0)
        return r;
    weir_json_splice_init(&edits.splice, data);
    r = edit(&edits, data);
    return r == 0 ? weir_sse_write_json(&continued->out, edits.splice.parts, edits.splice.part_count) : r;
}

/* What the caller has now. */
static void remember(struct weir_continued *continued, const struct weir_chunk *facts)
{
    struct weir_continued_chunk *taken = &continued->taken;
    struct weir_so_far *so_far = continued->so_far;
    struct weir_slice raw = taken->as_written ? weir_json_inside(&facts->text) : WEIR_SLICE_EMPTY;

    weir_so_far_add(so_far, taken->before);
    for (size_t i = 0; i < WEIR_CONTINUED_PARTS; i++)
        weir_so_far_add(so_far, taken->text[i]);
    weir_so_far_add_encoded(so_far, raw);
    so_far->deltas += taken->before.len + raw.len + total(taken->text, WEIR_CONTINUED_PARTS) > 0 ? 1 : 0;
}

int weir_continued_write(struct weir_continued *continued, const struct weir_sse_event *event,
                         const struct weir_chunk *facts, struct weir_slice *ret_bytes)
{
    bool is_chunk = event->has_data && facts->chunk_class != WEIR_CHUNK_DONE;
    int r;

    weir_buf_clear(&continued->out);
    if (!is_chunk)
        continued->taken = (struct weir_continued_chunk){.as_written = true};
    if (facts->chunk_class == WEIR_CHUNK_DONE)
        continued->taken.before = weir_seam_end(&continued->seam);
    r = write_text_chunk(continued, continued->taken.before);
    if (r == 0)
        r = is_chunk ? write_chunk(continued, event->data, facts)
                     : weir_buf_append(&continued->out, event->raw);
    if (r != 0)
        return r < 0 ? r : WEIR_ERR_MALFORMED;
    remember(continued, facts);
    *ret_bytes = weir_buf_slice(&continued->out);
    return 0;
}
