/* test_evaluate_parts.c: consistency variable by variable, residuals at the truth, and quantiles to hold both
 * against. */
#include "ct_test.h"
#include "evaluate_test.h"

#include <covtune/covtune.h>

typedef struct {
    ct_noise    *noise;
    ct_sequence *seq;
    ct_solver   *solver;
    double      *x; /* the estimate */
    ct_err       err;
} nav;

static nav nav_of(ct_kind kind, int32_t poses)
{
    nav            n = {0};
    ct_nav_options o;
    ct_inference   inference = ct_inference_defaults();
    ct_solve_result result;
    CHECK(ct_nav_preset("D3", kind, &o));
    o.least = o.most = poses;
    CHECK_OK(ct_noise_new(&n.noise, &n.err), n.err);
    CHECK_OK(ct_simulate_nav(&o, 3, n.noise, &n.seq, &n.err), n.err);
    CHECK_OK(ct_solver_new(n.seq->graph, NULL, &n.solver, &n.err), n.err);
    n.x = malloc((size_t)ct_graph_size(n.seq->graph) * sizeof *n.x);
    CHECK_OK(ct_start_values(n.seq, CT_START_TRUTH, n.x, &n.err), n.err);
    CHECK_OK(ct_solver_run(n.solver, n.noise, n.x, &inference.solve, &result, &n.err), n.err);
    return n;
}

static void nav_free(nav *n)
{
    ct_solver_free(n->solver);
    ct_sequence_free(n->seq);
    ct_noise_free(n->noise);
    free(n->x);
}

/* ---- NEES, variable by variable --------------------------------------------------------------- */

/* e' P^-1 e by Cramer's rule of elimination, without the library's. */
static double by_hand(int n, double *P, double *e)
{
    double sum = 0;
    /* e' P^-1 e = sum of squares of innovations: condition on one coordinate after the other */
    for (int k = 0; k < n; k++) {
        sum += e[k] * e[k] / P[k * n + k];
        for (int i = k + 1; i < n; i++) {
            const double gain = P[i * n + k] / P[k * n + k];
            e[i] -= gain * e[k];
            for (int j = k + 1; j < n; j++) P[i * n + j] -= gain * P[k * n + j];
        }
    }
    return sum;
}

static void test_nees_of_each_variable_is_by_its_own_covariance(void)
{
    for (int space = 0; space < 2; space++) {
        nav     n = nav_of(space ? CT_SE3 : CT_SE2, 40);
        double  nees[40], e[6], P[36], *out[1] = {P};
        int     degrees[40];
        int32_t v;
        ct_graph_fix(n.seq->graph, 0, 1);
        ct_solver_free(n.solver); /* of the graph as it was */
        CHECK_OK(ct_solver_new(n.seq->graph, NULL, &n.solver, &n.err), n.err);
        n.seq->known[7] = 0;
        CHECK_OK(ct_nees_each(n.seq, n.noise, n.solver, n.x, nees, degrees, &n.err), n.err);
        CHECK(isnan(nees[0]) && degrees[0] == 0 && isnan(nees[7]) && degrees[7] == 0);
        for (v = 1; v < 40; v++) {
            const ct_kind kind = ct_graph_kind(n.seq->graph, v);
            const int     dim = ct_kind_dim(kind);
            if (v == 7) continue;
            CHECK_OK(ct_solver_marginals(n.solver, 1, &v, out, &n.err), n.err);
            ct_kind_local(kind, n.seq->truth + ct_graph_offset(n.seq->graph, v), n.x + ct_graph_offset(n.seq->graph, v),
                          e);
            CHECK(degrees[v] == dim);
            /* the covariance lives at the estimate, e at the truth: Jr^-1(e) apart, which is no approximation */
            CHECK_NEAR(nees[v] / by_hand(dim, P, e), 1, 1e-3);
        }
        nav_free(&n);
    }
}

