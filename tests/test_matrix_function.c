/* test_matrix_function.c: covariances whose logarithm, as a matrix, is a function of features: every estimator sees
 * them, gradients by weights are those of differences, bounds hold for every factor, and learning finds an ellipse
 * that turns. */
#define _XOPEN_SOURCE 700
#include "ct_test.h"

#include <covtune/covtune.h>
#include <math.h>
#include <string.h>

typedef struct {
    ct_noise    *noise;
    ct_sequence *seq[24];
    int          count;
    ct_err       err;
} data;

static data make(ct_situation situation, ct_kind kind, int runs, int poses)
{
    data           d = {.count = runs};
    ct_nav_options o;
    CHECK(ct_nav_preset("D1", kind, &o));
    o.least = o.most = poses;
    o.situation = situation;
    CHECK_OK(ct_noise_new(&d.noise, &d.err), d.err);
    for (int i = 0; i < runs; i++) CHECK_OK(ct_simulate_nav(&o, (uint64_t)i, d.noise, &d.seq[i], &d.err), d.err);
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

static ct_theta *theta_of(const ct_noise *noise, ct_noise_kind kind)
{
    ct_theta *theta;
    ct_err    err;
    CHECK_OK(ct_theta_new(noise, &theta, &err), err);
    for (int32_t g = 0; g < ct_noise_count(noise); g++)
        if (strncmp(ct_noise_get(noise, g)->name, "first", 5))
            CHECK_OK(ct_theta_learn(theta, g, kind, 1e-8, 1e6, &err), err);
    return theta;
}

#define CT_MIN_OF(a, b) ((a) < (b) ? (a) : (b))

static ct_outer_options precise(void)
{
    ct_outer_options how = ct_outer_defaults();
    how.inner.relative = 0;
    how.inner.step = 1e-13;
    return how;
}

/* ---- The covariance ------------------------------------------------------------------------------ */

/* exp(A), n x n, by halving and Taylor's series: no eigenvalues. */
static void exponential(int n, const double *A, double *E)
{
    double term[36], next[36];
    for (int i = 0; i < n * n; i++) E[i] = term[i] = i % (n + 1) == 0;
    for (int k = 1; k < 30; k++) {
        for (int i = 0; i < n; i++)
            for (int j = 0; j < n; j++) {
                next[i * n + j] = 0;
                for (int m = 0; m < n; m++) next[i * n + j] += term[i * n + m] * A[m * n + j] / 1024 / k;
            }
        memcpy(term, next, sizeof term);
        for (int i = 0; i < n * n; i++) E[i] += term[i];
    }
    for (int k = 0; k < 10; k++) {
        for (int i = 0; i < n; i++)
            for (int j = 0; j < n; j++) {
                next[i * n + j] = 0;
                for (int m = 0; m < n; m++) next[i * n + j] += E[i * n + m] * E[m * n + j];
            }
        memcpy(E, next, sizeof next);
    }
}

/* D exp(U/2) D^-1 S D^-1 exp(U/2) D from a function's outputs. */
static void by_formula(const ct_function *f, int n, const double *u, const double *S, double *out)
{
    double A[36], E[36], F[36], FS[36];
    for (int i = 0, o = 0; i < n; i++)
        for (int j = i; j < n; j++, o++) A[i * n + j] = A[j * n + i] = 0.5 * (i == j ? u[o] : u[o] / sqrt(2));
    exponential(n, A, E);
    for (int i = 0; i < n * n; i++) F[i] = f->unit[i / n] * E[i] / f->unit[i % n];
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++) {
            FS[i * n + j] = 0;
            for (int k = 0; k < n; k++) FS[i * n + j] += F[i * n + k] * S[k * n + j];
        }
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++) {
            out[i * n + j] = 0;
            for (int k = 0; k < n; k++) out[i * n + j] += FS[i * n + k] * F[j * n + k];
        }
}

