/*
 * What a caller of the router must know of an answer or a chunk: is it one, does it hold content, has it
 * ended and how, what was used, and where the name of the model stands.  Everything is read by one walk that
 * also checks the JSON to its end; nothing is allocated and nothing is copied.
 *
 * A chunk and a plain answer have the same shape but for `delta` and `message`, so they share the walk.
 */
#include "provider/openai_read.h"

#include "base/slice.h"
#include "wire/json_read.h"

#define DEPTH_MAX 256

/* What the walk gathers. */
struct facts {
    struct weir_json_value model;
    struct weir_usage usage;
    struct weir_slice error;  /* the value of `error`; empty: none */
    bool has_items;           /* the array of the route is there */
    bool no_items;            /* and is empty, or it is not there */
    struct weir_slice finish; /* the first finish reason; empty: none */
    bool content_filtered;
    bool ended_in_error;         /* finish reason "error" */
    struct weir_json_value text; /* plain text of the last choice that has some */
    bool other;
    bool choice_holds; /* the choice that is being read has content */
    bool choice_ended; /* and a finish reason */
    uint64_t index;    /* its own */
    uint64_t ended;    /* a bit for each choice */
    uint64_t spoken;
    uint32_t deltas; /* choices that have */
};

struct delta_field {
    struct weir_slice name;
    bool is_text;
};

static const struct delta_field delta_fields[] = {
#define TEXT           true
#define OTHER          false
#define X(name, class) {WEIR_SLICE_INIT(name), class},
#include "provider/tbl/delta_fields.h"
#undef X
#undef TEXT
#undef OTHER
};

/* A string with a character in it, a list or object with something in it, true, a number. */
static bool holds_something(const struct weir_json_value *value)
{
    switch (value->type) {
    case WEIR_JSON_NOTHING:
    case WEIR_JSON_NULL:
    case WEIR_JSON_FALSE:
        return false;
    case WEIR_JSON_TRUE:
    case WEIR_JSON_NUMBER:
        return true;
    case WEIR_JSON_STRING:
        return value->text.len > 2;
    case WEIR_JSON_ARRAY:
    case WEIR_JSON_OBJECT:
        return weir_slice_trim(weir_slice_sub(value->text, 1, value->text.len - 1)).len > 0;
    }
    return false;
}

static void read_count(const struct weir_json_item *item, struct weir_slice name, uint64_t *count)
{
    uint64_t value;

    if (weir_json_key_is(item, name) && weir_json_u64(&item->value, &value) == 0)
        *count = value;
}

/* Every reader below takes the cursor behind what it reads: 0 or WEIR_JSON_BAD. */

/* `prompt_tokens_details` and `completion_tokens_details`: what the counts are made of. */
static int read_details(struct weir_json_cursor *outer, struct weir_usage *usage)
{
    struct weir_json_cursor cursor;
    struct weir_json_item item;

    weir_json_into(outer, &cursor);
    while (weir_json_next(&cursor, &item) == WEIR_JSON_ITEM) {
        read_count(&item, WEIR_SLICE("cached_tokens"), &usage->cached_tokens);
        read_count(&item, WEIR_SLICE("cache_write_tokens"), &usage->cache_write_tokens);
        read_count(&item, WEIR_SLICE("cache_creation_tokens"), &usage->cache_write_tokens);
        read_count(&item, WEIR_SLICE("reasoning_tokens"), &usage->reasoning_tokens);
    }
    return weir_json_out(outer, &cursor);
}

static int read_usage_member(struct weir_json_cursor *cursor, struct weir_json_item *item,
                             struct weir_usage *usage)
{
    if (item->value.type == WEIR_JSON_OBJECT &&
        (weir_json_key_is(item, WEIR_SLICE("prompt_tokens_details")) ||
         weir_json_key_is(item, WEIR_SLICE("completion_tokens_details"))))
        return read_details(cursor, usage);
    read_count(item, WEIR_SLICE("prompt_tokens"), &usage->prompt_tokens);
    read_count(item, WEIR_SLICE("completion_tokens"), &usage->completion_tokens);
    read_count(item, WEIR_SLICE("total_tokens"), &usage->total_tokens);
    /* DeepSeek's own name, and those of proxies of Anthropic's models. */
    read_count(item, WEIR_SLICE("prompt_cache_hit_tokens"), &usage->cached_tokens);
    read_count(item, WEIR_SLICE("cache_read_input_tokens"), &usage->cached_tokens);
    read_count(item, WEIR_SLICE("cache_creation_input_tokens"), &usage->cache_write_tokens);
    return weir_json_over(cursor, item);
}

