/* matrix_function.c: functions whose value is a symmetric matrix U(x), for covariances whose correlations depend on the
 * situation as well.
 *
 *     Sigma(x) = F Sigma F',   F = D E D^-1,   E = exp(c(U) / 2),   D = diag(unit)
 *
 * c cuts the eigenvalues of U, so that those of D^-1 Sigma(x) D^-1 stay within the bounds. With Sigma = s D^2, as
 * learning sets it, log(D^-1 Sigma(x) D^-1) = log s + c(U(x)). U has the coordinates of base/symmetric.h.
 *
 * With U = V diag(l) V', dE = V (Phi o V'dU V) V' (Daleckii and Krein); Phi_ij is the divided difference of e^(c/2),
 * by the chain rule c[li, lj] (e^(ci/2) - e^(cj/2)) / (ci - cj). Residuals are multiplied by T = F^-1. With G =
 * dL/dSigma as they have it, dL = 2 tr(Sigma G F^-1 dF), F^-1 dF = D E^-1 dE D^-1. */
#include "base/base.h"
#include "function/function.h"

#include <math.h>

static double cut(const ct_function *f, double u) { return isnan(u) ? u : fmin(fmax(u, f->u_low[0]), f->u_high[0]); }

void ct__function_spectrum(int dim, const double u[], ct__spectrum *s)
{
    ct__sym_spectrum(dim, u, s->lambda, s->V);
}

void ct__function_root(const ct_function *f, int dim, const ct__spectrum *s, double sign, double T[CT__SYM_MAX])
{
    double e[CT__SYM_DIM_MAX] = {0};
    for (int k = 0; k < dim; k++) e[k] = exp(sign * 0.5 * cut(f, s->lambda[k]));
    ct__sym_recompose(dim, e, s->V, T);
    for (int i = 0; i < dim; i++)
        for (int j = 0; j < dim; j++) T[i * dim + j] *= f->unit[i] / f->unit[j];
}

double ct__function_least(const ct_function *f, const ct__spectrum *s) { return cut(f, s->lambda[0]); }

int ct__function_is_cut(const ct_function *f, int dim, const ct__spectrum *s)
{
    return s->lambda[0] < f->u_low[0] || s->lambda[dim - 1] > f->u_high[0];
}

/* Phi_ij / e_j, e_j = e^(cj/2). */
static double slope(const ct_function *f, double li, double lj)
{
    const double ci = cut(f, li), cj = cut(f, lj);
    const double inside = li == lj ? li >= f->u_low[0] && li <= f->u_high[0] : (ci - cj) / (li - lj);
    return inside * 0.5 * ct__exp_difference(0.5 * (ci - cj), 0);
}

void ct__function_matrix_gradient(const ct_function *f, int dim, const ct__spectrum *s, const double *SG, double d[])
{
    double AV[CT__SYM_MAX], N[CT__SYM_MAX], X[CT__SYM_MAX];
    for (int i = 0; i < dim; i++) /* A V, A = D^-1 (Sigma G) D */
        for (int j = 0; j < dim; j++) {
            AV[i * dim + j] = 0;
            for (int k = 0; k < dim; k++)
                AV[i * dim + j] += SG[i * dim + k] * f->unit[k] / f->unit[i] * s->V[k * dim + j];
        }
    for (int i = 0; i < dim; i++)
        for (int j = 0; j < dim; j++) {
            N[i * dim + j] = 0;
            for (int k = 0; k < dim; k++) N[i * dim + j] += s->V[k * dim + i] * AV[k * dim + j];
        }
    for (int i = 0; i < dim; i++)
        for (int j = 0; j < dim; j++)
            X[i * dim + j] = N[i * dim + j] * slope(f, s->lambda[i], s->lambda[j]) +
                             N[j * dim + i] * slope(f, s->lambda[j], s->lambda[i]);
    ct__sym_pack(dim, X, d);
    ct__sym_rotate(dim, s->V, 1, d);
}

void ct__function_matrix_slope(const ct_function *f, int dim, const ct__spectrum *s, int output, double X[CT__SYM_MAX])
{
    double x[CT__SYM_PACKED_MAX] = {0}, B[CT__SYM_MAX], BV[CT__SYM_MAX];
    x[output] = 1;
    ct__sym_rotate(dim, s->V, 0, x);
    ct__sym_unpack(dim, x, B);
    for (int i = 0; i < dim; i++) /* row i of E^-1 Phi: over e_i */
        for (int j = 0; j < dim; j++) B[i * dim + j] *= slope(f, s->lambda[j], s->lambda[i]);
    for (int i = 0; i < dim; i++)
        for (int j = 0; j < dim; j++) {
            BV[i * dim + j] = 0;
            for (int k = 0; k < dim; k++) BV[i * dim + j] += B[i * dim + k] * s->V[j * dim + k];
        }
    for (int i = 0; i < dim; i++)
        for (int j = 0; j < dim; j++) {
            double sum = 0;
            for (int k = 0; k < dim; k++) sum += s->V[i * dim + k] * BV[k * dim + j];
            X[i * dim + j] = sum * f->unit[i] / f->unit[j];
        }
}

void ct__function_scale(const ct_function *f, int dim, const double x[], double sign, ct__scaling *T)
{
    double       u[CT__SYM_PACKED_MAX];
    ct__spectrum s;
    T->full = f->matrix;
    if (f->matrix) {
        ct_function_evaluate(f, x, u);
        ct__function_spectrum(dim, u, &s);
        ct__function_root(f, dim, &s, sign, T->t);
        return;
    }
    ct__function_rows(f, dim, x, u, NULL);
    for (int i = 0; i < dim; i++) T->t[i] = exp(sign * 0.5 * u[i]);
}
