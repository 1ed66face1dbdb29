/* test_threads.c: one graph, one noise table, a solver a thread: the same bits as alone, however many run beside.
 * Fronts are large enough for every kernel. */
#include "ct_test.h"

#include <covtune/covtune.h>
#include <pthread.h>

#define THREADS 4
#define ROUNDS  25

typedef struct {
    const ct_graph *graph;
    const ct_noise *noise;
    const double   *estimate, *covariance; /* what one thread alone finds */
    int             differences;
} worker;

/* Solves once; x has the graph's values, S the covariance of the last variable. */
static ct_status solve(const ct_graph *graph, const ct_noise *noise, double *x, double S[36])
{
    ct_solver      *solver = NULL;
    ct_solve_result result;
    ct_err          err = {0};
    const int32_t   last = ct_graph_variables(graph) - 1;
    memcpy(x, ct_graph_initial_const(graph), (size_t)ct_graph_size(graph) * sizeof *x);
    ct_status status = ct_solver_new(graph, NULL, &solver, &err);
    if (status == CT_OK) status = ct_solver_run(solver, noise, x, NULL, &result, &err);
    if (status == CT_OK) status = ct_solver_linearise(solver, noise, x, &err);
    if (status == CT_OK) status = ct_solver_marginals(solver, 1, &last, (double *[]){S}, &err);
    ct_solver_free(solver);
    return status;
}

static void *work(void *argument)
{
    worker      *w = argument;
    const size_t bytes = (size_t)ct_graph_size(w->graph) * sizeof(double);
    double      *x = malloc(bytes), S[36] = {0};
    for (int k = 0; k < ROUNDS; k++)
        w->differences += solve(w->graph, w->noise, x, S) != CT_OK || memcmp(x, w->estimate, bytes) ||
                          memcmp(S, w->covariance, sizeof S);
    free(x);
    return NULL;
}

static void check_world(ct_kind kind, int32_t poses)
{
    ct_pose_graph_options options = ct_pose_graph_defaults(kind);
    ct_noise        *noise = NULL;
    ct_sequence     *seq = NULL;
    ct_err           err = {0};
    options.poses = poses;
    options.loop_chance = 1;
    CHECK_OK(ct_noise_new(&noise, &err), err);
    CHECK_OK(ct_simulate_pose_graph(&options, noise, &seq, &err), err);
    double *x = malloc((size_t)ct_graph_size(seq->graph) * sizeof *x), S[36] = {0};
    CHECK(solve(seq->graph, noise, x, S) == CT_OK);
    worker    w[THREADS];
    pthread_t thread[THREADS];
    for (int i = 0; i < THREADS; i++) {
        w[i] = (worker){.graph = seq->graph, .noise = noise, .estimate = x, .covariance = S};
        CHECK(pthread_create(&thread[i], NULL, work, &w[i]) == 0);
    }
    for (int i = 0; i < THREADS; i++) {
        pthread_join(thread[i], NULL);
        CHECK(w[i].differences == 0);
    }
    free(x);
    ct_sequence_free(seq);
    ct_noise_free(noise);
}

static void test_planar_worlds_come_out_the_same_in_every_thread(void) { check_world(CT_SE2, 300); }
static void test_spatial_worlds_come_out_the_same_in_every_thread(void) { check_world(CT_SE3, 300); }

int main(void)
{
    RUN(test_planar_worlds_come_out_the_same_in_every_thread);
    RUN(test_spatial_worlds_come_out_the_same_in_every_thread);
    return ct_test_end();
}
