/*
 * The walk over the body: each member is kept for the splice, and those that speak of routing are read on the
 * way, by the row of the table that bears their name.
 *
 * Fields of the head come after the body and beat it.
 */
#include "gateway/request/asked.h"

#include <string.h>

#include <weir/error.h>

#include "base/slice.h"
#include "base/text.h"
#include "base/time.h"
#include "gateway/request/asked_choice.h"
#include "gateway/request/asked_limits.h"
#include "gateway/request/asked_list.h"
#include "provider/fields.h"
#include "wire/http1_read.h"
#include "wire/json_read.h"

struct asking {
    const struct weir_asked_rules *rules;
    struct weir_arena *arena;
    struct weir_asked *asked;
    struct weir_problem *problem;
    bool path_model; /* the path has named the model */
    bool model_seen;
    bool stream_seen;
};

typedef int read_fn(struct asking *asking, const struct weir_json_item *item);

static const struct mock_flag {
    struct weir_slice name;
    unsigned flag;
} mock_flags[] = {
    {WEIR_SLICE_INIT("mock_testing_fallbacks"), WEIR_MOCK_FALLBACKS},
    {WEIR_SLICE_INIT("mock_testing_context_fallbacks"), WEIR_MOCK_CONTEXT_WINDOW},
    {WEIR_SLICE_INIT("mock_testing_context_window_fallbacks"), WEIR_MOCK_CONTEXT_WINDOW},
    {WEIR_SLICE_INIT("mock_testing_content_policy_fallbacks"), WEIR_MOCK_CONTENT_POLICY},
    {WEIR_SLICE_INIT("mock_testing_rate_limit_error"), WEIR_MOCK_RATE_LIMIT},
    {WEIR_SLICE_INIT("mock_timeout"), WEIR_MOCK_TIMEOUT},
};

static int refuse(struct asking *asking, struct weir_slice param, struct weir_slice text)
{
    return WEIR_REFUSE(asking->problem, asking->arena, 400, param, param, text);
}

static int read_model(struct asking *asking, const struct weir_json_item *item)
{
    int r;

    if (asking->model_seen)
        return refuse(asking, WEIR_SLICE("model"), WEIR_SLICE(" is given more than once"));
    asking->model_seen = true;
    if (asking->path_model || item->value.type == WEIR_JSON_NULL)
        return 0;
    r = weir_json_string(&item->value, asking->arena, &asking->asked->request.model);
    if (r == WEIR_JSON_OTHER)
        return refuse(asking, WEIR_SLICE("model"), WEIR_SLICE(" must be a string"));
    return r;
}

/* true, false, and the same as text; null says nothing. */
static int read_bool(struct asking *asking, const struct weir_json_item *item, bool *ret_value)
{
    if (item->value.type == WEIR_JSON_NULL || weir_json_bool(&item->value, ret_value) == 0)
        return 0;
    if (weir_slice_eq_ci(weir_json_inside(&item->value), WEIR_SLICE("true"))) {
        *ret_value = true;
        return 0;
    }
    if (weir_slice_eq_ci(weir_json_inside(&item->value), WEIR_SLICE("false"))) {
        *ret_value = false;
        return 0;
    }
    return refuse(asking, item->key, WEIR_SLICE(" must be true or false"));
}

static int read_stream(struct asking *asking, const struct weir_json_item *item)
{
    if (asking->stream_seen)
        return refuse(asking, WEIR_SLICE("stream"), WEIR_SLICE(" is given more than once"));
    asking->stream_seen = true;
    return read_bool(asking, item, &asking->asked->request.stream);
}

static int read_control(struct asking *asking, const struct weir_json_item *item)
{
    bool known;

    return weir_asked_control(asking->rules, item, asking->arena, &asking->asked->request.controls, &known,
                              asking->problem);
}

static int read_keepalive(struct asking *asking, const struct weir_json_item *item)
{
    return weir_asked_keepalive(item, asking->arena, &asking->asked->keepalive_ns, asking->problem);
}

