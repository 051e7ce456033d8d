/*
 * Units of time.  Inside weir a time is uint64_t nanoseconds of the host's monotonic clock and a duration is
 * uint64_t nanoseconds; seconds as fractions exist only where a person writes or reads them.
 */
#ifndef WEIR_BASE_TIME_H
#define WEIR_BASE_TIME_H

#include <stdint.h>

#define WEIR_NS_PER_US UINT64_C(1000)
#define WEIR_NS_PER_MS UINT64_C(1000000)
#define WEIR_NS_PER_S  UINT64_C(1000000000)

/* "Never", as a time. */
#define WEIR_TIME_NEVER UINT64_MAX

/* Seconds to nanoseconds, rounded; negative and NaN give 0, too large gives WEIR_TIME_NEVER - 1. */
static inline uint64_t weir_time_from_s(double seconds)
{
    double ns = seconds * 1e9;

    if (!(ns > 0))
        return 0;
    return ns >= 18e18 ? WEIR_TIME_NEVER - 1 : (uint64_t)(ns + 0.5);
}

static inline double weir_time_to_s(uint64_t ns)
{
    return (double)ns / 1e9;
}

/* time + duration, staying at WEIR_TIME_NEVER rather than wrapping. */
static inline uint64_t weir_time_add(uint64_t time_ns, uint64_t duration_ns)
{
    uint64_t sum;

    return __builtin_add_overflow(time_ns, duration_ns, &sum) ? WEIR_TIME_NEVER : sum;
}

#endif
