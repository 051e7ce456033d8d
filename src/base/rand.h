/*
 * A small seeded generator (xoshiro256**'s state made by splitmix64): the same seed gives the same numbers on
 * every machine, so a run can be replayed.  Not for secrets.  One user at a time.
 */
#ifndef WEIR_BASE_RAND_H
#define WEIR_BASE_RAND_H

#include <stdint.h>

struct weir_rand {
    uint64_t state[4];
};

/* One number of 64 bits for each; near ones give unrelated ones. */
uint64_t weir_rand_mix(uint64_t number);

void weir_rand_init(struct weir_rand *rand, uint64_t seed);

/* All 64 bits. */
uint64_t weir_rand_u64(struct weir_rand *rand);

/* Uniform in [0, bound), without bias; bound 0 gives 0. */
uint64_t weir_rand_below(struct weir_rand *rand, uint64_t bound);

/* Uniform in [0, 1). */
double weir_rand_unit(struct weir_rand *rand);

#endif
