/* sequence_likelihood.c: L of one sequence, its gradient and its information.
 *
 * With P = H^-1, and for each factor W = Sigma^-1, y = W r, w the robust weight, w' = dw/d(d2), C = J P J',
 * t = tr(W C):
 *
 *     L = E + 1/2 log det H + sum [1/2 log det Sigma + log Z],      H = sum w J'W J
 *
 *     dL/dSigma at fixed x   = 1/2 [W - w y y' - w W C W - w' t y y']
 *     g = d(1/2 log det H)/dx = sum [ w sum_a K_a m_a + w' t J'y ],   m_a the rows of W J P, K_a the curvature of row a
 *     dL/dSigma through x    = the gradient of l'x by Sigma, H_exact l = g          (factor_view.h)
 *
 * dJ/dx also has an antisymmetric part, as perturbations do not commute. Summed over all factors it is
 * 1/2 tr(H P ad) = 1/2 tr(ad) = 0, because the groups are unimodular.
 *
 * Average information (Gilmour, Thompson, Cullis 1995), with z_i = dSigma/dp_i y and S_i = sum w J'W z_i:
 *
 *     A_ij = 1/2 [ sum w z_i'W z_j - S_i'P S_j ]
 *
 * It is positive semidefinite and, at the maximum of a linear Gaussian model, the average of the observed and the
 * expected information. Where variances are far too large it vanishes. So its diagonal is at least the part of the
 * expected information within factors, 1/2 sum tr((Q dSigma)^2), Q = W - w W C W. */
#include "graph/graph.h"
#include "graph/whiten.h"
#include "likelihood/factor_view.h"
#include "likelihood/likelihood.h"
#include "solve/many.h"
#include "sparse/sparse.h"

#include <math.h>

#define ENTRIES  (CT_NOISE_DIM_MAX * CT_NOISE_DIM_MAX)

typedef struct {
    const ct_likelihood     *l;
    ct__likelihood_sequence *s;
    ct__likelihood_scratch  *scratch;
} sweep;

/* ---- One factor ------------------------------------------------------------------------------ */

/* W as a matrix. */
static void information(const ct_noise_model *model, int rows, double *W)
{
    memset(W, 0, (size_t)(rows * rows) * sizeof *W);
    for (int c = 0; c < rows; c++) { /* symmetric: rows are columns */
        W[c * rows + c] = 1;
        ct__apply_information(model, rows, W + c * rows);
    }
}

/* C = A B, of n x k and k x m. */
static void multiply(int n, int k, int m, const double *restrict A, const double *restrict B, double *restrict C)
{
    for (int i = 0; i < n; i++)
        for (int j = 0; j < m; j++) {
            double sum = 0;
            for (int q = 0; q < k; q++) sum += A[i * k + q] * B[q * m + j];
            C[i * m + j] = sum;
        }
}

/* M <- W M, rows x cols. */
static void apply_to_columns(const ct_noise_model *model, int rows, int cols, double *M)
{
    if (model->kind != CT_NOISE_FULL) {
        for (int i = 0; i < rows; i++) {
            const double w = model->sqrt_info[i] * model->sqrt_info[i];
            for (int j = 0; j < cols; j++) M[i * cols + j] *= w;
        }
        return;
    }
    for (int j = 0; j < cols; j++) {
        double v[CT_ROWS_MAX];
        for (int i = 0; i < rows; i++) v[i] = M[i * cols + j];
        ct__apply_information(model, rows, v);
        for (int i = 0; i < rows; i++) M[i * cols + j] = v[i];
    }
}

/* G += dL/dSigma at fixed x; floor += 1/2 tr((Q dSigma)^2). WCW is W C W. */
static void add_explicit(const sweep *w, int32_t model, const ct__factor_view *f, const double *W, const double *WCW,
                         double t)
{
    const ct_theta_jacobian *slopes = w->l->slopes;
    const int                rows = f->rows;
    double                  *G = w->scratch->dL_dSigma + w->l->slot[model] * ENTRIES, Q[ENTRIES], QV[ENTRIES];
    double                   of_factor[ENTRIES], room[ENTRIES];
    for (int i = 0; i < rows; i++)
        for (int k = 0; k < rows; k++) {
            Q[i * rows + k] = W[i * rows + k] - f->w * WCW[i * rows + k];
            of_factor[i * rows + k] = 0.5 * (Q[i * rows + k] - (f->w + f->slope * t) * f->y[i] * f->y[k]);
        }
    ct__view_add_through_cuts(f, of_factor, G);
    for (int32_t term = slopes->first[model]; term < slopes->first[model + 1]; term++) {
        double   *floor = &w->scratch->floor[slopes->parameter[term]];
        const int c = slopes->coordinate[term];
        if (c >= 0 && !f->cuts.count) {
            const double q = Q[c * rows + c] * slopes->dSigma[term][c * rows + c];
            *floor += 0.5 * q * q;
            continue;
        }
        multiply(rows, rows, rows, Q, ct__view_slope(f, slopes, term, room), QV);
        for (int i = 0; i < rows; i++)
            for (int k = 0; k < rows; k++) *floor += 0.5 * QV[i * rows + k] * QV[k * rows + i];
    }
}

