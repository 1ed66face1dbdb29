/* test_scale.c: leverage of noise models, and the common scale that follows from it. */
#include "learn/learn.h"
#include "push_test.h"
#include "solve/solve.h"

/* ---- Leverage ---------------------------------------------------------------------------------- */

static double log_determinant(const ct__inner_problem *inner, const ct_noise *noise)
{
    ct_err     err = {0};
    ct_solver *solver = NULL;
    CHECK_OK(ct_solver_new(inner->seq->graph, NULL, &solver, &err), err);
    CHECK_OK(ct_solver_linearise(solver, noise, inner->x, &err), err);
    const double value = ct_sparse_log_determinant(solver->system);
    ct_solver_free(solver);
    return value;
}

/* log det H at fixed values, H = sum of A'A, changes with the log of a row's information by that row's leverage. */
static void check_leverage(const lesson *l, int32_t model)
{
    const ct__inner_problem *inner = &l->outer->inner[0];
    const ct_noise_model *m = ct_noise_get(l->outer->noise, model);
    ct_err err = {0};
    for (int row = 0; row < m->dim; row++) {
        ct_noise *noise = NULL;
        double step = 1e-3, variance[CT_NOISE_DIM_MAX], at[2];
        if (m->kind == CT_NOISE_ISOTROPIC && row) break;
        for (int side = 0; side < 2; side++) {
            CHECK_OK(ct_noise_copy(l->outer->noise, &noise, &err), err);
            for (int i = 0; i < m->dim; i++) {
                variance[i] = ct_noise_sigma(m, i) * ct_noise_sigma(m, i);
                if (i == row || m->kind == CT_NOISE_ISOTROPIC) variance[i] *= exp(side ? step : -step);
            }
            CHECK_OK(ct_noise_set_variance(noise, model, variance, &err), err);
            at[side] = log_determinant(inner, noise);
            ct_noise_free(noise);
        }
        double leverage = inner->fit[model].leverage[row];
        if (m->kind == CT_NOISE_ISOTROPIC)
            for (int i = 1; i < m->dim; i++) leverage += inner->fit[model].leverage[i];
        CHECK_NEAR((at[0] - at[1]) / (2 * step) / leverage, 1, 1e-5);
    }
}

static void check_fit(lesson *l, int slopes)
{
    ct_model_fit *fit = calloc((size_t)ct_noise_count(l->noise), sizeof *fit);
    ct_outer_value value = {.fit = fit};
    double *p = calloc((size_t)ct_theta_count(l->theta), sizeof *p), leverage = 0, scalars = 0;
    ct_theta_get(l->theta, l->noise, p);
    CHECK_OK(ct_outer_evaluate(l->outer, p, NULL, &value, &l->err), l->err);
    for (int i = 0; i < l->runs; i++) scalars += l->outer->inner[i].scalars;
    for (int32_t g = 0; g < ct_noise_count(l->noise); g++) {
        for (int i = 0; i < CT_NOISE_DIM_MAX; i++) leverage += fit[g].leverage[i];
        if (slopes && l->outer->inner[0].fit[g].factors > 0) check_leverage(l, g);
    }
    printf("  leverage %.6f, unknowns %.0f\n", leverage, scalars);
    CHECK_NEAR(leverage / scalars, 1, 1e-7);
    free(fit);
    free(p);
}

static void test_leverage_is_the_slope_of_the_log_determinant(void)
{
    for (int space = 0; space < 2; space++) {
        lesson l = lesson_of("D1", space ? CT_SE3 : CT_SE2, 2, 40, 8);
        learn_all(&l, CT_NOISE_DIAGONAL, 1e-9, 1e9);
        open_outer(&l, NULL);
        check_fit(&l, 1);
        lesson_free(&l);
    }
}

/* Edges of these graphs are pieces of variables, and fixed variables have no part. */
static void test_leverage_of_factors_on_parts_of_variables(void)
{
    lesson l = push_lesson(PUSH_ELLIPSE, 0, 0, 1, 1, 30, 1);
    push_learn(&l, 1e-3, 1e3);
    open_outer(&l, NULL);
    check_fit(&l, 1);
    lesson_free(&l);
}

