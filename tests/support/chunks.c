#include "chunks.h"

#include <stdlib.h>
#include <string.h>

#include "base/slice.h"

void chunks_init(struct chunks *chunks, struct weir_slice input, struct weir_rand *rand, size_t max_bytes)
{
    *chunks = (struct chunks){input, rand, max_bytes, NULL};
}

bool chunks_next(struct chunks *chunks, struct weir_slice *ret_piece)
{
    size_t len = chunks->max_bytes;

    chunks_deinit(chunks);
    if (chunks->rest.len == 0)
        return false;
    if (chunks->rand != NULL)
        len = 1 + (size_t)weir_rand_below(chunks->rand, chunks->max_bytes);
    if (len > chunks->rest.len)
        len = chunks->rest.len;
    chunks->block = malloc(len);
    if (chunks->block == NULL)
        abort();
    memcpy(chunks->block, chunks->rest.ptr, len);
    chunks->rest = weir_slice_sub(chunks->rest, len, chunks->rest.len);
    *ret_piece = (struct weir_slice){chunks->block, len};
    return true;
}

void chunks_deinit(struct chunks *chunks)
{
    free(chunks->block);
    chunks->block = NULL;
}
