/* test_learn.c: the closed form, and the methods that minimise the loss. */
#include <covtune/simulate.h>
#include "learn_test.h"

#include <limits.h>

/* ---- Closed form ----------------------------------------------------------------------------- */

/* Sample second moments, recomputed here from the residuals' definition. */
static void test_the_closed_form_is_the_second_moment_of_residuals_at_the_truth(void)
{
    lesson  l = begin("D3", 3, 60, 4, 1e-6, 1e6);
    double  p[12];
    int64_t samples[12];
    CHECK_OK(ct_outer_closed_form(l.outer, NULL, p, samples, &l.err), l.err);
    for (int32_t g = 0; g < ct_noise_count(l.noise); g++) {
        double  sum[3] = {0};
        int64_t n = 0;
        if (!ct_theta_learns(l.theta, g)) continue;
        for (int i = 0; i < l.runs; i++)
            for (int32_t f = 0; f < ct_graph_factors(l.seq[i]->graph); f++) {
                const ct_factor k = ct_graph_factor(l.seq[i]->graph, f);
                const double   *x[2], *truth = l.seq[i]->truth;
                double          r[3];
                if (k.noise != g) continue;
                for (int a = 0; a < k.ops->arity; a++) x[a] = truth + ct_graph_offset(l.seq[i]->graph, k.var[a]);
                ct_factor_eval(k.ops, k.z, NULL, x, r, NULL);
                for (int c = 0; c < 3; c++) sum[c] += r[c] * r[c];
                n++;
            }
        for (int c = 0; c < 3; c++) {
            const int32_t i = ct_theta_find(l.theta, g, c);
            CHECK(samples[i] == n);
            CHECK_NEAR(p[i], log(sum[c] / (double)n), 1e-12);
        }
    }
    lesson_free(&l);
}

static void test_tied_parameters_pool_their_samples(void)
{
    lesson  l = lesson_of("D3", CT_SE2, 2, 50, 4);
    double  apart[12], tied[12];
    int64_t n[12], pooled[12];
    learn_all(&l, CT_NOISE_DIAGONAL, 1e-6, 1e6);
    open_outer(&l, NULL);
    CHECK_OK(ct_outer_closed_form(l.outer, NULL, apart, n, &l.err), l.err);
    const int32_t a = ct_noise_find(l.noise, "odom@0"), b = ct_noise_find(l.noise, "gps@1");
    const int32_t i = ct_theta_find(l.theta, a, 0), j = ct_theta_find(l.theta, b, 1);
    CHECK_OK(ct_theta_tie(l.theta, a, 0, b, 1, &l.err), l.err);
    CHECK(ct_theta_count(l.theta) == 11);
    open_outer(&l, NULL);
    CHECK_OK(ct_outer_closed_form(l.outer, NULL, tied, pooled, &l.err), l.err);
    const int32_t k = ct_theta_find(l.theta, a, 0);
    CHECK(k == ct_theta_find(l.theta, b, 1) && pooled[k] == n[i] + n[j]);
    CHECK_NEAR(exp(tied[k]), (exp(apart[i]) * (double)n[i] + exp(apart[j]) * (double)n[j]) / (double)(n[i] + n[j]),
               1e-12);
    lesson_free(&l);
}

/* A kernel does not shrink the noise that it is told of, and outliers do not swell it. */
static void test_the_closed_form_of_robust_models_is_that_of_the_noise_without_outliers(void)
{
    static const ct_robust KERNEL[] = {
        {CT_ROBUST_HUBER, 1.345, 0}, {CT_ROBUST_CAUCHY, 2.3849, 0},
        {CT_ROBUST_TUKEY, 4.6851, 0}, {CT_ROBUST_GEMAN_MCCLURE, 3, 0}};
    for (size_t k = 0; k < sizeof KERNEL / sizeof *KERNEL; k++)
        for (int full = 0; full < 2; full++) {
            lesson  l = lesson_of("D2", CT_SE2, 6, 150, 40 + k);
            double  p[12], latent[12];
            int64_t samples[12];
            learn_all(&l, full ? CT_NOISE_FULL : CT_NOISE_DIAGONAL, 1e-9, 1e9);
            ct_theta_get(l.theta, l.noise, latent);
            for (int32_t g = 0; g < ct_noise_count(l.noise); g++)
                if (ct_theta_learns(l.theta, g)) CHECK_OK(ct_noise_set_robust(l.noise, g, KERNEL[k], &l.err), l.err);
            for (int outliers = 0; outliers < 2; outliers++) {
                for (int i = 0; outliers && i < l.runs; i++)
                    for (int32_t v = 7; v < 150; v += 20)
                        l.seq[i]->truth[ct_graph_offset(l.seq[i]->graph, v)] +=
                            200; /* the truth lost itself: one pose in 20, two in 20 of its odometry */
                open_outer(&l, NULL);
                CHECK_OK(ct_outer_closed_form(l.outer, NULL, p, samples, &l.err), l.err);
                for (int i = 0; i < ct_theta_count(l.theta); i++) {
                    CHECK(samples[i] > 800);
                    /* plain second moments would be off by 8: a tenth of the odometry is 200 m off */
                    CHECK_NEAR(p[i], latent[i], outliers ? 1.0 : 0.3);
                }
            }
            lesson_free(&l);
        }
}

