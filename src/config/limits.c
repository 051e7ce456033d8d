/*
 * What both readers of limits share, so that a request and the file mean the same by the same words.
 */
#include "config/limits.h"

#include <weir/snapshot.h>

#include "base/slice.h"
#include "config/value.h"

static const struct weir_stream_rate no_rate = {0, WEIR_UNSET_NS, WEIR_UNSET_NS};
static const struct weir_stream_hold no_hold = {true, 0, 0};
static const struct weir_stream_hold whole_answer = {true, WEIR_UNSET, WEIR_UNSET_NS};

enum weir_section weir_limit_section(const struct weir_setting_row *row)
{
    if (row->type == WEIR_VALUE_RATE)
        return WEIR_SECTION_RATE;
    return row->type == WEIR_VALUE_HOLD ? WEIR_SECTION_HOLD : WEIR_SECTIONS;
}

void weir_limit_begin(const struct weir_setting_row *row, union weir_limit_value *ret_value)
{
    enum weir_section section = weir_limit_section(row);

    *ret_value = (union weir_limit_value){.hold = {.said = true}};
    for (size_t i = 0; i < weir_schema_count(); i++) {
        const struct weir_setting_row *field = weir_schema_row(i);

        if (field->section == section)
            weir_value_default(field, (char *)ret_value + field->offset);
    }
    if (section == WEIR_SECTION_RATE)
        ret_value->rate.tokens_per_s = -1;
}

bool weir_limit_end(const struct weir_setting_row *row, union weir_limit_value *value, void *out)
{
    const struct weir_stream_hold *hold = &value->hold;

    if (row->type == WEIR_VALUE_RATE) {
        if (value->rate.tokens_per_s < 0)
            return false;
        *(struct weir_stream_rate *)out = value->rate;
        return true;
    }
    if (hold->tokens == WEIR_UNSET && hold->window_ns == WEIR_UNSET_NS)
        return false;
    *(struct weir_stream_hold *)out = hold->tokens == 0 || hold->window_ns == 0 ? no_hold : *hold;
    return true;
}

bool weir_limit_word(const struct weir_setting_row *row, struct weir_slice word, void *out)
{
    bool none = weir_slice_eq(word, WEIR_SLICE("0"));

    if (row->type == WEIR_VALUE_RATE && none)
        *(struct weir_stream_rate *)out = no_rate;
    else if (row->type == WEIR_VALUE_HOLD && none)
        *(struct weir_stream_hold *)out = no_hold;
    else if (row->type == WEIR_VALUE_HOLD && weir_slice_eq(word, WEIR_SLICE("all")))
        *(struct weir_stream_hold *)out = whole_answer;
    else
        return false;
    return true;
}
