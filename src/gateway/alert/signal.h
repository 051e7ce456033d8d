/*
 * What a worker tells the background thread when something happens that an alert may come of: a value of
 * fixed size, which holds names and numbers and nothing that was said by callers or providers, but the name
 * of whoever cools a deployment down by hand.
 */
#ifndef WEIR_GATEWAY_ALERT_SIGNAL_H
#define WEIR_GATEWAY_ALERT_SIGNAL_H

#include <stdint.h>

#include <weir/event.h>
#include <weir/failure.h>
#include <weir/router.h>
#include <weir/slice.h>

#include "config/settings.h"

typedef enum weir_alert_kind {
#define X(kind, name, type, level, owner, prose) WEIR_ALERT_##kind,
#include "gateway/alert/tbl/alert_kinds.h"
#undef X
    WEIR_ALERT_KINDS
} weir_alert_kind;

struct weir_alert_kind_row {
    struct weir_slice name;
    enum weir_alert_type type;
    struct weir_slice level;
    struct weir_slice owner; /* "deployment" or "group" */
};

/* Lives for ever; thread-safe. */
const struct weir_alert_kind_row *weir_alert_kind_row(weir_alert_kind kind);

/* A name of a configuration; what is longer is cut. */
enum { WEIR_ALERT_NAME_MAX = 120 };
struct weir_alert_name {
    uint8_t len;
    char text[WEIR_ALERT_NAME_MAX];
};

/* Controls become blanks; a character of UTF-8 is cut off whole. */
void weir_alert_name_set(struct weir_alert_name *ret_name, struct weir_slice text);

static inline struct weir_slice weir_alert_name_slice(const struct weir_alert_name *name)
{
    return (struct weir_slice){name->text, name->len};
}

struct weir_alert_signal {
    weir_alert_kind kind; /* that may come of it: of a fallback, STORM */
    uint64_t time_ns;     /* monotonic */
    uint64_t length_ns;   /* of the cooldown; of the call so far */
    weir_kind failure;    /* of COOLDOWN and FAILED, as is the status */
    int status;
    weir_cooldown_rule rule; /* of COOLDOWN */
    struct weir_alert_name group;
    struct weir_alert_name other;   /* the deployment; of STORM the group that the call went to */
    struct weir_alert_name call_id; /* empty: it is about no single call */
    struct weir_process_name by;    /* of COOLDOWN by hand: who, as they have said; empty: nobody knows */
};

#endif
