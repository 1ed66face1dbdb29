/* test_infer.c: estimates from several starts, and signs of a far minimum. */
#define _XOPEN_SOURCE 700
#include "start_test.h"

/* Straight steps of 1 m with good odometry; a fifth of the poses has a prior that is 10 m off, under a kernel that lets
 * it be an outlier. Poses that start at their priors stay there. */
static world misleading_priors(void)
{
    world  w = {.poses = 100};
    ct_rng rng = ct_rng_seed(3);
    CHECK_OK(ct_graph_new(&w.graph, &w.err), w.err);
    CHECK_OK(ct_noise_new(&w.noise, &w.err), w.err);
    CHECK_OK(ct_noise_add_isotropic(w.noise, "odom", 3, 1e-4, NULL, &w.err), w.err);
    CHECK_OK(ct_noise_add_isotropic(w.noise, "first", 3, 1e-4, NULL, &w.err), w.err);
    CHECK_OK(ct_noise_add_isotropic(w.noise, "gps", 3, 1e-6, NULL, &w.err), w.err);
    CHECK_OK(ct_noise_set_robust(w.noise, 2, (ct_robust){CT_ROBUST_GEMAN_MCCLURE, 20, 0}, &w.err), w.err);
    for (int k = 0; k < w.poses; k++) {
        const double z[4] = {1 + 0.01 * ct_rng_normal(&rng), 0.01 * ct_rng_normal(&rng), 1, 0};
        CHECK_OK(ct_graph_add_variable(w.graph, NULL, CT_SE2, NULL, NULL, &w.err), w.err);
        if (k) CHECK_OK(ct_graph_add_between(w.graph, k - 1, k, z, 0, &w.err), w.err);
        else CHECK_OK(ct_graph_add_prior(w.graph, 0, (const double[]){0, 0, 1, 0}, 1, &w.err), w.err);
        if (k % 5 == 4)
            CHECK_OK(ct_graph_add_prior(w.graph, k, (const double[]){k, 10, 1, 0}, 2, &w.err), w.err);
    }
    w.x = calloc((size_t)ct_graph_size(w.graph), sizeof *w.x);
    CHECK_OK(ct_sequence_new(w.graph, &w.seq, &w.err), w.err);
    return w;
}

static void test_the_lowest_error_of_several_starts_wins(void)
{
    world               w = misleading_priors();
    ct_solver          *solver = NULL;
    ct_inference        how = ct_inference_defaults(), one = how;
    ct_inference_result several, single;
    CHECK_OK(ct_solver_new(w.graph, NULL, &solver, &w.err), w.err);
    one.one_start = 1;
    CHECK_OK(ct_infer(w.seq, w.noise, solver, &one, w.x, &single, &w.err), w.err);
    CHECK(single.starts == 1 && single.start == CT_START_MEASURED);
    CHECK_OK(ct_infer(w.seq, w.noise, solver, &how, w.x, &several, &w.err), w.err);
    CHECK(several.starts > 1 && several.start != CT_START_MEASURED);
    CHECK(several.solve.final_error < 0.8 * single.solve.final_error);
    CHECK_NEAR(several.solve.final_error, ct_graph_error(w.graph, w.noise, w.x), 1e-9 * several.solve.final_error);
    /* a start that was asked for is the only one */
    how.start = CT_START_ODOMETRY;
    CHECK_OK(ct_infer(w.seq, w.noise, solver, &how, w.x, &single, &w.err), w.err);
    CHECK(single.starts == 1 && single.start == CT_START_ODOMETRY);
    ct_solver_free(solver);
    world_free(&w);
}

static void test_a_good_estimate_costs_one_solve(void)
{
    world_options       o = {.poses = 400, .drift = 0.003, .sigma = 0.1};
    world               w = world_new(&o);
    ct_solver          *solver = NULL;
    ct_inference        how = ct_inference_defaults();
    ct_inference_result found;
    CHECK_OK(ct_solver_new(w.graph, NULL, &solver, &w.err), w.err);
    CHECK_OK(ct_infer(w.seq, w.noise, solver, &how, w.x, &found, &w.err), w.err);
    CHECK(found.starts == 1 && found.start == CT_START_MEASURED && ct_solve_usable(&found.solve));
    /* incrementally, near the same minimum; poses start by motion, as measurements determine them */
    double      *y = calloc((size_t)ct_graph_size(w.graph), sizeof *y);
    const double least = found.solve.final_error;
    how.incremental = 1;
    CHECK_OK(ct_inference_choose(1, &w.seq, &how, &w.err), w.err);
    CHECK(how.replay.entry == CT_ENTRY_MOTION);
    CHECK_OK(ct_infer(w.seq, w.noise, solver, &how, y, &found, &w.err), w.err);
    CHECK(found.solve.stop == CT_STOP_STEP && found.replay.updates == found.solve.iterations);
    CHECK(found.solve.final_error > least * (1 - 1e-9) && found.solve.final_error < 1.2 * least);
    free(y);
    ct_solver_free(solver);
    world_free(&w);
}

