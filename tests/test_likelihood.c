/* test_likelihood.c: the likelihood: its value against dense algebra, its gradient against differences, its limit
 * against the closed form, its maximum against latent values. */
#include "evaluate_test.h"
#include "graph_lesson_test.h"
#include "likelihood/likelihood.h"

#include <covtune/likelihood.h>

/* What of the truth is kept. */
enum { ALL, POSITIONS, EVERY_TENTH, NONE };

static void keep_truth(lesson *l, int what)
{
    for (int i = 0; i < l->runs; i++)
        for (int32_t v = 0; v < ct_graph_variables(l->seq[i]->graph); v++) {
            const int planar = ct_graph_kind(l->seq[i]->graph, v) == CT_SE2;
            if (what == POSITIONS) l->seq[i]->known[v] = planar ? 3 : 0x38;
            if (what == NONE || (what == EVERY_TENTH && v % 10)) l->seq[i]->known[v] = 0;
        }
}

static ct_likelihood *open_likelihood(lesson *l, const ct_likelihood_options *options)
{
    ct_likelihood *out = NULL;
    CHECK_OK(ct_likelihood_new(l->runs, (const ct_sequence *const *)l->seq, l->noise, l->theta, options, &out, &l->err),
             l->err);
    return out;
}

/* ---- Value ----------------------------------------------------------------------------------- */

/* A chain on a line, x0 = 0 fixed: z_k = x_k - x_(k-1) + a, y_k = x_k + b, truth t_k = x_k + c at some k. Odometry
 * fixes x but for its noise, so what remains of y and t is Gaussian with a covariance V that is known. */
#define CHAIN 6
#define LINE  (CHAIN + 2) /* y, and two of t */

static const double ODOM[CHAIN] = {1.1, 0.8, 1.3, 0.9, 1.05, 1.2}, GPS[CHAIN] = {0.7, 2.2, 3.5, 3.8, 5.1, 6.6};
static const double TRUTH[CHAIN + 1] = {0, 1.05, 0, 0, 4.2, 0, 0};
static const int    KNOWN[2] = {1, 4};

static lesson line_lesson(void)
{
    lesson    l = {.runs = 1};
    ct_graph *graph;
    int32_t   odom, gps, x[CHAIN + 1];
    CHECK_OK(ct_noise_new(&l.noise, &l.err), l.err);
    CHECK_OK(ct_noise_add_isotropic(l.noise, "odom", 1, 0.04, &odom, &l.err), l.err);
    CHECK_OK(ct_noise_add_isotropic(l.noise, "gps", 1, 0.25, &gps, &l.err), l.err);
    CHECK_OK(ct_graph_new(&graph, &l.err), l.err);
    for (int k = 0; k <= CHAIN; k++) CHECK_OK(ct_graph_add_variable(graph, NULL, CT_R1, NULL, &x[k], &l.err), l.err);
    ct_graph_fix(graph, x[0], 1);
    for (int k = 0; k < CHAIN; k++) {
        CHECK_OK(ct_graph_add_between(graph, x[k], x[k + 1], &ODOM[k], odom, &l.err), l.err);
        CHECK_OK(ct_graph_add_prior(graph, x[k + 1], &GPS[k], gps, &l.err), l.err);
    }
    CHECK_OK(ct_sequence_new(graph, &l.seq[0], &l.err), l.err);
    l.seq[0]->truth = memcpy(malloc(sizeof TRUTH), TRUTH, sizeof TRUTH);
    l.seq[0]->known = calloc(CHAIN + 1, 1);
    l.seq[0]->known[KNOWN[0]] = l.seq[0]->known[KNOWN[1]] = 1;
    l.seq[0]->truth_sigma[0] = 0.1;
    learn_all(&l, CT_NOISE_ISOTROPIC, 1e-6, 1e6);
    return l;
}

