/* weight_sensitivity.c: the Gauss-Newton matrix of the loss by log variances p and by the weights w of functions.
 *
 * The covariance of a factor is S Sigma S, S = diag(e^(u/2)). With its residual divided by s, a change of output o of
 * the function changes Sigma by dSigma_ij = 1/2 ([i has o] + [j has o]) Sigma_ij, so that (inner_problem.c)
 *
 *     -dh/dw_j = sum_k sum_o du_o/dw_j J' q_o,    q_o = w W (dSigma_o y) + w' (y' dSigma_o y) y
 *
 * Of a matrix function dSigma_o = X Sigma + Sigma X' (function/matrix_function.c).
 *
 * A = D H^-1 [-dh/dp, -dh/dw] costs a back-substitution a column; the matrix is the mean of A'A over sequences. */
#include "graph/graph.h"
#include "function/function.h"
#include "learn/learn.h"
#include "likelihood/factor_view.h"
#include "noise/noise.h"
#include "solve/solve.h"

#include <math.h>

typedef struct {
    ct_outer  *outer;
    int32_t    n;       /* columns: m + weights                      */
    double    *S, *phi; /* per worker: scalars x n; du/dw of a factor */
    int64_t    room;    /* numbers of S                              */
    double    *matrix;  /* per sequence: n x n                       */
    ct_status *status;
} work;

/* d <- dSigma_o y of a matrix function: X r + Sigma X'y, as Sigma y = r. */
static void matrix_change(const ct__factor_view *f, const ct__spectrum *s, int output, double d[CT_ROWS_MAX])
{
    const int n = f->rows;
    double    X[CT__SYM_MAX], Xy[CT_ROWS_MAX];
    ct__function_matrix_slope(f->model->function, n, s, output, X);
    for (int i = 0; i < n; i++) {
        Xy[i] = 0;
        for (int j = 0; j < n; j++) Xy[i] += X[j * n + i] * f->y[j];
    }
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++) d[i] += X[i * n + j] * f->r[j] + ct_noise_covariance(f->model, i, j) * Xy[j];
}

/* q of output o of item k; 0: u is cut in all its rows, and does not change. */
static int weigh(const ct_solver *solver, int32_t k, const ct__factor_view *f, int output, double q[CT_ROWS_MAX])
{
    const ct_function *function = f->model->function;
    const double      *u = solver->functions->u + (int64_t)k * solver->functions->outputs;
    double             part[CT_ROWS_MAX], d[CT_ROWS_MAX] = {0}, square = 0, moves = function->matrix;
    for (int i = 0; !function->matrix && i < f->rows; i++) {
        const int o = function->outputs == 1 ? 0 : i;
        part[i] = o == output && u[o] >= function->u_low[i] && u[o] <= function->u_high[i];
        moves += part[i];
    }
    if (function->matrix) matrix_change(f, &solver->functions->spectrum[k], output, d);
    for (int i = 0; !function->matrix && i < f->rows; i++)
        for (int j = 0; j < f->rows; j++)
            d[i] += 0.5 * (part[i] + part[j]) * ct_noise_covariance(f->model, i, j) * f->y[j];
    for (int i = 0; i < f->rows; i++) square += f->y[i] * d[i];
    ct__apply_information(f->model, f->rows, d);
    for (int i = 0; i < f->rows; i++) q[i] = f->w * d[i] + f->slope * square * f->y[i];
    return moves > 0;
}

/* S += J'q phi' in the columns from `first` on. */
static void add_outer_product(const ct__factor_view *f, const double *q, int weights, const double *phi, int32_t n,
                              int32_t first, double *S)
{
    for (int i = 0; i < f->arity; i++) {
        if (!f->J[i]) continue;
        for (int c = 0; c < f->cols[i]; c++) {
            double  sum = 0;
            double *to = S + (int64_t)(f->column[i] + c) * n + first;
            for (int row = 0; row < f->rows; row++) sum += f->J[i][row * f->cols[i] + c] * q[row];
            for (int j = 0; j < weights; j++) to[j] += sum * phi[j];
        }
    }
}

