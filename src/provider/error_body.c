/*
 * Errors come in a dozen shapes that differ in where the same few things stand.  So there is one list of
 * places (an `error` object, an error inside the first choice, the body itself) and one table of names; the
 * first answer to each question is kept.
 */
#include "provider/error_body.h"

#include <weir/error.h>

#include "base/slice.h"
#include "wire/json_read.h"

#define DEPTH_MAX 128

enum slot { MESSAGE, CODE, TYPE, PARAM, STATUS, NUMBER, INNER, SLOTS };

struct member_name {
    struct weir_slice name;
    enum slot slot;
};

static const struct member_name member_names[] = {
#define X(name, slot) {WEIR_SLICE_INIT(name), slot},
#include "provider/tbl/error_members.h"
#undef X
};

struct named_status {
    struct weir_slice name;
    int status;
};

static const struct named_status named_statuses[] = {
#define X(name, status) {WEIR_SLICE_INIT(name), status},
#include "provider/tbl/error_statuses.h"
#undef X
};

struct slots {
    struct weir_json_value value[SLOTS];
};

static bool says_something(const struct weir_json_value *value, enum slot slot)
{
    if (slot == INNER)
        return value->type == WEIR_JSON_OBJECT;
    if (value->type == WEIR_JSON_NUMBER)
        return slot != MESSAGE;
    if (slot == MESSAGE && value->type == WEIR_JSON_ARRAY)
        return true;
    return value->type == WEIR_JSON_STRING && value->text.len > 2;
}

static void read_member(const struct weir_json_item *item, struct slots *slots)
{
    for (size_t i = 0; i < sizeof(member_names) / sizeof(member_names[0]); i++) {
        enum slot slot = member_names[i].slot;

        if (slots->value[slot].type == WEIR_JSON_NOTHING && weir_json_key_is(item, member_names[i].name) &&
            says_something(&item->value, slot))
            slots->value[slot] = item->value;
    }
}

static void read_object(struct weir_slice object, struct slots *slots)
{
    struct weir_json_cursor cursor;
    struct weir_json_item item;

    if (weir_json_enter(&cursor, object, DEPTH_MAX) != 0 || !cursor.object)
        return;
    while (weir_json_next(&cursor, &item) == WEIR_JSON_ITEM)
        read_member(&item, slots);
}

static void read_places(struct weir_slice body, struct slots *slots)
{
    static const struct weir_slice places[] = {WEIR_SLICE_INIT("error"), WEIR_SLICE_INIT("0.error"),
                                               WEIR_SLICE_INIT("response.error"),
                                               WEIR_SLICE_INIT("choices.0.error")};
    struct weir_json_value object;

    for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); i++)
        if (weir_json_find(body, places[i], &object) == 0 && object.type == WEIR_JSON_OBJECT)
            read_object(object.text, slots);
    read_object(body, slots);
}

static int text_of(const struct weir_json_value *value, struct weir_arena *arena, struct weir_slice *ret_text)
{
    if (value->type == WEIR_JSON_STRING)
        return weir_json_string(value, arena, ret_text);
    *ret_text = value->text;
    return 0;
}

/* In the raw text: it stands deep in a list of details, and bodies may be cut. */
static struct weir_slice find_retry_delay(struct weir_slice body)
{
    size_t at = weir_slice_find(body, WEIR_SLICE("\"retryDelay\"")), end;

    if (at == WEIR_SLICE_NONE)
        return WEIR_SLICE_EMPTY;
    at += sizeof("\"retryDelay\"") - 1;
    while (at < body.len && (body.ptr[at] == ' ' || body.ptr[at] == ':' || body.ptr[at] == '"'))
        at++;
    end = at;
    while (end < body.len && (weir_char_is_digit(body.ptr[end]) || body.ptr[end] == '.'))
        end++;
    return end < body.len && body.ptr[end] == 's' ? weir_slice_sub(body, at, end) : WEIR_SLICE_EMPTY;
}

int weir_error_body_read(struct weir_slice body, struct weir_arena *arena, struct weir_error_body *ret_error)
{
    struct weir_error_body error = {.message = weir_slice_trim(body)};
    struct weir_slice *texts[SLOTS] = {
        [MESSAGE] = &error.message, [CODE] = &error.code,     [TYPE] = &error.type,  [PARAM] = &error.param,
        [STATUS] = &error.status,   [NUMBER] = &error.number, [INNER] = &error.inner};
    struct slots slots = {0};

    error.html = error.message.len > 0 && error.message.ptr[0] == '<';
    if (!error.html) {
        read_places(error.message, &slots);
        error.retry_delay = find_retry_delay(body);
    }
    for (unsigned slot = 0; slot < SLOTS; slot++)
        if (slots.value[slot].type != WEIR_JSON_NOTHING &&
            text_of(&slots.value[slot], arena, texts[slot]) != 0)
            return WEIR_ERR_NOMEM;
    *ret_error = error;
    return 0;
}

static int status_of(struct weir_slice text)
{
    uint64_t number;

    if (weir_slice_u64(text, &number) == 0)
        return number >= 400 && number <= 599 ? (int)number : 0;
    for (size_t i = 0; i < sizeof(named_statuses) / sizeof(named_statuses[0]); i++)
        if (weir_slice_eq(named_statuses[i].name, text))
            return named_statuses[i].status;
    return 0;
}

int weir_error_body_status(const struct weir_error_body *error)
{
    const struct weir_slice said[] = {error->code, error->number, error->status, error->type};

    for (size_t i = 0; i < sizeof(said) / sizeof(said[0]); i++) {
        int status = status_of(said[i]);

        if (status != 0)
            return status;
    }
    return 0;
}

/*
 * Where the element that begins at from ends: behind its closing tag for scripts and styles, else behind '>'.
 */
static size_t skip_tag(struct weir_slice html, size_t from)
{
    static const struct weir_slice hidden[][2] = {{WEIR_SLICE_INIT("<script"), WEIR_SLICE_INIT("</script>")},
                                                  {WEIR_SLICE_INIT("<style"), WEIR_SLICE_INIT("</style>")},
                                                  {WEIR_SLICE_INIT("<!--"), WEIR_SLICE_INIT("-->")}};
    struct weir_slice rest = weir_slice_sub(html, from, html.len);
    struct weir_slice end = WEIR_SLICE(">");
    size_t at;

    for (size_t i = 0; i < sizeof(hidden) / sizeof(hidden[0]); i++)
        if (weir_slice_eq_ci(weir_slice_sub(rest, 0, hidden[i][0].len), hidden[i][0]))
            end = hidden[i][1];
    at = weir_slice_find_ci(rest, end);
    return at == WEIR_SLICE_NONE ? html.len : from + at + end.len;
}

int weir_error_body_plain(struct weir_slice html, size_t max_bytes, struct weir_arena *arena,
                          struct weir_slice *ret_text)
{
    char *text = weir_arena_alloc(arena, max_bytes + 1);
    bool blank = true;
    size_t len = 0, at = 0;

    if (text == NULL)
        return WEIR_ERR_NOMEM;
    while (at < html.len && len < max_bytes) {
        char c = html.ptr[at];

        if (c == '<') {
            at = skip_tag(html, at);
            c = ' ';
        } else {
            at++;
        }
        if (c == '\r' || c == '\n' || c == '\t')
            c = ' ';
        if (c != ' ' || !blank)
            text[len++] = c;
        blank = c == ' ';
    }
    *ret_text = weir_slice_trim((struct weir_slice){text, len});
    return 0;
}
