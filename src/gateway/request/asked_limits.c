/*
 * Model: the body's members have readers of their own, since LiteLLM is lenient with them (a number may be
 * text, 0 says nothing); the keys of `weir` are read by the rows that read the file, and are as strict.
 */
#include "gateway/request/asked_limits.h"

#include "base/slice.h"
#include "base/time.h"
#include "config/limits.h"
#include "config/number.h"
#include "config/schema.h"
#include "wire/http1_read.h"
#include "wire/json_read.h"

/* A number, or a number in a string, as LiteLLM takes it. */
static int read_number(const struct weir_json_value *value, struct weir_arena *arena, double *ret_number)
{
    struct weir_slice text;
    int r;

    if (value->type == WEIR_JSON_NUMBER)
        return weir_json_number(value, ret_number);
    r = weir_json_string(value, arena, &text);
    if (r != 0)
        return r;
    return weir_slice_number(weir_slice_trim(text), ret_number) == 0 ? 0 : WEIR_JSON_OTHER;
}

static int must_be(struct weir_slice name, struct weir_arena *arena, struct weir_slice expected,
                   struct weir_problem *ret_problem)
{
    return WEIR_REFUSE(ret_problem, arena, 400, name, name, WEIR_SLICE(" must be "), expected);
}

static int read_retries(const struct weir_json_item *item, struct weir_arena *arena,
                        struct weir_controls *controls, struct weir_problem *ret_problem)
{
    double number;
    int r = read_number(&item->value, arena, &number);

    if (r < 0)
        return r;
    if (r > 0 || number < 0 || number >= UINT32_MAX || number != (double)(uint32_t)number)
        return must_be(item->key, arena, WEIR_SLICE("a whole number, 0 or more"), ret_problem);
    controls->num_retries = (uint32_t)number;
    return 0;
}

static int read_limit(const struct weir_json_item *item, struct weir_arena *arena, uint64_t *limit_ns,
                      struct weir_controls *controls, struct weir_problem *ret_problem)
{
    double seconds;
    int r = read_number(&item->value, arena, &seconds);

    if (r < 0)
        return r;
    if (r > 0 || seconds < 0)
        return must_be(item->key, arena, WEIR_SLICE("a number of seconds, more than 0"), ret_problem);
    if (seconds > 0) { /* 0 says nothing, as in LiteLLM */
        *limit_ns = weir_time_from_s(seconds);
        controls->by_caller = true;
    }
    return 0;
}

/* ---- the object `weir` ---- */

struct override {
    const struct weir_asked_rules *rules;
    struct weir_arena *arena;
    const struct weir_setting_row *row;
    struct weir_controls *controls;
    struct weir_problem *problem;
};

/* "weir.KEY must be ...", or "weir.KEY.FIELD must be ...". */
static int override_must_be(struct override *override, const struct weir_setting_row *field)
{
    const struct weir_setting_row *wanted = field != NULL ? field : override->row;

    return WEIR_REFUSE(override->problem, override->arena, 400, WEIR_SLICE("weir"), WEIR_SLICE("weir."),
                       override->row->key, field != NULL ? WEIR_SLICE(".") : WEIR_SLICE_EMPTY,
                       field != NULL ? field->key : WEIR_SLICE_EMPTY, WEIR_SLICE(" must be "),
                       weir_schema_expected(wanted), weir_number_range(wanted, override->arena));
}

static int read_map_field(struct override *override, const struct weir_json_item *item,
                          union weir_limit_value *value)
{
    const struct weir_setting_row *field;
    struct weir_slice key;
    double number;
    int r = weir_json_key(item, override->arena, &key);

    if (r != 0)
        return r;
    field = weir_schema_find(weir_limit_section(override->row), key);
    if (field == NULL)
        return WEIR_REFUSE(override->problem, override->arena, 400, WEIR_SLICE("weir"), WEIR_SLICE("weir."),
                           override->row->key, WEIR_SLICE(" has no key "), key);
    if (item->value.type == WEIR_JSON_NULL)
        return 0;
    r = read_number(&item->value, override->arena, &number);
    if (r < 0)
        return r;
    if (r > 0 || !weir_number_put(field, number, (char *)value + field->offset))
        return override_must_be(override, field);
    return 0;
}