static void test_the_covariance_is_that_of_the_formula(void)
{
    const double S[9] = {1, 0.3, 0.02, 0.3, 2, 0.01, 0.02, 0.01, 0.05}, D[9] = {1, 0, 0, 0, 2, 0, 0, 0, 0.05};
    data         d = make(CT_SITUATION_LINEAR, CT_SE2, 1, 60);
    static const char *const FORM[] = {"linear:sky,traffic,sky*traffic/matrix", "piecewise:sky,traffic/4/matrix",
                                       "network:sky,traffic/5x4/matrix"};
    for (int k = 0; k < 6; k++) {
        int32_t m;
        char    name[16];
        double  x[2] = {0.3, 0.9}, u[6], found[9], expected[9];
        snprintf(name, sizeof name, "m%d", k);
        CHECK_OK(ct_noise_add_full(d.noise, name, 3, k % 2 ? S : D, &m, &d.err), d.err);
        for (int32_t f = 0; f < ct_graph_factors(d.seq[0]->graph); f++) /* the form needs factors of the model */
            if (ct_graph_factor(d.seq[0]->graph, f).ops->arity == 1 && f > 0)
                CHECK_OK(ct_graph_set_noise(d.seq[0]->graph, f, m, &d.err), d.err);
        CHECK_OK(ct_conditional_form(1, list(&d), d.noise, m, FORM[k / 2], NULL, NULL, &d.err), d.err);
        put_weights(d.noise, 4 + (uint64_t)k, 0.6);
        const ct_noise_model *model = ct_noise_get(d.noise, m);
        ct_function_evaluate(model->function, x, u);
        by_formula(model->function, 3, u, k % 2 ? S : D, expected);
        ct_noise_covariance_at(model, x, found);
        for (int i = 0; i < 9; i++) CHECK_NEAR(found[i], expected[i], 1e-12 * (1 + fabs(expected[i])));
    }
    release(&d);
}

/* One feature that is U itself, times a weight for every coordinate. */
static ct_function coordinates(double weight[6], ct_function_term *term)
{
    *term = (ct_function_term){.a = 0, .b = -1};
    ct_function f = {.kind = CT_FUNCTION_LINEAR, .matrix = 1, .outputs = 6, .features = 1, .terms = 1, .term = term,
                     .weights = 6, .weight = weight, .unit = {1, 1.5, 0.1},
                     .upper = {INFINITY, INFINITY, INFINITY}};
    f.feature[0] = (ct_function_feature){"a", 0, 1, -5, 5};
    return f;
}

static void test_diagonal_and_isotropic_matrices_are_row_and_shared_functions(void)
{
    const double     S[9] = {1, 0.3, 0.02, 0.3, 2, 0.01, 0.02, 0.01, 0.05}, x = 1.3;
    double           diagonal[6] = {0.7, 0, 0, -0.4, 0, 1.1}, same[6] = {0.7, 0, 0, 0.7, 0, 0.7}, found[9];
    ct_function_term term;
    ct_noise        *noise;
    ct_err           err;
    int32_t          m;
    CHECK_OK(ct_noise_new(&noise, &err), err);
    CHECK_OK(ct_noise_add_full(noise, "m", 3, S, &m, &err), err);
    ct_function f = coordinates(diagonal, &term);
    CHECK_OK(ct_noise_set_function(noise, m, &f, &err), err);
    ct_noise_covariance_at(ct_noise_get(noise, m), &x, found);
    const double u[3] = {0.7 * x, -0.4 * x, 1.1 * x};
    for (int i = 0; i < 9; i++) CHECK_NEAR(found[i], S[i] * exp(0.5 * (u[i / 3] + u[i % 3])), 1e-13);
    f = coordinates(same, &term);
    CHECK_OK(ct_noise_set_function(noise, m, &f, &err), err);
    ct_noise_covariance_at(ct_noise_get(noise, m), &x, found);
    for (int i = 0; i < 9; i++) CHECK_NEAR(found[i], S[i] * exp(0.7 * x), 1e-13);
    ct_noise_free(noise);
}

/* ---- Estimators ---------------------------------------------------------------------------------- */