/* z <- y and t less the sums of the odometry; V <- their covariance for variances a of odometry, b of y, c of t. */
static void line_covariance(double a, double b, double c, double *V, double *z)
{
    for (int i = 0; i < LINE; i++) {
        const int pose = i < CHAIN ? i + 1 : KNOWN[i - CHAIN];
        z[i] = i < CHAIN ? GPS[i] : TRUTH[pose];
        for (int k = 0; k < pose; k++) z[i] -= ODOM[k];
        for (int j = 0; j < LINE; j++) {
            const int other = j < CHAIN ? j + 1 : KNOWN[j - CHAIN];
            V[i * LINE + j] = a * (pose < other ? pose : other) + (i == j ? (i < CHAIN ? b : c) : 0);
        }
    }
}

/* V <- its Cholesky factor. */
static void factor(double *V)
{
    for (int i = 0; i < LINE; i++)
        for (int j = 0; j <= i; j++) {
            double s = V[i * LINE + j];
            for (int k = 0; k < j; k++) s -= V[i * LINE + k] * V[j * LINE + k];
            V[i * LINE + j] = i == j ? sqrt(s) : s / V[j * LINE + j];
        }
}

/* u <- L^-1 u, and then, if both, L'^-1 u. */
static void substitute(const double *L, int both, double *u)
{
    for (int i = 0; i < LINE; i++) {
        for (int k = 0; k < i; k++) u[i] -= L[i * LINE + k] * u[k];
        u[i] /= L[i * LINE + i];
    }
    for (int i = LINE - 1; both && i >= 0; i--) {
        for (int k = i + 1; k < LINE; k++) u[i] -= L[k * LINE + i] * u[k];
        u[i] /= L[i * LINE + i];
    }
}

/* -log p = 1/2 z'V^-1 z + 1/2 log det V, but for a constant: factors of 2 pi and the truth's sigma. */
static void test_the_value_on_a_line_is_that_of_dense_algebra(void)
{
    lesson         l = line_lesson();
    ct_likelihood *likelihood = open_likelihood(&l, NULL);
    double         difference[3];
    for (int at = 0; at < 3; at++) {
        const double        p[2] = {log(0.0004), log(0.0002)};
        double              V[LINE * LINE], z[LINE];
        ct_likelihood_value value = {0};
        line_covariance(exp(p[0]), exp(p[1]), 0.01, V, z);
        factor(V);
        substitute(V, 0, z);
        CHECK_OK(ct_likelihood_evaluate(likelihood, p, NULL, &value, &l.err), l.err);
        difference[at] = value.value;
        for (int i = 0; i < LINE; i++) difference[at] -= 0.5 * z[i] * z[i] + log(V[i * LINE + i]);
    }
    printf("  L less dense -log p: %.12g %.12g %.12g\n", difference[0], difference[1], difference[2]);
    CHECK_NEAR(difference[1], difference[0], 1e-10);
    CHECK_NEAR(difference[2], difference[0], 1e-10);
    ct_likelihood_free(likelihood);
    lesson_free(&l);
}

/* A_ij = 1/2 u'V_i V^-1 V_j u, u = V^-1 z, V_i = dV/dp_i: where variances are too small, so that the diagonal is above
 * its floor, which is at most half the number of factors. */
