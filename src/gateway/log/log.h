/*
 * The logs: the one of calls (access_log.h) and the one of routing events (feed/), each a file of lines.
 *
 * Each thread that writes has a lane of its own, a ring for each log that is on; one thread writes all rings
 * out. Nobody who puts a line ever waits: one that finds no room is dropped and counted, as is one that the
 * file refuses, and the count is written as a line of its own when there is room again.
 *
 * Lanes: one for each worker, by its number, and one more, the last, for what happens outside of them; who
 * uses that one sees to it that nobody else does meanwhile.
 */
#ifndef WEIR_GATEWAY_LOG_H
#define WEIR_GATEWAY_LOG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <weir/attr.h>
#include <weir/mem.h>
#include <weir/slice.h>

#include "base/buf.h"
#include "config/settings.h"

typedef struct weir_log weir_log;

typedef enum weir_log_kind { WEIR_LOG_ACCESS, WEIR_LOG_EVENTS, WEIR_LOGS } weir_log_kind;

struct weir_log_spec {
    struct weir_slice where;     /* "stdout", "stderr", a path that is appended to, or "off" */
    enum weir_log_format format; /* of its lines */
};

/* No line is longer; with its line feed. */
enum { WEIR_LOG_LINE_MAX = 40 * 1024 };

/* The system refused: text says what. */
#define WEIR_LOG_REFUSED 1
enum { WEIR_LOG_TEXT_MAX = 256 };

/*
 * Opens the logs and, if any is on, starts the thread.  0, WEIR_LOG_REFUSED with a NUL-terminated text, or
 * negative.
 */
WEIR_MUST_USE int weir_log_new(const struct weir_mem *mem, const struct weir_log_spec specs[WEIR_LOGS],
                               size_t lanes, char text[WEIR_LOG_TEXT_MAX], weir_log **ret_log);

/* Writes out what the rings hold, then frees.  Nobody may put lines any more.  A pipe that nobody empties
 * holds it up for a second at most.  Accepts NULL. */
void weir_log_free(weir_log *log);

/* From any thread. */
bool weir_log_is_on(const weir_log *log, weir_log_kind kind);
enum weir_log_format weir_log_format_of(const weir_log *log, weir_log_kind kind);

/* The lane's room to compose one line in, empty, of WEIR_LOG_LINE_MAX bytes; also where no log is on. */
struct weir_buf *weir_log_room(weir_log *log, size_t lane);

/* Puts one whole line, with its line feed, into the lane's ring, if the log is on; never blocks. */
void weir_log_put(weir_log *log, weir_log_kind kind, size_t lane, struct weir_slice line);

/* Counts a line that could not be composed as dropped. */
void weir_log_lose(weir_log *log, weir_log_kind kind, size_t lane);

/* Lines that were dropped since the start.  From any thread. */
uint64_t weir_log_dropped(const weir_log *log, weir_log_kind kind);

/*
 * Opens the files at their paths again, so that one that was moved away is not written any more: soon, by the
 * thread that writes, and what it cannot open it writes as before, and says so.  From any thread.
 */
void weir_log_reopen(weir_log *log);

#endif
