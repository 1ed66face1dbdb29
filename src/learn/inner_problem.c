/* inner_problem.c: the inner problem of one sequence: its minimum, the loss there, derivatives of the loss by p.
 *
 * W = Sigma^-1, y = W r, and w is the robust weight at d2 = r'W r. The inner gradient is h = sum_k w J'y. With
 * dW = -W dSigma W,
 *
 *     -dh/dp_j = sum_k J' q_kj,    q_kj = w W (dSigma_j y) + w' (y' dSigma_j y) y,     w' = dw/d(d2)
 *
 * e is the weighted difference from the truth and D its derivative by x.
 *
 *     sensitivity   S = H^-1 [-dh/dp],   A = D S,   dL/dp = A'e
 *     adjoint       H l = D'e,   v = W J l,   dL/dSigma = sum_k  w sym(v y') + w' ((J l)'y) y y',
 *                   dL/dp_j = <dL/dSigma, dSigma_j>
 *
 * H is the factorised Hessian at the minimum, exact or J'J. Nothing is allocated. */
#include "graph/graph.h"
#include "graph/whiten.h"
#include "likelihood/factor_view.h"
#include "learn/learn.h"
#include "solve/solve.h"

#include <math.h>

/* S += J'q in column j of m, for q with a single entry, in row c: a diagonal model without a robust kernel. */
static void add_single(const ct__factor_view *f, int c, double q, int32_t m, int32_t j, double *S)
{
    for (int i = 0; i < f->arity; i++) {
        if (!f->J[i]) continue;
        const double *row = f->J[i] + c * f->cols[i];
        double       *to = S + (int64_t)f->column[i] * m + j;
        for (int k = 0; k < f->cols[i]; k++) to[(int64_t)k * m] += row[k] * q;
    }
}

/* S += J'q in column j of m. */
static void add_column(const ct__factor_view *f, const double q[], int32_t m, int32_t j, double *S)
{
    for (int i = 0; i < f->arity; i++) {
        if (!f->J[i]) continue;
        const int cols = f->cols[i];
        double   *to = S + (int64_t)f->column[i] * m + j;
        for (int c = 0; c < cols; c++) {
            double sum = 0;
            for (int row = 0; row < f->rows; row++) sum += f->J[i][row * cols + c] * q[row];
            to[(int64_t)c * m] += sum;
        }
    }
}

/* Visits the factors of learned models. */
#define FOR_EACH_LEARNED(outer, solver, batch, k)                                                                     \
    for (const ct__batch *batch = (solver)->batch; batch < (solver)->batch + (solver)->batches; batch++)              \
        for (int32_t k = batch->first; k < batch->end; k++)                                                           \
            if ((outer)->slot[(solver)->item[k].noise] >= 0 && (solver)->item[k].moves)

void ct__inner_right_hand_sides(const ct_outer *outer, const ct__inner_problem *inner, int32_t columns, double *S)
{
    const ct_solver       *solver = inner->solver;
    const ct_theta_jacobian *slopes = outer->slopes;
    memset(S, 0, (size_t)solver->scalars * (size_t)columns * sizeof *S);
    FOR_EACH_LEARNED(outer, solver, batch, k)
    {
        const int32_t model = solver->item[k].noise;
        ct__factor_view f;
        double        q[CT_ROWS_MAX];
        ct__view_factor(solver, outer->noise, batch, k, inner->x, &f);
        for (int32_t t = slopes->first[model]; t < slopes->first[model + 1]; t++) {
            const int c = slopes->coordinate[t];
            if (c >= 0 && f.slope == 0 && !f.cuts.count) {
                const double information = f.model->sqrt_info[c] * f.model->sqrt_info[c];
                add_single(&f, c, f.w * information * slopes->dSigma[t][c * f.rows + c] * f.y[c], columns,
                           slopes->parameter[t], S);
                continue;
            }
            ct__view_weigh(&f, slopes, t, q);
            add_column(&f, q, columns, slopes->parameter[t], S);
        }
    }
}

/* Three rows at a time: a planar pose, or half of a pose in space. */
static void add_three(int32_t m, const double *A, double *matrix)
{
    const double *a = A, *b = A + m, *c = b + m;
    for (int32_t i = 0; i < m; i++) {
        double *restrict to = matrix + (int64_t)i * m;
        const double ai = a[i], bi = b[i], ci = c[i];
        for (int32_t j = i; j < m; j++) to[j] += ai * a[j] + bi * b[j] + ci * c[j];
    }
}

