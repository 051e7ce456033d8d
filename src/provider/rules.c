/*
 * The table is walked from its top for each failure: failures are rare beside answers, and the order is the
 * meaning. Texts are at most a few times 64 KiB, and most rows are ruled out by family and status before they
 * are looked for.
 */
#include "provider/rules.h"

#include "base/slice.h"
#include "provider/message.h"
#include "provider/pattern.h"
#include "provider/provider.h"

/* Sets of statuses.  Those named here have a bit of their own; X4 and X5 are the rest of their hundred. */
enum {
    NONE = 1 << 0,
    X4 = 1 << 1,
    X5 = 1 << 2,
    ODD = 1 << 3,
#define STATUSES(S)                                                                                          \
    S(400, 4)                                                                                                \
    S(401, 5)                                                                                                \
    S(402, 6)                                                                                                \
    S(403, 7)                                                                                                \
    S(404, 8)                                                                                                \
    S(408, 9)                                                                                                \
    S(409, 10)                                                                                               \
    S(413, 11)                                                                                               \
    S(422, 12)                                                                                               \
    S(424, 13)                                                                                               \
    S(429, 14)                                                                                               \
    S(498, 15)                                                                                               \
    S(500, 16)                                                                                               \
    S(502, 17)                                                                                               \
    S(503, 18)                                                                                               \
    S(504, 19)                                                                                               \
    S(522, 20)                                                                                               \
    S(524, 21)                                                                                               \
    S(529, 22)
#define S(status, bit) S##status = 1 << (bit),
    STATUSES(S)
#undef S
        S4 = X4 | S400 | S401 | S402 | S403 | S404 | S408 | S409 | S413 | S422 | S424 | S429 | S498,
    S5 = X5 | S500 | S502 | S503 | S504 | S522 | S524 | S529,
    ANY = NONE | S4 | S5 | ODD,
    SCONTEXT = NONE | S400 | S413 | S422 | S500,
    SPOLICY = NONE | S400 | S403 | S422 | S500,
    SLIMIT = NONE | S413 | S500 | S503
};

/* The steps of error-classification.md 14. */
enum step {
    THROTTLED,
    CHAINED,
    TIMED_OUT,
    CONTEXT,
    POLICY,
    AUTH,
    NOT_FOUND,
    LIMITED,
    OVERLOADED,
    QUIRK,
    STATUS
};

enum where { IN_NOWHERE, IN_TEXT, IN_CI, IN_PAGE, IN_NAME, IN_CHAINED };

#define LEAVE WEIR_KIND_COUNT

struct rule {
    enum step step;
    unsigned families;
    unsigned statuses;
    enum where where;
    struct weir_slice pattern;
    struct weir_slice also;
    struct weir_slice unless;
    weir_kind kind;
    int status;
};

#define ALL         WEIR_FAMILY_ALL
#define OPENAI      WEIR_FAMILY_OPENAI
#define AZURE       WEIR_FAMILY_AZURE
#define ANTHROPIC   WEIR_FAMILY_ANTHROPIC
#define VERTEX      WEIR_FAMILY_VERTEX
#define BEDROCK     WEIR_FAMILY_BEDROCK
#define OPENAI_LIKE WEIR_FAMILY_OPENAI_LIKE
#define OLLAMA      WEIR_FAMILY_OLLAMA
#define OPENROUTER  WEIR_FAMILY_OPENROUTER
#define COHERE      WEIR_FAMILY_COHERE
#define HUGGINGFACE WEIR_FAMILY_HUGGINGFACE
#define REPLICATE   WEIR_FAMILY_REPLICATE
#define SAGEMAKER   WEIR_FAMILY_SAGEMAKER
#define NLP_CLOUD   WEIR_FAMILY_NLP_CLOUD
#define TOGETHER    WEIR_FAMILY_TOGETHER
#define GROQ        WEIR_FAMILY_GROQ

