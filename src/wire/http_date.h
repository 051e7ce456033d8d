/*
 * HTTP dates (RFC 9110 5.6.7) to and from seconds since 1970-01-01 UTC.  Pure: no clock, no locale, no zone.
 */
#ifndef WEIR_WIRE_HTTP_DATE_H
#define WEIR_WIRE_HTTP_DATE_H

#include <stdint.h>

#include <weir/attr.h>
#include <weir/slice.h>

/* The text is no date. */
#define WEIR_HTTP_DATE_BAD 1

/*
 * All three forms: "Sun, 06 Nov 1994 08:49:37 GMT", "Sunday, 06-Nov-94 08:49:37 GMT", "Sun Nov  6 08:49:37
 * 1994".  A two-digit year is the one within fifty years of now.  The name of the day is not compared with
 * the date.  0 or WEIR_HTTP_DATE_BAD.
 */
WEIR_MUST_USE int weir_http_date_parse(struct weir_slice text, int64_t now_s, int64_t *ret_time_s);

#define WEIR_HTTP_DATE_LEN 29

/* The first form, for the years 1970 to 9999 (other times are cut to these), written into room. */
struct weir_slice weir_http_date_write(int64_t time_s, char room[WEIR_HTTP_DATE_LEN]);

#endif