/* A limit that is an object, or a word in place of one. */
static int read_map(struct override *override, const struct weir_json_value *value, void *out)
{
    bool on = true;
    double number = 1;
    struct weir_slice word = weir_json_inside(value);
    union weir_limit_value draft;
    struct weir_json_cursor cursor;
    struct weir_json_item item;
    int r;

    if ((weir_json_bool(value, &on) == 0 && !on) ||
        (weir_json_number(value, &number) == 0 && !(number < 0 || number > 0)))
        word = WEIR_SLICE("0");
    if (value->type != WEIR_JSON_OBJECT)
        return weir_limit_word(override->row, word, out) ? 0 : override_must_be(override, NULL);
    if (weir_json_enter(&cursor, value->text, override->rules->max_depth) != 0)
        return override_must_be(override, NULL);
    weir_limit_begin(override->row, &draft);
    while (weir_json_next(&cursor, &item) == WEIR_JSON_ITEM) {
        r = read_map_field(override, &item, &draft);
        if (r != 0)
            return r;
    }
    return weir_limit_end(override->row, &draft, out) ? 0 : override_must_be(override, NULL);
}

static int read_override(struct override *override, const struct weir_json_item *item)
{
    bool limit = override->row->section == WEIR_SECTION_LIMIT;
    void *out =
        (limit ? (char *)&override->controls->limits : (char *) override->controls) + override->row->offset;
    double number;
    int r;

    if (item->value.type == WEIR_JSON_NULL)
        return 0;
    if (weir_limit_section(override->row) != WEIR_SECTIONS) {
        r = read_map(override, &item->value, out);
    } else {
        r = read_number(&item->value, override->arena, &number);
        if (r >= 0 && (r > 0 || !weir_number_put(override->row, number, out)))
            r = override_must_be(override, NULL);
    }
    if (r == 0 && limit)
        override->controls->by_caller = true;
    return r;
}

/* The row of what requests may set, or NULL. */
static const struct weir_setting_row *find_allowed(const struct weir_asked_rules *rules,
                                                   const struct weir_json_item *item)
{
    for (int id = 0; id < WEIR_OVERRIDES; id++) {
        const struct weir_setting_row *row = weir_schema_override(id);

        if ((rules->overrides & WEIR_OVERRIDE_BIT(id)) != 0 && weir_json_key_is(item, row->key))
            return row;
    }
    return NULL;
}

static int read_weir(struct override *override, const struct weir_json_value *value)
{
    struct weir_json_cursor cursor;
    struct weir_json_item item;
    int r;

    if (value->type != WEIR_JSON_OBJECT ||
        weir_json_enter(&cursor, value->text, override->rules->max_depth) != 0)
        return must_be(WEIR_SLICE("weir"), override->arena, WEIR_SLICE("an object"), override->problem);
    while (weir_json_next(&cursor, &item) == WEIR_JSON_ITEM) {
        override->row = find_allowed(override->rules, &item);
        if (override->row == NULL)
            return WEIR_REFUSE(override->problem, override->arena, 400, WEIR_SLICE("weir"),
                               WEIR_SLICE("weir."), item.key, WEIR_SLICE(" is not allowed in a request"));
        r = read_override(override, &item);
        if (r != 0)
            return r;
    }
    return 0;
}

int weir_asked_control(const struct weir_asked_rules *rules, const struct weir_json_item *item,
                       struct weir_arena *arena, struct weir_controls *controls, bool *ret_known,
                       struct weir_problem *ret_problem)
{
    uint64_t ignored = 0;
    bool retries = weir_json_key_is(item, WEIR_SLICE("num_retries"));
    bool timeout = weir_json_key_is(item, WEIR_SLICE("timeout"));
    bool request = weir_json_key_is(item, WEIR_SLICE("request_timeout"));
    bool stream = weir_json_key_is(item, WEIR_SLICE("stream_timeout"));
    bool weir = weir_json_key_is(item, WEIR_SLICE("weir"));