/* Ranges to known landmarks: no pose is determined until several were measured. They must not wait at one place. */
static void test_incremental_estimates_from_ranges_alone_are_determined(void)
{
    world_options       o = {.poses = 400, .drift = 0.001, .sigma = 0.1, .sees = SEES_RANGE};
    world               w = world_new(&o);
    ct_inference        how = ct_inference_defaults();
    ct_inference_result found;
    double              turn;
    how.incremental = 1;
    CHECK_OK(ct_infer(w.seq, w.noise, NULL, &how, w.x, &found, &w.err), w.err);
    CHECK(found.solve.stop == CT_STOP_STEP);
    CHECK(world_error(&w, 0, w.x, &turn) < 1);
    world_free(&w);
}

static void test_tension_is_that_of_normal_residuals_at_the_minimum_and_large_in_another(void)
{
    world_options o = {.poses = 400, .drift = 0, .sigma = 0.1};
    world         w = world_new(&o);
    ct_tension    at, scaled;
    for (int k = 0; k < w.poses; k++) world_stored(0, k, w.x + ct_graph_offset(w.graph, k));
    CHECK_OK(ct_tension_at(w.graph, w.noise, w.x, &at, &w.err), w.err);
    CHECK_NEAR(at.relative, 1.49, 0.12); /* of chi-square with 3 degrees, by simulation */
    CHECK(at.absolute > 1.4 && at.absolute < 2.6 && at.on_points == 0);
    CHECK_OK(ct_noise_set_variance(w.noise, 0, (const double[]){1e4}, &w.err), w.err);
    CHECK_OK(ct_tension_at(w.graph, w.noise, w.x, &scaled, &w.err), w.err);
    CHECK_NEAR(scaled.relative, at.relative, 1e-9); /* the scale has no effect */

    for (int k = 200; k < 210; k++) { /* a stretch is elsewhere, mirrored */
        double *x = w.x + ct_graph_offset(w.graph, k);
        x[0] += 3, x[2] = -x[2], x[3] = -x[3];
    }
    CHECK_OK(ct_tension_at(w.graph, w.noise, w.x, &at, &w.err), w.err);
    CHECK(at.relative > CT_TENSION_DIVERGED);
    for (int32_t f = 0; f < ct_graph_factors(w.graph); f++) { /* the sensor of one pose on top of what it sees */
        const ct_factor k = ct_graph_factor(w.graph, f);
        if (k.ops != &ct_range_bearing_se2_point || k.var[0] < 300) continue;
        double *x = w.x + ct_graph_offset(w.graph, k.var[0]); /* z: range, direction, point, sensor */
        x[0] = k.z[3] - (x[2] * k.z[5] - x[3] * k.z[6]);
        x[1] = k.z[4] - (x[3] * k.z[5] + x[2] * k.z[6]);
        break;
    }
    CHECK_OK(ct_tension_at(w.graph, w.noise, w.x, &at, &w.err), w.err);
    CHECK(at.on_points >= 1 && at.on_points <= 2);
    world_free(&w);
}

/* Known positions, unknown headings; a gap; landmarks without truth: what the truth does not say is measured. */
static void test_what_the_truth_does_not_say_comes_from_measurements(void)
{
    world_options o = {.poses = 400, .drift = 0.0005, .sigma = 0.05, .unknown = 1, .first = 1, .sees = SEES_RANGE};
    world         w = world_new(&o);
    const int32_t n = ct_graph_variables(w.graph);
    w.seq->truth = calloc((size_t)ct_graph_size(w.graph), sizeof *w.seq->truth);
    w.seq->known = calloc((size_t)n, 1);
    for (int k = 0; k < w.poses; k++) {
        world_stored(0, k, w.seq->truth + ct_graph_offset(w.graph, k));
        if (k < 200 || k > 240) w.seq->known[k] = 3; /* x, y */
    }
    CHECK_OK(ct_start_values(w.seq, CT_START_TRUTH, w.x, &w.err), w.err);
    for (int k = 0; k < w.poses; k++) {
        double d[3];
        ct_kind_local(CT_SE2, w.seq->truth + ct_graph_offset(w.graph, k), w.x + ct_graph_offset(w.graph, k), d);
        CHECK(hypot(d[0], d[1]) < (w.seq->known[k] ? 1e-12 : 1.5) && fabs(d[2]) < 0.4);
    }
    for (int i = 0; i < LANDMARKS; i++) {
        const double *p = w.x + ct_graph_offset(w.graph, w.point[i]);
        CHECK(hypot(p[0] - w.landmark[i][0], p[1] - w.landmark[i][1]) < 1);
    }
    world_free(&w);
}

int main(void)
{
    RUN(test_the_lowest_error_of_several_starts_wins);
    RUN(test_a_good_estimate_costs_one_solve);
    RUN(test_incremental_estimates_from_ranges_alone_are_determined);
    RUN(test_tension_is_that_of_normal_residuals_at_the_minimum_and_large_in_another);
    RUN(test_what_the_truth_does_not_say_comes_from_measurements);
    return ct_test_end();
}
