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

int main(void)
{
    RUN(test_intervals_cover_latent_values);
    return ct_test_end();
}
