/* test_start.c: start values from known landmarks, positions and odometry; unknown landmarks from their sightings. */
#define _XOPEN_SOURCE 700
#include "start_test.h"

#include <covtune/data.h>

/* Odometry alone ends at least `far` from the truth; the start does not, and solving from it ends where solving from
 * the truth does. */
static void check_world(const world_options *o, double far, double near, double turn)
{
    world  w = world_new(o);
    double turned, *truth = calloc((size_t)ct_graph_size(w.graph), sizeof *truth);
    CHECK_OK(ct_sequence_initialise(w.seq, 0, w.x, &w.err), w.err);
    CHECK(world_error(&w, o->space, w.x, &turned) > far);
    CHECK_OK(ct_sequence_initialise(w.seq, 1, w.x, &w.err), w.err);
    const double error = world_error(&w, o->space, w.x, &turned);
    if (!(error < near && turned < turn))
        CT_TEST_SAY("sensor %d, space %d, seed %d: off by %g m, %g rad\n", o->sees, o->space, o->seed, error, turned);
    int32_t unplaced;
    CHECK_OK(ct_sequence_uninitialised(w.seq, &unplaced, &w.err), w.err);
    CHECK(unplaced == 0);

    ct_solver      *solver = NULL;
    ct_solve_result a, b;
    const ct_solve_options how = ct_solve_defaults();
    for (int k = 0; k < w.poses; k++) world_stored(o->space, k, truth + ct_graph_offset(w.graph, k));
    for (int i = 0; o->fixed && i < LANDMARKS; i++)
        memcpy(truth + ct_graph_offset(w.graph, w.point[i]), w.landmark[i], (o->space ? 3 : 2) * sizeof *truth);
    CHECK_OK(ct_noise_set_robust(w.noise, 1, (ct_robust){CT_ROBUST_HUBER, 1.345, 0}, &w.err), w.err);
    CHECK_OK(ct_solver_new(w.graph, NULL, &solver, &w.err), w.err);
    CHECK_OK(ct_solver_run(solver, w.noise, w.x, &how, &a, &w.err), w.err);
    CHECK_OK(ct_solver_run(solver, w.noise, truth, &how, &b, &w.err), w.err);
    CHECK(a.final_error < b.final_error * (1 + 1e-6));
    ct_solver_free(solver);
    free(truth);
    world_free(&w);
}

static const world_options BASE = {.poses = 900, .outliers = 0.05, .drift = 0.003, .sigma = 0.1};

static void test_known_landmarks_place_a_run_whose_odometry_drifts(void)
{
    for (int seed = 0; seed < 5; seed++)
        for (int space = 0; space < 2; space++)
            for (int sees = 0; sees < 5; sees++) {
                world_options o = BASE;
                o.space = space, o.sees = (sensor)sees, o.seed = seed;
                /* a range is one number of six that place a pose in space; what 32 of them leave is what odometry
                 * drifts meanwhile */
                static const double NEAR[2][5] = {{1.5, 3, 3, 1.5, 1.5}, {1.5, 3, 6, 1.5, 2}};
                check_world(&o, 6.5, NEAR[space][sees], sees != SEES_RANGE ? 0.5 : space ? 1.4 : 0.8);
            }
}

static void test_landmarks_that_are_fixed_variables_are_known(void)
{
    world_options o = BASE;
    o.fixed = 1;
    check_world(&o, 3, 1.5, 0.5);
    o.sees = SEES_RANGE;
    check_world(&o, 3, 3, 0.8);
}

static void test_a_third_of_outliers_is_survived(void)
{
    for (int seed = 0; seed < 5; seed++) {
        world_options o = BASE;
        o.outliers = 0.3, o.seed = seed;
        check_world(&o, 3, 1.5, 0.5);
    }
}

/* Without drift, so that the poses are right: the landmarks alone are tested. */
static void test_unknown_landmarks_start_from_their_sightings(void)
{
    for (int seed = 0; seed < 5; seed++)
        for (int space = 0; space < 2; space++)
            for (int sees = 0; sees < 4; sees++) {
                world_options o = BASE;
                o.space = space, o.sees = (sensor)sees, o.unknown = 1, o.drift = 0, o.first = 1, o.seed = seed;
                world w = world_new(&o);
                CHECK_OK(ct_sequence_initialise(w.seq, 1, w.x, &w.err), w.err);
                for (int i = 0; i < LANDMARKS; i++) {
                    const double *p = w.x + ct_graph_offset(w.graph, w.point[i]), *q = w.landmark[i];
                    const double  off = sqrt((p[0] - q[0]) * (p[0] - q[0]) + (p[1] - q[1]) * (p[1] - q[1]) +
                                             (space ? (p[2] - q[2]) * (p[2] - q[2]) : 0));
                    if (!(off < (sees == SEES_RANGE ? 3 : 2)))
                        CT_TEST_SAY("sensor %d, space %d, seed %d: landmark %d is off by %g m\n", sees, space, seed, i,
                                    off);
                }
                world_free(&w);
            }
}

