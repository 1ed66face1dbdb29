/* line_of_sight_inline.h: a point seen from a sensor on a body; what range, bearing, range_bearing, point, pixel and
 * stereo share. sight_model_inline.h makes models of it.
 *
 *     q = x^-1 p        the point in the body frame
 *     d = q - s         from the sensor to it, in body axes
 *
 * A model computes its residual from d and, for each row, the gradient g = dr/dd. The variables
 * follow alike for all of them: moving x by (rho, phi) on the right moves q by -rho - phi x q, so
 *
 *     dr/dx = [-g, g x q] in the plane, [g x q, -g] in space;     dr/dp = R g
 *
 * Where a derivative does not exist, each kernel documents its value; none is NaN.
 */
#ifndef CT_GRAPH_SIGHT_INLINE_H
#define CT_GRAPH_SIGHT_INLINE_H

#include <covtune/graph.h>

#include "lie/se2_inline.h"
#include "lie/se3_inline.h"

#include <string.h>

/* Kernels become a part of the functions that call them by pointer; a call costs a tenth of a measurement. Sanitizers
 * instrument the calls before they are known. */
#if defined(__GNUC__) && !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
#define CT__KERNEL static inline __attribute__((always_inline))
#else
#define CT__KERNEL static inline
#endif

typedef struct {
    double q[3], d[3]; /* the first two in the plane */
} ct__sight;

static inline ct__sight ct__sight2(ct_se2 x, const double p[2], const double s[2])
{
    const double dx = p[0] - x.x, dy = p[1] - x.y;
    const double qx = x.c * dx + x.s * dy, qy = x.c * dy - x.s * dx;
    return (ct__sight){.q = {qx, qy}, .d = {qx - s[0], qy - s[1]}};
}

static inline ct__sight ct__sight3(ct_se3 x, const double p[3], const double s[3])
{
    const double dp[3] = {p[0] - x.x, p[1] - x.y, p[2] - x.z};
    ct__sight    at;
    ct__so3_rotate(ct__so3_inverse(ct__se3_rotation(x)), dp, at.q);
    for (int i = 0; i < 3; i++) at.d[i] = at.q[i] - s[i];
    return at;
}

/* Jacobians by pose (rows x 3) and point (rows x 2), either NULL, from the rows x 2 gradients G. */
static inline void ct__sight2_chain(ct_se2 x, const ct__sight *at, int rows, const double *G, double *Jx, double *Jp)
{
    for (int i = 0; Jx && i < rows; i++) {
        const double *g = G + 2 * i;
        Jx[3 * i] = -g[0], Jx[3 * i + 1] = -g[1], Jx[3 * i + 2] = g[0] * at->q[1] - g[1] * at->q[0];
    }
    for (int i = 0; Jp && i < rows; i++) {
        const double *g = G + 2 * i;
        Jp[2 * i] = x.c * g[0] - x.s * g[1], Jp[2 * i + 1] = x.s * g[0] + x.c * g[1];
    }
}

/* Jacobians by pose (rows x 6) and point (rows x 3), either NULL, from the rows x 3 gradients G. */
static inline void ct__sight3_chain(ct_se3 x, const ct__sight *at, int rows, const double *G, double *Jx, double *Jp)
{
    for (int i = 0; Jx && i < rows; i++) {
        const double *g = G + 3 * i;
        ct__cross3(g, at->q, Jx + 6 * i);
        for (int k = 0; k < 3; k++) Jx[6 * i + 3 + k] = -g[k];
    }
    for (int i = 0; Jp && i < rows; i++) ct__so3_rotate(ct__se3_rotation(x), G + 3 * i, Jp + 3 * i);
}

/* Each kernel returns the value and, where g is not NULL, its gradient by d. Those named _bend add u times the second
 * derivatives by d to H (n x n, symmetric); where there are none, nothing. */

/* |d|; g = d/|d|. At d = 0, where every unit vector is a limit of gradients, the first axis: a
 * solver that starts with the point on the sensor can leave. */
