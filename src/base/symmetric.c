/* symmetric.c: symmetric matrices as vectors; their exponential and logarithm, and the derivative of the exponential.
 *
 * exp L = V diag(e^lambda) V' for L = V diag(lambda) V'. Its derivative in direction X is (Daleckii and Krein)
 *     D exp(L)[X] = V (Phi o V'XV) V',   Phi_ij = (e^li - e^lj) / (li - lj),   Phi_ii = e^li,
 * where o is the entrywise product. It is symmetric in the inner product tr(XY), which is that of the packed
 * vectors. So the same formula converts a gradient in Sigma to one in log Sigma, and with 1/Phi back. */
#include "base/symmetric.h"
#include "base/base.h"
#include "base/eigen.h"

#include <float.h>
#include <math.h>

#define SQRT2 1.41421356237309504880

void ct__sym_unpack(int dim, const double *x, double *X)
{
    for (int i = 0; i < dim; i++)
        for (int j = i; j < dim; j++, x++) X[i * dim + j] = X[j * dim + i] = i == j ? *x : *x / SQRT2;
}

void ct__sym_pack(int dim, const double *X, double *x)
{
    for (int i = 0; i < dim; i++)
        for (int j = i; j < dim; j++, x++) *x = i == j ? X[i * dim + j] : X[i * dim + j] * SQRT2;
}

void ct__sym_spectrum(int dim, const double *x, double lambda[CT__SYM_DIM_MAX], double V[CT__SYM_MAX])
{
    double X[CT__SYM_MAX];
    ct__sym_unpack(dim, x, X);
    ct__eigen_symmetric(dim, X, lambda, V);
}

void ct__sym_recompose(int dim, const double *lambda, const double *V, double *X)
{
    for (int i = 0; i < dim; i++)
        for (int j = i; j < dim; j++) {
            double s = 0;
            for (int k = 0; k < dim; k++) s += V[i * dim + k] * lambda[k] * V[j * dim + k];
            X[i * dim + j] = X[j * dim + i] = s;
        }
}

void ct__sym_rotate(int dim, const double *V, int back, double *x)
{
    double X[CT__SYM_MAX], XU[CT__SYM_MAX], U[CT__SYM_MAX];
    ct__sym_unpack(dim, x, X);
    for (int i = 0; i < dim; i++)
        for (int j = 0; j < dim; j++) U[i * dim + j] = back ? V[j * dim + i] : V[i * dim + j];
    for (int i = 0; i < dim; i++)
        for (int j = 0; j < dim; j++) {
            double s = 0;
            for (int k = 0; k < dim; k++) s += X[i * dim + k] * U[k * dim + j];
            XU[i * dim + j] = s;
        }
    for (int i = 0; i < dim; i++)
        for (int j = i; j < dim; j++) { /* U'XU */
            double s = 0;
            for (int k = 0; k < dim; k++) s += U[k * dim + i] * XU[k * dim + j];
            X[i * dim + j] = s;
        }
    ct__sym_pack(dim, X, x);
}

void ct__sym_exp(int dim, double *x)
{
    double lambda[CT__SYM_DIM_MAX], V[CT__SYM_MAX], X[CT__SYM_MAX];
    ct__sym_spectrum(dim, x, lambda, V);
    for (int k = 0; k < dim; k++) lambda[k] = exp(lambda[k]);
    ct__sym_recompose(dim, lambda, V, X);
    ct__sym_pack(dim, X, x);
}

void ct__sym_log(int dim, double *x)
{
    double lambda[CT__SYM_DIM_MAX], V[CT__SYM_MAX], X[CT__SYM_MAX];
    ct__sym_spectrum(dim, x, lambda, V);
    for (int k = 0; k < dim; k++) lambda[k] = log(lambda[k] > 0 ? lambda[k] : DBL_EPSILON * lambda[dim - 1]);
    ct__sym_recompose(dim, lambda, V, X);
    ct__sym_pack(dim, X, x);
}

/* From the larger of the two down: no cancellation, and no overflow unless e^max is one. */
double ct__exp_difference(double a, double b)
{
    const double high = CT_MAX(a, b), gap = fabs(a - b);
    return gap == 0 ? exp(high) : exp(high) * (-expm1(-gap) / gap);
}

void ct__sym_dexp(int dim, const double *lambda, const double *V, int inverse, double *x)
{
    ct__sym_rotate(dim, V, 0, x);
    double *entry = x;
    for (int i = 0; i < dim; i++)
        for (int j = i; j < dim; j++, entry++) {
            const double phi = ct__exp_difference(lambda[i], lambda[j]);
            *entry = inverse ? *entry / phi : *entry * phi;
        }
    ct__sym_rotate(dim, V, 1, x);
}
