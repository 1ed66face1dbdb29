/* theta_test.h: tables and sets of parameters made at random, points of a set, and eigenvalues found another way
 * than the library does. */
#ifndef THETA_TEST_H
#define THETA_TEST_H

#include "ct_test.h"

#include "theta/theta.h"
#include <float.h>

#define MANY 64 /* parameters of the table below, at most */

/* odom: diagonal 3, gps: full 2, cam: isotropic 2, imu: full 6, odo2: diagonal 3, far: full 3, one: diagonal 1. */
static inline ct_noise *new_table(void)
{
    ct_noise    *noise = NULL;
    ct_err       err = {0};
    const double odom[3] = {0.5, 1, 2}, odo2[3] = {0.25, 3, 7}, gps[4] = {2, 0.5, 0.5, 1},
                 far[9] = {4, 1, 0.5, 1, 3, -0.5, 0.5, -0.5, 2};
    double       imu[36];
    for (int i = 0; i < 36; i++) imu[i] = i % 7 == 0 ? 1 + i / 7 : 0.1;
    CHECK_OK(ct_noise_new(&noise, &err), err);
    CHECK_OK(ct_noise_add_diagonal(noise, "odom", 3, odom, NULL, &err), err);
    CHECK_OK(ct_noise_add_full(noise, "gps", 2, gps, NULL, &err), err);
    CHECK_OK(ct_noise_add_isotropic(noise, "cam", 2, 1.5, NULL, &err), err);
    CHECK_OK(ct_noise_add_full(noise, "imu", 6, imu, NULL, &err), err);
    CHECK_OK(ct_noise_add_diagonal(noise, "odo2", 3, odo2, NULL, &err), err);
    CHECK_OK(ct_noise_add_full(noise, "far", 3, far, NULL, &err), err);
    CHECK_OK(ct_noise_add_diagonal(noise, "one", 1, odom, NULL, &err), err);
    return noise;
}

enum { ODOM, GPS, CAM, IMU, ODO2, FAR, ONE, MODELS };

static inline ct_theta *new_theta(const ct_noise *noise)
{
    ct_theta *theta = NULL;
    ct_err    err = {0};
    CHECK_OK(ct_theta_new(noise, &theta, &err), err);
    CHECK(theta && ct_theta_count(theta) == 0 && ct_theta_models(theta) == ct_noise_count(noise) &&
          isinf(ct_theta_spread_limit(theta)));
    return theta;
}

static inline double uniform(ct_rng *rng, double low, double high) { return low + (high - low) * ct_rng_uniform(rng); }
static inline int    below(ct_rng *rng, int n) { return (int)(ct_rng_bits(rng) % (uint64_t)n); }

/* Kinds, bounds, frozen coordinates, ties and a spread; what is refused is left out. Trial % 3 == 0: bounds the same
 * for all, so that any spread can be met. Units come first, if they are not NULL. */
static inline ct_theta *random_theta_in(ct_rng *rng, const ct_noise *noise, int trial, double unit[MODELS][6])
{
    static const double SPREAD[] = {INFINITY, 1, 1.5, 10, 1e3, 1e6};
    ct_theta           *theta = new_theta(noise);
    ct_err              err = {0};
    for (int32_t i = 0; unit && i < MODELS; i++)
        for (int c = 0; c < ct_noise_get(noise, i)->dim; c++)
            CHECK_OK(ct_theta_set_unit(theta, i, c, unit[i][c], &err), err);
    for (int32_t i = 0; i < MODELS; i++) {
        const double lower = trial % 3 ? pow(10, uniform(rng, -3, 0)) : 1e-2,
                     upper = trial % 3 ? lower * pow(10, uniform(rng, 0, 5)) : 1e2;
        if (i != FAR && below(rng, 4) == 0) continue;
        (void)ct_theta_learn(theta, i, (ct_noise_kind)below(rng, 3), lower, upper, NULL);
    }
    if (below(rng, 2)) (void)ct_theta_bound(theta, ODOM, 1, 0.01, uniform(rng, 0.01, 3), NULL);
    if (below(rng, 3) == 0) (void)ct_theta_freeze(theta, ODO2, below(rng, 3), NULL);
    if (below(rng, 2)) (void)ct_theta_tie(theta, ODOM, below(rng, 3), ODO2, below(rng, 3), NULL);
    if (below(rng, 3) == 0) (void)ct_theta_tie(theta, ODOM, -1, ODO2, -1, NULL);
    if (below(rng, 3) == 0) (void)ct_theta_tie(theta, CAM, -1, ONE, -1, NULL);
    for (int k = 1 + below(rng, 5); trial % 4 && k < 6 && ct_theta_set_spread(theta, SPREAD[k], NULL) != CT_OK;) k++;
    CHECK(ct_theta_count(theta) > 0 && ct_theta_count(theta) <= MANY);
    return theta;
}

static inline ct_theta *random_theta(ct_rng *rng, const ct_noise *noise, int trial)
{
    return random_theta_in(rng, noise, trial, NULL);
}

