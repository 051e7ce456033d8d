/*
 * The caller's messages stay as they are, byte for byte, but for the last one when that is the assistant's
 * own: two messages of the assistant in a row would be two answers to a provider, so the text is appended to
 * that one's content.  An answer that ends in anything but plain text has no place for more of it.
 */
#include "provider/openai_prefill.h"

#include <weir/error.h>

#include "base/buf.h"
#include "base/slice.h"
#include "base/text.h"
#include "wire/json_read.h"
#include "wire/json_write.h"

/* What the last message says, as far as it matters here. */
struct last {
    struct weir_json_value message; /* type NOTHING: there are none */
    struct weir_json_value content; /* type NOTHING: none */
    struct weir_json_value prefix;
    bool assistant;
    bool other; /* something that is not text */
};

void weir_prefill_init(struct weir_prefill *ret_prefill, const struct weir_build *build,
                       struct weir_arena *arena)
{
    weir_prefill_form form = weir_prefill_form_of(build->endpoint->provider, build->model);

    *ret_prefill = (struct weir_prefill){
        .arena = arena,
        .form = form,
        .sent = weir_prefill_sent(form, build->prefill),
        .sent_tokens = build->sent_tokens,
        .items = weir_arena_zalloc(arena, WEIR_PREFILL_PARAMS, sizeof(*ret_prefill->items))};
    ret_prefill->forced.items = ret_prefill->items;
}

/* ---- messages ---- */

static bool is_nothing(const struct weir_json_value *value)
{
    return value->type == WEIR_JSON_NULL ||
           (value->type == WEIR_JSON_ARRAY &&
            weir_slice_trim(weir_slice_sub(value->text, 1, value->text.len - 1)).len == 0);
}

static void read_member(const struct weir_json_item *item, struct last *last)
{
    if (weir_json_key_is(item, WEIR_SLICE("role")))
        last->assistant = weir_json_string_is(&item->value, WEIR_SLICE("assistant"));
    else if (weir_json_key_is(item, WEIR_SLICE("content")))
        last->content = item->value;
    else if (weir_json_key_is(item, WEIR_SLICE("prefix")))
        last->prefix = item->value;
    else if (weir_json_key_is(item, WEIR_SLICE("tool_calls")) ||
             weir_json_key_is(item, WEIR_SLICE("function_call")) ||
             weir_json_key_is(item, WEIR_SLICE("audio")) || weir_json_key_is(item, WEIR_SLICE("refusal")))
        last->other |= !is_nothing(&item->value);
}

/* 0, or WEIR_BUILD_NO_PREFILL: these are no messages. */
static int find_last(struct weir_slice messages, struct last *ret_last)
{
    struct weir_json_cursor cursor;
    struct weir_json_item item;

    *ret_last = (struct last){.other = false};
    if (weir_json_enter(&cursor, messages, WEIR_JSON_DEPTH_MAX) != 0 || cursor.object)
        return WEIR_BUILD_NO_PREFILL;
    while (weir_json_next(&cursor, &item) == WEIR_JSON_ITEM)
        ret_last->message = item.value;
    if (ret_last->message.type != WEIR_JSON_OBJECT)
        return WEIR_BUILD_NO_PREFILL;
    if (weir_json_enter(&cursor, ret_last->message.text, WEIR_JSON_DEPTH_MAX) != 0)
        return WEIR_BUILD_NO_PREFILL;
    while (weir_json_next(&cursor, &item) == WEIR_JSON_ITEM)
        read_member(&item, ret_last);
    return 0;
}

/* The text between before and after, escaped; empty: no memory. */
static struct weir_slice escaped(const struct weir_prefill *prefill, struct weir_slice before,
                                 struct weir_slice after)
{
    size_t most = before.len + after.len + 6 * prefill->sent.len;
    struct weir_buf buf;
    char *room;

    weir_buf_init(&buf, weir_arena_mem(prefill->arena), most);
    /* Most texts have few characters to escape: one block is enough for them. */
    if (weir_buf_reserve(&buf, most - 5 * prefill->sent.len + prefill->sent.len / 4, &room) < 0 ||
        weir_buf_append(&buf, before) < 0 || weir_json_escape(&buf, prefill->sent) < 0 ||
        weir_buf_append(&buf, after) < 0)
        return WEIR_SLICE_EMPTY;
    return weir_buf_slice(&buf);
}

