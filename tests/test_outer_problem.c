/* test_outer_problem.c: the outer problem: derivatives of the loss by the parameters, against differences, reference
 * values and each other. */
#include "evaluate_test.h"
#include "graph_lesson_test.h"

#include <jansson.h>

/* ---- Against differences --------------------------------------------------------------------- */

/* Adjoint and sensitivity with the exact Hessian to 1e-6, differences of solves to what their step allows. */
static void check_derivatives(lesson *l, const char *what)
{
    double            *p = calloc((size_t)ct_theta_count(l->theta), sizeof *p);
    ct_gradient_check  c;
    ct_theta_get(l->theta, l->noise, p);
    CHECK_OK(ct_outer_check(l->outer, p, &c, &l->err), l->err);
    printf("  %-28s m %2d  adjoint %.1e  sensitivity %.1e  numeric %.1e; with J'J %.1e\n", what,
           ct_theta_count(l->theta), c.error[CT_GRADIENT_ADJOINT][CT_HESSIAN_EXACT],
           c.error[CT_GRADIENT_SENSITIVITY][CT_HESSIAN_EXACT], c.error[CT_GRADIENT_NUMERIC][0],
           c.error[CT_GRADIENT_ADJOINT][CT_HESSIAN_GAUSS_NEWTON]);
    CHECK(c.error[CT_GRADIENT_ADJOINT][CT_HESSIAN_EXACT] < 1e-6);
    CHECK(c.error[CT_GRADIENT_SENSITIVITY][CT_HESSIAN_EXACT] < 1e-6);
    CHECK(c.error[CT_GRADIENT_NUMERIC][0] < 0.02);
    CHECK_NEAR(c.error[CT_GRADIENT_SENSITIVITY][CT_HESSIAN_GAUSS_NEWTON],
               c.error[CT_GRADIENT_ADJOINT][CT_HESSIAN_GAUSS_NEWTON], 1e-9);
    free(p);
}

static void check_navigation(const char *preset, ct_kind space, ct_noise_kind kind, int far, ct_difference difference,
                             const char *what)
{
    lesson           l = lesson_of(preset, space, 2, 60, 5);
    ct_outer_options options = ct_outer_defaults();
    options.loss.difference = difference;
    if (far) start_far(&l);
    learn_all(&l, kind, 1e-6, 1e6);
    open_outer(&l, &options);
    check_derivatives(&l, what);
    lesson_free(&l);
}

static void test_derivatives_on_planar_runs(void)
{
    check_navigation("D3", CT_SE2, CT_NOISE_DIAGONAL, 0, CT_DIFFERENCE_LOCAL, "plane, two regimes");
    check_navigation("D3", CT_SE2, CT_NOISE_DIAGONAL, 1, CT_DIFFERENCE_LOCAL, "plane, far from the answer");
    check_navigation("D2", CT_SE2, CT_NOISE_DIAGONAL, 0, CT_DIFFERENCE_LEFT, "plane, left loss");
    check_navigation("D1", CT_SE2, CT_NOISE_FULL, 0, CT_DIFFERENCE_LOCAL, "plane, full covariances");
    check_navigation("D1", CT_SE2, CT_NOISE_ISOTROPIC, 0, CT_DIFFERENCE_LOCAL, "plane, isotropic");
}

static void test_derivatives_in_space(void)
{
    check_navigation("D1", CT_SE3, CT_NOISE_DIAGONAL, 0, CT_DIFFERENCE_LOCAL, "space");
    check_navigation("D2", CT_SE3, CT_NOISE_FULL, 0, CT_DIFFERENCE_LEFT, "space, full, left loss");
}