static void test_the_information_on_a_line_is_that_of_dense_algebra(void)
{
    lesson              l = line_lesson();
    ct_likelihood      *likelihood = open_likelihood(&l, NULL);
    const double        p[2] = {log(0.0004), log(0.0002)};
    double              gradient[2], A[4], V[LINE * LINE], u[LINE], Vu[2][LINE], solved[2][LINE];
    ct_likelihood_value value = {.gradient = gradient, .information = A};
    CHECK_OK(ct_likelihood_evaluate(likelihood, p, NULL, &value, &l.err), l.err);
    line_covariance(exp(p[0]), exp(p[1]), 0.01, V, u);
    factor(V);
    substitute(V, 1, u);
    for (int i = 0; i < 2; i++) {
        double slope[LINE * LINE], unused[LINE];
        line_covariance(i ? 0 : exp(p[0]), i ? exp(p[1]) : 0, 0, slope, unused);
        for (int r = 0; r < LINE; r++) {
            Vu[i][r] = 0;
            for (int c = 0; c < LINE; c++) Vu[i][r] += slope[r * LINE + c] * u[c];
        }
        memcpy(solved[i], Vu[i], sizeof solved[i]);
        substitute(V, 1, solved[i]);
    }
    for (int i = 0; i < 2; i++)
        for (int j = 0; j < 2; j++) {
            double dense = 0;
            for (int r = 0; r < LINE; r++) dense += 0.5 * Vu[i][r] * solved[j][r];
            printf("  information %d, %d: %.9g, dense %.9g\n", i, j, A[i * 2 + j], dense);
            CHECK(i != j || dense > CHAIN / 2.0);
            CHECK_NEAR(A[i * 2 + j] / dense, 1, 1e-9);
        }
    ct_likelihood_free(likelihood);
    lesson_free(&l);
}

/* ---- Gradient -------------------------------------------------------------------------------- */

static double value_at(ct_likelihood *likelihood, const double *p, int32_t i, double h)
{
    double              q[64];
    ct_err              err;
    ct_likelihood_value value = {0};
    memcpy(q, p, sizeof q);
    q[i] += h;
    CHECK_OK(ct_likelihood_evaluate(likelihood, q, NULL, &value, &err), err);
    return value.value;
}

/* Central differences, extrapolated; the error of the gradient over its norm. */
static void check_gradient(lesson *l, const ct_likelihood_options *options, const char *what)
{
    double         p[64], g[64], error = 0, norm = 0;
    const int32_t  m = ct_theta_count(l->theta);
    ct_likelihood *likelihood = open_likelihood(l, options);
    CHECK(m <= 64);
    ct_theta_get(l->theta, l->noise, p);
    ct_likelihood_value value = {.gradient = g};
    CHECK_OK(ct_likelihood_evaluate(likelihood, p, NULL, &value, &l->err), l->err);
    CHECK(value.failed == 0 && value.inexact == 0);
    ct_likelihood_accept(likelihood);
    for (int32_t i = 0; i < m; i++) {
        const double h = 2e-3;
        const double d1 = (value_at(likelihood, p, i, h) - value_at(likelihood, p, i, -h)) / (2 * h);
        const double d2 = (value_at(likelihood, p, i, 2 * h) - value_at(likelihood, p, i, -2 * h)) / (4 * h);
        const double d4 = (value_at(likelihood, p, i, 4 * h) - value_at(likelihood, p, i, -4 * h)) / (8 * h);
        const double a = (4 * d1 - d2) / 3, b = (4 * d2 - d4) / 3, d = (16 * a - b) / 15;
        error += (g[i] - d) * (g[i] - d);
        norm += d * d;
    }
    printf("  %-34s m %2d  L %12.5f  error of the gradient %.1e\n", what, m, value.value, sqrt(error / norm));
    CHECK(sqrt(error / norm) < 1e-7);
    ct_likelihood_free(likelihood);
}

static void check_navigation(const char *preset, ct_kind space, ct_noise_kind kind, int far, int truth, double sigma,
                             const char *what)
{
    lesson                l = lesson_of(preset, space, 2, 60, 5);
    ct_likelihood_options options = ct_likelihood_defaults();
    options.truth_sigma[0] = options.truth_sigma[1] = sigma;
    keep_truth(&l, truth);
    if (far) start_far(&l);
    learn_all(&l, kind, 1e-6, 1e6);
    check_gradient(&l, &options, what);
    lesson_free(&l);
}

