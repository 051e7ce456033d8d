/*
 * A message is gathered, parsed and told in phases: HEAD (lines are copied to the buffer and looked at byte
 * by byte as they come, so that rubbish is refused at its first byte), BODY (llhttp runs over the input where
 * it lies), and DONE or BAD, in which nothing is taken any more.
 *
 * Invariants: the buffer holds whole lines of one head and at most one line that is not whole, the
 * last line_bytes of it; head's slices point into the buffer, which does not grow after the head is parsed;
 * no more than the head is ever copied from the input.
 */
#include "wire/http1_read.h"

#include <weir/error.h>

#include "base/slice.h"
#include "wire/http1_head.h"
#include "wire/http1_llhttp.h"
#include "wire/http_field.h"

enum { PHASE_HEAD, PHASE_BODY, PHASE_DONE, PHASE_BAD };

enum {
    FIRST_FIELDS = 32,
    MAX_SKIPPED_LINES = 4,
    MAX_SKIPPED_HEADS = 16,
    MAX_CHUNK_LINE_BYTES = 512,
    /* Of a start line, beside the target. */
    MAX_START_LINE_EXTRA_BYTES = 64,
};

/* A result of the phases beside the public conditions: go on with what is left of the input. */
enum { AGAIN = WEIR_HTTP1_BAD + 1 };

void weir_http1_reader_init(struct weir_http1_reader *reader, enum weir_http1_kind kind,
                            const struct weir_mem *mem, struct weir_http1_limits limits)
{
    *reader = (struct weir_http1_reader){.mem = mem, .limits = limits, .kind = kind};
    weir_buf_init(&reader->bytes, mem, limits.max_head_bytes);
}

static void free_fields(struct weir_http1_reader *r)
{
    if (r->fields != NULL)
        r->mem->free(r->mem->user, r->fields, r->field_cap * sizeof(*r->fields));
    r->fields = NULL;
    r->field_cap = 0;
}

void weir_http1_reader_deinit(struct weir_http1_reader *reader)
{
    free_fields(reader);
    weir_buf_deinit(&reader->bytes);
}

static void forget_head(struct weir_http1_reader *r)
{
    weir_buf_clear(&r->bytes);
    r->head = (struct weir_http1_head){0};
    r->phase = PHASE_HEAD;
    r->line_bytes = 0;
    r->line_count = 0;
    r->framing_bytes = 0;
    r->after_cr = false;
    r->whole = false;
    r->in_data = false;
    r->in_trailers = false;
}

void weir_http1_reader_next(struct weir_http1_reader *reader, enum weir_http1_kind kind)
{
    forget_head(reader);
    reader->kind = kind;
    reader->skipped = 0;
    reader->refusal = WEIR_HTTP1_REFUSED_NONE;
}

void weir_http1_reader_release(struct weir_http1_reader *reader)
{
    weir_http1_reader_next(reader, reader->kind);
    weir_http1_reader_deinit(reader);
}

static int refuse(struct weir_http1_reader *r, enum weir_http1_refusal refusal)
{
    r->phase = PHASE_BAD;
    r->refusal = refusal;
    return WEIR_HTTP1_BAD;
}

/* Text of a line, which may go on. */
static enum weir_http1_refusal take_text(struct weir_http1_reader *r, const char *text, size_t len)
{
    if (len == 0)
        return WEIR_HTTP1_REFUSED_NONE;
    if (r->line_bytes == 0)
        r->line_first = text[0];
    r->line_bytes += len;
    if (r->kind == WEIR_HTTP1_REQUEST && r->line_count == 0 &&
        r->line_bytes > r->limits.max_target_bytes + MAX_START_LINE_EXTRA_BYTES)
        return WEIR_HTTP1_REFUSED_LONG_TARGET;
    return WEIR_HTTP1_REFUSED_NONE;
}