static void add_weights(const work *w, const ct__inner_problem *inner, double *phi, double *S)
{
    const ct_outer  *o = w->outer;
    const ct_solver *solver = inner->solver;
    for (const ct__batch *batch = solver->batch; batch < solver->batch + solver->batches; batch++)
        for (int32_t k = batch->first; k < batch->end; k++) {
            const int32_t   model = solver->item[k].noise;
            ct__factor_view f;
            double          x[CT_FUNCTION_FEATURES_MAX], q[CT_ROWS_MAX];
            int             column[CT_FUNCTION_FEATURES_MAX];
            if (o->slot[model] < 0 || !solver->item[k].moves || o->weight_of[model] < 0) continue;
            ct__view_factor(solver, o->noise, batch, k, inner->x, &f);
            const ct_function *function = f.model->function;
            ct__feature_columns(solver->graph, function, column);
            ct__factor_features(solver->graph, solver->factor_of[k], function, column, x);
            for (int out = 0; out < function->outputs; out++) {
                double unit[CT_FUNCTION_OUTPUTS_MAX] = {0};
                if (!weigh(solver, k, &f, out, q)) continue;
                unit[out] = 1;
                memset(phi, 0, (size_t)function->weights * sizeof *phi);
                ct_function_gradient(function, x, unit, phi);
                add_outer_product(&f, q, function->weights, phi, w->n, o->m + o->weight_of[model], S);
            }
        }
}

/* matrix += A'A, A = D S. */
static void add_up(const work *w, const ct__inner_problem *inner, const double *S, double *row, double *matrix)
{
    const ct_solver *solver = inner->solver;
    const int32_t    n = w->n;
    for (int32_t b = 0; b < solver->blocks; b++) {
        const int32_t v = solver->variable_of[b];
        const int     d = ct_kind_dim(ct_graph_kind(solver->graph, v));
        double        e[CT_DIM_MAX], D[CT_DIM_MAX * CT_DIM_MAX];
        if (!inner->seq->known[v]) continue;
        ct_loss_variable(&w->outer->options.loss, inner->seq, v, inner->x + ct_graph_offset(solver->graph, v), e, D);
        for (int i = 0; i < d; i++) {
            memset(row, 0, (size_t)n * sizeof *row);
            for (int k = 0; k < d; k++)
                for (int32_t j = 0; j < n; j++) row[j] += D[i * d + k] * S[(int64_t)(solver->column[b] + k) * n + j];
            ct__add_normal(n, 1, row, NULL, matrix, NULL);
        }
    }
    for (int32_t i = 0; i < n; i++)
        for (int32_t j = 0; j < i; j++) matrix[(int64_t)i * n + j] = matrix[(int64_t)j * n + i];
}

static void differentiate(const work *w, int64_t i, int worker)
{
    ct__inner_problem *inner = &w->outer->inner[i];
    double            *S = w->S + worker * w->room, *phi = w->phi + (int64_t)worker * 2 * w->n;
    ct_err             err;
    ct__inner_right_hand_sides(w->outer, inner, w->n, S);
    add_weights(w, inner, phi, S);
    w->status[i] = ct_sparse_solve(inner->solver->system, S, w->n, &err);
    if (w->status[i] == CT_OK) add_up(w, inner, S, phi + w->n, w->matrix + i * w->n * w->n);
}

