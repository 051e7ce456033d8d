/*
 * The two forms differ in the quotes of strings, the escapes of what cannot be shown, and three words; commas
 * and colons they set alike.
 */
#include "state/python_write.h"

#include <math.h>
#include <stdio.h>

#include "base/slice.h"
#include "wire/utf8.h"

/* ---- text ---- */

/* Python quotes with ' unless that needs escapes and " does not. */
static char quote_for(enum weir_literal_form form, struct weir_slice text)
{
    if (form == WEIR_LITERAL_AS_JSON)
        return '"';
    return weir_slice_find_char(text, '\'') != WEIR_SLICE_NONE &&
                   weir_slice_find_char(text, '"') == WEIR_SLICE_NONE
               ? '"'
               : '\'';
}

static int write_code(struct weir_buf *buf, enum weir_literal_form form, unsigned char c)
{
    char text[8];
    int len = snprintf(text, sizeof(text), form == WEIR_LITERAL_AS_JSON ? "\\u%04x" : "\\x%02x", c);

    return weir_buf_append(buf, (struct weir_slice){text, (size_t)len});
}

/* A character of one byte that does not stand for itself. */
static int write_escape(struct weir_buf *buf, enum weir_literal_form form, char c)
{
    switch (c) {
    case '\n':
        return weir_buf_append(buf, WEIR_SLICE("\\n"));
    case '\r':
        return weir_buf_append(buf, WEIR_SLICE("\\r"));
    case '\t':
        return weir_buf_append(buf, WEIR_SLICE("\\t"));
    case '\\':
    case '\'':
    case '"':
        return WEIR_BUF_APPEND(buf, WEIR_SLICE("\\"), {&c, 1});
    default:
        return write_code(buf, form, (unsigned char)c);
    }
}

static bool stands_for_itself(char c, char quote)
{
    return (unsigned char)c >= 0x20 && c != 0x7f && c != '\\' && c != quote;
}

int weir_literal_write_text(struct weir_buf *buf, enum weir_literal_form form, struct weir_slice text)
{
    char quote = quote_for(form, text);
    struct weir_slice mark = {&quote, 1};
    int r = weir_buf_append(buf, mark);

    for (size_t i = 0; i < text.len && r == 0;) {
        size_t len = weir_utf8_len(text.ptr + i, text.ptr + text.len);

        if (len == 0)
            r = weir_buf_append(buf, WEIR_SLICE("\xef\xbf\xbd"));
        else if (len > 1 || stands_for_itself(text.ptr[i], quote))
            r = weir_buf_append(buf, weir_slice_sub(text, i, i + len));
        else
            r = write_escape(buf, form, text.ptr[i]);
        i += len == 0 ? 1 : len;
    }
    return r == 0 ? weir_buf_append(buf, mark) : r;
}

/* ---- numbers and words ---- */

int weir_literal_write_number(struct weir_buf *buf, double number)
{
    char text[32];
    int len = 0;

    if (number == floor(number) && fabs(number) < 1e15) {
        len = snprintf(text, sizeof(text), "%.0f", number);
        return weir_buf_append(buf, (struct weir_slice){text, (size_t)len});
    }
    for (int precision = 15; precision <= 17; precision++) {
        double back;

        len = snprintf(text, sizeof(text), "%.*g", precision, number);
        if (weir_slice_number((struct weir_slice){text, (size_t)len}, &back) == 0 && back == number)
            break;
    }
    return weir_buf_append(buf, (struct weir_slice){text, (size_t)len});
}

int weir_literal_write_bool(struct weir_buf *buf, enum weir_literal_form form, bool truth)
{
    if (form == WEIR_LITERAL_AS_JSON)
        return weir_buf_append(buf, truth ? WEIR_SLICE("true") : WEIR_SLICE("false"));
    return weir_buf_append(buf, truth ? WEIR_SLICE("True") : WEIR_SLICE("False"));
}

static int write_none(struct weir_buf *buf, enum weir_literal_form form)
{
    return weir_buf_append(buf, form == WEIR_LITERAL_AS_JSON ? WEIR_SLICE("null") : WEIR_SLICE("None"));
}

/* ---- the whole ---- */

static int write_items(struct weir_buf *buf, enum weir_literal_form form, const struct weir_literal *whole)
{
    bool map = whole->kind == WEIR_LITERAL_MAP;
    int r = weir_buf_append(buf, map ? WEIR_SLICE("{") : WEIR_SLICE("["));

    for (const struct weir_literal *item = whole->first; item != NULL && r == 0; item = item->next) {
        if (item != whole->first)
            r = weir_buf_append(buf, WEIR_SLICE(", "));
        if (r == 0 && map)
            r = weir_literal_write_text(buf, form, item->key);
        if (r == 0 && map)
            r = weir_buf_append(buf, WEIR_SLICE(": "));
        if (r == 0)
            r = weir_literal_write(buf, form, item);
    }
    return r == 0 ? weir_buf_append(buf, map ? WEIR_SLICE("}") : WEIR_SLICE("]")) : r;
}

int weir_literal_write(struct weir_buf *buf, enum weir_literal_form form, const struct weir_literal *value)
{
    switch (value->kind) {
    case WEIR_LITERAL_NONE:
        return write_none(buf, form);
    case WEIR_LITERAL_BOOL:
        return weir_literal_write_bool(buf, form, value->truth);
    case WEIR_LITERAL_NUMBER:
        return value->text.len > 0 ? weir_buf_append(buf, value->text)
                                   : weir_literal_write_number(buf, value->number);
    case WEIR_LITERAL_TEXT:
        return weir_literal_write_text(buf, form, value->text);
    case WEIR_LITERAL_LIST:
    case WEIR_LITERAL_MAP:
        break;
    }
    return write_items(buf, form, value);
}
