/* rng.c: xoshiro256++ (Blackman and Vigna 2019), state filled by splitmix64 so that seeds 0, 1, 2
 * are as far apart as any. Normals by Marsaglia's polar method: log and sqrt only. */
#include "base/base.h"

#include <math.h>

static uint64_t rotl(uint64_t x, int k) { return (x << k) | (x >> (64 - k)); }

static uint64_t splitmix64(uint64_t *state)
{
    uint64_t z = (*state += 0x9e3779b97f4a7c15u);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

ct_rng ct_rng_seed(uint64_t seed)
{
    ct_rng rng = {0};
    for (int i = 0; i < 4; i++) rng.s[i] = splitmix64(&seed);
    return rng;
}

static uint64_t mix(uint64_t z) { return splitmix64(&z); }

ct_rng ct__rng_stream(uint64_t seed, uint64_t run, uint64_t stream)
{
    return ct_rng_seed(mix(mix(mix(seed) ^ run) ^ stream));
}

uint64_t ct_rng_bits(ct_rng *rng)
{
    uint64_t *s = rng->s;
    const uint64_t result = rotl(s[0] + s[3], 23) + s[0];
    const uint64_t t = s[1] << 17;
    s[2] ^= s[0];
    s[3] ^= s[1];
    s[1] ^= s[2];
    s[0] ^= s[3];
    s[2] ^= t;
    s[3] = rotl(s[3], 45);
    return result;
}

double ct_rng_uniform(ct_rng *rng) { return (double)(ct_rng_bits(rng) >> 11) * 0x1p-53; }

double ct_rng_normal(ct_rng *rng)
{
    if (rng->has_spare) {
        rng->has_spare = 0;
        return rng->spare;
    }
    double u, v, q;
    do {
        u = 2 * ct_rng_uniform(rng) - 1;
        v = 2 * ct_rng_uniform(rng) - 1;
        q = u * u + v * v;
    } while (q >= 1 || q == 0);
    const double scale = sqrt(-2 * log(q) / q);
    rng->spare = v * scale;
    rng->has_spare = 1;
    return u * scale;
}