/* The same graph with a constant model for every factor. */
static void expand(const ct_graph *g, const ct_noise *noise, ct_graph **graph, ct_noise **table)
{
    ct_err err;
    CHECK_OK(ct_graph_copy(g, graph, &err), err);
    CHECK_OK(ct_noise_new(table, &err), err);
    for (int32_t f = 0; f < ct_graph_factors(g); f++) {
        double  S[36];
        char    name[32];
        int32_t index;
        CHECK_OK(ct_graph_covariance(g, noise, f, S, &err), err);
        snprintf(name, sizeof name, "%s%d", f ? "f" : "first", f);
        CHECK_OK(ct_noise_add_full(*table, name, ct_graph_factor(g, f).ops->rows, S, &index, &err), err);
        CHECK_OK(ct_graph_set_noise(*graph, f, index, &err), err);
        CHECK_OK(ct_graph_set_multiplier(*graph, f, 1, &err), err);
    }
}

static data with_matrix(ct_kind kind, int runs, int poses, const char *form)
{
    data d = make(CT_SITUATION_STREET, kind, runs, poses);
    CHECK_OK(ct_conditional_form(runs, list(&d), d.noise, ct_noise_find(d.noise, "gps"), form, NULL, NULL, &d.err),
             d.err);
    put_weights(d.noise, 7, kind == CT_SE2 ? 0.5 : 0.3);
    for (int32_t f = 5; f < ct_graph_factors(d.seq[0]->graph); f += 7) /* multipliers go along */
        CHECK_OK(ct_graph_set_multiplier(d.seq[0]->graph, f, 0.5 + 0.2 * (f % 9), &d.err), d.err);
    return d;
}

static void test_solvers_see_the_covariance_of_every_factor(void)
{
    for (int k = 0; k < 2; k++) {
        data            d = with_matrix(k ? CT_SE3 : CT_SE2, 1, 60, "linear:cos2a,sin2a/matrix");
        const ct_graph *g = d.seq[0]->graph;
        ct_graph       *same;
        ct_noise       *table;
        const size_t    bytes = (size_t)ct_graph_size(g) * sizeof(double);
        double         *x = malloc(bytes), *y = malloc(bytes);
        ct_solver      *a, *b;
        ct_solve_result r;
        expand(g, d.noise, &same, &table);
        memcpy(x, ct_graph_initial_const(g), bytes);
        memcpy(y, x, bytes);
        CHECK_NEAR(ct_graph_error(g, d.noise, x), ct_graph_error(same, table, y),
                   1e-9 * ct_graph_error(same, table, y));
        CHECK_OK(ct_solver_new(g, NULL, &a, &d.err), d.err);
        CHECK_OK(ct_solver_new(same, NULL, &b, &d.err), d.err);
        CHECK_OK(ct_solver_run(a, d.noise, x, NULL, &r, &d.err), d.err);
        const double error = r.final_error;
        CHECK_OK(ct_solver_run(b, table, y, NULL, &r, &d.err), d.err);
        CHECK_NEAR(error, r.final_error, 1e-8 * error);
        for (size_t i = 0; i < bytes / sizeof *x; i++) CHECK_NEAR(x[i], y[i], 1e-6);
        CHECK_OK(ct_solver_hessian(a, d.noise, x, &d.err), d.err); /* with curvature, which T' multiplies */
        CHECK_OK(ct_solver_hessian(b, table, x, &d.err), d.err);
        CHECK_NEAR(ct_sparse_log_determinant(ct_solver_system(a)), ct_sparse_log_determinant(ct_solver_system(b)),
                   1e-6);
        ct_replay_result replay;
        memcpy(x, ct_graph_initial_const(g), bytes);
        memcpy(y, x, bytes);
        CHECK_OK(ct_replay(g, d.noise, NULL, x, &replay, &d.err), d.err);
        CHECK_OK(ct_replay(same, table, NULL, y, &replay, &d.err), d.err);
        for (size_t i = 0; i < bytes / sizeof *x; i++) CHECK_NEAR(x[i], y[i], 1e-6);
        ct_solver_free(a);
        ct_solver_free(b);
        free(x);
        free(y);
        ct_graph_free(same);
        ct_noise_free(table);
        release(&d);
    }
}

