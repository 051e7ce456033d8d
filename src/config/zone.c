/*
 * TZif files (RFC 9636): a list of changes, and behind it the rule by which changes go on for ever.  The rule
 * is written out up to the year 2100, so that nobody who asks for the time needs to know of rules.
 *
 * A file's first block is for readers of another age and is skipped; the second has times of 64 bits.
 */
#include "config/zone.h"

#include <stdint.h>
#include <string.h>

#include <weir/error.h>

#include "base/slice.h"
#include "config/file.h"

enum {
    HEAD_BYTES = 44,
    FILE_BYTES_MAX = 1 << 20,
    MIN_S = 60,
    DAY_S = 86400,
    LAST_YEAR = 2100,
    ZONE_NAME_MAX = 64
};

static const struct weir_slice database = WEIR_SLICE_INIT("/usr/share/zoneinfo/");

/* ---- the file ---- */

struct head {
    size_t utc, standard, leaps, times, types, names; /* counts of RFC 9636 3.1, in the order of the file */
};

static uint64_t big_endian(const char *at, size_t len)
{
    uint64_t value = 0;

    for (size_t i = 0; i < len; i++)
        value = value << 8 | (unsigned char)at[i];
    return value;
}

static bool read_head(struct weir_slice file, struct head *ret_head)
{
    size_t counts[6];

    if (file.len < HEAD_BYTES || memcmp(file.ptr, "TZif", 4) != 0 || file.ptr[4] < '2')
        return false;
    for (size_t i = 0; i < 6; i++) {
        counts[i] = big_endian(file.ptr + 20 + 4 * i, 4);
        if (counts[i] > FILE_BYTES_MAX)
            return false;
    }
    *ret_head = (struct head){counts[0], counts[1], counts[2], counts[3], counts[4], counts[5]};
    return true;
}

/* Of the block behind the head, whose times have so many bytes. */
static size_t block_bytes(const struct head *head, size_t time_bytes)
{
    return head->times * (time_bytes + 1) + head->types * 6 + head->names + head->leaps * (time_bytes + 4) +
           head->standard + head->utc;
}

/* ---- the rule ---- */

/* The nth weekday of a month, 5: the last, and the second of that day. */
struct when {
    int32_t month, nth, weekday, second;
};

struct rule {
    int32_t standard_s, summer_s; /* ahead of UTC */
    bool has_summer;
    struct when begin, end; /* of summer */
};

struct text {
    struct weir_slice rest;
    bool bad;
};

static bool take(struct text *text, char c)
{
    if (text->rest.len == 0 || text->rest.ptr[0] != c)
        return false;
    text->rest = weir_slice_sub(text->rest, 1, text->rest.len);
    return true;
}

static void expect(struct text *text, char c)
{
    text->bad |= !take(text, c);
}

static int32_t take_number(struct text *text)
{
    int32_t value = 0;
    size_t len = 0;

    while (len < text->rest.len && len < 4 && text->rest.ptr[len] >= '0' && text->rest.ptr[len] <= '9')
        value = value * 10 + (text->rest.ptr[len++] - '0');
    text->bad |= len == 0;
    text->rest = weir_slice_sub(text->rest, len, text->rest.len);
    return value;
}

/* [+|-]hh[:mm[:ss]] */
static int32_t take_time(struct text *text)
{
    bool minus = take(text, '-');
    int32_t seconds;

    if (!minus)
        (void)take(text, '+');
    seconds = take_number(text) * 3600;
    if (take(text, ':'))
        seconds += take_number(text) * MIN_S;
    if (take(text, ':'))
        seconds += take_number(text);
    return minus ? -seconds : seconds;
}

/* Letters, or anything in angle brackets. */
static void skip_name(struct text *text)
{
    bool quoted = take(text, '<');
    size_t len = 0;

    while (len < text->rest.len &&
           (quoted ? text->rest.ptr[len] != '>'
                   : ((text->rest.ptr[len] | 32) >= 'a' && (text->rest.ptr[len] | 32) <= 'z')))
        len++;
    text->bad |= len == 0;
    text->rest = weir_slice_sub(text->rest, len, text->rest.len);
    if (quoted)
        expect(text, '>');
}

/* ,Mmonth.nth.weekday[/time], the one form that the database has. */
static struct when take_when(struct text *text)
{
    struct when when = {.second = 2 * 3600};

    expect(text, ',');
    expect(text, 'M');
    when.month = take_number(text);
    expect(text, '.');
    when.nth = take_number(text);
    expect(text, '.');
    when.weekday = take_number(text);
    if (take(text, '/'))
        when.second = take_time(text);
    text->bad |= when.month < 1 || when.month > 12 || when.nth < 1 || when.nth > 5 || when.weekday > 6;
    return when;
}

/* The text tells how far clocks are behind UTC. */
static bool read_rule(struct weir_slice footer, struct rule *ret_rule)
{
    struct text text = {.rest = footer};
    struct rule rule = {.has_summer = false};

    skip_name(&text);
    rule.standard_s = -take_time(&text);
    if (text.rest.len > 0) {
        rule.has_summer = true;
        skip_name(&text);
        rule.summer_s = rule.standard_s + 3600;
        if (text.rest.len > 0 && text.rest.ptr[0] != ',')
            rule.summer_s = -take_time(&text);
        rule.begin = take_when(&text);
        rule.end = take_when(&text);
    }
    *ret_rule = rule;
    return !text.bad && text.rest.len == 0;
}

