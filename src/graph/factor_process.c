/* factor_process.c: how an error that lasts changes with time. Its states are vectors b in R^k.
 *
 *     bias_start_rk    b            z: [b0]       b - b0
 *     random_walk_rk   b, c         z: dt         (c - b) / sqrt(dt)
 *     gauss_markov_rk  b, c         z: dt, tau    (c - f b) / sqrt(1 - f^2),   f = exp(-dt / tau)
 *     oscillation_rk   b, q, c      z: dt, tau, period
 *                                                 (c - f (b cos a - q sin a)) / sqrt(1 - f^2),   a = 2 pi dt / period
 *
 * An oscillation is the stochastic cycle of Harvey (1989): (b, q) turns by a and shrinks by f in a step, and is driven
 * so that its variance stays. b has the covariance sigma^2 f cos a over a step of any length. The step of q is the same
 * residual of (q, b, q later) with -period: q later = f (q cos a + b sin a) + noise.
 *
 * Residuals are scaled so that their covariance does not depend on the step: that of a random walk is the variance per
 * unit of time, that of a Gauss-Markov process of first order its stationary variance. So one noise model serves steps
 * of unequal length, and the start of a stationary process (bias_start) has the model of its steps.
 *
 * 1 - f^2 = -expm1(-2 dt / tau) has no cancellation where dt is small against tau. */
#include <covtune/graph.h>
#include <math.h>
#include <stddef.h>
#include <string.h>

#define TWO_PI 6.283185307179586

static void put_diagonal(int k, double a, double *J)
{
    if (!J) return;
    memset(J, 0, (size_t)(k * k) * sizeof *J);
    for (int i = 0; i < k; i++) J[i * k + i] = a;
}

static void eval_start(int k, const double *z, const double *const x[], double *r, double *const J[])
{
    for (int i = 0; i < k; i++) r[i] = x[0][i] - z[i];
    if (J) put_diagonal(k, 1, J[0]);
}

/* r = (c - f b) s */
static void eval_step(int k, double f, double s, const double *const x[], double *r, double *const J[])
{
    for (int i = 0; i < k; i++) r[i] = (x[1][i] - f * x[0][i]) * s;
    if (J) put_diagonal(k, -f * s, J[0]), put_diagonal(k, s, J[1]);
}

/* r = (c - f (b cos a - q sin a)) s */
static void eval_turn(int k, const double *z, const double *const x[], double *r, double *const J[])
{
    const double f = exp(-z[0] / z[1]), s = 1 / sqrt(-expm1(-2 * z[0] / z[1])), a = TWO_PI * z[0] / z[2];
    const double in = f * cos(a), across = f * sin(a);
    for (int i = 0; i < k; i++) r[i] = (x[2][i] - in * x[0][i] + across * x[1][i]) * s;
    if (J) put_diagonal(k, -in * s, J[0]), put_diagonal(k, across * s, J[1]), put_diagonal(k, s, J[2]);
}

static const char *refuse_walk(const double *z) { return z[0] > 0 ? NULL : "the time step must be above zero"; }

static const char *refuse_markov(const double *z)
{
    if (!(z[0] > 0)) return "the time step must be above zero";
    if (!(z[1] > 0)) return "the time constant must be above zero";
    return z[0] / z[1] > 1e-12 ? NULL : "the time constant must be below 1e12 time steps";
}

static const char *refuse_oscillation(const double *z)
{
    const char *no = refuse_markov(z);
    return no ? no : fabs(z[2]) > 0 && isfinite(z[2]) ? NULL : "the period must not be zero";
}

#define NAMES_1 {"b0"}
#define NAMES_2 {"b0", "b1"}
#define NAMES_3 {"b0", "b1", "b2"}
#define UNITS   {"", "", ""}

#define PROCESS(k)                                                                                                     \
    static void start_r##k(const double *z, const void *context, const double *const x[], double *r,                   \
                           double *const J[])                                                                          \
    {                                                                                                                  \
        (void)context;                                                                                                 \
        eval_start(k, z, x, r, J);                                                                                     \
    }                                                                                                                  \
    static void walk_r##k(const double *z, const void *context, const double *const x[], double *r, double *const J[]) \
    {                                                                                                                  \
        (void)context;                                                                                                 \
        eval_step(k, 1, 1 / sqrt(z[0]), x, r, J);                                                                      \
    }                                                                                                                  \
    static void markov_r##k(const double *z, const void *context, const double *const x[], double *r,                  \
                            double *const J[])                                                                         \
    {                                                                                                                  \
        (void)context;                                                                                                 \
        eval_step(k, exp(-z[0] / z[1]), 1 / sqrt(-expm1(-2 * z[0] / z[1])), x, r, J);                                  \
    }                                                                                                                  \
    static void turn_r##k(const double *z, const void *context, const double *const x[], double *r, double *const J[]) \
    {                                                                                                                  \
        (void)context;                                                                                                 \
        eval_turn(k, z, x, r, J);                                                                                      \
    }                                                                                                                  \
    const ct_factor_ops ct_oscillation_r##k = {.name = "oscillation_r" #k,                                             \
                                               .rows = k,                                                              \
                                               .arity = 3,                                                             \
                                               .kind = {CT_R##k, CT_R##k, CT_R##k},                                    \
                                               .fields = 3,                                                            \
                                               .required = 3,                                                          \
                                               .field = {CT_R1, CT_R1, CT_R1},                                         \
                                               .eval = turn_r##k,                                                      \
                                               .refuse = refuse_oscillation,                                           \
                                               .flat = 1,                                                              \
                                               .coordinate = NAMES_##k,                                                \
                                               .unit = UNITS};                                                         \
    const ct_factor_ops ct_bias_start_r##k = {.name = "bias_start_r" #k,                                               \
                                              .rows = k,                                                               \
                                              .arity = 1,                                                              \
                                              .kind = {CT_R##k},                                                       \
                                              .fields = 1,                                                             \
                                              .field = {CT_R##k},                                                      \
                                              .eval = start_r##k,                                                      \
                                              .flat = 1,                                                               \
                                              .coordinate = NAMES_##k,                                                 \
                                              .unit = UNITS};                                                          \
    const ct_factor_ops ct_random_walk_r##k = {.name = "random_walk_r" #k,                                             \
                                               .rows = k,                                                              \
                                               .arity = 2,                                                             \
                                               .kind = {CT_R##k, CT_R##k},                                             \
                                               .fields = 1,                                                            \
                                               .required = 1,                                                          \
                                               .field = {CT_R1},                                                       \
                                               .eval = walk_r##k,                                                      \
                                               .refuse = refuse_walk,                                                  \
                                               .flat = 1,                                                              \
                                               .coordinate = NAMES_##k,                                                \
                                               .unit = UNITS};                                                         \
    const ct_factor_ops ct_gauss_markov_r##k = {.name = "gauss_markov_r" #k,                                           \
                                                .rows = k,                                                             \
                                                .arity = 2,                                                            \
                                                .kind = {CT_R##k, CT_R##k},                                            \
                                                .fields = 2,                                                           \
                                                .required = 2,                                                         \
                                                .field = {CT_R1, CT_R1},                                               \
                                                .eval = markov_r##k,                                                   \
                                                .refuse = refuse_markov,                                               \
                                                .flat = 1,                                                             \
                                                .coordinate = NAMES_##k,                                               \
                                                .unit = UNITS};
PROCESS(1)
PROCESS(2)
PROCESS(3)
