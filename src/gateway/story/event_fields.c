/* Rows are of one length, so that an event finds its own without a search. */
#include "gateway/story/event_fields.h"

#include "base/slice.h"

enum { FIELDS_MAX = 8 };

#define FIELD(type, member, name)                                                                            \
    {WEIR_FIELD_##type, offsetof(struct weir_event, u.member), WEIR_SLICE_INIT(name)},
#define U32(member, name)        FIELD(U32, member, name)
#define U64(member, name)        FIELD(U64, member, name)
#define MS(member, name)         FIELD(MS, member, name)
#define S(member, name)          FIELD(S, member, name)
#define TIME(member, name)       FIELD(TIME, member, name)
#define FLAG(member, name)       FIELD(FLAG, member, name)
#define TEXT(member, name)       FIELD(TEXT, member, name)
#define ORDER(member, name)      FIELD(ORDER, member, name)
#define FAILURE(member, name)    FIELD(FAILURE, member, name)
#define STREAM(member, name)     FIELD(STREAM, member, name)
#define HOP(member, name)        FIELD(HOP, member, name)
#define REFUSED(member, name)    FIELD(REFUSED, member, name)
#define RULE(member, name)       FIELD(RULE, member, name)
#define PURPOSE(member, name)    FIELD(PURPOSE, member, name)
#define CANDIDATES(member, name) FIELD(CANDIDATES, member, name)

static const struct weir_event_field fields[WEIR_EVENT_KINDS][FIELDS_MAX] = {
#define X(event, list) [WEIR_EVENT_##event] = {list{WEIR_FIELD_END, 0, WEIR_SLICE_INIT("")}},
#include "gateway/story/tbl/event_fields.h"
#undef X
};

static const struct weir_event_field none = {WEIR_FIELD_END, 0, WEIR_SLICE_INIT("")};

const struct weir_event_field *weir_event_fields(weir_event_kind kind)
{
    return (unsigned)kind < WEIR_EVENT_KINDS ? fields[kind] : &none;
}

struct weir_slice weir_event_field_word(const struct weir_event_field *field, const struct weir_event *event)
{
    const void *value = (const char *)event + field->offset;

    switch ((int)field->type) {
    case WEIR_FIELD_HOP:
        return weir_hop_name(*(const weir_hop_kind *)value);
    case WEIR_FIELD_REFUSED:
        return weir_refused_name(*(const weir_refused *)value);
    case WEIR_FIELD_RULE:
        return weir_cooldown_rule_name(*(const weir_cooldown_rule *)value);
    case WEIR_FIELD_PURPOSE:
        return weir_pick_purpose_name(*(const weir_pick_purpose *)value);
    default:
        return WEIR_SLICE_EMPTY;
    }
}