static double likelihood_of(const ct_sequence *seq, const ct_noise *noise, ct_noise_kind kind, const double *shift,
                            double *gradient)
{
    ct_theta           *theta = theta_of(noise, kind);
    ct_likelihood      *l;
    ct_err              err;
    double             *p = calloc((size_t)ct_theta_count(theta) + 1, sizeof *p);
    ct_likelihood_value value = {.gradient = gradient};
    CHECK_OK(ct_likelihood_new(1, &seq, noise, theta, NULL, &l, &err), err);
    ct_theta_get(theta, noise, p);
    for (int32_t i = 0; shift && i < ct_theta_count(theta); i++) p[i] += shift[i];
    CHECK_OK(ct_likelihood_evaluate(l, p, NULL, &value, &err), err);
    ct_likelihood_free(l);
    ct_theta_free(theta);
    free(p);
    return value.value;
}

static void test_the_likelihood_is_that_of_constant_models(void)
{
    data        d = with_matrix(CT_SE2, 1, 30, "linear:cos2a,sin2a/matrix");
    ct_graph   *same;
    ct_noise   *table;
    ct_sequence other = *d.seq[0];
    double      g[6];
    for (int32_t f = 0; f < ct_graph_factors(d.seq[0]->graph); f++)
        CHECK_OK(ct_graph_set_multiplier(d.seq[0]->graph, f, 1, &d.err), d.err);
    expand(d.seq[0]->graph, d.noise, &same, &table);
    other.graph = same;
    const double value = likelihood_of(d.seq[0], d.noise, CT_NOISE_DIAGONAL, NULL, g);
    CHECK_NEAR(value, likelihood_of(&other, table, CT_NOISE_FULL, NULL, NULL), 1e-6 * fabs(value));
    for (int i = 0; i < 6; i++) { /* its gradient by log variances, through the curvature of residuals */
        const double h = 1e-4;
        double       high[6] = {0}, low[6] = {0};
        high[i] = h, low[i] = -h;
        const double slope = (likelihood_of(d.seq[0], d.noise, CT_NOISE_DIAGONAL, high, NULL) -
                              likelihood_of(d.seq[0], d.noise, CT_NOISE_DIAGONAL, low, NULL)) / (2 * h);
        CHECK_NEAR(g[i], slope, 1e-5 * (1 + fabs(slope)));
    }
    ct_graph_free(same);
    ct_noise_free(table);
    release(&d);
}

/* ---- Gradients ----------------------------------------------------------------------------------- */

/* The largest difference between the adjoint and central differences, relative to the largest derivative: by log
 * variances from the first-th on and every `stride`-th weight. */
static double gradient_error(const data *d, ct_noise_kind kind, int first, int stride)
{
    ct_theta              *theta = theta_of(d->noise, kind);
    const ct_outer_options how = precise();
    ct_err                 err;
    const int32_t          m = ct_theta_count(theta), n = ct_conditional_weights(theta, d->noise);
    double *g = calloc((size_t)(2 * (m + n)), sizeof *g), *other = g + m + n, p[64], loss[4], size = 0, worst = 0;
    CHECK_OK(ct_conditional_gradient(d->count, list(d), theta, &how, d->noise, loss, g, g + m, &err), err);
    for (int32_t i = 0; i < m + n; i++) size = fmax(size, fabs(g[i]));
    for (int32_t j = CT_MIN_OF(first, m); j < m + n; j++) {
        const double h = 1e-3;
        if (j >= m && (j - m) % stride) continue;
        for (int s = 0; s < 4; s++) { /* Richardson: h and h / 2 */
            const double step = (s & 1 ? -h : h) / (s & 2 ? 2 : 1);
            ct_noise    *moved;
            int32_t      at = m;
            CHECK_OK(ct_noise_copy(d->noise, &moved, &err), err);
            ct_theta_get(theta, moved, p);
            if (j < m) p[j] += step;
            CHECK_OK(ct_theta_apply(theta, p, moved, &err), err);
            for (int32_t k = 0; k < ct_noise_count(moved); k++) {
                const ct_function *f = ct_noise_get(moved, k)->function;
                if (f && j >= at && j < at + f->weights) f->weight[j - at] += step;
                if (f) at += f->weights;
            }
            CHECK_OK(ct_conditional_gradient(d->count, list(d), theta, &how, moved, &loss[s], other, other + m, &err),
                     err);
            ct_noise_free(moved);
        }
        const double wide = (loss[0] - loss[1]) / (2 * h), narrow = (loss[2] - loss[3]) / h;
        worst = fmax(worst, fabs((4 * narrow - wide) / 3 - g[j]) / size);
    }
    ct_theta_free(theta);
    free(g);
    return worst;
}

