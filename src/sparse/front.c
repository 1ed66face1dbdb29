/* front.c: dense elimination of one front.
 *
 *     [ A_pp A_ps b_p ]        R_pp' R_pp = A_pp,  [R_ps d_p] = R_pp'^-1 [A_ps b_p]
 *     [      U_ss u_s ]  ->    [U_ss u_s] -= R_ps' [R_ps d_p]
 *
 * row-major, upper. Two ways. Small fronts (chains of poses: p = s = 3 or 6, by the thousand): pivots
 * in strips of 6, 3, 2 or 1 whose loops have constant bounds, every access along a row. Large ones:
 * strips of CT_STRIP pivots, the triangle by the same code, the rest by BLAS (row-major upper is
 * BLAS' column-major lower).
 *
 * Compiled once per vector width; the processor picks at load time. */
#include "sparse/sparse.h"

#include "sparse/clones.h"

#include <cblas.h>

/* Pivots per strip in large fronts, and from where on a front is large: below about this many
 * multiplications BLAS spends more on being called than on work. */
#define CT_STRIP       24
#define CT_LARGE_FRONT 40000.0

typedef struct {
    double       *A;         /* p rows x n, n = p + s + 1 */
    int           p, n;
    double       *original;  /* pivots before elimination; -1 once a pivot is held at zero */
    int32_t       scalar;    /* eliminated scalar of pivot 0 */
    ct_sparse    *sp;
} strip_job;

/* Eliminates pivots k0 .. k0 + P - 1 in columns up to `end`, inside their own P rows of stride n. */
CT_INLINE void eliminate_rows(strip_job *job, const int P, int k0, const int n, int end)
{
    for (int k = k0; k < k0 + P; k++) {
        double *restrict row = job->A + (int64_t)k * n;
        const double scale = ct__pivot_inverse(job->sp, job->scalar + k, job->original[k], row[k]);
        job->sp->inverse[job->scalar + k] = scale == 0 ? 1 : scale;
        if (scale == 0) { /* held at zero: R_kk = 1, nothing beside it */
            job->original[k] = -1;
            memset(row + k, 0, (size_t)(n - k) * sizeof *row);
            row[k] = 1;
            continue;
        }
        for (int j = k; j < end; j++) row[j] *= scale;
        for (int i = k + 1; i < k0 + P; i++) {
            double *restrict below = job->A + (int64_t)i * n;
            const double f = row[i];
            for (int j = i; j < end; j++) below[j] -= f * row[j];
        }
    }
}

/* C(i, i..) = keep C(i, i..) - sum_k S(k, i) S(k, i..) for rows i in [0, rows), columns to `cols`: a rank-P
 * update of an upper triangle; S has P rows of stride n, C rows of stride ldc. */
CT_INLINE void rank_update(const int P, const double *restrict S, int n, double *restrict C, int ldc, int rows, int cols, int keep)
{
    for (int i = 0; i < rows; i++) {
        double *restrict c = C + (int64_t)i * ldc;
        double f[6];
        for (int k = 0; k < P; k++) f[k] = S[(int64_t)k * n + i];
        if (keep)
            for (int j = i; j < cols; j++) {
                double sum = f[0] * S[j];
                for (int k = 1; k < P; k++) sum += f[k] * S[(int64_t)k * n + j];
                c[j] -= sum;
            }
        else
            for (int j = i; j < cols; j++) {
                double sum = f[0] * S[j];
                for (int k = 1; k < P; k++) sum += f[k] * S[(int64_t)k * n + j];
                c[j] = -sum;
            }
    }
}

/* One strip of a small front: its rows, then the pivot rows below, then the update (if U is wanted). */
CT_INLINE void small_strip(strip_job *job, const int P, int k0, double *U, int keep)
{
    const int n = job->n, below = k0 + P, s = n - job->p - 1;
    double   *S = job->A + (int64_t)k0 * n;
    eliminate_rows(job, P, k0, n, n);
    if (below < job->p) rank_update(P, S + below, n, job->A + (int64_t)below * n + below, n, job->p - below, n - below, 1);
    if (U) rank_update(P, S + job->p, n, U, s + 1, s, s + 1, keep);
}

