/*
 * The three forms have the same words in another order, so a form is a pattern: each letter of it reads one
 * thing (a day's name, a month's name, digits), everything else stands for itself.  Days are counted by the
 * usual trick of years that begin in March, which puts the leap day last.
 */
#include "wire/http_date.h"

#include <stddef.h>
#include <string.h>

#include "base/slice.h"

struct date {
    int64_t year;
    int64_t month; /* 1 to 12 */
    int64_t day;
    int64_t hour;
    int64_t minute;
    int64_t second;
};

enum { SECONDS_PER_DAY = 86400 };

static const char months[] = "JanFebMarAprMayJunJulAugSepOctNovDec";
static const char days[] = "ThuFriSatSunMonTueWed"; /* 1970-01-01 was a Thursday */

static const char *const forms[] = {
    "D, dd N YYYY hh:mm:ss GMT",
    "L, dd-N-yy hh:mm:ss GMT",
    "D N bd hh:mm:ss YYYY",
};

static bool read_digits(struct weir_slice *rest, size_t count, int64_t *ret_number)
{
    uint64_t number;

    if (rest->len < count || weir_slice_u64(weir_slice_sub(*rest, 0, count), &number) != 0)
        return false;
    *rest = weir_slice_sub(*rest, count, rest->len);
    *ret_number = (int64_t)number;
    return true;
}

/* A name of three letters out of a row of them; its number from 0. */
static bool read_name(struct weir_slice *rest, const char *names, int64_t *ret_number)
{
    struct weir_slice row = weir_slice_str(names), name = weir_slice_sub(*rest, 0, 3);

    for (size_t i = 0; i < row.len; i += 3)
        if (weir_slice_eq_ci(weir_slice_sub(row, i, i + 3), name)) {
            *rest = weir_slice_sub(*rest, 3, rest->len);
            *ret_number = (int64_t)(i / 3);
            return true;
        }
    return false;
}

static bool read_long_day(struct weir_slice *rest)
{
    int64_t ignored;

    if (!read_name(rest, days, &ignored))
        return false;
    while (rest->len > 0 && rest->ptr[0] != ',')
        *rest = weir_slice_sub(*rest, 1, rest->len);
    return true;
}

/* A day of the month in two places, the first of which may be a blank. */
static bool read_padded_day(struct weir_slice *rest, int64_t *ret_number)
{
    if (rest->len > 0 && rest->ptr[0] == ' ') {
        *rest = weir_slice_sub(*rest, 1, rest->len);
        return read_digits(rest, 1, ret_number);
    }
    return read_digits(rest, 2, ret_number);
}

/* The year within fifty years of now that ends in these two digits. */
static int64_t full_year(int64_t two_digits, int64_t now_s)
{
    int64_t now_year = 1970 + now_s / (365 * (int64_t)SECONDS_PER_DAY + SECONDS_PER_DAY / 4);
    int64_t year = now_year - now_year % 100 + two_digits;

    if (year > now_year + 50)
        return year - 100;
    return year < now_year - 49 ? year + 100 : year;
}

/* Reads what the letter at the front of the pattern stands for; *ret_width is how many letters that took. */
static bool read_one(struct weir_slice *rest, struct weir_slice pattern, int64_t now_s, struct date *date,
                     size_t *ret_width)
{
    int64_t ignored;

    *ret_width = 2;
    switch (pattern.ptr[0]) {
    case 'd':
        return read_digits(rest, 2, &date->day);
    case 'b': /* "bd": the first place may be blank */
        return read_padded_day(rest, &date->day);
    case 'h':
        return read_digits(rest, 2, &date->hour);
    case 'm':
        return read_digits(rest, 2, &date->minute);
    case 's':
        return read_digits(rest, 2, &date->second);
    case 'y':
        if (!read_digits(rest, 2, &date->year))
            return false;
        date->year = full_year(date->year, now_s);
        return true;
    case 'Y':
        *ret_width = 4;
        return read_digits(rest, 4, &date->year);
    default:
        break;
    }
    *ret_width = 1;
    switch (pattern.ptr[0]) {
    case 'D':
        return read_name(rest, days, &ignored);
    case 'L':
        return read_long_day(rest);
    case 'N':
        return read_name(rest, months, &date->month);
    default:
        if (rest->len == 0 || rest->ptr[0] != pattern.ptr[0])
            return false;
        *rest = weir_slice_sub(*rest, 1, rest->len);
        return true;
    }
}

