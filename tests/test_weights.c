/* test_weights.c: derivatives by the weights of functions, all of them, and tracking by Gauss-Newton.
 *
 *     test_weights [--long]      with --long: the gradient by each of 5,103 weights of a network */
#define _XOPEN_SOURCE 700
#include "ct_test.h"

#include <covtune/covtune.h>
#include <math.h>
#include <string.h>

typedef struct {
    ct_noise    *noise;
    ct_sequence *seq[16];
    int          count;
    ct_err       err;
} data;

static data make(ct_situation situation, int runs, int poses, const char *gps, const char *odom)
{
    data           d = {.count = runs};
    ct_nav_options o;
    CHECK(ct_nav_preset("D1", CT_SE2, &o));
    o.least = o.most = poses;
    o.situation = situation;
    CHECK_OK(ct_noise_new(&d.noise, &d.err), d.err);
    for (int i = 0; i < runs; i++) CHECK_OK(ct_simulate_nav(&o, (uint64_t)i, d.noise, &d.seq[i], &d.err), d.err);
    const ct_sequence *const *seq = (const ct_sequence *const *)d.seq;
    CHECK_OK(ct_conditional_form(runs, seq, d.noise, ct_noise_find(d.noise, "gps"), gps, NULL, NULL, &d.err), d.err);
    CHECK_OK(ct_conditional_form(runs, seq, d.noise, ct_noise_find(d.noise, "odom"), odom, NULL, NULL, &d.err), d.err);
    return d;
}

static void release(data *d)
{
    for (int i = 0; i < d->count; i++) ct_sequence_free(d->seq[i]);
    ct_noise_free(d->noise);
}

static const ct_sequence *const *list(const data *d) { return (const ct_sequence *const *)d->seq; }

static void put_weights(ct_noise *noise, uint64_t seed, double scale)
{
    ct_rng rng = ct_rng_seed(seed);
    for (int32_t g = 0; g < ct_noise_count(noise); g++) {
        const ct_function *f = ct_noise_get(noise, g)->function;
        for (int i = 0; f && i < f->weights; i++) f->weight[i] = scale * ct_rng_normal(&rng);
    }
}

static ct_theta *theta_of(const ct_noise *noise, int full)
{
    ct_theta *theta;
    ct_err    err;
    CHECK_OK(ct_theta_new(noise, &theta, &err), err);
    for (int32_t g = 0; g < ct_noise_count(noise); g++)
        if (strncmp(ct_noise_get(noise, g)->name, "first", 5))
            CHECK_OK(ct_theta_learn(theta, g, full ? CT_NOISE_FULL : CT_NOISE_DIAGONAL, 1e-8, 1e6, &err), err);
    return theta;
}

static ct_outer_options precise(void)
{
    ct_outer_options how = ct_outer_defaults();
    how.inner.relative = 0;
    how.inner.step = 1e-13;
    return how;
}

/* ---- The Gauss-Newton matrix -------------------------------------------------------------------- */

/* Differences from the truth at the estimate of every sequence, one after the other. */
static int64_t errors_at(const data *d, const ct_noise *noise, double *e)
{
    int64_t at = 0;
    ct_err  err;
    for (int i = 0; i < d->count; i++) {
        const ct_graph        *g = d->seq[i]->graph;
        const ct_outer_options how = precise();
        ct_solver             *solver;
        ct_solve_result        result;
        double                *x = calloc((size_t)ct_graph_size(g), sizeof *x);
        memcpy(x, d->seq[i]->truth, (size_t)ct_graph_size(g) * sizeof *x);
        CHECK_OK(ct_solver_new(g, NULL, &solver, &err), err);
        CHECK_OK(ct_solver_run(solver, noise, x, &how.inner, &result, &err), err);
        for (int32_t v = 0; v < ct_graph_variables(g); v++, at += 3)
            ct_kind_local(CT_SE2, d->seq[i]->truth + ct_graph_offset(g, v), x + ct_graph_offset(g, v), e + at);
        ct_solver_free(solver);
        free(x);
    }
    return at;
}