/* Weights are those of the minimum: leverages still sum to the unknowns. */
static void test_leverage_under_kernels_sums_to_the_unknowns(void)
{
    lesson l = lesson_of("D1", CT_SE2, 2, 40, 8);
    learn_all(&l, CT_NOISE_DIAGONAL, 1e-9, 1e9);
    for (int32_t g = 0; g < ct_noise_count(l.noise); g++)
        CHECK_OK(ct_noise_set_robust(l.noise, g, (ct_robust){CT_ROBUST_HUBER, 1.0, 0}, &l.err), l.err);
    open_outer(&l, NULL);
    check_fit(&l, 0);
    lesson_free(&l);
}

/* ---- The common scale ---------------------------------------------------------------------------- */

enum { AT_LATENT, AT_CLOSED_FORM };

/* log of the factor with a model frozen (NULL: none), of 5 runs of 500 poses of D1. */
static double log_factor(const char *frozen, int at, uint64_t seed, double *variance)
{
    lesson l = lesson_of("D1", CT_SE2, 5, 500, seed);
    ct__scale_estimate scale;
    double p[6];
    int64_t samples[6], all = 0;
    learn_all(&l, CT_NOISE_DIAGONAL, 1e-9, 1e9);
    if (frozen) CHECK_OK(ct_theta_freeze(l.theta, ct_noise_find(l.noise, frozen), -1, &l.err), l.err);
    open_outer(&l, NULL);
    ct_theta_get(l.theta, l.noise, p);
    if (at == AT_CLOSED_FORM) CHECK_OK(ct_outer_closed_form(l.outer, NULL, p, samples, &l.err), l.err);
    for (int32_t i = 0; at == AT_CLOSED_FORM && i < ct_theta_count(l.theta); i++) all += samples[i];
    CHECK_OK(ct__scale_from_fit(l.outer, p, NULL, &scale, &l.err), l.err);
    /* the closed form is efficient, so its difference from another estimate has the difference of their variances */
    *variance = 2 / scale.degrees - (all ? 2 / (double)all : 0);
    lesson_free(&l);
    return log(scale.factor);
}

/* Shared by rows, unknowns gave factors of 1.64 and .35 where 1 is right. */
static void test_frozen_models_do_not_bias_the_scale(void)
{
    const char *many = getenv("COVTUNE_SCALE_SEEDS");
    const int seeds = many ? atoi(many) : ct_test_slow() ? 2 : 8;
    for (int k = 0; k < 6; k++) {
        static const char *const FROZEN[] = {NULL, "odom", "gps"};
        double sum = 0, square = 0, claimed = 0, ratio;
        for (int s = 0; s < seeds; s++) {
            double variance;
            const double u = log_factor(FROZEN[k % 3], k / 3, (uint64_t)(s + 1), &variance);
            sum += u;
            square += u * u;
            claimed += variance / seeds;
        }
        const double mean = sum / seeds, scatter = sqrt((square - seeds * mean * mean) / (seeds - 1));
        ratio = scatter / sqrt(claimed);
        printf("  %s frozen, at %s: mean factor %.4f, scatter %.4f, degrees say %.4f\n",
               FROZEN[k % 3] ? FROZEN[k % 3] : "nothing", k < 3 ? "latent values" : "the closed form", exp(mean),
               scatter, sqrt(claimed));
        CHECK(fabs(mean) < (seeds < 20 ? 3 : 2) * sqrt(claimed / seeds));
        if (seeds >= 20) CHECK(ratio > 0.7 && ratio < 1.35); /* a scatter of 50 is known to 10 % */
    }
}

/* ---- Scale from NEES ------------------------------------------------------------------------------ */

static double farness(double nees) { return fabs(log(nees)); }

/* A heading bias lasts: residuals are small, errors are not. The factor of NEES makes errors as large as claimed. */
static void test_errors_that_last_ask_for_a_larger_scale_than_residuals(void)
{
    for (int from = 0; from < CT_SCALE_FROM_COUNT; from++) {
        lesson l = biased_lesson(8, 0, 0.02);
        ct_learn_options options = ct_learn_defaults();
        options.scale_from = (ct_scale_from)from;
        options.method = CT_LEARN_CLOSED_FORM;
        ct_learn_result r = learn(&l, &options);
        printf("  from %s: NEES asks for %.3g, chi-square for %.3g; applied %.3g: NEES %.3g -> %.3g\n",
               ct_scale_from_name(r.scale_from), r.scale_nees, r.scale_chi, r.scale_applied, r.nees_before,
               r.nees_after);
        CHECK((int)r.scale_from == from && ct_scale_from_find(ct_scale_from_name(r.scale_from)) == from);
        CHECK(r.scale_nees > 1.5 * r.scale_chi && r.scale_wanted == (from ? r.scale_chi : r.scale_nees));
        CHECK(farness(r.nees_after) <= farness(r.nees_before) + 0.02);
        if (from == CT_SCALE_FROM_NEES) CHECK(r.scale_applied == r.scale_wanted && farness(r.nees_after) < log(1.5));
        ct_learn_result_free(&r);
        lesson_free(&l);
    }
}

