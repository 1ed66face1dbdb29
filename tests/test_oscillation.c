/* test_oscillation.c: biases that oscillate: estimates, likelihood and learned periods, against dense Gaussian
 * regression of this file with the covariance sigma^2 exp(-|t| / tau) cos(2 pi t / period). */
#include <covtune/learn.h>
#include <covtune/likelihood.h>
#include <covtune/simulate.h>

#include "bias_test.h"

#define TWO_PI 6.283185307179586

typedef struct {
    double mean[2][LINE_MAX_POSES], variance[2][LINE_MAX_POSES]; /* of positions and biases */
    double minus_log;                                            /* -log p(z), up to a constant */
} regression;

static ct_bias oscillation(double tau, double period)
{
    ct_bias b = markov(tau);
    b.process = CT_BIAS_OSCILLATION;
    b.period = period;
    b.period_error = NAN;
    return b;
}

/* Prior covariance of positions (side 0) or biases (1) at times i and j. */
static double prior(const line *a, double period, int side, int i, int j)
{
    const double t = fabs(a->t[i] - a->t[j]);
    if (side) return a->sigma * a->sigma * exp(-t / a->tau) * cos(TWO_PI * t / period);
    return a->sigma_first * a->sigma_first + (i < j ? i : j) * a->sigma_odom * a->sigma_odom;
}

static void cholesky(int n, double *S)
{
    for (int j = 0; j < n; j++)
        for (int i = j; i < n; i++) {
            double sum = S[i * n + j];
            for (int k = 0; k < j; k++) sum -= S[i * n + k] * S[j * n + k];
            S[i * n + j] = i == j ? sqrt(sum) : sum / S[j * n + j];
        }
}

static void solve_lower(int n, const double *L, double *b)
{
    for (int i = 0; i < n; i++) {
        for (int k = 0; k < i; k++) b[i] -= L[i * n + k] * b[k];
        b[i] /= L[i * n + i];
    }
}

/* z = position + bias + white noise at poses 1 to n. */
static regression regress(const line *a, double period)
{
    regression out = {0};
    const int  n = a->n - 1;
    double    *S = calloc((size_t)(n * n + 2 * n), sizeof *S), *y = S + n * n, *c = y + n, reckoned = a->truth[0];
    double     path[LINE_MAX_POSES];
    for (int i = 0; i < n; i++) {
        reckoned += a->odom[i + 1];
        path[i] = reckoned;
        y[i] = a->gps[i + 1] - reckoned;
        for (int j = 0; j < n; j++)
            S[i * n + j] = prior(a, period, 0, i + 1, j + 1) + prior(a, period, 1, i + 1, j + 1) +
                           (i == j ? a->sigma_gps * a->sigma_gps : 0);
    }
    cholesky(n, S);
    solve_lower(n, S, y);
    for (int i = 0; i < n; i++) out.minus_log += 0.5 * y[i] * y[i] + log(S[i * n + i]);
    for (int side = 0; side < 2; side++)
        for (int i = 0; i < n; i++) {
            for (int j = 0; j < n; j++) c[j] = prior(a, period, side, i + 1, j + 1);
            solve_lower(n, S, c);
            out.mean[side][i + 1] = side ? 0 : path[i];
            out.variance[side][i + 1] = prior(a, period, side, i + 1, i + 1);
            for (int j = 0; j < n; j++) {
                out.mean[side][i + 1] += c[j] * y[j];
                out.variance[side][i + 1] -= c[j] * c[j];
            }
        }
    free(S);
    return out;
}

