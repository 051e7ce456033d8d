#include "fuzz_http1.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    fuzz_http1(WEIR_HTTP1_RESPONSE, data, size);
    return 0;
}