static int add_message(const struct weir_prefill *prefill, const struct weir_json_value *messages,
                       struct weir_json_splice *splice)
{
    struct weir_slice message =
        escaped(prefill, WEIR_SLICE("{\"role\":\"assistant\",\"content\":\""),
                prefill->form == WEIR_PREFILL_PREFIX ? WEIR_SLICE("\",\"prefix\":true}") : WEIR_SLICE("\"}"));

    return message.len == 0 ? WEIR_ERR_NOMEM : weir_json_splice_add(splice, messages, message);
}

static int mark_prefix(const struct last *last, struct weir_json_splice *splice)
{
    if (last->prefix.type == WEIR_JSON_NOTHING)
        return weir_json_splice_add(splice, &last->message, WEIR_SLICE("\"prefix\":true"));
    return weir_json_splice_replace(splice, &last->prefix, WEIR_SLICE("true"));
}

static int extend_message(const struct weir_prefill *prefill, const struct last *last,
                          struct weir_json_splice *splice)
{
    struct weir_slice own = last->content.text, content;
    int r;

    if (last->content.type != WEIR_JSON_STRING || last->other)
        return WEIR_BUILD_NO_PREFILL;
    content = escaped(prefill, weir_slice_sub(own, 0, own.len - 1), WEIR_SLICE("\""));
    if (content.len == 0)
        return WEIR_ERR_NOMEM;
    r = weir_json_splice_replace(splice, &last->content, content);
    return r == 0 && prefill->form == WEIR_PREFILL_PREFIX ? mark_prefix(last, splice) : r;
}

int weir_prefill_splice(const struct weir_prefill *prefill, struct weir_slice messages,
                        struct weir_json_splice *splice)
{
    const struct weir_json_value value = {messages, WEIR_JSON_ARRAY, false};
    struct last last;
    int r = find_last(messages, &last);

    if (r != 0)
        return r;
    if (last.assistant)
        return extend_message(prefill, &last, splice);
    /* Nothing but white space was sent, and it is refused: the answer starts anew. */
    return prefill->sent.len == 0 ? 0 : add_message(prefill, &value, splice);
}

/* ---- forced members ---- */

static int force(struct weir_prefill *prefill, struct weir_slice name, struct weir_slice value)
{
    const struct weir_slice parts[] = {WEIR_SLICE("\""), name, WEIR_SLICE("\":"), value};
    struct weir_slice member = weir_arena_join(prefill->arena, parts, sizeof(parts) / sizeof(parts[0]));

    if (weir_arena_failed(prefill->arena))
        return WEIR_ERR_NOMEM;
    prefill->items[prefill->forced.count++] =
        (struct weir_param){name, member, weir_slice_sub(member, member.len - value.len, member.len)};
    return 0;
}

int weir_prefill_force_messages(struct weir_prefill *prefill, struct weir_slice messages)
{
    struct weir_json_splice splice;
    int r;

    weir_json_splice_init(&splice, messages);
    r = weir_prefill_splice(prefill, messages, &splice);
    if (r == 0)
        r = weir_json_splice_finish(&splice);
    if (r != 0)
        return r;
    return force(prefill, WEIR_SLICE("messages"),
                 weir_arena_join(prefill->arena, splice.parts, splice.part_count));
}

int weir_prefill_force_limit(struct weir_prefill *prefill, struct weir_slice name, struct weir_slice value)
{
    char digits[WEIR_TEXT_U64_MAX];
    uint64_t limit;

    if (weir_slice_u64(value, &limit) != 0)
        return 0;
    limit = limit > prefill->sent_tokens ? limit - prefill->sent_tokens : 1;
    return force(prefill, name, weir_text_u64(limit, digits));
}

int weir_prefill_force_form(struct weir_prefill *prefill)
{
    int r;

    if (prefill->form != WEIR_PREFILL_CONTINUE_FINAL)
        return 0;
    r = force(prefill, WEIR_SLICE("continue_final_message"), WEIR_SLICE("true"));
    return r == 0 ? force(prefill, WEIR_SLICE("add_generation_prompt"), WEIR_SLICE("false")) : r;
}
