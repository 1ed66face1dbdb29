/* factor_between.c: between_K, a relative measurement of two variables of any kind.
 *
 *     d = a^-1 b,  r = Log(z^-1 d),  dr/db = Jr^-1(r),  dr/da = -Jr^-1(r) Ad(d^-1)
 *
 * Odometry and loop closures are of this model, so solvers evaluate it most often. It needs one
 * logarithm and no sines or cosines; Jacobians are written out. Curvatures: curvature_inline.h.
 */
#include <covtune/graph.h>

#include "graph/curvature_inline.h"

static inline void between_rn(int n, const double *z, const double *a, const double *b, double *r, double *Ja,
                              double *Jb)
{
    for (int i = 0; i < n; i++) r[i] = b[i] - a[i] - z[i];
    for (int i = 0; Ja && i < n * n; i++) Ja[i] = i % (n + 1) == 0 ? -1 : 0;
    for (int i = 0; Jb && i < n * n; i++) Jb[i] = i % (n + 1) == 0 ? 1 : 0;
}

static inline void between_so2(const double *z, const double *a, const double *b, double *r, double *Ja, double *Jb)
{
    const ct_so2 d = ct__so2_between(ct__so2_load(a), ct__so2_load(b));
    r[0] = ct__so2_log(ct__so2_between(ct__so2_load(z), d));
    if (Ja) Ja[0] = -1;
    if (Jb) Jb[0] = 1;
}

static inline void between_so3(const double *z, const double *a, const double *b, double *r, double *Ja, double *Jb)
{
    const ct_so3        d = ct__so3_between(ct__so3_load(a), ct__so3_load(b));
    const ct__so3_chart at = ct__so3_chart_at(ct__so3_between(ct__so3_load(z), d));
    double              J[9], M[9];
    r[0] = at.w[0], r[1] = at.w[1], r[2] = at.w[2];
    if (!Ja && !Jb) return;
    ct__so3_jr_inv(&at, J);
    if (Ja) {
        ct__so3_matrix(ct__so3_inverse(d), M);
        ct__mul33(J, M, Ja);
        for (int i = 0; i < 9; i++) Ja[i] = -Ja[i];
    }
    if (Jb) memcpy(Jb, J, sizeof J);
}

/* Ja = -J Ad(d^-1) with J = [j -h p; h j q; 0 0 1] and Ad(d^-1) = [c s m; -s c n; 0 0 1]. */
static inline void between_se2(const double *z, const double *a, const double *b, double *r, double *Ja, double *Jb)
{
    const ct_se2        d = ct__se2_between(ct__se2_load(a), ct__se2_load(b));
    const ct__se2_chart at = ct__se2_chart_at(ct__se2_between(ct__se2_load(z), d));
    double              J[9];
    r[0] = at.v[0], r[1] = at.v[1], r[2] = at.v[2];
    if (!Ja && !Jb) return;
    ct__se2_jr_inv(&at, J);
    if (Ja) {
        const double j = J[0], h = J[3], c = d.c, s = d.s;
        const double m = s * d.x - c * d.y, n = c * d.x + s * d.y;
        Ja[0] = -j * c - h * s, Ja[1] = h * c - j * s, Ja[2] = h * n - j * m - J[2];
        Ja[3] = j * s - h * c, Ja[4] = -j * c - h * s, Ja[5] = -h * m - j * n - J[5];
        Ja[6] = 0, Ja[7] = 0, Ja[8] = -1;
    }
    if (Jb) memcpy(Jb, J, sizeof J);
}

/* Jr^-1 = [J 0; K J] and Ad(d^-1) = [M 0; N M], so Ja = -[JM 0; KM + JN, JM]. */
static inline void between_se3(const double *z, const double *a, const double *b, double *r, double *Ja, double *Jb)
{
    const ct_se3        d = ct__se3_between(ct__se3_load(a), ct__se3_load(b));
    const ct__se3_chart at = ct__se3_chart_at(ct__se3_between(ct__se3_load(z), d));
    double              J[9], K[9], M[9], N[9], JM[9], KM[9], JN[9];
    ct__se3_chart_tangent(&at, r);
    if (!Ja && !Jb) return;
    ct__se3_jr_inv_blocks(&at, J, K);
    if (Ja) {
        ct__se3_adjoint_inverse_blocks(d, M, N);
        ct__mul33(J, M, JM);
        ct__mul33(K, M, KM);
        ct__mul33(J, N, JN);
        for (int i = 0; i < 9; i++) JM[i] = -JM[i], KM[i] = -KM[i] - JN[i];
        ct__se3_blocks(JM, KM, Ja);
    }
    if (Jb) ct__se3_blocks(J, K, Jb);
}