/* Partial truth included: the sums of an assessment are sums of these, to the bit. */
static void test_nees_of_all_is_the_sum_of_each(void)
{
    const ct_loss      loss = ct_loss_defaults();
    const ct_inference inference = ct_inference_defaults();
    nav                n = nav_of(CT_SE2, 60);
    double             nees[60], sum = 0;
    int                degrees[60];
    int64_t            coordinates = 0;
    ct_evaluation      a;
    for (int v = 0; v < 60; v += 3) n.seq->known[v] = 3;
    CHECK_OK(evaluate_one(n.seq, n.noise, n.solver, &inference, &loss, 1, n.x, &a, &n.err), n.err);
    CHECK_OK(ct_nees_each(n.seq, n.noise, n.solver, n.x, nees, degrees, &n.err), n.err);
    for (int v = 0; v < 60; v++) {
        CHECK(degrees[v] == (v % 3 ? 3 : 2));
        sum += nees[v];
        coordinates += degrees[v];
    }
    CHECK(a.consistency.nees == sum && a.consistency.nees_degrees == coordinates);
    nav_free(&n);
}

static void test_without_covariances_there_is_no_nees(void)
{
    nav    n = nav_of(CT_SE2, 5);
    double nees[6];
    int    degrees[6];
    CHECK_OK(ct_graph_add_variable(n.seq->graph, "lost", CT_R2, NULL, NULL, &n.err), n.err);
    ct_solver_free(n.solver);
    CHECK_OK(ct_solver_new(n.seq->graph, NULL, &n.solver, &n.err), n.err);
    n.x = realloc(n.x, (size_t)ct_graph_size(n.seq->graph) * sizeof *n.x);
    memcpy(n.x, ct_graph_initial(n.seq->graph), (size_t)ct_graph_size(n.seq->graph) * sizeof *n.x);
    n.seq->truth = realloc(n.seq->truth, (size_t)ct_graph_size(n.seq->graph) * sizeof *n.x);
    n.seq->known = realloc(n.seq->known, 6);
    n.seq->known[5] = 0;
    CHECK(ct_nees_each(n.seq, n.noise, n.solver, n.x, nees, degrees, &n.err) == CT_E_SINGULAR &&
          strstr(n.err.text, "lost"));
    CHECK(isnan(nees[2]) && degrees[2] == 0);
    memset(n.seq->known, 0, 6); /* nothing is known: nothing is asked */
    CHECK_OK(ct_nees_each(n.seq, n.noise, n.solver, n.x, nees, degrees, &n.err), n.err);
    CHECK(isnan(nees[2]) && degrees[2] == 0);
    nav_free(&n);
}

/* ---- Residuals at the truth ------------------------------------------------------------------- */

static void test_residuals_at_the_truth_are_what_factors_say_there(void)
{
    nav n = nav_of(CT_SE2, 30);
    for (int32_t model = 0; model < ct_noise_count(n.noise); model++) {
        double  raw[64 * 3], white[64 * 3];
        int64_t count = 0;
        const int64_t found = ct_truth_residuals(n.seq, model, NULL, 64, raw);
        CHECK(found == ct_truth_residuals(n.seq, model, n.noise, 64, white) &&
              found == ct_truth_residuals(n.seq, model, NULL, 0, NULL));
        for (int32_t f = 0; f < ct_graph_factors(n.seq->graph); f++) {
            const ct_factor       k = ct_graph_factor(n.seq->graph, f);
            const ct_noise_model *m = ct_noise_get(n.noise, k.noise);
            const double         *x[2];
            double                r[3];
            if (k.noise != model) continue;
            for (int i = 0; i < k.ops->arity; i++) x[i] = n.seq->truth + ct_graph_offset(n.seq->graph, k.var[i]);
            ct_factor_eval(k.ops, k.z, k.context, x, r, NULL);
            for (int i = 0; i < 3; i++) {
                CHECK(raw[3 * count + i] == r[i]);
                CHECK_NEAR(white[3 * count + i], r[i] / sqrt(m->covariance[m->kind == CT_NOISE_ISOTROPIC ? 0 : i]),
                           1e-12 * (1 + fabs(white[3 * count + i])));
            }
            count++;
        }
        CHECK(found == count);
    }
    nav_free(&n);
}

static void test_no_more_residuals_are_written_than_there_is_room_for(void)
{
    nav           n = nav_of(CT_SE2, 30);
    double        r[9] = {[6] = 5, [7] = 5, [8] = 5}, all[90];
    const int32_t odom = ct_noise_find(n.noise, "odom@0");
    const int64_t found = ct_truth_residuals(n.seq, odom, NULL, 30, all);
    CHECK(found > 3 && ct_truth_residuals(n.seq, odom, NULL, 2, r) == found);
    CHECK(!memcmp(r, all, 6 * sizeof *r) && r[6] == 5 && r[7] == 5 && r[8] == 5);
    nav_free(&n);
}