static enum weir_http1_refusal end_line(struct weir_http1_reader *r, bool *ret_empty)
{
    *ret_empty = r->line_bytes == 0;
    if (*ret_empty)
        return WEIR_HTTP1_REFUSED_NONE;
    if (r->line_count > 0 && (r->line_first == ' ' || r->line_first == '\t'))
        return WEIR_HTTP1_REFUSED_FOLDED;
    if (r->line_count > r->limits.max_fields)
        return WEIR_HTTP1_REFUSED_MANY_FIELDS;
    r->line_count++;
    r->line_bytes = 0;
    return WEIR_HTTP1_REFUSED_NONE;
}

/* CR and LF come only as a pair, and no control character but the tab has a place in a head. */
static enum weir_http1_refusal take_control(struct weir_http1_reader *r, const char **p, const char *end,
                                            bool *ret_empty)
{
    const char *at = (*p)++;
    bool after_cr = r->after_cr;

    if (!after_cr && *at == '\r' && *p < end && **p == '\n') { /* mostly the whole pair is there */
        (*p)++;
        return end_line(r, ret_empty);
    }
    r->after_cr = !after_cr && *at == '\r';
    if (after_cr != (*at == '\n'))
        return WEIR_HTTP1_REFUSED_BAD_LINE_END;
    if (after_cr)
        return end_line(r, ret_empty);
    if (*at == '\r')
        return WEIR_HTTP1_REFUSED_NONE;
    return *at == '\t' ? take_text(r, at, 1) : WEIR_HTTP1_REFUSED_BAD_CHARACTER;
}

/* Most fields come as whole lines of plain text: passes over those, and leaves every other line to the rules
 * above.  p is at the beginning of a line. */
static const char *skip_plain_lines(struct weir_http1_reader *r, const char *p, const char *end)
{
    size_t count = r->line_count, max = r->limits.max_fields;

    while (count > 0 && count <= max && p<end && * p> ' ') {
        const char *at = weir_http_find_control(p, end);

        if (end - at < 2 || at[0] != '\r' || at[1] != '\n')
            break;
        count++;
        p = at + 2;
    }
    r->line_count = count;
    return p;
}

/* Looks at bytes up to the end of an empty line, which *ret_empty says was met; *ret_taken is how many. */
static enum weir_http1_refusal scan_lines(struct weir_http1_reader *r, struct weir_slice bytes,
                                          size_t *ret_taken, bool *ret_empty)
{
    const char *p = bytes.ptr, *end = p + bytes.len;
    enum weir_http1_refusal refusal = WEIR_HTTP1_REFUSED_NONE;

    *ret_empty = false;
    while (p < end && !*ret_empty && refusal == WEIR_HTTP1_REFUSED_NONE) {
        const char *at;

        if (r->line_bytes == 0 && !r->after_cr)
            p = skip_plain_lines(r, p, end);
        at = r->after_cr ? p : weir_http_find_control(p, end);
        refusal = take_text(r, p, (size_t)(at - p));
        if (refusal == WEIR_HTTP1_REFUSED_NONE && at < end)
            refusal = take_control(r, &at, end, ret_empty);
        p = at;
    }
    *ret_taken = (size_t)(p - bytes.ptr);
    return refusal;
}

static int make_room_for_fields(struct weir_http1_reader *r)
{
    size_t cap = r->field_cap == 0 ? FIRST_FIELDS : r->field_cap;
    struct weir_http1_field *fields;

    while (cap < r->line_count)
        cap *= 2;
    if (cap == r->field_cap)
        return 0;
    fields = r->mem->alloc(r->mem->user, cap * sizeof(*fields));
    if (fields == NULL)
        return WEIR_ERR_NOMEM;
    free_fields(r);
    r->fields = fields;
    r->field_cap = cap;
    return 0;
}

static struct weir_slice start_line(const struct weir_http1_reader *r)
{
    struct weir_slice bytes = weir_buf_slice(&r->bytes);

    return weir_slice_sub(bytes, 0, weir_slice_find_char(bytes, '\r'));
}

static enum weir_http1_refusal parse_head(struct weir_http1_reader *r)
{
    enum weir_http1_refusal refusal = weir_http1_head_start(&r->head, r->kind, start_line(r));