/* A fold without that run would judge it by the table's guess. */
static void test_a_model_that_one_run_alone_uses_is_not_judged_by_a_guess(void)
{
    lesson  l = lesson_of("D1", CT_SE2, 5, 60, 7);
    int32_t lidar;
    /* really 1 m, 1 m, 0.1 rad */
    CHECK_OK(ct_noise_add_diagonal(l.noise, "lidar", 3, (const double[]){1e-4, 1e-4, 1e-4}, &lidar, &l.err), l.err);
    for (int32_t f = 0; f < ct_graph_factors(l.seq[2]->graph); f++)
        if (ct_graph_factor(l.seq[2]->graph, f).noise == ct_noise_find(l.noise, "gps"))
            CHECK_OK(ct_graph_set_noise(l.seq[2]->graph, f, lidar, &l.err), l.err);
    learn_all(&l, CT_NOISE_DIAGONAL, 1e-6, 1e3);
    open_outer(&l, NULL);
    ct_learn_result r = learn(&l, NULL);
    CHECK(r.loss_heldout < 1.3 * r.loss_train && ct_noise_get(l.noise, lidar)->covariance[0] > 0.3);
    ct_learn_result_free(&r);
    lesson_free(&l);
}

static void test_runs_that_are_the_same_are_told_of(void)
{
    lesson l = lesson_of("D1", CT_SE2, 3, 40, 7);
    ct_sequence_free(l.seq[2]);
    ct_nav_options nav;
    ct_nav_preset("D1", CT_SE2, &nav);
    nav.least = nav.most = 40;
    nav.seed = 7;
    CHECK_OK(ct_simulate_nav(&nav, 0, l.noise, &l.seq[2], &l.err), l.err);
    learn_all(&l, CT_NOISE_DIAGONAL, 1e-6, 1e3);
    open_outer(&l, NULL);
    ct_learn_result r = learn(&l, NULL);
    const int32_t f = ct_findings_find(&r.findings, CT_FINDING_DUPLICATE_SEQUENCES);
    CHECK(f >= 0 && r.findings.item[f].subjects == 2 && r.findings.item[f].subject[1].index == 2);
    ct_learn_result_free(&r);
    lesson_free(&l);
}

/* ---- Methods --------------------------------------------------------------------------------- */

/* The paper's iteration, written out again: theta + 2 / (M + itr) (s - theta), s_c the bound that -dL/dtheta_c
 * points to. */
static void test_frank_wolfe_is_the_papers(void)
{
    lesson           l = begin("D1", 2, 50, 6, 0.1, 10);
    ct_learn_options options = ct_learn_defaults();
    double           theta[6], p[6], g[6];
    options.method = CT_LEARN_FRANK_WOLFE;
    options.max_iterations = 12;
    options.M = 3;
    options.scale = CT_SCALE_NONE;
    ct_theta_get(l.theta, l.noise, p);
    ct_theta_project(l.theta, CT_SPACE_LOG, p);
    for (int i = 0; i < 6; i++) theta[i] = exp(p[i]);
    for (int itr = 0; itr < 12; itr++) {
        ct_outer_value v = {.gradient = g};
        for (int i = 0; i < 6; i++) p[i] = log(theta[i]);
        CHECK_OK(ct_outer_evaluate(l.outer, p, NULL, &v, &l.err), l.err);
        for (int i = 0; i < 6; i++) theta[i] += 2.0 / (3 + itr) * ((g[i] > 0 ? 0.1 : 10) - theta[i]);
    }
    ct_learn_result r = learn(&l, &options);
    CHECK(r.stop == CT_LEARN_STOP_ITERATIONS);
    for (int i = 0; i < 6; i++) CHECK_NEAR(exp(r.p[i]) / theta[i], 1, 1e-9);
    ct_learn_result_free(&r);
    lesson_free(&l);
}

