/* factor_prior.c: prior_K, an absolute measurement of a variable of any kind.
 *
 *     r = Log(z^-1 x),  dr/dx = Jr^-1(r)
 *
 * On R^n this is x - z and I; on SO(2) the Jacobian is 1. Neither has curvature. Curvatures of the other kinds:
 * curvature_inline.h.
 */
#include <covtune/graph.h>

#include "graph/curvature_inline.h"

static inline void prior_rn(int n, const double *z, const double *x, double *r, double *J)
{
    for (int i = 0; i < n; i++) r[i] = x[i] - z[i];
    for (int i = 0; J && i < n * n; i++) J[i] = i % (n + 1) == 0;
}

static inline void prior_so2(const double *z, const double *x, double *r, double *J)
{
    r[0] = ct__so2_log(ct__so2_between(ct__so2_load(z), ct__so2_load(x)));
    if (J) J[0] = 1;
}

static inline void prior_so3(const double *z, const double *x, double *r, double *J)
{
    const ct__so3_chart at = ct__so3_chart_at(ct__so3_between(ct__so3_load(z), ct__so3_load(x)));
    r[0] = at.w[0], r[1] = at.w[1], r[2] = at.w[2];
    if (J) ct__so3_jr_inv(&at, J);
}

static inline void prior_se2(const double *z, const double *x, double *r, double *J)
{
    const ct__se2_chart at = ct__se2_chart_at(ct__se2_between(ct__se2_load(z), ct__se2_load(x)));
    r[0] = at.v[0], r[1] = at.v[1], r[2] = at.v[2];
    if (J) ct__se2_jr_inv(&at, J);
}

static inline void prior_se3(const double *z, const double *x, double *r, double *J)
{
    const ct__se3_chart at = ct__se3_chart_at(ct__se3_between(ct__se3_load(z), ct__se3_load(x)));
    ct__se3_chart_tangent(&at, r);
    if (!J) return;
    double D[9], K[9];
    ct__se3_jr_inv_blocks(&at, D, K);
    ct__se3_blocks(D, K, J);
}

static void curve_so3(const double *z, const void *context, const double *const x[], const double *u, double *K)
{
    (void)context;
    const ct__so3_chart at = ct__so3_chart_at(ct__so3_between(ct__so3_load(z), ct__so3_load(x[0])));
    double              c[3];
    ct__so3_bend_one(&at, u, K, c);
}

static void curve_se2(const double *z, const void *context, const double *const x[], const double *u, double *K)
{
    (void)context;
    const ct__se2_chart at = ct__se2_chart_at(ct__se2_between(ct__se2_load(z), ct__se2_load(x[0])));
    ct__se2_bend_one(&at, u, K);
}

static void curve_se3(const double *z, const void *context, const double *const x[], const double *u, double *K)
{
    (void)context;
    const ct__se3_chart at = ct__se3_chart_at(ct__se3_between(ct__se3_load(z), ct__se3_load(x[0])));
    double              c[6];
    ct__se3_bend_one(&at, u, K, c);
}

static inline void prior_r1(const double *z, const double *x, double *r, double *J) { prior_rn(1, z, x, r, J); }
static inline void prior_r2(const double *z, const double *x, double *r, double *J) { prior_rn(2, z, x, r, J); }
static inline void prior_r3(const double *z, const double *x, double *r, double *J) { prior_rn(3, z, x, r, J); }

#define PRIOR(k, K, dim, ...)                                                                      \
    static void eval_##k(const double *z, const void *context, const double *const x[], double *r, double *const J[]) \
    {                                                                                              \
        (void)context;                                                                             \
        prior_##k(z, x[0], r, J ? J[0] : NULL);                                                    \
    }                                                                                              \
    const ct_factor_ops ct_prior_##k = {                                                           \
        .name = "prior_" #k,                                                                       \
        .rows = dim,                                                                               \
        .arity = 1,                                                                                \
        .kind = {K},                                                                               \
        .fields = 1,                                                                               \
        .required = 1,                                                                             \
        .field = {K},                                                                              \
        .absolute = 1,                                                                             \
        .eval = eval_##k,                                                                          \
        __VA_ARGS__,                                                                               \
    };

PRIOR(r1, CT_R1, 1, .flat = 1, .coordinate = {"x"}, .unit = {"m"})
PRIOR(r2, CT_R2, 2, .flat = 1, .coordinate = {"x", "y"}, .unit = {"m", "m"})
PRIOR(r3, CT_R3, 3, .flat = 1, .coordinate = {"x", "y", "z"}, .unit = {"m", "m", "m"})
PRIOR(so2, CT_SO2, 1, .flat = 1, .coordinate = {"yaw"}, .unit = {"rad"})
PRIOR(so3, CT_SO3, 3, .curvature = curve_so3, .coordinate = {"rx", "ry", "rz"}, .unit = {"rad", "rad", "rad"})
PRIOR(se2, CT_SE2, 3, .curvature = curve_se2, .coordinate = {"x", "y", "yaw"}, .unit = {"m", "m", "rad"})
PRIOR(se3, CT_SE3, 6, .curvature = curve_se3, .coordinate = {"rx", "ry", "rz", "x", "y", "z"},
      .unit = {"rad", "rad", "rad", "m", "m", "m"})
