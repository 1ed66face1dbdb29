/* measurement_gradient.c: the loss of a sequence by its measurements, for those that a network makes.
 *
 * At the inner minimum h(x, z) = sum_k w J'W r = 0, so dx/dz = -H^-1 dh/dz. With the adjoint H l = D'e and, for factor
 * k, t = J l, v = W t, y = W r, w the robust weight and w' = dw/d(d2),
 *
 *     dL/dz_k = -l' dh/dz_k = -[ w (N'y + M'v) + 2 w' (t'y) M'y ],   M = dr/dz,   N = d(J l)/dz.
 *
 * A multiplier m makes the covariance m Sigma. With G = dL/dSigma of the factor (inner_problem.c), whose residual is
 * divided by sqrt(m), dL/dlog m = <G, Sigma>. One adjoint solve gives both for all factors of a sequence. */
#include "graph/whiten.h"
#include "graph/graph.h"
#include "learn/learn.h"
#include "likelihood/factor_view.h"
#include "solve/solve.h"

static ct_status check_watch(const ct_outer *o, int32_t sequence, const ct_measurement_gradient *watch, ct_err *err)
{
    if (sequence < 0 || sequence >= o->count)
        return ct_fail(err, CT_E_ARGUMENT, "there is no sequence %d: %d have truth", sequence, o->count);
    if (o->options.comm)
        return ct_fail(err, CT_E_UNSUPPORTED, "derivatives by measurements are of one process, not of several");
    if (o->options.gradient == CT_GRADIENT_NUMERIC)
        return ct_fail(err, CT_E_UNSUPPORTED, "derivatives by measurements are by the adjoint, not %s",
                       ct_gradient_name(o->options.gradient));
    const ct_graph *graph = o->inner[sequence].seq->graph;
    for (int32_t i = 0; watch && i < watch->count; i++) {
        if (watch->factor[i] < 0 || watch->factor[i] >= graph->factors)
            return ct_fail(err, CT_E_ARGUMENT, "there is no factor %d: the graph has %d", watch->factor[i],
                           graph->factors);
        const ct_factor_ops *ops = graph->factor[watch->factor[i]].ops, *first = graph->factor[watch->factor[0]].ops;
        if (ops != first)
            return ct_fail(err, CT_E_ARGUMENT, "factor %d is %s and factor %d %s: those of one model are expected",
                           watch->factor[0], first->name, watch->factor[i], ops->name);
        if (ops->eval_many) /* their solvers have copies of z */
            return ct_fail(err, CT_E_UNSUPPORTED, "%s evaluates many factors at once; its measurements are not learned",
                           ops->name);
    }
    return CT_OK;
}

ct_status ct_outer_watch_measurements(ct_outer *o, int32_t sequence, const ct_measurement_gradient *watch, ct_err *err)
{
    CT_TRY(check_watch(o, sequence, watch, err));
    ct__inner_problem *inner = &o->inner[sequence];
    free(inner->watched);
    inner->watched = NULL;
    inner->watch = NULL;
    if (!watch || watch->count < 1) return CT_OK;
    inner->watched = ct__zalloc(inner->seq->graph->factors, sizeof *inner->watched);
    if (!inner->watched) return ct__no_memory(err, "factors", inner->seq->graph->factors);
    for (int32_t i = 0; i < inner->seq->graph->factors; i++) inner->watched[i] = -1;
    for (int32_t i = 0; i < watch->count; i++) inner->watched[watch->factor[i]] = i;
    inner->watch = watch;
    return CT_OK;
}

/* dz <- dL/dz of a factor; by_log_m <- dL/dlog m. */
static void differentiate(const ct_solver *solver, int32_t k, const double *x, const ct__factor_view *f,
                          const double *lambda, double *dz, double *by_log_m)
{
    const ct_factor factor = ct_graph_factor(solver->graph, solver->factor_of[k]);
    const int       rows = f->rows, n = ct_factor_z_dim(factor.ops, 1);
    const double   *at[CT_ARITY_MAX], *l[CT_ARITY_MAX];
    double          M[CT_ROWS_MAX * CT_DIM_MAX], N[CT_ROWS_MAX * CT_DIM_MAX], v[CT_ROWS_MAX], ty = 0;
    for (int i = 0; i < f->arity; i++) {
        at[i] = x + ct_graph_offset(solver->graph, factor.var[i]);
        l[i] = f->J[i] ? lambda + f->column[i] : NULL;
    }
    for (int row = 0; row < rows; row++) {
        v[row] = 0;
        for (int i = 0; i < f->arity; i++)
            for (int c = 0; f->J[i] && c < f->cols[i]; c++) v[row] += f->J[i][row * f->cols[i] + c] * l[i][c];
        ty += v[row] * f->y[row];
    }
    ct__apply_information(f->model, rows, v);
    ct_factor_by_measurement(factor.ops, factor.z, factor.context, at, l, 1, M, N);
    if (f->scale.full) {
        ct__matrix_rows(f->scale.t, rows, n, M);
        ct__matrix_rows(f->scale.t, rows, n, N);
    } else {
        ct__scale_rows(rows, n, f->scale.t, M);
        ct__scale_rows(rows, n, f->scale.t, N);
    }
    for (int j = 0; j < n; j++) {
        double sum = 0;
        for (int row = 0; row < rows; row++) {
            const double m = M[row * n + j];
            sum += f->w * (N[row * n + j] * f->y[row] + m * v[row]) + 2 * f->slope * ty * m * f->y[row];
        }
        dz[j] = -sum;
    }
    if (!by_log_m) return;
    double G[CT_NOISE_DIM_MAX * CT_NOISE_DIM_MAX] = {0};
    ct__view_add_gradient_at_fixed_cuts(f, lambda, G);
    *by_log_m = 0;
    for (int i = 0; i < rows; i++)
        for (int j = 0; j < rows; j++) *by_log_m += G[i * rows + j] * ct_noise_covariance(f->model, i, j);
}

void ct__measurement_gradient(const ct_outer *outer, const ct__inner_problem *inner, const double *l)
{
    const ct_solver               *solver = inner->solver;
    const ct_measurement_gradient *w = inner->watch;
    const int n = ct_factor_z_dim(inner->seq->graph->factor[w->factor[0]].ops, 1);
    for (const ct__batch *batch = solver->batch; batch < solver->batch + solver->batches; batch++) {
        for (int32_t k = batch->first; k < batch->end; k++) {
            const int32_t i = inner->watched[solver->factor_of[k]];
            if (i < 0 || !solver->item[k].moves) continue;
            ct__factor_view f;
            ct__view_factor(solver, outer->noise, batch, k, inner->x, &f);
            differentiate(solver, k, inner->x, &f, l, w->measurement + (int64_t)i * n,
                          w->log_multiplier ? w->log_multiplier + i : NULL);
        }
    }
}

void ct__clear_measurement_gradient(const ct__inner_problem *inner)
{
    const ct_measurement_gradient *w = inner->watch;
    if (!w) return;
    const int n = ct_factor_z_dim(inner->seq->graph->factor[w->factor[0]].ops, 1);
    memset(w->measurement, 0, (size_t)w->count * (size_t)n * sizeof *w->measurement);
    if (w->log_multiplier) memset(w->log_multiplier, 0, (size_t)w->count * sizeof *w->log_multiplier);
}