static int read_usage(struct weir_json_cursor *outer, struct weir_usage *usage)
{
    struct weir_json_cursor cursor;
    struct weir_json_item item;
    int r = 0;

    usage->told = true;
    weir_json_into(outer, &cursor);
    while (r == 0 && weir_json_step(&cursor, &item) == WEIR_JSON_ITEM)
        r = read_usage_member(&cursor, &item, usage);
    return r == 0 ? weir_json_out(outer, &cursor) : r;
}

static void read_delta_member(const struct weir_json_item *item, struct facts *facts)
{
    if (!holds_something(&item->value))
        return;
    for (size_t i = 0; i < sizeof(delta_fields) / sizeof(delta_fields[0]); i++) {
        if (!weir_json_key_is(item, delta_fields[i].name))
            continue;
        facts->choice_holds = true;
        if (delta_fields[i].is_text && item->value.type == WEIR_JSON_STRING)
            facts->text = item->value;
        else
            facts->other = true;
    }
}

static int read_delta(struct weir_json_cursor *outer, struct facts *facts)
{
    struct weir_json_cursor cursor;
    struct weir_json_item item;

    weir_json_into(outer, &cursor);
    while (weir_json_next(&cursor, &item) == WEIR_JSON_ITEM)
        read_delta_member(&item, facts);
    return weir_json_out(outer, &cursor);
}

static void read_finish(const struct weir_json_value *reason, struct facts *facts)
{
    if (reason->type != WEIR_JSON_STRING || reason->text.len <= 2)
        return;
    if (facts->finish.len == 0)
        facts->finish = weir_json_inside(reason);
    facts->choice_ended = true;
    if (weir_json_string_is(reason, WEIR_SLICE("content_filter")))
        facts->content_filtered = true;
    if (weir_json_string_is(reason, WEIR_SLICE("error")))
        facts->ended_in_error = true;
}

static int read_choice_member(struct weir_json_cursor *cursor, struct weir_json_item *item,
                              struct facts *facts)
{
    int r;

    if (item->value.type == WEIR_JSON_OBJECT &&
        (weir_json_key_is(item, WEIR_SLICE("delta")) || weir_json_key_is(item, WEIR_SLICE("message"))))
        return read_delta(cursor, facts);
    r = weir_json_over(cursor, item);
    if (r != 0)
        return r;
    read_count(item, WEIR_SLICE("index"), &facts->index);
    if (weir_json_key_is(item, WEIR_SLICE("finish_reason")))
        read_finish(&item->value, facts);
    else if (weir_json_key_is(item, WEIR_SLICE("text")) && holds_something(&item->value)) {
        facts->choice_holds = true;
        facts->text = item->value;
    } else if (weir_json_key_is(item, WEIR_SLICE("error")) && holds_something(&item->value)) {
        facts->error = item->value.text;
    }
    return 0;
}

static int read_choice(struct weir_json_cursor *outer, struct facts *facts)
{
    struct weir_json_cursor cursor;
    struct weir_json_item item;
    uint64_t bit;
    int r = 0;

    facts->choice_holds = facts->choice_ended = false;
    facts->index = 0;
    weir_json_into(outer, &cursor);
    while (r == 0 && weir_json_step(&cursor, &item) == WEIR_JSON_ITEM)
        r = read_choice_member(&cursor, &item, facts);
    facts->deltas += facts->choice_holds;
    bit = UINT64_C(1) << (facts->index < 63 ? facts->index : 63);
    facts->spoken |= bit;
    if (facts->choice_ended)
        facts->ended |= bit;
    return weir_json_out(outer, &cursor);
}

static int read_items(weir_route route, struct weir_json_cursor *outer, struct facts *facts)
{
    bool choices = weir_route_row(route)->streams;
    struct weir_json_cursor cursor;
    struct weir_json_item item;
    int r = 0;

    facts->has_items = true;
    weir_json_into(outer, &cursor);
    while (r == 0 && weir_json_step(&cursor, &item) == WEIR_JSON_ITEM) {
        facts->no_items = false;
        r = choices && item.value.type == WEIR_JSON_OBJECT ? read_choice(&cursor, facts)
                                                           : weir_json_over(&cursor, &item);
    }
    return weir_json_out(outer, &cursor);
}

static int read_member(weir_route route, struct weir_json_cursor *cursor, struct weir_json_item *item,
                       struct facts *facts)
{
    int r;