static int read_list(struct asking *asking, const struct weir_json_item *item, weir_list_kind kind)
{
    return weir_asked_list(asking->rules, item, asking->arena, asking->asked,
                           &asking->asked->request.lists[kind], asking->problem);
}

static int read_fallbacks(struct asking *asking, const struct weir_json_item *item)
{
    return read_list(asking, item, WEIR_LIST_GENERIC);
}

static int read_context_window(struct asking *asking, const struct weir_json_item *item)
{
    return read_list(asking, item, WEIR_LIST_CONTEXT_WINDOW);
}

static int read_content_policy(struct asking *asking, const struct weir_json_item *item)
{
    return read_list(asking, item, WEIR_LIST_CONTENT_POLICY);
}

static int read_disable_fallbacks(struct asking *asking, const struct weir_json_item *item)
{
    return read_bool(asking, item, &asking->asked->request.disable_fallbacks);
}

static int read_specific_deployment(struct asking *asking, const struct weir_json_item *item)
{
    return read_bool(asking, item, &asking->asked->request.specific_deployment);
}

static int read_include_errors(struct asking *asking, const struct weir_json_item *item)
{
    return read_bool(asking, item, &asking->asked->include_fallback_errors);
}

static int read_mock_delay(struct asking *asking, const struct weir_json_item *item)
{
    double seconds;

    if (weir_json_number(&item->value, &seconds) != 0 || seconds < 0)
        return refuse(asking, item->key, WEIR_SLICE(" must be a number of seconds"));
    asking->asked->mock_delay_ns = weir_time_from_s(seconds);
    return 0;
}

static int read_mock_flag(struct asking *asking, const struct weir_json_item *item)
{
    bool on = false;
    int r = read_bool(asking, item, &on);

    if (r != 0 || !on)
        return r;
    for (size_t i = 0; i < sizeof(mock_flags) / sizeof(mock_flags[0]); i++)
        if (weir_json_key_is(item, mock_flags[i].name))
            asking->asked->request.mock |= mock_flags[i].flag;
    return 0;
}

static int read_mock(struct asking *asking, const struct weir_json_item *item)
{
    if (item->value.type == WEIR_JSON_NULL)
        return 0;
    if (!asking->rules->mock_flags)
        return refuse(asking, item->key,
                      WEIR_SLICE(" is for tests and not allowed here: general_settings."
                                 "dangerously_allow_mock_testing_request_params is not set"));
    return weir_json_key_is(item, WEIR_SLICE("mock_delay")) ? read_mock_delay(asking, item)
                                                            : read_mock_flag(asking, item);
}

/* Readers of gateway/request/asked_choice.h. */
#define CHOICE(name)                                                                                         \
    static int read_##name(struct asking *asking, const struct weir_json_item *item)                         \
    {                                                                                                        \
        return weir_asked_##name(asking->rules, item, asking->arena, asking->asked, asking->problem);        \
    }
CHOICE(tags)
CHOICE(metadata)
CHOICE(filtering)
CHOICE(weights)
CHOICE(region)
#undef CHOICE

static int read_policy_field(struct asking *asking, const struct weir_json_item *item,
                             struct weir_policy *policy)
{
    uint64_t count;

    for (unsigned f = 0; f < WEIR_POLICY_FIELDS; f++) {
        struct weir_slice key = weir_policy_field_key((weir_policy_field)f, true);

        if (key.len == 0 || !weir_json_key_is(item, key))
            continue;
        if (item->value.type == WEIR_JSON_NULL)
            return 0;
        if (weir_json_u64(&item->value, &count) != 0 || count >= WEIR_UNSET)
            return refuse(asking, item->key, WEIR_SLICE(" must be a whole number, 0 or more"));
        policy->count[f] = (uint32_t)count;
        return 0;
    }
    return refuse(asking, item->key, WEIR_SLICE(" is no field of a retry policy"));
}

