/* A user's program. Short, yet it calls all that the library is linked with: a graph is solved by
 * elimination (orderings), a noise model is written and read (JSON). Prints the version. */
#include <covtune/covtune.h>
#include <stdio.h>

int main(void)
{
    ct_graph              *graph = NULL;
    ct_noise              *noise = NULL;
    ct_solver             *solver = NULL;
    ct_err                 err = {0};
    const ct_solve_options options = ct_solve_defaults();
    ct_solve_result        result = {0};
    const double           z[] = {2, 1};
    double                 x[] = {0, 0};
    if (ct_noise_new(&noise, &err) || ct_noise_add_isotropic(noise, "gps", 2, 0.01, NULL, &err) ||
        ct_noise_write(noise, "noise.json", &err) || ct_noise_read(noise, "noise.json", &err) ||
        ct_graph_new(&graph, &err) || ct_graph_add_variable(graph, "x", CT_R2, NULL, NULL, &err) ||
        ct_graph_add_prior(graph, 0, z, 0, &err) || ct_solver_new(graph, NULL, &solver, &err) ||
        ct_solver_run(solver, noise, x, &options, &result, &err))
        puts(err.text);
    else if (ct_stop_converged(result.stop) && result.final_error < 1e-9) printf("covtune %s\n", ct_version());
    ct_solver_free(solver);
    ct_graph_free(graph);
    ct_noise_free(noise);
    return 0;
}