    if (item->value.type == WEIR_JSON_ARRAY && weir_json_key_is(item, weir_route_row(route)->items))
        return read_items(route, cursor, facts);
    if (item->value.type == WEIR_JSON_OBJECT && weir_json_key_is(item, WEIR_SLICE("usage")))
        return read_usage(cursor, &facts->usage);
    r = weir_json_over(cursor, item);
    if (r != 0)
        return r;
    if (weir_json_key_is(item, WEIR_SLICE("model")) && facts->model.type == WEIR_JSON_NOTHING)
        facts->model = item->value;
    else if (weir_json_key_is(item, WEIR_SLICE("error")) && holds_something(&item->value))
        facts->error = item->value.text;
    return 0;
}

/* False: the text is no JSON object. */
static bool read_object(weir_route route, struct weir_slice text, struct facts *facts)
{
    struct weir_json_cursor cursor;
    struct weir_json_item item;
    int r;

    *facts = (struct facts){.no_items = true};
    if (weir_json_enter(&cursor, text, DEPTH_MAX) != 0 || !cursor.object)
        return false;
    while ((r = weir_json_step(&cursor, &item)) == WEIR_JSON_ITEM)
        if (read_member(route, &cursor, &item, facts) != 0)
            return false;
    return r == 0;
}

int weir_openai_read_answer(weir_route route, struct weir_slice body, struct weir_plain_answer *ret_answer)
{
    struct facts facts;

    if (!read_object(route, body, &facts))
        return WEIR_ANSWER_BAD;
    if (facts.error.len > 0 && (facts.ended_in_error || facts.no_items))
        return WEIR_ANSWER_ERROR;
    if (facts.ended_in_error)
        return WEIR_ANSWER_GAVE_UP;
    if (!facts.has_items)
        return WEIR_ANSWER_BAD;
    *ret_answer = (struct weir_plain_answer){.model = facts.model,
                                             .usage = facts.usage,
                                             .finish = facts.finish,
                                             .content_filtered = facts.content_filtered,
                                             .empty = weir_route_row(route)->streams && facts.deltas == 0};
    return 0;
}

/* Lines that are no fields of the format: an error of an old server, or no stream at all. */
static void read_other(struct weir_slice other, struct weir_chunk *ret_chunk)
{
    struct weir_slice text = weir_slice_trim(other);

    if (weir_slice_starts(text, WEIR_SLICE("error:"))) {
        ret_chunk->chunk_class = WEIR_CHUNK_ERROR;
        ret_chunk->error = weir_slice_trim(weir_slice_sub(text, sizeof("error:") - 1, text.len));
    } else if (text.len > 0 && (text.ptr[0] == '{' || text.ptr[0] == '[' || text.ptr[0] == '<')) {
        ret_chunk->chunk_class = WEIR_CHUNK_ERROR;
        ret_chunk->error = text;
    }
}

static weir_chunk_class class_of(const struct facts *facts)
{
    if (facts->error.len > 0)
        return WEIR_CHUNK_ERROR;
    if (facts->ended_in_error)
        return WEIR_CHUNK_GAVE_UP;
    if (facts->other)
        return WEIR_CHUNK_OTHER;
    return facts->text.type != WEIR_JSON_NOTHING ? WEIR_CHUNK_TEXT : WEIR_CHUNK_EMPTY;
}

static void read_data(weir_route route, struct weir_slice data, struct weir_chunk *ret_chunk)
{
    struct facts facts;

    if (!read_object(route, data, &facts)) {
        ret_chunk->chunk_class = WEIR_CHUNK_BAD;
        return;
    }
    ret_chunk->chunk_class = class_of(&facts);
    if (ret_chunk->chunk_class == WEIR_CHUNK_ERROR)
        ret_chunk->error = data;
    ret_chunk->model = facts.model;
    ret_chunk->text = facts.text;
    ret_chunk->usage = facts.usage;
    ret_chunk->finish = facts.finish;
    ret_chunk->deltas = facts.deltas;
    ret_chunk->ended = facts.ended;
    ret_chunk->spoken = facts.spoken;
    ret_chunk->content_filtered = facts.content_filtered;
}

void weir_openai_read_chunk(weir_route route, const struct weir_sse_event *event,
                            struct weir_chunk *ret_chunk)
{
    struct weir_slice data = weir_slice_trim(event->data);

    *ret_chunk = (struct weir_chunk){.chunk_class = WEIR_CHUNK_EMPTY};
    if (weir_slice_eq(event->name, WEIR_SLICE("error"))) {
        ret_chunk->chunk_class = WEIR_CHUNK_ERROR;
        ret_chunk->error = data;
    } else if (data.len == 0) {
        read_other(event->other, ret_chunk);
    } else if (weir_slice_eq(data, WEIR_SLICE("[DONE]"))) {
        ret_chunk->chunk_class = WEIR_CHUNK_DONE;
    } else {
        read_data(route, data, ret_chunk);
    }
}