static void test_derivatives_through_robust_kernels(void)
{
    static const ct_robust_kind KERNEL[] = {CT_ROBUST_HUBER, CT_ROBUST_CAUCHY, CT_ROBUST_GEMAN_MCCLURE,
                                            CT_ROBUST_TUKEY};
    for (size_t k = 0; k < sizeof KERNEL / sizeof *KERNEL; k++) {
        lesson l = lesson_of("D1", CT_SE2, 2, 60, 11 + k);
        learn_all(&l, k % 2 ? CT_NOISE_FULL : CT_NOISE_DIAGONAL, 1e-6, 1e6);
        for (int32_t g = 0; g < 2; g++)
            CHECK_OK(
                ct_noise_set_robust(l.noise, g, (ct_robust){KERNEL[k], 2 * ct_robust_default_width(KERNEL[k]), 0},
                                    &l.err),
                l.err);
        open_outer(&l, NULL);
        check_derivatives(&l, ct_robust_name(KERNEL[k]));
        lesson_free(&l);
    }
}

static void check_random_graph(uint64_t seed, int has, const char *what)
{
    lesson           l = lesson_of_graph(seed, has, 1);
    ct_outer_options options = ct_outer_defaults();
    options.loss.rotation = 3;
    open_outer(&l, &options);
    check_derivatives(&l, what);
    lesson_free(&l);
}

static void test_derivatives_on_graphs_of_every_measurement(void)
{
    check_random_graph(3, PLANE | LOOPS | LANDMARKS, "plane, landmarks");
    check_random_graph(4, SPACE | LOOPS | LANDMARKS, "space, landmarks");
    check_random_graph(5, PLANE | SPACE | VECTORS | LOOPS | LANDMARKS | ROBUST | FIXED, "everything");
}

/* ---- Laws ------------------------------------------------------------------------------------ */

static void test_a_common_factor_changes_nothing(void)
{
    lesson   l = lesson_of("D3", CT_SE2, 3, 80, 7);
    double   p[12], g[12], sum = 0, size = 0;
    for (int i = 0; i < l.runs; i++) { /* the first pose held at its truth, not by a prior */
        memcpy(ct_graph_initial(l.seq[i]->graph), l.seq[i]->truth, 4 * sizeof(double));
        ct_graph_fix(l.seq[i]->graph, 0, 1);
    }
    learn_all(&l, CT_NOISE_DIAGONAL, 1e-6, 1e6);
    open_outer(&l, NULL);
    for (int k = 0; k < 2; k++) {
        if (k) start_far(&l);
        ct_theta_get(l.theta, l.noise, p);
        ct_outer_value v = {.gradient = g};
        CHECK_OK(ct_outer_evaluate(l.outer, p, NULL, &v, &l.err), l.err);
        CHECK(v.failed == 0);
        sum = size = 0;
        for (int i = 0; i < 12; i++) { /* dL/d log theta = theta dL/d theta */
            sum += g[i];
            size += fabs(g[i]);
        }
        printf("  theta . grad L = %.2g of %.2g\n", sum, size);
        CHECK(fabs(sum) <= 1e-9 * size);
    }
    lesson_free(&l);
}

static void test_the_number_of_threads_changes_no_bit(void)
{
    for (int gradient = 0; gradient < CT_GRADIENT_COUNT; gradient++) {
        double  p[12], first[12 + 144 + 1];
        lesson  l = lesson_of("D3", CT_SE2, 5, 50, 9);
        learn_all(&l, CT_NOISE_DIAGONAL, 1e-3, 1e3);
        ct_theta_get(l.theta, l.noise, p);
        for (int jobs = 1; jobs <= 4; jobs++) {
            ct_outer_options options = ct_outer_defaults();
            double           now[12 + 144 + 1];
            options.jobs = jobs;
            options.gradient = (ct_gradient)gradient;
            open_outer(&l, &options);
            ct_outer_value v = {.gradient = now, .matrix = now + 12};
            CHECK_OK(ct_outer_evaluate(l.outer, p, NULL, &v, &l.err), l.err);
            now[12 + 144] = v.loss;
            if (jobs == 1) memcpy(first, now, sizeof now);
            CHECK(!memcmp(first, now, sizeof now));
        }
        lesson_free(&l);
    }
}