/* g += w sum_a K_a m_a + w' t J'y. */
static void add_log_det_gradient(const sweep *w, const ct__batch *batch, int32_t item, const ct__factor_view *f, int n,
                                 const int *place, const double *M, double t)
{
    const ct_solver *solver = w->s->solver;
    double  all[CT__SIDE_MAX] = {0}, m[CT__SIDE_MAX], K[CT__SIDE_MAX * CT__SIDE_MAX], u[CT_ROWS_MAX] = {0};
    double *g = w->scratch->g;
    int     side = 0;
    for (int i = 0; i < f->arity; i++) side += f->cols[i];
    for (int a = 0; a < f->rows && !batch->ops->flat; a++) {
        memset(m, 0, sizeof m);
        for (int k = 0; k < n; k++) m[place[k]] = f->w * M[a * n + k];
        memset(u, 0, sizeof u);
        u[a] = 1;
        ct__apply_scale_back(&f->scale, f->rows, u);
        ct__item_curvature(solver, batch, item, w->s->x, u, K);
        for (int i = 0; i < side; i++)
            for (int k = 0; k < side; k++) all[i] += K[i * side + k] * m[k];
    }
    for (int i = 0, first = 0; i < f->arity; first += f->cols[i++])
        for (int c = 0; f->J[i] && c < f->cols[i]; c++) {
            double Jy = 0;
            for (int row = 0; row < f->rows; row++) Jy += f->J[i][row * f->cols[i] + c] * f->y[row];
            g[f->column[i] + c] += all[first + c] + f->slope * t * Jy;
        }
}

/* Adds the factor of an edge, given the joint covariance P of its variables. */
static void add_edge(void *user, int64_t edge, int n, const double *P)
{
    const sweep         *w = user;
    const ct_solver     *solver = w->s->solver;
    const int32_t        k = w->s->item_of[edge], model = solver->item[k].noise;
    const ct__batch     *batch = ct__batch_of(solver, k);
    const int            learned = model < w->l->models && w->l->slot[model] >= 0;
    ct__factor_view      f;
    double               J[CT_ROWS_MAX * CT__SIDE_MAX], M[CT_ROWS_MAX * CT__SIDE_MAX];
    double               W[ENTRIES], WC[ENTRIES], WCW[ENTRIES], t = 0;
    int                  place[CT__SIDE_MAX];
    ct__view_factor(solver, w->l->noise, batch, k, w->s->x, &f);
    if (!learned && batch->ops->flat && f.slope == 0) return;
    ct__edge_jacobian(batch->ops, f.J, J, place);
    multiply(f.rows, n, n, J, P, M);
    apply_to_columns(f.model, f.rows, n, M);
    for (int i = 0; i < f.rows; i++)
        for (int j = 0; j < f.rows; j++) {
            double sum = 0;
            for (int c = 0; c < n; c++) sum += M[i * n + c] * J[j * n + c];
            WC[i * f.rows + j] = WCW[j * f.rows + i] = sum;
        }
    for (int i = 0; i < f.rows; i++) t += WC[i * f.rows + i];
    if (learned) { /* W C W = W (W C)' */
        information(f.model, f.rows, W);
        apply_to_columns(f.model, f.rows, f.rows, WCW);
        add_explicit(w, model, &f, W, WCW, t);
    }
    add_log_det_gradient(w, batch, k, &f, n, place, M, t);
}

/* ---- Sums ------------------------------------------------------------------------------------ */

/* Sum over factors of learned models of 1/2 log det Sigma + log Z. */
static double log_normalisers(const ct_likelihood *l, const ct_solver *solver)
{
    double sum = 0;
    for (int32_t k = 0; k < solver->items; k++)
        if (solver->item[k].noise < l->models) sum += l->constant[solver->item[k].noise];
    for (int32_t k = 0; solver->functions && k < solver->items; k++) { /* -log det T */
        if (solver->item[k].multiplied < CT__SCALED_BY_FUNCTION) continue;
        ct__scaling T;
        ct__item_scale(solver, &solver->item[k], &T);
        sum -= ct__scale_log_det(&T, ct__batch_of(solver, k)->ops->rows);
    }
    return sum;
}

