/*
 * Limits and the like that are maps (min_stream_rate, stream_hold, retry_budget, hedge, cooldown_growth),
 * whoever wrote them: the file as YAML or a request as JSON (beyond.md 1, 2 and 4).
 *
 * A reader begins a value, puts the numbers of its keys by the rows of their section (weir_number_put), and
 * ends it; or it has a word instead of a map.
 */
#ifndef WEIR_CONFIG_LIMITS_H
#define WEIR_CONFIG_LIMITS_H

#include <stdbool.h>

#include <weir/slice.h>

#include "config/schema.h"
#include "config/settings.h"

/* A value under way, of the type of a row. */
union weir_limit_value {
    struct weir_stream_rate rate;
    struct weir_stream_hold hold;
    struct weir_retry_budget budget;
    struct weir_hedge hedge;
    struct weir_cooldown_growth growth;
};

/* The section with the keys of a limit; WEIR_SECTIONS: it is no map. */
enum weir_section weir_limit_section(const struct weir_setting_row *row);

void weir_limit_begin(const struct weir_setting_row *row, union weir_limit_value *ret_value);

/* Puts the value into out, of the C type of the row; false when a key that it needs was not said. */
bool weir_limit_end(const struct weir_setting_row *row, union weir_limit_value *value, void *out);

/* "0": none; "all", of stream_hold.  False for any other word. */
bool weir_limit_word(const struct weir_setting_row *row, struct weir_slice word, void *out);

#endif