/* Column j of A by central differences: of log variances first, then of weights in the order of models. */
static void column(const data *d, const ct_theta *theta, int32_t j, double h, double *high, double *low)
{
    const int32_t m = ct_theta_count(theta);
    ct_err        err;
    for (int side = 0; side < 2; side++) {
        const double step = side ? -h : h;
        double       p[64];
        ct_noise    *moved;
        int32_t      at = m;
        CHECK_OK(ct_noise_copy(d->noise, &moved, &err), err);
        ct_theta_get(theta, moved, p);
        if (j < m) p[j] += step;
        CHECK_OK(ct_theta_apply(theta, p, moved, &err), err);
        for (int32_t g = 0; g < ct_noise_count(moved); g++) {
            const ct_function *f = ct_noise_get(moved, g)->function;
            if (!f) continue;
            if (j >= at && j < at + f->weights) f->weight[j - at] += step;
            at += f->weights;
        }
        errors_at(d, moved, side ? low : high);
        ct_noise_free(moved);
    }
}

static void test_the_matrix_is_that_of_differences_of_estimates(void)
{
    static const struct {
        const char *gps;
        int         full, robust;
    } CASE[] = {{"linear:sky,traffic,sky*traffic", 0, 0},
                {"piecewise:sky,traffic/4", 0, 1},
                {"linear:sky/shared", 1, 0},
                {"network:sky,traffic/4", 0, 0},
                {"linear:sky,traffic/matrix", 0, 1},
                {"linear:sky/matrix", 1, 0}};
    for (size_t c = 0; c < sizeof CASE / sizeof *CASE; c++) {
        data d = make(CT_SITUATION_CURVED, 2, 25, CASE[c].gps, "linear:turn");
        put_weights(d.noise, 5 + c, 0.4);
        if (CASE[c].robust)
            CHECK_OK(ct_noise_set_robust(d.noise, ct_noise_find(d.noise, "gps"), (ct_robust){CT_ROBUST_CAUCHY, 3, 0},
                                         &d.err), d.err);
        ct_theta              *theta = theta_of(d.noise, CASE[c].full);
        const int32_t          n = ct_theta_count(theta) + ct_conditional_weights(theta, d.noise);
        const int              rows = 2 * 25 * 3;
        const ct_outer_options how = precise();
        double *B = calloc((size_t)(n * n), sizeof *B), *A = calloc((size_t)(n * rows), sizeof *A);
        double *low = calloc((size_t)rows, sizeof *low), worst = 0, largest = 0;
        CHECK_OK(ct_conditional_matrix(d.count, list(&d), theta, &how, d.noise, B, &d.err), d.err);
        for (int32_t j = 0; j < n; j++) {
            column(&d, theta, j, 1e-4, A + j * rows, low);
            for (int k = 0; k < rows; k++) A[j * rows + k] = (A[j * rows + k] - low[k]) / 2e-4;
        }
        for (int32_t i = 0; i < n; i++)
            for (int32_t j = 0; j < n; j++) {
                double sum = 0;
                for (int k = 0; k < rows; k++) sum += A[i * rows + k] * A[j * rows + k];
                worst = fmax(worst, fabs(sum / d.count - B[i * n + j]));
                largest = fmax(largest, fabs(B[i * n + j]));
            }
        if (!(worst < 1e-6 * largest)) fprintf(stderr, "%s: %g of %g\n", CASE[c].gps, worst, largest);
        CHECK(worst < 1e-6 * largest);
        free(B);
        free(A);
        free(low);
        ct_theta_free(theta);
        release(&d);
    }
}

/* ---- Tracking ----------------------------------------------------------------------------------- */

