/*
 * A line is an object of JSON or a run of key=value pairs; both walk the same table of fields.  Every call
 * pays for its line, so room for the longest one is had at once, and each byte is then written where it
 * stays.
 */
#include "gateway/log/access_log.h"

#include <string.h>

#include "base/slice.h"
#include "base/text.h"
#include "base/time.h"
#include "base/word.h"
#include "wire/json_write.h"

enum { TEXT_MAX = 256, TEXT_ESCAPED_MAX = 6 * TEXT_MAX };

/* What a field takes at most: its name with what stands around it, and its value. */
enum { TEXT_FIELD_MAX = TEXT_ESCAPED_MAX + 32, NUMBER_FIELD_MAX = WEIR_TEXT_U64_MAX + 32 };

enum {
    FIELDS_MAX = NUMBER_FIELD_MAX /* the time */
#define WEIR_ACCESS_TEXT(member, prose)     +TEXT_FIELD_MAX
#define WEIR_ACCESS_COUNT(member, prose)    +NUMBER_FIELD_MAX
#define WEIR_ACCESS_MAYBE(member, prose)    +NUMBER_FIELD_MAX
#define WEIR_ACCESS_NS(member, name, prose) +NUMBER_FIELD_MAX
#define WEIR_ACCESS_FLAG(member, prose)     +NUMBER_FIELD_MAX
#define WEIR_ACCESS_COST(member, prose)     +NUMBER_FIELD_MAX
#include "gateway/log/tbl/access_fields.h"
};

_Static_assert(FIELDS_MAX + 4 <= WEIR_ACCESS_LINE_MAX, "a line always fits in its room");

/* Where the next byte goes; the room is for the longest line there can be. */
struct line {
    enum weir_log_format format;
    char *at;
};

static void append(struct line *line, struct weir_slice text)
{
    memcpy(line->at, text.ptr, text.len);
    line->at += text.len;
}

/*
 * json and logfmt are the field's name as each of the two wants it in front of a value, separator included.
 */
static void put_name(struct line *line, struct weir_slice json, struct weir_slice logfmt)
{
    append(line, line->format == WEIR_LOG_JSON ? json : logfmt);
}

/* May stand between quotes as it is; bare in logfmt too, if it holds neither blank nor "=". */
static bool is_plain(char c)
{
    return c >= ' ' && c < 0x7f && c != '"' && c != '\\';
}

static bool all_plain(struct weir_slice text)
{
    if (text.len < 4) {
        for (size_t i = 0; i < text.len; i++)
            if (!is_plain(text.ptr[i]))
                return false;
        return true;
    }
    if (text.len < 8)
        return weir_word_is_plain(weir_word_load_short(text.ptr, text.len));
    for (size_t i = 0; i < text.len - 8; i += 8)
        if (!weir_word_is_plain(weir_word_load(text.ptr + i)))
            return false;
    return weir_word_is_plain(weir_word_load(text.ptr + text.len - 8)); /* may overlap the one before */
}

/* What is not plain ASCII takes the way of the JSON writer, which knows UTF-8. */
static void put_escaped(struct line *line, struct weir_slice text)
{
    struct weir_buf buf = {.ptr = line->at, .cap = TEXT_ESCAPED_MAX, .max = TEXT_ESCAPED_MAX};

    if (weir_json_escape(&buf, text) == 0)
        line->at += weir_buf_len(&buf);
}

static void put_text(struct line *line, struct weir_slice json, struct weir_slice logfmt,
                     struct weir_slice text)
{
    bool plain;
    bool quotes;

    if (text.len > TEXT_MAX)
        text.len = TEXT_MAX;
    plain = all_plain(text);
    quotes = line->format == WEIR_LOG_JSON || !plain || weir_slice_find_char(text, ' ') != WEIR_SLICE_NONE ||
             weir_slice_find_char(text, '=') != WEIR_SLICE_NONE;
    put_name(line, json, logfmt);
    if (quotes)
        *line->at++ = '"';
    if (plain)
        append(line, text);
    else
        put_escaped(line, text);
    if (quotes)
        *line->at++ = '"';
}

static void put_fixed(struct line *line, struct weir_slice json, struct weir_slice logfmt, uint64_t value,
                      unsigned decimals)
{
    char digits[WEIR_TEXT_FIXED_MAX];

    put_name(line, json, logfmt);
    append(line, weir_text_fixed(value, decimals, digits));
}

static void put_cost(struct line *line, struct weir_slice json, struct weir_slice logfmt,
                     uint64_t picodollars)
{
    char digits[WEIR_TEXT_FIXED_MAX];

    put_name(line, json, logfmt);
    append(line, weir_text_short(picodollars, 12, digits));
}

static void put_flag(struct line *line, struct weir_slice json, struct weir_slice logfmt)
{
    put_name(line, json, logfmt);
    append(line, WEIR_SLICE("true"));
}

/* A field's name in both forms. */
#define NAMES(name) WEIR_SLICE(",\"" name "\":"), WEIR_SLICE(" " name "=")

static void put_fields(struct line *line, const struct weir_access *access)
{
#define WEIR_ACCESS_TEXT(member, prose)                                                                      \
    if (access->member.len > 0)                                                                              \
        put_text(line, NAMES(#member), access->member);
#define WEIR_ACCESS_COUNT(member, prose) put_fixed(line, NAMES(#member), access->member, 0);
#define WEIR_ACCESS_MAYBE(member, prose)                                                                     \
    if (access->member != 0)                                                                                 \
        put_fixed(line, NAMES(#member), access->member, 0);
#define WEIR_ACCESS_NS(member, name, prose)                                                                  \
    if (access->member != 0)                                                                                 \
        put_fixed(line, NAMES(name), access->member / WEIR_NS_PER_US, 3);
#define WEIR_ACCESS_COST(member, prose)                                                                      \
    if (access->member != 0)                                                                                 \
        put_cost(line, NAMES(#member), access->member);
#define WEIR_ACCESS_FLAG(member, prose)                                                                      \
    if (access->member)                                                                                      \
        put_flag(line, NAMES(#member));
#include "gateway/log/tbl/access_fields.h"
}

int weir_access_format(const struct weir_access *access, enum weir_log_format format, uint64_t wall_ns,
                       struct weir_buf *buf)
{
    struct line line = {.format = format};
    char time_room[WEIR_TEXT_TIME_MAX];
    char *room;
    int r = weir_buf_reserve(buf, WEIR_ACCESS_LINE_MAX, &room);

    if (r < 0)
        return r;
    line.at = room;
    append(&line, format == WEIR_LOG_JSON ? WEIR_SLICE("{\"time\":\"") : WEIR_SLICE("time="));
    append(&line, weir_text_time(wall_ns, time_room));
    if (format == WEIR_LOG_JSON)
        append(&line, WEIR_SLICE("\""));
    put_fields(&line, access);
    if (format == WEIR_LOG_JSON)
        append(&line, WEIR_SLICE("}"));
    append(&line, WEIR_SLICE("\n"));
    weir_buf_commit(buf, (size_t)(line.at - room));
    return 0;
}
