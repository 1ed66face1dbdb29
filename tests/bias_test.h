/* bias_test.h: a linear case for tests of biases. */
#ifndef CT_BIAS_TEST_H
#define CT_BIAS_TEST_H

#include <covtune/data.h>

#include "ct_test.h"

#define LINE_MAX_POSES 160

/* ---- A linear case ----------------------------------------------------------------------------- */

/* A body on a line at uneven times; its odometry; positions with an error that lasts. */
typedef struct {
    int n;
    double t[LINE_MAX_POSES], odom[LINE_MAX_POSES], gps[LINE_MAX_POSES], truth[LINE_MAX_POSES], bias[LINE_MAX_POSES];
    double sigma_first, sigma_odom, sigma_gps, sigma, tau;
} line;

static inline line make_line(uint64_t seed, int n, double sigma, double tau)
{
    line a = {.n = n, .sigma_first = 0.1, .sigma_odom = 0.3, .sigma_gps = 0.5, .sigma = sigma, .tau = tau};
    ct_rng rng = ct_rng_seed(seed);
    a.bias[1] = sigma * ct_rng_normal(&rng);
    for (int k = 1; k < n; k++) {
        a.t[k] = a.t[k - 1] + 0.2 + 1.6 * ct_rng_uniform(&rng);
        const double move = ct_rng_normal(&rng), f = exp(-(a.t[k] - a.t[k - 1]) / tau);
        a.truth[k] = a.truth[k - 1] + move;
        a.odom[k] = move + a.sigma_odom * ct_rng_normal(&rng);
        if (k > 1) a.bias[k] = f * a.bias[k - 1] + sigma * sqrt(1 - f * f) * ct_rng_normal(&rng);
        a.gps[k] = a.truth[k] + a.bias[k] + a.sigma_gps * ct_rng_normal(&rng);
    }
    return a;
}

static inline ct_sequence *sequence_of(const line *a, ct_noise *noise)
{
    ct_graph *g;
    ct_sequence *seq;
    ct_err err = {0};
    int32_t first, odom, gps;
    uint8_t known[LINE_MAX_POSES];
    if (ct_noise_count(noise) == 0) {
        CHECK_OK(ct_noise_add_isotropic(noise, "first", 1, a->sigma_first * a->sigma_first, NULL, &err), err);
        CHECK_OK(ct_noise_add_isotropic(noise, "odom", 1, a->sigma_odom * a->sigma_odom, NULL, &err), err);
        CHECK_OK(ct_noise_add_isotropic(noise, "gps", 1, a->sigma_gps * a->sigma_gps, NULL, &err), err);
    }
    first = ct_noise_find(noise, "first"), odom = ct_noise_find(noise, "odom"), gps = ct_noise_find(noise, "gps");
    CHECK_OK(ct_graph_new(&g, &err), err);
    for (int32_t k = 0; k < a->n; k++) {
        known[k] = 1;
        CHECK_OK(ct_graph_add_variable(g, NULL, CT_R1, NULL, NULL, &err), err);
        if (k == 0) CHECK_OK(ct_graph_add_prior(g, 0, &a->truth[0], first, &err), err);
        if (k > 0) CHECK_OK(ct_graph_add_between(g, k - 1, k, &a->odom[k], odom, &err), err);
        if (k > 0) CHECK_OK(ct_graph_add_prior(g, k, &a->gps[k], gps, &err), err);
    }
    CHECK_OK(ct_sequence_new(g, &seq, &err), err);
    CHECK_OK(ct_sequence_set_times(seq, a->t, &err), err);
    CHECK_OK(ct_sequence_set_truth(seq, a->truth, known, &err), err);
    return seq;
}

static inline ct_bias markov(double tau)
{
    return (ct_bias){
        .sensor = "gps", .process = CT_BIAS_GAUSS_MARKOV, .rows = 1, .row = {"x"}, .tau = tau, .tau_error = NAN};
}

static inline int32_t add_strength(ct_noise *noise, double sigma, const ct_bias *bias)
{
    ct_err err = {0};
    int32_t index = -1;
    CHECK_OK(ct_noise_add_isotropic(noise, "gps_bias", 1, sigma * sigma, &index, &err), err);
    CHECK_OK(ct_noise_set_bias(noise, index, bias, &err), err);
    return index;
}

#endif