/* Simulated runs without mismatch: the factor of chi-square, which NEES confirms. */
static void test_where_nees_agrees_the_scale_is_that_of_residuals(void)
{
    int agreed = 0;
    for (int seed = 1; seed <= 10; seed++) {
        lesson l = begin("D1", 6, 100, (uint64_t)seed, 1e-6, 1e6);
        ct_learn_options options = ct_learn_defaults();
        options.method = CT_LEARN_CLOSED_FORM;
        ct_learn_result r = learn(&l, &options);
        agreed += r.scale_from == CT_SCALE_FROM_CHI2 && r.scale_wanted == r.scale_chi;
        CHECK(farness(r.nees_after) <= CT_MAX(log(1.3), farness(r.nees_before)) && farness(r.scale_applied) < log(1.4));
        for (int32_t g = 0; g < r.models; g++) { /* each model by itself as well */
            double degrees;
            const double chi = ct_model_fit_chi(ct_noise_get(l.noise, g), &r.fit[g], -1, &degrees);
            if (degrees > 10) CHECK(fabs(chi - r.scale_chi / r.scale_applied) < 5 * sqrt(2 / degrees));
        }
        ct_learn_result_free(&r);
        lesson_free(&l);
    }
    printf("  %d of 10\n", agreed);
    CHECK(agreed >= 7);
}

/* NEES of seven sequences at their latent noise, one of which turns: no sequence counts as more than 30 medians, no
 * recording as more than 4, and recordings count alike. */
static void test_one_bad_sequence_does_not_rule_nees(void)
{
    static const char *const RECORDING[3][7] = {{"a", "a", "a", "a", "a", "a", "a"},
                                                {"a", "b", "c", "d", "e", "f", "g"},
                                                {"a", "a", "a", "a", "a", "b", "c"}};
    static const double OTHERS[3] = {6, 6, 2}, UNITS[3] = {7, 7, 3}, CUT[3] = {30, 4, 4};
    for (int k = 0; k < 3; k++) {
        lesson l = lesson_of("D1", CT_SE2, 7, 100, 5), bad = biased_lesson(1, 0, 1);
        ct_sequence *const good = l.seq[6];
        l.seq[6] = bad.seq[0];
        bad.seq[0] = good;
        for (int i = 0; i < 7; i++) {
            free(l.seq[i]->recording);
            l.seq[i]->recording = strcpy(malloc(2), RECORDING[k][i]);
        }
        learn_all(&l, CT_NOISE_DIAGONAL, 1e-6, 1e6);
        open_outer(&l, NULL);
        ct_learn_options options = ct_learn_defaults();
        ct_learn_result result = {0};
        double p[6], loss[7];
        ct__nees_measure nees;
        ct__learning run = {.objective = {.outer = l.outer, .options = &options, .result = &result, .err = &l.err}};
        run.start = p;
        ct_theta_get(l.theta, l.noise, p);
        CHECK_OK(ct__measure_nees(&run, 1, 1, loss, &nees), l.err);
        printf("  NEES %.3f, crossed %.3f, error %.3f of %d\n", nees.nees, nees.crossed, nees.error, nees.groups);
        CHECK_NEAR(nees.nees, (OTHERS[k] + CUT[k]) / UNITS[k], 0.2 * nees.nees);
        CHECK(nees.groups == UNITS[k] && nees.error < 31.0 / nees.groups); /* of one that counts as 30 means */
        /* each over the mean of the others: six of 1 over (5 + 30) / 6 or (5 + 4) / 6, and one of 30 */
        if (k < 2) CHECK_NEAR(nees.crossed, (36 / (k ? 9.0 : 35.0) + 30) / 7, 0.1);
        lesson_free(&l);
        lesson_free(&bad);
    }
}