/* Columns of V orthonormal, by Gram and Schmidt. */
static inline void random_rotation(ct_rng *rng, int n, double *V)
{
    for (int k = 0; k < n; k++) {
        for (int i = 0; i < n; i++) V[i * n + k] = ct_rng_normal(rng);
        for (int pass = 0; pass < 2; pass++)
            for (int j = 0; j <= k; j++) {
                double dot = 0, norm = 0;
                for (int i = 0; i < n; i++) dot += V[i * n + j] * V[i * n + k], norm += V[i * n + k] * V[i * n + k];
                for (int i = 0; i < n; i++)
                    V[i * n + k] = j < k ? V[i * n + k] - dot * V[i * n + j] : V[i * n + k] / sqrt(norm);
            }
    }
}

/* Eigenvalues in long double, by the classical Jacobi method: the largest entry first. */
static inline void eigen_long(int n, const double *A, long double *lambda)
{
    long double M[36];
    for (int i = 0; i < n * n; i++) M[i] = A[i];
    for (int step = 0; step < 500; step++) {
        int         p = 0, q = n > 1;
        long double big = 0, scale = 0;
        for (int i = 0; i < n; i++)
            for (int j = i; j < n; j++) {
                scale = fmaxl(scale, fabsl(M[i * n + j]));
                if (i != j && fabsl(M[i * n + j]) > big) big = fabsl(M[i * n + j]), p = i, q = j;
            }
        if (big <= 1e-25L * scale) break;
        const long double angle = 0.5L * atan2l(2 * M[p * n + q], M[q * n + q] - M[p * n + p]), c = cosl(angle),
                          s = sinl(angle);
        for (int i = 0; i < n; i++) {
            const long double g = M[i * n + p], h = M[i * n + q];
            M[i * n + p] = c * g - s * h;
            M[i * n + q] = s * g + c * h;
        }
        for (int i = 0; i < n; i++) {
            const long double g = M[p * n + i], h = M[q * n + i];
            M[p * n + i] = c * g - s * h;
            M[q * n + i] = s * g + c * h;
        }
    }
    for (int i = 0; i < n; i++) lambda[i] = M[i * n + i];
}

/* Eigenvalues of block b at q. */
static inline int lambdas(const ct_theta *theta, int32_t b, const double *q, long double *lambda)
{
    double X[36];
    ct__sym_unpack(theta->block[b].dim, q + theta->block[b].first, X);
    eigen_long(theta->block[b].dim, X, lambda);
    return theta->block[b].dim;
}

static inline double dot(const ct_theta *theta, const double *a, const double *b)
{
    double s = 0;
    for (int32_t i = 0; i < ct_theta_count(theta); i++) s += a[i] * b[i];
    return s;
}

/* By how much q, of the space, is outside, relative to the largest eigenvalue; <= 0: inside. */
static inline double outside(const ct_theta *theta, ct_space space, const double *q)
{
    long double      worst = -INFINITY, least = INFINITY, most = -INFINITY, norm = 0;
    const int        logs = space == CT_SPACE_LOG;
    const double     spread = ct_theta_spread_limit(theta);
    for (int32_t b = 0; b < theta->blocks; b++) {
        long double  l[6];
        const int    n = lambdas(theta, b, q, l);
        double       lower, upper;
        ct_theta_bounds(theta, theta->block[b].first, &lower, &upper);
        if (logs) lower = log(lower), upper = log(upper);
        for (int k = 0; k < n; k++) {
            worst = fmaxl(worst, fmaxl(lower - l[k], l[k] - upper));
            least = fminl(least, l[k]);
            most = fmaxl(most, l[k]);
            norm = fmaxl(norm, fabsl(l[k]));
        }
    }
    if (!isinf(spread)) worst = fmaxl(worst, logs ? most - least - log(spread) : (most - spread * least) / spread);
    return (double)(worst / (logs ? fmaxl(norm, 1) : norm));
}

/* A point of the set in log space: a window for the spread, eigenvalues in it (often at its ends), any eigenvectors. */
static inline void random_point(ct_rng *rng, const ct_theta *theta, double *p)
{
    const double spread = log(ct_theta_spread_limit(theta));
    double       high = -INFINITY, low = INFINITY;
    for (int32_t b = 0; b < theta->blocks; b++)
        high = fmax(high, log(theta->block[b].lower)), low = fmin(low, log(theta->block[b].upper));
    const double floor = isinf(spread) ? -INFINITY : uniform(rng, fmin(high - spread, low), low);
    for (int32_t b = 0; b < theta->blocks; b++) {
        const ct__theta_block *block = &theta->block[b];
        const double     from = fmax(log(block->lower), floor), to = fmin(log(block->upper), floor + spread);
        double           l[6], V[36], X[36];
        for (int k = 0; k < block->dim; k++) {
            const int where = below(rng, 4);
            l[k] = isinf(floor) ? uniform(rng, log(block->lower), log(block->upper))
                   : where == 0 ? from
                   : where == 1 ? to
                                : uniform(rng, from, to);
        }
        random_rotation(rng, block->dim, V);
        ct__sym_recompose(block->dim, l, V, X);
        ct__sym_pack(block->dim, X, p + block->first);
    }
}

#endif