/* Factors whose variables are all fixed have no edge. */
static void add_fixed_factors(const sweep *w)
{
    const ct_solver *solver = w->s->solver;
    static const double NONE[ENTRIES];
    for (int32_t b = 0; b < solver->batches; b++)
        for (int32_t k = solver->batch[b].first; k < solver->batch[b].end; k++) {
            const int32_t   model = solver->item[k].noise;
            ct__factor_view f;
            double          W[ENTRIES];
            if (solver->item[k].moves || model >= w->l->models || w->l->slot[model] < 0) continue;
            ct__view_factor(solver, w->l->noise, &solver->batch[b], k, w->s->x, &f);
            information(f.model, f.rows, W);
            add_explicit(w, model, &f, W, NONE, 0);
        }
}

/* S <- S_i in column i of m; A += 1/2 sum w z_i'W z_j. */
static void fill_information(const sweep *w)
{
    const ct_likelihood     *l = w->l;
    const ct_solver         *solver = w->s->solver;
    const ct_theta_jacobian *slopes = l->slopes;
    const int32_t            m = l->m;
    double                  *S = w->scratch->S;
    memset(S, 0, (size_t)solver->scalars * (size_t)m * sizeof *S);
    for (int32_t b = 0; b < solver->batches; b++)
        for (int32_t k = solver->batch[b].first; k < solver->batch[b].end; k++) {
            const int32_t   model = solver->item[k].noise;
            ct__factor_view f;
            if (model >= l->models || l->slot[model] < 0) continue;
            ct__view_factor(solver, l->noise, &solver->batch[b], k, w->s->x, &f);
            const int32_t first = slopes->first[model], end = slopes->first[model + 1];
            double        q[CT_NOISE_DIM_MAX * (CT_NOISE_DIM_MAX + 1)][CT_ROWS_MAX]; /* W z */
            for (int32_t t = first; t < end; t++) {
                double z[CT_ROWS_MAX], room[ENTRIES];
                multiply(f.rows, f.rows, 1, ct__view_slope(&f, slopes, t, room), f.y, z);
                memcpy(q[t - first], z, sizeof z);
                ct__apply_information(f.model, f.rows, q[t - first]);
                for (int32_t u = first; u <= t; u++) {
                    double sum = 0;
                    for (int i = 0; i < f.rows; i++) sum += 0.5 * f.w * z[i] * q[u - first][i];
                    const int32_t i = slopes->parameter[t], j = slopes->parameter[u];
                    w->s->information[(int64_t)i * m + j] += sum;
                    if (u != t) w->s->information[(int64_t)j * m + i] += sum;
                }
                for (int i = 0; i < f.arity; i++)
                    for (int c = 0; f.J[i] && c < f.cols[i]; c++)
                        for (int row = 0; row < f.rows; row++)
                            S[(int64_t)(f.column[i] + c) * m + slopes->parameter[t]] +=
                                f.w * f.J[i][row * f.cols[i] + c] * q[t - first][row];
            }
        }
}

/* A -= 1/2 S'P S with the factor of J'W J. */
static ct_status add_information(const sweep *w, ct_err *err)
{
    const int32_t m = w->l->m, n = w->s->solver->scalars;
    double       *S = w->scratch->S, *PS = w->scratch->PS, *A = w->s->information;
    fill_information(w);
    memcpy(PS, S, (size_t)n * (size_t)m * sizeof *S);
    CT_TRY(ct_sparse_solve(w->s->solver->system, PS, m, err));
    for (int32_t row = 0; row < n; row++)
        for (int32_t i = 0; i < m; i++)
            for (int32_t j = 0; j < m; j++)
                A[(int64_t)i * m + j] -= 0.5 * S[(int64_t)row * m + i] * PS[(int64_t)row * m + j];
    return CT_OK;
}

/* ---- Gradient -------------------------------------------------------------------------------- */

/* dL/dSigma through x: l = H_exact^-1 g. */
static ct_status add_implicit(const sweep *w, ct_err *err)
{
    ct_solver *solver = w->s->solver;
    if (ct_solver_hessian(solver, w->l->noise, w->s->x, err) != CT_OK) {
        w->s->inexact = 1;
        CT_TRY(ct_solver_linearise(solver, w->l->noise, w->s->x, err));
    }
    CT_TRY(ct_sparse_solve(solver->system, w->scratch->g, 1, err));
    for (int32_t b = 0; b < solver->batches; b++)
        for (int32_t k = solver->batch[b].first; k < solver->batch[b].end; k++) {
            const int32_t   model = solver->item[k].noise;
            ct__factor_view f;
            if (!solver->item[k].moves || model >= w->l->models || w->l->slot[model] < 0) continue;
            ct__view_factor(solver, w->l->noise, &solver->batch[b], k, w->s->x, &f);
            ct__view_add_covariance_gradient(&f, w->scratch->g, w->scratch->dL_dSigma + w->l->slot[model] * ENTRIES);
        }
    return CT_OK;
}

