/*
 * Two passes, each over bytes that are in the cache: first the end of the event is looked for, with a state
 * of three flags that survives any cut of the input; then the lines of the whole event are read.  So an event
 * that came in one piece is never copied, and the reading of lines knows nothing of cuts.
 */
#include "wire/sse.h"

#include <assert.h>

#include <weir/error.h>

#include "base/slice.h"

void weir_sse_init(struct weir_sse *sse, const struct weir_mem *mem, size_t max_event_bytes)
{
    *sse = (struct weir_sse){.max_event_bytes = max_event_bytes};
    weir_buf_init(&sse->held, mem, max_event_bytes);
    weir_buf_init(&sse->joined, mem, max_event_bytes);
}

void weir_sse_deinit(struct weir_sse *sse)
{
    weir_buf_deinit(&sse->held);
    weir_buf_deinit(&sse->joined);
}

/* Position of the first CR or LF, or the length. */
static size_t find_line_end(struct weir_slice s)
{
    size_t lf = weir_slice_find_char(s, '\n');
    size_t cr;

    if (lf == WEIR_SLICE_NONE)
        lf = s.len;
    cr = weir_slice_find_char(weir_slice_sub(s, 0, lf), '\r');
    return cr == WEIR_SLICE_NONE ? lf : cr;
}

/* The position behind the empty line that ends the event, or WEIR_SLICE_NONE when more is needed. */
static size_t find_event_end(struct weir_sse *sse, struct weir_slice input)
{
    size_t at = 0;

    while (at < input.len) {
        struct weir_slice rest = weir_slice_sub(input, at, input.len);
        size_t line = find_line_end(rest);
        bool completes_crlf = sse->after_cr && input.ptr[at] == '\n', empty;

        sse->lone_cr |= sse->after_cr && !completes_crlf;
        sse->after_cr = false;
        if (line == rest.len) {
            sse->in_line = true;
            return WEIR_SLICE_NONE;
        }
        at += line + 1;
        if (completes_crlf)
            continue;
        empty = line == 0 && !sse->in_line;
        sse->in_line = false;
        if (input.ptr[at - 1] == '\r') {
            sse->after_cr = at == input.len;
            if (at < input.len && input.ptr[at] == '\n')
                at++;
            else
                sse->lone_cr |= at < input.len;
        }
        if (empty)
            return at;
    }
    return WEIR_SLICE_NONE;
}

/* Takes the next line, without its end, off the front. */
static struct weir_slice next_line(struct weir_slice *rest)
{
    size_t end = find_line_end(*rest), next = end + 1;
    struct weir_slice line = weir_slice_sub(*rest, 0, end);

    assert(rest->ptr != NULL); /* rest is not empty */
    if (next < rest->len && rest->ptr[end] == '\r' && rest->ptr[next] == '\n')
        next++;
    *rest = weir_slice_sub(*rest, next, rest->len);
    return line;
}

static struct weir_slice value_of(struct weir_slice line, size_t colon)
{
    if (colon == WEIR_SLICE_NONE)
        return WEIR_SLICE_EMPTY;
    colon += colon + 1 < line.len && line.ptr[colon + 1] == ' ';
    return weir_slice_sub(line, colon + 1, line.len);
}

static int add_data(struct weir_sse *sse, struct weir_sse_event *event, struct weir_slice value)
{
    int r;

    if (!event->has_data) {
        event->has_data = true;
        event->data = value;
        return 0;
    }
    if (weir_buf_len(&sse->joined) == 0) {
        r = weir_buf_append(&sse->joined, event->data);
        if (r < 0)
            return r;
    }
    r = weir_buf_append(&sse->joined, WEIR_SLICE("\n"));
    if (r == 0)
        r = weir_buf_append(&sse->joined, value);
    event->data = weir_buf_slice(&sse->joined);
    return r;
}

static void add_other(struct weir_sse_event *event, struct weir_slice line)
{
    if (event->other.len == 0)
        event->other = line;
    else
        event->other.len = (size_t)(line.ptr + line.len - event->other.ptr);
}

static int read_line(struct weir_sse *sse, struct weir_sse_event *event, struct weir_slice line)
{
    size_t colon = weir_slice_find_char(line, ':');
    struct weir_slice name = weir_slice_sub(line, 0, colon);

    if (line.len == 0 || colon == 0)
        return 0;
    if (weir_slice_eq(name, WEIR_SLICE("data")))
        return add_data(sse, event, value_of(line, colon));
    if (weir_slice_eq(name, WEIR_SLICE("event")))
        event->name = value_of(line, colon);
    else if (weir_slice_eq(name, WEIR_SLICE("id")))
        event->id = value_of(line, colon);
    else if (!weir_slice_eq(name, WEIR_SLICE("retry")))
        add_other(event, line);
    return 0;
}

static struct weir_slice without_mark(struct weir_sse *sse, struct weir_slice raw)
{
    const struct weir_slice mark = WEIR_SLICE("\xef\xbb\xbf");

    if (sse->started || !weir_slice_starts(raw, mark))
        return raw;
    return weir_slice_sub(raw, mark.len, raw.len);
}

static int tell(struct weir_sse *sse, struct weir_slice raw, struct weir_sse_event *ret_event)
{
    struct weir_slice rest = without_mark(sse, raw);
    struct weir_sse_event event = {.raw = rest, .lone_cr = sse->lone_cr};
    int r = 0;

    sse->started = true;
    while (rest.len > 0 && r == 0)
        r = read_line(sse, &event, next_line(&rest));
    if (r < 0)
        return r;
    *ret_event = event;
    return WEIR_SSE_EVENT;
}

static void forget_told(struct weir_sse *sse)
{
    weir_buf_clear(&sse->joined);
    if (sse->told_held)
        weir_buf_clear(&sse->held);
    sse->told_held = false;
}

int weir_sse_next(struct weir_sse *sse, struct weir_slice *input, struct weir_sse_event *ret_event)
{
    struct weir_slice part = *input;
    size_t end;
    int r;

    forget_told(sse);
    end = find_event_end(sse, *input);
    part = weir_slice_sub(part, 0, end);
    if (part.len > sse->max_event_bytes - weir_buf_len(&sse->held))
        return WEIR_SSE_TOO_LONG;
    *input = weir_slice_sub(*input, part.len, input->len);
    if (end != WEIR_SLICE_NONE && weir_buf_len(&sse->held) == 0)
        return tell(sse, part, ret_event);
    r = weir_buf_append(&sse->held, part);
    if (r < 0)
        return r;
    if (end == WEIR_SLICE_NONE)
        return 0;
    sse->told_held = true;
    return tell(sse, weir_buf_slice(&sse->held), ret_event);
}

int weir_sse_finish(struct weir_sse *sse, struct weir_sse_event *ret_event)
{
    forget_told(sse);
    if (weir_buf_len(&sse->held) == 0)
        return 0;
    sse->told_held = true;
    return tell(sse, weir_buf_slice(&sse->held), ret_event);
}

int weir_sse_write_json(struct weir_buf *out, const struct weir_slice *parts, size_t count)
{
    int r = weir_buf_append(out, WEIR_SLICE("data: "));
    size_t from = weir_buf_len(out);

    if (r == 0)
        r = weir_buf_append_all(out, parts, count);
    /* JSON has line ends between its tokens alone. */
    for (size_t i = out->start + from; i < out->end; i++)
        if (out->ptr[i] == '\n' || out->ptr[i] == '\r')
            out->ptr[i] = ' ';
    return r == 0 ? weir_buf_append(out, WEIR_SLICE("\n\n")) : r;
}