static void test_parts_add_up_to_the_whole(void)
{
    lesson        l = lesson_of("D1", CT_SE2, 4, 50, 3);
    const uint8_t one[4] = {1, 0, 0, 0}, rest[4] = {0, 1, 1, 1};
    double        p[6], each[4], g[3][6];
    learn_all(&l, CT_NOISE_DIAGONAL, 1e-3, 1e3);
    open_outer(&l, NULL);
    ct_theta_get(l.theta, l.noise, p);
    ct_outer_value all = {.gradient = g[0], .each = each}, a = {.gradient = g[1]}, b = {.gradient = g[2]};
    CHECK_OK(ct_outer_evaluate(l.outer, p, NULL, &all, &l.err), l.err);
    CHECK_NEAR(all.loss, (each[0] + each[1] + each[2] + each[3]) / 4, 1e-12 * all.loss);
    CHECK_OK(ct_outer_evaluate(l.outer, p, one, &a, &l.err), l.err);
    CHECK_OK(ct_outer_evaluate(l.outer, p, rest, &b, &l.err), l.err);
    CHECK_NEAR(all.loss, (a.loss + 3 * b.loss) / 4, 1e-12 * all.loss);
    CHECK(a.loss == each[0] && a.solves == 1 && b.solves == 3);
    for (int i = 0; i < 6; i++) CHECK_NEAR(g[0][i], (g[1][i] + 3 * g[2][i]) / 4, 1e-12);
    CHECK_REFUSED(ct_outer_evaluate(l.outer, p, (const uint8_t[4]){0}, &a, &l.err), l.err, "no sequence is left");
    lesson_free(&l);
}

/* Masked coordinates do not count, and a weight of zero is a mask. */
static void test_weights_and_masks_agree(void)
{
    double g[2][6], loss[2], p[6];
    for (int masked = 0; masked < 2; masked++) {
        lesson           l = lesson_of("D1", CT_SE2, 2, 40, 8);
        ct_outer_options options = ct_outer_defaults();
        if (!masked) options.loss.rotation = 0;
        for (int i = 0; masked && i < l.runs; i++)
            for (int32_t v = 0; v < ct_graph_variables(l.seq[i]->graph); v++) l.seq[i]->known[v] = 3;
        learn_all(&l, CT_NOISE_DIAGONAL, 1e-3, 1e3);
        open_outer(&l, &options);
        ct_theta_get(l.theta, l.noise, p);
        ct_outer_value v = {.gradient = g[masked]};
        CHECK_OK(ct_outer_evaluate(l.outer, p, NULL, &v, &l.err), l.err);
        loss[masked] = v.loss;
        lesson_free(&l);
    }
    /* Position-only truth enters in the world's frame, whole truth in the body's: to first order in the heading's
     * error the same. */
    CHECK_NEAR(loss[0], loss[1], 0.02 * loss[0]);
    for (int i = 0; i < 6; i++) CHECK_NEAR(g[0][i], g[1][i], 0.05 * loss[0]);
}

/* Solves that start at the last solution end at the same minimum, in fewer iterations. */
static void test_accepted_solutions_are_where_solves_start(void)
{
    lesson         l = lesson_of("D2", CT_SE2, 2, 80, 6);
    double         p[6];
    ct_outer_value cold = {0}, warm = {0};
    learn_all(&l, CT_NOISE_DIAGONAL, 1e-3, 1e3);
    open_outer(&l, NULL);
    CHECK(ct_outer_sequences(l.outer) == 2 && ct_outer_theta(l.outer) == l.theta);
    ct_theta_get(l.theta, l.noise, p);
    CHECK_OK(ct_outer_evaluate(l.outer, p, NULL, &cold, &l.err), l.err);
    CHECK_OK(ct_outer_accept(l.outer, &l.err), l.err);
    for (int i = 0; i < 6; i++) p[i] += i % 2 ? 0.01 : -0.01;
    CHECK_OK(ct_outer_evaluate(l.outer, p, NULL, &warm, &l.err), l.err);
    CHECK(warm.iterations < cold.iterations && ct_outer_solves(l.outer) == 4);
    open_outer(&l, NULL);
    CHECK_OK(ct_outer_evaluate(l.outer, p, NULL, &cold, &l.err), l.err);
    CHECK_NEAR(warm.loss / cold.loss, 1, 1e-9);
    lesson_free(&l);
}