void ct__add_normal(int32_t m, int rows, const double *A, const double *e, double *matrix, double *gradient)
{
    int row = 0;
    for (; matrix && row + 3 <= rows; row += 3) add_three(m, A + (int64_t)row * m, matrix);
    for (; matrix && row < rows; row++) {
        const double *a = A + (int64_t)row * m;
        for (int32_t i = 0; i < m; i++)
            for (int32_t j = i; j < m; j++) matrix[(int64_t)i * m + j] += a[i] * a[j];
    }
    for (row = 0; gradient && row < rows; row++)
        for (int32_t i = 0; i < m; i++) gradient[i] += A[(int64_t)row * m + i] * e[row];
}

static void mirror(int32_t m, double *matrix)
{
    for (int32_t i = 0; i < m; i++)
        for (int32_t j = 0; j < i; j++) matrix[(int64_t)i * m + j] = matrix[(int64_t)j * m + i];
}

double ct__inner_residual(const ct_outer *outer, const ct_sequence *seq, const ct_solver *solver, const double *x,
                          double *e)
{
    double loss = 0;
    for (int32_t b = 0; b < solver->blocks; b++) {
        const int32_t v = solver->variable_of[b];
        double        ev[CT_DIM_MAX];
        loss += ct_loss_variable(&outer->options.loss, seq, v, x + ct_graph_offset(solver->graph, v), ev, NULL);
        memcpy(e + solver->column[b], ev, (size_t)ct_kind_dim(ct_graph_kind(solver->graph, v)) * sizeof *e);
    }
    return loss;
}

/* A (d x m) = D (d x d) S (d rows of m). */
static void multiply_rows(int d, int32_t m, const double *D, const double *S, double *A)
{
    for (int i = 0; i < d; i++) {
        double *restrict a = A + (int64_t)i * m;
        for (int32_t j = 0; j < m; j++) a[j] = D[i * d] * S[j];
        for (int k = 1; k < d; k++)
            for (int32_t j = 0; j < m; j++) a[j] += D[i * d + k] * S[(int64_t)k * m + j];
    }
}

/* S <- A = D S, in place; adds to gradient and matrix. Y, unless NULL, <- D'A. */
static void gather(const ct_outer *outer, ct__inner_problem *inner, double *S, double *Y, int want)
{
    const ct_solver *solver = inner->solver;
    const int32_t    m = outer->m;
    for (int32_t b = 0; b < solver->blocks; b++) {
        const int32_t v = solver->variable_of[b];
        const int     d = ct_kind_dim(ct_graph_kind(solver->graph, v));
        const int64_t at = (int64_t)solver->column[b] * m;
        double        e[CT_DIM_MAX], D[CT_DIM_MAX * CT_DIM_MAX], Dt[CT_DIM_MAX * CT_DIM_MAX];
        if (Y) memset(Y + at, 0, (size_t)(d * m) * sizeof *Y);
        if (!inner->seq->known[v]) continue;
        ct_loss_variable(&outer->options.loss, inner->seq, v, inner->x + ct_graph_offset(solver->graph, v), e, D);
        for (int32_t from = 0; from < m; from += 64) { /* strips that fit on the stack */
            double        A[CT_DIM_MAX * 64];
            const int32_t n = CT_MIN(64, m - from);
            for (int i = 0; i < d; i++)
                for (int32_t j = 0; j < n; j++) {
                    double sum = 0;
                    for (int k = 0; k < d; k++) sum += D[i * d + k] * S[at + (int64_t)k * m + from + j];
                    A[i * 64 + j] = sum;
                }
            for (int i = 0; i < d; i++) memcpy(S + at + (int64_t)i * m + from, A + i * 64, (size_t)n * sizeof *S);
        }
        ct__add_normal(m, d, S + at, e, want & (CT_WANT_MATRIX | CT_WANT_COVARIANCE) ? inner->matrix : NULL,
                       inner->gradient);
        if (!Y) continue;
        for (int i = 0; i < d; i++)
            for (int k = 0; k < d; k++) Dt[i * d + k] = D[k * d + i];
        multiply_rows(d, m, Dt, S + at, Y + at);
    }
    mirror(m, inner->matrix);
}