/* Days from 1970 to the first of a month, in the calendar of today. */
static int64_t days_to(int64_t year, int64_t month)
{
    int64_t y = month <= 2 ? year - 1 : year, in_year = (153 * ((month + 9) % 12) + 2) / 5;

    return 365 * y + y / 4 - y / 100 + y / 400 + in_year - 719468;
}

/* Seconds since 1970, by the clocks of the place before it. */
static int64_t time_of(const struct when *when, int64_t year)
{
    int64_t first = days_to(year, when->month);
    int64_t next = when->month == 12 ? days_to(year + 1, 1) : days_to(year, when->month + 1);
    int64_t day = first + (when->weekday - (first + 4) % 7 + 7) % 7 + 7 * (when->nth - 1);

    return (day < next ? day : day - 7) * DAY_S + when->second;
}

/* ---- both together ---- */

struct changes {
    struct weir_zone_change *items;
    size_t count;
};

static void add(struct changes *changes, int64_t since_s, int32_t ahead_s)
{
    changes->items[changes->count++] = (struct weir_zone_change){since_s / MIN_S, ahead_s / MIN_S};
}

static void write_out(struct changes *changes, const struct rule *rule, int64_t after_s)
{
    if (!rule->has_summer)
        return;
    for (int64_t year = 1970; year <= LAST_YEAR; year++) {
        int64_t begin = time_of(&rule->begin, year) - rule->standard_s;
        int64_t end = time_of(&rule->end, year) - rule->summer_s;

        if (begin < end && begin > after_s)
            add(changes, begin, rule->summer_s);
        if (end > after_s)
            add(changes, end, rule->standard_s);
        if (begin > end && begin > after_s)
            add(changes, begin, rule->summer_s);
    }
}

int weir_zone_parse(struct weir_slice file, struct weir_arena *arena, struct weir_zone *ret_zone)
{
    struct changes changes = {NULL, 0};
    struct head head;
    struct rule rule;
    const char *times, *kinds, *types;
    struct weir_slice footer;
    int64_t last_s = INT64_MIN;

    if (!read_head(file, &head) || file.len < HEAD_BYTES + block_bytes(&head, 4))
        return WEIR_ZONE_UNKNOWN;
    file = weir_slice_sub(file, HEAD_BYTES + block_bytes(&head, 4), file.len);
    if (!read_head(file, &head) || head.types == 0 || file.len < HEAD_BYTES + block_bytes(&head, 8) + 2)
        return WEIR_ZONE_UNKNOWN;
    footer = weir_slice_sub(file, HEAD_BYTES + block_bytes(&head, 8) + 1, file.len - 1);
    if (!read_rule(footer, &rule))
        return WEIR_ZONE_UNKNOWN;
    times = file.ptr + HEAD_BYTES;
    kinds = times + 8 * head.times;
    types = kinds + head.times;
    changes.items = weir_arena_zalloc(arena, head.times + 2 + 2 * (LAST_YEAR - 1969), sizeof(*changes.items));
    if (changes.items == NULL)
        return WEIR_ERR_NOMEM;
    if (head.times == 0)
        add(&changes, INT64_MIN, rule.standard_s);
    for (size_t i = 0; i < head.times; i++) {
        int64_t since_s = (int64_t)big_endian(times + 8 * i, 8);

        if ((unsigned char)kinds[i] >= head.types || (i > 0 && since_s <= last_s))
            return WEIR_ZONE_UNKNOWN;
        last_s = since_s;
        add(&changes, last_s, (int32_t)(uint32_t)big_endian(types + 6 * (unsigned char)kinds[i], 4));
    }
    write_out(&changes, &rule, last_s);
    *ret_zone = (struct weir_zone){changes.items, changes.count};
    return 0;
}

/* A name leads nowhere but into the database. */
static bool is_name(struct weir_slice name)
{
    for (size_t i = 0; i < name.len; i++) {
        char c = name.ptr[i], low = (char)(c | 32);

        if (!(low >= 'a' && low <= 'z') && !(c >= '0' && c <= '9') && c != '/' && c != '_' && c != '-' &&
            c != '+')
            return false;
    }
    return name.len > 0 && name.len <= ZONE_NAME_MAX && name.ptr[0] != '/';
}

int weir_zone_read(struct weir_slice name, struct weir_arena *arena, struct weir_zone *ret_zone,
                   struct weir_slice *ret_why)
{
    struct weir_slice parts[] = {database, name, WEIR_SLICE("\0")}, path, file, cause;
    struct weir_file_stamp stamp;
    int r;

    *ret_why = WEIR_SLICE("no time zone has this name");
    if (weir_slice_eq(name, WEIR_SLICE("UTC"))) {
        *ret_zone = (struct weir_zone){NULL, 0};
        return 0;
    }
    if (!is_name(name))
        return WEIR_ZONE_UNKNOWN;
    path = weir_arena_join(arena, parts, sizeof(parts) / sizeof(*parts));
    if (path.len == 0)
        return WEIR_ERR_NOMEM;
    path.len--;
    r = weir_file_read(path, FILE_BYTES_MAX, arena, &stamp, &file, &cause);
    if (r == WEIR_FILE_REFUSED)
        return WEIR_ZONE_UNKNOWN;
    return r != 0 ? r : weir_zone_parse(file, arena, ret_zone);
}
