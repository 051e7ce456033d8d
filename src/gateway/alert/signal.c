/* The rows of the kinds, and names that fit. */
#include "gateway/alert/signal.h"

#include <assert.h>

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#include "wire/utf8.h"

static const struct weir_alert_kind_row rows[WEIR_ALERT_KINDS] = {
#define X(kind, name_, type_, level_, owner_, prose)                                                         \
    {.name = WEIR_SLICE_INIT(name_),                                                                         \
     .type = WEIR_ALERT_TYPE_##type_,                                                                        \
     .level = WEIR_SLICE_INIT(level_),                                                                       \
     .owner = WEIR_SLICE_INIT(owner_)},
#include "gateway/alert/tbl/alert_kinds.h"
#undef X
};

const struct weir_alert_kind_row *weir_alert_kind_row(weir_alert_kind kind)
{
    return &rows[kind];
}

static bool is_control(char c)
{
    return (unsigned char)c < ' ' || c == 0x7f;
}

void weir_alert_name_set(struct weir_alert_name *ret_name, struct weir_slice text)
{
    const char *at = text.ptr;
    const char *end = text.len == 0 ? text.ptr : text.ptr + text.len;
    size_t len = 0;

    while (at != end) {
        size_t step = weir_utf8_len(at, end);

        if (len + (step == 0 ? 1 : step) > WEIR_ALERT_NAME_MAX)
            break;
        if (step <= 1)
            ret_name->text[len] = is_control(*at) ? ' ' : *at;
        else
            memcpy(ret_name->text + len, at, step);
        if (step == 0)
            ret_name->text[len] = '?';
        len += step == 0 ? 1 : step;
        at += step == 0 ? 1 : step;
    }
    ret_name->len = (uint8_t)len;
}
