/* front.c: dense elimination of one front.
 *
 *     [ A_pp A_ps b_p ]        R_pp' R_pp = A_pp,  [R_ps d_p] = R_pp'^-1 [A_ps b_p]
 *     [      U_ss u_s ]  ->    [U_ss u_s] -= R_ps' [R_ps d_p]
 *
 * row-major, upper. Small fronts (chains of poses: p = s = 3 or 6, thousands of them): pivots in strips of 6, 3, 2 or
 * 1, with constant loop bounds and access along rows. Large fronts: strips of CT_STRIP pivots, whose update of all
 * later rows uses packed tiles of 4 x 8 in registers.
 *
 * No BLAS: fronts are eliminated in many threads. That needs a BLAS that is thread-safe, reproducible to the bit and
 * fast at these sizes, which is not installed everywhere.
 *
 * Compiled once per vector width; the dynamic loader chooses. */
#include "sparse/cpu_dispatch.h"
#include "sparse/sparse.h"

/* From this many multiplications on, packing pays. */
#define CT_LARGE_FRONT 20000.0

/* Eliminates pivots k0 .. k0 + P - 1 in columns up to `end`, inside their own P rows of stride n. */
CT_INLINE void eliminate_rows(ct__dense *job, const int P, int k0, const int n, int end)
{
    for (int k = k0; k < k0 + P; k++) {
        double *restrict row = job->A + (int64_t)k * n;
        const double scale = ct__pivot_inverse(job, k, row[k]);
        job->inverse[k] = scale == 0 ? 1 : scale;
        if (scale == 0) { /* held at zero: R_kk = 1, nothing beside it */
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
CT_INLINE void rank_update(const int P, const double *restrict S, int n, double *restrict C, int ldc, int rows,
                           int cols, int keep)
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
CT_INLINE void small_strip(ct__dense *job, const int P, int k0, double *U, int keep)
{
    const int n = job->p + job->s + 1, below = k0 + P, s = job->s;
    double   *S = job->A + (int64_t)k0 * n;
    eliminate_rows(job, P, k0, n, n);
    if (below < job->p)
        rank_update(P, S + below, n, job->A + (int64_t)below * n + below, n, job->p - below, n - below, 1);
    if (U) rank_update(P, S + job->p, n, U, s + 1, s, s + 1, keep);
}

CT_CLONES static void factor_small(ct__dense *job, double *U, int keep)
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

/* ---- large fronts ---- */

typedef double v8 __attribute__((vector_size(64)));

/* Columns [from, from + cols) of K rows of stride n, as tiles of 8 columns: tile, row, column; padded with zeros. */
CT_INLINE void pack_tiles(const double *S, int n, int K, int from, int cols, double *restrict tiles)
{
    for (int j = 0; j < cols; j += 8, tiles += (int64_t)8 * K) {
        const int width = cols - j < 8 ? cols - j : 8;
        for (int k = 0; k < K; k++)
            for (int c = 0; c < 8; c++) tiles[8 * k + c] = c < width ? S[(int64_t)k * n + from + j + c] : 0;
    }
}

/* C(i, j) = keep C(i, j) - sum_k a(k, i) b(k, j) for 4 rows and `width` of 8 columns. */
CT_INLINE void tile_update(int K, const double *restrict a, const double *restrict b, double *restrict C, int ldc,
                           int rows, int width, int keep)
{
    v8 sum[4] = {{0}};
    for (int k = 0; k < K; k++) {
        v8 row;
        memcpy(&row, b + 8 * k, sizeof row);
        for (int i = 0; i < 4; i++) sum[i] += a[8 * k + i] * row;
    }
    for (int i = 0; i < rows; i++, C += ldc) {
        double part[8];
        memcpy(part, &sum[i], sizeof part);
        if (width == 8 && keep)
            for (int j = 0; j < 8; j++) C[j] -= part[j];
        else
            for (int j = 0; j < width; j++) C[j] = keep ? C[j] - part[j] : -part[j];
    }
}

/* All tiles of C, rows x cols, that reach its upper triangle (`upper`) or simply all. What they write below it is
 * never read. */
CT_INLINE void tiled_update(int K, const double *a, int rows, const double *b, int cols, double *C, int ldc, int upper,
                            int keep)
{
    for (int j = 0; j < cols; j += 8) {
        const int last = upper ? CT_MIN(rows, j + 8) : rows;
        for (int i = 0; i < last; i += 4)
            tile_update(K, a + (int64_t)(i / 8) * 8 * K + i % 8, b + (int64_t)j * K, C + (int64_t)i * ldc + j, ldc,
                        CT_MIN(4, rows - i), CT_MIN(8, cols - j), keep);
    }
}

/* The rows of a strip, eliminated among themselves over their whole width. */
CT_INLINE void eliminate_strip(ct__dense *job, int k0, int strip)
{
    const int end = k0 + strip, n = job->p + job->s + 1;
    for (int k = k0; k < end;) {
        const int P = end - k >= 6 ? 6 : 1;
        if (P == 6) eliminate_rows(job, 6, k, n, n);
        else eliminate_rows(job, 1, k, n, n);
        const double *S = job->A + (int64_t)k * n;
        double       *C = job->A + (int64_t)(k + P) * n + (k + P);
        if (P == 6) rank_update(6, S + k + P, n, C, n, end - k - P, n - k - P, 1);
        else rank_update(1, S + k + P, n, C, n, end - k - P, n - k - P, 1);
        k += P;
    }
}

CT_CLONES static void factor_large(ct__dense *job, double *U, int keep)
{
    const int p = job->p, s = job->s, n = p + s + 1;
    for (int k0 = 0; k0 < p; k0 += CT_STRIP, keep = 1) {
        const int strip = CT_MIN(CT_STRIP, p - k0), below = k0 + strip, rows = p - below;
        double   *S = job->A + (int64_t)k0 * n, *C = job->A + (int64_t)below * n;
        double   *pivots = job->tiles, *others = pivots + (int64_t)((rows + 7) / 8) * 8 * strip;
        eliminate_strip(job, k0, strip);
        pack_tiles(S, n, strip, below, rows, pivots);
        pack_tiles(S, n, strip, p, s + 1, others);
        tiled_update(strip, pivots, rows, pivots, rows, C + below, n, 1, 1);
        tiled_update(strip, pivots, rows, others, s + 1, C + p, n, 0, 1);
        if (U) tiled_update(strip, others, s, others, s + 1, U, s + 1, 1, keep);
    }
}

void ct__dense_factor(ct__dense *job, double *U, int keep)
{
    const double p = job->p, m = job->s + 1;
    if (p * (p * p / 3 + m * (p + m)) < CT_LARGE_FRONT) factor_small(job, U, keep);
    else factor_large(job, U, keep);
}

void ct__front_factor(ct_sparse *sp, const ct__front *front, int zero_update, const double *original)
{
    double   *U = sp->stack + front->update;
    ct__dense job = {.A = sp->panel + front->panel,
                     .p = front->p,
                     .s = front->s,
                     .original = original,
                     .inverse = sp->inverse + front->scalar,
                     .tiles = sp->tiles,
                     .scalar = front->scalar,
                     .weak = sp->weak,
                     .weak_count = sp->weak_count};
    ct__dense_factor(&job, zero_update ? NULL : U, front->update_fed);
    sp->weak_count = job.weak_count;
    const int32_t n = front->p + front->s + 1;
    for (int32_t k = 0; zero_update && k < front->p; k++) /* only u_s -= R_ps' d_p remains */
        for (int32_t i = 0; i < front->s; i++)
            U[(int64_t)i * (front->s + 1) + front->s] -=
                job.A[(int64_t)k * n + front->p + i] * job.A[(int64_t)k * n + n - 1];
}
