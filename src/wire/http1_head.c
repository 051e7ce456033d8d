/*
 * One request read in two ways by two programs is how requests are smuggled; so each rule here has one
 * reading or none.  llhttp has split the fields; what they mean together is decided by a single walk that
 * gathers facts (struct facts), followed by the checks that compare them.
 */
#include "wire/http1_head.h"

#include "base/slice.h"
#include "wire/http_field.h"

struct facts {
    unsigned lengths; /* how often each was given */
    unsigned codings;
    unsigned hosts;
    uint64_t length;
    bool chunked;
    bool host_ok;
    bool close;
    bool keep;
    bool expects;
    bool expects_other;
};

/* Bytes up to the next blank, which is dropped; false when there is none. */
static bool cut_at_blank(struct weir_slice *rest, struct weir_slice *ret_word)
{
    size_t at = weir_slice_find_char(*rest, ' ');

    if (at == WEIR_SLICE_NONE)
        return false;
    *ret_word = weir_slice_sub(*rest, 0, at);
    *rest = weir_slice_sub(*rest, at + 1, rest->len);
    return true;
}

static enum weir_http1_refusal read_version(struct weir_http1_head *head, struct weir_slice version)
{
    const struct weir_slice prefix = WEIR_SLICE("HTTP/");

    if (!weir_slice_starts(version, prefix))
        return WEIR_HTTP1_REFUSED_BAD_START;
    version = weir_slice_sub(version, prefix.len, version.len);
    if (!weir_slice_eq(version, WEIR_SLICE("1.1")) && !weir_slice_eq(version, WEIR_SLICE("1.0")))
        return WEIR_HTTP1_REFUSED_BAD_VERSION;
    head->minor = (unsigned)(version.ptr[2] - '0');
    return WEIR_HTTP1_REFUSED_NONE;
}

static bool is_target(struct weir_slice target)
{
    for (size_t i = 0; i < target.len; i++)
        if (target.ptr[i] <= ' ' || target.ptr[i] > '~' || target.ptr[i] == '#')
            return false;
    return target.len > 0;
}

/* The part of an absolute-form target after scheme and authority; all of any other. */
static struct weir_slice local_part(struct weir_slice target)
{
    const struct weir_slice mark = WEIR_SLICE("://");
    size_t at, end;

    if (target.ptr[0] == '/')
        return target;
    at = weir_slice_find(target, mark);
    if (at == WEIR_SLICE_NONE)
        return target;
    end = at + mark.len;
    while (end < target.len && target.ptr[end] != '/' && target.ptr[end] != '?')
        end++;
    return end == at + mark.len ? target : (struct weir_slice){target.ptr + end, target.len - end};
}

static enum weir_http1_refusal read_target(struct weir_http1_head *head)
{
    struct weir_slice local;
    size_t mark;

    if (weir_slice_eq(head->method, WEIR_SLICE("CONNECT")))
        return WEIR_HTTP1_REFUSED_NO_PROXY;
    if (!is_target(head->target))
        return WEIR_HTTP1_REFUSED_BAD_TARGET;
    local = local_part(head->target);
    mark = weir_slice_find_char(local, '?');
    head->path = weir_slice_sub(local, 0, mark);
    head->query = mark == WEIR_SLICE_NONE ? WEIR_SLICE_EMPTY : weir_slice_sub(local, mark + 1, local.len);
    if (head->path.len == 0)
        head->path = WEIR_SLICE("/"); /* absolute form without a path */
    if (head->path.ptr[0] == '/')
        return WEIR_HTTP1_REFUSED_NONE;
    return weir_slice_eq(head->target, WEIR_SLICE("*")) && weir_slice_eq(head->method, WEIR_SLICE("OPTIONS"))
               ? WEIR_HTTP1_REFUSED_NONE
               : WEIR_HTTP1_REFUSED_BAD_TARGET;
}

static enum weir_http1_refusal request_line(struct weir_http1_head *head, struct weir_slice line)
{
    enum weir_http1_refusal refusal;

