/* test_learn_units.c: learning in units: of residuals r in units u it is learning, in units of 1, of residuals r /
 * u. */
#include "learn_test.h"

#include <covtune/covtune.h>

enum { FIRST = 1, END = 3 }; /* models of a lesson that are learned: not the first pose's, which is the first */

static const double ODOM[3] = {0.3, 0.2, 0.02}, GPS[3] = {3, 2, 0.1}; /* of x, y, theta: unlike what they are of */

static const double *unit_of(const lesson *l, int32_t g)
{
    return ct_noise_get(l->noise, g)->name[0] == 'o' ? ODOM : GPS;
}

static void say_units(lesson *l, double translation)
{
    for (int32_t g = FIRST; g < ct_noise_count(l->noise); g++)
        for (int c = 0; c < 3; c++)
            CHECK_OK(ct_theta_set_unit(l->theta, g, c, unit_of(l, g)[c] * (c < 2 ? translation : 1), &l->err), l->err);
}

static void test_derivatives_in_units(void)
{
    for (int kind = CT_NOISE_ISOTROPIC; kind <= CT_NOISE_FULL; kind++) {
        lesson            l = lesson_of("D3", CT_SE2, 2, 60, 5);
        ct_gradient_check c;
        double            p[32];
        learn_all(&l, (ct_noise_kind)kind, 1e-6, 1e6);
        say_units(&l, 1);
        open_outer(&l, NULL);
        CHECK(ct_theta_count(l.theta) <= 32);
        ct_theta_get(l.theta, l.noise, p);
        CHECK_OK(ct_outer_check(l.outer, p, &c, &l.err), l.err);
        CHECK(c.error[CT_GRADIENT_ADJOINT][CT_HESSIAN_EXACT] < 1e-6 &&
              c.error[CT_GRADIENT_SENSITIVITY][CT_HESSIAN_EXACT] < 1e-6 && c.error[CT_GRADIENT_NUMERIC][0] < 0.02);
        CHECK(c.difference_norm > 0);
        lesson_free(&l);
    }
}

/* Bounds lo u^2 .. hi u^2 of every row say the same as lo .. hi in units. Methods that work in logarithms, where
 * units are a shift, cannot tell the two. */
static void test_units_are_scaled_bounds_to_methods_in_logarithms(void)
{
    static const ct_learn_method METHOD[] = {CT_LEARN_LM, CT_LEARN_PROJECTED_GRADIENT, CT_LEARN_FRANK_WOLFE_LOG,
                                             CT_LEARN_CLOSED_FORM};
    for (size_t k = 0; k < sizeof METHOD / sizeof *METHOD; k++) {
        lesson           l[2];
        ct_learn_result  r[2];
        ct_learn_options options = ct_learn_defaults();
        int              held = 0;
        options.method = METHOD[k];
        options.max_iterations = 8;
        for (int side = 0; side < 2; side++) {
            l[side] = lesson_of("D1", CT_SE2, 3, 60, 7);
            start_far(&l[side]);
            learn_all(&l[side], CT_NOISE_DIAGONAL, 0.3, 3);
            if (side) say_units(&l[side], 1);
            for (int32_t g = FIRST; !side && g < END; g++) {
                const double *unit = unit_of(&l[side], g);
                for (int c = 0; c < 3; c++)
                    CHECK_OK(ct_theta_bound(l[side].theta, g, c, 0.3 * unit[c] * unit[c], 3 * unit[c] * unit[c],
                                            &l[side].err),
                             l[side].err);
            }
            open_outer(&l[side], NULL);
            r[side] = learn(&l[side], &options);
        }
        CHECK(r[0].loss_train < r[0].loss_start);
        CHECK_NEAR(r[1].loss_start / r[0].loss_start, 1, 1e-9);
        CHECK_NEAR(r[1].loss_train / r[0].loss_train, 1, 1e-6);
        for (int32_t g = FIRST; g < END; g++)
            for (int c = 0; c < 3; c++)
                CHECK_NEAR(ct_noise_get(l[1].noise, g)->covariance[c] / ct_noise_get(l[0].noise, g)->covariance[c], 1,
                           1e-4);
        for (int32_t i = 0; i < 6; i++) {
            CHECK(r[0].at_bound[i] == r[1].at_bound[i]);
            held += r[0].at_bound[i] != 0;
        }
        CHECK(held > 0); /* else bounds had no say */
        for (int side = 0; side < 2; side++) ct_learn_result_free(&r[side]), lesson_free(&l[side]);
    }
}

