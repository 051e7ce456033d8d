/*
 * Provider fields that never pass: those of one connection (RFC 9110 7.6.1), those that describe the bytes of
 * a body that weir has decoded or framed anew, and cookies, which are between the provider and weir.
 */
#include "gateway/answer/headers.h"

#include <string.h>

#include "base/slice.h"
#include "base/text.h"
#include "base/time.h"
#include "wire/http1_read.h"
#include "wire/http_field.h"

enum { PROVIDER_LINES_MAX = 16 * 1024 };

#define KEPT_HERE(X)                                                                                         \
    X("connection")                                                                                          \
    X("keep-alive")                                                                                          \
    X("proxy-connection")                                                                                    \
    X("proxy-authenticate")                                                                                  \
    X("te")                                                                                                  \
    X("trailer")                                                                                             \
    X("upgrade")                                                                                             \
    X("transfer-encoding")                                                                                   \
    X("content-length")                                                                                      \
    X("content-encoding")                                                                                    \
    X("set-cookie")                                                                                          \
    X("alt-svc")

static const struct weir_slice kept_here[] = {
#define X(name) WEIR_SLICE_INIT(name),
    KEPT_HERE(X)
#undef X
};

/* A bit for each length that one of them has. */
static const uint64_t kept_lengths = 0
#define X(name) | UINT64_C(1) << (sizeof(name) - 1)
    KEPT_HERE(X)
#undef X
    ;

/* A line whose value weir has written itself, so that there is nothing to check. */
static inline int put_own(struct weir_buf *buf, struct weir_slice name, struct weir_slice value)
{
    char *room;
    int r = weir_buf_reserve(buf, name.len + value.len + 4, &room);

    if (r < 0)
        return r;
    memcpy(room, name.ptr, name.len);
    memcpy(room + name.len, ": ", 2);
    memcpy(room + name.len + 2, value.ptr, value.len);
    memcpy(room + name.len + 2 + value.len, "\r\n", 2);
    weir_buf_commit(buf, name.len + value.len + 4);
    return 0;
}

int weir_headers_put(struct weir_buf *buf, struct weir_slice name, struct weir_slice value)
{
    return value.len == 0 || !weir_http_is_value(value) ? 0 : put_own(buf, name, value);
}

int weir_headers_put_u64(struct weir_buf *buf, struct weir_slice name, uint64_t value)
{
    char digits[WEIR_TEXT_U64_MAX];

    return put_own(buf, name, weir_text_u64(value, digits));
}

/* Thousandths of some unit of time, as that unit. */
static int put_thousandths(struct weir_buf *buf, struct weir_slice name, uint64_t thousandths)
{
    char digits[WEIR_TEXT_FIXED_MAX];

    return put_own(buf, name, weir_text_fixed(thousandths, 3, digits));
}

/* What successes and failures have in common. */
static int put_common(const struct weir_answer_facts *facts, struct weir_buf *buf)
{
    int r = weir_buf_append(buf, WEIR_SLICE("x-litellm-version: " WEIR_VERSION "\r\n"));

    if (r == 0)
        r = weir_buf_append(buf, facts->id_line);
    if (r == 0)
        r = weir_buf_append(buf, facts->provider_lines);
    return r;
}

static int put_counts(const struct weir_answer_facts *facts, struct weir_buf *buf)
{
    int r = weir_headers_put_u64(buf, WEIR_SLICE("x-litellm-attempted-retries"), facts->retries);

    if (r == 0 && facts->retries > 0)
        r = weir_headers_put_u64(buf, WEIR_SLICE("x-litellm-max-retries"), facts->max_retries);
    if (r == 0)
        r = weir_headers_put_u64(buf, WEIR_SLICE("x-litellm-attempted-fallbacks"), facts->hops);
    if (r == 0)
        r = weir_headers_put_u64(buf, WEIR_SLICE("x-litellm-max-fallbacks"), facts->max_hops);
    return r;
}