/* The field's inference, started from measurements, is what ct_evaluate says of each sequence. */
static void test_judging_is_assessing(void)
{
    lesson        l = lesson_of("D1", CT_SE2, 3, 50, 6);
    double        p[6], x[200];
    const uint8_t part[3] = {1, 0, 1};
    ct_inference  deployment = ct_inference_defaults();
    ct_loss       loss = ct_loss_defaults();
    ct_evaluation seen[3] = {{.loss = -1}, {.loss = -1}, {.loss = -1}}, alone;
    learn_all(&l, CT_NOISE_DIAGONAL, 1e-3, 1e3);
    open_outer(&l, NULL);
    ct_theta_get(l.theta, l.noise, p);
    CHECK_OK(ct_outer_validate(l.outer, p, part, &deployment, 1, seen, &l.err), l.err);
    CHECK(seen[1].loss == -1);
    for (int i = 0; i < 3; i += 2) {
        ct_solver *solver;
        CHECK_OK(ct_solver_new(l.seq[i]->graph, NULL, &solver, &l.err), l.err);
        CHECK_OK(evaluate_one(l.seq[i], l.noise, solver, &deployment, &loss, 1, x, &alone, &l.err), l.err);
        CHECK_NEAR(seen[i].loss / alone.loss, 1, 1e-9); /* variances went through their logarithms */
        CHECK_NEAR(seen[i].consistency.nees / alone.consistency.nees, 1, 1e-9);
        ct_solver_free(solver);
    }
    lesson_free(&l);
}

/* ---- Reference values ------------------------------------------------------------------------ */

static double at(const json_t *point, const char *key, size_t group, size_t coordinate)
{
    return json_number_value(json_array_get(json_array_get(json_object_get(point, key), group), coordinate));
}

/* "odom0" in the reference is "odom@0" here. */
static int32_t model_of(const ct_noise *noise, const char *name)
{
    char group[16], label[2] = {0};
    snprintf(group, sizeof group, "%s", name);
    const size_t n = strlen(group);
    if (group[n - 1] == '0' || group[n - 1] == '1') {
        label[0] = group[n - 1];
        group[n - 1] = 0;
    }
    return ct_noise_select(noise, group, label);
}

static void check_reference_point(lesson *l, const json_t *point, ct_difference difference)
{
    const json_t    *groups = json_object_get(point, "groups");
    ct_outer_options options = ct_outer_defaults();
    const char *loss = difference == CT_DIFFERENCE_LEFT ? "loss_left" : "loss_local",
               *gradient = difference == CT_DIFFERENCE_LEFT ? "gradient_left" : "gradient_local";
    double           p[12], g[12], size = 0;
    options.loss.difference = difference;
    for (size_t k = 0; k < json_array_size(groups); k++) {
        const double v[3] = {at(point, "variance", k, 0), at(point, "variance", k, 1), at(point, "variance", k, 2)};
        CHECK_OK(ct_noise_set_variance(l->noise, model_of(l->noise, json_string_value(json_array_get(groups, k))), v,
                                       &l->err),
                 l->err);
    }
    open_outer(l, &options);
    ct_theta_get(l->theta, l->noise, p);
    ct_outer_value v = {.gradient = g};
    CHECK_OK(ct_outer_evaluate(l->outer, p, NULL, &v, &l->err), l->err);
    ct_theta_convert_gradient(l->theta, p, CT_SPACE_VARIANCE, g, g);
    CHECK_NEAR(v.loss / json_number_value(json_object_get(point, loss)), 1, 1e-9);
    for (size_t k = 0; k < json_array_size(groups); k++)
        for (size_t c = 0; c < 3; c++) size = fmax(size, fabs(at(point, gradient, k, c)));
    for (size_t k = 0; k < json_array_size(groups); k++)
        for (size_t c = 0; c < 3; c++) {
            const int32_t i =
                ct_theta_find(l->theta, model_of(l->noise, json_string_value(json_array_get(groups, k))), (int)c);
            const double  wanted = at(point, gradient, k, c);
            CHECK_NEAR(g[i], wanted, 1e-6 * fabs(wanted) + 1e-8 * size); /* the reference's own seven digits */
        }
}

