/*
 * A failure is looked up, not computed: the facts are brought into one form (status, text, names), and the
 * rules are asked in their order.  All that is known of providers stands in the tables.
 *
 * The text is the body up to 64 KiB, followed by the decoded message where that differs, so that a phrase is
 * found whether JSON escaped it or not.  HTML pages are judged by their status; they quote too much.
 */
#include "provider/classify.h"

#include <weir/error.h>

#include "base/slice.h"
#include "base/text.h"
#include "provider/error_body.h"
#include "provider/message.h"
#include "provider/rules.h"
#include "wire/http1_read.h"
#include "wire/retry_after.h"
#include "wire/utf8.h"

#define SEARCHED_MAX 65536
#define SHOWN_MAX    2000
#define PAGE_MAX     500

struct mishap_rule {
    weir_kind kind;
    int status;
    struct weir_slice text;
    unsigned families; /* for these: */
    weir_kind other_kind;
    int other_status;
};

static const struct mishap_rule mishap_rules[WEIR_MISHAPS] = {
#define X(mishap, kind_id, out, words, family_bits, other, other_out)                                        \
    [WEIR_MISHAP_##mishap] = {.kind = WEIR_KIND_##kind_id,                                                   \
                              .status = out,                                                                 \
                              .text = WEIR_SLICE_INIT(words),                                                \
                              .families = family_bits,                                                       \
                              .other_kind = WEIR_KIND_##other,                                               \
                              .other_status = other_out},
#include "provider/tbl/mishaps.h"
#undef X
};

/* The text that rules search: the body, and the decoded message where escapes may hide it. */
static int searched_text(struct weir_slice body, struct weir_slice message, struct weir_arena *arena,
                         struct weir_rule_facts *facts)
{
    bool escaped = weir_slice_find_char(body, '\\') != WEIR_SLICE_NONE;
    char *lower;

    facts->text = body;
    if (escaped)
        facts->text = weir_arena_join(arena, (struct weir_slice[]){body, WEIR_SLICE("\n"), message}, 3);
    lower = weir_arena_alloc(arena, facts->text.len + 1);
    if (weir_arena_failed(arena))
        return WEIR_ERR_NOMEM;
    for (size_t i = 0; i < facts->text.len; i++)
        lower[i] = weir_char_lower(facts->text.ptr[i]);
    facts->lower = (struct weir_slice){lower, facts->text.len};
    return 0;
}

static int status_of(const struct weir_mishap_report *report, const struct weir_error_body *error)
{
    int said;

    if (report->mishap == WEIR_MISHAP_ANSWER)
        return report->status;
    said = weir_error_body_status(error);
    return said != 0 ? said : 500;
}

static int match(const struct weir_mishap_report *report, const struct weir_error_body *error,
                 struct weir_arena *arena, struct weir_failure *ret_failure)
{
    struct weir_rule_facts facts = {.families = report->provider->families,
                                    .status = status_of(report, error),
                                    .code = error->code,
                                    .type = error->type,
                                    .page = error->html};
    int r = searched_text(weir_slice_sub(report->body, 0, SEARCHED_MAX), error->message, arena, &facts);

    if (r == 0)
        weir_rules_match(&facts, &ret_failure->kind, &ret_failure->status, NULL);
    return r;
}

static void decide_mishap(const struct weir_mishap_report *report, struct weir_failure *ret_failure)
{
    const struct mishap_rule *rule = &mishap_rules[report->mishap];
    bool other = (rule->families & report->provider->families) != 0;

    ret_failure->kind = other ? rule->other_kind : rule->kind;
    ret_failure->status = other ? rule->other_status : rule->status;
}

static uint64_t retry_after(const struct weir_mishap_report *report, const struct weir_error_body *error)
{
    uint64_t wait_ns = 0;

    if (report->head != NULL &&
        weir_retry_after_read(weir_http1_value(report->head, WEIR_SLICE("retry-after-ms")),
                              weir_http1_value(report->head, WEIR_SLICE("retry-after")), report->wall_now_s,
                              &wait_ns) == 0)
        return wait_ns;
    if (error->retry_delay.len > 0 &&
        weir_retry_after_parse(error->retry_delay, report->wall_now_s, &wait_ns) == 0)
        return wait_ns;
    return 0;
}

