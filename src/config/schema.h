/*
 * The rows of the settings tables as data: for the loader, `weir check`, the dump of defaults and the
 * generated reference.
 *
 * Rows live for ever and are read-only.  The first WEIR_SETTING_COUNT are those of weir_setting_id, in its
 * order.  Maps with keys of their own are sections too: a group's settings, a limit that is a map, the
 * arguments of a strategy.
 */
#ifndef WEIR_CONFIG_SCHEMA_H
#define WEIR_CONFIG_SCHEMA_H

#include <stdbool.h>
#include <stddef.h>

#include <weir/slice.h>

#include "config/settings.h"

/* X(SECTION, its key in the file, how messages call it) */
#define WEIR_SECTION_TABLE(X)                                                                                \
    X(TOP, "", "the top level")                                                                              \
    X(ENTRY, "model_list", "the entry of model_list")                                                        \
    X(PARAMS, "litellm_params", "litellm_params")                                                            \
    X(INFO, "model_info", "model_info")                                                                      \
    X(ROUTER, "router_settings", "router_settings")                                                          \
    X(LITELLM, "litellm_settings", "litellm_settings")                                                       \
    X(CACHE, "cache_params", "cache_params")                                                                 \
    X(GENERAL, "general_settings", "general_settings")                                                       \
    X(ALERTS, "alerting_args", "alerting_args")                                                              \
    X(WEIR, "weir_settings", "weir_settings")                                                                \
    X(OTLP, "otlp", "otlp")                                                                                  \
    X(GROUP, "", "a group of weir_settings.groups")                                                          \
    X(LIMIT, "", "limits")                                                                                   \
    X(OVERRIDE, "", "weir of a request")                                                                     \
    X(RATE, "", "min_stream_rate")                                                                           \
    X(HOLD, "", "stream_hold")                                                                               \
    X(BUDGET, "", "retry_budget")                                                                            \
    X(HEDGE, "", "hedge")                                                                                    \
    X(GROWTH, "", "cooldown_growth")                                                                         \
    X(ARGS, "", "routing_strategy_args")                                                                     \
    X(RGROUP, "", "an item of routing_groups")                                                               \
    X(VARIABLE, "", "environment variables")

enum weir_section {
#define WEIR_SECTION_ENUM(section, key, name) WEIR_SECTION_##section,
    WEIR_SECTION_TABLE(WEIR_SECTION_ENUM)
#undef WEIR_SECTION_ENUM
        WEIR_SECTIONS
};

/* X(TYPE, what is expected, for messages and the reference) */
#define WEIR_VALUE_TABLE(X)                                                                                  \
    X(BOOL, "true or false")                                                                                 \
    X(U32, "a whole number")                                                                                 \
    X(I32, "a whole number")                                                                                 \
    X(WHOLE, "a whole number")                                                                               \
    X(BYTES, "a number of bytes, or text such as 64MiB")                                                     \
    X(NUMBER, "a number")                                                                                    \
    X(SECONDS, "a number of seconds")                                                                        \
    X(TEXT, "text")                                                                                          \
    X(NAME, "text")                                                                                          \
    X(SECRET, "text")                                                                                        \
    X(RETRIES, "a map of failures to numbers of retries")                                                    \
    X(FAILS, "a map of failures to allowed numbers of them")                                                 \
    X(VERIFY, "true, false, or the path of a file of certificates")                                          \
    X(STRATEGY, "the name of a strategy")                                                                    \
    X(PLACE, "stdout, stderr, off, or the path of a file")                                                   \
    X(LOG_FORMAT, "json or logfmt")                                                                          \
    X(KEEPALIVE, "a number of seconds")                                                                      \
    X(RATE, "{tokens_per_s: N, window: S, grace: S}, or 0")                                                  \
    X(HOLD, "{tokens: N, seconds: S}, all, or 0")                                                            \
    X(BUDGET, "{ratio: R, min_per_s: N}, or 0")                                                              \
    X(HEDGE, "{after: S, max: N}, or 0")                                                                     \
    X(GROWTH, "{factor: F, max: S}, or 0")                                                                   \
    X(SOURCES, "a list of fallback and group")                                                               \
    X(EMPTY, "fail or pass")                                                                                 \
    X(OVERRIDES, "a list of names of settings")                                                              \
    X(YES_NO, "true or false")                                                                               \
    X(PRICE, "a price in dollars")                                                                           \
    X(NAMES, "a list of text")                                                                               \
    X(CHANNELS, "a list of slack and webhook")                                                               \
    X(ALERTS, "a list of types of alerts")                                                                   \
    X(ALERT_FORM, "json or slack")                                                                           \
    X(CHECKS, "a list of names of checks")                                                                   \
    X(OBJECT, "a map")                                                                                       \
    X(ANY, "anything")

enum weir_value_type {
#define WEIR_VALUE_ENUM(type, expected) WEIR_VALUE_##type,
    WEIR_VALUE_TABLE(WEIR_VALUE_ENUM)
#undef WEIR_VALUE_ENUM
        WEIR_VALUE_PART, /* read by code of its own; `shape` says what is expected */
    WEIR_VALUE_NONE      /* not read */
};

enum weir_row_status {
    WEIR_ROW_READ,
    WEIR_ROW_LATER, /* known, not supported */
    WEIR_ROW_IDLE,  /* known, nothing to do here */
    WEIR_ROW_SDK,   /* of LiteLLM's Python library */
    WEIR_ROW_SHOWN  /* shown in /v1/model/info */
};

struct weir_setting_row {
    enum weir_section section;
    enum weir_row_status status;
    enum weir_value_type type;
    bool family;   /* of all keys that start so and have no row of their own */
    bool at_start; /* holds until a restart; the others are taken up by a reload */
    size_t offset; /* of the member in the struct of its table */
    double min;
    double max; /* both 0: any */
    struct weir_slice key;
    struct weir_slice unit;
    struct weir_slice fallback; /* the default as one would write it; empty: not set */
    struct weir_slice shape;    /* what is expected */
    struct weir_slice prose;    /* what it does; of rows that are not read: what it is about */
};

size_t weir_schema_count(void);
const struct weir_setting_row *weir_schema_row(size_t index);
/* The row of section LIMIT; its member is one of struct weir_limits. */
const struct weir_setting_row *weir_schema_limit(enum weir_limit_id id);
/* The row of what a request may set: of section LIMIT, or OVERRIDE, whose members are of struct
 * weir_controls. id is less than WEIR_OVERRIDES. */
const struct weir_setting_row *weir_schema_override(int id);
size_t weir_schema_index(const struct weir_setting_row *row);

/* What its value may be, for messages: "a whole number". */
struct weir_slice weir_schema_expected(const struct weir_setting_row *row);

/* The row of a key of the section, or of its family, or NULL. */
const struct weir_setting_row *weir_schema_find(enum weir_section section, struct weir_slice key);

/*
 * The row of a key that stands in a section which does not read it: of the section that does, the likeliest
 * first.  NULL when no section does.
 */
const struct weir_setting_row *weir_schema_elsewhere(enum weir_section section, struct weir_slice key);

/* The known key of the section that is nearest to a misspelt one, at most limit letters away; else NULL. */
const struct weir_setting_row *weir_schema_nearest(enum weir_section section, struct weir_slice key,
                                                   size_t limit);

/* "router_settings"; empty for the top level and variables. */
struct weir_slice weir_section_key(enum weir_section section);
/* As it is called in a sentence. */
struct weir_slice weir_section_name(enum weir_section section);

#endif
