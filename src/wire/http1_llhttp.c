/*
 * The head comes in one piece, so every span callback is told whole tokens; those of a field arrive as name,
 * value, name, value.  In the body llhttp is stopped behind each chunk's line, so that the line's length can
 * be bounded (llhttp bounds neither leading zeros nor extensions), and behind each chunk, so that a run of
 * llhttp gives at most one piece.
 */
#include "wire/http1_llhttp.h"

#include <string.h>

static struct weir_http1_reader *reader_of(llhttp_t *parser)
{
    return parser->data;
}

/* Trailers are checked by llhttp and dropped: the head was told long ago. */
static int on_name(llhttp_t *parser, const char *at, size_t len)
{
    struct weir_http1_reader *r = reader_of(parser);

    if (r->in_trailers)
        return 0;
    if (!r->in_name) {
        if (r->head.field_count == r->field_cap)
            return HPE_USER;
        r->fields[r->head.field_count++] = (struct weir_http1_field){{at, 0}, WEIR_SLICE_EMPTY};
        r->in_name = true;
    }
    r->fields[r->head.field_count - 1].name.len += len;
    return 0;
}

static int on_value(llhttp_t *parser, const char *at, size_t len)
{
    struct weir_http1_reader *r = reader_of(parser);
    struct weir_slice *value;

    if (r->in_trailers || r->head.field_count == 0)
        return 0;
    r->in_name = false;
    value = &r->fields[r->head.field_count - 1].value;
    if (value->ptr == NULL)
        value->ptr = at;
    value->len += len;
    return 0;
}

/* A value may be empty and is then not told. */
static int on_value_complete(llhttp_t *parser)
{
    reader_of(parser)->in_name = false;
    return 0;
}

static int on_headers_complete(llhttp_t *parser)
{
    const struct weir_http1_reader *r = reader_of(parser);
    bool tunnel = r->kind == WEIR_HTTP1_RESPONSE_TO_CONNECT && parser->status_code / 100 == 2;

    parser->upgrade = 0; /* else llhttp would take the body for another protocol */
    return r->kind == WEIR_HTTP1_RESPONSE_TO_HEAD || tunnel;
}

static int on_chunk_header(llhttp_t *parser)
{
    struct weir_http1_reader *r = reader_of(parser);

    r->at_chunk = true;
    r->in_trailers = parser->content_length == 0;
    r->in_data = !r->in_trailers;
    return HPE_PAUSED;
}

static int on_chunk_complete(llhttp_t *parser)
{
    struct weir_http1_reader *r = reader_of(parser);

    r->in_data = false;
    return r->in_trailers ? 0 : HPE_PAUSED;
}

static int on_body(llhttp_t *parser, const char *at, size_t len)
{
    reader_of(parser)->body = (struct weir_slice){at, len};
    return 0;
}

static int on_message_complete(llhttp_t *parser)
{
    reader_of(parser)->whole = true;
    return HPE_PAUSED;
}

static const llhttp_settings_t settings = {
    .on_header_field = on_name,
    .on_header_value = on_value,
    .on_header_value_complete = on_value_complete,
    .on_headers_complete = on_headers_complete,
    .on_chunk_header = on_chunk_header,
    .on_chunk_complete = on_chunk_complete,
    .on_body = on_body,
    .on_message_complete = on_message_complete,
};

static enum weir_http1_refusal refusal_of(const llhttp_t *parser, llhttp_errno_t error)
{
    switch ((int)error) {
    case HPE_OK:
    case HPE_PAUSED:
        return WEIR_HTTP1_REFUSED_NONE;
    case HPE_INVALID_METHOD:
        return WEIR_HTTP1_REFUSED_BAD_METHOD;
    case HPE_INVALID_URL:
        return WEIR_HTTP1_REFUSED_BAD_TARGET;
    case HPE_INVALID_CONTENT_LENGTH: /* also of any length after a coding */
        return parser->flags & F_TRANSFER_ENCODING ? WEIR_HTTP1_REFUSED_TWO_LENGTHS
                                                   : WEIR_HTTP1_REFUSED_BAD_LENGTH;
    case HPE_UNEXPECTED_CONTENT_LENGTH:
        return WEIR_HTTP1_REFUSED_TWO_LENGTHS;
    case HPE_INVALID_TRANSFER_ENCODING:
        return parser->flags & F_CONTENT_LENGTH ? WEIR_HTTP1_REFUSED_TWO_LENGTHS
                                                : WEIR_HTTP1_REFUSED_BAD_CODING;
    default:
        return WEIR_HTTP1_REFUSED_BAD_FIELD;
    }
}

enum weir_http1_refusal weir_http1_llhttp_head(struct weir_http1_reader *reader, struct weir_slice bytes)
{
    llhttp_t *parser = &reader->parser;

    llhttp_init(parser, reader->kind == WEIR_HTTP1_REQUEST ? HTTP_REQUEST : HTTP_RESPONSE, &settings);
    parser->data = reader;
    reader->in_name = false;
    return refusal_of(parser, llhttp_execute(parser, bytes.ptr, bytes.len));
}

enum weir_http1_refusal weir_http1_llhttp_body(struct weir_http1_reader *reader, struct weir_slice *input)
{
    llhttp_t *parser = &reader->parser;
    const char *from = input->len == 0 ? "" : input->ptr, *to = from + input->len;
    llhttp_errno_t error;

    reader->at_chunk = false;
    if (llhttp_get_errno(parser) == HPE_PAUSED)
        llhttp_resume(parser);
    error = llhttp_execute(parser, from, input->len);
    if (error != HPE_OK && error != HPE_PAUSED)
        return WEIR_HTTP1_REFUSED_BAD_CHUNK;
    if (error == HPE_PAUSED)
        to = llhttp_get_error_pos(parser);
    input->ptr = input->len == 0 ? input->ptr : to;
    input->len -= (size_t)(to - from);
    return WEIR_HTTP1_REFUSED_NONE;
}