    if (refusal == WEIR_HTTP1_REFUSED_NONE && r->head.target.len > r->limits.max_target_bytes)
        refusal = WEIR_HTTP1_REFUSED_LONG_TARGET;
    if (refusal == WEIR_HTTP1_REFUSED_NONE)
        refusal = weir_http1_llhttp_head(r, weir_buf_slice(&r->bytes));
    if (refusal == WEIR_HTTP1_REFUSED_NONE)
        refusal = weir_http1_head_fields(&r->head, r->kind, r->fields, r->head.field_count);
    if (refusal == WEIR_HTTP1_REFUSED_NONE && r->head.status == 101)
        refusal = WEIR_HTTP1_REFUSED_SWITCHED;
    return refusal;
}

static int end_head(struct weir_http1_reader *r)
{
    enum weir_http1_refusal refusal;
    int e = make_room_for_fields(r);

    if (e < 0)
        return e;
    refusal = parse_head(r);
    if (refusal != WEIR_HTTP1_REFUSED_NONE)
        return refuse(r, refusal);
    if (r->head.status / 100 == 1) {
        forget_head(r);
        return ++r->skipped > MAX_SKIPPED_HEADS ? refuse(r, WEIR_HTTP1_REFUSED_MANY_HEADS) : AGAIN;
    }
    r->phase = PHASE_BODY;
    return WEIR_HTTP1_HEAD;
}

/* RFC 9112 2.2: a server passes over empty lines before a request. */
static int skip_empty_line(struct weir_http1_reader *r)
{
    if (r->kind != WEIR_HTTP1_REQUEST || ++r->skipped > MAX_SKIPPED_LINES)
        return refuse(r, WEIR_HTTP1_REFUSED_BAD_START);
    forget_head(r);
    return AGAIN;
}

/* Takes bytes up to the end of the head, or of an empty line before it. */
static int gather(struct weir_http1_reader *r, struct weir_slice *input)
{
    size_t left = r->limits.max_head_bytes - weir_buf_len(&r->bytes), taken;
    struct weir_slice part = {input->ptr, input->len < left ? input->len : left};
    enum weir_http1_refusal refusal;
    bool empty;
    int e;

    refusal = scan_lines(r, part, &taken, &empty);
    if (refusal == WEIR_HTTP1_REFUSED_NONE && !empty && part.len < input->len)
        refusal = WEIR_HTTP1_REFUSED_LONG_HEAD;
    if (refusal != WEIR_HTTP1_REFUSED_NONE)
        return refuse(r, refusal);
    e = weir_buf_append(&r->bytes, weir_slice_sub(part, 0, taken));
    if (e < 0)
        return e;
    *input = weir_slice_sub(*input, taken, input->len);
    if (!empty)
        return AGAIN;
    return r->line_count == 0 ? skip_empty_line(r) : end_head(r);
}

static int read_head(struct weir_http1_reader *r, struct weir_slice *input)
{
    int result = AGAIN;

    while (result == AGAIN && input->len > 0)
        result = gather(r, input);
    return result == AGAIN ? 0 : result;
}

/* How many bytes the current chunk's line, or the trailers, may still have; no limit in the body itself. */
static size_t framing_left(const struct weir_http1_reader *r)
{
    if (r->head.framing != WEIR_HTTP1_FRAMED_CHUNKED || r->in_data)
        return SIZE_MAX;
    return (r->in_trailers ? r->limits.max_head_bytes : MAX_CHUNK_LINE_BYTES) - r->framing_bytes;
}

static enum weir_http1_refusal run_llhttp(struct weir_http1_reader *r, struct weir_slice *input)
{
    size_t left = framing_left(r);
    struct weir_slice part = {input->ptr, input->len < left ? input->len : left};
    enum weir_http1_refusal refusal;
    size_t taken;

    if (left == 0 && input->len > 0)
        return r->in_trailers ? WEIR_HTTP1_REFUSED_LONG_TRAILERS : WEIR_HTTP1_REFUSED_LONG_CHUNK_LINE;
    taken = part.len;
    refusal = weir_http1_llhttp_body(r, &part);
    taken -= part.len;
    *input = weir_slice_sub(*input, taken, input->len);
    if (left != SIZE_MAX)
        r->framing_bytes = r->at_chunk ? 0 : r->framing_bytes + taken;
    return refusal;
}

