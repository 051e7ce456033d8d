/*
 * Alerts as text: a plain sentence, an object of JSON, or a message in Slack's form.  Pure.
 *
 * Names are those of the configuration; nothing of what callers or providers have said is in them.
 */
#ifndef WEIR_GATEWAY_ALERT_WRITE_H
#define WEIR_GATEWAY_ALERT_WRITE_H

#include <stdint.h>

#include <weir/attr.h>
#include <weir/slice.h>

#include "base/buf.h"
#include "config/settings.h"
#include "gateway/alert/book.h"

/* Enough for each of them. */
enum { WEIR_ALERT_TEXT_MAX = 16 * 1024 };

struct weir_alert_scene {
    uint64_t now_ns;  /* monotonic, which is ... */
    uint64_t wall_ns; /* ... this since 1970 */
    uint64_t threshold_ns;
    struct weir_slice process; /* "host:42" */
};

/* All append; 0 or the failure of the buffer. */
WEIR_MUST_USE int weir_alert_sentence(const struct weir_alert *alert, const struct weir_alert_scene *scene,
                                      struct weir_buf *buf);

WEIR_MUST_USE int weir_alert_message(const struct weir_alert *alert, const struct weir_alert_scene *scene,
                                     enum weir_alert_form form, struct weir_buf *buf);

#endif
