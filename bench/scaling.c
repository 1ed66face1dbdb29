/* scaling.c: how time and memory grow with a chain's length.
 *
 * Each length is measured in a child process, so that its peak of memory is its own. */
#define _POSIX_C_SOURCE 200809L
#include "bench.h"

#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

static double peak_bytes(void)
{
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    return 1024.0 * (double)usage.ru_maxrss;
}

static bench_growth measure(int32_t poses, double budget_s)
{
    const double     before = peak_bytes();
    bench_growth     out = {.poses = poses};
    bench_workload   w;
    ct_solver       *solver;
    ct_solve_options options = ct_solve_defaults();
    ct_solve_result  result;
    ct_err           err;
    bench_chain(poses, 1, &w);
    const size_t bytes = (size_t)ct_graph_size(w.graph) * sizeof(double);
    double      *x = malloc(bytes);
    if (!x) exit(EXIT_FAILURE);
    const double begin = ct_now_s();
    bench_must(ct_solver_new(w.graph, NULL, &solver, &err), &err);
    out.analyse_s = ct_now_s() - begin;
    options.method = CT_GAUSS_NEWTON;
    const double ready = ct_now_s();
    do {
        memcpy(x, ct_graph_initial(w.graph), bytes);
        bench_must(ct_solver_run(solver, w.noise, x, &options, &result, &err), &err);
        const double seconds = result.seconds / result.iterations;
        if (out.iteration_s == 0 || seconds < out.iteration_s) out.iteration_s = seconds;
    } while (ct_now_s() - ready < budget_s);
    out.iterations = result.iterations;
    out.info = ct_sparse_describe(ct_solver_system(solver));
    out.peak_bytes = peak_bytes() - before;
    free(x);
    ct_solver_free(solver);
    bench_workload_free(&w);
    return out;
}

bench_growth bench_grow(int32_t poses, double budget_s)
{
    bench_growth out = {.poses = poses};
    int          end[2], status = 0;
    fflush(NULL);
    if (pipe(end)) return out;
    const pid_t child = fork();
    if (child == 0) {
        const bench_growth mine = measure(poses, budget_s);
        _exit(write(end[1], &mine, sizeof mine) == sizeof mine ? EXIT_SUCCESS : EXIT_FAILURE);
    }
    close(end[1]);
    if (child < 0 || read(end[0], &out, sizeof out) != sizeof out) out = (bench_growth){.poses = poses};
    close(end[0]);
    if (child > 0) waitpid(child, &status, 0);
    return out;
}
