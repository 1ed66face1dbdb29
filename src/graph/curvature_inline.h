/* curvature_inline.h: second derivatives of logarithms, for the exact Hessian.
 *
 * With r = Log(T Exp(b)) and multipliers u, the gradient of u'r at b, in the frame there, is c(r) = Jr^-1(r)'u. Its
 * derivative along b is (dc/dr) Jr^-1(r). It is not symmetric, because the frame turns with b: its antisymmetric part
 * is that of 1/2 [b, b']. Its symmetric part is the Hessian for perturbations b by Exp,
 *
 *     K0 = sym((dc/dr) Jr^-1(r)).
 *
 * A relative measurement T = z^-1 a^-1 b moves as T Exp(M alpha) Exp(beta), M = -Ad((a^-1 b)^-1), and by Baker,
 * Campbell and Hausdorff that is T Exp(M alpha + beta + 1/2 [M alpha, beta] + ...). So with S the matrix for which
 * v'S w = c'[v, w],
 *
 *     K = [ M'K0 M        M'(K0 + S/2) ]
 *         [ (that)'       K0           ].
 *
 * All terms follow from D and its derivatives (coef_inline.h), which the logarithm provides without trigonometry. */
#ifndef CT_CURVATURE_INLINE_H
#define CT_CURVATURE_INLINE_H

#include "lie/se2_inline.h"
#include "lie/se3_inline.h"

#include <string.h>

/* ---- SE(2) ------------------------------------------------------------------------------------- */

/* K0 = [0 0 p; 0 0 q; p q f], and c. With e = theta D: hcot' = -theta (1 - 4D + 4 theta^2 D^2)/4 and e' = (1 - 8D +
 * 4 theta^2 D^2)/4. */
typedef struct {
    double p, q, f;
    double c[2];
} ct__se2_bend;

static inline ct__se2_bend ct__se2_bend_at(const ct__se2_chart *at, const double u[3])
{
    const double x = at->v[0], y = at->v[1], theta = at->v[2], h = theta / 2, j = at->hcot;
    const double D = ct__coef_d(theta * theta, j), e = theta * D, four = 4 * e * e;
    const double dj = -theta * (1 - 4 * D + four) / 4, de = (1 - 8 * D + four) / 4;
    const double a = e * u[0] - u[1] / 2, b = e * u[1] + u[0] / 2; /* dc_theta / d(x, y) */
    return (ct__se2_bend){
        .p = (dj * u[0] + u[1] / 2 + j * a + h * b) / 2,
        .q = (dj * u[1] - u[0] / 2 - h * a + j * b) / 2,
        .f = a * (e * x + y / 2) + b * (e * y - x / 2) + de * (x * u[0] + y * u[1]),
        .c = {j * u[0] + h * u[1], j * u[1] - h * u[0]},
    };
}

/* K of r = Log(z^-1 x). */
static inline void ct__se2_bend_one(const ct__se2_chart *at, const double u[3], double K[9])
{
    const ct__se2_bend k = ct__se2_bend_at(at, u);
    K[0] = K[1] = K[3] = K[4] = 0;
    K[2] = K[6] = k.p, K[5] = K[7] = k.q, K[8] = k.f;
}

/* K of r = Log(z^-1 d), d = a^-1 b; at is the chart of r. M = -[c s m; -s c n; 0 0 1] and
 * S = [0 0 -c_y; 0 0 c_x; c_y -c_x 0], so K0 + S/2 = [0 0 p-; 0 0 q+; p+ q- f]. */
static inline void ct__se2_bend_two(const ct__se2_chart *at, ct_se2 d, const double u[3], double K[36])
{
    const ct__se2_bend k = ct__se2_bend_at(at, u);
    const double       c = d.c, s = d.s, m = s * d.x - c * d.y, n = c * d.x + s * d.y;
    const double       p = c * k.p - s * k.q, q = s * k.p + c * k.q; /* (p, q) in a's frame */
    const double plus = k.p + k.c[1] / 2, minus = k.p - k.c[1] / 2, right = k.q + k.c[0] / 2, left = k.q - k.c[0] / 2;
    memset(K, 0, 36 * sizeof *K);
    K[2] = K[12] = p, K[8] = K[13] = q, K[14] = k.f + 2 * (m * k.p + n * k.q);
    K[5] = K[30] = s * right - c * minus, K[11] = K[31] = -s * minus - c * right;
    K[15] = K[20] = -plus, K[16] = K[26] = -left, K[17] = K[32] = -(m * minus + n * right + k.f);
    K[23] = K[33] = k.p, K[29] = K[34] = k.q, K[35] = k.f;
}

