/*
 * Names of kinds are written once, in weir/tbl/failure_kinds.h; this file reads them from there, so that
 * provider stands without the engine.
 */
#include "provider/message.h"

#include "base/slice.h"

#define SECRET_MIN 6
#define SHOWN      WEIR_SLICE("[hidden]")

struct shown_kind {
    struct weir_slice class_name;
    int status;
};

static const struct shown_kind kinds[WEIR_KIND_COUNT] = {
#define X(kind, name, class, code, type, retry1, retry2, fails1, fails2)                                     \
    [WEIR_KIND_##kind] = {WEIR_SLICE_INIT(class), code},
#include <weir/tbl/failure_kinds.h>
#undef X
};

struct status_type {
    int status;
    struct weir_slice type;
};

static const struct status_type types[] = {
#define X(status, type) {status, WEIR_SLICE_INIT(type)},
#include "provider/tbl/error_types.h"
#undef X
};

int weir_failure_status(weir_kind kind)
{
    return kinds[kind < WEIR_KIND_COUNT ? kind : WEIR_KIND_INTERNAL].status;
}

struct weir_slice weir_failure_class(weir_kind kind)
{
    return kinds[kind < WEIR_KIND_COUNT ? kind : WEIR_KIND_INTERNAL].class_name;
}

static struct weir_slice type_of_status(int status)
{
    for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); i++)
        if (types[i].status == status)
            return types[i].type;
    return WEIR_SLICE_EMPTY;
}

struct weir_slice weir_failure_type(const struct weir_failure *failure)
{
    struct weir_slice type = type_of_status(failure->status);

    return type.len > 0 ? type : type_of_status(failure->status < 500 ? 400 : 500);
}

/* Kinds whose class is a bad request's too say so: clients match on either. */
static bool is_bad_request_too(weir_kind kind)
{
    return kind == WEIR_KIND_CONTEXT_WINDOW || kind == WEIR_KIND_CONTENT_POLICY;
}

int weir_failure_message(weir_kind kind, struct weir_slice display, struct weir_slice text,
                         struct weir_buf *buf)
{
    struct weir_slice shown = weir_failure_class(kind), parent = weir_failure_class(WEIR_KIND_BAD_REQUEST);
    bool twice = is_bad_request_too(kind), named = display.len > 0;
    const struct weir_slice parts[] = {
        WEIR_SLICE("litellm."),
        shown,
        WEIR_SLICE(": "),
        twice ? WEIR_SLICE("litellm.") : WEIR_SLICE_EMPTY,
        twice ? parent : WEIR_SLICE_EMPTY,
        twice ? WEIR_SLICE(": ") : WEIR_SLICE_EMPTY,
        shown,
        WEIR_SLICE(": "),
        display,
        named ? WEIR_SLICE("Exception - ") : WEIR_SLICE_EMPTY,
        text,
    };

    return weir_buf_append_all(buf, parts, sizeof(parts) / sizeof(parts[0]));
}

/* The next thing to hide: *ret_from to *ret_to.  False: nothing. */
static bool next_secret(struct weir_slice text, struct weir_slice secret, size_t *ret_from, size_t *ret_to)
{
    static const struct weir_slice bearer = WEIR_SLICE_INIT("Bearer ");
    size_t key = secret.len >= SECRET_MIN ? weir_slice_find(text, secret) : WEIR_SLICE_NONE;
    size_t token = weir_slice_find(text, bearer);

    if (key == WEIR_SLICE_NONE && token == WEIR_SLICE_NONE)
        return false;
    if (key < token) {
        *ret_from = key;
        *ret_to = key + secret.len;
        return true;
    }
    *ret_from = token + bearer.len;
    *ret_to = *ret_from;
    while (*ret_to < text.len &&
           weir_slice_find_char(WEIR_SLICE(" \t\r\n\"'<>,;"), text.ptr[*ret_to]) == WEIR_SLICE_NONE)
        (*ret_to)++;
    return true;
}

static int append_hidden(struct weir_slice text, struct weir_slice secret, struct weir_buf *buf)
{
    size_t from, to;
    int r = 0;

    while (r == 0 && next_secret(text, secret, &from, &to)) {
        r = weir_buf_append(buf, weir_slice_sub(text, 0, from));
        if (r == 0 && to > from)
            r = weir_buf_append(buf, SHOWN);
        text = weir_slice_sub(text, to, text.len);
    }
    return r == 0 ? weir_buf_append(buf, text) : r;
}

int weir_blot_out(struct weir_slice text, struct weir_slice secret, struct weir_arena *arena,
                  struct weir_slice *ret_text)
{
    struct weir_buf buf;
    size_t from, to;
    int r;

    if (!next_secret(text, secret, &from, &to)) {
        *ret_text = text;
        return 0;
    }
    weir_buf_init(&buf, weir_arena_mem(arena), (text.len + 1) * SHOWN.len);
    r = append_hidden(text, secret, &buf);
    if (r == 0)
        *ret_text = weir_buf_slice(&buf);
    return r;
}