/* gradient_covariance += Y' H^-1 Y. S is scratch for H^-1 Y. */
static ct_status add_gradient_covariance(const ct_outer *outer, ct__inner_problem *inner, double *S, const double *Y,
                                         ct_err *err)
{
    const int32_t m = outer->m, n = inner->solver->scalars;
    memcpy(S, Y, (size_t)n * (size_t)m * sizeof *S);
    CT_TRY(ct_sparse_solve(inner->solver->system, S, m, err));
    for (int32_t row = 0; row < n; row++)
        for (int32_t i = 0; i < m; i++)
            for (int32_t j = 0; j < m; j++)
                inner->gradient_covariance[(int64_t)i * m + j] += Y[(int64_t)row * m + i] * S[(int64_t)row * m + j];
    return CT_OK;
}

static ct_status sensitivity(const ct_outer *outer, ct__inner_problem *inner, ct__scratch *scratch, int want,
                             ct_err *err)
{
    double *Y = want & CT_WANT_COVARIANCE ? scratch->Y : NULL;
    ct__inner_right_hand_sides(outer, inner, outer->m, scratch->S);
    CT_TRY(ct_sparse_solve(inner->solver->system, scratch->S, outer->m, err));
    gather(outer, inner, scratch->S, Y, want);
    return Y ? add_gradient_covariance(outer, inner, scratch->S, Y, err) : CT_OK;
}

/* ---- Weights --------------------------------------------------------------------------------- */

/* The covariance of a factor is S Sigma S, S = diag(e^(u/2)). With G = dL/dSigma of the factor as its residual divided
 * by s has it, dL/du_i = (G Sigma)_ii, where u is not cut; the function's backward pass leads to its weights. Of matrix
 * functions dL/du follows from Sigma G (function/matrix_function.c). */
static void differentiate_outputs(const ct_solver *solver, int32_t k, const ct__factor_view *f, const double *G,
                                  double d[CT_FUNCTION_OUTPUTS_MAX])
{
    const ct_function *function = f->model->function;
    const double      *u = solver->functions->u + (int64_t)k * solver->functions->outputs;
    const int          n = f->rows;
    if (function->matrix) {
        double SG[CT_NOISE_DIM_MAX * CT_NOISE_DIM_MAX];
        for (int i = 0; i < n; i++)
            for (int j = 0; j < n; j++) {
                SG[i * n + j] = 0;
                for (int m = 0; m < n; m++) SG[i * n + j] += ct_noise_covariance(f->model, i, m) * G[m * n + j];
            }
        ct__function_matrix_gradient(function, n, &solver->functions->spectrum[k], SG, d);
        return;
    }
    for (int i = 0; i < n; i++) {
        const int o = function->outputs == 1 ? 0 : i;
        if (u[o] < function->u_low[i] || u[o] > function->u_high[i]) continue;
        for (int j = 0; j < n; j++) d[o] += G[i * n + j] * ct_noise_covariance(f->model, i, j);
    }
}

static void add_weight_gradient(const ct_outer *outer, ct__inner_problem *inner, int32_t k, const ct__factor_view *f,
                                const double *l)
{
    const ct_solver   *solver = inner->solver;
    const int32_t      model = solver->item[k].noise;
    const ct_function *function = f->model->function;
    double             G[CT_NOISE_DIM_MAX * CT_NOISE_DIM_MAX] = {0}, d[CT_FUNCTION_OUTPUTS_MAX] = {0};
    double             x[CT_FUNCTION_FEATURES_MAX];
    int                column[CT_FUNCTION_FEATURES_MAX];
    ct__view_add_gradient_at_fixed_cuts(f, l, G);
    differentiate_outputs(solver, k, f, G, d);
    if (solver->keep_layers && function->kind == CT_FUNCTION_NETWORK) {
        const double *kept = solver->functions->kept + (int64_t)k * solver->functions->stride;
        ct__function_gradient_kept(function, kept, d, inner->weight_gradient + outer->weight_of[model]);
        return;
    }
    ct__feature_columns(solver->graph, function, column);
    ct__factor_features(solver->graph, solver->factor_of[k], function, column, x);
    ct_function_gradient(function, x, d, inner->weight_gradient + outer->weight_of[model]);
}

