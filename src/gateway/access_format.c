/*
 * A line is an object of JSON or a run of key=value pairs; both walk the same table of fields.  The time is
 * written as RFC 3339 in UTC with milliseconds, by calendar arithmetic on days, without the C library.
 */
#include "gateway/access_log.h"

#include "base/text.h"
#include "base/time.h"
#include "wire/json_write.h"

enum { TEXT_MAX = 256, TIME_MAX = 24 };

struct line {
    enum weir_log_format format;
    struct weir_json_writer json;
    struct weir_buf *buf;
    int error;
};

static void append(struct line *line, struct weir_slice text)
{
    if (line->error == 0)
        line->error = weir_buf_append(line->buf, text);
}

static void put_name(struct line *line, struct weir_slice name)
{
    if (line->format == WEIR_LOG_JSON) {
        weir_json_put_key(&line->json, name);
        return;
    }
    if (line->json.comma)
        append(line, WEIR_SLICE(" "));
    line->json.comma = true;
    append(line, name);
    append(line, WEIR_SLICE("="));
}

static bool needs_quotes(struct weir_slice text)
{
    for (size_t i = 0; i < text.len; i++) {
        char c = text.ptr[i];

        if (c <= ' ' || c == '"' || c == '=' || c == '\\' || c == 0x7f)
            return true;
    }
    return false;
}

static void put_text(struct line *line, struct weir_slice name, struct weir_slice text)
{
    if (text.len == 0)
        return;
    if (text.len > TEXT_MAX)
        text.len = TEXT_MAX;
    put_name(line, name);
    if (line->format == WEIR_LOG_JSON) {
        weir_json_put_string(&line->json, text);
    } else if (needs_quotes(text)) {
        append(line, WEIR_SLICE("\""));
        if (line->error == 0)
            line->error = weir_json_escape(line->buf, text);
        append(line, WEIR_SLICE("\""));
    } else {
        append(line, text);
    }
}

static void put_fixed(struct line *line, struct weir_slice name, uint64_t value, unsigned decimals)
{
    char digits[WEIR_TEXT_FIXED_MAX];

    put_name(line, name);
    if (line->format == WEIR_LOG_JSON)
        weir_json_put_fixed(&line->json, value, decimals);
    else
        append(line, weir_text_fixed(value, decimals, digits));
}

static void put_flag(struct line *line, struct weir_slice name)
{
    put_name(line, name);
    if (line->format == WEIR_LOG_JSON)
        weir_json_put_bool(&line->json, true);
    else
        append(line, WEIR_SLICE("true"));
}

/* Two or more digits of value at room, with zeros in front. */
static void put_digits(char *room, unsigned width, uint64_t value)
{
    while (width-- > 0) {
        room[width] = (char)('0' + value % 10);
        value /= 10;
    }
}

/* Days since 1970-01-01 to a date: years are counted from March, so that the leap day is the last. */
static void put_date(char *room, uint64_t days)
{
    uint64_t shifted = days + 719468;
    uint64_t era = shifted / 146097;
    uint64_t day_of_era = shifted % 146097;
    uint64_t year_of_era = (day_of_era - day_of_era / 1460 + day_of_era / 36524 - day_of_era / 146096) / 365;
    uint64_t day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    uint64_t month = (5 * day_of_year + 2) / 153;
    uint64_t year = era * 400 + year_of_era + (month >= 10 ? 1 : 0);

    put_digits(room, 4, year);
    put_digits(room + 5, 2, month < 10 ? month + 3 : month - 9);
    put_digits(room + 8, 2, day_of_year - (153 * month + 2) / 5 + 1);
}

static struct weir_slice time_text(uint64_t wall_ns, char room[TIME_MAX])
{
    static const char shape[] = "0000-00-00T00:00:00.000Z";
    uint64_t ms = wall_ns / WEIR_NS_PER_MS;
    uint64_t s = ms / 1000;

    for (size_t i = 0; i < TIME_MAX; i++)
        room[i] = shape[i];
    put_date(room, s / 86400);
    put_digits(room + 11, 2, s / 3600 % 24);
    put_digits(room + 14, 2, s / 60 % 60);
    put_digits(room + 17, 2, s % 60);
    put_digits(room + 20, 3, ms % 1000);
    return (struct weir_slice){room, TIME_MAX};
}

static void put_fields(struct line *line, const struct weir_access *access)
{
#define WEIR_ACCESS_TEXT(member, prose)  put_text(line, WEIR_SLICE(#member), access->member);
#define WEIR_ACCESS_COUNT(member, prose) put_fixed(line, WEIR_SLICE(#member), access->member, 0);
#define WEIR_ACCESS_MAYBE(member, prose)                                                                     \
    if (access->member != 0)                                                                                 \
        put_fixed(line, WEIR_SLICE(#member), access->member, 0);
#define WEIR_ACCESS_NS(member, name, prose)                                                                  \
    if (access->member != 0)                                                                                 \
        put_fixed(line, WEIR_SLICE(name), access->member / WEIR_NS_PER_US, 3);
#define WEIR_ACCESS_FLAG(member, prose)                                                                      \
    if (access->member)                                                                                      \
        put_flag(line, WEIR_SLICE(#member));
#include "gateway/tbl/access_fields.h"
}

int weir_access_format(const struct weir_access *access, enum weir_log_format format, uint64_t wall_ns,
                       struct weir_buf *buf)
{
    struct line line = {.format = format, .buf = buf};
    char time_room[TIME_MAX];

    weir_json_writer_init(&line.json, buf);
    if (format == WEIR_LOG_JSON)
        weir_json_open(&line.json, '{');
    put_text(&line, WEIR_SLICE("time"), time_text(wall_ns, time_room));
    put_fields(&line, access);
    if (format == WEIR_LOG_JSON) {
        weir_json_close(&line.json, '}');
        line.error = weir_json_writer_end(&line.json);
    }
    append(&line, WEIR_SLICE("\n"));
    return line.error;
}