/* The same held-out losses as L-BFGS, with fewer evaluations. */
static void test_gauss_newton_tracks_as_well_with_fewer_evaluations(void)
{
    double losses[2] = {0};
    int    evaluations[2] = {0};
    for (int few = 0; few < 2; few++) {
        data                   d = make(CT_SITUATION_LINEAR, 6, 100, "linear:sky,traffic", "linear:turn");
        ct_theta              *theta = theta_of(d.noise, 0);
        const ct_outer_options outer = ct_outer_defaults();
        ct_conditional_options how = ct_conditional_defaults();
        ct_conditional_result  result;
        how.folds = 3;
        how.evaluations = 60;
        if (!few) how.gauss_newton = 0;
        CHECK_OK(ct_conditional_learn(d.count, list(&d), theta, &outer, &how, d.noise, &result, &d.err), d.err);
        losses[few] = result.heldout[CT_CONDITIONAL_TRACKING];
        evaluations[few] = result.evaluations;
        ct_conditional_result_free(&result);
        ct_theta_free(theta);
        release(&d);
    }
    if (!(fabs(losses[1] / losses[0] - 1) < 0.005 && evaluations[1] < evaluations[0]))
        fprintf(stderr, "L-BFGS %g, %d evaluations; Gauss-Newton %g, %d\n", losses[0], evaluations[0], losses[1],
                evaluations[1]);
    CHECK_NEAR(losses[1] / losses[0], 1, 0.005);
    CHECK(evaluations[1] > 0 && evaluations[1] < evaluations[0]);
}

/* ---- A large network ---------------------------------------------------------------------------- */

/* Every `stride`-th weight, relative to the largest derivative. */
static double gradient_error(const data *d, int stride)
{
    ct_theta              *theta = theta_of(d->noise, 0);
    const ct_outer_options how = precise();
    ct_err                 err;
    const int32_t          m = ct_theta_count(theta), n = ct_conditional_weights(theta, d->noise);
    double *g = calloc((size_t)(2 * (m + n)), sizeof *g), *other = g + m + n, loss[4], size = 0, worst = 0;
    int32_t at = 0;
    CHECK_OK(ct_conditional_gradient(d->count, list(d), theta, &how, d->noise, loss, g, g + m, &err), err);
    for (int32_t i = 0; i < n; i++) size = fmax(size, fabs(g[m + i]));
    for (int32_t k = 0; k < ct_noise_count(d->noise); k++) {
        const ct_function *f = ct_noise_get(d->noise, k)->function;
        for (int i = 0; f && i < f->weights; i++, at++) {
            const double h = 2e-3, before = f->weight[i];
            if (i % stride) continue;
            for (int s = 0; s < 4; s++) { /* Richardson: h and h / 2 */
                f->weight[i] = before + (s & 1 ? -h : h) / (s & 2 ? 2 : 1);
                CHECK_OK(ct_conditional_gradient(d->count, list(d), theta, &how, d->noise, &loss[s], other, other + m,
                                                 &err), err);
            }
            f->weight[i] = before;
            const double wide = (loss[0] - loss[1]) / (2 * h), narrow = (loss[2] - loss[3]) / h;
            worst = fmax(worst, fabs((4 * narrow - wide) / 3 - g[m + at]) / size);
        }
    }
    ct_theta_free(theta);
    free(g);
    return worst;
}

static int all_weights; /* --long */

static void test_the_gradient_by_every_weight_of_a_large_network(void)
{
    data d = make(CT_SITUATION_CURVED, 1, 20, "network:sky,traffic/68x68", "linear:turn");
    put_weights(d.noise, 9, 0.15);
    CHECK(ct_noise_get(d.noise, ct_noise_find(d.noise, "gps"))->function->weights == 5103);
    const double worst = gradient_error(&d, all_weights ? 1 : 200);
    if (!(worst < 1e-7) || all_weights) fprintf(stderr, "largest difference %.2g of the largest derivative\n", worst);
    CHECK(worst < 1e-7);
    release(&d);
}

int main(int argc, char **argv)
{
    all_weights = argc > 1 && !strcmp(argv[1], "--long");
    RUN(test_the_matrix_is_that_of_differences_of_estimates);
    RUN(test_gauss_newton_tracks_as_well_with_fewer_evaluations);
    RUN(test_the_gradient_by_every_weight_of_a_large_network);
    return ct_test_end();
}