static void chain_to_parameters(const sweep *w)
{
    const ct_theta_jacobian *slopes = w->l->slopes;
    for (int32_t model = 0; model < w->l->models; model++) {
        if (w->l->slot[model] < 0) continue;
        const double *G = w->scratch->dL_dSigma + w->l->slot[model] * ENTRIES;
        const int     n = ct_noise_get(w->l->noise, model)->dim;
        for (int32_t t = slopes->first[model]; t < slopes->first[model + 1]; t++)
            for (int i = 0; i < n * n; i++) w->s->gradient[slopes->parameter[t]] += slopes->dSigma[t][i] * G[i];
    }
}

static ct_status differentiate(const sweep *w, int want, ct_err *err)
{
    const int32_t m = w->l->m;
    memset(w->scratch->g, 0, (size_t)w->s->solver->scalars * sizeof *w->scratch->g);
    memset(w->scratch->dL_dSigma, 0, (size_t)w->l->slots * ENTRIES * sizeof *w->scratch->dL_dSigma);
    memset(w->scratch->floor, 0, (size_t)m * sizeof *w->scratch->floor);
    CT_TRY(ct_sparse_edge_covariances(w->s->solver->system, add_edge, (void *)w, err));
    add_fixed_factors(w);
    if (want & CT__LIKELIHOOD_INFORMATION) {
        double *A = w->s->information;
        CT_TRY(add_information(w, err));
        for (int32_t i = 0; i < m; i++) A[(int64_t)i * m + i] = CT_MAX(A[(int64_t)i * m + i], w->scratch->floor[i]);
    }
    CT_TRY(add_implicit(w, err));
    chain_to_parameters(w);
    return CT_OK;
}

/* ---- Evaluation ------------------------------------------------------------------------------ */

/* x <- the minimum from these values. Returns its error; INFINITY if there is none. */
static double solve_from(const ct_likelihood *l, ct__likelihood_sequence *s, const double *values, double *x)
{
    ct_solve_result result;
    ct_err          err;
    memcpy(x, values, (size_t)ct_graph_size(s->graph) * sizeof *x);
    s->status = ct_solver_run(s->solver, l->noise, x, &l->options.inner, &result, &err);
    if (s->status != CT_OK) return INFINITY;
    s->iterations += result.iterations;
    s->solves++;
    s->stop = ct_solve_usable(&result) && !ct_stop_converged(result.stop) ? CT_STOP_STEP : result.stop;
    return ct_stop_converged(s->stop) ? result.final_error : INFINITY;
}

/* x <- the minimum from the start; from where solves started at first if that fails, or if it is lower. A minimum that
 * was lowest under other parameters may not be so under these. */
static void minimise(const ct_likelihood *l, ct__likelihood_sequence *s)
{
    s->iterations = s->solves = 0;
    const double  error = solve_from(l, s, s->start, s->x);
    const ct_stop stop = s->stop;
    if (s->status != CT_OK || (isfinite(error) && !l->both)) return;
    const double other = solve_from(l, s, s->first, s->other);
    if (s->status != CT_OK) return;
    if (other < error) memcpy(s->x, s->other, (size_t)ct_graph_size(s->graph) * sizeof *s->x);
    else s->stop = stop;
}

void ct__likelihood_evaluate_sequence(const ct_likelihood *l, ct__likelihood_sequence *s,
                                      ct__likelihood_scratch *scratch, int want)
{
    const sweep w = {l, s, scratch};
    ct_err      err;
    s->value = INFINITY;
    s->inexact = 0;
    s->stop = CT_STOP_NOT_FINITE;
    memset(s->gradient, 0, (size_t)l->m * sizeof *s->gradient);
    memset(s->information, 0, (size_t)l->m * (size_t)l->m * sizeof *s->information);
    minimise(l, s);
    if (s->status != CT_OK || !ct_stop_converged(s->stop)) return;
    s->status = ct_solver_linearise(s->solver, l->noise, s->x, &err);
    if (s->status == CT_OK) {
        s->value = ct_graph_error(s->graph, l->noise, s->x) + log_normalisers(l, s->solver) + s->steps +
                   0.5 * ct_sparse_log_determinant(s->solver->system);
        if (want) s->status = differentiate(&w, want, &err);
    }
    if (s->status != CT_OK || !isfinite(s->value)) {
        s->value = INFINITY;
        s->stop = CT_STOP_RANK;
    }
    if (s->status != CT_E_MEMORY) s->status = CT_OK;
}