/* ---- SO(3) ------------------------------------------------------------------------------------- */

/* S = -[c]. */
static inline void ct__minus_skew(const double c[3], double S[9])
{
    S[0] = 0, S[1] = c[2], S[2] = -c[1];
    S[3] = -c[2], S[4] = 0, S[5] = c[0];
    S[6] = c[1], S[7] = -c[0], S[8] = 0;
}

/* c = A'v with A = Jr^-1 = I + [w]/2 + D [w]^2, and G = dc/dw:
 *     c = v - w x v / 2 + D q,  q = w x (w x v) = (w.v) w - |w|^2 v
 *     G = [v]/2 + D ((w.v) I + w v' - 2 v w') + 2 D' q w'. */
static inline void ct__so3_slope(const double w[3], double d, double dd, const double v[3], double c[3], double G[9])
{
    double wv[3], q[3];
    ct__cross3(w, v, wv);
    ct__cross3(w, wv, q);
    const double dot = ct__dot3(w, v);
    ct__minus_skew(v, G);
    for (int i = 0; i < 3; i++) {
        c[i] = v[i] - wv[i] / 2 + d * q[i];
        for (int j = 0; j < 3; j++)
            G[3 * i + j] = -G[3 * i + j] / 2 + d * (w[i] * v[j] - 2 * v[i] * w[j]) + 2 * dd * q[i] * w[j];
        G[4 * i] += d * dot;
    }
}

/* The derivative of that G along rho. */
static inline void ct__so3_slope_along(const double w[3], double u, double d, double dd, double ddd,
                                       const double rho[3], const double v[3], double E[9])
{
    const double wv = ct__dot3(w, v), wr = ct__dot3(w, rho), rv = ct__dot3(rho, v), along = 2 * dd * wr;
    for (int i = 0; i < 3; i++) {
        const double q = wv * w[i] - u * v[i], dq = rv * w[i] + wv * rho[i] - 2 * wr * v[i];
        for (int j = 0; j < 3; j++)
            E[3 * i + j] = d * (rho[i] * v[j] - 2 * v[i] * rho[j]) + along * (w[i] * v[j] - 2 * v[i] * w[j]) +
                           2 * dd * (dq * w[j] + q * rho[j]) + 4 * ddd * wr * q * w[j];
        E[4 * i] += d * rv + along * wv;
    }
}

static inline void ct__symmetric33(double A[9])
{
    A[1] = A[3] = (A[1] + A[3]) / 2, A[2] = A[6] = (A[2] + A[6]) / 2, A[5] = A[7] = (A[5] + A[7]) / 2;
}

/* K0 and c. */
static inline void ct__so3_bend_one(const ct__so3_chart *at, const double u[3], double K[9], double c[3])
{
    const double d = ct__coef_d(at->u, at->hcot);
    double       G[9], A[9];
    ct__so3_slope(at->w, d, ct__coef_dd(at->u, d), u, c, G);
    ct__skew_polynomial(at->w, at->u, 0.5, d, A);
    ct__mul33(G, A, K);
    ct__symmetric33(K);
}

/* K of r = Log(z^-1 d), d = a^-1 b: M = -R', R that of d. */
static inline void ct__so3_bend_two(const ct__so3_chart *at, ct_so3 d, const double u[3], double K[36])
{
    double K0[9], c[3], R[9], T[9], L[9], LT[9], S[9], RS[9];
    ct__so3_bend_one(at, u, K0, c);
    ct__so3_matrix(d, R);
    ct__transpose33(R, T);
    ct__mul33(R, K0, L);
    ct__mul33(L, T, LT);
    ct__minus_skew(c, S);
    ct__mul33(R, S, RS);
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++) {
            K[6 * i + j] = (LT[3 * i + j] + LT[3 * j + i]) / 2;
            K[6 * i + 3 + j] = K[6 * (3 + j) + i] = -(L[3 * i + j] + RS[3 * i + j] / 2);
            K[6 * (3 + i) + 3 + j] = K0[3 * i + j];
        }
}

/* ---- SE(3) ------------------------------------------------------------------------------------- */

/* K0 and c. In dual numbers c_rho + e c_w = A(w + e rho)'(u_rho + e u_w), so
 *     dc/dr = [ G(u_w) + E   G(u_rho) ]      Jr^-1 = [ A 0 ]
 *             [ G(u_rho)     0        ]              [ B A ]
 * with G that of SO(3) and E the derivative of G(u_rho) along rho. */