    if (weir_slice_eq(line, WEIR_SLICE("PRI * HTTP/2.0")))
        return WEIR_HTTP1_REFUSED_HTTP2;
    if (!cut_at_blank(&line, &head->method) || !cut_at_blank(&line, &head->target) ||
        !weir_http_is_token(head->method))
        return WEIR_HTTP1_REFUSED_BAD_START;
    refusal = read_version(head, line);
    return refusal != WEIR_HTTP1_REFUSED_NONE ? refusal : read_target(head);
}

static bool read_status(struct weir_slice digits, unsigned *ret_status)
{
    uint64_t status;

    if (digits.len != 3 || weir_slice_u64(digits, &status) != 0 || status < 100)
        return false;
    *ret_status = (unsigned)status;
    return true;
}

static enum weir_http1_refusal status_line(struct weir_http1_head *head, struct weir_slice line)
{
    struct weir_slice version, digits;
    enum weir_http1_refusal refusal;

    if (!cut_at_blank(&line, &version))
        return WEIR_HTTP1_REFUSED_BAD_START;
    refusal = read_version(head, version);
    if (refusal != WEIR_HTTP1_REFUSED_NONE)
        return refusal;
    if (!cut_at_blank(&line, &digits)) { /* some servers leave out the blank before an empty reason */
        digits = line;
        line = WEIR_SLICE_EMPTY;
    }
    head->reason = line;
    return read_status(digits, &head->status) ? WEIR_HTTP1_REFUSED_NONE : WEIR_HTTP1_REFUSED_BAD_STATUS;
}

enum weir_http1_refusal weir_http1_head_start(struct weir_http1_head *head, enum weir_http1_kind kind,
                                              struct weir_slice line)
{
    return kind == WEIR_HTTP1_REQUEST ? request_line(head, line) : status_line(head, line);
}

static bool is_host_char(char c)
{
    switch (c) {
    case '/':
    case '?':
    case '#':
    case '@':
    case '\\':
    case '"':
    case ',':
    case '<':
    case '>':
        return false;
    default:
        return c > ' ' && c <= '~';
    }
}

static bool is_host(struct weir_slice host)
{
    for (size_t i = 0; i < host.len; i++)
        if (!is_host_char(host.ptr[i]))
            return false;
    return host.len > 0;
}

static enum weir_http1_refusal note_length(struct facts *facts, struct weir_slice value)
{
    facts->lengths++;
    return weir_slice_u64(value, &facts->length) == 0 ? WEIR_HTTP1_REFUSED_NONE
                                                      : WEIR_HTTP1_REFUSED_BAD_LENGTH;
}

static void note_connection(struct facts *facts, struct weir_slice value)
{
    struct weir_slice member;

    if (weir_slice_eq_ci(value, WEIR_SLICE("keep-alive"))) { /* what most say */
        facts->keep = true;
        return;
    }
    while (weir_http_list_next(&value, &member)) {
        facts->close |= weir_slice_eq_ci(member, WEIR_SLICE("close"));
        facts->keep |= weir_slice_eq_ci(member, WEIR_SLICE("keep-alive"));
    }
}

/* The names that matter differ in length, so that most fields are told from all of them by one comparison. */
static enum weir_http1_refusal note_field(struct facts *facts, const struct weir_http1_field *field)
{
    struct weir_slice name = field->name, value = field->value;

    switch (name.len) {
    case sizeof("Host") - 1:
        if (weir_slice_eq_ci(name, WEIR_SLICE("Host"))) {
            facts->hosts++;
            facts->host_ok = is_host(value);
        }
        break;
    case sizeof("Expect") - 1:
        if (weir_slice_eq_ci(name, WEIR_SLICE("Expect"))) {
            facts->expects = weir_slice_eq_ci(value, WEIR_SLICE("100-continue"));
            facts->expects_other |= !facts->expects;
        }
        break;
    case sizeof("Connection") - 1:
        if (weir_slice_eq_ci(name, WEIR_SLICE("Connection")))
            note_connection(facts, value);
        break;
    case sizeof("Content-Length") - 1:
        if (weir_slice_eq_ci(name, WEIR_SLICE("Content-Length")))
            return note_length(facts, value);
        break;
    case sizeof("Transfer-Encoding") - 1:
        if (weir_slice_eq_ci(name, WEIR_SLICE("Transfer-Encoding"))) {
            facts->codings++;
            facts->chunked = weir_slice_eq_ci(value, WEIR_SLICE("chunked"));
        }
        break;
    default:
        break;
    }
    return WEIR_HTTP1_REFUSED_NONE;
}