static bool read_form(struct weir_slice text, const char *form, int64_t now_s, struct date *date)
{
    struct weir_slice pattern = weir_slice_str(form);
    size_t width;

    while (pattern.len > 0) {
        if (!read_one(&text, pattern, now_s, date, &width))
            return false;
        pattern = weir_slice_sub(pattern, width, pattern.len);
    }
    date->month++;
    return text.len == 0;
}

static bool is_leap(int64_t year)
{
    return (year % 4 == 0 && year % 100 != 0) || year % 400 == 0;
}

static bool is_possible(const struct date *date)
{
    static const signed char lengths[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
    int64_t last = lengths[date->month - 1] + (date->month == 2 && is_leap(date->year));

    /* 60 is a leap second. */
    return date->day >= 1 && date->day <= last && date->hour <= 23 && date->minute <= 59 &&
           date->second <= 60;
}

static int64_t days_since_1970(const struct date *date)
{
    int64_t year = date->year - (date->month <= 2); /* of the year that began in March */
    int64_t month = (date->month + 9) % 12;
    int64_t era = (year >= 0 ? year : year - 399) / 400;
    int64_t in_era = year - era * 400;
    int64_t in_year = (153 * month + 2) / 5 + date->day - 1;

    return era * 146097 + in_era * 365 + in_era / 4 - in_era / 100 + in_year - 719468;
}

int weir_http_date_parse(struct weir_slice text, int64_t now_s, int64_t *ret_time_s)
{
    text = weir_slice_trim(text);
    for (size_t i = 0; i < sizeof(forms) / sizeof(*forms); i++) {
        struct date date = {0};

        if (!read_form(text, forms[i], now_s, &date))
            continue;
        if (!is_possible(&date))
            return WEIR_HTTP_DATE_BAD;
        *ret_time_s = ((days_since_1970(&date) * 24 + date.hour) * 60 + date.minute) * 60 + date.second;
        return 0;
    }
    return WEIR_HTTP_DATE_BAD;
}

static struct date date_of(int64_t day)
{
    int64_t shifted = day + 719468, era = shifted / 146097, in_era = shifted - era * 146097;
    int64_t year = (in_era - in_era / 1460 + in_era / 36524 - in_era / 146096) / 365;
    int64_t in_year = in_era - (365 * year + year / 4 - year / 100), month = (5 * in_year + 2) / 153;
    struct date date = {.month = (month + 2) % 12 + 1, .day = in_year - (153 * month + 2) / 5 + 1};

    date.year = year + era * 400 + (date.month <= 2);
    return date;
}

static char *put_digits(char *at, int64_t number, int count)
{
    for (int i = count - 1; i >= 0; i--) {
        at[i] = (char)('0' + number % 10);
        number /= 10;
    }
    return at + count;
}

static char *put_text(char *at, const char *text, size_t len)
{
    memcpy(at, text, len);
    return at + len;
}

struct weir_slice weir_http_date_write(int64_t time_s, char room[WEIR_HTTP_DATE_LEN])
{
    const int64_t last = 253402300799; /* of the year 9999 */
    int64_t day, second;
    struct date date;
    char *at = room;

    time_s = time_s < 0 ? 0 : time_s > last ? last : time_s;
    day = time_s / SECONDS_PER_DAY;
    second = time_s % SECONDS_PER_DAY;
    date = date_of(day);
    at = put_text(at, days + 3 * (day % 7), 3);
    at = put_text(at, ", ", 2);
    at = put_digits(at, date.day, 2);
    at = put_text(at, " ", 1);
    at = put_text(at, months + 3 * (date.month - 1), 3);
    at = put_text(at, " ", 1);
    at = put_digits(at, date.year, 4);
    at = put_text(at, " ", 1);
    at = put_digits(at, second / 3600, 2);
    at = put_text(at, ":", 1);
    at = put_digits(at, second / 60 % 60, 2);
    at = put_text(at, ":", 1);
    at = put_digits(at, second % 60, 2);
    (void)put_text(at, " GMT", 4);
    return (struct weir_slice){room, WEIR_HTTP_DATE_LEN};
}
