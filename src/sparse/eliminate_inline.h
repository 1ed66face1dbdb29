/* eliminate_inline.h: elimination of a few pivots in their rows, and the update of the rows below. */
#ifndef CT_ELIMINATE_INLINE_H
#define CT_ELIMINATE_INLINE_H

#include "sparse/cpu_dispatch.h"
#include "sparse/sparse.h"

/* Eliminates pivots k0 .. k0 + P - 1 in columns up to `end`, inside their own P rows of stride n. scales, if not
 * NULL, receives 1 / R_kk of each, 0 where it is held at zero. */
CT_INLINE void ct__eliminate_rows(ct__dense *job, const int P, int k0, const int n, int end, double *scales)
{
    for (int k = k0; k < k0 + P; k++) {
        double *restrict row = job->A + (int64_t)k * n;
        const double scale = ct__pivot_inverse(job, k, row[k]);
        job->inverse[k] = scale == 0 ? 1 : scale;
        if (scales) scales[k - k0] = scale;
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
CT_INLINE void ct__rank_update(const int P, const double *restrict S, int n, double *restrict C, int ldc, int rows,
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

#endif