static enum weir_http1_refusal check_lengths(const struct weir_http1_head *head, const struct facts *facts)
{
    if (facts->lengths + (facts->codings > 0) > 1)
        return WEIR_HTTP1_REFUSED_TWO_LENGTHS;
    if (facts->codings > 0 && head->minor == 0)
        return WEIR_HTTP1_REFUSED_CODING_IN_1_0;
    if (facts->codings > 1 || (facts->codings == 1 && !facts->chunked))
        return WEIR_HTTP1_REFUSED_BAD_CODING;
    return WEIR_HTTP1_REFUSED_NONE;
}

static enum weir_http1_refusal check_request(const struct weir_http1_head *head, const struct facts *facts)
{
    if (facts->hosts == 0 && head->minor >= 1)
        return WEIR_HTTP1_REFUSED_NO_HOST;
    if (facts->hosts > 1 || (facts->hosts == 1 && !facts->host_ok))
        return WEIR_HTTP1_REFUSED_BAD_HOST;
    if (facts->expects_other && head->minor >= 1)
        return WEIR_HTTP1_REFUSED_BAD_EXPECT;
    return WEIR_HTTP1_REFUSED_NONE;
}

/* RFC 9112 6.3. */
static enum weir_http1_framing framing_of(const struct weir_http1_head *head, enum weir_http1_kind kind,
                                          const struct facts *facts)
{
    bool bodiless = head->status / 100 == 1 || head->status == 204 || head->status == 304 ||
                    kind == WEIR_HTTP1_RESPONSE_TO_HEAD ||
                    (kind == WEIR_HTTP1_RESPONSE_TO_CONNECT && head->status / 100 == 2);

    if (kind != WEIR_HTTP1_REQUEST && bodiless)
        return WEIR_HTTP1_FRAMED_NONE;
    if (facts->codings > 0)
        return WEIR_HTTP1_FRAMED_CHUNKED;
    if (facts->lengths > 0)
        return WEIR_HTTP1_FRAMED_LENGTH;
    return kind == WEIR_HTTP1_REQUEST ? WEIR_HTTP1_FRAMED_NONE : WEIR_HTTP1_FRAMED_EOF;
}

enum weir_http1_refusal weir_http1_head_fields(struct weir_http1_head *head, enum weir_http1_kind kind,
                                               struct weir_http1_field *fields, size_t count)
{
    struct facts facts = {0};
    enum weir_http1_refusal refusal = WEIR_HTTP1_REFUSED_NONE;

    for (size_t i = 0; i < count && refusal == WEIR_HTTP1_REFUSED_NONE; i++) {
        fields[i].value = weir_slice_trim(fields[i].value);
        refusal = note_field(&facts, &fields[i]);
    }
    if (refusal == WEIR_HTTP1_REFUSED_NONE)
        refusal = check_lengths(head, &facts);
    if (refusal == WEIR_HTTP1_REFUSED_NONE && kind == WEIR_HTTP1_REQUEST)
        refusal = check_request(head, &facts);
    if (refusal != WEIR_HTTP1_REFUSED_NONE)
        return refusal;

    head->fields = fields;
    head->field_count = count;
    head->framing = framing_of(head, kind, &facts);
    head->content_length = facts.length;
    head->keep_alive =
        head->framing != WEIR_HTTP1_FRAMED_EOF && !facts.close && (head->minor >= 1 || facts.keep);
    head->expects_continue = facts.expects && head->minor >= 1 && head->framing != WEIR_HTTP1_FRAMED_NONE &&
                             (head->framing == WEIR_HTTP1_FRAMED_CHUNKED || head->content_length > 0);
    return WEIR_HTTP1_REFUSED_NONE;
}
