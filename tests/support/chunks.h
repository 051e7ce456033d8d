/*
 * An input cut at random points, for parsers that must not care where their input is cut.
 *
 * Each piece is a block of its own of exactly its size, and goes when the next one is asked for: a read past
 * its end, or of a slice whose loan is over, is seen by the sanitizers.
 */
#ifndef TEST_CHUNKS_H
#define TEST_CHUNKS_H

#include <stdbool.h>
#include <stddef.h>

#include <weir/slice.h>

#include "base/rand.h"

struct chunks {
    struct weir_slice rest;
    struct weir_rand *rand; /* NULL: pieces of max_bytes each */
    size_t max_bytes;
    char *block;
};

/* Pieces of 1 to max_bytes bytes. */
void chunks_init(struct chunks *chunks, struct weir_slice input, struct weir_rand *rand, size_t max_bytes);

/* The next piece; false at the end. */
bool chunks_next(struct chunks *chunks, struct weir_slice *ret_piece);

/* Frees the last piece. */
void chunks_deinit(struct chunks *chunks);

#endif