/* A sequence of a cache has no solver from the evaluation: H is factored again, where it was. */
static void run(void *user, int64_t i, int worker)
{
    const work        *w = user;
    ct_outer          *o = w->outer;
    ct__inner_problem *inner = &o->inner[i];
    ct_err             err = {0};
    if (!o->store) {
        differentiate(w, i, worker);
        return;
    }
    const int inexact = inner->inexact || o->options.hessian != CT_HESSIAN_EXACT;
    if (ct__inner_open(o, (int32_t)i, worker) != CT_OK) return;
    ct_status status = ct__inner_get(o, (int32_t)i, 1, inner->x, &err);
    if (status == CT_OK)
        status = inexact ? ct_solver_linearise(inner->solver, o->noise, inner->x, &err)
                         : ct_solver_hessian(inner->solver, o->noise, inner->x, &err);
    if (status == CT_OK) differentiate(w, i, worker);
    else ct__outer_tell(o, (int32_t)i, status, &err);
    ct__inner_close(o, (int32_t)i, worker);
}

static int takes_part(const void *user, int64_t i)
{
    const ct__inner_problem *inner = &((const work *)user)->outer->inner[i];
    return inner->took_part && isfinite(inner->loss);
}

static int64_t size(const void *user, int64_t i)
{
    const work *w = user;
    (void)i;
    return (int64_t)w->n * w->n * (int64_t)sizeof(double);
}

static void pack(const void *user, int64_t i, void *record)
{
    const work *w = user;
    memcpy(record, w->matrix + i * w->n * w->n, (size_t)size(user, i));
}

static void unpack(void *user, int64_t i, const void *record)
{
    const work *w = user;
    memcpy(w->matrix + i * w->n * w->n, record, (size_t)size(user, i));
}

static ct_status compute(work *w, double *matrix, ct_err *err)
{
    ct_outer        *o = w->outer;
    const int64_t    n2 = (int64_t)w->n * w->n;
    int32_t          parts = 0;
    const ct__spread spread = {.comm = o->options.comm,
                               .owner = o->owner,
                               .jobs = o->scratches,
                               .count = o->count,
                               .task = run,
                               .user = w,
                               .wanted = takes_part,
                               .size = size,
                               .pack = pack,
                               .unpack = unpack};
    CT_TRY(o->store ? ct__outer_spread_run(o, &spread, err) : ct__spread_run(&spread, err));
    CT_TRY(ct__spread_exchange(&spread, err));
    for (int32_t i = 0; i < o->count; i++) parts += o->inner[i].took_part;
    memset(matrix, 0, (size_t)n2 * sizeof *matrix);
    for (int32_t i = 0; i < o->count; i++) {
        if (w->status[i] != CT_OK) return ct__no_memory(err, "right-hand sides", w->n);
        for (int64_t j = 0; o->inner[i].took_part && j < n2; j++) matrix[j] += w->matrix[i * n2 + j] / parts;
    }
    return CT_OK;
}

ct_status ct__outer_weight_matrix(ct_outer *o, double *matrix, ct_err *err)
{
    work w = {.outer = o, .n = o->m + o->weights};
    for (int32_t i = 0; i < o->count; i++) w.room = CT_MAX(w.room, (int64_t)o->inner[i].scalars * w.n);
    const int64_t bytes = (o->scratches * w.room + (int64_t)o->count * w.n * w.n) * (int64_t)sizeof(double);
    if (o->store) CT_TRY(ct__store_reserve(o->store, bytes, o->scratches, "derivatives by weights of functions", err));
    w.S = ct__zalloc(o->scratches * w.room, sizeof *w.S);
    w.phi = ct__zalloc((int64_t)o->scratches * 2 * w.n, sizeof *w.phi);
    w.matrix = ct__zalloc((int64_t)o->count * w.n * w.n, sizeof *w.matrix);
    w.status = ct__zalloc(o->count, sizeof *w.status);
    const ct_status status = w.S && w.phi && w.matrix && w.status ? compute(&w, matrix, err)
                                                                  : ct__no_memory(err, "right-hand sides", w.n);
    if (o->store) (void)ct__store_reserve(o->store, -bytes, 0, "", NULL);
    free(w.S);
    free(w.phi);
    free(w.matrix);
    free(w.status);
    return status;
}
