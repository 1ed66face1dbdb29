/* factor_cuts.c: derivatives by a model's covariance of factors whose function is cut by bounds.
 *
 * The cut of a row is log(bound / l), with l its variance or an extreme eigenvalue (noise/noise_function.c). If the
 * covariance changes by dSigma, Sigma as the factor's multiplied residual has it changes by
 *
 *     dSigma + X Sigma + Sigma X',    X = F^-1 dF = 1/2 sum_k dc_k p_k q_k'
 *
 * so that the variance of a diagonal model whose row is cut does not change at all. With G = dL/dSigma of the factor at
 * fixed cuts, dL/dc_k = p_k'G Sigma q_k. Rows: p = q = e_i. Matrix functions: p = D v, q = D^-1 v, v an eigenvector of
 * U whose eigenvalue is cut. */
#include "likelihood/factor_view.h"
#include "noise/noise.h"

void ct__view_find_cuts(const ct_solver *solver, int32_t k, ct__factor_view *f)
{
    const ct_function         *function = f->model->function;
    const ct__function_cache *c = solver->functions;
    const int                  n = f->rows;
    f->cuts.count = 0;
    for (int e = 0; e < n; e++) {
        const ct__spectrum *s = function->matrix ? &c->spectrum[k] : NULL;
        const int           row = s ? 0 : e, at = f->cuts.count;
        const double        u = s ? s->lambda[e] : c->u[(int64_t)k * c->outputs + (function->outputs == 1 ? 0 : e)];
        const int           upper = u > function->u_high[row];
        if (!upper && !(u < function->u_low[row])) continue;
        if (!ct__noise_cut_slope(f->model, row, upper, f->cuts.B[at])) continue;
        for (int j = 0; j < n; j++) {
            f->cuts.p[at][j] = s ? function->unit[j] * s->V[j * n + e] : j == e;
            f->cuts.q[at][j] = s ? s->V[j * n + e] / function->unit[j] : j == e;
        }
        f->cuts.count++;
    }
}

/* w <- Sigma q_k. */
static void multiply(const ct__factor_view *f, int k, double w[CT_ROWS_MAX])
{
    for (int i = 0; i < f->rows; i++) {
        w[i] = 0;
        for (int j = 0; j < f->rows; j++) w[i] += ct_noise_covariance(f->model, i, j) * f->cuts.q[k][j];
    }
}

const double *ct__view_slope(const ct__factor_view *f, const ct_theta_jacobian *slopes, int32_t t,
                             double room[CT_NOISE_DIM_MAX * CT_NOISE_DIM_MAX])
{
    const int     n = f->rows;
    const double *dS = slopes->dSigma[t];
    if (!f->cuts.count) return dS;
    memcpy(room, dS, (size_t)(n * n) * sizeof *room);
    for (int k = 0; k < f->cuts.count; k++) {
        const double *p = f->cuts.p[k];
        double        w[CT_ROWS_MAX], dc = 0;
        multiply(f, k, w);
        for (int i = 0; i < n * n; i++) dc -= f->cuts.B[k][i] * dS[i];
        for (int i = 0; i < n; i++)
            for (int j = 0; j < n; j++) room[i * n + j] += 0.5 * dc * (p[i] * w[j] + w[i] * p[j]);
    }
    return room;
}

void ct__view_add_through_cuts(const ct__factor_view *f, const double *of_factor, double *G)
{
    const int n = f->rows;
    for (int i = 0; i < n * n; i++) G[i] += of_factor[i];
    for (int k = 0; k < f->cuts.count; k++) {
        double w[CT_ROWS_MAX], slope = 0; /* dL/dc_k */
        multiply(f, k, w);
        for (int i = 0; i < n; i++)
            for (int j = 0; j < n; j++) slope += f->cuts.p[k][i] * of_factor[i * n + j] * w[j];
        for (int i = 0; i < n * n; i++) G[i] -= slope * f->cuts.B[k][i];
    }
}
