/* leverage.c: how well the factors of each noise model fit, and what their fit is expected to be.
 *
 * At the minimum the whitened Jacobian A = sqrt(w) R J of all factors has the hat matrix A P A', P = (A'A)^-1. The
 * trace of a factor's block is the leverage of the factor: the number of unknowns that its rows determine,
 *
 *     h_f = tr(A_f P A_f'),     sum over all factors of h_f = number of unknowns.
 *
 * If the models are right, the expectation of the squared residuals of a model is its rows less its leverage. Unknowns
 * are not shared in proportion to rows: odometry of a run with rare GPS has nearly as many unknowns as rows.
 *
 * P of the variables of every factor comes from one sweep over the fronts (ct_sparse_edge_covariances). */
#include "graph/graph.h"
#include "graph/whiten.h"
#include "learn/learn.h"
#include "solve/solve.h"

#include <assert.h>

#define BLOCK_MAX (CT_ROWS_MAX * CT_DIM_MAX)
#define SIDE_MAX  (CT_ARITY_MAX * CT_DIM_MAX)

typedef struct {
    const ct_outer *outer;
    ct__inner_problem *inner;
    const int32_t *item_of;  /* per edge  */
    const int32_t *batch_of; /* per edge  */
} sweep;

/* A (rows x n) <- the whitened Jacobian of an item, on the coordinates of its edge; r <- its whitened residual; *error
 * <- rho. Returns n. */
static int whitened_jacobian(const sweep *s, int32_t k, const ct_factor_ops *ops, double *A, double *r, double *error)
{
    const ct__item *item = &s->inner->solver->item[k];
    const double *arg[CT_ARITY_MAX];
    double space[CT_ARITY_MAX * BLOCK_MAX], *J[CT_ARITY_MAX];
    int cols[CT_ARITY_MAX], n = 0, at = 0;
    for (int i = 0; i < ops->arity; i++) {
        arg[i] = s->inner->x + item->at[i];
        cols[i] = ct_kind_dim(ops->kind[i]);
        J[i] = item->moves >> i & 1 ? space + i * BLOCK_MAX : NULL;
        for (int c = 0; J[i] && c < cols[i]; c++) n += (int)(ct__depends(ops, i) >> c & 1);
    }
    ct_factor_eval(ops, item->z, item->context, arg, r, J);
    ct__divide_by_multiplier(ct__item_multiplier(s->inner->solver, item), ops->rows, r, ops->arity, J, cols);
    *error = ct__whiten(ct_noise_get(s->outer->noise, item->noise), ops->rows, r, ops->arity, J, cols);
    for (int i = 0; i < ops->arity; i++)
        for (int c = 0; J[i] && c < cols[i]; c++) {
            if (!(ct__depends(ops, i) >> c & 1)) continue;
            for (int row = 0; row < ops->rows; row++) A[row * n + at] = J[i][row * cols[i] + c];
            at++;
        }
    return n;
}

/* Adds the factor of an edge. P: n x n, of its unknowns. */
static void add_factor(void *user, int64_t edge, int n, const double *P)
{
    const sweep *s = user;
    const ct_solver *solver = s->inner->solver;
    const int32_t k = s->item_of[edge];
    const ct_factor_ops *ops = solver->batch[s->batch_of[edge]].ops;
    ct_model_fit *fit = &s->inner->fit[solver->item[k].noise];
    double A[CT_ROWS_MAX * SIDE_MAX], r[CT_ROWS_MAX], error, square = 0;
    const int columns = whitened_jacobian(s, k, ops, A, r, &error);
    assert(columns == n);
    (void)columns;
    for (int row = 0; row < ops->rows; row++) square += r[row] * r[row];
    fit->factors++;
    for (int row = 0; row < ops->rows; row++) {
        const double *a = A + row * n;
        fit->chi_squared[row] += square > 0 ? 2 * error * r[row] * r[row] / square : 0;
        for (int i = 0; i < n; i++)
            for (int j = 0; j < n; j++) fit->leverage[row] += a[i] * P[i * n + j] * a[j];
    }
}

ct_status ct__inner_fit(const ct_outer *outer, ct__inner_problem *inner, ct_err *err)
{
    ct_solver *solver = inner->solver;
    int32_t *item_of = ct__zalloc(2 * (int64_t)solver->items, sizeof *item_of);
    if (!item_of) return ct__no_memory(err, "factors", solver->items);
    int32_t *batch_of = item_of + solver->items;
    for (int32_t b = 0; b < solver->batches; b++)
        for (int32_t k = solver->batch[b].first; k < solver->batch[b].end; k++) {
            if (solver->item[k].edge < 0) continue;
            item_of[solver->item[k].edge] = k;
            batch_of[solver->item[k].edge] = b;
        }
    sweep s = {.outer = outer, .inner = inner, .item_of = item_of, .batch_of = batch_of};
    ct_status status = ct_solver_linearise(solver, outer->noise, inner->x, err);
    if (status == CT_OK) status = ct_sparse_edge_covariances(solver->system, add_factor, &s, err);
    free(item_of);
    return status;
}
