/* smooth_test.h: graphs replayed into a smoother, a variable at a time, and a batch solver as the judge. */
#ifndef SMOOTH_TEST_H
#define SMOOTH_TEST_H

#include "graph_test.h"

#include <covtune/smooth.h>

/* Linearise always, carry everything: what a step leaves is a Gauss-Newton iteration. */
static inline ct_smoother_options exact_options(void)
{
    ct_smoother_options options = {.skip = 1};
    return options;
}

static inline ct_smoother *new_smoother(const ct_noise *noise, const ct_smoother_options *options)
{
    ct_smoother *smoother = NULL;
    ct_err       err = {0};
    CHECK_OK(ct_smoother_new(noise, options, &smoother, &err), err);
    return smoother;
}

static inline ct_new_variable variable_at(const ct_graph *graph, int32_t v, const double *x)
{
    return (ct_new_variable){
        .kind = ct_graph_kind(graph, v), .value = x + ct_graph_offset(graph, v), .fixed = ct_graph_fixed(graph, v)};
}

static inline ct_new_factor factor_at(const ct_graph *graph, int32_t f)
{
    const ct_factor k = ct_graph_factor(graph, f);
    return (ct_new_factor){.ops = k.ops, .var = k.var, .z = k.z, .context = k.context, .noise = k.noise};
}

static inline int32_t newest_of(const ct_factor *f)
{
    int32_t newest = 0;
    for (int i = 0; i < f->ops->arity; i++) newest = f->var[i] > newest ? f->var[i] : newest;
    return newest;
}

/* Adds variable v, which starts at x, with all factors whose newest variable it is. */
static inline ct_status add_step(ct_smoother *smoother, const ct_graph *graph, int32_t v, const double *x,
                                 ct_smoother_stats *stats, ct_err *err)
{
    const ct_new_variable variable = variable_at(graph, v, x);
    ct_new_factor         factor[512];
    ct_increment          inc = {.variables = 1, .variable = &variable, .factor = factor};
    for (int32_t f = 0; f < ct_graph_factors(graph); f++) {
        const ct_factor k = ct_graph_factor(graph, f);
        if (newest_of(&k) == v) factor[inc.factors++] = factor_at(graph, f);
    }
    return ct_smoother_update(smoother, &inc, stats, err);
}

/* Gauss-Newton until nothing moves by more than `small`, or for five hundred steps: robust kernels may converge
 * slowly. */
static inline double iterate(ct_smoother *smoother, double small)
{
    ct_err err = {0};
    double step = INFINITY;
    for (int k = 0; k < 500 && step > small; k++) {
        ct_status status = ct_smoother_update(smoother, &(ct_increment){.relinearise = 1}, NULL, &err);
        if (status == CT_OK) status = ct_smoother_stationarity(smoother, &step, NULL, &err);
        if (status == CT_E_SINGULAR) return INFINITY; /* it has gone where nothing is determined any more */
        CHECK_OK(status, err);
    }
    return step;
}

/* The first n variables of a graph and the factors among them (but those in `without`), estimated from x. */
static inline double *batch_estimate(const ct_graph *graph, const ct_noise *noise, int32_t n, const uint8_t *without,
                                     const double *x, ct_graph **part)
{
    ct_err           err = {0};
    ct_solver       *solver = NULL;
    ct_solve_options options = precise(CT_LEVENBERG_MARQUARDT);
    ct_solve_result  result;
    CHECK_OK(ct_graph_new(part, &err), err);
    for (int32_t v = 0; v < n; v++) {
        CHECK_OK(ct_graph_add_variable(*part, NULL, ct_graph_kind(graph, v), x + ct_graph_offset(graph, v), NULL, &err),
                 err);
        ct_graph_fix(*part, v, ct_graph_fixed(graph, v));
    }
    for (int32_t f = 0; f < ct_graph_factors(graph); f++) {
        const ct_factor k = ct_graph_factor(graph, f);
        if (newest_of(&k) < n && !(without && without[f]))
            CHECK_OK(ct_graph_add_factor(*part, k.ops, k.var, k.z, k.context, k.noise, &err), err);
    }
    CHECK_OK(ct_solver_new(*part, NULL, &solver, &err), err);
    double *y = copy_values(*part, ct_graph_initial(*part));
    CHECK_OK(ct_solver_run(solver, noise, y, &options, &result, &err), err);
    ct_solver_free(solver);
    return y;
}

/* All estimates, as values of a graph that has the smoother's first n variables. */
static inline void read_estimates(const ct_smoother *smoother, const ct_graph *graph, int32_t n, double *x)
{
    for (int32_t v = 0; v < n; v++)
        if (ct_smoother_has(smoother, v)) ct_smoother_estimate(smoother, v, x + ct_graph_offset(graph, v));
}

/* Largest distance of the estimates from values of the graph. */
static inline double off_by(const ct_smoother *smoother, const ct_graph *graph, const double *x)
{
    double *y = copy_values(graph, x);
    read_estimates(smoother, graph, ct_graph_variables(graph), y);
    const double d = distance(graph, x, y);
    free(y);
    return d;
}

#endif
