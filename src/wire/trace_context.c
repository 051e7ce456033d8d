/* The layout is fixed: two digits of version, 32 of the trace, 16 of the span, two of flags, with '-'
 * between. */
#include "wire/trace_context.h"

#include "base/slice.h"
#include "base/text.h"

enum { VERSION_AT = 0, TRACE_AT = 3, SPAN_AT = 36, FLAGS_AT = 53 };

/* Reads up to sixteen lower-case digits. */
static bool read_hex(const char *digits, size_t count, uint64_t *ret_number)
{
    uint64_t number = 0;

    for (size_t i = 0; i < count; i++) {
        char c = digits[i];

        if (c >= '0' && c <= '9')
            number = number << 4 | (uint64_t)(c - '0');
        else if (c >= 'a' && c <= 'f')
            number = number << 4 | (uint64_t)(c - 'a' + 10);
        else
            return false;
    }
    *ret_number = number;
    return true;
}

/* Version 00 ends with its flags, a later one may go on behind another '-'. */
static bool has_the_form(struct weir_slice value)
{
    if (value.len < WEIR_TRACEPARENT_LEN || value.ptr[TRACE_AT - 1] != '-' || value.ptr[SPAN_AT - 1] != '-' ||
        value.ptr[FLAGS_AT - 1] != '-')
        return false;
    if (value.len == WEIR_TRACEPARENT_LEN)
        return true;
    return value.ptr[WEIR_TRACEPARENT_LEN] == '-' &&
           !weir_slice_starts(value, WEIR_SLICE("00")); /* which has nothing more */
}

int weir_traceparent_parse(struct weir_slice value, struct weir_trace_context *ret_context)
{
    struct weir_trace_context context;
    uint64_t version, flags;

    if (!has_the_form(value) || !read_hex(value.ptr + VERSION_AT, 2, &version) ||
        !read_hex(value.ptr + TRACE_AT, 16, &context.trace_high) ||
        !read_hex(value.ptr + TRACE_AT + 16, 16, &context.trace_low) ||
        !read_hex(value.ptr + SPAN_AT, 16, &context.span) || !read_hex(value.ptr + FLAGS_AT, 2, &flags))
        return WEIR_TRACE_BAD;
    if (version == 0xff || (context.trace_high | context.trace_low) == 0 || context.span == 0)
        return WEIR_TRACE_BAD;
    context.flags = (uint8_t)(flags & (WEIR_TRACE_SAMPLED | WEIR_TRACE_RANDOM));
    *ret_context = context;
    return 0;
}

struct weir_slice weir_trace_id_write(const struct weir_trace_context *context, char room[WEIR_TRACE_ID_LEN])
{
    (void)weir_text_hex64(context->trace_high, room);
    (void)weir_text_hex64(context->trace_low, room + WEIR_TEXT_HEX64_MAX);
    return (struct weir_slice){room, WEIR_TRACE_ID_LEN};
}

struct weir_slice weir_traceparent_write(const struct weir_trace_context *context,
                                         char room[WEIR_TRACEPARENT_LEN])
{
    room[0] = '0';
    room[1] = '0';
    room[TRACE_AT - 1] = '-';
    (void)weir_trace_id_write(context, room + TRACE_AT);
    room[SPAN_AT - 1] = '-';
    (void)weir_text_hex64(context->span, room + SPAN_AT);
    room[FLAGS_AT - 1] = '-';
    room[FLAGS_AT] = '0';
    room[FLAGS_AT + 1] = (char)('0' + (context->flags & (WEIR_TRACE_SAMPLED | WEIR_TRACE_RANDOM)));
    return (struct weir_slice){room, WEIR_TRACEPARENT_LEN};
}

bool weir_tracestate_ok(struct weir_slice value)
{
    if (value.len > WEIR_TRACESTATE_MAX)
        return false;
    for (size_t i = 0; i < value.len; i++)
        if ((value.ptr[i] < ' ' && value.ptr[i] != '\t') || value.ptr[i] > '~')
            return false;
    return true;
}