/* Everything in tenths of metres: measurements, initial values, truth and the table. */
static void in_tenths(lesson *l)
{
    for (int i = 0; i < l->runs; i++) {
        ct_sequence *seq = l->seq[i];
        ct_graph    *graph = NULL;
        CHECK_OK(ct_graph_new(&graph, &l->err), l->err);
        for (int32_t v = 0; v < ct_graph_variables(seq->graph); v++) {
            double x[4];
            memcpy(x, ct_graph_initial_const(seq->graph) + ct_graph_offset(seq->graph, v), sizeof x);
            x[0] *= 10, x[1] *= 10;
            CHECK_OK(ct_graph_add_variable(graph, NULL, CT_SE2, x, NULL, &l->err), l->err);
            seq->truth[4 * v] *= 10, seq->truth[4 * v + 1] *= 10;
        }
        for (int32_t f = 0; f < ct_graph_factors(seq->graph); f++) {
            const ct_factor k = ct_graph_factor(seq->graph, f);
            double          z[4];
            memcpy(z, k.z, sizeof z);
            z[0] *= 10, z[1] *= 10;
            CHECK_OK(ct_graph_add_factor(graph, k.ops, k.var, z, NULL, k.noise, &l->err), l->err);
        }
        ct_graph_free(seq->graph);
        seq->graph = graph;
    }
    for (int32_t g = 0; g < ct_noise_count(l->noise); g++) {
        const double *v = ct_noise_get(l->noise, g)->covariance,
                     S[9] = {100 * v[0], 0, 0, 0, 100 * v[1], 0, 0, 0, v[2]};
        /* the first pose's is isotropic no longer */
        CHECK_OK(ct_noise_set_covariance(l->noise, g, S, &l->err), l->err);
    }
}

/* Frank-Wolfe and LEO work in variances and precisions, and a spread compares rows: metres or tenths of them, with
 * units it is all the same. */
static void test_in_units_it_does_not_matter_what_lengths_are_measured_in(void)
{
    static const ct_learn_method METHOD[] = {CT_LEARN_FRANK_WOLFE, CT_LEARN_LM, CT_LEARN_LEO};
    for (size_t k = 0; k < sizeof METHOD / sizeof *METHOD; k++) {
        lesson           l[2];
        ct_learn_result  r[2];
        ct_outer_options outer = ct_outer_defaults();
        ct_learn_options options = ct_learn_defaults();
        options.method = METHOD[k];
        options.max_iterations = 8;
        options.folds = 0;
        for (int side = 0; side < 2; side++) {
            l[side] = lesson_of("D1", CT_SE2, 3, 60, 8);
            start_far(&l[side]);
            if (side) in_tenths(&l[side]);
            learn_all(&l[side], CT_NOISE_DIAGONAL, 0.01, 100);
            say_units(&l[side], side ? 10 : 1);
            if (METHOD[k] != CT_LEARN_LEO) CHECK_OK(ct_theta_set_spread(l[side].theta, 200, &l[side].err), l[side].err);
            outer.loss.translation = side ? 0.01 : 1;
            open_outer(&l[side], &outer);
            r[side] = learn(&l[side], &options);
        }
        CHECK_NEAR(r[1].loss_start / r[0].loss_start, 1, 1e-9);
        CHECK_NEAR(r[1].loss_train / r[0].loss_train, 1, 1e-6);
        CHECK_NEAR(r[1].spread / r[0].spread, 1, 1e-4);
        CHECK(METHOD[k] == CT_LEARN_LEO || r[0].spread <= 200 * (1 + 1e-12));
        for (int32_t i = 0; i < 6; i++) CHECK_NEAR(r[1].p[i], r[0].p[i], 1e-4);
        for (int32_t g = FIRST; g < END; g++)
            for (int c = 0; c < 3; c++)
                CHECK_NEAR(ct_noise_get(l[1].noise, g)->covariance[c] / ct_noise_get(l[0].noise, g)->covariance[c] /
                               (c < 2 ? 100 : 1),
                           1, 1e-4);
        for (int side = 0; side < 2; side++) ct_learn_result_free(&r[side]), lesson_free(&l[side]);
    }
}