/* The first vertex, a box of six decades wide, from one of many random starts: where nothing can be estimated there,
 * the method goes on all the same. */
static void test_frank_wolfe_comes_back_from_where_nothing_can_be_estimated(void)
{
    int lost = 0;
    for (uint64_t seed = 0; seed < 60 && lost < 3; seed++) {
        lesson           l = begin("D3", 2, 60, 5, 1e-3, 1e3);
        ct_learn_options options = ct_learn_defaults();
        ct_rng           rng = ct_rng_seed(seed);
        double           p[12], g[12], vertex[12];
        ct_outer_value   at = {.gradient = g}, there = {0};
        for (int i = 0; i < 12; i++) p[i] = log(1e6) * (ct_rng_uniform(&rng) - 0.5);
        CHECK_OK(ct_outer_evaluate(l.outer, p, NULL, &at, &l.err), l.err);
        for (int i = 0; i < 12; i++) vertex[i] = log(g[i] > 0 ? 1e-3 : 1e3);
        CHECK_OK(ct_outer_evaluate(l.outer, vertex, NULL, &there, &l.err), l.err);
        options.method = CT_LEARN_FRANK_WOLFE;
        options.max_iterations = 40;
        CHECK_OK(ct_theta_apply(l.theta, p, l.noise, &l.err), l.err);
        if (!at.failed && there.failed) {
            ct_learn_result r = learn(&l, &options);
            CHECK(r.stop == CT_LEARN_STOP_ITERATIONS && r.iterations == 40);
            CHECK(r.loss_train < 0.5 * r.loss_start);
            ct_learn_result_free(&r);
            lost++;
        }
        lesson_free(&l);
    }
    CHECK(lost > 0); /* else nothing was tried */
}

/* From a start six decades off and from the closed form, all gradient methods find the same loss. */
static void test_methods_agree_on_the_minimum(void)
{
    static const ct_learn_method METHOD[] = {
        CT_LEARN_LM, CT_LEARN_PROJECTED_GRADIENT, CT_LEARN_LBFGS, CT_LEARN_TNEWTON, CT_LEARN_MMA, CT_LEARN_SLSQP};
    double                       least = 0;
    for (size_t k = 0; k < sizeof METHOD / sizeof *METHOD; k++) {
        lesson           l = begin("D1", 3, 80, 12, 1e-3, 1e3);
        ct_learn_options options = ct_learn_defaults();
        options.method = METHOD[k];
        options.max_iterations = 300;
        options.relative = 1e-9;
        options.prior = 0;
        options.from_table = METHOD[k] == CT_LEARN_LM;
        ct_learn_result r = learn(&l, &options);
        printf("  %-8s loss %.8g, %3d evaluations, stop %s\n", ct_learn_method_name(METHOD[k]), r.loss_train,
               r.evaluations, ct_learn_stop_name(r.stop));
        if (k == 0) least = r.loss_train;
        CHECK_NEAR(r.loss_train / least, 1, 2e-3);
        CHECK(r.loss_train <= r.loss_closed_form);
        ct_learn_result_free(&r);
        lesson_free(&l);
    }
}

/* At the answer of a bounded method no feasible direction goes down: gradients point out of the set at bounds, and
 * vanish inside. */
static void test_the_answer_on_bounds_is_stationary(void)
{
    lesson           l = begin("D2", 3, 80, 3, 0.5, 2);
    ct_learn_options options = ct_learn_defaults();
    double           g[6];
    options.prior = 0;
    options.relative = 1e-10;
    options.step = 1e-7;
    options.scale = CT_SCALE_NONE;
    ct_learn_result r = learn(&l, &options);
    ct_outer_value  v = {.gradient = g};
    CHECK_OK(ct_outer_evaluate(l.outer, r.p, NULL, &v, &l.err), l.err);
    int held = 0;
    for (int i = 0; i < 6; i++) {
        held += r.at_bound[i] != 0;
        if (r.at_bound[i] > 0) CHECK(g[i] <= 1e-5 * v.loss);
        else if (r.at_bound[i] < 0) CHECK(g[i] >= -1e-5 * v.loss);
        else CHECK(fabs(g[i]) <= 1e-4 * v.loss);
    }
    CHECK(held > 0 && r.spread <= 4 * (1 + 1e-15));
    ct_learn_result_free(&r);
    lesson_free(&l);
}

