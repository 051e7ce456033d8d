/* xoshiro256** by Blackman and Vigna, seeded through splitmix64 so that near seeds give unrelated streams. */
#include "base/rand.h"

static uint64_t rotate(uint64_t x, int k)
{
    return (x << k) | (x >> (64 - k));
}

static uint64_t split_mix(uint64_t *x)
{
    uint64_t z = (*x += 0x9e3779b97f4a7c15U);

    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9U;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebU;
    return z ^ (z >> 31);
}

uint64_t weir_rand_mix(uint64_t number)
{
    return split_mix(&number);
}

void weir_rand_init(struct weir_rand *rand, uint64_t seed)
{
    for (int i = 0; i < 4; i++)
        rand->state[i] = split_mix(&seed);
}

uint64_t weir_rand_u64(struct weir_rand *rand)
{
    uint64_t *s = rand->state;
    uint64_t result = rotate(s[1] * 5, 7) * 9, t = s[1] << 17;

    s[2] ^= s[0];
    s[3] ^= s[1];
    s[1] ^= s[2];
    s[0] ^= s[3];
    s[2] ^= t;
    s[3] = rotate(s[3], 45);
    return result;
}

uint64_t weir_rand_below(struct weir_rand *rand, uint64_t bound)
{
    uint64_t x, limit;

    if (bound == 0)
        return 0;
    limit = UINT64_MAX - UINT64_MAX % bound;
    do
        x = weir_rand_u64(rand);
    while (x >= limit);
    return x % bound;
}

double weir_rand_unit(struct weir_rand *rand)
{
    return (double)(weir_rand_u64(rand) >> 11) * 0x1.0p-53;
}