/* One run of llhttp: 0 (nothing to tell), BODY or BAD. */
static int run_body(struct weir_http1_reader *r, struct weir_slice *input, struct weir_slice *ret_body)
{
    enum weir_http1_refusal refusal;

    r->body = WEIR_SLICE_EMPTY;
    refusal = run_llhttp(r, input);
    if (refusal != WEIR_HTTP1_REFUSED_NONE)
        refuse(r, refusal);
    if (r->body.len > 0) {
        *ret_body = r->body;
        return WEIR_HTTP1_BODY;
    }
    return r->phase == PHASE_BAD ? WEIR_HTTP1_BAD : 0;
}

static int read_body(struct weir_http1_reader *r, struct weir_slice *input, struct weir_slice *ret_body)
{
    int result = 0;

    while (result == 0 && !r->whole) {
        size_t before = input->len;

        result = run_body(r, input, ret_body);
        if (before == 0)
            break;
    }
    if (result != 0 || !r->whole)
        return result;
    r->phase = PHASE_DONE;
    return WEIR_HTTP1_DONE;
}

int weir_http1_read(struct weir_http1_reader *reader, struct weir_slice *input, struct weir_slice *ret_body)
{
    switch (reader->phase) {
    case PHASE_HEAD:
        return read_head(reader, input);
    case PHASE_BODY:
        return read_body(reader, input, ret_body);
    case PHASE_DONE:
        return WEIR_HTTP1_DONE;
    default:
        return WEIR_HTTP1_BAD;
    }
}

int weir_http1_finish(struct weir_http1_reader *reader)
{
    switch (reader->phase) {
    case PHASE_HEAD:
        return weir_http1_reader_idle(reader) ? 0 : refuse(reader, WEIR_HTTP1_REFUSED_TRUNCATED);
    case PHASE_BODY:
        if (!reader->whole && reader->head.framing != WEIR_HTTP1_FRAMED_EOF)
            return refuse(reader, WEIR_HTTP1_REFUSED_TRUNCATED);
        reader->phase = PHASE_DONE;
        return WEIR_HTTP1_DONE;
    case PHASE_DONE:
        return WEIR_HTTP1_DONE;
    default:
        return WEIR_HTTP1_BAD;
    }
}

bool weir_http1_reader_idle(const struct weir_http1_reader *reader)
{
    return reader->phase == PHASE_HEAD && weir_buf_len(&reader->bytes) == 0 &&
           (reader->skipped == 0 || reader->kind == WEIR_HTTP1_REQUEST);
}

unsigned weir_http1_refusal_status(enum weir_http1_refusal refusal)
{
    static const unsigned short statuses[] = {
        [WEIR_HTTP1_REFUSED_NONE] = 200,
#define X(name, status, text) [WEIR_HTTP1_REFUSED_##name] = (status),
#include "wire/tbl/http1_refusals.h"
#undef X
    };

    return statuses[refusal];
}

struct weir_slice weir_http1_refusal_text(enum weir_http1_refusal refusal)
{
    static const struct weir_slice texts[] = {
        [WEIR_HTTP1_REFUSED_NONE] = WEIR_SLICE_INIT("nothing is wrong"),
#define X(name, status, text) [WEIR_HTTP1_REFUSED_##name] = WEIR_SLICE_INIT(text),
#include "wire/tbl/http1_refusals.h"
#undef X
    };

    return texts[refusal];
}

const struct weir_http1_field *weir_http1_find(const struct weir_http1_head *head, struct weir_slice name)
{
    for (size_t i = 0; i < head->field_count; i++)
        if (weir_slice_eq_ci(head->fields[i].name, name))
            return &head->fields[i];
    return NULL;
}

struct weir_slice weir_http1_value(const struct weir_http1_head *head, struct weir_slice name)
{
    const struct weir_http1_field *field = weir_http1_find(head, name);

    return field == NULL ? WEIR_SLICE_EMPTY : field->value;
}