/* The sequence without measurements of this model. */
static void remove_model(lesson *l, ct_sequence *seq, int32_t model)
{
    ct_graph *old = seq->graph, *g = NULL;
    CHECK_OK(ct_graph_new(&g, &l->err), l->err);
    for (int32_t v = 0; v < ct_graph_variables(old); v++)
        CHECK_OK(ct_graph_add_variable(g, NULL, ct_graph_kind(old, v),
                                       ct_graph_initial_const(old) + ct_graph_offset(old, v), NULL, &l->err),
                 l->err);
    for (int32_t f = 0; f < ct_graph_factors(old); f++) {
        const ct_factor k = ct_graph_factor(old, f);
        if (k.noise != model) CHECK_OK(ct_graph_add_factor(g, k.ops, k.var, k.z, NULL, k.noise, &l->err), l->err);
    }
    ct_graph_free(old);
    seq->graph = g;
}

/* Runs by odometry alone, anchored at their beginning, with the right sigmas: NEES of a run has few independent terms.
 * Its deviation by draws is that of many runs, and the scale stays that of residuals in 19 of 20 sets of one run. */
static void test_nees_of_few_independent_errors_does_not_rule(void)
{
    enum { RUNS = 60 };
    double sum = 0, square = 0, claimed = 0;
    int    kept = 0;
    for (int i = 0; i < RUNS; i++) {
        lesson           l = biased_lesson(1, (uint64_t)(100 + i), 0);
        const int32_t    gps = ct_noise_find(l.noise, "gps");
        ct_learn_options options = ct_learn_defaults();
        ct_learn_result  result = {0};
        double           p[6], loss[1];
        ct__nees_measure nees;
        remove_model(&l, l.seq[0], gps);
        learn_all(&l, CT_NOISE_DIAGONAL, 1e-9, 1e9);
        CHECK_OK(ct_theta_freeze(l.theta, gps, -1, &l.err), l.err);
        open_outer(&l, NULL);
        options.deployment.start = CT_START_TRUTH;
        ct__learning run = {.objective = {.outer = l.outer, .options = &options, .result = &result, .err = &l.err}};
        run.start = p;
        ct_theta_get(l.theta, l.noise, p);
        CHECK_OK(ct__measure_nees(&run, 1, 1, loss, &nees), l.err);
        sum += nees.nees;
        square += nees.nees * nees.nees;
        claimed += nees.deviation / RUNS;
        options.method = CT_LEARN_CLOSED_FORM;
        ct_learn_result r = learn(&l, &options);
        kept += r.scale_from == CT_SCALE_FROM_CHI2;
        ct_learn_result_free(&r);
        lesson_free(&l);
    }
    const double mean = sum / RUNS, scatter = sqrt((square - RUNS * mean * mean) / (RUNS - 1));
    printf("  NEES of a run: mean %.3f, deviation %.3f, by draws %.3f; residuals rule in %d of %d\n", mean, scatter,
           claimed, kept, RUNS);
    CHECK(fabs(mean - 1) < 4 * scatter / sqrt(RUNS));
    CHECK(claimed > 0.7 * scatter && claimed < 1.4 * scatter);
    CHECK(kept >= RUNS - 8);
}

/* Widths are divided by the root of the factor: rho -> rho / s. */
static void test_kernel_widths_follow_the_scale_and_estimates_stay(void)
{
    lesson l = biased_lesson(6, 0, 0.02);
    ct_learn_options options = ct_learn_defaults();
    const int32_t gps = ct_noise_find(l.noise, "gps");
    ct_evaluation each[2][8];
    const double width = 1.345;
    const ct_evaluate_options how = ct_evaluate_defaults();
    options.method = CT_LEARN_CLOSED_FORM;
    CHECK_OK(ct_noise_set_robust(l.noise, gps, (ct_robust){CT_ROBUST_HUBER, width, 0}, &l.err), l.err);
    open_outer(&l, NULL);
    ct_learn_result r = learn(&l, &options);
    CHECK(r.scale_applied > 1.2);
    CHECK_NEAR(ct_noise_get(l.noise, gps)->robust.width, width / sqrt(r.scale_applied), 1e-12);
    CHECK(ct_noise_get(l.outer->noise, gps)->robust.width == width); /* the outer problem is as it was */
    for (int after = 0; after < 2; after++) {
        for (int32_t i = 0; !after && i < r.parameters; i++) r.p[i] -= log(r.scale_applied);
        if (after)
            CHECK_OK(ct_evaluate(l.runs, l.seq, l.noise, &how, each[1], NULL, &l.err), l.err);
        else
            CHECK_OK(ct_outer_validate(l.outer, r.p, NULL, &options.deployment, 0, each[0], &l.err), l.err);
    }
    for (int i = 0; i < l.runs; i++) CHECK_NEAR(each[1][i].loss / each[0][i].loss, 1, 1e-3); /* first_pose is frozen */
    ct_learn_result_free(&r);
    lesson_free(&l);
}

