/* square.c: four poses around a square. Odometry drifts, the last pose sees the first one again.
 * Builds the graph, solves it, prints the poses and how sure the estimate is of the last one. */
#include <covtune/covtune.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

static ct_err err;

/* In a program this short every failure is the end of it. */
static void must(ct_status status)
{
    if (status == CT_OK) return;
    fprintf(stderr, "square: %s\n", err.text);
    exit(EXIT_FAILURE);
}

int main(void)
{
    /* Two models, which every factor names by index: variances of x, y (m^2) and yaw (rad^2). */
    ct_noise *noise;
    int32_t   odom, loop;
    must(ct_noise_new(&noise, &err));
    must(ct_noise_add_diagonal(noise, "odom", 3, (double[]){0.01, 0.01, 0.0025}, &odom, &err));
    must(ct_noise_add_isotropic(noise, "loop", 3, 0.0001, &loop, &err));

    /* Each side is measured a little long, each corner a little wide. The first pose is held. */
    ct_graph    *graph;
    int32_t      pose[4];
    double       x[16];
    ct_se2       at = ct_se2_identity();
    const ct_se2 side = ct_se2_make(1.05, 0, 1.6);
    must(ct_graph_new(&graph, &err));
    for (int i = 0; i < 4; i++) {
        must(ct_graph_add_se2(graph, NULL, at, &pose[i], &err));
        if (i > 0) must(ct_graph_add_between_se2(graph, pose[i - 1], pose[i], side, odom, &err));
        at = ct_se2_compose(at, side, NULL, NULL);
    }
    ct_graph_fix(graph, pose[0], 1);
    must(ct_graph_add_between_se2(graph, pose[3], pose[0], ct_se2_make(1, 0, acos(0)), loop, &err));

    /* The structure is analysed once; x goes in as the start and comes out as the estimate. */
    const ct_solve_options options = ct_solve_defaults();
    ct_solve_result        result;
    ct_solver             *solver;
    for (int i = 0; i < 16; i++) x[i] = ct_graph_initial(graph)[i];
    must(ct_solver_new(graph, NULL, &solver, &err));
    must(ct_solver_run(solver, noise, x, &options, &result, &err));
    printf("error %.4g -> %.4g, %d iterations: %s\n", result.initial_error, result.final_error, result.iterations,
           ct_stop_meaning(result.stop));
    for (int i = 0; i < 4; i++) {
        const ct_se2 p = ct_graph_se2(graph, x, pose[i]);
        printf("pose %d: %7.4f m %7.4f m %7.4f rad\n", i, p.x, p.y, ct_se2_yaw(p));
    }

    double        P[9];
    double *const out[] = {P};
    must(ct_solver_linearise(solver, noise, x, &err));
    must(ct_solver_marginals(solver, 1, &pose[3], out, &err));
    printf("sigmas of pose 3: %.4f m %.4f m %.4f rad\n", sqrt(P[0]), sqrt(P[4]), sqrt(P[8]));

    ct_solver_free(solver);
    ct_graph_free(graph);
    ct_noise_free(noise);
    return ct_stop_converged(result.stop) ? EXIT_SUCCESS : EXIT_FAILURE;
}
