/* net_test.h: examples for networks. */
#ifndef NET_TEST_H
#define NET_TEST_H

#include "ct_test.h"

#include <covtune/net.h>

static inline ct_net *new_net(int layers, const int32_t *width, uint64_t seed)
{
    ct_net *net = NULL;
    ct_err  err = {0};
    CHECK_OK(ct_net_new(layers, width, seed, &net, &err), err);
    return net;
}

/* Normal numbers about `mean`; the caller frees. */
static inline double *normals(uint64_t seed, int64_t count, double mean, double deviation)
{
    ct_rng  rng = ct_rng_seed(seed);
    double *x = malloc((size_t)count * sizeof *x);
    for (int64_t i = 0; i < count; i++) x[i] = mean + deviation * ct_rng_normal(&rng);
    return x;
}

static inline char *scratch_path(const char *name)
{
    static char path[512];
    snprintf(path, sizeof path, "%s/%s", ct_test_folder(), name);
    return path;
}

#endif
