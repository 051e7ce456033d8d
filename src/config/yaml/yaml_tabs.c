/*
 * Finding tabs that PyYAML refuses.
 *
 * Model: a walk over the characters beside libyaml's tokens.  Between two tokens there are only white space
 * and comments; within a token a tab may stand where text is quoted or a block.  Most files have no tab and
 * are not walked.
 * Invariant: the walk is never ahead of the token in hand; both count characters, without the byte-order
 * mark.
 */
#include "config/yaml/yaml_tabs.h"

#include <yaml.h>

#include <weir/error.h>

#include "base/slice.h"
#include "config/yaml/yaml_read.h"

enum region { REGION_BETWEEN, REGION_PLAIN, REGION_FREE };

struct walk {
    struct weir_slice text;
    size_t at;
    size_t index; /* characters before at */
    struct weir_place place;
};

static void next_char(struct walk *walk)
{
    char c = walk->text.ptr[walk->at++];

    while (walk->at < walk->text.len && ((unsigned char)walk->text.ptr[walk->at] & 0xC0) == 0x80)
        walk->at++;
    walk->index++;
    walk->place.column++;
    if (c == '\n' || (c == '\r' && walk->at < walk->text.len && walk->text.ptr[walk->at] != '\n')) {
        walk->place.line++;
        walk->place.column = 1;
    }
}

/* Goes on to the character with that index; stops at a tab that may not stand there and returns true. */
static bool meets_tab(struct walk *walk, size_t to, enum region region)
{
    bool comment = false;

    while (walk->index < to && walk->at < walk->text.len) {
        char c = walk->text.ptr[walk->at];

        if (c == '\t' && region != REGION_FREE && !comment)
            return true;
        if (region == REGION_BETWEEN && c == '#')
            comment = true;
        else if (c == '\n' || c == '\r')
            comment = false;
        next_char(walk);
    }
    return false;
}

static enum region region_of(const yaml_token_t *token)
{
    if (token->type == YAML_SCALAR_TOKEN && token->data.scalar.style == YAML_PLAIN_SCALAR_STYLE)
        return REGION_PLAIN;
    return REGION_FREE;
}

static bool find_tab(struct walk *walk, yaml_parser_t *parser)
{
    bool found = false, last = false;

    while (!found && !last) {
        yaml_token_t token;

        if (yaml_parser_scan(parser, &token) == 0)
            return false;
        found = meets_tab(walk, token.start_mark.index, REGION_BETWEEN) ||
                meets_tab(walk, token.end_mark.index, region_of(&token));
        last = token.type == YAML_STREAM_END_TOKEN || token.type == YAML_NO_TOKEN;
        yaml_token_delete(&token);
    }
    return found;
}

int weir_yaml_check_tabs(struct weir_slice text, struct weir_slice file, struct weir_diags *diags)
{
    const bool wide =
        weir_slice_starts(text, WEIR_SLICE("\xFE\xFF")) || weir_slice_starts(text, WEIR_SLICE("\xFF\xFE"));
    const bool marked = weir_slice_starts(text, WEIR_SLICE("\xEF\xBB\xBF"));
    struct walk walk = {.text = text, .at = marked ? 3 : 0, .place = {file, 1, 1}};
    yaml_parser_t parser;
    bool found;

    if (wide || weir_slice_find_char(text, '\t') == WEIR_SLICE_NONE)
        return 0;
    if (yaml_parser_initialize(&parser) == 0)
        return WEIR_ERR_NOMEM;
    yaml_parser_set_input_string(&parser, (const unsigned char *)text.ptr, text.len);
    found = find_tab(&walk, &parser);
    yaml_parser_delete(&parser);
    if (!found)
        return 0;
    WEIR_DIAG(
        diags, WEIR_SEVERITY_FATAL, &walk.place, WEIR_SLICE_EMPTY,
        WEIR_SLICE("not YAML: a tab; YAML parts and indents with blanks, a tab may stand only in quotes, "
                   "in blocks of text and in comments"));
    return WEIR_YAML_REFUSED;
}