static void test_every_method_stays_in_every_set(void)
{
    for (int method = 0; method < CT_LEARN_COUNT; method++)
        for (int full = 0; full < 2; full++)
            for (int spread = 0; spread < 2; spread++) {
                lesson           l = lesson_of("D1", CT_SE2, 2, 30, 5);
                ct_learn_options options = ct_learn_defaults();
                ct_learn_result  r;
                start_far(&l);
                learn_all(&l, full ? CT_NOISE_FULL : CT_NOISE_DIAGONAL, 0.02, 3);
                if (spread) CHECK_OK(ct_theta_set_spread(l.theta, 20, &l.err), l.err);
                open_outer(&l, NULL);
                options.method = (ct_learn_method)method;
                options.max_iterations = 8;
                const int leo = method == CT_LEARN_LEO, boxes = ct_learn_method_has(options.method, CT_LEARN_BOX_ONLY);
                if (leo && full) {
                    CHECK_REFUSED(ct_learn(l.outer, &options, l.noise, &r, &l.err), l.err,
                                  "learns diagonal and isotropic models");
                } else if (boxes && (full || spread)) {
                    CHECK_REFUSED(ct_learn(l.outer, &options, l.noise, &r, &l.err), l.err, "needs box bounds");
                } else {
                    r = learn(&l, &options);
                    CHECK(r.spread <= (spread ? 20 : 150) * (1 + 1e-12));
                    for (int32_t g = 0; g < ct_noise_count(l.noise); g++) {
                        const ct_noise_model *m = ct_noise_get(l.noise, g);
                        for (int c = 0; !full && ct_theta_learns(l.theta, g) && c < 3; c++)
                            CHECK(m->covariance[c] >= 0.02 && m->covariance[c] <= 3);
                    }
                }
                ct_learn_result_free(&r);
                lesson_free(&l);
            }
}

static void test_frozen_coordinates_stay_as_they_are(void)
{
    lesson l = lesson_of("D1", CT_SE2, 2, 40, 5);
    learn_all(&l, CT_NOISE_DIAGONAL, 1e-3, 1e3);
    const int32_t odom = ct_noise_find(l.noise, "odom"), gps = ct_noise_find(l.noise, "gps"),
                  first = ct_noise_find(l.noise, "first_pose");
    CHECK_OK(ct_theta_freeze(l.theta, gps, 2, &l.err), l.err);
    CHECK_OK(ct_theta_tie(l.theta, odom, 0, odom, 1, &l.err), l.err);
    const double before = ct_noise_get(l.noise, gps)->covariance[2],
                 prior = ct_noise_get(l.noise, first)->covariance[0];
    open_outer(&l, NULL);
    ct_learn_result r = learn(&l, NULL);
    CHECK(r.parameters == 4 && ct_noise_get(l.noise, gps)->covariance[2] == before &&
          ct_noise_get(l.noise, first)->covariance[0] == prior);
    CHECK(ct_noise_get(l.noise, odom)->covariance[0] == ct_noise_get(l.noise, odom)->covariance[1]);
    ct_learn_result_free(&r);
    lesson_free(&l);
}

/* Kinds of gradient agree to some digits: answers of methods that use it differ in the last bits, those of others do
 * not. Open-loop steps go to the same vertices, whatever the last bits. */