static const struct rule rules[] = {
#define WEIR_KIND_LEAVE LEAVE
#define X(step_id, family_bits, status_bits, where_id, pattern_text, also_text, unless_text, kind_id, out)   \
    {.step = step_id,                                                                                        \
     .families = family_bits,                                                                                \
     .statuses = status_bits,                                                                                \
     .where = IN_##where_id,                                                                                 \
     .pattern = WEIR_SLICE_INIT(pattern_text),                                                               \
     .also = WEIR_SLICE_INIT(also_text),                                                                     \
     .unless = WEIR_SLICE_INIT(unless_text),                                                                 \
     .kind = WEIR_KIND_##kind_id,                                                                            \
     .status = out},
#include "provider/tbl/classify.h"
#undef X
};

static unsigned status_set(int status)
{
    switch (status) {
#define S(number, bit)                                                                                       \
    case number:                                                                                             \
        return S##number;
        STATUSES(S)
#undef S
    case 0:
        return NONE;
    default:
        break;
    }
    if (status >= 400 && status <= 499)
        return X4;
    return status >= 500 && status <= 599 ? X5 : ODD;
}

/* From the first "litellm.Class" on: what a gateway upstream has made of the failure. */
static struct weir_slice chained_part(struct weir_slice text)
{
    static const struct weir_slice mark = WEIR_SLICE_INIT("litellm.");
    size_t at;

    while ((at = weir_slice_find(text, mark)) != WEIR_SLICE_NONE) {
        text = weir_slice_sub(text, at, text.len);
        if (text.len > mark.len && text.ptr[mark.len] >= 'A' && text.ptr[mark.len] <= 'Z')
            return text;
        text = weir_slice_sub(text, mark.len, text.len);
    }
    return WEIR_SLICE_EMPTY;
}

static bool holds_in(const struct rule *rule, struct weir_slice text)
{
    return weir_pattern_found(rule->pattern, text) &&
           (rule->also.len == 0 || weir_pattern_found(rule->also, text)) &&
           (rule->unless.len == 0 || !weir_pattern_found(rule->unless, text));
}

static bool text_holds(const struct rule *rule, const struct weir_rule_facts *facts)
{
    switch (rule->where) {
    case IN_NOWHERE:
        return true;
    case IN_TEXT:
        return !facts->page && holds_in(rule, facts->text);
    case IN_CI:
        return !facts->page && holds_in(rule, facts->lower);
    case IN_PAGE:
        return holds_in(rule, facts->text);
    case IN_NAME:
        return weir_slice_eq(facts->code, rule->pattern) || weir_slice_eq(facts->type, rule->pattern);
    case IN_CHAINED:
        return weir_slice_starts(chained_part(facts->text), rule->pattern);
    }
    return false;
}

size_t weir_rules_count(void)
{
    return sizeof(rules) / sizeof(rules[0]);
}

struct weir_slice weir_rules_pattern(size_t row)
{
    return rules[row].pattern;
}

bool weir_rules_leaves(size_t row)
{
    return rules[row].kind == LEAVE;
}

static size_t first_match(const struct weir_rule_facts *facts)
{
    unsigned statuses = status_set(facts->status);
    enum step left = STATUS;
    bool leaving = false;

    for (size_t i = 0; i < weir_rules_count(); i++) {
        const struct rule *rule = &rules[i];

        if ((leaving && rule->step == left) || (rule->families & facts->families) == 0 ||
            (rule->statuses & statuses) == 0 || !text_holds(rule, facts))
            continue;
        if (rule->kind != LEAVE)
            return i;
        left = rule->step;
        leaving = true;
    }
    return weir_rules_count() - 1;
}

void weir_rules_match(const struct weir_rule_facts *facts, weir_kind *ret_kind, int *ret_status,
                      size_t *ret_row)
{
    size_t row = first_match(facts);
    int status = rules[row].status != 0 ? rules[row].status : facts->status;

    *ret_kind = rules[row].kind;
    *ret_status = status >= 400 && status <= 599 ? status : weir_failure_status(rules[row].kind);
    if (ret_row != NULL)
        *ret_row = row;
}
