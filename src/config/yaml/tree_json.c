/*
 * JSON from the tree.  Whole numbers and plain decimals are written as they stand in the file, so that
 * nothing is lost on the way; other notations (octal, 1:30, underscores) by value.
 */
#include "config/yaml/tree_json.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/buf.h"
#include "base/slice.h"

enum { JSON_BYTES_MAX = 64 * 1024 * 1024 };

/* -?(0|[1-9][0-9]*)(.[0-9]+)?: a decimal that JSON and YAML read alike. */
static bool plain_decimal(struct weir_slice text)
{
    size_t at = text.len > 0 && text.ptr[0] == '-' ? 1 : 0, start = at, fraction;

    while (at < text.len && weir_char_is_digit(text.ptr[at]))
        at++;
    if (at == start || (at - start > 1 && text.ptr[start] == '0'))
        return false;
    if (at == text.len)
        return true;
    if (text.ptr[at] != '.')
        return false;
    for (fraction = ++at; at < text.len && weir_char_is_digit(text.ptr[at]);)
        at++;
    return at == text.len && at > fraction;
}

static void put_number(struct weir_json_writer *writer, const struct weir_yaml *node)
{
    char digits[32];
    int len = 0;

    if (plain_decimal(node->text)) {
        weir_json_put_raw(writer, node->text);
        return;
    }
    if (!isfinite(node->number)) {
        weir_json_put_null(writer);
        return;
    }
    for (int precision = 15; precision <= 17; precision++) {
        len = snprintf(digits, sizeof(digits), "%.*g", precision, node->number);
        if (strtod(digits, NULL) - node->number == 0)
            break;
    }
    weir_json_put_raw(writer, (struct weir_slice){digits, (size_t)len});
}

static void put_list(struct weir_json_writer *writer, const struct weir_yaml *node, bool written)
{
    weir_json_open(writer, '[');
    for (size_t i = 0; i < node->count; i++)
        weir_tree_json_put(writer, node->items[i], written);
    weir_json_close(writer, ']');
}

static void put_map(struct weir_json_writer *writer, const struct weir_yaml *node, bool written)
{
    weir_json_open(writer, '{');
    for (size_t i = 0; i < node->count; i++) {
        weir_json_put_key(writer, node->pairs[i].key->text);
        weir_tree_json_put(writer, node->pairs[i].value, written);
    }
    weir_json_close(writer, '}');
}

void weir_tree_json_put(struct weir_json_writer *writer, const struct weir_yaml *node, bool written)
{
    if (written && node->variable) {
        weir_json_put_string(writer, node->written);
        return;
    }
    switch (node->kind) {
    case WEIR_YAML_NULL:
        weir_json_put_null(writer);
        break;
    case WEIR_YAML_BOOL:
        weir_json_put_bool(writer, node->boolean);
        break;
    case WEIR_YAML_INT:
    case WEIR_YAML_FLOAT:
        put_number(writer, node);
        break;
    case WEIR_YAML_TEXT:
        weir_json_put_string(writer, node->text);
        break;
    case WEIR_YAML_LIST:
        put_list(writer, node, written);
        break;
    case WEIR_YAML_MAP:
        put_map(writer, node, written);
        break;
    }
}

struct weir_slice weir_tree_json(const struct weir_yaml *node, bool written, struct weir_arena *arena)
{
    WEIR_CLEANUP(weir_buf_deinit) struct weir_buf buf;
    struct weir_json_writer writer;

    weir_buf_init(&buf, arena->mem, JSON_BYTES_MAX);
    weir_json_writer_init(&writer, &buf);
    weir_tree_json_put(&writer, node, written);
    if (weir_json_writer_end(&writer) == 0)
        return weir_arena_copy(arena, weir_buf_slice(&buf));
    arena->failed = true;
    return WEIR_SLICE_EMPTY;
}