static void test_methods_do_as_the_table_has_it(void)
{
    for (int method = 0; method < CT_LEARN_COUNT; method++) {
        const ct_learn_method_info *info = ct_learn_method_get_info((ct_learn_method)method);
        ct_learn_result             r[3];
        for (int k = 0; k < 3; k++) {
            lesson           l = lesson_of("D1", CT_SE2, 2, 30, 5);
            ct_outer_options outer = ct_outer_defaults();
            ct_learn_options options = ct_learn_defaults();
            start_far(&l);
            learn_all(&l, CT_NOISE_DIAGONAL, 1e-4, 1e4);
            outer.gradient = k == 1 ? CT_GRADIENT_NUMERIC : CT_GRADIENT_ADJOINT;
            open_outer(&l, &outer);
            options.method = (ct_learn_method)method;
            options.seed = k == 2 ? 7 : 1;
            options.max_iterations = info->traits & CT_LEARN_RANDOM ? 400 : 15;
            options.prior = 1e-3; /* without cross-validation */
            r[k] = learn(&l, &options);
            lesson_free(&l);
        }
        const size_t bytes = (size_t)r[0].parameters * sizeof *r[0].p;
        if (!(info->traits & CT_LEARN_OPEN_LOOP))
            CHECK((memcmp(r[0].p, r[1].p, bytes) != 0) == ((info->traits & CT_LEARN_GRADIENT) != 0));
        CHECK((memcmp(r[0].p, r[2].p, bytes) != 0) == ((info->traits & CT_LEARN_RANDOM) != 0));
        CHECK((r[0].iterations == 0) == (info->iterations == 0));
        if (!(info->traits & CT_LEARN_DESCENDS)) CHECK(isnan(r[0].standard_error[0]));
        for (int k = 0; k < 3; k++) ct_learn_result_free(&r[k]);
    }
    CHECK(!ct_learn_method_get_info(CT_LEARN_COUNT) && !ct_learn_method_has(CT_LEARN_COUNT, CT_LEARN_GRADIENT));
    CHECK(ct_learn_method_iterations(CT_LEARN_LM, 6) == 50 && ct_learn_method_iterations(CT_LEARN_POWELL, 6) == 6000);
    CHECK(ct_learn_method_iterations(CT_LEARN_POWELL, INT32_MAX) == INT_MAX &&
          ct_learn_method_iterations(CT_LEARN_COUNT, 6) == 0);
}

/* ---- Words ------------------------------------------------------------------------------------ */

static void test_every_choice_has_a_name(void)
{
    for (int i = 0; i < CT_LEARN_COUNT; i++)
        CHECK(ct_learn_method_find(ct_learn_method_name((ct_learn_method)i)) == i &&
              *ct_learn_method_get_info((ct_learn_method)i)->text);
    for (int i = 0; i < CT_GRADIENT_COUNT; i++) CHECK(ct_gradient_find(ct_gradient_name((ct_gradient)i)) == i);
    for (int i = 0; i < CT_HESSIAN_COUNT; i++) CHECK(ct_hessian_find(ct_hessian_name((ct_hessian)i)) == i);
    for (int i = 0; i < CT_SCALE_COUNT; i++) CHECK(ct_scale_find(ct_scale_name((ct_scale)i)) == i);
    for (int i = 0; i < CT_LEARN_STOP_COUNT; i++) CHECK(ct_learn_stop_find(ct_learn_stop_name((ct_learn_stop)i)) == i);
    for (int i = 0; i < CT_LEARN_PHASE_COUNT; i++)
        CHECK(ct_learn_phase_find(ct_learn_phase_name((ct_learn_phase)i)) == i);
    CHECK(ct_learn_stop_find("x") < 0 && ct_learn_phase_find("x") < 0 && ct_learn_phase_find(NULL) < 0);
    for (int i = 0; i < CT_LEARN_STOP_COUNT; i++)
        CHECK(*ct_learn_stop_name((ct_learn_stop)i) && *ct_learn_stop_meaning((ct_learn_stop)i));
    CHECK(ct_learn_method_find("adam") < 0 && ct_gradient_find("") < 0 && ct_hessian_find("x") < 0 &&
          ct_scale_find("x") < 0);
}

int main(void)
{
    RUN(test_the_closed_form_is_the_second_moment_of_residuals_at_the_truth);
    RUN(test_tied_parameters_pool_their_samples);
    RUN(test_the_closed_form_of_robust_models_is_that_of_the_noise_without_outliers);
    RUN(test_a_model_that_one_run_alone_uses_is_not_judged_by_a_guess);
    RUN(test_runs_that_are_the_same_are_told_of);
    RUN(test_frank_wolfe_is_the_papers);
    RUN(test_frank_wolfe_comes_back_from_where_nothing_can_be_estimated);
    RUN(test_methods_agree_on_the_minimum);
    RUN(test_the_answer_on_bounds_is_stationary);
    RUN(test_every_method_stays_in_every_set);
    RUN(test_frozen_coordinates_stay_as_they_are);
    RUN(test_methods_do_as_the_table_has_it);
    RUN(test_every_choice_has_a_name);
    return ct_test_end();
}
