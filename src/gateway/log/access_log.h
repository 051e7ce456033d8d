/*
 * The access log: one structured line for each call, with what routing made of it and never with what was
 * said (no prompts, no answers, no keys).
 *
 * Each worker has a ring of its own; one thread writes the rings out.  A worker never waits: a line that
 * finds no room is dropped and counted, and the count is written as a line of its own when there is room
 * again.
 */
#ifndef WEIR_GATEWAY_ACCESS_LOG_H
#define WEIR_GATEWAY_ACCESS_LOG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <weir/attr.h>
#include <weir/mem.h>
#include <weir/slice.h>

#include "base/buf.h"
#include "config/settings.h"

typedef struct weir_access_log weir_access_log;

/* What a line tells.  Empty slices and zeros that mean "none" are left out, as the table of fields says. */
struct weir_access {
#define WEIR_ACCESS_TEXT(member, prose)     struct weir_slice member;
#define WEIR_ACCESS_COUNT(member, prose)    uint64_t member;
#define WEIR_ACCESS_MAYBE(member, prose)    uint64_t member;
#define WEIR_ACCESS_NS(member, name, prose) uint64_t member;
#define WEIR_ACCESS_FLAG(member, prose)     bool member;
#define WEIR_ACCESS_COST(member, prose)     uint64_t member;
#include "gateway/log/tbl/access_fields.h"
};

enum { WEIR_ACCESS_LINE_MAX = 40 * 1024 };

/*
 * Appends the line, with its line feed, to buf, which must take WEIR_ACCESS_LINE_MAX bytes more; texts are
 * cut so that no line is longer.  wall_ns is the time since 1970.  0 or the failure of the buffer.
 */
WEIR_MUST_USE int weir_access_format(const struct weir_access *access, enum weir_log_format format,
                                     uint64_t wall_ns, struct weir_buf *buf);

/* The system refused: text says what. */
#define WEIR_ACCESS_LOG_REFUSED 1
enum { WEIR_ACCESS_LOG_TEXT_MAX = 256 };

/*
 * Opens the log for a number of workers and starts its thread.  where: "stdout", "stderr", a path that is
 * appended to, or "off" (nothing is written).  0, WEIR_ACCESS_LOG_REFUSED with a NUL-terminated text, or
 * negative.
 */
WEIR_MUST_USE int weir_access_log_new(const struct weir_mem *mem, struct weir_slice where,
                                      enum weir_log_format format, size_t workers,
                                      char text[WEIR_ACCESS_LOG_TEXT_MAX], weir_access_log **ret_log);

/* Writes out what the rings hold, then frees.  No worker may write any more.  Accepts NULL. */
void weir_access_log_free(weir_access_log *log);

/* Puts one line into the worker's ring.  From that worker's thread alone; never blocks. */
void weir_access_log_write(weir_access_log *log, size_t worker, const struct weir_access *access);

#endif
