/* sight_model_inline.h: measurement models of a line of sight. A model gives its residual as a function of d, the line
 * of sight in body axes (line_of_sight_inline.h); here it becomes one of
 *
 *     variable      pose x, point p               q = x^-1 p
 *     known         pose x, the point in z        q = x^-1 p
 *     pose          poses a, b                    q = a^-1 (b c),   c: the target in the frame of b, part of z
 *
 * with d = q - s, s the sensor's position. Second derivatives follow alike. With perturbations (w, rho) of the first
 * pose, q moves to Exp(-(w, rho)) (q + eta), where eta is what the other variable does, in axes of the first pose:
 *
 *     dq = -w x q - rho + eta + 1/2 w x (w x q + rho) - w x eta + ...
 *     eta = A dp, A = R',   or   eta = A (v x c + tau + 1/2 v x (v x c + tau)), A = Ra' Rb
 *
 * So with g = sum u_i dr_i/dd, H = sum u_i d2r_i/dd2 and D = dq/d(all perturbations), K = D'H D plus the terms of
 * second order in dq, times g:
 *
 *     w, w: (g q' + q g')/2 - (g.q) I      w, rho: -[g]/2      w, eta: [g]         v, tau: as w, rho with A'g, c
 *
 * In the plane w is a number and w x q is w J q, J a quarter turn.
 */
#ifndef CT_GRAPH_SIGHT_MODEL_INLINE_H
#define CT_GRAPH_SIGHT_MODEL_INLINE_H

#include "graph/line_of_sight_inline.h"

/* r and, if G is not NULL, G = dr/dd (rows x n). `sensor` is its position for ranges, else its pose. */
typedef void ct__sight_kernel(const double *z, const double *sensor, const double *d, double *r, double *G);
/* H += sum u_i d2r_i/dd2 (n x n); NULL: none. */
typedef void ct__sight_bend(const double *z, const double *sensor, const double *d, const double *u, double *H);

/* ---- Residuals and Jacobians ----------------------------------------------------------------- */

CT__KERNEL void ct__sight2_eval(ct__sight_kernel *kernel, int rows, const double *z, const double *sensor,
                                const double *pose, const double *point, double *r, double *Jx, double *Jp)
{
    const ct_se2    x = ct__se2_load(pose);
    const ct__sight at = ct__sight2(x, point, sensor);
    double          gradient[2 * CT_ROWS_MAX], *G = Jx || Jp ? gradient : NULL;
    kernel(z, sensor, at.d, r, G);
    ct__sight2_chain(x, &at, rows, G, Jx, Jp);
}

CT__KERNEL void ct__sight3_eval(ct__sight_kernel *kernel, int rows, const double *z, const double *sensor,
                                const double *pose, const double *point, double *r, double *Jx, double *Jp)
{
    const ct_se3    x = ct__se3_load(pose);
    const ct__sight at = ct__sight3(x, point, sensor);
    double          gradient[3 * CT_ROWS_MAX], *G = Jx || Jp ? gradient : NULL;
    kernel(z, sensor, at.d, r, G);
    ct__sight3_chain(x, &at, rows, G, Jx, Jp);
}

/* q = Ra' ((tb - ta) + Rb c): poses far from the origin cost no digits. */
static inline ct__sight ct__sight2_to(ct_se2 a, ct_se2 b, const double c[2], const double s[2])
{
    const ct_se2 from = {0, 0, a.c, a.s};
    const double p[2] = {b.x - a.x + (b.c * c[0] - b.s * c[1]), b.y - a.y + (b.s * c[0] + b.c * c[1])};
    return ct__sight2(from, p, s);
}

static inline ct__sight ct__sight3_to(ct_se3 a, ct_se3 b, const double c[3], const double s[3])
{
    double p[3];
    ct__so3_rotate(ct__se3_rotation(b), c, p);
    p[0] += b.x - a.x, p[1] += b.y - a.y, p[2] += b.z - a.z;
    a.x = a.y = a.z = 0;
    return ct__sight3(a, p, s);
}

/* Jacobian by b (rows x 3) from the world's Jp (rows x 2): with g in axes of b, [g, g . J c]. */
static inline void ct__sight2_target(ct_se2 b, const double c[2], int rows, const double *Jp, double *Jb)
{
    for (int i = 0; i < rows; i++) {
        const double g0 = b.c * Jp[2 * i] + b.s * Jp[2 * i + 1], g1 = b.c * Jp[2 * i + 1] - b.s * Jp[2 * i];
        Jb[3 * i] = g0, Jb[3 * i + 1] = g1, Jb[3 * i + 2] = c[0] * g1 - c[1] * g0;
    }
}