static void test_gradients_in_the_plane(void)
{
    check_navigation("D3", CT_SE2, CT_NOISE_DIAGONAL, 0, ALL, 0.01, "plane, full truth");
    check_navigation("D3", CT_SE2, CT_NOISE_DIAGONAL, 0, POSITIONS, 0.01, "plane, positions");
    check_navigation("D1", CT_SE2, CT_NOISE_FULL, 0, EVERY_TENTH, 0, "plane, full, every tenth, default");
    check_navigation("D2", CT_SE2, CT_NOISE_DIAGONAL, 1, NONE, 0, "plane, far, no truth");
    check_navigation("D1", CT_SE2, CT_NOISE_ISOTROPIC, 0, NONE, 0, "plane, isotropic, no truth");
}

/* Known multiples of the covariances: log m is a constant, so L differs by it from L of models m Sigma. */
static void test_gradients_with_multipliers(void)
{
    lesson l = lesson_of("D3", CT_SE2, 2, 60, 8);
    keep_truth(&l, POSITIONS);
    learn_all(&l, CT_NOISE_DIAGONAL, 1e-6, 1e6);
    for (int i = 0; i < l.runs; i++)
        for (int32_t f = 0; f < ct_graph_factors(l.seq[i]->graph); f++)
            CHECK_OK(ct_graph_set_multiplier(l.seq[i]->graph, f, 0.2 + 0.3 * (f % 7), &l.err), l.err);
    check_gradient(&l, NULL, "plane, positions, multipliers");
    lesson_free(&l);
}

static void test_gradients_in_space(void)
{
    check_navigation("D1", CT_SE3, CT_NOISE_DIAGONAL, 0, NONE, 0, "space, no truth");
    check_navigation("D2", CT_SE3, CT_NOISE_FULL, 0, POSITIONS, 0.1, "space, full, positions");
}

static void test_gradients_through_kernels(void)
{
    static const ct_robust KERNEL[] = {
        {CT_ROBUST_HUBER, 2.7, 0}, {CT_ROBUST_CAUCHY, 4, 0}, {CT_ROBUST_MAX_MIXTURE, 2.1, 3}};
    for (size_t k = 0; k < sizeof KERNEL / sizeof *KERNEL; k++) {
        lesson l = lesson_of("D1", CT_SE2, 2, 60, 11 + k);
        keep_truth(&l, EVERY_TENTH);
        learn_all(&l, k % 2 ? CT_NOISE_FULL : CT_NOISE_DIAGONAL, 1e-6, 1e6);
        for (int32_t g = 0; g < 2; g++) CHECK_OK(ct_noise_set_robust(l.noise, g, KERNEL[k], &l.err), l.err);
        check_gradient(&l, NULL, ct_robust_name(KERNEL[k].kind));
        lesson_free(&l);
    }
}

static void check_random_graph(uint64_t seed, int has, const char *what)
{
    lesson l = lesson_of_graph(seed, has, 0);
    check_gradient(&l, NULL, what);
    lesson_free(&l);
}

static void test_gradients_on_graphs_of_every_measurement(void)
{
    check_random_graph(3, PLANE | LOOPS | LANDMARKS, "plane, landmarks");
    check_random_graph(4, SPACE | LOOPS | LANDMARKS, "space, landmarks");
    check_random_graph(5, PLANE | SPACE | VECTORS | LOOPS | LANDMARKS | ROBUST | FIXED, "everything");
}

/* ---- Normalisers ----------------------------------------------------------------------------- */

/* The integral over d by the trapezoidal rule in log d, against a Gaussian's. */
static double integrate(ct_robust robust, int n)
{
    double sum[2] = {0, 0};
    for (int i = 0; i < 400000; i++) {
        const double t = -30 + i * 2e-4, d = exp(t), power = exp(n * t);
        sum[0] += power * exp(-ct_robust_error(robust, d * d, NULL));
        sum[1] += power * exp(-0.5 * d * d);
    }
    return log(sum[0] / sum[1]);
}