static int read_policy(struct asking *asking, const struct weir_json_item *entry,
                       struct weir_group_policy *ret_policy)
{
    struct weir_json_cursor cursor;
    struct weir_json_item item;
    int r = weir_json_key(entry, asking->arena, &ret_policy->group);

    if (r != 0)
        return r;
    weir_policy_init(&ret_policy->policy);
    if (entry->value.type != WEIR_JSON_OBJECT ||
        weir_json_enter(&cursor, entry->value.text, asking->rules->max_depth) != 0)
        return refuse(asking, WEIR_SLICE("model_group_retry_policy"),
                      WEIR_SLICE(" must map groups to policies"));
    while (weir_json_next(&cursor, &item) == WEIR_JSON_ITEM) {
        r = read_policy_field(asking, &item, &ret_policy->policy);
        if (r != 0)
            return r;
    }
    return 0;
}

static int read_policies(struct asking *asking, const struct weir_json_item *item)
{
    struct weir_request *request = &asking->asked->request;
    struct weir_group_policy *policies;
    struct weir_json_cursor cursor;
    struct weir_json_item entry;
    size_t count = 0;
    int r;

    if (item->value.type == WEIR_JSON_NULL)
        return 0;
    if (item->value.type != WEIR_JSON_OBJECT ||
        weir_json_enter(&cursor, item->value.text, asking->rules->max_depth) != 0)
        return refuse(asking, item->key, WEIR_SLICE(" must map groups to policies"));
    policies = weir_arena_zalloc(asking->arena, WEIR_ASKED_TARGETS_MAX, sizeof(*policies));
    if (policies == NULL)
        return WEIR_ERR_NOMEM;
    while (weir_json_next(&cursor, &entry) == WEIR_JSON_ITEM) {
        if (count == WEIR_ASKED_TARGETS_MAX)
            return refuse(asking, item->key, WEIR_SLICE(" names too many groups"));
        r = read_policy(asking, &entry, &policies[count++]);
        if (r != 0)
            return r;
    }
    request->retry_policies = policies;
    request->retry_policy_count = count;
    return 0;
}

static const struct field_row {
    struct weir_slice name;
    read_fn *read;
} field_rows[] = {
#define X(name, reader) {WEIR_SLICE_INIT(name), reader},
#include "gateway/request/tbl/asked_fields.h"
#undef X
};

static int read_member(struct asking *asking, const struct weir_json_item *item)
{
    const struct weir_field *field = weir_field_of(item);

    if (field == NULL) {
        weir_asked_passing(asking->rules, item, asking->asked);
        return 0;
    }
    if (field->field_class == WEIR_FIELD_PLACE)
        return weir_asked_place(asking->rules, field, item, asking->arena, asking->asked, asking->problem);
    for (size_t i = 0; i < sizeof(field_rows) / sizeof(field_rows[0]); i++)
        if (weir_slice_eq(field->name, field_rows[i].name))
            return field_rows[i].read(asking, item);
    return 0;
}

static int bad_json(struct asking *asking, size_t at)
{
    char digits[WEIR_TEXT_U64_MAX];

    return WEIR_REFUSE(asking->problem, asking->arena, 400, WEIR_SLICE_EMPTY,
                       WEIR_SLICE("the body is not valid JSON, or nested too deep: byte "),
                       weir_text_u64(at, digits));
}

/* Room for one more member; grown by doubling, in the arena. */
static struct weir_json_item *next_room(struct asking *asking, size_t *cap)
{
    struct weir_asked *asked = asking->asked;
    struct weir_json_item *bigger;

    if (asked->member_count < *cap)
        return &asked->members[asked->member_count];
    *cap = *cap == 0 ? 16 : *cap * 2;
    bigger = weir_arena_alloc(asking->arena, *cap * sizeof(*bigger));
    if (bigger == NULL)
        return NULL;
    if (asked->member_count > 0)
        memcpy(bigger, asked->members, asked->member_count * sizeof(*bigger));
    asked->members = bigger;
    return &bigger[asked->member_count];
}