static void test_gradients_by_all_weights_are_those_of_differences(void)
{
    static const struct {
        const char   *form;
        ct_noise_kind kind;
        int           robust, stride;
    } CASE[] = {{"linear:cos2a,sin2a,cos2a*sin2a/matrix", CT_NOISE_DIAGONAL, 0, 1},
                {"linear:cos2a,sin2a/matrix", CT_NOISE_FULL, 1, 1},
                {"piecewise:cos2a/4/matrix", CT_NOISE_FULL, 0, 1},
                {"network:cos2a,sin2a/5x4/matrix", CT_NOISE_DIAGONAL, 1, 1}};
    for (size_t c = 0; c < sizeof CASE / sizeof *CASE; c++) {
        data          d = with_matrix(CT_SE2, 2, 30, CASE[c].form);
        const int32_t gps = ct_noise_find(d.noise, "gps");
        const double  S[9] = {0.5, 0.1, 0.002, 0.1, 0.3, 0.001, 0.002, 0.001, 0.01};
        if (CASE[c].kind == CT_NOISE_FULL) CHECK_OK(ct_noise_set_covariance(d.noise, gps, S, &d.err), d.err);
        if (CASE[c].robust)
            CHECK_OK(ct_noise_set_robust(d.noise, gps, (ct_robust){CT_ROBUST_CAUCHY, 3, 0}, &d.err), d.err);
        const double worst = gradient_error(&d, CASE[c].kind, 0, CASE[c].stride);
        if (!(worst < 1e-7)) fprintf(stderr, "%s: %g\n", CASE[c].form, worst);
        CHECK(worst < 1e-7);
        release(&d);
    }
    data         d = with_matrix(CT_SE3, 1, 15, "linear:cos2a,sin2a/matrix"); /* 63 weights */
    const double worst = gradient_error(&d, CT_NOISE_DIAGONAL, 0, 5);
    if (!(worst < 1e-7)) fprintf(stderr, "in space: %g\n", worst);
    CHECK(worst < 1e-7);
    release(&d);
}

/* Smallest and largest eigenvalue of D^-1 S D^-1 by powers of the matrix and of its shift. */
static void extremes(int n, const double *S, const double *unit, double *least, double *most)
{
    double shift = 0;
    for (int pass = 0; pass < 2; pass++) {
        double v[6], w[6], norm = 0;
        for (int i = 0; i < n; i++) v[i] = 1 + 0.37 * i;
        for (int k = 0; k < 20000; k++) {
            norm = 0;
            for (int i = 0; i < n; i++) {
                w[i] = pass ? shift * v[i] : 0;
                for (int j = 0; j < n; j++) w[i] += (pass ? -1 : 1) * S[i * n + j] / (unit[i] * unit[j]) * v[j];
                norm += w[i] * w[i];
            }
            norm = sqrt(norm);
            for (int i = 0; i < n; i++) v[i] = w[i] / norm;
        }
        if (pass == 0) *most = shift = norm;
        else *least = shift - norm;
    }
}

