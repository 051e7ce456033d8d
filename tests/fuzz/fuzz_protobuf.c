/* Whatever the bytes, each field lies within them and reading comes to an end; messages are looked into. */
#include <stdint.h>
#include <stdlib.h>

#include "base/slice.h"
#include "wire/protobuf.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void walk(struct weir_slice message, unsigned depth)
{
    struct weir_protobuf_field field;
    size_t left = message.len;
    int r;

    while ((r = weir_protobuf_next(&message, &field)) == 0) {
        if (message.len >= left || field.number == 0 || field.bytes.len > left)
            abort();
        left = message.len;
        if (field.is_bytes && depth < 4)
            walk(field.bytes, depth + 1);
    }
    if (r == WEIR_PROTOBUF_END && message.len != 0)
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    walk((struct weir_slice){(const char *)data, size}, 0);
    return 0;
}
