/* covariance.c: from variances, a covariance or an information matrix to square-root information.
 *
 * R is upper triangular with R'R = Sigma^-1. From a covariance, factorise in reversed order,
 *     Sigma = U U',  U upper triangular,   so that   R = U^-1   and   R'R = U^-T U^-1 = Sigma^-1:
 * one triangular inverse and no explicit Sigma^-1, whose forming would square the condition number.
 * U is the Cholesky factor of Sigma with rows and columns in reversed order, reversed back.
 * From information, R = L' with L L' the Cholesky factorisation, and Sigma = R^-1 R^-T.
 *
 * Cholesky is indifferent to the scale of the coordinates: pivot j is the variance of coordinate j
 * given those before it, compared with its variance alone. So diag(1e-12, 1e12) is as good as the
 * identity, and correlations of one to rounding are not positive definite.
 */
#include "noise/noise.h"
#include "base/base.h"

#include <float.h>
#include <math.h>

/* The gradient of a loss divides by the square of a variance, and the Hessian of the outer problem
 * by its product with another: both are normal numbers within these. */
#define VARIANCE_MIN 1e-150
#define VARIANCE_MAX 1e150

/* |a_ij - a_ji| allowed, over sqrt(a_ii a_jj): asymmetry of single-precision arithmetic. */
#define SYMMETRY 1e-6

static ct_status check_dim(const char *name, int dim, ct_err *err)
{
    if (dim >= 1 && dim <= CT_NOISE_DIM_MAX) return CT_OK;
    return ct_fail(err, CT_E_NOISE, "noise model \"%s\": dimension is %d; it must be 1 to %d", name, dim,
                   CT_NOISE_DIM_MAX);
}

static ct_status check_variance(const char *name, const char *what, int i, double v, ct_err *err)
{
    if (!(v > 0) || isinf(v))
        return ct_fail(err, CT_E_NOISE, "noise model \"%s\": %s of coordinate %d is %g; it must be positive and finite",
                       name, what, i, v);
    if (v < VARIANCE_MIN || v > VARIANCE_MAX)
        return ct_fail(err, CT_E_NOISE,
                       "noise model \"%s\": %s of coordinate %d is %g; it must lie between %g and %g, for its square "
                       "and inverse square to be numbers",
                       name, what, i, v, VARIANCE_MIN, VARIANCE_MAX);
    return CT_OK;
}

static const char *diagonal_name(const char *what) { return !strcmp(what, "covariance") ? "variance" : what; }

/* S = A made exactly symmetric. Checks everything about A that needs no factorisation. */
static ct_status check_matrix(const char *name, const char *what, int n, const double *A, double *S, ct_err *err)
{
    for (int i = 0; i < n; i++) CT_TRY(check_variance(name, diagonal_name(what), i, A[i * n + i], err));
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++) {
            const double a = A[i * n + j], b = A[j * n + i];
            if (!isfinite(a))
                return ct_fail(err, CT_E_NOISE, "noise model \"%s\": %s entry (%d, %d) is %g; it must be finite", name,
                               what, i, j, a);
            if (isfinite(b) && fabs(a - b) > SYMMETRY * sqrt(A[i * n + i]) * sqrt(A[j * n + j]))
                return ct_fail(
                    err, CT_E_NOISE,
                    "noise model \"%s\": %s is not symmetric: entry (%d, %d) is %.9g, entry (%d, %d) is %.9g", name,
                    what, i, j, a, j, i, b);
            S[i * n + j] = a == b ? a : 0.5 * a + 0.5 * b;
        }
    return CT_OK;
}

/* A = L L', L lower triangular with zeros above. Returns -1, or the coordinate whose pivot is not
 * positive beyond rounding, with that pivot. */
static int cholesky(int n, const double *A, double *L, double *pivot)
{
    for (int j = 0; j < n; j++) {
        double p = A[j * n + j];
        for (int k = 0; k < j; k++) p -= L[j * n + k] * L[j * n + k];
        *pivot = p;
        if (!(p > 4 * n * DBL_EPSILON * A[j * n + j])) return j;
        L[j * n + j] = sqrt(p);
        for (int i = 0; i < j; i++) L[i * n + j] = 0;
        for (int i = j + 1; i < n; i++) {
            double s = A[i * n + j];
            for (int k = 0; k < j; k++) s -= L[i * n + k] * L[j * n + k];
            L[i * n + j] = s / L[j * n + j];
        }
    }
    return -1;
}

static ct_status not_definite(const char *name, const char *what, int i, const char *given, double pivot, ct_err *err)
{
    return ct_fail(
        err, CT_E_NOISE,
        "noise model \"%s\": %s is not positive definite: it fails at coordinate %d, whose %s given those %s it is %g",
        name, what, i, diagonal_name(what), given, pivot);
}