static void test_estimates_are_those_of_dense_regression(void)
{
    line             a = make_line(7, 40, 1.5, 9);
    const regression q = regress(&a, 7.5);
    ct_noise        *noise;
    ct_solver       *solver;
    ct_err           err = {0};
    const ct_bias    bias = oscillation(9, 7.5);
    CHECK_OK(ct_noise_new(&noise, &err), err);
    ct_sequence *seq = sequence_of(&a, noise);
    add_strength(noise, 1.5, &bias);
    CHECK_OK(ct_sequence_apply_biases(seq, noise, &err), err);
    CHECK(ct_graph_variables(seq->graph) == 40 + 2 * 39);
    CHECK(ct_graph_factors(seq->graph) == 1 + 2 * 39 + 2 * 39);
    CHECK_OK(ct_solver_new(seq->graph, NULL, &solver, &err), err);
    ct_solve_options options = ct_solve_defaults();
    ct_solve_result  result;
    double          *x = calloc((size_t)ct_graph_size(seq->graph), sizeof *x), P, *out = &P;
    CHECK_OK(ct_solver_run(solver, noise, x, &options, &result, &err), err);
    CHECK_OK(ct_solver_linearise(solver, noise, x, &err), err);
    for (int i = 1; i < a.n; i++)
        for (int side = 0; side < 2; side++) {
            char name[32];
            snprintf(name, sizeof name, side ? "gps_bias%d" : "x%d", i - side);
            const int32_t v = ct_graph_find(seq->graph, name);
            CHECK(v >= 0);
            if (v < 0) continue;
            CHECK_NEAR(x[ct_graph_offset(seq->graph, v)], q.mean[side][i], 1e-9);
            CHECK_OK(ct_solver_marginals(solver, 1, &v, &out, &err), err);
            CHECK_NEAR(P, q.variance[side][i], 1e-9);
        }
    free(x);
    ct_solver_free(solver);
    ct_sequence_free(seq);
    ct_noise_free(noise);
}

static void test_likelihood_is_that_of_dense_regression(void)
{
    static const double TAU[] = {9, 2, 60, 1e4}, PERIOD[] = {7.5, 20, 3, 11}, SIGMA[] = {1.5, 0.4, 3, 1};
    line                a = make_line(8, 50, 1.5, 9);
    ct_noise           *noise;
    ct_theta           *theta;
    ct_likelihood      *l;
    ct_err              err = {0};
    const ct_bias       bias = oscillation(9, 7.5);
    double              zero = 0, log_error;
    CHECK_OK(ct_noise_new(&noise, &err), err);
    ct_sequence  *seq = sequence_of(&a, noise);
    const int32_t model = add_strength(noise, 1.5, &bias);
    CHECK_OK(ct_sequence_apply_biases(seq, noise, &err), err);
    CHECK_OK(ct_theta_new(noise, &theta, &err), err);
    CHECK_OK(ct_theta_learn(theta, model, CT_NOISE_ISOTROPIC, 1e-6, 1e6, &err), err);
    ct_likelihood_options options = ct_likelihood_defaults();
    options.truth = 0;
    CHECK_OK(ct_likelihood_new(1, (const ct_sequence *const *)&seq, noise, theta, &options, &l, &err), err);
    for (int i = 0; i < 4; i++) {
        ct_likelihood_value value = {0};
        const double        p = log(SIGMA[i] * SIGMA[i]);
        a.tau = TAU[i], a.sigma = SIGMA[i];
        CHECK_OK(ct_likelihood_set_time_constant(l, model, TAU[i], 0.25, &err), err);
        CHECK_OK(ct_likelihood_set_period(l, model, PERIOD[i], 0.125, &err), err);
        CHECK(ct_likelihood_period(l, model, &log_error) == PERIOD[i] && log_error == 0.125);
        CHECK_OK(ct_likelihood_evaluate(l, &p, NULL, &value, &err), err);
        const double L = value.value - regress(&a, PERIOD[i]).minus_log;
        if (i == 0) zero = L;
        CHECK_NEAR(L, zero, 1e-6);
    }
    CHECK(isnan(ct_likelihood_period(l, 0, NULL)));
    CHECK_REFUSED(ct_likelihood_set_period(l, 0, 1, 0, &err), err, "oscillating");
    ct_likelihood_free(l);
    ct_theta_free(theta);
    ct_sequence_free(seq);
    ct_noise_free(noise);
}

/* A sine of unknown period, on a GPS of a robot that drives: its period is found, the rest of the learning tracks it,
 * and a table with another period moves the steps of sequences that have states already. */