static void check_reference(const char *name)
{
    char file[96];
    snprintf(file, sizeof file, "golden/%s.json", name);
    const char *path = ct_test_shared(file);
    if (!path) SKIP("no ../shared/golden");
    json_t *points = json_load_file(path, 0, NULL);
    lesson  l = {.runs = 2};
    CHECK_OK(ct_noise_new(&l.noise, &l.err), l.err);
    for (int s = 0; s < 2; s++) {
        snprintf(file, sizeof file, "golden/%s/train/%04d.json", name, s);
        CHECK_OK(ct_sequence_read(ct_test_shared(file), CT_FORMAT_LEO, l.noise, &l.seq[s], &l.err), l.err);
    }
    learn_all(&l, CT_NOISE_DIAGONAL, 1e-6, 1e6);
    for (size_t k = 0; k < json_array_size(points); k++)
        for (int d = 0; d < CT_DIFFERENCE_COUNT; d++)
            check_reference_point(&l, json_array_get(points, k), (ct_difference)d);
    lesson_free(&l);
    json_decref(points);
}

static void test_reference_values_in_one_regime(void) { check_reference("nav_one_regime"); }
static void test_reference_values_in_two_regimes(void) { check_reference("nav_two_regimes"); }

/* ---- Bad input ------------------------------------------------------------------------------- */

static void test_what_cannot_be_learned_is_refused_in_words(void)
{
    lesson l = lesson_of("D1", CT_SE2, 2, 20, 1);
    const ct_sequence *const *seq = (const ct_sequence *const *)l.seq;
    int32_t                   spare;
    CHECK_OK(ct_noise_add_isotropic(l.noise, "sonar", 1, 1, &spare, &l.err), l.err);
    CHECK_OK(ct_theta_new(l.noise, &l.theta, &l.err), l.err);
    CHECK_REFUSED(ct_outer_new(2, seq, l.noise, l.theta, NULL, &l.outer, &l.err), l.err, "nothing to learn");
    CHECK_REFUSED(ct_outer_new(0, seq, l.noise, l.theta, NULL, &l.outer, &l.err), l.err, "no sequence");
    learn_all(&l, CT_NOISE_DIAGONAL, 1e-3, 1e3);
    CHECK_REFUSED(ct_outer_new(2, seq, l.noise, l.theta, NULL, &l.outer, &l.err), l.err,
                  "\"sonar\" is to be learned, but no factor of the 2 sequences uses it");
    CHECK_OK(ct_theta_freeze(l.theta, spare, -1, &l.err), l.err);
    double *truth = l.seq[1]->truth;
    l.seq[1]->truth = NULL;
    CHECK_REFUSED(ct_outer_new(1, seq + 1, l.noise, l.theta, NULL, &l.outer, &l.err), l.err,
                  "no sequence has truth to learn from");
    CHECK_OK(ct_outer_new(2, seq, l.noise, l.theta, NULL, &l.outer, &l.err), l.err);
    CHECK(ct_outer_sequences(l.outer) == 1);
    ct_outer_free(l.outer);
    l.outer = NULL;
    l.seq[1]->truth = truth;
    truth[5] = NAN;
    CHECK_REFUSED(ct_outer_new(2, seq, l.noise, l.theta, NULL, &l.outer, &l.err), l.err, "the truth of x1 holds nan");
    truth[5] = 0;
    memset(l.seq[1]->known, 0, 20);
    CHECK_REFUSED(ct_outer_new(2, seq, l.noise, l.theta, NULL, &l.outer, &l.err), l.err,
                  "no estimated variable has a truth of positive weight");
    CHECK(!l.outer);
    lesson_free(&l);
}