/* B = A with rows and columns in reversed order. */
static void reverse(int n, const double *A, double *B)
{
    for (int i = 0; i < n * n; i++) B[i] = A[n * n - 1 - i];
}

static void transpose(int n, const double *A, double *B)
{
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++) B[i * n + j] = A[j * n + i];
}

/* V = U^-1 for upper triangular U, column by column from the diagonal up. */
static void invert_upper(int n, const double *U, double *V)
{
    for (int j = 0; j < n; j++) {
        for (int i = j + 1; i < n; i++) V[i * n + j] = 0;
        V[j * n + j] = 1 / U[j * n + j];
        for (int i = j - 1; i >= 0; i--) {
            double s = 0;
            for (int k = i + 1; k <= j; k++) s += U[i * n + k] * V[k * n + j];
            V[i * n + j] = -s / U[i * n + i];
        }
    }
}

ct_status ct__noise_isotropic(const char *name, int dim, double variance, ct__noise_numbers *out, ct_err *err)
{
    CT_TRY(check_dim(name, dim, err));
    CT_TRY(check_variance(name, "variance", 0, variance, err));
    out->kind = CT_NOISE_ISOTROPIC;
    out->dim = dim;
    for (int i = 0; i < dim; i++) out->covariance[i] = variance, out->sqrt_info[i] = 1 / sqrt(variance);
    return CT_OK;
}

ct_status ct__noise_diagonal(const char *name, int dim, const double variance[], ct__noise_numbers *out, ct_err *err)
{
    CT_TRY(check_dim(name, dim, err));
    for (int i = 0; i < dim; i++) CT_TRY(check_variance(name, "variance", i, variance[i], err));
    out->kind = CT_NOISE_DIAGONAL;
    out->dim = dim;
    for (int i = 0; i < dim; i++) out->covariance[i] = variance[i], out->sqrt_info[i] = 1 / sqrt(variance[i]);
    return CT_OK;
}

ct_status ct__noise_full(const char *name, int dim, const double covariance[], ct__noise_numbers *out, ct_err *err)
{
    double S[CT__NOISE_NUMBERS_MAX] = {0}, L[CT__NOISE_NUMBERS_MAX] = {0}, U[CT__NOISE_NUMBERS_MAX] = {0}, pivot;
    CT_TRY(check_dim(name, dim, err));
    CT_TRY(check_matrix(name, "covariance", dim, covariance, S, err));
    int bad = cholesky(dim, S, L, &pivot); /* for the message: the first leading minor that is not positive */
    if (bad >= 0) return not_definite(name, "covariance", bad, "before", pivot, err);
    reverse(dim, S, U);
    bad = cholesky(dim, U, L, &pivot);
    if (bad >= 0) return not_definite(name, "covariance", dim - 1 - bad, "after", pivot, err);
    reverse(dim, L, U);                        /* Sigma = U U' */
    invert_upper(dim, U, out->sqrt_info);      /* R = U^-1     */
    memcpy(out->covariance, S, sizeof S);
    out->kind = CT_NOISE_FULL;
    out->dim = dim;
    return CT_OK;
}

static int is_diagonal(int n, const double *A)
{
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++)
            if (i != j && A[i * n + j] != 0) return 0;
    return 1;
}

ct_status ct__noise_information(const char *name, int dim, const double information[], ct__noise_numbers *out,
                                ct_err *err)
{
    double A[CT__NOISE_NUMBERS_MAX] = {0}, L[CT__NOISE_NUMBERS_MAX] = {0}, U[CT__NOISE_NUMBERS_MAX] = {0}, pivot;
    CT_TRY(check_dim(name, dim, err));
    CT_TRY(check_matrix(name, "information", dim, information, A, err));
    const int bad = cholesky(dim, A, L, &pivot);
    if (bad >= 0) return not_definite(name, "information", bad, "before", pivot, err);
    out->dim = dim;
    if (is_diagonal(dim, A)) {
        out->kind = CT_NOISE_DIAGONAL;
        for (int i = 0; i < dim; i++) out->covariance[i] = 1 / A[i * dim + i], out->sqrt_info[i] = L[i * dim + i];
        return CT_OK;
    }
    out->kind = CT_NOISE_FULL;
    transpose(dim, L, out->sqrt_info);         /* R = L'           */
    invert_upper(dim, out->sqrt_info, U);      /* U = R^-1         */
    for (int i = 0; i < dim; i++)
        for (int j = i; j < dim; j++) {
            double s = 0;                      /* Sigma = U U'     */
            for (int k = j; k < dim; k++) s += U[i * dim + k] * U[j * dim + k];
            out->covariance[i * dim + j] = out->covariance[j * dim + i] = s;
        }
    for (int i = 0; i < dim; i++) CT_TRY(check_variance(name, "variance", i, out->covariance[i * dim + i], err));
    return CT_OK;
}