static void test_an_unknown_period_is_found(void)
{
    ct_nav_options o = {0};
    ct_dataset    *d;
    ct_theta      *theta;
    ct_err         err = {0};
    CHECK(ct_nav_preset("D1", CT_SE2, &o));
    o.least = o.most = 120, o.swing = 2, o.swing_poses = 31;
    CHECK_OK(ct_dataset_new(&d, &err), err);
    for (int i = 0; i < 3; i++) {
        ct_sequence *seq = NULL;
        CHECK_OK(ct_simulate_nav(&o, (uint64_t)i, d->noise, &seq, &err), err);
        CHECK_OK(ct_dataset_add(d, seq, CT_DATASET_TRAIN, &err), err);
        ct_graph_name_rows(seq->graph, d->noise);
    }
    CHECK_OK(ct_bias_list_apply("gps=oscillation", "", d, &err), err);
    const int32_t model = ct_noise_find(d->noise, "gps_bias");
    CHECK(model >= 0 && isinf(ct_noise_get(d->noise, model)->bias->period_error));
    CHECK_OK(ct_theta_new(d->noise, &theta, &err), err);
    for (int32_t g = 0; g < ct_noise_count(d->noise); g++)
        if (strcmp(ct_noise_get(d->noise, g)->name, "first_pose"))
            CHECK_OK(ct_theta_learn(theta, g, CT_NOISE_DIAGONAL, 1e-8, 1e6, &err), err);
    ct_outer_options options = ct_outer_defaults();
    int32_t          learned = 0;
    CHECK_OK(ct_learn_time_constants(d->trains, d->train, d->noise, theta, &options, &learned, &err), err);
    const ct_bias b = *ct_noise_get(d->noise, model)->bias;
    CHECK(learned == 1);
    CHECK_NEAR(b.period, 31, 0.6);
    CHECK(b.period_error > 0 && b.period_error < 0.02);
    int steps = 0;
    for (int32_t f = 0; f < ct_graph_factors(d->train[0]->graph); f++) {
        const ct_factor k = ct_graph_factor(d->train[0]->graph, f);
        if (k.ops != &ct_oscillation_r2) continue;
        steps++;
        CHECK(k.z[1] == b.tau && fabs(k.z[2]) == b.period);
    }
    CHECK(steps == 2 * 118);
    ct_theta_free(theta);
    ct_dataset_free(d);
}

static void test_periods_are_checked_and_kept_in_files(void)
{
    char      path[600];
    ct_noise *noise, *back;
    ct_err    err = {0};
    ct_bias   bias = oscillation(40, 12.5);
    CHECK_OK(ct_noise_new(&noise, &err), err);
    CHECK_OK(ct_noise_new(&back, &err), err);
    CHECK_OK(ct_noise_add_isotropic(noise, "gps_bias", 1, 4, NULL, &err), err);
    bias.period = 0;
    CHECK_REFUSED(ct_noise_set_bias(noise, 0, &bias, &err), err, "the period of its bias");
    bias = markov(6), bias.period = 3;
    CHECK_REFUSED(ct_noise_set_bias(noise, 0, &bias, &err), err, "has no period");
    for (int i = 0; i < 3; i++) {
        bias = oscillation(40, 12.5);
        bias.period_error = i == 0 ? 0.125 : i == 1 ? INFINITY : NAN;
        snprintf(path, sizeof path, "%s/period%d.json", ct_test_folder(), i);
        CHECK_OK(ct_noise_set_bias(noise, 0, &bias, &err), err);
        CHECK_OK(ct_noise_write(noise, path, &err), err);
        CHECK_OK(ct_noise_read(back, path, &err), err);
        const ct_bias *b = ct_noise_get(back, 0)->bias;
        CHECK(b && b->process == CT_BIAS_OSCILLATION && b->period == 12.5 && b->tau == 40 && isnan(b->tau_error));
        CHECK(b && (i == 0 ? b->period_error == 0.125 : i == 1 ? isinf(b->period_error) : isnan(b->period_error)));
    }
    CHECK_REFUSED(ct_bias_list_check("gps=gauss-markov:period=3", "--", &err), err, "a period is that of oscillation");
    CHECK_REFUSED(ct_bias_list_check("gps=oscillation:period=0", "--", &err), err, "above 0");
    CHECK_OK(ct_bias_list_check("gps=oscillation:period=3:tau=20", "--", &err), err);
    ct_noise_free(noise);
    ct_noise_free(back);
}

int main(void)
{
    RUN(test_estimates_are_those_of_dense_regression);
    RUN(test_likelihood_is_that_of_dense_regression);
    RUN(test_an_unknown_period_is_found);
    RUN(test_periods_are_checked_and_kept_in_files);
    return ct_test_end();
}
