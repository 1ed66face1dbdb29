/* test_large.c: a million poses in a row: trees as deep, and numbers that have to travel that far. Times are
 * printed, for the curious. */
#include "ct_test.h"

#include <covtune/solve.h>

static int32_t poses; /* a million, unless that would take all day */

/* A million poses along a winding road, exact odometry between them; initial values are off by 5 cm and
 * half a degree each. */
static ct_graph *road(ct_rng *rng, int32_t fix_every, double *truth)
{
    ct_graph *graph = NULL;
    ct_err    err = {0};
    ct_se2    pose = ct_se2_identity();
    CHECK_OK(ct_graph_new(&graph, &err), err);
    int bad = 0;
    for (int32_t i = 0; i < poses; i++) {
        const ct_se2 step = ct_se2_make(1, 0, 0.02 * sin(1e-3 * i));
        const double off[3] = {0.05 * ct_rng_normal(rng), 0.05 * ct_rng_normal(rng), 0.01 * ct_rng_normal(rng)};
        double       x[4];
        memcpy(truth + 4 * (int64_t)i, &pose, sizeof pose);
        ct_kind_retract(CT_SE2, truth + 4 * (int64_t)i, off, x);
        bad += ct_graph_add_variable(graph, NULL, CT_SE2, x, NULL, &err) != CT_OK;
        if (i == 0) bad += ct_graph_add_prior(graph, 0, truth, 0, &err) != CT_OK;
        else {
            const ct_se2 back = ct_se2_make(1, 0, 0.02 * sin(1e-3 * (i - 1)));
            bad += ct_graph_add_between(graph, i - 1, i, &back.x, 1, &err) != CT_OK;
        }
        if (fix_every && i % fix_every == 0) {
            const double z[4] = {pose.x + 0.5 * ct_rng_normal(rng), pose.y + 0.5 * ct_rng_normal(rng), 0, 0};
            bad += ct_graph_add_factor(graph, &ct_position_se2, &i, z, NULL, 2, &err) != CT_OK;
        }
        pose = ct_se2_normalize(ct_se2_compose(pose, step, NULL, NULL));
    }
    CHECK(bad == 0);
    return graph;
}

static ct_noise *road_noise(void)
{
    ct_noise *noise = NULL;
    ct_err    err = {0};
    CHECK_OK(ct_noise_new(&noise, &err), err);
    CHECK_OK(ct_noise_add_isotropic(noise, "prior", 3, 1e-6, NULL, &err), err);
    CHECK_OK(ct_noise_add_diagonal(noise, "odom", 3, (const double[]){1e-4, 1e-4, 1e-6}, NULL, &err), err);
    CHECK_OK(ct_noise_add_isotropic(noise, "fix", 2, 0.25, NULL, &err), err);
    return noise;
}

static double farthest(const double *x, const double *truth)
{
    double far = 0;
    for (int64_t i = 0; i < poses; i++)
        far = fmax(far, hypot(x[4 * i] - truth[4 * i], x[4 * i + 1] - truth[4 * i + 1]));
    return far;
}

static ct_solve_result solve(ct_graph *graph, const ct_noise *noise, ct_method method, double *x)
{
    ct_err           err = {0};
    ct_solver       *solver = NULL;
    ct_solve_result  result = {0};
    ct_solve_options options = ct_solve_defaults();
    const double     begin = ct_now_s();
    options.method = method;
    CHECK_OK(ct_solver_new(graph, NULL, &solver, &err), err);
    const double analysed = ct_now_s();
    CHECK_OK(ct_solver_run(solver, noise, x, &options, &result, &err), err);
    printf("  %s: %.2f s to analyse, %.2f s for %d iterations (%s), error %.6g -> %.6g, %lld MB\n",
           ct_method_name(method), analysed - begin, result.seconds, result.iterations, ct_stop_name(result.stop),
           result.initial_error, result.final_error,
           (long long)(ct_sparse_describe(ct_solver_system(solver)).bytes >> 20));
    CHECK(ct_stop_converged(result.stop) && result.undetermined == 0);
    ct_solver_free(solver);
    return result;
}

/* Nothing but odometry and the first pose: the estimate is the road, to the last pose 1000 km away. */
static void test_a_million_poses_on_odometry_alone(void)
{
    ct_rng    rng = ct_rng_seed(1);
    double   *truth = malloc(4 * (size_t)poses * sizeof *truth);
    ct_graph *graph = road(&rng, 0, truth);
    ct_noise *noise = road_noise();
    double   *x = ct_graph_initial(graph);
    const ct_solve_result result = solve(graph, noise, CT_GAUSS_NEWTON, x);
    const double far = farthest(x, truth);
    printf("  farthest from the truth: %.3g m\n", far);
    CHECK(result.final_error < 1e-6);
    CHECK(far < 1e-2);
    ct_graph_free(graph);
    ct_noise_free(noise);
    free(truth);
}

static void test_a_million_poses_with_position_fixes(void)
{
    ct_rng    rng = ct_rng_seed(2);
    double   *truth = malloc(4 * (size_t)poses * sizeof *truth);
    ct_graph *graph = road(&rng, 10, truth);
    ct_noise *noise = road_noise();
    double   *x = ct_graph_initial(graph);
    const ct_solve_result result = solve(graph, noise, CT_LEVENBERG_MARQUARDT, x);
    /* 2 rows a fix, a tenth as many fixes as poses, each row of variance one: half their number, less what the poses
     * take up */
    CHECK(result.final_error < 0.1 * poses && result.final_error > 0.08 * poses);
    CHECK(farthest(x, truth) < 1);
    ct_graph_free(graph);
    ct_noise_free(noise);
    free(truth);
}

int main(void)
{
    poses = ct_test_slow() ? 20000 : 1000000;
    RUN(test_a_million_poses_on_odometry_alone);
    RUN(test_a_million_poses_with_position_fixes);
    return ct_test_end();
}
