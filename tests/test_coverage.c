/* test_coverage.c: standard errors of the likelihood. Intervals of 1.96 of them contain the latent log variances in 90
 * to 98 % of cases, pooled over rows and repetitions, under partial truth. COVTUNE_COVERAGE_REPEATS: repetitions. */
#include "learn_test.h"

#include <covtune/likelihood.h>
#include <math.h>

enum { POSITIONS, EVERY_TENTH, A_THIRD, NONE };
static const char *const NAME[] = {"positions", "every tenth pose", "a third of the sequences", "no truth"};

static void keep_truth(lesson *l, int what)
{
    for (int i = 0; i < l->runs; i++)
        for (int32_t v = 0; v < ct_graph_variables(l->seq[i]->graph); v++) {
            if (what == POSITIONS) l->seq[i]->known[v] = 3;
            if (what == NONE || (what == EVERY_TENTH && v % 10) || (what == A_THIRD && i % 3)) l->seq[i]->known[v] = 0;
        }
}

/* Adds how many of the rows of one repetition are inside, and the sum of squared deviations in standard errors. */
static void repeat(int what, uint64_t seed, int *inside, int *rows, double *square)
{
    lesson             l = lesson_of("D1", CT_SE2, 6, 120, seed);
    ct_likelihood     *likelihood;
    ct_maximise_result result;
    double             p[6], latent[6];
    keep_truth(&l, what);
    learn_all(&l, CT_NOISE_DIAGONAL, 1e-8, 1e6);
    ct_theta_get(l.theta, l.noise, latent);
    for (int i = 0; i < 6; i++) p[i] = latent[i] + (i % 2 ? 1.5 : -1.5);
    CHECK_OK(ct_likelihood_new(l.runs, (const ct_sequence *const *)l.seq, l.noise, l.theta, NULL, &likelihood, &l.err),
             l.err);
    CHECK_OK(ct_likelihood_maximise(likelihood, NULL, NULL, p, &result, &l.err), l.err);
    CHECK(result.stop == CT_MAXIMISE_CONVERGED && result.left_out == 0);
    for (int i = 0; i < 6; i++) {
        const double off = (p[i] - latent[i]) / result.standard_error[i];
        *inside += fabs(off) <= 1.96;
        *square += off * off;
        ++*rows;
    }
    ct_maximise_result_free(&result);
    ct_likelihood_free(likelihood);
    lesson_free(&l);
}

static void test_intervals_cover_latent_values(void)
{
    const char *text = getenv("COVTUNE_COVERAGE_REPEATS");
    const int   repeats = text ? atoi(text) : 12;
    for (int what = POSITIONS; what <= NONE; what++) {
        int    inside = 0, rows = 0;
        double square = 0;
        for (int k = 0; k < repeats; k++) repeat(what, 1000 + (uint64_t)k, &inside, &rows, &square);
        const double share = (double)inside / rows, slack = repeats < 100 ? 1.96 * sqrt(0.05 * 0.95 / rows) : 0;
        printf("  %-26s %5.1f %% of %d inside, root mean square %.2f standard errors\n", NAME[what], 100 * share, rows,
               sqrt(square / rows));
        CHECK(share >= 0.90 - slack && share <= 0.98 + slack);
    }
}

/* e' C^-1 e by Gaussian elimination of C, which must be symmetric positive definite; C and e are used up. */
static double mahalanobis(int m, double *C, double *e)
{
    double sum = 0;
    for (int k = 0; k < m; k++) {
        CHECK(C[k * m + k] > 0);
        sum += e[k] * e[k] / C[k * m + k];
        for (int i = k + 1; i < m; i++) {
            const double ratio = C[i * m + k] / C[k * m + k];
            for (int j = k; j < m; j++) C[i * m + j] -= ratio * C[k * m + j];
            e[i] -= ratio * e[k];
        }
    }
    return sum;
}

/* One repetition of learning; returns e' Cov^-1 e of the log variances, e their deviation from the latent values. */
static double deviate(ct_learn_method method, int no_truth, uint64_t seed)
{
    lesson           l = lesson_of("D1", CT_SE2, 6, 120, seed);
    ct_outer_options outer = ct_outer_defaults();
    ct_learn_options options = ct_learn_defaults();
    double           latent[6], e[6], C[36];
    learn_all(&l, CT_NOISE_DIAGONAL, 1e-8, 1e6);
    ct_theta_get(l.theta, l.noise, latent);
    outer.no_truth = no_truth;
    open_outer(&l, &outer);
    options.method = method;
    options.prior = 0.1; /* without cross-validation */
    ct_learn_result r = learn(&l, &options);
    CHECK(r.parameters == 6);
    for (int i = 0; i < 6; i++) {
        e[i] = r.p[i] - latent[i];
        CHECK_NEAR(r.covariance[7 * i], r.standard_error[i] * r.standard_error[i], 1e-15);
        for (int j = 0; j < 6; j++) CHECK_NEAR(r.covariance[6 * i + j], r.covariance[6 * j + i], 1e-12);
    }
    memcpy(C, r.covariance, sizeof C);
    const double square = mahalanobis(6, C, e);
    ct_learn_result_free(&r);
    lesson_free(&l);
    return square;
}

/* Without truth, estimates of odometry and GPS are anticorrelated; the tracking loss and its common scale correlate
 * all. With the wrong correlations the sum would be off by its condition number. */
static void test_covariances_are_those_of_repetitions(void)
{
    static const struct {
        ct_learn_method method;
        int             no_truth;
    } CASE[] = {{CT_LEARN_CLOSED_FORM, 0}, {CT_LEARN_LIKELIHOOD, 1}, {CT_LEARN_LM, 0}};
    for (size_t k = 0; k < sizeof CASE / sizeof *CASE; k++) {
        const int repeats = 12;
        double    sum = 0;
        for (int i = 0; i < repeats; i++) sum += deviate(CASE[k].method, CASE[k].no_truth, 2000 + (uint64_t)i) / 6;
        printf("  %-12s e' Cov^-1 e per parameter: %.2f\n", ct_learn_method_name(CASE[k].method), sum / repeats);
        CHECK(sum / repeats > 0.4 && sum / repeats < 1.7); /* 72 degrees: 0.17; the larger of two errors is claimed */
    }
}

int main(void)
{
    RUN(test_covariances_are_those_of_repetitions);
    RUN(test_intervals_cover_latent_values);
    return ct_test_end();
}