/* The same in space (rows x 6): [c x g, g]. */
static inline void ct__sight3_target(ct_se3 b, const double c[3], int rows, const double *Jp, double *Jb)
{
    const ct_so3 back = ct__so3_inverse(ct__se3_rotation(b));
    for (int i = 0; i < rows; i++) {
        ct__so3_rotate(back, Jp + 3 * i, Jb + 6 * i + 3);
        ct__cross3(c, Jb + 6 * i + 3, Jb + 6 * i);
    }
}

CT__KERNEL void ct__sight2_eval_pose(ct__sight_kernel *kernel, int rows, const double *z, const double *sensor,
                                     const double *target, const double *const x[], double *r, double *const J[])
{
    const ct_se2    a = ct__se2_load(x[0]), b = ct__se2_load(x[1]);
    const ct__sight at = ct__sight2_to(a, b, target, sensor);
    double          gradient[2 * CT_ROWS_MAX], Jp[2 * CT_ROWS_MAX], *Ja = J ? J[0] : NULL, *Jb = J ? J[1] : NULL;
    kernel(z, sensor, at.d, r, Ja || Jb ? gradient : NULL);
    ct__sight2_chain(a, &at, rows, gradient, Ja, Jb ? Jp : NULL);
    if (Jb) ct__sight2_target(b, target, rows, Jp, Jb);
}

CT__KERNEL void ct__sight3_eval_pose(ct__sight_kernel *kernel, int rows, const double *z, const double *sensor,
                                     const double *target, const double *const x[], double *r, double *const J[])
{
    const ct_se3    a = ct__se3_load(x[0]), b = ct__se3_load(x[1]);
    const ct__sight at = ct__sight3_to(a, b, target, sensor);
    double          gradient[3 * CT_ROWS_MAX], Jp[3 * CT_ROWS_MAX], *Ja = J ? J[0] : NULL, *Jb = J ? J[1] : NULL;
    kernel(z, sensor, at.d, r, Ja || Jb ? gradient : NULL);
    ct__sight3_chain(a, &at, rows, gradient, Ja, Jb ? Jp : NULL);
    if (Jb) ct__sight3_target(b, target, rows, Jp, Jb);
}

/* ---- Second derivatives ---------------------------------------------------------------------- */

/* g = G'u and H at line of sight d. */
static inline void ct__sight_orders(int n, ct__sight_kernel *kernel, ct__sight_bend *bend, int rows, const double *z,
                                    const double *sensor, const double *d, const double *u, double *g, double *H)
{
    double r[CT_ROWS_MAX], G[3 * CT_ROWS_MAX];
    kernel(z, sensor, d, r, G);
    for (int j = 0; j < n; j++) {
        g[j] = 0;
        for (int i = 0; i < rows; i++) g[j] += u[i] * G[n * i + j];
    }
    for (int i = 0; i < n * n; i++) H[i] = 0;
    if (bend) bend(z, sensor, d, u, H);
}

/* K = D'H D, D n x N. */
static inline void ct__sight_fold(int n, int N, const double *H, const double *D, double *K)
{
    double HD[3 * 12];
    for (int i = 0; i < n; i++)
        for (int j = 0; j < N; j++) {
            HD[N * i + j] = 0;
            for (int k = 0; k < n; k++) HD[N * i + j] += H[n * i + k] * D[N * k + j];
        }
    for (int i = 0; i < N; i++)
        for (int j = 0; j <= i; j++) {
            double sum = 0;
            for (int k = 0; k < n; k++) sum += D[N * k + i] * HD[N * k + j];
            K[N * i + j] = K[N * j + i] = sum;
        }
}

static inline void ct__add_both(int N, double *K, int i, int j, double v)
{
    K[N * i + j] += v;
    if (i != j) K[N * j + i] += v;
}