static void test_normalisers_of_kernels_are_their_integrals(void)
{
    static const double WIDTH[] = {0.3, 1.345, 2.7, 6};
    double              worst = 0;
    for (int n = 1; n <= 6; n++)
        for (size_t k = 0; k < 4; k++) {
            const ct_robust huber = {CT_ROBUST_HUBER, WIDTH[k], 0}, cauchy = {CT_ROBUST_CAUCHY, sqrt(n + WIDTH[k]), 0};
            worst = fmax(worst, fabs(ct_robust_log_normaliser(huber, n) - integrate(huber, n)));
            if (WIDTH[k] > 1) worst = fmax(worst, fabs(ct_robust_log_normaliser(cauchy, n) - integrate(cauchy, n)));
        }
    printf("  largest difference %.1e\n", worst);
    CHECK(worst < 1e-8);
    CHECK(ct_robust_log_normaliser((ct_robust){0}, 3) == 0);
    CHECK(isinf(ct_robust_log_normaliser((ct_robust){CT_ROBUST_CAUCHY, 1.4, 0}, 2)));
    CHECK(isinf(ct_robust_log_normaliser((ct_robust){CT_ROBUST_TUKEY, 4.7, 0}, 1)));
    CHECK(isinf(ct_robust_log_normaliser((ct_robust){CT_ROBUST_GEMAN_MCCLURE, 1, 0}, 1)));
    CHECK(fabs(ct_robust_log_normaliser((ct_robust){CT_ROBUST_HUBER, 100, 0}, 3)) < 1e-12);
}

/* ---- Truth ----------------------------------------------------------------------------------- */

/* Its sigma: that of the sequence, else the option, else a fraction of the motion; 0 where there is none or it is not
 * used. Solves that start over end in the same bits. */
static void test_the_sigma_of_the_truth(void)
{
    lesson                l = lesson_of("D1", CT_SE2, 3, 40, 2);
    ct_likelihood_options options = ct_likelihood_defaults();
    double                sigma[2], p[6];
    learn_all(&l, CT_NOISE_DIAGONAL, 1e-6, 1e6);
    ct_theta_get(l.theta, l.noise, p);
    l.seq[0]->truth_sigma[0] = 0.25;
    free(l.seq[2]->truth);
    free(l.seq[2]->known);
    l.seq[2]->truth = NULL;
    l.seq[2]->known = NULL;
    options.truth_sigma[1] = 0.125;
    ct_likelihood *likelihood = open_likelihood(&l, &options);
    ct_likelihood_truth_sigma(likelihood, 0, sigma);
    CHECK(sigma[0] == 0.25 && sigma[1] == 0.125);
    ct_likelihood_truth_sigma(likelihood, 1, sigma);
    CHECK(sigma[0] > 1e-6 && sigma[0] < 1e-3 && sigma[1] == 0.125); /* steps of about a metre */
    ct_likelihood_truth_sigma(likelihood, 2, sigma);
    CHECK(sigma[0] == 0 && sigma[1] == 0);
    ct_likelihood_value first = {0}, second = {0}, again = {0};
    CHECK_OK(ct_likelihood_evaluate(likelihood, p, NULL, &first, &l.err), l.err);
    ct_likelihood_accept(likelihood);
    CHECK_OK(ct_likelihood_evaluate(likelihood, p, NULL, &second, &l.err), l.err);
    CHECK(second.iterations < first.iterations && fabs(second.value - first.value) < 1e-6);
    ct_likelihood_start_over(likelihood);
    CHECK_OK(ct_likelihood_evaluate(likelihood, p, NULL, &again, &l.err), l.err);
    CHECK(again.value == first.value && again.iterations == first.iterations);
    ct_likelihood_free(likelihood);
    lesson_free(&l);
}

/* ---- Maximum --------------------------------------------------------------------------------- */