static void test_a_single_range_places_a_landmark_at_that_range(void)
{
    ct_graph    *g = NULL;
    ct_sequence *seq = NULL;
    ct_err       err = {0};
    int32_t      pose, point;
    double       x[6];
    CHECK_OK(ct_graph_new(&g, &err), err);
    CHECK_OK(ct_graph_add_variable(g, NULL, CT_SE2, NULL, &pose, &err), err);
    CHECK_OK(ct_graph_add_variable(g, NULL, CT_R2, NULL, &point, &err), err);
    CHECK_OK(ct_graph_add_prior(g, pose, (const double[]){3, 4, 1, 0}, 0, &err), err);
    CHECK_OK(ct_graph_add_range(g, pose, point, 5, 1, &err), err);
    CHECK_OK(ct_sequence_new(g, &seq, &err), err);
    CHECK_OK(ct_sequence_initialise(seq, 1, x, &err), err);
    CHECK_NEAR(hypot(x[4] - 3, x[5] - 4), 5, 1e-9);
    ct_sequence_free(seq);
}

/* Poses without odometry, each seeing two landmarks, are placed one by one. */
static void test_poses_without_odometry_start_from_what_they_see(void)
{
    ct_graph    *g = NULL;
    ct_sequence *seq = NULL;
    ct_err       err = {0};
    double       x[80];
    int32_t      unplaced;
    CHECK_OK(ct_graph_new(&g, &err), err);
    for (int32_t k = 0; k < 20; k++) {
        const double t[2] = {0.7 * k, 0.1 * k * k}, yaw = 0.3 * k, p[3][2] = {{4, 9}, {-6, 2}, {3, 30}};
        CHECK_OK(ct_graph_add_variable(g, NULL, CT_SE2, NULL, NULL, &err), err);
        for (int i = 0; i < 3; i++) {
            const double d[2] = {p[i][0] - t[0], p[i][1] - t[1]};
            const double z[8] = {cos(yaw) * d[0] + sin(yaw) * d[1], cos(yaw) * d[1] - sin(yaw) * d[0], p[i][0],
                                 p[i][1], 0, 0, 1, 0};
            CHECK_OK(ct_graph_add_factor(g, &ct_point_se2_point, &k, z, NULL, 0, &err), err);
        }
    }
    CHECK_OK(ct_sequence_new(g, &seq, &err), err);
    CHECK_OK(ct_sequence_initialise(seq, 1, x, &err), err);
    for (int k = 0; k < 20; k++) {
        CHECK_NEAR(x[4 * k], 0.7 * k, 1e-6);
        CHECK_NEAR(x[4 * k + 1], 0.1 * k * k, 1e-6);
        CHECK_NEAR(x[4 * k + 2], cos(0.3 * k), 1e-6);
    }
    CHECK_OK(ct_sequence_uninitialised(seq, &unplaced, &err), err);
    CHECK(unplaced == 0);
    ct_sequence_free(seq);
}

static double seconds_for(int poses, sensor sees)
{
    world_options o = BASE;
    o.poses = poses, o.sees = sees;
    world  w = world_new(&o);
    double best = INFINITY;
    for (int i = 0; i < 3; i++) {
        const double begin = ct_now_s();
        CHECK_OK(ct_sequence_initialise(w.seq, 1, w.x, &w.err), w.err);
        best = fmin(best, ct_now_s() - begin);
    }
    world_free(&w);
    return best;
}

static void test_time_is_linear(void)
{
    if (ct_test_slow()) SKIP("times are not those of the program");
    for (int sees = 0; sees < 5; sees += 2)
        CHECK(seconds_for(80000, (sensor)sees) < 24 * seconds_for(10000, (sensor)sees)); /* quadratic: 64 */
}

int main(void)
{
    RUN(test_known_landmarks_place_a_run_whose_odometry_drifts);
    RUN(test_landmarks_that_are_fixed_variables_are_known);
    RUN(test_a_third_of_outliers_is_survived);
    RUN(test_unknown_landmarks_start_from_their_sightings);
    RUN(test_a_single_range_places_a_landmark_at_that_range);
    RUN(test_poses_without_odometry_start_from_what_they_see);
    RUN(test_time_is_linear);
    return ct_test_end();
}
