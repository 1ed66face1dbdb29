/* so3_inline.h: three-vectors, 3x3 matrices and SO(3) as inline functions.
 *
 * With h = |w|/2 and k = sin(h)/h,
 *
 *     Exp: q = (k/2 w, cos h)                          one sincos; smooth through zero
 *     Log: w = 2 atan2(|v|, |s|) / |v| v sign(s)       q = (v, s); conditioned alike up to pi
 *     Jl(w)^-1 = I - [w]/2 + D [w]^2, D from h cot h = h |s|/|v|;   Jr(w) = Jl(w)^T
 *
 * q and -q are one rotation; Log takes the one with s >= 0, so |w| <= pi. At pi both signs of w are
 * correct; the sign bit of s = 0 selects one.
 */
#ifndef CT_LIE_SO3_INLINE_H
#define CT_LIE_SO3_INLINE_H

#include <covtune/lie.h>

#include "lie/coef_inline.h"

/* ---- R^3 and 3x3, row-major -------------------------------------------------------------------- */

static inline double ct__dot3(const double a[3], const double b[3]) { return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]; }

static inline void ct__cross3(const double a[3], const double b[3], double c[3])
{
    const double x = a[1] * b[2] - a[2] * b[1], y = a[2] * b[0] - a[0] * b[2], z = a[0] * b[1] - a[1] * b[0];
    c[0] = x, c[1] = y, c[2] = z;
}

static inline void ct__mul33(const double A[9], const double B[9], double C[9]) /* C = A B, C another array */
{
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++) C[3 * i + j] = A[3 * i] * B[j] + A[3 * i + 1] * B[3 + j] + A[3 * i + 2] * B[6 + j];
}

static inline void ct__mul33_skew(const double A[9], const double p[3], double C[9]) /* C = A [p], C another array */
{
    for (int i = 0; i < 9; i += 3) {
        C[i] = A[i + 1] * p[2] - A[i + 2] * p[1];
        C[i + 1] = A[i + 2] * p[0] - A[i] * p[2];
        C[i + 2] = A[i] * p[1] - A[i + 1] * p[0];
    }
}

static inline void ct__transpose33(const double A[9], double T[9])
{
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++) T[3 * i + j] = A[3 * j + i];
}

/* J = I + b [w] + c [w]^2 with [w]^2 = w w^T - u I, u = w.w. */
static inline void ct__skew_polynomial(const double w[3], double u, double b, double c, double J[9])
{
    const double cx = c * w[0], cy = c * w[1], cz = c * w[2], diagonal = 1 - c * u;
    J[0] = diagonal + cx * w[0], J[1] = cx * w[1] - b * w[2], J[2] = cx * w[2] + b * w[1];
    J[3] = cx * w[1] + b * w[2], J[4] = diagonal + cy * w[1], J[5] = cy * w[2] - b * w[0];
    J[6] = cx * w[2] - b * w[1], J[7] = cy * w[2] + b * w[0], J[8] = diagonal + cz * w[2];
}

/* q = p + b w x p + c w x (w x p), the same polynomial applied to p. */
static inline void ct__skew_polynomial_apply(const double w[3], double b, double c, const double p[3], double q[3])
{
    double wp[3], wwp[3];
    ct__cross3(w, p, wp);
    ct__cross3(w, wp, wwp);
    for (int i = 0; i < 3; i++) q[i] = p[i] + (b * wp[i] + c * wwp[i]);
}

/* ---- SO(3) ------------------------------------------------------------------------------------- */

static inline ct_so3 ct__so3_load(const double *x) { return (ct_so3){x[0], x[1], x[2], x[3]}; }
static inline ct_so3 ct__so3_inverse(ct_so3 a) { return (ct_so3){-a.x, -a.y, -a.z, a.w}; }

static inline ct_so3 ct__so3_compose(ct_so3 a, ct_so3 b)
{
    return (ct_so3){
        .x = a.w * b.x + a.x * b.w + a.y * b.z - a.z * b.y,
        .y = a.w * b.y - a.x * b.z + a.y * b.w + a.z * b.x,
        .z = a.w * b.z + a.x * b.y - a.y * b.x + a.z * b.w,
        .w = a.w * b.w - a.x * b.x - a.y * b.y - a.z * b.z,
    };
}

static inline ct_so3 ct__so3_between(ct_so3 a, ct_so3 b) { return ct__so3_compose(ct__so3_inverse(a), b); }

/* q = R p = p + 2s (v x p) + 2 v x (v x p). */
static inline void ct__so3_rotate(ct_so3 a, const double p[3], double q[3])
{
    const double v[3] = {a.x, a.y, a.z};
    ct__skew_polynomial_apply(v, 2 * a.w, 2, p, q);
}

static inline void ct__so3_matrix(ct_so3 a, double R[9])
{
    const double x2 = 2 * a.x, y2 = 2 * a.y, z2 = 2 * a.z;
    const double xx = a.x * x2, yy = a.y * y2, zz = a.z * z2;
    const double xy = a.x * y2, xz = a.x * z2, yz = a.y * z2;
    const double wx = a.w * x2, wy = a.w * y2, wz = a.w * z2;
    R[0] = 1 - yy - zz, R[1] = xy - wz, R[2] = xz + wy;
    R[3] = xy + wz, R[4] = 1 - xx - zz, R[5] = yz - wx;
    R[6] = xz - wy, R[7] = yz + wx, R[8] = 1 - xx - yy;
}

/* One Newton step of 1/sqrt at 1: a length 1 + e becomes 1 - 3/2 e^2, so rounding does not accumulate. */
static inline ct_so3 ct__so3_renormalize(ct_so3 a)
{
    const double k = 1.5 - 0.5 * (a.x * a.x + a.y * a.y + a.z * a.z + a.w * a.w);
    return (ct_so3){k * a.x, k * a.y, k * a.z, k * a.w};
}

/* A logarithm together with u = |w|^2 and hcot = h cot h, for the Jacobian at it. */
typedef struct {
    double w[3];
    double u, hcot;
} ct__so3_chart;

static inline ct__so3_chart ct__so3_chart_at(ct_so3 a)
{
    const double n = sqrt(a.x * a.x + a.y * a.y + a.z * a.z), s = fabs(a.w);
    const double h = ct__angle(n, s);
    const double scale = copysign(n > 0 ? 2 * h / n : 2 / s, a.w);
    return (ct__so3_chart){
        .w = {scale * a.x, scale * a.y, scale * a.z},
        .u = 4 * h * h,
        .hcot = n > 0 ? h * s / n : 1,
    };
}

static inline ct_so3 ct__so3_exp(const double w[3])
{
    const double h = sqrt(ct__dot3(w, w)) / 2;
    const double k = h > 0 ? sin(h) / (2 * h) : 0.5;
    return (ct_so3){k * w[0], k * w[1], k * w[2], cos(h)};
}

static inline void ct__so3_jr_inv(const ct__so3_chart *at, double J[9])
{
    ct__skew_polynomial(at->w, at->u, 0.5, ct__coef_d(at->u, at->hcot), J);
}

#endif