/* Closed form as the truth's sigma goes to zero: the difference is proportional to its square, at least. */
static void test_it_tends_to_the_closed_form(void)
{
    lesson l = lesson_of("D3", CT_SE2, 3, 80, 3);
    double closed[32], last = INFINITY;
    learn_all(&l, CT_NOISE_DIAGONAL, 1e-12, 1e6);
    open_outer(&l, NULL);
    CHECK_OK(ct_outer_closed_form(l.outer, NULL, closed, NULL, &l.err), l.err);
    for (int k = 0; k < 3; k++) {
        static const double   SIGMA[] = {1e-3, 1e-5, 1e-7};
        ct_likelihood_options options = ct_likelihood_defaults();
        ct_maximise_options   maximise = ct_maximise_defaults();
        ct_maximise_result    result;
        double                p[32], largest = 0;
        options.truth_sigma[0] = options.truth_sigma[1] = SIGMA[k] * 0.1; /* residuals are .03 to 1 */
        maximise.prior_deviation = INFINITY;
        maximise.tolerance = 1e-14;
        ct_likelihood *likelihood = open_likelihood(&l, &options);
        ct_theta_get(l.theta, l.noise, p);
        CHECK_OK(ct_likelihood_maximise(likelihood, NULL, &maximise, p, &result, &l.err), l.err);
        for (int32_t i = 0; i < ct_theta_count(l.theta); i++) largest = fmax(largest, fabs(p[i] - closed[i]));
        printf("  truth's sigma %.0e of the residuals: log variances differ by %.1e (%d iterations, %s)\n", SIGMA[k],
               largest, result.iterations, result.stop == CT_MAXIMISE_CONVERGED ? "converged" : "rounding");
        CHECK(largest < 0.05 * last || largest < 2e-7);
        last = largest;
        ct_maximise_result_free(&result);
        ct_likelihood_free(likelihood);
    }
    lesson_free(&l);
}

/* Odometry of D1 with one step in ten five times too large: the maximum asks for a narrow kernel; without outliers for
 * a wide one. */
static double learned_width(int outliers, ct_robust robust)
{
    lesson l = lesson_of("D1", CT_SE2, 3, 150, 9);
    double p[6];
    ct_rng rng = ct_rng_seed(3);
    learn_all(&l, CT_NOISE_DIAGONAL, 1e-8, 1e6);
    for (int i = 0; i < l.runs; i++) {
        ct_graph *graph = l.seq[i]->graph;
        for (int32_t f = 0; f < ct_graph_factors(graph); f++) {
            const ct_factor k = ct_graph_factor(graph, f);
            double         *z = (double *)k.z; /* the test owns the graph */
            if (k.ops->arity != 2 || !outliers || ct_rng_uniform(&rng) > 0.1) continue;
            const double d[3] = {0.5 * ct_rng_normal(&rng), 0.5 * ct_rng_normal(&rng), 0.5 * ct_rng_normal(&rng)};
            ct_kind_retract(CT_SE2, z, d, z);
        }
    }
    const int32_t odom = ct_noise_find(l.noise, "odom");
    CHECK_OK(ct_noise_set_robust(l.noise, odom, robust, &l.err), l.err);
    ct_likelihood *likelihood = open_likelihood(&l, NULL);
    ct_theta_get(l.theta, l.noise, p);
    CHECK_OK(ct_likelihood_learn_kernels(likelihood, NULL, NULL, p, &l.err), l.err);
    const double width = ct_likelihood_robust(likelihood, odom).width;
    printf("  %s from %.2f, %s: %.2f sigmas, log variances %.2f %.2f %.2f\n", ct_robust_name(robust.kind), robust.width,
           outliers ? "outliers" : "none", width, p[0], p[1], p[2]);
    CHECK_REFUSED(ct_likelihood_set_robust(likelihood, odom, (ct_robust){CT_ROBUST_TUKEY, 4, 0}, &l.err), l.err,
                  "\"odom\": exp(-rho) of kernel tukey 4 has no finite integral over 3 rows");
    CHECK(ct_likelihood_robust(likelihood, -1).kind == CT_ROBUST_NONE);
    ct_likelihood_free(likelihood);
    lesson_free(&l);
    return width;
}

