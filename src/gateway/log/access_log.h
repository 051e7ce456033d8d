/*
 * The access log: one structured line for each call, with what routing made of it and never with what was
 * said (no prompts, no answers, no keys).
 */
#ifndef WEIR_GATEWAY_ACCESS_LOG_H
#define WEIR_GATEWAY_ACCESS_LOG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <weir/attr.h>
#include <weir/slice.h>

#include "base/buf.h"
#include "config/settings.h"
#include "gateway/log/log.h"

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

enum { WEIR_ACCESS_LINE_MAX = WEIR_LOG_LINE_MAX };

/*
 * Appends the line, with its line feed, to buf, which must take WEIR_ACCESS_LINE_MAX bytes more; texts are
 * cut so that no line is longer.  wall_ns is the time since 1970.  0 or the failure of the buffer.
 */
WEIR_MUST_USE int weir_access_format(const struct weir_access *access, enum weir_log_format format,
                                     uint64_t wall_ns, struct weir_buf *buf);

/* Puts one line into the worker's lane, if the log is on; wall_ns as above.  From that worker's thread alone;
 * never blocks. */
void weir_access_log_write(weir_log *log, size_t worker, const struct weir_access *access, uint64_t wall_ns);

#endif