static int walk_body(struct asking *asking)
{
    struct weir_asked *asked = asking->asked;
    struct weir_json_cursor cursor;
    struct weir_json_item *item;
    size_t cap = 0;
    int r;

    r = weir_json_enter(&cursor, asked->body, asking->rules->max_depth);
    if (r != 0 || !cursor.object)
        return WEIR_REFUSE(asking->problem, asking->arena, 400, WEIR_SLICE_EMPTY,
                           WEIR_SLICE("the body must be a JSON object"));
    for (;;) {
        item = next_room(asking, &cap);
        if (item == NULL)
            return WEIR_ERR_NOMEM;
        r = weir_json_next(&cursor, item);
        if (r == 0)
            return 0;
        if (r != WEIR_JSON_ITEM)
            return bad_json(asking, (size_t)(cursor.at - cursor.start));
        if (asked->member_count == WEIR_ASKED_MEMBERS_MAX)
            return refuse(asking, WEIR_SLICE("the body"), WEIR_SLICE(" has too many members"));
        asked->member_count++;
        r = read_member(asking, item);
        if (r != 0)
            return r;
    }
}

static int read_user_agent(struct asking *asking, const struct weir_http1_head *head)
{
    struct weir_slice parts[] = {WEIR_SLICE("User-Agent: "), WEIR_SLICE_EMPTY};

    if (!asking->rules->user_agent)
        return 0;
    parts[1] = weir_http1_value(head, WEIR_SLICE("user-agent"));
    if (parts[1].len == 0)
        return 0;
    asking->asked->user_agent = weir_arena_join(asking->arena, parts, sizeof(parts) / sizeof(parts[0]));
    return asking->asked->user_agent.len == 0 ? WEIR_ERR_NOMEM : 0;
}

static int read_headers(struct asking *asking, const struct weir_http1_head *head)
{
    struct weir_slice prefix = WEIR_SLICE("x-litellm-");
    int r = read_user_agent(asking, head);

    for (size_t i = 0; i < head->field_count && r == 0; i++) {
        const struct weir_http1_field *field = &head->fields[i];

        if (weir_slice_eq_ci(field->name, WEIR_SLICE("x-weir-explain")))
            asking->asked->explain = weir_slice_eq(field->value, WEIR_SLICE("1"));
        if (field->name.len <= prefix.len ||
            !weir_slice_eq_ci(weir_slice_sub(field->name, 0, prefix.len), prefix))
            continue;
        if (weir_slice_eq_ci(field->name, WEIR_SLICE("x-litellm-tags")))
            r = weir_asked_tag_field(asking->rules, field->value, asking->arena, asking->asked,
                                     asking->problem);
        else
            r = weir_asked_field(field, asking->arena, asking->asked, asking->problem);
    }
    return r;
}

int weir_asked_read(const struct weir_asked_rules *rules, const struct weir_http1_head *head,
                    struct weir_slice body, struct weir_slice path_model, struct weir_arena *arena,
                    struct weir_asked *ret_asked, struct weir_problem *ret_problem)
{
    struct weir_asked asked = {.body = body, .keepalive_ns = WEIR_UNSET_NS};
    struct asking asking = {.rules = rules,
                            .arena = arena,
                            .asked = &asked,
                            .problem = ret_problem,
                            .path_model = path_model.len > 0};
    int r;

    weir_request_init(&asked.request);
    asked.request.model = path_model;
    r = walk_body(&asking);
    if (r == 0)
        r = read_headers(&asking, head);
    if (r == 0 && asked.request.model.len == 0)
        r = refuse(&asking, WEIR_SLICE("model"), WEIR_SLICE(" is missing: the request must name one"));
    if (r == 0)
        *ret_asked = asked;
    return r;
}