static void test_eigenvalues_stay_within_the_bounds_of_every_factor(void)
{
    data          d = make(CT_SITUATION_STREET, CT_SE2, 1, 60);
    const int32_t gps = ct_noise_find(d.noise, "gps"), far = 1;
    const double sigma = ct_noise_sigma(ct_noise_get(d.noise, gps), 0),
                 yaw = ct_noise_sigma(ct_noise_get(d.noise, gps), 2);
    const double lower[] = {0.3 * sigma * sigma, 0.25 * sigma * sigma, 0.2 * yaw * yaw};
    const double upper[] = {3 * sigma * sigma, 4 * sigma * sigma, 5 * yaw * yaw};
    int           low = 0, high = 0;
    CHECK_OK(ct_conditional_form(1, list(&d), d.noise, gps, "linear:cos2a,sin2a/matrix", lower, upper, &d.err), d.err);
    put_weights(d.noise, 5, 20);
    CHECK_OK(ct_graph_set_feature(d.seq[0]->graph, "cos2a", 1, &far, (const double[]){1e9}, &d.err), d.err);
    for (int32_t f = 0; f < ct_graph_factors(d.seq[0]->graph); f++) {
        double S[9], least, most;
        if (ct_graph_factor(d.seq[0]->graph, f).noise != gps) continue;
        CHECK_OK(ct_graph_covariance(d.seq[0]->graph, d.noise, f, S, &d.err), d.err);
        extremes(3, S, ct_noise_get(d.noise, gps)->function->unit, &least, &most);
        CHECK(least >= 0.3 * (1 - 1e-6) && most <= 3 * (1 + 1e-6)); /* the tightest row's */
        low += least < 0.3 * (1 + 1e-6);
        high += most > 3 * (1 - 1e-6);
        for (int i = 0; i < 3; i++)
            CHECK(S[4 * i] >= lower[i] * (1 - 1e-9) && S[4 * i] <= upper[i] * (1 + 1e-9));
    }
    CHECK(low > 20 && high > 20);
    release(&d);
}

static void test_gradients_hold_where_eigenvalues_are_cut(void)
{
    data          d = with_matrix(CT_SE2, 1, 30, "linear:cos2a,sin2a/matrix");
    const int32_t gps = ct_noise_find(d.noise, "gps");
    ct_function  *f = ct_function_copy(ct_noise_get(d.noise, gps)->function);
    for (int i = 0; i < 3; i++)
        f->lower[i] = 0.4 * f->unit[i] * f->unit[i], f->upper[i] = 2.5 * f->unit[i] * f->unit[i];
    CHECK_OK(ct_noise_set_function(d.noise, gps, f, &d.err), d.err);
    ct_function_free(f);
    int cut = 0, uncut = 0;
    for (int32_t k = 0; k < ct_graph_factors(d.seq[0]->graph); k++) {
        double S[9], least, most;
        if (ct_graph_factor(d.seq[0]->graph, k).noise != gps) continue;
        const double m = ct_graph_factor(d.seq[0]->graph, k).multiplier;
        CHECK_OK(ct_graph_covariance(d.seq[0]->graph, d.noise, k, S, &d.err), d.err);
        extremes(3, S, ct_noise_get(d.noise, gps)->function->unit, &least, &most);
        cut += most / m > 2.5 * (1 - 1e-6) || least / m < 0.4 * (1 + 1e-6);
        uncut += most / m < 2.4 || least / m > 0.42;
    }
    if (!(cut > 5 && uncut > 5)) fprintf(stderr, "%d factors have a cut eigenvalue, %d another\n", cut, uncut);
    CHECK(cut > 5 && uncut > 5);
    const double worst = gradient_error(&d, CT_NOISE_DIAGONAL, 1000, 1);
    if (!(worst < 1e-7)) fprintf(stderr, "cut: %g\n", worst);
    CHECK(worst < 1e-7);
    release(&d);
}

/* ---- Files and refusals -------------------------------------------------------------------------- */

