/* factor_tactile.c: tactile_*, the rotation or motion of a finger on an object between two times.
 *
 * o and e are object and finger at the first time, p and f at the second. With a = o^-1 e and b = p^-1 f, the poses of
 * the finger in the frame of the object:
 *
 *     d = a^-1 b = e^-1 o p^-1 f
 *     tactile_yaw   r = angle of z^-1 d            tactile_se2   r = Log(z^-1 d)
 *
 * The angle is linear in all four, with derivatives 1, -1, -1, 1. For the pose, perturbations of e, o, p and f enter
 * one after the other,
 *
 *     z^-1 d  ->  z^-1 d Exp(-Ad(d^-1) de) Exp(Ad(b^-1) do) Exp(-Ad(b^-1) dp) Exp(df)
 *
 * so dr/df = J = Jr^-1(r), dr/dp = -J Ad(b^-1) = -dr/do, dr/de = -J Ad(d^-1). With M each factor's matrix, its
 * curvature is M'K0 M, and that of two of them M'(K0 + S/2) M', in the order above: K0 and S are those of
 * curvature_inline.h.
 *
 * A network on tactile images measures only the rotation. A sequence has thousands of these factors, so the residual
 * uses no sines and cosines. */
#include <covtune/graph.h>

#include "graph/curvature_inline.h"

/* ---- tactile_yaw ---- */

static void eval_yaw(const double *z, const void *context, const double *const x[], double *r, double *const J[])
{
    (void)context;
    const ct_so2 o = ct__so2_load(x[0] + 2), e = ct__so2_load(x[1] + 2), p = ct__so2_load(x[2] + 2),
                 f = ct__so2_load(x[3] + 2);
    const ct_so2 before = ct__so2_between(o, e), after = ct__so2_between(p, f);
    r[0] = ct__so2_log(ct__so2_between(ct__so2_load(z), ct__so2_between(before, after)));
    for (int i = 0; J && i < 4; i++)
        if (J[i]) J[i][0] = J[i][1] = 0, J[i][2] = i == 0 || i == 3 ? 1 : -1;
}

const ct_factor_ops ct_tactile_yaw = {
    .name = "tactile_yaw",
    .rows = 1,
    .arity = 4,
    .kind = {CT_SE2, CT_SE2, CT_SE2, CT_SE2},
    .fields = 1,
    .required = 1,
    .field = {CT_SO2},
    .eval = eval_yaw,
    .flat = 1,
    .depends = {4, 4, 4, 4},
    .coordinate = {"yaw"},
    .unit = {"rad"},
};

/* ---- tactile_se2 ---- */

/* Pose of the finger in the object's frame, before and after; the motion between; and the point of the Log. */
typedef struct {
    ct_se2        after, moved;
    ct__se2_chart at;
} motion;

static motion motion_of(const double *z, const double *const x[])
{
    const ct_se2 before = ct__se2_between(ct__se2_load(x[0]), ct__se2_load(x[1])),
                 after = ct__se2_between(ct__se2_load(x[2]), ct__se2_load(x[3]));
    const ct_se2 moved = ct__se2_between(before, after);
    return (motion){after, moved, ct__se2_chart_at(ct__se2_between(ct__se2_load(z), moved))};
}

/* B = k A Ad(d^-1), Ad(d^-1) = [c s m; -s c n; 0 0 1]. */
static void times_adjoint(double k, const double A[9], ct_se2 d, double B[9])
{
    const double m = d.s * d.x - d.c * d.y, n = d.c * d.x + d.s * d.y;
    for (int i = 0; i < 9; i += 3) {
        const double a = k * A[i], b = k * A[i + 1];
        B[i] = a * d.c - b * d.s, B[i + 1] = a * d.s + b * d.c, B[i + 2] = a * m + b * n + k * A[i + 2];
    }
}

static void eval_se2(const double *z, const void *context, const double *const x[], double *r, double *const J[])
{
    (void)context;
    const motion m = motion_of(z, x);
    double       Jr[9];
    r[0] = m.at.v[0], r[1] = m.at.v[1], r[2] = m.at.v[2];
    if (!J) return;
    ct__se2_jr_inv(&m.at, Jr);
    if (J[0]) times_adjoint(1, Jr, m.after, J[0]);
    if (J[1]) times_adjoint(-1, Jr, m.moved, J[1]);
    if (J[2]) times_adjoint(-1, Jr, m.after, J[2]);
    if (J[3]) memcpy(J[3], Jr, sizeof Jr);
}

/* L = A'B A2 into its block of K, and its transpose into the mirrored one. */
static void put_block(int i, int j, const double A[9], const double B[9], const double A2[9], double K[144])
{
    double BA[9];
    ct__mul33(B, A2, BA);
    for (int r = 0; r < 3; r++)
        for (int c = 0; c < 3; c++)
            K[12 * (3 * i + r) + 3 * j + c] = K[12 * (3 * j + c) + 3 * i + r] =
                A[r] * BA[c] + A[3 + r] * BA[3 + c] + A[6 + r] * BA[6 + c];
}

static void curve_se2(const double *z, const void *context, const double *const x[], const double *u, double *K)
{
    static const int    ORDER[4] = {1, 0, 2, 3}; /* of the perturbations above */
    static const double IDENTITY[9] = {1, 0, 0, 0, 1, 0, 0, 0, 1};
    (void)context;
    const motion       m = motion_of(z, x);
    const ct__se2_bend k = ct__se2_bend_at(&m.at, u);
    const double       K0[9] = {0, 0, k.p, 0, 0, k.q, k.p, k.q, k.f};
    /* K0 + S/2 */
    const double half[9] = {0, 0, k.p - k.c[1] / 2, 0, 0, k.q + k.c[0] / 2, k.p + k.c[1] / 2, k.q - k.c[0] / 2, k.f};
    double             M[4][9];
    times_adjoint(1, IDENTITY, m.after, M[0]);
    times_adjoint(-1, IDENTITY, m.moved, M[1]);
    times_adjoint(-1, IDENTITY, m.after, M[2]);
    memcpy(M[3], IDENTITY, sizeof IDENTITY);
    for (int i = 0; i < 4; i++) {
        put_block(ORDER[i], ORDER[i], M[ORDER[i]], K0, M[ORDER[i]], K);
        for (int j = i + 1; j < 4; j++) put_block(ORDER[i], ORDER[j], M[ORDER[i]], half, M[ORDER[j]], K);
    }
}

const ct_factor_ops ct_tactile_se2 = {
    .name = "tactile_se2",
    .rows = 3,
    .arity = 4,
    .kind = {CT_SE2, CT_SE2, CT_SE2, CT_SE2},
    .fields = 1,
    .required = 1,
    .field = {CT_SE2},
    .eval = eval_se2,
    .curvature = curve_se2,
    .coordinate = {"x", "y", "yaw"},
    .unit = {"m", "m", "rad"},
};