static inline void ct__se3_bend_one(const ct__se3_chart *at, const double u[6], double K[36], double c[6])
{
    const double *w = at->rot.w, dd = ct__coef_dd(at->rot.u, at->d), ddd = ct__coef_ddd(at->rot.u, at->d, dd);
    double        Gw[9], Gr[9], E[9], A[9], B[9], ww[9], wr[9], part[9];
    ct__so3_slope(w, at->d, dd, u, c, Gw);
    ct__so3_slope(w, at->d, dd, u + 3, c + 3, Gr);
    ct__so3_slope_along(w, at->rot.u, at->d, dd, ddd, at->rho, u + 3, E);
    for (int i = 0; i < 3; i++)
        c[i] += Gr[3 * i] * at->rho[0] + Gr[3 * i + 1] * at->rho[1] + Gr[3 * i + 2] * at->rho[2];
    for (int i = 0; i < 9; i++) E[i] += Gw[i];
    ct__se3_jr_inv_blocks(at, A, B);
    ct__mul33(E, A, ww);
    ct__mul33(Gr, B, part);
    ct__mul33(Gr, A, wr);
    for (int i = 0; i < 9; i++) ww[i] += part[i];
    ct__symmetric33(ww);
    ct__symmetric33(wr);
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++) {
            K[6 * i + j] = ww[3 * i + j];
            K[6 * i + 3 + j] = K[6 * (3 + i) + j] = wr[3 * i + j];
            K[6 * (3 + i) + 3 + j] = 0;
        }
}

static inline void ct__mul33_add(const double A[9], const double B[9], double C[9]) /* C += A B */
{
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++) C[3 * i + j] += A[3 * i] * B[j] + A[3 * i + 1] * B[3 + j] + A[3 * i + 2] * B[6 + j];
}

/* K of r = Log(z^-1 d), d = a^-1 b. [v, w] = (v_w x w_w, v_w x w_r + v_r x w_w), so S = -[[c_w] [c_r]; [c_r] 0], and
 * with K0 = [P Q; Q 0], K0 + S/2 = [P~ Q~; Q~ 0], M = -[T 0; N T]:
 *
 *     M'K0 M = [ (T'P + N'Q) T + T'Q N   T'Q T ]      M'(K0 + S/2) = -[ T'P~ + N'Q~   T'Q~ ]
 *              [ T'Q T                   0     ]                      [ T'Q~          0    ] */
static inline void ct__se3_bend_two(const ct__se3_chart *at, ct_se3 d, const double u[6], double K[144])
{
    double K0[36], c[6], P[9], Q[9], Ph[9], Qh[9], T[9], N[9], Tt[9], Nt[9], TP[9], TQ[9], TPT[9], TQT[9], cross[9],
        side[9];
    ct__se3_bend_one(at, u, K0, c);
    ct__se3_adjoint_inverse_blocks(d, T, N);
    ct__transpose33(T, Tt);
    ct__transpose33(N, Nt);
    ct__minus_skew(c, Ph);
    ct__minus_skew(c + 3, Qh);
    for (int i = 0; i < 9; i++) {
        P[i] = K0[6 * (i / 3) + i % 3], Q[i] = K0[6 * (i / 3) + 3 + i % 3];
        Ph[i] = P[i] + Ph[i] / 2, Qh[i] = Q[i] + Qh[i] / 2;
    }
    ct__mul33(Tt, P, TP);
    ct__mul33_add(Nt, Q, TP);
    ct__mul33(Tt, Q, TQ);
    ct__mul33(TP, T, TPT);
    ct__mul33_add(TQ, N, TPT);
    ct__mul33(TQ, T, TQT);
    ct__mul33(Tt, Ph, cross);
    ct__mul33_add(Nt, Qh, cross);
    ct__mul33(Tt, Qh, side);
    ct__symmetric33(TPT);
    ct__symmetric33(TQT);
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++) {
            const int k = 3 * i + j;
            K[12 * i + j] = TPT[k];
            K[12 * i + 3 + j] = K[12 * (3 + i) + j] = TQT[k];
            K[12 * i + 6 + j] = K[12 * (6 + j) + i] = -cross[k];
            K[12 * i + 9 + j] = K[12 * (9 + j) + i] = K[12 * (3 + i) + 6 + j] = K[12 * (6 + j) + 3 + i] = -side[k];
            K[12 * (6 + i) + 6 + j] = P[k];
            K[12 * (6 + i) + 9 + j] = K[12 * (9 + i) + 6 + j] = Q[k];
            K[12 * (3 + i) + 3 + j] = K[12 * (3 + i) + 9 + j] = K[12 * (9 + i) + 3 + j] = K[12 * (9 + i) + 9 + j] = 0;
        }
}

#endif
