/* triangle.c: a graph in thirty lines. Three poses, three relative measurements, one of which disagrees. */
#include <covtune/covtune.h>
#include <stdio.h>

int main(void)
{
    const double    start[3][3] = {{0, 0, 0}, {1, 0, 2}, {0.5, 1, -2}}; /* initial values: x, y, yaw           */
    const double    side[3] = {1, 1, 1.1}, corner = 2.0944;             /* measured: each side and its corner */
    ct_err          err = {0};
    ct_noise       *noise = NULL;
    ct_graph       *graph = NULL;
    ct_solver      *solver = NULL;
    ct_solve_result result;
    int32_t         odom;
    int             bad = ct_noise_new(&noise, &err) || ct_graph_new(&graph, &err) ||
              ct_noise_add_diagonal(noise, "odom", 3, (double[]){0.01, 0.01, 0.001}, &odom, &err);
    for (int i = 0; i < 3 && !bad; i++)
        bad = ct_graph_add_se2(graph, NULL, ct_se2_make(start[i][0], start[i][1], start[i][2]), NULL, &err) != CT_OK;
    for (int i = 0; i < 3 && !bad; i++)
        bad = ct_graph_add_between_se2(graph, i, (i + 1) % 3, ct_se2_make(side[i], 0, corner), odom, &err) != CT_OK;
    if (!bad) ct_graph_fix(graph, 0, 1);
    if (bad || ct_solver_new(graph, NULL, &solver, &err) ||
        ct_solver_run(solver, noise, ct_graph_initial(graph), NULL, &result, &err))
        return fprintf(stderr, "triangle: %s\n", err.text), 1;
    printf("%s after %d iterations, error %.4f\n", ct_stop_meaning(result.stop), result.iterations, result.final_error);
    ct_solver_free(solver), ct_graph_free(graph), ct_noise_free(noise);
    return !ct_stop_converged(result.stop);
}
