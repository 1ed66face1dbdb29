// The headers as C++: they compile without a warning and link as C.
#include <covtune/covtune.h>
#include <cstdio>

int main()
{
    ct_rng rng = ct_rng_seed(1);
    return std::printf("covtune %s\n", ct_rng_uniform(&rng) < 1 ? ct_version() : "") < 0;
}