/* A full covariance whitens to R r, |R r|^2 = r' Sigma^-1 r. */
static void test_full_covariances_whiten_too(void)
{
    nav           n = nav_of(CT_SE2, 30);
    const int32_t gps = ct_noise_find(n.noise, "gps@0");
    const double  S[9] = {4, 1, 0.2, 1, 3, -0.1, 0.2, -0.1, 0.5};
    double        raw[90], white[90];
    CHECK_OK(ct_noise_set_covariance(n.noise, gps, S, &n.err), n.err);
    const int64_t found = ct_truth_residuals(n.seq, gps, n.noise, 30, white);
    CHECK(found > 3 && ct_truth_residuals(n.seq, gps, NULL, 30, raw) == found);
    for (int64_t k = 0; k < found; k++) {
        double P[9], e[3], d2 = 0;
        memcpy(P, S, sizeof P);
        for (int i = 0; i < 3; i++) e[i] = raw[3 * k + i], d2 += white[3 * k + i] * white[3 * k + i];
        CHECK_NEAR(d2 / by_hand(3, P, e), 1, 1e-12);
    }
    nav_free(&n);
}

/* Odometry needs both poses in full; where one is not known, or only its position, it says nothing. */
static void test_what_the_truth_does_not_tell_gives_no_residual(void)
{
    nav           n = nav_of(CT_SE2, 30);
    const int32_t odom = ct_noise_find(n.noise, "odom@0");
    const int64_t all = ct_truth_residuals(n.seq, odom, NULL, 0, NULL);
    n.seq->known[3] = 0;
    CHECK(ct_truth_residuals(n.seq, odom, NULL, 0, NULL) == all - 2);
    n.seq->known[3] = 3;
    CHECK(ct_truth_residuals(n.seq, odom, NULL, 0, NULL) == all - 2);
    n.seq->known[3] = 7;
    CHECK(ct_truth_residuals(n.seq, odom, NULL, 0, NULL) == all);
    free(n.seq->truth);
    n.seq->truth = NULL;
    CHECK(ct_truth_residuals(n.seq, odom, NULL, 0, NULL) == 0);
    nav_free(&n);
}

/* ---- Quantiles -------------------------------------------------------------------------------- */

static void test_quantiles_are_those_of_the_tables(void)
{
    static const double TABLE[][3] = {{0.95, 1, 3.841458820694124},   {0.95, 10, 18.307038053275146},
                                      {0.025, 5, 0.8312116134866625}, {0.975, 100, 129.5611971858366},
                                      {0.05, 3, 0.3518463177492717},  {0.5, 1, 0.454936423119572},
                                      {0.99, 30, 50.89218131151707}};
    for (size_t k = 0; k < sizeof TABLE / sizeof *TABLE; k++)
        CHECK_NEAR(ct_chi_squared_quantile(TABLE[k][0], TABLE[k][1]) / TABLE[k][2], 1, 1e-12);
    for (int i = 1; i < 100; i++)
        CHECK_NEAR(ct_chi_squared_quantile(i / 100.0, 2) / (-2 * log1p(-i / 100.0)), 1, 1e-13);
    for (int i = 1; i < 100; i++) CHECK_NEAR(erf(sqrt(ct_chi_squared_quantile(i / 100.0, 1) / 2)), i / 100.0, 1e-13);
    CHECK_NEAR(ct_chi_squared_quantile(1e-12, 1) / (acos(-1.0) / 2 * 1e-24), 1, 1e-11);
    CHECK_NEAR(ct_chi_squared_quantile(1 - 0x1p-40, 2), 80 * log(2.0), 1e-10);
}

/* For even n, 1 - P = sum_{k < n/2} x^k e^-x / k!: a Poisson sum, taken here from its peak outwards. Its part below
 * a, or from a on. */
