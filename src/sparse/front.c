/* front.c: dense elimination of one front.
 *
 *     [ A_pp A_ps b_p ]        R_pp' R_pp = A_pp,  [R_ps d_p] = R_pp'^-1 [A_ps b_p]
 *     [      U_ss u_s ]  ->    [U_ss u_s] -= R_ps' [R_ps d_p]
 *
 * row-major, upper. Small fronts (chains of poses: p = s = 3 or 6, thousands of them): pivots in strips of 6, 3, 2 or
 * 1, with constant loop bounds and access along rows. Large fronts: front_large.c.
 *
 * No BLAS: fronts are eliminated in many threads. That needs a BLAS that is thread-safe, reproducible to the bit and
 * fast at these sizes, which is not installed everywhere.
 *
 * Compiled once per vector width; the dynamic loader chooses. */
#include "sparse/cpu_dispatch.h"
#include "sparse/eliminate_inline.h"

/* From this many multiplications on, packing pays. */
#define CT_LARGE_FRONT 20000.0

/* One strip of a small front: its rows, then the pivot rows below, then the update (if U is wanted). */
CT_INLINE void small_strip(ct__dense *job, const int P, int k0, double *U, int keep)
{
    const int n = job->p + job->s + 1, below = k0 + P, s = job->s;
    double   *S = job->A + (int64_t)k0 * n;
    ct__eliminate_rows(job, P, k0, n, n, NULL);
    if (below < job->p)
        ct__rank_update(P, S + below, n, job->A + (int64_t)below * n + below, n, job->p - below, n - below, 1);
    if (U) ct__rank_update(P, S + job->p, n, U, s + 1, s, s + 1, keep);
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

void ct__dense_factor(ct__dense *job, double *U, int keep)
{
    const double p = job->p, m = job->s + 1;
    if (p * (p * p / 3 + m * (p + m)) < CT_LARGE_FRONT) factor_small(job, U, keep);
    else ct__dense_factor_large(job, U, keep);
}

void ct__front_factor(ct_sparse *sp, const ct__front *front, ct__worker *w, int zero_update, const double *original,
                      ct__team *team)
{
    double   *U = ct__update_of(sp, front, w);
    ct__dense job = {.A = sp->panel + front->panel,
                     .p = front->p,
                     .s = front->s,
                     .original = original,
                     .inverse = sp->inverse + front->scalar,
                     .tiles = w->tiles,
                     .scalar = front->scalar,
                     .weak = w->weak,
                     .weak_count = w->weak_count,
                     .team = team};
    ct__dense_factor(&job, zero_update ? NULL : U, front->update_fed);
    w->weak_count = job.weak_count;
    const int32_t n = front->p + front->s + 1;
    for (int32_t k = 0; zero_update && k < front->p; k++) /* only u_s -= R_ps' d_p remains */
        for (int32_t i = 0; i < front->s; i++)
            U[(int64_t)i * (front->s + 1) + front->s] -=
                job.A[(int64_t)k * n + front->p + i] * job.A[(int64_t)k * n + n - 1];
}