static inline double ct__sight_range(int n, const double *d, double *g)
{
    double sum = 0;
    for (int i = 0; i < n; i++) sum += d[i] * d[i];
    const double range = sqrt(sum);
    for (int i = 0; g && i < n; i++) g[i] = range > 0 ? d[i] / range : i == 0;
    return range;
}

/* (I - e e') / |d|, e = d/|d|. */
static inline void ct__sight_range_bend(int n, const double *d, double u, double *H)
{
    double    e[3];
    const double range = ct__sight_range(n, d, e);
    for (int i = 0; range > 0 && i < n; i++)
        for (int j = 0; j < n; j++) H[n * i + j] += u * ((i == j) - e[i] * e[j]) / range;
}

/* The angle from direction z of a sensor turned by s to d, in [-pi, pi]; g = (-dy, dx)/|d|^2. At
 * d = 0 there is no direction: 0 with gradient 0, without information. */
static inline double ct__sight_bearing2(ct_so2 z, ct_so2 s, const double d[2], double *g)
{
    const ct_so2 u = ct__so2_compose(s, z);
    const double n2 = d[0] * d[0] + d[1] * d[1];
    if (g) {
        const double k = n2 > 0 ? 1 / n2 : 0;
        g[0] = -k * d[1], g[1] = k * d[0];
    }
    return n2 == 0 ? 0 : atan2(u.c * d[1] - u.s * d[0], u.c * d[0] + u.s * d[1]);
}

static inline void ct__sight_bearing2_bend(const double d[2], double u, double H[4])
{
    const double n2 = d[0] * d[0] + d[1] * d[1];
    if (n2 == 0) return;
    const double k = u / n2, x = d[0] / n2, y = d[1] / n2, twist = k * (d[1] * y - d[0] * x), pull = 2 * k * d[0] * y;
    H[0] += pull, H[1] += twist, H[2] += twist, H[3] -= pull;
}

/* Rows of E: east, north and up at direction z != 0 of any length, seen from the sensor's z axis:
 * e = Z x z / |Z x z|, n = u x e, u = z/|z|. At the poles, where east is any direction, the y axis. */
static inline void ct__sphere_basis(const double z[3], double E[9])
{
    const double m = fmax(fabs(z[0]), fmax(fabs(z[1]), fabs(z[2])));
    const double a[3] = {z[0] / m, z[1] / m, z[2] / m};
    const double length = sqrt(ct__dot3(a, a)), flat = sqrt(a[0] * a[0] + a[1] * a[1]);
    const double ex = flat > 0 ? -a[1] / flat : 0, ey = flat > 0 ? a[0] / flat : 1;
    const double up = a[2] / length;
    E[0] = ex, E[1] = ey, E[2] = 0;
    E[3] = -up * ey, E[4] = up * ex, E[5] = flat / length;
    E[6] = a[0] / length, E[7] = a[1] / length, E[8] = up;
}

/* Log on the sphere at z of the direction of d, as arcs to the east (azimuth) and north (elevation).
 * With n = E Rs^T d, f = |(n0, n1)|, e = (n0, n1)/f and a = atan2(f, n2):
 *
 *     r = a e,   dr/d(n0, n1) = a/f (I - e e^T) + n2/|n|^2 e e^T,   dr/dn2 = -f/|n|^2 e
 *
 * No term cancels. At f = 0 ahead, a/f = 1/n2. At the antipode r has length pi, any direction (east
 * is given) and an unbounded derivative across e, given as 0. At d = 0, r and its gradient are 0. */
CT__KERNEL void ct__sight_bearing3(const double z[3], ct_so3 s, const double d[3], double r[2], double *G)
{
    double E[9], m[3], n[3];
    ct__sphere_basis(z, E);
    ct__so3_rotate(ct__so3_inverse(s), d, m);
    for (int k = 0; k < 3; k++) n[k] = ct__dot3(E + 3 * k, m);
    const double n2 = ct__dot3(n, n), f = sqrt(n[0] * n[0] + n[1] * n[1]);
    const double e[2] = {f > 0 ? n[0] / f : 1, f > 0 ? n[1] / f : 0};
    const double a = n2 == 0 ? 0 : atan2(f, n[2]), k = n2 > 0 ? 1 / n2 : 0;
    r[0] = a * e[0], r[1] = a * e[1];
    if (!G) return;
    const double across = f > 0 ? a / f : n[2] > 0 ? 1 / n[2] : 0, along = k * n[2], down = -k * f;
    for (int i = 0; i < 2; i++) {
        const double c0 = (along - across) * e[i] * e[0] + (i == 0 ? across : 0);
        const double c1 = (along - across) * e[i] * e[1] + (i == 1 ? across : 0);
        double       g[3];
        for (int j = 0; j < 3; j++) g[j] = c0 * E[j] + c1 * E[3 + j] + down * e[i] * E[6 + j];
        ct__so3_rotate(s, g, G + 3 * i);
    }
}