/* Odometry turns and is frozen. NEES asks for a larger GPS sigma, and the more of it is given, the more estimates
 * follow the odometry. That raises losses at once where it turns by 0.03 rad a step; where it turns by 0.02, a part of
 * the factor does not. Estimates start from the truth: other minima would decide instead. */
static void test_a_scale_that_raises_losses_is_applied_in_part_or_not(void)
{
    for (int part = 0; part < 2; part++) {
        lesson l = biased_lesson(6, 0, part ? 0.02 : 0.03);
        const int32_t odom = ct_noise_find(l.noise, "odom");
        ct_learn_options options = ct_learn_defaults();
        options.deployment.start = CT_START_TRUTH;
        options.method = CT_LEARN_CLOSED_FORM;
        CHECK_OK(ct_theta_freeze(l.theta, odom, -1, &l.err), l.err);
        open_outer(&l, NULL);
        ct_learn_result r = learn(&l, &options);
        printf("  wanted %.3g, applied %.3g, NEES %.3g -> %.3g, loss %.4g -> %.4g\n", r.scale_wanted, r.scale_applied,
               r.nees_before, r.nees_after, r.loss_closed_form, r.loss_train);
        CHECK((ct_findings_find(&r.findings, CT_FINDING_SCALE_IN_PART) >= 0) == part);
        CHECK((ct_findings_find(&r.findings, CT_FINDING_SCALE_NOT_APPLIED) >= 0) == !part);
        CHECK(part ? r.scale_applied > 1.1 && r.scale_applied < 0.9 * r.scale_wanted : r.scale_applied == 1);
        CHECK(part ? farness(r.nees_after) < farness(r.nees_before) - 0.02 : r.nees_after == r.nees_before);
        CHECK(r.loss_train <= 1.03 * r.loss_closed_form);
        ct_learn_result_free(&r);
        lesson_free(&l);
    }
}

/* NEES under a factor is measured at the same estimates: kernels' widths follow. */
static void test_nees_under_a_factor_is_that_of_the_same_estimates(void)
{
    lesson l = biased_lesson(3, 0, 0.01);
    ct_learn_options options = ct_learn_defaults();
    ct_learn_result result = {0};
    double start[9], loss[2][3];
    ct__nees_measure nees[2];
    for (int32_t g = 0; g < ct_noise_count(l.noise); g++)
        CHECK_OK(ct_noise_set_robust(l.noise, g, (ct_robust){CT_ROBUST_HUBER, 0.5, 0}, &l.err), l.err);
    CHECK_OK(ct_theta_learn(l.theta, ct_noise_find(l.noise, "first_pose"), CT_NOISE_DIAGONAL, 1e-9, 1e9, &l.err),
             l.err);
    open_outer(&l, NULL);
    ct__learning run = {.objective = {.outer = l.outer, .options = &options, .result = &result, .err = &l.err}};
    run.start = start;
    ct_theta_get(l.theta, l.noise, start);
    for (int k = 0; k < 2; k++) CHECK_OK(ct__measure_nees(&run, k ? 9 : 1, 0, loss[k], &nees[k]), l.err);
    printf("  NEES %.4f, with variances times 9 %.4f\n", nees[0].nees, nees[1].nees);
    for (int i = 0; i < 3; i++) CHECK_NEAR(loss[1][i] / loss[0][i], 1, 1e-6);
    CHECK_NEAR(9 * nees[1].nees / nees[0].nees, 1, 1e-5);
    lesson_free(&l);
}

int main(void)
{
    RUN(test_leverage_is_the_slope_of_the_log_determinant);
    RUN(test_leverage_of_factors_on_parts_of_variables);
    RUN(test_leverage_under_kernels_sums_to_the_unknowns);
    RUN(test_frozen_models_do_not_bias_the_scale);
    RUN(test_errors_that_last_ask_for_a_larger_scale_than_residuals);
    RUN(test_where_nees_agrees_the_scale_is_that_of_residuals);
    RUN(test_a_scale_that_raises_losses_is_applied_in_part_or_not);
    RUN(test_one_bad_sequence_does_not_rule_nees);
    RUN(test_nees_of_few_independent_errors_does_not_rule);
    RUN(test_kernel_widths_follow_the_scale_and_estimates_stay);
    RUN(test_nees_under_a_factor_is_that_of_the_same_estimates);
    return ct_test_end();
}