/* At most max bytes, not cut inside a UTF-8 sequence. */
static struct weir_slice shorten(struct weir_slice text, size_t max)
{
    size_t len = max;

    if (text.len <= max)
        return text;
    while (len > 0 && weir_utf8_is_tail((unsigned char)text.ptr[len]))
        len--;
    return weir_slice_sub(text, 0, len);
}

static int words_of(const struct weir_mishap_report *report, const struct weir_error_body *error,
                    struct weir_arena *arena, struct weir_slice *ret_text)
{
    char digits[WEIR_TEXT_U64_MAX];
    struct weir_slice text = error->message, status;
    int r = 0;

    if (error->html)
        r = weir_error_body_plain(text, PAGE_MAX, arena, &text);
    if (r == 0)
        r = weir_blot_out(shorten(weir_slice_trim(text), SHOWN_MAX), report->secret, arena, &text);
    if (r != 0)
        return r;
    if (text.len == 0) {
        status = weir_text_u64((uint64_t)(report->status > 0 ? report->status : 0), digits);
        text = weir_arena_join(
            arena, (struct weir_slice[]){WEIR_SLICE("The provider answered with status "), status}, 2);
    }
    *ret_text = text;
    return weir_arena_failed(arena) ? WEIR_ERR_NOMEM : 0;
}

static struct weir_slice type_of(const struct weir_failure *failure, const struct weir_error_body *error)
{
    return failure->status == 422 && error->type.len > 0 ? error->type : weir_failure_type(failure);
}

static int classify_answer(const struct weir_mishap_report *report, struct weir_arena *arena,
                           struct weir_verdict *verdict)
{
    struct weir_error_body error;
    int r = weir_error_body_read(weir_slice_sub(report->body, 0, SEARCHED_MAX), arena, &error);

    if (r == 0)
        r = match(report, &error, arena, &verdict->failure);
    if (r == 0)
        r = words_of(report, &error, arena, &verdict->text);
    if (r != 0)
        return r;
    verdict->failure.retry_after_ns = retry_after(report, &error);
    verdict->type = type_of(&verdict->failure, &error);
    verdict->param = error.param;
    if (verdict->failure.kind == WEIR_KIND_CONTENT_POLICY)
        verdict->inner_error = error.inner;
    return 0;
}

int weir_classify(const struct weir_mishap_report *report, struct weir_arena *arena,
                  struct weir_verdict *ret_verdict)
{
    struct weir_verdict verdict = {.failure = {.origin = WEIR_ORIGIN_PROVIDER}};
    int r = 0;

    switch (report->mishap) {
    case WEIR_MISHAP_ANSWER:
    case WEIR_MISHAP_ERROR_BODY:
    case WEIR_MISHAP_NOT_A_STREAM:
        r = classify_answer(report, arena, &verdict);
        break;
    case WEIR_MISHAP_CONNECT:
    case WEIR_MISHAP_TIMED_OUT:
    case WEIR_MISHAP_CUT_OFF:
    case WEIR_MISHAP_STREAM_CUT:
    case WEIR_MISHAP_BAD_ANSWER:
    case WEIR_MISHAP_GAVE_UP:
    case WEIR_MISHAP_BAD_CHUNK:
    case WEIR_MISHAP_EMPTY:
    case WEIR_MISHAP_TOO_LARGE:
        decide_mishap(report, &verdict.failure);
        verdict.text = mishap_rules[report->mishap].text;
        verdict.type = weir_failure_type(&verdict.failure);
        break;
    case WEIR_MISHAPS:
        return WEIR_ERR_INVALID;
    }
    if (r == 0)
        *ret_verdict = verdict;
    return r;
}