/* ---- Adjoint --------------------------------------------------------------------------------- */

/* l <- H^-1 D'e. */
static ct_status solve_adjoint(const ct_outer *outer, const ct__inner_problem *inner, double *l, ct_err *err)
{
    const ct_solver *solver = inner->solver;
    for (int32_t b = 0; b < solver->blocks; b++) { /* l <- D'e */
        const int32_t v = solver->variable_of[b];
        const int     d = ct_kind_dim(ct_graph_kind(solver->graph, v));
        double        e[CT_DIM_MAX], D[CT_DIM_MAX * CT_DIM_MAX];
        ct_loss_variable(&outer->options.loss, inner->seq, v, inner->x + ct_graph_offset(solver->graph, v), e, D);
        for (int c = 0; c < d; c++) {
            double sum = 0;
            for (int i = 0; i < d; i++) sum += D[i * d + c] * e[i];
            l[solver->column[b] + c] = sum;
        }
    }
    return ct_sparse_solve(solver->system, l, 1, err);
}

static ct_status adjoint(const ct_outer *outer, ct__inner_problem *inner, ct__scratch *scratch, ct_err *err)
{
    const ct_solver         *solver = inner->solver;
    const ct_theta_jacobian *slopes = outer->slopes;
    double                  *l = scratch->e;
    CT_TRY(solve_adjoint(outer, inner, l, err));
    if (inner->watch) ct__measurement_gradient(outer, inner, l);
    const int64_t size = CT_NOISE_DIM_MAX * CT_NOISE_DIM_MAX;
    memset(scratch->dL_dSigma, 0, (size_t)(outer->slots * size) * sizeof *scratch->dL_dSigma);
    FOR_EACH_LEARNED(outer, solver, batch, k)
    {
        ct__factor_view f;
        ct__view_factor(solver, outer->noise, batch, k, inner->x, &f);
        if (inner->weight_gradient && outer->weight_of[solver->item[k].noise] >= 0)
            add_weight_gradient(outer, inner, k, &f, l);
        ct__view_add_covariance_gradient(&f, l, scratch->dL_dSigma + outer->slot[solver->item[k].noise] * size);
    }
    for (int32_t model = 0; model < outer->models; model++) {
        if (outer->slot[model] < 0) continue;
        const double *G = scratch->dL_dSigma + outer->slot[model] * size;
        const int     n = ct_noise_get(outer->noise, model)->dim;
        for (int32_t t = slopes->first[model]; t < slopes->first[model + 1]; t++)
            for (int i = 0; i < n * n; i++) inner->gradient[slopes->parameter[t]] += slopes->dSigma[t][i] * G[i];
    }
    return CT_OK;
}

/* ---- Evaluation ------------------------------------------------------------------------------ */

ct_stop ct__inner_estimate(const ct_outer *outer, const ct__inner_problem *inner, ct_solver *solver,
                           const ct_noise *noise, double *x, int *iterations, ct_status *status)
{
    ct_err err;
    if (!outer->options.incremental) {
        ct_solve_result result;
        *status = ct_solver_run(solver, noise, x, &outer->options.inner, &result, &err);
        *iterations += result.iterations;
        if (*status != CT_OK) return CT_STOP_NOT_FINITE;
        return ct_solve_usable(&result) && !ct_stop_converged(result.stop) ? CT_STOP_STEP : result.stop;
    }
    ct_replay_result result;
    memcpy(x, inner->start, (size_t)ct_graph_size(inner->seq->graph) * sizeof *x);
    *status = ct_replay(inner->seq->graph, noise, &outer->options.replay, x, &result, &err);
    *iterations += result.updates;
    return *status == CT_OK ? result.stop : CT_STOP_NOT_FINITE;
}

