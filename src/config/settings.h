/*
 * The settings of the process as a plain struct, made from the rows of tbl/settings.h, those of one group,
 * from tbl/group.h, and those of one deployment, from tbl/deployment.h.  The rows themselves are in schema.h.
 *
 * Members hold what was written or the row's default.  Where settings stand in for one another (the router's
 * number, else the process's, else a constant) the outcome is in the snapshot's weir_router_spec; of those
 * that it lacks the loader has settled master_key, permit_no_master_key and ca_file, which are final.
 * Durations are nanoseconds; slices live as long as the configuration.
 */
#ifndef WEIR_CONFIG_SETTINGS_H
#define WEIR_CONFIG_SETTINGS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <weir/slice.h>
#include <weir/snapshot.h>

enum weir_log_format { WEIR_LOG_JSON, WEIR_LOG_LOGFMT };

/* A certificate check that is on, off, or by a file of its own. */
struct weir_tls_verify {
    bool said;
    bool insecure;
    struct weir_slice ca_file; /* empty: none named */
};

/* In their order; WEIR_CONTINUE_NOWHERE after the last, and first where nothing is said. */
struct weir_continue_list {
    weir_continue_to to[WEIR_CONTINUE_SOURCES];
};

struct weir_names {
    const struct weir_slice *items;
    size_t count;
};

/* The checks of optional_pre_call_checks; a list of them has a bit for each. */
enum weir_check_id {
#define X(check, name, supported, about) WEIR_CHECK_##check,
#include "config/tbl/pre_call_checks.h"
#undef X
    WEIR_CHECKS
};

#define WEIR_CHECK_BIT(id) (UINT32_C(1) << (id))

/* The names of alert_types and alerting, likewise. */
enum weir_alert_type {
#define X(type, name, supported, about) WEIR_ALERT_TYPE_##type,
#include "config/tbl/alert_types.h"
#undef X
    WEIR_ALERT_TYPES
};

enum weir_alert_channel {
#define X(channel, name, supported, about) WEIR_ALERT_CHANNEL_##channel,
#include "config/tbl/alert_channels.h"
#undef X
    WEIR_ALERT_CHANNELS
};

#define WEIR_ALERT_BIT(id) (UINT32_C(1) << (id))

/* The form of what is sent. */
enum weir_alert_form { WEIR_ALERT_JSON, WEIR_ALERT_SLACK };

enum weir_empty_answer { WEIR_EMPTY_UNSAID, WEIR_EMPTY_PASS, WEIR_EMPTY_FAIL };

enum weir_yes_no { WEIR_UNSAID, WEIR_NO, WEIR_YES };

/* TYPE of a row to the C type of its member. */
#define WEIR_SETTING_TYPE_BOOL       bool
#define WEIR_SETTING_TYPE_U32        uint32_t
#define WEIR_SETTING_TYPE_I32        int32_t
#define WEIR_SETTING_TYPE_WHOLE      uint64_t
#define WEIR_SETTING_TYPE_BYTES      uint64_t
#define WEIR_SETTING_TYPE_NUMBER     double
#define WEIR_SETTING_TYPE_SECONDS    uint64_t
#define WEIR_SETTING_TYPE_TEXT       struct weir_slice
#define WEIR_SETTING_TYPE_NAME       struct weir_slice
#define WEIR_SETTING_TYPE_PLACE      struct weir_slice
#define WEIR_SETTING_TYPE_SECRET     struct weir_slice
#define WEIR_SETTING_TYPE_RETRIES    struct weir_policy
#define WEIR_SETTING_TYPE_FAILS      struct weir_policy
#define WEIR_SETTING_TYPE_VERIFY     struct weir_tls_verify
#define WEIR_SETTING_TYPE_STRATEGY   weir_strategy
#define WEIR_SETTING_TYPE_LOG_FORMAT enum weir_log_format
#define WEIR_SETTING_TYPE_OBJECT     struct weir_slice
#define WEIR_SETTING_TYPE_ANY        struct weir_slice
#define WEIR_SETTING_TYPE_KEEPALIVE  uint64_t
#define WEIR_SETTING_TYPE_RATE       struct weir_stream_rate
#define WEIR_SETTING_TYPE_HOLD       struct weir_stream_hold
#define WEIR_SETTING_TYPE_BUDGET     struct weir_retry_budget
#define WEIR_SETTING_TYPE_HEDGE      struct weir_hedge
#define WEIR_SETTING_TYPE_GROWTH     struct weir_cooldown_growth
#define WEIR_SETTING_TYPE_SOURCES    struct weir_continue_list
#define WEIR_SETTING_TYPE_EMPTY      enum weir_empty_answer
#define WEIR_SETTING_TYPE_OVERRIDES  uint32_t
#define WEIR_SETTING_TYPE_YES_NO     enum weir_yes_no
#define WEIR_SETTING_TYPE_PRICE      double
#define WEIR_SETTING_TYPE_NAMES      struct weir_names
#define WEIR_SETTING_TYPE_CHECKS     uint32_t
#define WEIR_SETTING_TYPE_CHANNELS   uint32_t
#define WEIR_SETTING_TYPE_ALERTS     uint32_t
#define WEIR_SETTING_TYPE_ALERT_FORM enum weir_alert_form

/* One member a row: num_retries of router_settings is router_num_retries, and so on. */
struct weir_settings {
#define SETTING(section, key, member, type, unit, min, max, dflt, prose) WEIR_SETTING_TYPE_##type member;
#include "config/tbl/settings.h"
};

enum weir_setting_id {
#define SETTING(section, key, member, type, unit, min, max, dflt, prose) WEIR_SETTING_##member,
#include "config/tbl/settings.h"
    WEIR_SETTING_COUNT
};

/* What is read of one group of weir_settings.groups, from the rows of tbl/group.h.  Members as above. */
struct weir_group_settings {
#define GROUP(key, member, type, unit, min, max, dflt, prose) WEIR_SETTING_TYPE_##type member;
#include "config/tbl/group.h"
};

/* The limits that every level has, from tbl/limits.h. */
enum weir_limit_id {
#define LIMIT(key, member, type, unit, min, max, prose, router) WEIR_LIMIT_ID_##member,
#include "config/tbl/limits.h"
    WEIR_LIMITS
};

/* What a request may set for itself: the limits, and what tbl/resilience.h says of single calls. */
enum {
    WEIR_OVERRIDE_BEFORE = WEIR_LIMITS - 1,
#define CALL_SHARE(key, member, type, unit, min, max, prose) WEIR_OVERRIDE_ID_##member,
#include "config/tbl/resilience.h"
    WEIR_OVERRIDES
};

#define WEIR_OVERRIDE_BIT(id) (UINT32_C(1) << (id))

/* What is read of one entry of model_list, from the rows of tbl/deployment.h.  Members as above. */
struct weir_deployment_settings {
#define FIELD(section, key, member, type, unit, min, max, dflt, prose) WEIR_SETTING_TYPE_##type member;
#include "config/tbl/deployment.h"
};

#endif