/* Measured as GTSAM does, estimates are not quite minima; differences of solves are all that knows how they move. */
static void test_approximate_jacobians_are_learned_through_by_differences_alone(void)
{
    lesson           l = lesson_of("D1", CT_SE2, 2, 30, 2);
    ct_outer_options options = ct_outer_defaults();
    double           p[6], g[6];
    for (int i = 0; i < 2; i++) CHECK_OK(ct_graph_like_gtsam(l.seq[i]->graph, &l.err), l.err);
    learn_all(&l, CT_NOISE_DIAGONAL, 1e-3, 1e3);
    CHECK_REFUSED(ct_outer_new(2, (const ct_sequence *const *)l.seq, l.noise, l.theta, &options, &l.outer, &l.err),
                  l.err, "need exact Jacobians, and those of gtsam_");
    options.gradient = CT_GRADIENT_NUMERIC;
    open_outer(&l, &options);
    ct_theta_get(l.theta, l.noise, p);
    ct_outer_value v = {.gradient = g}, up = {0};
    CHECK_OK(ct_outer_evaluate(l.outer, p, NULL, &v, &l.err), l.err);
    p[1] += 1e-3;
    CHECK_OK(ct_outer_evaluate(l.outer, p, NULL, &up, &l.err), l.err);
    CHECK_NEAR((up.loss - v.loss) / 1e-3, g[1], 1e-2 * fabs(g[1]) + 1e-4 * v.loss);
    lesson_free(&l);
}

/* An inner solve that fails is an infinite loss, with the sequence named. */
static void test_a_sequence_that_cannot_be_estimated_is_counted(void)
{
    lesson           l = lesson_of("D1", CT_SE2, 3, 30, 2);
    ct_outer_options options = ct_outer_defaults();
    double           p[6], g[6];
    options.inner.max_iterations = 0;
    learn_all(&l, CT_NOISE_DIAGONAL, 1e-3, 1e3);
    open_outer(&l, &options);
    ct_theta_get(l.theta, l.noise, p);
    ct_outer_value v = {.gradient = g};
    CHECK_OK(ct_outer_evaluate(l.outer, p, NULL, &v, &l.err), l.err);
    CHECK(isinf(v.loss) && v.failed == 3 && v.which == 0 && v.stop == CT_STOP_ITERATIONS && g[0] == 0);
    lesson_free(&l);
}

int main(void)
{
    RUN(test_derivatives_on_planar_runs);
    RUN(test_derivatives_in_space);
    RUN(test_derivatives_through_robust_kernels);
    RUN(test_derivatives_on_graphs_of_every_measurement);
    RUN(test_a_common_factor_changes_nothing);
    RUN(test_the_number_of_threads_changes_no_bit);
    RUN(test_parts_add_up_to_the_whole);
    RUN(test_weights_and_masks_agree);
    RUN(test_accepted_solutions_are_where_solves_start);
    RUN(test_judging_is_assessing);
    RUN(test_reference_values_in_one_regime);
    RUN(test_reference_values_in_two_regimes);
    RUN(test_what_cannot_be_learned_is_refused_in_words);
    RUN(test_approximate_jacobians_are_learned_through_by_differences_alone);
    RUN(test_a_sequence_that_cannot_be_estimated_is_counted);
    return ct_test_end();
}