static void test_noise_files_keep_matrix_functions_to_the_bit(void)
{
    static const char *const FORM[] = {"linear:cos2a,sin2a/matrix", "piecewise:cos2a,sin2a/4/matrix",
                                       "network:cos2a,sin2a/6/matrix"};
    char path[512], line[256];
    snprintf(path, sizeof path, "%s/matrix.json", ct_test_folder());
    for (int k = 0; k < 3; k++) {
        data      d = with_matrix(CT_SE2, 1, 20, FORM[k]);
        ct_noise *again;
        int       version = 0;
        CHECK_OK(ct_noise_write(d.noise, path, &d.err), d.err);
        FILE *file = fopen(path, "r");
        while (file && fgets(line, sizeof line, file)) version |= strstr(line, "\"version\": 3") != NULL;
        if (file) fclose(file);
        CHECK(version); /* programs that read 2 would not know the word */
        CHECK_OK(ct_noise_new(&again, &d.err), d.err);
        CHECK_OK(ct_noise_read(again, path, &d.err), d.err);
        for (int32_t f = 0; f < ct_graph_factors(d.seq[0]->graph); f++) {
            double A[36], B[36];
            CHECK_OK(ct_graph_covariance(d.seq[0]->graph, d.noise, f, A, &d.err), d.err);
            CHECK_OK(ct_graph_covariance(d.seq[0]->graph, again, f, B, &d.err), d.err);
            CHECK(!memcmp(A, B, 9 * sizeof *A));
        }
        ct_noise_free(again);
        release(&d);
    }
}

static void test_bad_files_are_refused_by_sentences(void)
{
    static const struct {
        const char *function, *sentence;
    } BAD[] = {
#define HEAD "{\"kind\": \"linear\", \"rows\": \"matrix\", "
#define FEATURE "\"features\": [{\"name\": \"a\", \"mean\": 0, \"deviation\": 1, \"low\": 0, \"high\": 1}], "
        {HEAD FEATURE "\"terms\": [\"1\", \"a\"], \"weights\": [[1, 2], [2, 1], [0, 0]]}",
         "groups.gps.function.units: expected a list of 2 numbers"},
        {HEAD "\"units\": [1, 1, 1], " FEATURE "\"terms\": [\"1\"], \"weights\": [[1], [2], [0]]}",
         "groups.gps.function.units: expected a list of 2 numbers, found a list of 3"},
        {HEAD "\"units\": [1, 0], " FEATURE "\"terms\": [\"1\"], \"weights\": [[1], [2], [0]]}",
         "row 1 of its matrix function has the unit 0"},
        {HEAD "\"units\": [1, 1], " FEATURE "\"terms\": [\"1\", \"a\"], \"weights\": [[1, 2], [2, 1]]}",
         "groups.gps.function.weights: expected 3 lists of 2 numbers, found 2 lists"},
        {HEAD "\"units\": [1, 1], " FEATURE "\"terms\": [\"1\", \"a\"], \"weights\": [[1], [2], [3]]}",
         "groups.gps.function.weights: expected a list of 2 numbers, found a list of 1"},
        {"{\"kind\": \"linear\", " FEATURE "\"terms\": [\"1\"], \"weights\": [[1], [2]]}",
         "function.terms[]: expected a feature, or a product of two, found \"1\""},
        {"{\"kind\": \"linear\", \"rows\": \"tensor\"}",
         "groups.gps.function.rows: expected each, shared or matrix, found \"tensor\""},
    };
    char path[512];
    snprintf(path, sizeof path, "%s/bad.json", ct_test_folder());
    for (size_t i = 0; i < sizeof BAD / sizeof *BAD; i++) {
        ct_noise *noise;
        ct_err    err;
        FILE     *file = fopen(path, "w");
        fprintf(file,
                "{\"format\": \"covtune-noise\", \"version\": 3, \"groups\": {\"gps\": {\"variance\": [1, 1], "
                "\"function\": %s}}}\n",
                BAD[i].function);
        fclose(file);
        CHECK_OK(ct_noise_new(&noise, &err), err);
        CHECK_REFUSED(ct_noise_read(noise, path, &err), err, BAD[i].sentence);
        CHECK(ct_noise_count(noise) == 0);
        ct_noise_free(noise);
    }
}

