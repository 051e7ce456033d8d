/* Whatever the text, it is no context or a valid one that is read back as it is written. */
#include <stdint.h>
#include <stdlib.h>

#include "base/slice.h"
#include "wire/trace_context.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct weir_slice text = {(const char *)data, size};
    struct weir_trace_context context, back;
    char room[WEIR_TRACEPARENT_LEN];

    if (weir_tracestate_ok(text) && size > WEIR_TRACESTATE_MAX)
        abort();
    if (weir_traceparent_parse(text, &context) != 0)
        return 0;
    if ((context.trace_high | context.trace_low) == 0 || context.span == 0 ||
        (context.flags & ~(WEIR_TRACE_SAMPLED | WEIR_TRACE_RANDOM)) != 0)
        abort();
    if (weir_traceparent_parse(weir_traceparent_write(&context, room), &back) != 0 ||
        back.trace_high != context.trace_high || back.trace_low != context.trace_low ||
        back.span != context.span || back.flags != context.flags)
        abort();
    return 0;
}
