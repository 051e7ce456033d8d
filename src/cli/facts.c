/* Whatever is not what it should be counts as missing. */
#include "cli/facts.h"

#include "base/slice.h"

struct weir_slice weir_fact_string(yyjson_val *value)
{
    if (!yyjson_is_str(value))
        return WEIR_SLICE_EMPTY;
    return (struct weir_slice){yyjson_get_str(value), yyjson_get_len(value)};
}

struct weir_slice weir_fact_text(yyjson_val *object, const char *key)
{
    return weir_fact_string(yyjson_obj_get(object, key));
}

double weir_fact_number(yyjson_val *object, const char *key, double otherwise)
{
    yyjson_val *value = yyjson_obj_get(object, key);

    return yyjson_is_num(value) ? yyjson_get_num(value) : otherwise;
}

uint64_t weir_fact_count(yyjson_val *object, const char *key)
{
    double number = weir_fact_number(object, key, 0);

    return number > 0 && number < 1e18 ? (uint64_t)number : 0;
}

bool weir_fact_true(yyjson_val *object, const char *key)
{
    return yyjson_is_true(yyjson_obj_get(object, key));
}

static int print_long(double seconds, char text[WEIR_DURATION_MAX])
{
    unsigned long long s = (unsigned long long)(seconds + 0.5);

    if (s < 3600 && s % 60 == 0)
        return snprintf(text, WEIR_DURATION_MAX, "%llu min", s / 60);
    if (s < 3600)
        return snprintf(text, WEIR_DURATION_MAX, "%llu min %llu s", s / 60, s % 60);
    if (s < 86400)
        return snprintf(text, WEIR_DURATION_MAX, "%llu h %llu min", s / 3600, s / 60 % 60);
    return snprintf(text, WEIR_DURATION_MAX, "%llu d %llu h", s / 86400, s / 3600 % 24);
}

struct weir_slice weir_duration_text(double seconds, char text[WEIR_DURATION_MAX])
{
    int len;

    if (!(seconds > 0))
        seconds = 0;
    if (seconds > 1e10)
        seconds = 1e10;
    if (seconds < 0.9995)
        len = snprintf(text, WEIR_DURATION_MAX, "%.0f ms", seconds * 1000);
    else if (seconds < 59.95)
        len = snprintf(text, WEIR_DURATION_MAX, "%.3g s", seconds);
    else
        len = print_long(seconds, text);
    return (struct weir_slice){text, (size_t)len};
}

/* Days from 1970 to a date of the Gregorian calendar; March begins the year, so that February's end is its
 * end. */
static int64_t days_to(int64_t year, int64_t month, int64_t day)
{
    int64_t y = month <= 2 ? year - 1 : year;
    int64_t day_of_year = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1;

    return 365 * y + y / 4 - y / 100 + y / 400 + day_of_year - 719468;
}

/* The digits from one position to another, which the caller knows to be there. */
static int64_t digits(struct weir_slice text, size_t from, size_t to)
{
    uint64_t value;

    return weir_slice_u64(weir_slice_sub(text, from, to), &value) == 0 ? (int64_t)value : -1;
}

double weir_time_of(struct weir_slice time)
{
    int64_t year, month, day, hour, minute;
    double seconds;

    if (time.len < 20 || time.ptr[time.len - 1] != 'Z')
        return 0;
    year = digits(time, 0, 4);
    month = digits(time, 5, 7);
    day = digits(time, 8, 10);
    hour = digits(time, 11, 13);
    minute = digits(time, 14, 16);
    if (year < 1970 || month < 1 || month > 12 || day < 1 || hour < 0 || minute < 0 ||
        weir_slice_number(weir_slice_sub(time, 17, time.len - 1), &seconds) != 0)
        return 0;
    return (double)(days_to(year, month, day) * 86400 + hour * 3600 + minute * 60) + seconds;
}

struct weir_slice weir_short_id(struct weir_slice id, char text[WEIR_SHORT_ID_MAX])
{
    enum { MADE = 64, SHOWN = 12 };

    if (id.len != MADE)
        return id;
    for (size_t i = 0; i < id.len; i++)
        if (!weir_char_is_digit(id.ptr[i]) && (id.ptr[i] < 'a' || id.ptr[i] > 'f'))
            return id;
    (void)snprintf(text, WEIR_SHORT_ID_MAX, "%.*s...", SHOWN, id.ptr);
    return (struct weir_slice){text, SHOWN + 3};
}

struct weir_slice weir_clock_of(struct weir_slice time)
{
    bool is_time = time.len >= 20 && time.ptr[10] == 'T' && time.ptr[13] == ':' && time.ptr[16] == ':';

    return is_time ? weir_slice_sub(time, 11, 19) : time;
}
