/* analyse.c: the structure of the graph is analysed while start values are chosen, on a thread of its own where several
 * may be used. Neither needs the other. */
#include "cli/solve/solve.h"

#include <pthread.h>

#define LARGE 10000 /* factors: the analysis of fewer takes as long as a few threads take to begin */

typedef struct {
    const ct_graph   *graph;
    ct_sparse_options options;
    ct_solver        *solver;
    double            seconds;
    ct_status         status;
    ct_err            err;
} analysis;

static void *analyse(void *argument)
{
    analysis    *a = argument;
    const double begin = ct_now_s();
    a->status = ct_solver_new(a->graph, &a->options, &a->solver, &a->err);
    a->seconds = ct_now_s() - begin;
    return NULL;
}

ct_status solve_analyse(const solve_request *request, solve_job *job, ct_err *err)
{
    analysis  a = {.graph = job->graph, .options = {.order = (ct_order)request->order}};
    pthread_t thread;
    const int apart = request->threads > 1 && ct_graph_factors(job->graph) >= LARGE &&
                      pthread_create(&thread, NULL, analyse, &a) == 0;
    const ct_status status = solve_choose_start(request, job, err);
    if (status == CT_OK) job->before = ct_accuracy_of(job->seq, job->x);
    if (apart) pthread_join(thread, NULL);
    else if (status == CT_OK) analyse(&a);
    job->solver = a.solver;
    job->analyse_s = a.seconds;
    if (status != CT_OK || a.status == CT_OK) return status;
    return ct_fail(err, a.status, "%s", a.err.text);
}