static void test_widths_of_kernels_follow_the_tails(void)
{
    const double narrow = learned_width(1, (ct_robust){CT_ROBUST_HUBER, 4, 0});
    const double wide = learned_width(0, (ct_robust){CT_ROBUST_HUBER, 1.345, 0});
    CHECK(narrow < 1.5 && wide > 2.2);
    const double heavy = learned_width(1, (ct_robust){CT_ROBUST_CAUCHY, 6, 0});
    const double light = learned_width(0, (ct_robust){CT_ROBUST_CAUCHY, 2.4, 0});
    CHECK(heavy < 3 && light > 5);
}

/* Ranges to two points on the x axis do not tell y from -y, a prior does. A start on the wrong side ends there, unless
 * the solve also runs from where solves began. */
static void test_solves_also_run_from_their_first_start(void)
{
    lesson    l = {.runs = 1};
    ct_graph *graph;
    int32_t   near, range, x;
    CHECK_OK(ct_noise_new(&l.noise, &l.err), l.err);
    CHECK_OK(ct_noise_add_isotropic(l.noise, "near", 3, 1, &near, &l.err), l.err);
    CHECK_OK(ct_noise_add_isotropic(l.noise, "range", 1, 0.01, &range, &l.err), l.err);
    CHECK_OK(ct_graph_new(&graph, &l.err), l.err);
    const double pose[2][4] = {{2, 1, 1, 0}, {2, -2, 1, 0}};
    CHECK_OK(ct_graph_add_variable(graph, NULL, CT_SE2, pose[0], &x, &l.err), l.err);
    CHECK_OK(ct_graph_add_prior(graph, x, pose[0], near, &l.err), l.err);
    for (int k = 0; k < 2; k++) {
        const double z[6] = {2.5 + 0.02 * k, 4 * k, 0, 0, 0, 0};
        CHECK_OK(ct_graph_add_factor(graph, &ct_range_se2_point, &x, z, NULL, range, &l.err), l.err);
    }
    CHECK_OK(ct_sequence_new(graph, &l.seq[0], &l.err), l.err);
    learn_all(&l, CT_NOISE_ISOTROPIC, 1e-6, 1e6);
    ct_likelihood_options options = ct_likelihood_defaults();
    options.truth = 0;
    ct_likelihood      *likelihood = open_likelihood(&l, &options);
    const double        p[2] = {0, log(0.01)};
    ct_likelihood_value value[3] = {{0}};
    for (int k = 0; k < 3; k++) {
        if (k) memcpy(likelihood->sequence[0].start, pose[1], sizeof pose[1]);
        likelihood->both = k == 2;
        CHECK_OK(ct_likelihood_evaluate(likelihood, p, NULL, &value[k], &l.err), l.err);
    }
    printf("  L %.6f, from the wrong side %.6f, from both %.6f\n", value[0].value, value[1].value, value[2].value);
    CHECK(value[1].value > value[0].value + 2);
    CHECK_NEAR(value[2].value, value[0].value, 1e-9);
    ct_likelihood_free(likelihood);
    lesson_free(&l);
}

int main(void)
{
    RUN(test_the_value_on_a_line_is_that_of_dense_algebra);
    RUN(test_the_information_on_a_line_is_that_of_dense_algebra);
    RUN(test_gradients_in_the_plane);
    RUN(test_gradients_with_multipliers);
    RUN(test_gradients_in_space);
    RUN(test_gradients_through_kernels);
    RUN(test_gradients_on_graphs_of_every_measurement);
    RUN(test_normalisers_of_kernels_are_their_integrals);
    RUN(test_the_sigma_of_the_truth);
    RUN(test_it_tends_to_the_closed_form);
    RUN(test_widths_of_kernels_follow_the_tails);
    RUN(test_solves_also_run_from_their_first_start);
    return ct_test_end();
}