/* K in the plane. A (2 x 2): NULL if the point is known; c: NULL unless the second variable is a pose. */
static inline void ct__sight2_bend(const double *q, const double g[2], const double H[4], const double *A,
                                   const double *c, double *K)
{
    const int N = 3 + (A ? 2 : 0) + (c ? 1 : 0);
    double    D[2 * 6] = {0};
    D[0] = D[N + 1] = -1, D[2] = q[1], D[N + 2] = -q[0];
    for (int i = 0; A && i < 2; i++) {
        for (int j = 0; j < 2; j++) D[N * i + 3 + j] = A[2 * i + j];
        if (c) D[N * i + 5] = A[2 * i + 1] * c[0] - A[2 * i] * c[1];
    }
    ct__sight_fold(2, N, H, D, K);
    const double t[2] = {g[1], -g[0]}; /* J'g */
    ct__add_both(N, K, 2, 2, -g[0] * q[0] - g[1] * q[1]);
    for (int j = 0; j < 2; j++) ct__add_both(N, K, 2, j, t[j] / 2);
    if (!A) return;
    const double b[2] = {A[0] * g[0] + A[2] * g[1], A[1] * g[0] + A[3] * g[1]};
    const double tb[2] = {A[0] * t[0] + A[2] * t[1], A[1] * t[0] + A[3] * t[1]};
    for (int j = 0; j < 2; j++) ct__add_both(N, K, 2, 3 + j, -tb[j]);
    if (!c) return;
    ct__add_both(N, K, 2, 5, tb[0] * c[1] - tb[1] * c[0]);
    ct__add_both(N, K, 5, 5, -b[0] * c[0] - b[1] * c[1]);
    ct__add_both(N, K, 5, 3, b[1] / 2);
    ct__add_both(N, K, 5, 4, -b[0] / 2);
}

static inline void ct__skew(const double w[3], double S[9])
{
    S[0] = S[4] = S[8] = 0;
    S[1] = -w[2], S[2] = w[1], S[3] = w[2], S[5] = -w[0], S[6] = -w[1], S[7] = w[0];
}

/* The terms of a pose whose perturbation begins at `from`: rotation about its origin of the point q, gradient g. */
static inline void ct__sight3_bend_own(int N, int from, const double *q, const double *g, double *K)
{
    double       S[9];
    const double gq = ct__dot3(g, q);
    ct__skew(g, S);
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++) {
            K[N * (from + i) + from + j] += (g[i] * q[j] + q[i] * g[j]) / 2 - (i == j ? gq : 0);
            ct__add_both(N, K, from + i, from + 3 + j, -S[3 * i + j] / 2);
        }
}

/* K in space, as in the plane. */
static inline void ct__sight3_bend(const double *q, const double g[3], const double H[9], const double *A,
                                   const double *c, double *K)
{
    const int N = 6 + (A ? 3 : 0) + (c ? 3 : 0), last = N - 3; /* where A's columns are */
    double    D[3 * 12] = {0}, S[9], AC[9], SA[9], SAC[9];
    ct__skew(q, S);
    if (c) ct__mul33_skew(A, c, AC);
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++) {
            D[N * i + j] = S[3 * i + j], D[N * i + 3 + j] = -(i == j);
            if (c) D[N * i + 6 + j] = -AC[3 * i + j];
            if (A) D[N * i + last + j] = A[3 * i + j];
        }
    ct__sight_fold(3, N, H, D, K);
    ct__sight3_bend_own(N, 0, q, g, K);
    if (!A) return;
    ct__skew(g, S);
    ct__mul33(S, A, SA);
    if (c) ct__mul33_skew(SA, c, SAC);
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++) {
            ct__add_both(N, K, i, last + j, SA[3 * i + j]);
            if (c) ct__add_both(N, K, i, 6 + j, -SAC[3 * i + j]);
        }
    if (!c) return;
    double b[3];
    for (int j = 0; j < 3; j++) b[j] = A[j] * g[0] + A[3 + j] * g[1] + A[6 + j] * g[2];
    ct__sight3_bend_own(N, 6, c, b, K);
}

static inline void ct__sight2_curve(ct__sight_kernel *kernel, ct__sight_bend *bend, int rows, const double *z,
                                    const double *sensor, const double *pose, const double *point, int variable,
                                    const double *u, double *K)
{
    const ct_se2    x = ct__se2_load(pose);
    const ct__sight at = ct__sight2(x, point, sensor);
    const double    A[4] = {x.c, x.s, -x.s, x.c};
    double          g[2], H[4];
    ct__sight_orders(2, kernel, bend, rows, z, sensor, at.d, u, g, H);
    ct__sight2_bend(at.q, g, H, variable ? A : NULL, NULL, K);
}

static inline void ct__sight3_curve(ct__sight_kernel *kernel, ct__sight_bend *bend, int rows, const double *z,
                                    const double *sensor, const double *pose, const double *point, int variable,
                                    const double *u, double *K)
{
    const ct_se3    x = ct__se3_load(pose);
    const ct__sight at = ct__sight3(x, point, sensor);
    double          g[3], H[9], A[9];
    ct__so3_matrix(ct__so3_inverse(ct__se3_rotation(x)), A);
    ct__sight_orders(3, kernel, bend, rows, z, sensor, at.d, u, g, H);
    ct__sight3_bend(at.q, g, H, variable ? A : NULL, NULL, K);
}