static void test_what_no_matrix_can_be_learned_of_is_refused_by_sentences(void)
{
    data          d = make(CT_SITUATION_STREET, CT_SE2, 2, 40);
    const int32_t gps = ct_noise_find(d.noise, "gps");
    int32_t       one;
    for (int i = 0; i < 2; i++)
        for (int32_t f = 0; f < ct_graph_factors(d.seq[i]->graph); f++) {
            ct_graph    *g = d.seq[i]->graph;
            const double c = ct_graph_feature(g, f, ct_graph_find_feature(g, "cos2a"));
            if (isnan(c)) continue;
            CHECK_OK(ct_graph_set_feature(g, "twice", 1, &f, (const double[]){1 - 3 * c}, &d.err), d.err);
            CHECK_OK(ct_graph_set_feature(g, "same", 1, &f, (const double[]){7}, &d.err), d.err);
        }
#define REFUSED(model, text, sentence) \
    CHECK_REFUSED(ct_conditional_form(2, list(&d), d.noise, model, text, NULL, NULL, &d.err), d.err, sentence)
    REFUSED(gps, "linear:hdop/matrix", "noise model gps is to depend on hdop, which factor 2");
    REFUSED(gps, "linear:cos2a,same/matrix", "feature same is 7 in all 78 measurements");
    REFUSED(gps, "linear:cos2a,twice/matrix", "features cos2a and twice are one up to scale and offset");
    REFUSED(gps, "linear:cos2a/matrix/shared", "is shared, or a matrix, twice or both");
    REFUSED(gps, "linear:cos2a/shared/matrix", "is shared, or a matrix, twice or both");
    CHECK_OK(ct_noise_add_isotropic(d.noise, "one", 1, 1, &one, &d.err), d.err);
    REFUSED(one, "linear:cos2a/matrix", "the model has one row; leave /matrix out");
#undef REFUSED
    CHECK_OK(ct_conditional_form(2, list(&d), d.noise, gps, "linear:cos2a/matrix", NULL, NULL, &d.err), d.err);
    ct_function *f = ct_function_copy(ct_noise_get(d.noise, gps)->function);
    f->outputs = 3;
    CHECK_REFUSED(ct_noise_set_function(d.noise, gps, f, &d.err), d.err,
                  "its matrix function has 3 outputs; for 3 rows it must have 6");
    f->outputs = 6;
    f->weights = 11;
    CHECK_REFUSED(ct_noise_set_function(d.noise, gps, f, &d.err), d.err,
                  "its function has 11 weights; its form has 12");
    f->weights = 12;
    f->weight[3] = NAN;
    CHECK_REFUSED(ct_noise_set_function(d.noise, gps, f, &d.err), d.err, "weight 3 of its function is nan");
    f->weight[3] = 0;
    f->unit[1] = NAN;
    CHECK_REFUSED(ct_noise_set_function(d.noise, gps, f, &d.err), d.err,
                  "row 1 of its matrix function has the unit nan");
    ct_function_free(f);
    ct_theta *theta = theta_of(d.noise, CT_NOISE_DIAGONAL);
    CHECK_OK(ct_theta_tie(theta, gps, 0, gps, 1, &d.err), d.err);
    CHECK_REFUSED(ct_conditional_check(theta, d.noise, &d.err), d.err,
                  "rows 0 and 1 share one variance, and its function has a variance for each; give them variances of "
                  "their own, or leave /matrix out");
    ct_theta_free(theta);
    double S[9], x = NAN; /* a feature that is missing: no number, and no crash */
    ct_noise_covariance_at(ct_noise_get(d.noise, gps), &x, S);
    CHECK(isnan(S[0]) && isnan(S[1]));
    release(&d);
}

int main(void)
{
    RUN(test_the_covariance_is_that_of_the_formula);
    RUN(test_diagonal_and_isotropic_matrices_are_row_and_shared_functions);
    RUN(test_solvers_see_the_covariance_of_every_factor);
    RUN(test_the_likelihood_is_that_of_constant_models);
    RUN(test_gradients_by_all_weights_are_those_of_differences);
    RUN(test_eigenvalues_stay_within_the_bounds_of_every_factor);
    RUN(test_gradients_hold_where_eigenvalues_are_cut);
    RUN(test_noise_files_keep_matrix_functions_to_the_bit);
    RUN(test_bad_files_are_refused_by_sentences);
    RUN(test_what_no_matrix_can_be_learned_of_is_refused_by_sentences);
    return ct_test_end();
}
