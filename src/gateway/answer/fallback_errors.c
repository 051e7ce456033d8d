/*
 * One list serves both: in a header it must be ASCII in one line, so what is not is escaped there, which JSON
 * allows for every character.
 */
#include "gateway/answer/fallback_errors.h"

#include "base/slice.h"
#include "config/config.h"
#include "gateway/answer/headers.h"
#include "gateway/attempt/upcall.h"
#include "gateway/job.h"
#include "gateway/setup.h"
#include "gateway/worker.h"
#include "wire/json_write.h"

enum { ERRORS_MAX = 10, MESSAGE_MAX = 500, LIST_MAX = 16 * 1024, EVENT_MAX = 32 * 1024 };

static bool wanted(const struct weir_job *job, const struct weir_summary *summary)
{
    return job->asked.include_fallback_errors && summary->failure_count > 0 &&
           job->setup->config->settings.expose_fallback_errors;
}

/* Latest first. */
static void put_list(struct weir_job *job, const struct weir_summary *summary,
                     struct weir_json_writer *writer)
{
    size_t left = summary->failure_count < ERRORS_MAX ? summary->failure_count : ERRORS_MAX;
    struct weir_error_reply error;

    weir_json_open(writer, '[');
    for (size_t i = summary->failure_count; left > 0; i--, left--) {
        if (weir_fail_hop_error(&summary->failures[i - 1], job->failed, &job->arena, &error) != 0)
            continue;
        error.message = weir_slice_sub(error.message, 0, MESSAGE_MAX);
        error.inner_error = WEIR_SLICE_EMPTY;
        weir_error_put(&error, writer);
    }
    weir_json_close(writer, ']');
}

/* The code point at the front of text, which is valid UTF-8 as the JSON writer makes it. */
static uint32_t code_point(struct weir_slice text, size_t *ret_len)
{
    unsigned char lead = (unsigned char)text.ptr[0];
    size_t len = lead < 0x80 ? 1 : lead < 0xe0 ? 2 : lead < 0xf0 ? 3 : 4;
    uint32_t point = len == 1 ? lead : lead & (0x7fU >> len);

    for (size_t i = 1; i < len && i < text.len; i++)
        point = point << 6 | ((unsigned char)text.ptr[i] & 0x3f);
    *ret_len = len < text.len ? len : text.len;
    return point;
}

static int put_unit(struct weir_buf *buf, uint32_t unit)
{
    char text[6] = {'\\', 'u'};

    for (unsigned i = 0; i < 4; i++)
        text[5 - i] = "0123456789abcdef"[unit >> (4 * i) & 15];
    return weir_buf_append(buf, (struct weir_slice){text, sizeof(text)});
}

static int put_ascii(struct weir_buf *buf, struct weir_slice json)
{
    int r = 0;

    while (json.len > 0 && r == 0) {
        size_t len;
        uint32_t point = code_point(json, &len);

        if (point < 0x7f) {
            r = weir_buf_append(buf, weir_slice_sub(json, 0, 1));
        } else if (point < 0x10000) {
            r = put_unit(buf, point);
        } else {
            r = put_unit(buf, 0xd800 + ((point - 0x10000) >> 10));
            if (r == 0)
                r = put_unit(buf, 0xdc00 + ((point - 0x10000) & 0x3ff));
        }
        json = weir_slice_sub(json, len, json.len);
    }
    return r;
}

int weir_fallback_errors_line(struct weir_job *job, const struct weir_summary *summary,
                              struct weir_buf *lines)
{
    struct weir_json_writer writer;
    struct weir_buf list;
    int r;

    if (!wanted(job, summary))
        return 0;
    weir_buf_init(&list, weir_arena_mem(&job->arena), LIST_MAX);
    weir_json_writer_init(&writer, &list);
    put_list(job, summary, &writer);
    r = weir_json_writer_end(&writer);
    if (r == 0)
        r = weir_buf_append(lines, WEIR_SLICE("x-litellm-fallback-errors: "));
    if (r == 0)
        r = put_ascii(lines, weir_buf_slice(&list));
    return r == 0 ? weir_buf_append(lines, WEIR_SLICE("\r\n")) : r;
}

struct weir_slice weir_fallback_errors_event(struct weir_job *job, const struct weir_summary *summary)
{
    struct weir_json_writer writer;
    struct weir_buf event;

    if (!wanted(job, summary))
        return WEIR_SLICE_EMPTY;
    weir_buf_init(&event, weir_arena_mem(&job->arena), EVENT_MAX);
    if (weir_buf_append(&event, WEIR_SLICE("data: ")) < 0)
        return WEIR_SLICE_EMPTY;
    weir_json_writer_init(&writer, &event);
    weir_json_open(&writer, '{');
    weir_json_put_key(&writer, WEIR_SLICE("choices"));
    weir_json_put_raw(&writer, WEIR_SLICE("[]"));
    weir_json_put_key(&writer, WEIR_SLICE("litellm_fallback"));
    weir_json_open(&writer, '{');
    weir_json_put_key(&writer, WEIR_SLICE("fallback_model"));
    weir_json_put_string(&writer, summary->group);
    weir_json_put_key(&writer, WEIR_SLICE("errors"));
    put_list(job, summary, &writer);
    weir_json_close(&writer, '}');
    weir_json_close(&writer, '}');
    if (weir_json_writer_end(&writer) < 0 || weir_buf_append(&event, WEIR_SLICE("\n\n")) < 0)
        return WEIR_SLICE_EMPTY;
    return weir_buf_slice(&event);
}