CT_CLONES static void factor_small(strip_job *job, double *U, int keep)
{
    for (int k0 = 0; k0 < job->p;) {
        const int left = job->p - k0;
        if (left >= 6) small_strip(job, 6, k0, U, keep), k0 += 6;
        else if (left >= 3) small_strip(job, 3, k0, U, keep), k0 += 3;
        else if (left == 2) small_strip(job, 2, k0, U, keep), k0 += 2;
        else small_strip(job, 1, k0, U, keep), k0 += 1;
        keep = 1;
    }
}

/* The triangle of a strip of a large front. */
CT_CLONES static void factor_triangle(strip_job *job, int k0, int strip)
{
    const int end = k0 + strip, n = job->n;
    for (int k = k0; k < end;) {
        const int P = end - k >= 6 ? 6 : 1;
        if (P == 6) eliminate_rows(job, 6, k, n, end);
        else eliminate_rows(job, 1, k, n, end);
        const double *S = job->A + (int64_t)k * n;
        double       *C = job->A + (int64_t)(k + P) * n + (k + P);
        if (P == 6) rank_update(6, S + k + P, n, C, n, end - k - P, end - k - P, 1);
        else rank_update(1, S + k + P, n, C, n, end - k - P, end - k - P, 1);
        k += P;
    }
}

/* Rows held at zero are so up to the end of their strip; carry that on to the end of the row. */
static void hold_rows(strip_job *job, int k0, int strip)
{
    for (int k = k0; k < k0 + strip; k++)
        if (job->original[k] < 0) memset(job->A + (int64_t)k * job->n + k0 + strip, 0, (size_t)(job->n - k0 - strip) * sizeof *job->A);
}

static void factor_large(strip_job *job, double *U, int keep)
{
    const int n = job->n, p = job->p, s = n - p - 1;
    for (int k0 = 0; k0 < p; k0 += CT_STRIP) {
        const int strip = CT_MIN(CT_STRIP, p - k0), below = k0 + strip, rows = p - below;
        double   *S = job->A + (int64_t)k0 * n;
        factor_triangle(job, k0, strip);
        cblas_dtrsm(CblasRowMajor, CblasLeft, CblasUpper, CblasTrans, CblasNonUnit, strip, n - below, 1, S + k0, n, S + below, n);
        hold_rows(job, k0, strip);
        if (rows) {
            double *C = job->A + (int64_t)below * n;
            cblas_dsyrk(CblasRowMajor, CblasUpper, CblasTrans, rows, strip, -1, S + below, n, 1, C + below, n);
            cblas_dgemm(CblasRowMajor, CblasTrans, CblasNoTrans, rows, s + 1, strip, -1, S + below, n, S + p, n, 1, C + p, n);
        }
    }
    if (!s || !U) return;
    const double *S = job->A + p;
    cblas_dsyrk(CblasRowMajor, CblasUpper, CblasTrans, s, p, -1, S, n, keep, U, s + 1);
    cblas_dgemv(CblasRowMajor, CblasTrans, p, s, -1, S, n, S + s, n, keep, U + s, s + 1);
}

void ct__front_factor(ct_sparse *sp, const ct__front *front, int spent, double *original)
{
    double   *U = sp->stack + front->update;
    strip_job job = {.A = sp->panel + front->panel, .p = front->p, .n = front->p + front->s + 1, .original = original, .scalar = front->scalar, .sp = sp};
    const double p = front->p, m = front->s + 1;
    if (p * (p * p / 3 + m * (p + m)) < CT_LARGE_FRONT) factor_small(&job, spent ? NULL : U, front->update_fed);
    else factor_large(&job, spent ? NULL : U, front->update_fed);
    for (int32_t k = 0; spent && k < front->p; k++) /* u_s -= R_ps' d_p is all there is */
        for (int32_t i = 0; i < front->s; i++)
            U[(int64_t)i * (front->s + 1) + front->s] -= job.A[(int64_t)k * job.n + front->p + i] * job.A[(int64_t)k * job.n + job.n - 1];
}
