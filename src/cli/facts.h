/*
 * Reading what the admin routes answer: members of an object that may be missing or of another type, since
 * the weir that answers may be another version.  Times and durations as people read them.  Pure.
 */
#ifndef WEIR_CLI_FACTS_H
#define WEIR_CLI_FACTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <weir/slice.h>

#include <yyjson.h>

/* Of a value that may be NULL; empty: it is no text. */
struct weir_slice weir_fact_string(yyjson_val *value);

/* Of an object's member, or of what may be NULL: the slices live as long as the document. */
struct weir_slice weir_fact_text(yyjson_val *object, const char *key); /* empty: none */
double weir_fact_number(yyjson_val *object, const char *key, double otherwise);
uint64_t weir_fact_count(yyjson_val *object, const char *key); /* 0: none */
bool weir_fact_true(yyjson_val *object, const char *key);

enum { WEIR_DURATION_MAX = 24 };

/* "0 ms", "831 ms", "1.23 s", "45 s", "12 min 5 s", "3 h 5 min", "2 d 3 h"; never longer than the room. */
struct weir_slice weir_duration_text(double seconds, char text[WEIR_DURATION_MAX]);

/* Seconds since 1970 of "2026-11-30T09:12:03.120Z"; 0 for what is no such time. */
double weir_time_of(struct weir_slice time);

enum { WEIR_SHORT_ID_MAX = 16 };

/* An id that weir has made of a deployment's parameters, sixty-four digits, as "859e0ed729aa..."; any other
 * as it is. */
struct weir_slice weir_short_id(struct weir_slice id, char text[WEIR_SHORT_ID_MAX]);

/* "09:12:03" of "2026-11-30T09:12:03.120Z"; what is no such time as it is. */
struct weir_slice weir_clock_of(struct weir_slice time);

#endif
