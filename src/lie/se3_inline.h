/* se3_inline.h: SE(3) as inline functions. Tangent (rotation w, translation rho).
 *
 *     Exp: R = Exp(w), t = Jl(w) rho             Log: w = Log(R), rho = Jl(w)^-1 t
 *     Ad = [R 0; [t]R R]
 *
 * Jacobians are [J 0; K J] with J that of SO(3). Because ad(w, rho) is the skew matrix of the dual
 * vector w + e rho, K is the derivative of J along rho:
 *
 *     J = I + b [w] + c [w]^2
 *     K = b [rho] + c ([w][rho] + [rho][w]) + 2 (w.rho) (b' [w] + c' [w]^2)
 *
 * with (b, c) = (B, C) for Jl and (-1/2, D) for its inverse (b' = 0). These are Q and -J^-1 Q J^-1
 * of Barfoot, State Estimation for Robotics, without the products of skew matrices.
 */
#ifndef CT_LIE_SE3_INLINE_H
#define CT_LIE_SE3_INLINE_H

#include <covtune/lie.h>

#include "lie/so3_inline.h"

static inline ct_se3 ct__se3_load(const double *x) { return (ct_se3){x[0], x[1], x[2], x[3], x[4], x[5], x[6]}; }
static inline ct_so3 ct__se3_rotation(ct_se3 a) { return (ct_so3){a.qx, a.qy, a.qz, a.qw}; }

static inline ct_se3 ct__se3_make(const double t[3], ct_so3 q)
{
    return (ct_se3){t[0], t[1], t[2], q.x, q.y, q.z, q.w};
}

static inline ct_se3 ct__se3_compose(ct_se3 a, ct_se3 b)
{
    const double p[3] = {b.x, b.y, b.z};
    double       t[3];
    ct__so3_rotate(ct__se3_rotation(a), p, t);
    t[0] += a.x, t[1] += a.y, t[2] += a.z;
    return ct__se3_make(t, ct__so3_compose(ct__se3_rotation(a), ct__se3_rotation(b)));
}

static inline ct_se3 ct__se3_inverse(ct_se3 a)
{
    const ct_so3 q = ct__so3_inverse(ct__se3_rotation(a));
    const double p[3] = {-a.x, -a.y, -a.z};
    double       t[3];
    ct__so3_rotate(q, p, t);
    return ct__se3_make(t, q);
}

static inline ct_se3 ct__se3_between(ct_se3 a, ct_se3 b)
{
    const ct_so3 q = ct__so3_inverse(ct__se3_rotation(a));
    const double p[3] = {b.x - a.x, b.y - a.y, b.z - a.z};
    double       t[3];
    ct__so3_rotate(q, p, t);
    return ct__se3_make(t, ct__so3_compose(q, ct__se3_rotation(b)));
}

/* The 6x6 matrix [J 0; K J]. */
static inline void ct__se3_blocks(const double J[9], const double K[9], double M[36])
{
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++) {
            M[6 * i + j] = M[6 * i + 21 + j] = J[3 * i + j];
            M[6 * i + 3 + j] = 0;
            M[6 * i + 18 + j] = K[3 * i + j];
        }
}

/* Ad(a^-1) = [R^T 0; -R^T [t] R^T], the one that compose and between need. */
static inline void ct__se3_adjoint_inverse_blocks(ct_se3 a, double M[9], double N[9])
{
    const double t[3] = {-a.x, -a.y, -a.z};
    ct__so3_matrix(ct__so3_inverse(ct__se3_rotation(a)), M);
    ct__mul33_skew(M, t, N);
}

/* A logarithm with what the Jacobian at it needs. */
typedef struct {
    ct__so3_chart rot;
    double        rho[3];
    double        d; /* D(u) */
} ct__se3_chart;

static inline ct__se3_chart ct__se3_chart_at(ct_se3 a)
{
    ct__se3_chart at = {.rot = ct__so3_chart_at(ct__se3_rotation(a))};
    const double  t[3] = {a.x, a.y, a.z};
    at.d = ct__coef_d(at.rot.u, at.rot.hcot);
    ct__skew_polynomial_apply(at.rot.w, -0.5, at.d, t, at.rho);
    return at;
}

static inline void ct__se3_chart_tangent(const ct__se3_chart *at, double v[6])
{
    for (int i = 0; i < 3; i++) v[i] = at->rot.w[i], v[3 + i] = at->rho[i];
}

static inline ct_se3 ct__se3_exp(const double v[6])
{
    const double      u = ct__dot3(v, v);
    const ct__jl_coef f = ct__jl_coef_at(u);
    double            t[3];
    ct__skew_polynomial_apply(v, f.b, f.c, v + 3, t);
    return ct__se3_make(t, (ct_so3){f.k / 2 * v[0], f.k / 2 * v[1], f.k / 2 * v[2], f.ch});
}

/* K as above. [w][rho] + [rho][w] = w rho^T + rho w^T - 2 (w.rho) I. */
static inline void ct__se3_dual_block(const double w[3], const double rho[3], double u, double b, double c, double db,
                                      double dc, double K[9])
{
    const double m = 2 * ct__dot3(w, rho);
    const double diagonal = -m * (c + dc * u);
    const double f = m * dc, g = m * db;
    const double s[3] = {b * rho[0] + g * w[0], b * rho[1] + g * w[1], b * rho[2] + g * w[2]};
    /* symmetric part: c (w rho^T + rho w^T) + f w w^T, as w q^T + q w^T with q = c rho + f w / 2 */
    const double q[3] = {c * rho[0] + f / 2 * w[0], c * rho[1] + f / 2 * w[1], c * rho[2] + f / 2 * w[2]};
    const double xy = w[0] * q[1] + q[0] * w[1], xz = w[0] * q[2] + q[0] * w[2], yz = w[1] * q[2] + q[1] * w[2];
    K[0] = diagonal + 2 * w[0] * q[0], K[1] = xy - s[2], K[2] = xz + s[1];
    K[3] = xy + s[2], K[4] = diagonal + 2 * w[1] * q[1], K[5] = yz - s[0];
    K[6] = xz - s[1], K[7] = yz + s[0], K[8] = diagonal + 2 * w[2] * q[2];
}

/* Jr^-1 = [J 0; K J] at a logarithm, as its two blocks. Jr(v) = Jl(-v). */
static inline void ct__se3_jr_inv_blocks(const ct__se3_chart *at, double J[9], double K[9])
{
    ct__skew_polynomial(at->rot.w, at->rot.u, 0.5, at->d, J);
    ct__se3_dual_block(at->rot.w, at->rho, at->rot.u, 0.5, at->d, 0, ct__coef_dd(at->rot.u, at->d), K);
}

#endif
