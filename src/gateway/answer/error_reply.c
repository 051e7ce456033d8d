/* One writer serves bodies, events of streams, and the lists of include_fallback_errors. */
#include "gateway/answer/error_reply.h"

#include "base/text.h"

struct weir_slice weir_error_type(int status)
{
    if (status == 401)
        return WEIR_SLICE("authentication_error");
    if (status == 403)
        return WEIR_SLICE("permission_error");
    if (status == 429)
        return WEIR_SLICE("rate_limit_error");
    return status < 500 ? WEIR_SLICE("invalid_request_error") : WEIR_SLICE("internal_server_error");
}

static void put_text(struct weir_json_writer *writer, struct weir_slice key, struct weir_slice text)
{
    weir_json_put_key(writer, key);
    if (text.len == 0)
        weir_json_put_null(writer);
    else
        weir_json_put_string(writer, text);
}

void weir_error_put(const struct weir_error_reply *error, struct weir_json_writer *writer)
{
    char digits[WEIR_TEXT_U64_MAX];

    weir_json_open(writer, '{');
    weir_json_put_key(writer, WEIR_SLICE("message"));
    weir_json_put_string(writer, error->message);
    put_text(writer, WEIR_SLICE("type"), error->type);
    put_text(writer, WEIR_SLICE("param"), error->param);
    weir_json_put_key(writer, WEIR_SLICE("code"));
    weir_json_put_string(writer, weir_text_u64((uint64_t)error->status, digits));
    if (error->inner_error.len > 0) {
        weir_json_put_key(writer, WEIR_SLICE("provider_specific_fields"));
        weir_json_open(writer, '{');
        weir_json_put_key(writer, WEIR_SLICE("innererror"));
        weir_json_put_raw(writer, error->inner_error);
        weir_json_close(writer, '}');
    }
    if (error->call_id.len > 0)
        put_text(writer, WEIR_SLICE("litellm_call_id"), error->call_id);
    weir_json_close(writer, '}');
}

int weir_error_write(const struct weir_error_reply *error, struct weir_buf *buf)
{
    struct weir_json_writer writer;

    weir_json_writer_init(&writer, buf);
    weir_json_open(&writer, '{');
    weir_json_put_key(&writer, WEIR_SLICE("error"));
    weir_error_put(error, &writer);
    weir_json_close(&writer, '}');
    return weir_json_writer_end(&writer);
}

int weir_error_write_event(const struct weir_error_reply *error, struct weir_buf *buf)
{
    int r = weir_buf_append(buf, WEIR_SLICE("data: "));

    if (r == 0)
        r = weir_error_write(error, buf);
    if (r == 0)
        r = weir_buf_append(buf, WEIR_SLICE("\n\n"));
    return r;
}
