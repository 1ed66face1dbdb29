/* peer_covtune.c: covtune from nothing; with the structure analysed before, as learning has it, which solves one graph
 * under many noise tables; and beside GTSAM with that library's residuals (docs/gtsam.md). */
#include "peer.h"

#include <stdlib.h>

typedef struct {
    const ct_graph  *graph;
    ct_graph        *own;  /* a copy with other models, or NULL  */
    const ct_noise  *noise;
    ct_solve_options options;
    ct_solver       *kept; /* the analysis to use again, or NULL */
} problem;

static void close_problem(void *p)
{
    problem *w = p;
    ct_solver_free(w->kept);
    ct_graph_free(w->own);
    free(w);
}

static void *open_cold(const ct_graph *graph, const ct_noise *noise, ct_method method, int max_iterations)
{
    problem *w = calloc(1, sizeof *w);
    if (!w) return NULL;
    *w = (problem){.graph = graph, .noise = noise, .options = ct_solve_defaults()};
    w->options.method = method;
    w->options.max_iterations = max_iterations;
    return w;
}

static void *open_again(const ct_graph *graph, const ct_noise *noise, ct_method method, int max_iterations)
{
    problem *w = open_cold(graph, noise, method, max_iterations);
    if (w && ct_solver_new(graph, NULL, &w->kept, NULL) == CT_OK) return w;
    free(w);
    return NULL;
}

static void *open_two(const ct_graph *graph, const ct_noise *noise, ct_method method, int max_iterations)
{
    problem *w = open_cold(graph, noise, method, max_iterations);
    if (w) w->options.threads = 2;
    return w;
}

static void *open_like_gtsam(const ct_graph *graph, const ct_noise *noise, ct_method method, int max_iterations)
{
    problem *w = open_cold(graph, noise, method, max_iterations);
    if (w && ct_graph_copy(graph, &w->own, NULL) == CT_OK && ct_graph_like_gtsam(w->own, NULL) == CT_OK) {
        w->graph = w->own;
        return w;
    }
    if (w) close_problem(w);
    return NULL;
}

static int solve(void *p, double *x, bench_outcome *out)
{
    problem        *w = p;
    ct_solver      *solver = w->kept;
    ct_solve_result result;
    const double    begin = ct_now_s();
    if (!solver && ct_solver_new(w->graph, NULL, &solver, NULL) != CT_OK) return 0;
    const double    analysed = ct_now_s();
    const ct_status status = ct_solver_run(solver, w->noise, x, &w->options, &result, NULL);
    if (!w->kept) ct_solver_free(solver);
    if (status != CT_OK) return 0;
    *out = (bench_outcome){.seconds = ct_now_s() - begin,
                           .iterations = result.iterations,
                           .final_error = result.final_error,
                           .analyse_s = analysed - begin,
                           .linearise_s = result.linearise_s,
                           .factor_s = result.factor_s,
                           .backsub_s = result.solve_s};
    return ct_stop_converged(result.stop);
}

const bench_peer bench_covtune = {"covtune", COVTUNE_VERSION, 1, open_cold, solve, close_problem};
const bench_peer bench_covtune_2 = {"covtune 2 threads", "", 1, open_two, solve, close_problem};
const bench_peer bench_covtune_again = {"covtune again", "", 1, open_again, solve, close_problem};
const bench_peer bench_covtune_like_gtsam = {"covtune as GTSAM", "", 0, open_like_gtsam, solve, close_problem};