static void curve_so3(const double *z, const void *context, const double *const x[], const double *u, double *K)
{
    (void)context;
    const ct_so3        d = ct__so3_between(ct__so3_load(x[0]), ct__so3_load(x[1]));
    const ct__so3_chart at = ct__so3_chart_at(ct__so3_between(ct__so3_load(z), d));
    ct__so3_bend_two(&at, d, u, K);
}

static void curve_se2(const double *z, const void *context, const double *const x[], const double *u, double *K)
{
    (void)context;
    const ct_se2        d = ct__se2_between(ct__se2_load(x[0]), ct__se2_load(x[1]));
    const ct__se2_chart at = ct__se2_chart_at(ct__se2_between(ct__se2_load(z), d));
    ct__se2_bend_two(&at, d, u, K);
}

static void curve_se3(const double *z, const void *context, const double *const x[], const double *u, double *K)
{
    (void)context;
    const ct_se3        d = ct__se3_between(ct__se3_load(x[0]), ct__se3_load(x[1]));
    const ct__se3_chart at = ct__se3_chart_at(ct__se3_between(ct__se3_load(z), d));
    ct__se3_bend_two(&at, d, u, K);
}

static inline void between_r1(const double *z, const double *a, const double *b, double *r, double *Ja, double *Jb)
{
    between_rn(1, z, a, b, r, Ja, Jb);
}

static inline void between_r2(const double *z, const double *a, const double *b, double *r, double *Ja, double *Jb)
{
    between_rn(2, z, a, b, r, Ja, Jb);
}

static inline void between_r3(const double *z, const double *a, const double *b, double *r, double *Ja, double *Jb)
{
    between_rn(3, z, a, b, r, Ja, Jb);
}

#define BETWEEN(k, K, dim, ...)                                                                    \
    static void eval_##k(const double *z, const void *context, const double *const x[], double *r, double *const J[]) \
    {                                                                                              \
        (void)context;                                                                             \
        between_##k(z, x[0], x[1], r, J ? J[0] : NULL, J ? J[1] : NULL);                           \
    }                                                                                              \
    const ct_factor_ops ct_between_##k = {                                                         \
        .name = "between_" #k,                                                                     \
        .rows = dim,                                                                               \
        .arity = 2,                                                                                \
        .kind = {K, K},                                                                            \
        .fields = 1,                                                                               \
        .required = 1,                                                                             \
        .field = {K},                                                                              \
        .eval = eval_##k,                                                                          \
        __VA_ARGS__,                                                                               \
    };

BETWEEN(r1, CT_R1, 1, .flat = 1, .coordinate = {"x"}, .unit = {"m"})
BETWEEN(r2, CT_R2, 2, .flat = 1, .coordinate = {"x", "y"}, .unit = {"m", "m"})
BETWEEN(r3, CT_R3, 3, .flat = 1, .coordinate = {"x", "y", "z"}, .unit = {"m", "m", "m"})
BETWEEN(so2, CT_SO2, 1, .flat = 1, .coordinate = {"yaw"}, .unit = {"rad"})
BETWEEN(so3, CT_SO3, 3, .curvature = curve_so3, .coordinate = {"rx", "ry", "rz"}, .unit = {"rad", "rad", "rad"})
BETWEEN(se2, CT_SE2, 3, .curvature = curve_se2, .coordinate = {"x", "y", "yaw"}, .unit = {"m", "m", "rad"})
BETWEEN(se3, CT_SE3, 6, .curvature = curve_se3, .coordinate = {"rx", "ry", "rz", "x", "y", "z"},
        .unit = {"rad", "rad", "rad", "m", "m", "m"})
