/* planar_chain.c: elimination of chains of planar poses, each front in registers.
 *
 * A path in the plane is a chain of fronts with 3 pivots and 3 separators, each of which depends on the one before. In
 * the general code most of their cost is overhead for small sizes. Here
 *
 *     A = H_aa + lambda D + U_child,   B = [H_ab, -g_a + u_child],   U = H_bb - B' A^-1 B
 *
 * with rows of B four wide: one vector each. A is factored as L'D L, so only divisions are on the critical path; the
 * square roots for R are computed beside it. */
#include "sparse/cpu_dispatch.h"
#include "sparse/sparse.h"

typedef double v4 __attribute__((vector_size(32)));

int ct__is_planar_chain(const ct_sparse *sp, const ct__front *front)
{
    const ct__hessian_block *block = sp->block + front->block;
    if (front->pivots != 1 || front->separators != 1 || front->p != 3 || front->s != 3 || front->zero_update) return 0;
    if (front[1].block - front->block != 3 || block[1].row == block[1].col) return 0; /* aa, ab, bb */
    for (int32_t c = front->child; c != -1; c = sp->front[c].sibling)
        if (sp->front[c].separators != 1 || sp->interval[sp->front[c].interval].to != 0) return 0;
    return 1;
}

CT_CLONES int ct__planar_chain_factor(ct_sparse *sp, const ct__front *front, const ct__worker *w, double lambda,
                                      const double *scale)
{
    const double *h = sp->h + sp->block[front->block].at; /* aa, ab, bb: 27 numbers in a row */
    const int32_t column = sp->column[sp->order[front->first]];
    const double *g = sp->g + column, *diagonal = sp->diagonal + column;
    double        damping[3] = {0, 0, 0};
    for (int i = 0; i < 3 && lambda != 0; i++) damping[i] = lambda * (scale ? scale[column + i] : 1);
    double least[3]; /* a pivot that is not larger is weak */
    for (int i = 0; i < 3; i++) least[i] = CT_MAX(CT_WEAK_RATIO * (diagonal[i] + damping[i]), 0);
    double a00 = h[0] + damping[0], a01 = h[1], a02 = h[2], a11 = h[4] + damping[1], a12 = h[5],
           a22 = h[8] + damping[2];
    v4     b0 = {h[9], h[10], h[11], -g[0]}, b1 = {h[12], h[13], h[14], -g[1]}, b2 = {h[15], h[16], h[17], -g[2]};
    for (int32_t c = front->child; c != -1; c = sp->front[c].sibling) {
        const double *u = ct__update_of(sp, &sp->front[c], w);
        b0[3] += u[3], b1[3] += u[7], b2[3] += u[11];
        if (ct__has_zero_update(&sp->front[c])) continue;
        a00 += u[0], a01 += u[1], a02 += u[2], a11 += u[5], a12 += u[6], a22 += u[10];
    }
    const double i0 = 1 / a00, l01 = a01 * i0, l02 = a02 * i0;
    const double c11 = a11 - a01 * l01, c12 = a12 - a01 * l02, i1 = 1 / c11, l12 = c12 * i1;
    const double c22 = a22 - a02 * l02 - c12 * l12, i2 = 1 / c22;
    if (!(a00 > least[0] && c11 > least[1] && c22 > least[2])) return 0;
    b1 -= l01 * b0;
    b2 -= l02 * b0 + l12 * b1;
    double  *U = ct__update_of(sp, front, w);
    const v4 e0 = i0 * b0, e1 = i1 * b1, e2 = i2 * b2;
    for (int i = 0; i < 3; i++) {
        const v4 own = {h[18 + 3 * i], h[19 + 3 * i], h[20 + 3 * i], 0};
        const v4 left = own - (b0[i] * e0 + b1[i] * e1 + b2[i] * e2);
        memcpy(U + 4 * i, &left, sizeof left);
    }
    const double s0 = sqrt(i0), s1 = sqrt(i1), s2 = sqrt(i2);
    double      *R = sp->panel + front->panel, *inverse = sp->inverse + front->scalar;
    R[0] = a00 * s0, R[1] = a01 * s0, R[2] = a02 * s0;
    R[8] = c11 * s1, R[9] = c12 * s1;
    R[16] = c22 * s2;
    b0 *= s0, b1 *= s1, b2 *= s2;
    memcpy(R + 3, &b0, sizeof b0);
    memcpy(R + 10, &b1, sizeof b1);
    memcpy(R + 17, &b2, sizeof b2);
    inverse[0] = s0, inverse[1] = s1, inverse[2] = s2;
    return 1;
}

/* x_p = R_pp^-1 (d_p - R_ps x_s), d the panel's last column. */
void ct__planar_chain_solve(const ct_sparse *sp, const ct__front *front, double *x)
{
    const double *R = sp->panel + front->panel, *xs = x + sp->gather[front->gather].to,
                 *inverse = sp->inverse + front->scalar;
    const double  u = xs[0], v = xs[1], w = xs[2];
    const double  t0 = R[6] - (R[3] * u + R[4] * v + R[5] * w);
    const double  t1 = R[13] - (R[10] * u + R[11] * v + R[12] * w);
    const double  t2 = R[20] - (R[17] * u + R[18] * v + R[19] * w);
    double       *xp = x + front->scalar;
    xp[2] = t2 * inverse[2];
    xp[1] = (t1 - R[9] * xp[2]) * inverse[1];
    xp[0] = (t0 - R[1] * xp[1] - R[2] * xp[2]) * inverse[0];
}