static double poisson(int64_t a, double x, int below)
{
    const int64_t peak = (int64_t)x;
    double        part = 0, all = 0, term = 1;
    for (int64_t k = peak; k >= 0 && term > 1e-25; k--) {
        all += term;
        if ((k < a) == below) part += term;
        term *= (double)k / x;
    }
    term = x / (double)(peak + 1);
    for (int64_t k = peak + 1; term > 1e-25; k++) {
        all += term;
        if ((k < a) == below) part += term;
        term *= x / (double)(k + 1);
    }
    return part / all;
}

static void test_quantiles_of_many_degrees_are_those_of_a_poisson_sum(void)
{
    static const double P[] = {1e-9, 0.025, 0.3, 0.5, 0.9, 0.975, 1 - 1e-9};
    for (int64_t n = 2; n <= 100000; n = n < 20 ? n + 2 : n * 5 / 2 / 2 * 2)
        for (size_t k = 0; k < sizeof P / sizeof *P; k++) {
            const double q = ct_chi_squared_quantile(P[k], (double)n);
            CHECK_NEAR(P[k] > 0.5 ? poisson(n / 2, q / 2, 1) / (1 - P[k]) : poisson(n / 2, q / 2, 0) / P[k], 1, 1e-10);
        }
}

/* Odd and fractional degrees, by integrating the density: x = y^2 takes out what it has at zero. */
static void test_quantiles_of_any_degrees_are_those_of_the_integral(void)
{
    static const double N[] = {1, 1.5, 3, 4.2, 7, 33, 100.7}, P[] = {0.01, 0.3, 0.5, 0.8, 0.99};
    for (size_t a = 0; a < sizeof N / sizeof *N; a++)
        for (size_t b = 0; b < sizeof P / sizeof *P; b++) {
            const double  n = N[a], q = ct_chi_squared_quantile(P[b], n), top = sqrt(q);
            const int     pieces = 20000;
            double        sum = 0;
            /* Simpson; the density of y is 2 y^(n-1) e^(-y^2/2) / (2^(n/2) Gamma(n/2)), zero at 0 but for n = 1 */
            for (int i = 1; i < pieces * 2; i++) {
                const double y = top * i / (2 * pieces);
                sum += (i % 2 ? 4 : 2) * exp((n - 1) * log(y) - y * y / 2);
            }
            sum += (n == 1 ? 1 : 0) + exp((n - 1) * log(top) - top * top / 2);
            const double mass = sum * top / (6 * pieces) * 2 * exp(-n / 2 * log(2.0) - lgamma(n / 2));
            CHECK_NEAR(mass, P[b], n == 1.5 ? 1e-7 : 1e-10); /* sqrt(y) has no slope at 0 */
        }
}

static void test_quantiles_ascend_and_end_where_the_distribution_does(void)
{
    for (double n = 0.5; n < 2e5; n *= 3) {
        double before = 0;
        for (int i = 1; i < 400; i++) {
            const double q = ct_chi_squared_quantile(i / 400.0, n);
            CHECK(q > before);
            before = q;
        }
    }
    CHECK(ct_chi_squared_quantile(0, 3) == 0 && ct_chi_squared_quantile(1, 3) == INFINITY);
    CHECK(isnan(ct_chi_squared_quantile(-0.1, 3)) && isnan(ct_chi_squared_quantile(1.1, 3)) &&
          isnan(ct_chi_squared_quantile(0.5, 0)) && isnan(ct_chi_squared_quantile(NAN, 3)));
    CHECK(isnan(ct_chi_squared_quantile(0.5, NAN)) && isnan(ct_chi_squared_quantile(0.5, INFINITY)));
}

int main(void)
{
    RUN(test_nees_of_each_variable_is_by_its_own_covariance);
    RUN(test_nees_of_all_is_the_sum_of_each);
    RUN(test_without_covariances_there_is_no_nees);
    RUN(test_residuals_at_the_truth_are_what_factors_say_there);
    RUN(test_no_more_residuals_are_written_than_there_is_room_for);
    RUN(test_full_covariances_whiten_too);
    RUN(test_what_the_truth_does_not_tell_gives_no_residual);
    RUN(test_quantiles_are_those_of_the_tables);
    RUN(test_quantiles_of_many_degrees_are_those_of_a_poisson_sum);
    RUN(test_quantiles_of_any_degrees_are_those_of_the_integral);
    RUN(test_quantiles_ascend_and_end_where_the_distribution_does);
    return ct_test_end();
}
