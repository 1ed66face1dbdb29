/* repair_covariance.c: information and covariance matrices that are not positive definite.
 *
 * Estimators that write marginals or samples, single precision and few decimals leave eigenvalues at zero or
 * slightly below; other programs accept such files. With ct_read_options.repair a reader raises them: with A = V
 * diag(lambda) V' and floor = RATIO max(lambda),
 *     A <- A + sum_k max(0, floor - lambda_k) v_k v_k',
 * which keeps the other eigenvalues and all eigenvectors. This applies to a matrix that would be refused, or that is
 * nearly singular: one whose correlations, A_ij / sqrt(A_ii A_jj), have an eigenvalue below RATIO. Metres and
 * radians may differ by more than RATIO, so a matrix that is only badly scaled is kept. A matrix without a positive
 * eigenvalue stays refused. */
#include "data/data.h"
#include "base/eigen.h"

#include <math.h>

#define RATIO     1e-6 /* of the largest eigenvalue: a ratio of sigmas of a thousand             */
#define SYMMETRIC 1e-6 /* of the largest entry: beyond that a matrix is not symmetric            */

/* S <- A made exactly symmetric; 0 if it is not nearly so. */
static int symmetrise(int n, const double *A, double *S)
{
    double largest = 0;
    for (int i = 0; i < n * n; i++) largest = fmax(largest, fabs(A[i]));
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++) {
            S[i * n + j] = 0.5 * A[i * n + j] + 0.5 * A[j * n + i];
            if (!(fabs(A[i * n + j] - A[j * n + i]) <= SYMMETRIC * largest)) return 0;
        }
    return 1;
}

static ct_status check(const ct__build *b, const char *name, const char *what, int n, const double *A)
{
    ct__noise_numbers numbers;
    return !strcmp(what, CT__INFORMATION) ? ct__noise_information(name, n, A, &numbers, b->in.err)
                                          : ct__covariance_numbers(name, n, A, &numbers, b->in.err);
}

/* 1 if it is nearly singular. All diagonal entries are positive. */
static int is_nearly_singular(int n, const double *A)
{
    double C[36], lambda[CT_NOISE_DIM_MAX], V[36];
    for (int i = 0; i < n * n; i++) C[i] = A[i] / sqrt(A[i / n * (n + 1)]) / sqrt(A[i % n * (n + 1)]);
    ct__eigen_symmetric(n, C, lambda, V);
    return lambda[0] < RATIO;
}

/* Appends to the sentence that refuses the matrix. */
static ct_status refuse(const ct__build *b, ct_status status, double least, double most)
{
    ct_err *err = b->in.err;
    char    text[sizeof err->text];
    snprintf(text, sizeof text, "%s", err ? err->text : "");
    if (!(most > 0))
        return ct__lines_place(
            &b->in,
            ct_fail(err, status,
                    "%s; no eigenvalue of it is positive, so there is none that --repair could raise the others to",
                    text));
    return ct__lines_place(
        &b->in, ct_fail(err, status, "%s; its eigenvalues go from %g to %g, and --repair raises those below %g to that",
                        text, least, most, RATIO * most));
}

static void count(ct__build *b, const char *what, double least, double most)
{
    ct__repairs *r = &b->repairs;
    if (b->seq->repaired++ && least / most >= r->least / r->most) return;
    r->what = what;
    r->least = least;
    r->most = most;
    r->line = b->in.line;
}

ct_status ct__build_repair(ct__build *b, const char *name, const char *what, int n, double A[])
{
    double          S[36], B[36], lambda[CT_NOISE_DIM_MAX], V[36];
    const ct_status status = check(b, name, what, n, A);
    if (status == CT_OK && !b->repair) return CT_OK;
    if ((status != CT_OK && status != CT_E_NOISE) || n < 1 || n > CT_NOISE_DIM_MAX || !symmetrise(n, A, S))
        return ct__lines_place(&b->in, status);
    memcpy(B, S, sizeof S);
    ct__eigen_symmetric(n, B, lambda, V);
    const double least = lambda[0], most = lambda[n - 1], floor = RATIO * most;
    if (status == CT_OK && !(least < floor && is_nearly_singular(n, S))) return CT_OK;
    /* refused because of its size or a value that is not finite */
    if (most > 0 && !(least < floor)) return ct__lines_place(&b->in, status);
    if (!(most > 0) || !b->repair) return refuse(b, status, least, most);
    for (int k = 0; k < n && lambda[k] < floor; k++)
        for (int i = 0; i < n; i++)
            for (int j = 0; j < n; j++) S[i * n + j] += (floor - lambda[k]) * V[i * n + k] * V[j * n + k];
    memcpy(A, S, (size_t)(n * n) * sizeof *A);
    for (int i = 0; i < n; i++) /* triple products in another order are not symmetric to the bit */
        for (int j = 0; j < i; j++) A[i * n + j] = A[j * n + i];
    count(b, what, least, most);
    return ct__lines_place(&b->in, check(b, name, what, n, A));
}

ct_status ct__build_repair_note(ct__build *b)
{
    const ct__repairs *r = &b->repairs;
    const int64_t      n = b->seq->repaired;
    char               line[48] = "";
    if (!n) return CT_OK;
    if (r->line) snprintf(line, sizeof line, ", on line %lld,", (long long)r->line);
    return ct__build_note(b,
                          "the %s of %lld %s%s was not positive definite, and is repaired: eigenvalues below %g of the "
                          "largest are raised to that; the worst%s was %g beside %g",
                          r->what, (long long)n, r->of ? r->of : "edge", n == 1 ? "" : "s", RATIO, line, r->least,
                          r->most);
}
