/* A gateway that nobody asks, whose metrics are counted by hand and read as text. */
#ifndef TEST_METRICS_KIT_H
#define TEST_METRICS_KIT_H

#include "unit.h"

#include "gateway/gateway.h"
#include "gateway/job.h"
#include "gateway/worker.h"

struct metrics_kit {
    struct weir_gateway gateway;
    struct weir_worker worker;
    struct weir_job job;
    struct weir_buf page;
};

/* Fails the test where the configuration is refused.  extra is text behind a list of three groups: g with d1,
 * h with d2, and "w/" with a star. */
void metrics_begin(struct metrics_kit *kit, const char *extra);
void metrics_end(struct metrics_kit *kit);

/* Another configuration holds from now on, of those groups again. */
void metrics_reload(struct metrics_kit *kit, const char *extra);

/* A call for the model begins. */
void metrics_job(struct metrics_kit *kit, const char *model);

void metrics_event(struct metrics_kit *kit, struct weir_event event);

/* The page as it is, ended with a NUL; lives until the next call. */
const char *metrics_page(struct metrics_kit *kit);

/* The line's value; fails the test where the page has no such line.  start: all of it in front of the value's
 * blank. */
const char *metrics_line(struct metrics_kit *kit, const char *start);
#define assert_metric(kit, start, value) assert_string_equal(metrics_line((kit), (start)), (value))

/* The page has no line that begins so. */
void metrics_assert_none(struct metrics_kit *kit, const char *start);

#endif