/* The estimate from the start of the inner problem; if that fails, from the truth. */
static void minimise(const ct_outer *outer, ct__inner_problem *inner)
{
    const size_t bytes = (size_t)ct_graph_size(inner->solver->graph) * sizeof *inner->x;
    inner->iterations = inner->solves = 0;
    for (int attempt = 0; attempt < (outer->options.incremental ? 1 : 2); attempt++) {
        if (attempt == 0) memcpy(inner->x, inner->start, bytes);
        else if (ct_start_values(inner->seq, CT_START_TRUTH, inner->x, NULL) != CT_OK) break;
        inner->stop =
            ct__inner_estimate(outer, inner, inner->solver, outer->noise, inner->x, &inner->iterations, &inner->status);
        inner->solves++;
        if (ct_stop_converged(inner->stop)) break;
    }
    if (inner->status != CT_E_MEMORY) inner->status = CT_OK;
}

/* Factorises H at the minimum. J'J replaces an exact H that is not positive definite. */
static ct_status factor_hessian(const ct_outer *outer, ct__inner_problem *inner, double *step, ct_err *err)
{
    ct_status status = CT_E_SINGULAR;
    inner->inexact = 0;
    if (outer->options.hessian == CT_HESSIAN_EXACT) {
        status = outer->options.incremental
                     ? ct_solver_hessian(inner->solver, outer->noise, inner->x, err)
                     : ct__solver_hessian_here(inner->solver, outer->noise, inner->x, err); /* after the solve */
        inner->inexact = status != CT_OK;
    }
    if (status != CT_OK) CT_TRY(ct_solver_linearise(inner->solver, outer->noise, inner->x, err));
    ct_sparse_step(inner->solver->system, step);
    inner->stationarity = ct__largest(step, inner->solver->scalars);
    return CT_OK;
}

static void differentiate(const ct_outer *outer, ct__inner_problem *inner, ct__scratch *scratch, int want)
{
    ct_err    err;
    ct_status status = factor_hessian(outer, inner, scratch->e, &err);
    const int rows =
        (want & (CT_WANT_MATRIX | CT_WANT_COVARIANCE)) || outer->options.gradient == CT_GRADIENT_SENSITIVITY;
    if (status == CT_OK)
        status = rows ? sensitivity(outer, inner, scratch, want, &err) : adjoint(outer, inner, scratch, &err);
    if (status == CT_OK && rows && inner->watch) { /* the sensitivity has no adjoint */
        status = solve_adjoint(outer, inner, scratch->e, &err);
        if (status == CT_OK) ct__measurement_gradient(outer, inner, scratch->e);
    }
    if (status == CT_OK) return;
    if (status == CT_E_MEMORY) inner->status = status;
    inner->stop = CT_STOP_RANK;
    inner->loss = INFINITY;
}

/* A system without a covariance has a fit of NaN. */
static void fit_models(const ct_outer *outer, ct__inner_problem *inner)
{
    ct_err err;
    const ct_status status = ct_model_fit_at(outer->noise, inner->solver, inner->x, inner->fit, &err);
    if (status == CT_E_MEMORY) inner->status = status;
    for (int32_t g = 0; status != CT_OK && g < outer->models; g++) inner->fit[g].factors = NAN;
}

void ct__inner_evaluate(const ct_outer *outer, ct__inner_problem *inner, ct__scratch *scratch, int want)
{
    const int32_t m = outer->m;
    inner->loss = INFINITY;
    inner->stationarity = 0;
    memset(inner->fit, 0, (size_t)outer->models * sizeof *inner->fit);
    inner->status = CT_OK;
    minimise(outer, inner);
    memset(inner->gradient, 0, (size_t)m * sizeof *inner->gradient);
    ct__clear_measurement_gradient(inner);
    if (inner->weight_gradient)
        memset(inner->weight_gradient, 0, (size_t)outer->weights * sizeof *inner->weight_gradient);
    memset(inner->matrix, 0, (size_t)m * (size_t)m * sizeof *inner->matrix);
    memset(inner->gradient_covariance, 0, (size_t)m * (size_t)m * sizeof *inner->gradient_covariance);
    if (!ct_stop_converged(inner->stop)) return;
    inner->loss = ct__inner_residual(outer, inner->seq, inner->solver, inner->x, scratch->e);
    const int derivatives = want & CT__WANT_DERIVATIVES;
    if (derivatives && (outer->options.gradient != CT_GRADIENT_NUMERIC || want & CT_WANT_COVARIANCE))
        differentiate(outer, inner, scratch, want);
    if (want & CT_WANT_FIT) fit_models(outer, inner);
}