/* Of Sigma = v U^2 the likeliest v is the mean of all (r / u)^2; tied rows, which have one unit, pool theirs. */
static void test_the_closed_form_of_an_isotropic_model_weighs_rows_by_their_units(void)
{
    lesson        l = lesson_of("D1", CT_SE2, 2, 60, 9);
    const int32_t odom = ct_noise_find(l.noise, "odom"), gps = ct_noise_find(l.noise, "gps");
    double        p[3], iso = 0, tied = 0;
    int64_t       samples[3], n = 0;
    CHECK_OK(ct_theta_new(l.noise, &l.theta, &l.err), l.err);
    CHECK_OK(ct_theta_learn(l.theta, odom, CT_NOISE_ISOTROPIC, 1e-6, 1e6, &l.err), l.err);
    for (int c = 0; c < 3; c++) CHECK_OK(ct_theta_set_unit(l.theta, odom, c, ODOM[c], &l.err), l.err);
    CHECK_OK(ct_theta_set_unit(l.theta, gps, -1, 0.7, &l.err), l.err);
    CHECK_OK(ct_theta_learn(l.theta, gps, CT_NOISE_DIAGONAL, 1e-6, 1e6, &l.err), l.err);
    CHECK_OK(ct_theta_tie(l.theta, gps, 0, gps, 2, &l.err), l.err);
    open_outer(&l, NULL);
    CHECK_OK(ct_outer_closed_form(l.outer, NULL, p, samples, &l.err), l.err);
    for (int i = 0; i < l.runs; i++) {
        double        r[3 * 60];
        const int64_t steps = ct_truth_residuals(l.seq[i], odom, NULL, 60, r);
        for (int64_t k = 0; k < 3 * steps; k++) iso += r[k] * r[k] / (ODOM[k % 3] * ODOM[k % 3]);
        n += steps;
        CHECK(ct_truth_residuals(l.seq[i], gps, NULL, 60, r) == steps); /* one a pose but for the first */
        for (int64_t k = 0; k < steps; k++) tied += (r[3 * k] * r[3 * k] + r[3 * k + 2] * r[3 * k + 2]) / (0.7 * 0.7);
    }
    CHECK(samples[ct_theta_find(l.theta, odom, 0)] == 3 * n && samples[ct_theta_find(l.theta, gps, 2)] == 2 * n);
    CHECK_NEAR(p[ct_theta_find(l.theta, odom, 0)], log(iso / (double)(3 * n)), 1e-12);
    CHECK_NEAR(p[ct_theta_find(l.theta, gps, 2)], log(tied / (double)(2 * n)), 1e-12);
    lesson_free(&l);
}

/* A run in other units is another run; units of 1 that were said are none. */
static void test_a_digest_knows_units(void)
{
    for (int kind = CT_NOISE_ISOTROPIC; kind <= CT_NOISE_FULL; kind++) {
        uint64_t digest[4];
        for (int k = 0; k < 4; k++) {
            lesson l = lesson_of("D1", CT_SE2, 2, 20, 9);
            learn_all(&l, (ct_noise_kind)kind, 0.1, 10);
            if (k) CHECK_OK(ct_theta_set_unit(l.theta, FIRST, k == 3 ? 2 : -1, k == 1 ? 1 : 2, &l.err), l.err);
            open_outer(&l, NULL);
            digest[k] = ct_outer_digest(l.outer, NULL);
            lesson_free(&l);
        }
        CHECK(digest[0] == digest[1] && digest[0] != digest[2] && digest[0] != digest[3] && digest[2] != digest[3]);
    }
}

/* Bounds in the table's numbers, one pair where one unit is everybody's, and one a row where rows differ. */
static void check_file(ct_noise_kind kind, int differ, const char *wanted)
{
    lesson      l = lesson_of("D1", CT_SE2, 2, 20, 9);
    static char text[1 << 16];
    char        path[512];
    CHECK_OK(ct_theta_new(l.noise, &l.theta, &l.err), l.err);
    CHECK_OK(ct_theta_set_unit(l.theta, FIRST, -1, 0.5, &l.err), l.err);
    if (differ) CHECK_OK(ct_theta_set_unit(l.theta, FIRST, 2, 0.25, &l.err), l.err);
    CHECK_OK(ct_theta_learn(l.theta, FIRST, kind, 0.5, 8, &l.err), l.err);
    snprintf(path, sizeof path, "%s/units.json", ct_test_folder());
    CHECK_OK(ct_learn_write_noise(l.theta, l.noise, l.noise, NULL, &(ct_learn_origin){0}, path, &l.err), l.err);
    FILE *file = fopen(path, "rb");
    CHECK(file);
    memset(text, 0, sizeof text);
    if (file) CHECK(fread(text, 1, sizeof text - 1, file) > 0);
    if (file) fclose(file);
    CHECK(strstr(text, wanted) &&
          strstr(text, differ ? "\"unit_sigma\": [0.5, 0.5, 0.25]" : "\"unit_sigma\": [0.5, 0.5, 0.5]"));
    lesson_free(&l);
}

static void test_a_noise_file_has_bounds_in_its_own_numbers(void)
{
    check_file(CT_NOISE_DIAGONAL, 1, "\"bounds\": [[0.125, 2], [0.125, 2], [0.03125, 0.5]]");
    check_file(CT_NOISE_ISOTROPIC, 0, "\"bounds\": [0.125, 2]");
    check_file(CT_NOISE_ISOTROPIC, 1, "\"bounds\": [[0.125, 2], [0.125, 2], [0.03125, 0.5]]");
    check_file(CT_NOISE_FULL, 0, "\"bounds\": [0.125, 2]");
    check_file(CT_NOISE_FULL, 1, "\"bounds\": [[0.125, 2], [0.125, 2], [0.03125, 0.5]]");
}

int main(void)
{
    RUN(test_derivatives_in_units);
    RUN(test_units_are_scaled_bounds_to_methods_in_logarithms);
    RUN(test_in_units_it_does_not_matter_what_lengths_are_measured_in);
    RUN(test_the_closed_form_of_an_isotropic_model_weighs_rows_by_their_units);
    RUN(test_a_digest_knows_units);
    RUN(test_a_noise_file_has_bounds_in_its_own_numbers);
    return ct_test_end();
}