int weir_headers_of_success(const struct weir_answer_facts *facts, struct weir_buf *buf)
{
    char digits[WEIR_TEXT_FIXED_MAX];
    int r = put_common(facts, buf);

    if (r == 0)
        r = weir_buf_append(buf, facts->base_line);
    if (r == 0)
        r = weir_headers_put(buf, WEIR_SLICE("x-litellm-model-group"), facts->group);
    if (r == 0)
        r = put_counts(facts, buf);
    if (r == 0)
        r = put_thousandths(buf, WEIR_SLICE("x-litellm-response-duration-ms"),
                            facts->duration_ns / WEIR_NS_PER_US);
    if (r == 0)
        r = put_thousandths(buf, WEIR_SLICE("x-litellm-overhead-duration-ms"),
                            facts->overhead_ns / WEIR_NS_PER_US);
    if (r == 0 && facts->cost.known)
        r = put_own(buf, WEIR_SLICE("x-litellm-response-cost"),
                    weir_text_short(facts->cost.picodollars, 12, digits));
    return r;
}

int weir_headers_of_failure(const struct weir_answer_facts *facts, struct weir_buf *buf)
{
    int r = put_common(facts, buf);

    if (r == 0 && facts->limit_ns > 0)
        r = put_thousandths(buf, WEIR_SLICE("x-litellm-timeout"), facts->limit_ns / WEIR_NS_PER_MS);
    if (r == 0 && facts->retry_after_s > 0)
        r = weir_headers_put_u64(buf, WEIR_SLICE("retry-after"), facts->retry_after_s);
    return r;
}

static bool stays_here(struct weir_slice name)
{
    if (name.len >= 64 || (kept_lengths >> name.len & 1) == 0)
        return false;
    for (size_t i = 0; i < sizeof(kept_here) / sizeof(kept_here[0]); i++)
        if (weir_slice_eq_ci(name, kept_here[i]))
            return true;
    return false;
}

static bool is_rate_limit(struct weir_slice name)
{
    struct weir_slice prefix = WEIR_SLICE("x-ratelimit-");

    return weir_slice_eq_ci(weir_slice_sub(name, 0, prefix.len), prefix);
}

/* What one field becomes, appended at the end of room, which is large enough. */
static char *copy_line(char *room, struct weir_slice prefix, const struct weir_http1_field *field)
{
    const struct weir_slice parts[] = {prefix, field->name, WEIR_SLICE(": "), field->value,
                                       WEIR_SLICE("\r\n")};

    for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++) {
        if (parts[i].len > 0)
            memcpy(room, parts[i].ptr, parts[i].len);
        room += parts[i].len;
    }
    return room;
}

struct weir_slice weir_headers_of_provider(const struct weir_http1_head *head, struct weir_arena *arena)
{
    struct weir_slice prefix = WEIR_SLICE("llm_provider-");
    size_t bytes = 0;
    size_t count;
    char *room;
    char *at;

    for (count = 0; count < head->field_count; count++) {
        const struct weir_http1_field *field = &head->fields[count];
        size_t more = 2 * (prefix.len + field->name.len + field->value.len + 4);

        if (more > PROVIDER_LINES_MAX - bytes)
            break;
        bytes += more;
    }
    room = bytes == 0 ? NULL : weir_arena_alloc(arena, bytes);
    if (room == NULL)
        return WEIR_SLICE_EMPTY;
    at = room;
    for (size_t i = 0; i < count; i++) {
        const struct weir_http1_field *field = &head->fields[i];

        if (field->value.len == 0 || stays_here(field->name))
            continue;
        at = copy_line(at, prefix, field);
        if (is_rate_limit(field->name))
            at = copy_line(at, WEIR_SLICE_EMPTY, field);
    }
    return (struct weir_slice){room, (size_t)(at - room)};
}

struct weir_slice weir_call_id(uint64_t high, uint64_t low, char room[WEIR_CALL_ID_LEN])
{
    char digits[2 * WEIR_TEXT_HEX64_MAX];

    (void)weir_text_hex64((high & ~UINT64_C(0xf000)) | UINT64_C(0x4000), digits);
    (void)weir_text_hex64((low >> 2) | UINT64_C(1) << 63, digits + WEIR_TEXT_HEX64_MAX);
    memset(room, '-', WEIR_CALL_ID_LEN);
    memcpy(room, digits, 8);
    memcpy(room + 9, digits + 8, 4);
    memcpy(room + 14, digits + 12, 4);
    memcpy(room + 19, digits + 16, 4);
    memcpy(room + 24, digits + 20, 12);
    return (struct weir_slice){room, WEIR_CALL_ID_LEN};
}
