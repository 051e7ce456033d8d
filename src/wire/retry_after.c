/* Whatever is not a time to wait is absent: nobody should rest for ever, or not at all, by a typing error. */
#include "wire/retry_after.h"

#include "base/slice.h"
#include "base/time.h"
#include "wire/http_date.h"

/* The number times unit_s seconds, when that is something to wait for. */
static int from_number(struct weir_slice value, double unit_s, uint64_t *ret_ns)
{
    double number;
    uint64_t ns;

    if (weir_slice_number(weir_slice_trim(value), &number) != 0)
        return WEIR_RETRY_AFTER_ABSENT;
    ns = weir_time_from_s(number * unit_s);
    if (ns == 0)
        return WEIR_RETRY_AFTER_ABSENT;
    *ret_ns = ns;
    return 0;
}

static int from_date(struct weir_slice value, int64_t wall_now_s, uint64_t *ret_ns)
{
    int64_t at_s, wait_s;

    if (weir_http_date_parse(value, wall_now_s, &at_s) != 0)
        return WEIR_RETRY_AFTER_ABSENT;
    if (__builtin_sub_overflow(at_s, wall_now_s, &wait_s) || wait_s <= 0)
        return WEIR_RETRY_AFTER_ABSENT;
    *ret_ns = weir_time_from_s((double)wait_s);
    return 0;
}

int weir_retry_after_parse(struct weir_slice value, int64_t wall_now_s, uint64_t *ret_ns)
{
    if (from_number(value, 1, ret_ns) == 0)
        return 0;
    return from_date(value, wall_now_s, ret_ns);
}

int weir_retry_after_ms_parse(struct weir_slice value, uint64_t *ret_ns)
{
    return from_number(value, 1e-3, ret_ns);
}

int weir_retry_after_read(struct weir_slice ms_value, struct weir_slice value, int64_t wall_now_s,
                          uint64_t *ret_ns)
{
    if (weir_retry_after_ms_parse(ms_value, ret_ns) == 0)
        return 0;
    return weir_retry_after_parse(value, wall_now_s, ret_ns);
}
