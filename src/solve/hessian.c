/* hessian.c: the exact Hessian at given values, factored and checked.
 *
 * The Hessian at a minimum is positive definite unless a direction is undetermined. A pivot that is not positive has
 * two possible causes. Either its direction is undetermined, which is tested as for J'J (rank_deficiency.c), or the
 * error has negative curvature: then x is not a minimum, and nothing can be differentiated there. */
#include "graph/graph.h"
#include "solve/solve.h"
#include "sparse/sparse.h"

#include <math.h>

int32_t ct__negative_pivot(const ct_solver *solver)
{
    const ct_sparse *sp = solver->system;
    for (int32_t i = 0; i < sp->weak_count; i++)
        if (sp->weak[i] < 0) return ct_sparse_weak(solver->system, i, NULL, NULL);
    return -1;
}

static ct_status refuse_approximate(const ct_solver *solver, ct_err *err)
{
    for (int32_t b = 0; solver->approximate && b < solver->batches; b++)
        if (solver->batch[b].ops->jacobian == CT_JACOBIAN_APPROXIMATE)
            return ct_fail(err, CT_E_UNSUPPORTED, "%s: its Jacobians are approximate, there is no exact Hessian",
                           solver->batch[b].ops->name);
    return CT_OK;
}

/* Factors what is assembled; CT_E_SINGULAR if it is not positive definite. */
static ct_status factor_exact(ct_solver *solver, const ct_noise *noise, const double *x, ct_err *err)
{
    char          text[256];
    int           undetermined = 0;
    const int32_t weak = ct_sparse_factor(solver->system, 0, NULL), negative = ct__negative_pivot(solver);
    if (weak) ct__find_undetermined(solver, noise, x);
    for (int32_t v = 0; weak && v < solver->graph->variables; v++)
        undetermined |= solver->undetermined[v] & CT_UNDETERMINED_ANY;
    if (undetermined) return ct_fail(err, CT_E_SINGULAR, "%s", ct_solver_undetermined_text(solver, text, sizeof text));
    if (negative >= 0)
        return ct_fail(err, CT_E_SINGULAR, "these values are not a minimum: the error curves downwards with %s",
                       ct_graph_name(solver->graph, ct__variable_of_scalar(solver, negative), text, sizeof text));
    solver->ready = 1;
    solver->exact = CT_EXACT_FACTORED;
    return CT_OK;
}

ct_status ct_solver_hessian(ct_solver *solver, const ct_noise *noise, const double *x, ct_err *err)
{
    CT_TRY(ct_graph_check_noise(solver->graph, noise, err));
    CT_TRY(refuse_approximate(solver, err));
    CT_TRY(ct__refresh_noise(solver, noise, err));
    ct__team own;
    ct__sparse_enter(solver->system, &own);
    const int       finite = isfinite(ct__linearise_exact(solver, noise, x));
    const ct_status status = finite ? factor_exact(solver, noise, x, err) : CT_E_ARGUMENT;
    ct__sparse_leave(solver->system, &own);
    return finite ? status : ct_fail(err, CT_E_ARGUMENT, "the error at these values is not finite");
}

ct_status ct__solver_hessian_here(ct_solver *solver, const ct_noise *noise, const double *x, ct_err *err)
{
    if (solver->exact == CT_EXACT_FACTORED) {
        solver->ready = 1;
        return CT_OK;
    }
    return solver->exact == CT_EXACT_ASSEMBLED ? factor_exact(solver, noise, x, err)
                                               : ct_solver_hessian(solver, noise, x, err);
}