/* H of phi = k(f, n) (u . m), with m = (n0, n1), f = |m|, n = n2 and k = (alpha + beta atan2(f, n)) / f. With N = |n|^2
 * and c = (dk/df) / f = (beta n/N - k) / f^2:
 *
 *     d2phi/dm2  = c (u m' + m u') + (u . m) (c I - (3c + 2 beta n/N^2) m m'/f^2)
 *     d2phi/dmdn = -beta/N u + 2 beta/N^2 (u . m) m,     d2phi/dn2 = 2 beta n/N^2 (u . m)
 */
static inline void ct__radial_bend(double beta, double c, const double n[3], const double u[2], double H[9])
{
    const double f2 = n[0] * n[0] + n[1] * n[1], N = f2 + n[2] * n[2], um = u[0] * n[0] + u[1] * n[1];
    const double k = 2 * beta / (N * N), fold = f2 > 0 ? um * (3 * c + k * n[2]) / f2 : 0;
    for (int i = 0; i < 2; i++) {
        for (int j = 0; j < 2; j++)
            H[3 * i + j] = c * (u[i] * n[j] + n[i] * u[j]) + (i == j ? um * c : 0) - fold * n[i] * n[j];
        H[3 * i + 2] = H[6 + i] = k * um * n[i] - beta / N * u[i];
    }
    H[8] = k * n[2] * um;
}

/* (n/N - atan2(f, n)/f) / f^2, ahead: near the axis its series in x = f^2/n^2, whose first term that is left out is of
 * the order of rounding. */
static inline double ct__sphere_slope(double f, double n)
{
    const double N = f * f + n * n, x = f * f / (n * n);
    if (n <= 0 || x > 0.01) return (n / N - atan2(f, n) / f) / (f * f);
    double sum = 0;
    for (int j = 9; j >= 1; j--) sum = (j % 2 ? -1 : 1) * (2.0 * j / (2 * j + 1)) + x * sum;
    return sum / (n * n * n);
}

/* H += M' B M, M = E Rs' (3 x 3). */
static inline void ct__sight_turn_bend(const double M[9], const double B[9], double H[9])
{
    double BM[9];
    ct__mul33(B, M, BM);
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++)
            H[3 * i + j] += M[i] * BM[j] + M[3 + i] * BM[3 + j] + M[6 + i] * BM[6 + j];
}

/* At the antipode, where r turns by any angle over no distance, nothing. */
static inline void ct__sight_bearing3_bend(const double z[3], ct_so3 s, const double d[3], const double u[2],
                                           double H[9])
{
    double E[9], R[9], M[9], B[9], n[3];
    ct__sphere_basis(z, E);
    ct__so3_matrix(ct__so3_inverse(s), R);
    ct__mul33(E, R, M);
    for (int k = 0; k < 3; k++) n[k] = ct__dot3(M + 3 * k, d);
    const double f = sqrt(n[0] * n[0] + n[1] * n[1]);
    if (ct__dot3(n, n) == 0 || (f == 0 && n[2] < 0)) return;
    ct__radial_bend(1, ct__sphere_slope(f, n[2]), n, u, B);
    ct__sight_turn_bend(M, B, H);
}

static inline const char *ct__refuse_range(double range) { return range >= 0 ? NULL : "range must not be negative"; }

static inline const char *ct__refuse_direction(const double z[3])
{
    return z[0] != 0 || z[1] != 0 || z[2] != 0 ? NULL : "direction must not be zero";
}

#endif