static inline void ct__sight2_curve_pose(ct__sight_kernel *kernel, ct__sight_bend *bend, int rows, const double *z,
                                         const double *sensor, const double *target, const double *const x[],
                                         const double *u, double *K)
{
    const ct_se2    a = ct__se2_load(x[0]), b = ct__se2_load(x[1]);
    const ct__sight at = ct__sight2_to(a, b, target, sensor);
    const ct_so2    turn = ct__so2_between(ct__se2_rotation(a), ct__se2_rotation(b));
    const double    A[4] = {turn.c, -turn.s, turn.s, turn.c};
    double          g[2], H[4];
    ct__sight_orders(2, kernel, bend, rows, z, sensor, at.d, u, g, H);
    ct__sight2_bend(at.q, g, H, A, target, K);
}

static inline void ct__sight3_curve_pose(ct__sight_kernel *kernel, ct__sight_bend *bend, int rows, const double *z,
                                         const double *sensor, const double *target, const double *const x[],
                                         const double *u, double *K)
{
    const ct_se3    a = ct__se3_load(x[0]), b = ct__se3_load(x[1]);
    const ct__sight at = ct__sight3_to(a, b, target, sensor);
    double          g[3], H[9], A[9];
    ct__so3_matrix(ct__so3_between(ct__se3_rotation(a), ct__se3_rotation(b)), A);
    ct__sight_orders(3, kernel, bend, rows, z, sensor, at.d, u, g, H);
    ct__sight3_bend(at.q, g, H, A, target, K);
}

/* ---- Functions of a model -------------------------------------------------------------------- */

#define CT__EVAL_ARGUMENTS                                                                                             \
    const double *z, const void *context, const double *const x[], double *r, double *const J[]
#define CT__CURVE_ARGUMENTS                                                                                            \
    const double *z, const void *context, const double *const x[], const double *u, double *K

/* kernel_variable, kernel_variable_curve: the point is the second variable; kernel_known, kernel_known_curve: it is the
 * n doubles of z between the first `measured` and the sensor. */
#define CT__SIGHT_TO_POINTS(kernel, bend, rows, measured, n)                                                           \
    static void kernel##_variable(CT__EVAL_ARGUMENTS)                                                                  \
    {                                                                                                                  \
        (void)context;                                                                                                 \
        ct__sight##n##_eval(kernel, rows, z, z + (measured), x[0], x[1], r, J ? J[0] : NULL, J ? J[1] : NULL);         \
    }                                                                                                                  \
    static void kernel##_known(CT__EVAL_ARGUMENTS)                                                                     \
    {                                                                                                                  \
        (void)context;                                                                                                 \
        ct__sight##n##_eval(kernel, rows, z, z + (measured) + (n), x[0], z + (measured), r, J ? J[0] : NULL, NULL);    \
    }                                                                                                                  \
    static void kernel##_variable_curve(CT__CURVE_ARGUMENTS)                                                           \
    {                                                                                                                  \
        (void)context;                                                                                                 \
        ct__sight##n##_curve(kernel, bend, rows, z, z + (measured), x[0], x[1], 1, u, K);                              \
    }                                                                                                                  \
    static void kernel##_known_curve(CT__CURVE_ARGUMENTS)                                                              \
    {                                                                                                                  \
        (void)context;                                                                                                 \
        ct__sight##n##_curve(kernel, bend, rows, z, z + (measured) + (n), x[0], z + (measured), 0, u, K);              \
    }

/* kernel_pose, kernel_pose_curve: the target is the n doubles of z after the sensor, which has `mounted` doubles. */
#define CT__SIGHT_TO_POSE(kernel, bend, rows, measured, mounted, n)                                                    \
    static void kernel##_pose(CT__EVAL_ARGUMENTS)                                                                      \
    {                                                                                                                  \
        (void)context;                                                                                                 \
        ct__sight##n##_eval_pose(kernel, rows, z, z + (measured), z + (measured) + (mounted), x, r, J);                \
    }                                                                                                                  \
    static void kernel##_pose_curve(CT__CURVE_ARGUMENTS)                                                               \
    {                                                                                                                  \
        (void)context;                                                                                                 \
        ct__sight##n##_curve_pose(kernel, bend, rows, z, z + (measured), z + (measured) + (mounted), x, u, K);         \
    }

#endif