    *ret_known = retries || timeout || request || stream || weir;
    if (!*ret_known || item->value.type == WEIR_JSON_NULL)
        return 0;
    if (weir)
        return read_weir(
            &(struct override){.rules = rules, .arena = arena, .controls = controls, .problem = ret_problem},
            &item->value);
    if (retries)
        return read_retries(item, arena, controls, ret_problem);
    if (stream)
        return read_limit(item, arena, &controls->limits.stream_timeout_ns, controls, ret_problem);
    if (request && controls->limits.timeout_ns != WEIR_UNSET_NS) /* the second spelling yields to the first */
        return read_limit(item, arena, &ignored, controls, ret_problem);
    return read_limit(item, arena, &controls->limits.timeout_ns, controls, ret_problem);
}

/* ---- keepalive, and the head ---- */

static int put_keepalive(struct weir_slice name, double seconds, struct weir_arena *arena,
                         uint64_t *keepalive_ns, struct weir_problem *ret_problem)
{
    const struct weir_setting_row *row =
        weir_schema_find(WEIR_SECTION_PARAMS, WEIR_SLICE("keepalive_seconds"));

    if (seconds < 0)
        return must_be(name, arena, WEIR_SLICE("a number of seconds, 0 or more"), ret_problem);
    *keepalive_ns = weir_time_from_s(seconds > 0 ? weir_number_clamp(row, seconds) : 0);
    return 0;
}

int weir_asked_keepalive(const struct weir_json_item *item, struct weir_arena *arena, uint64_t *keepalive_ns,
                         struct weir_problem *ret_problem)
{
    double seconds = -1;
    int r = 0;

    if (item->value.type == WEIR_JSON_NULL)
        return 0;
    r = read_number(&item->value, arena, &seconds);
    return r < 0 ? r : put_keepalive(item->key, seconds, arena, keepalive_ns, ret_problem);
}

static int read_field_limit(const struct weir_http1_field *field, struct weir_arena *arena,
                            uint64_t *limit_ns, struct weir_controls *controls,
                            struct weir_problem *ret_problem)
{
    double seconds;

    if (weir_slice_number(field->value, &seconds) != 0 || seconds < 0)
        return must_be(field->name, arena, WEIR_SLICE("a number of seconds"), ret_problem);
    if (seconds > 0) {
        *limit_ns = weir_time_from_s(seconds);
        controls->by_caller = true;
    }
    return 0;
}

int weir_asked_field(const struct weir_http1_field *field, struct weir_arena *arena, struct weir_asked *asked,
                     struct weir_problem *ret_problem)
{
    struct weir_controls *controls = &asked->request.controls;
    double seconds;
    uint64_t count;

    if (weir_slice_eq_ci(field->name, WEIR_SLICE("x-litellm-timeout")))
        return read_field_limit(field, arena, &controls->limits.timeout_ns, controls, ret_problem);
    if (weir_slice_eq_ci(field->name, WEIR_SLICE("x-litellm-stream-timeout")))
        return read_field_limit(field, arena, &controls->limits.stream_timeout_ns, controls, ret_problem);
    if (weir_slice_eq_ci(field->name, WEIR_SLICE("x-litellm-keepalive-seconds"))) {
        if (weir_slice_number(field->value, &seconds) != 0)
            seconds = -1;
        return put_keepalive(field->name, seconds, arena, &asked->keepalive_ns, ret_problem);
    }
    if (!weir_slice_eq_ci(field->name, WEIR_SLICE("x-litellm-num-retries")))
        return 0;
    if (weir_slice_u64(field->value, &count) != 0 || count >= WEIR_UNSET)
        return must_be(field->name, arena, WEIR_SLICE("a whole number, 0 or more"), ret_problem);
    controls->num_retries = (uint32_t)count;
    return 0;
}
