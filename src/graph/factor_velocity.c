/* factor_velocity.c: velocity_P, a body velocity held for dt between two poses.
 *
 *     v = Log(a^-1 b),  r = v/dt - z,  dr/db = Jr^-1(v)/dt,  dr/da = -Jl^-1(v)/dt
 *
 * Jl^-1(v) = Jr^-1(-v) is Jr^-1(v) Ad((a^-1 b)^-1) without the product. Rows are in tangent order. The curvature
 * is that of Log(a^-1 b) with multipliers u/dt (curvature_inline.h).
 */
#include <covtune/graph.h>

#include "graph/curvature_inline.h"

static void scale(int n, double k, double *J)
{
    for (int i = 0; i < n; i++) J[i] *= k;
}

static void eval_se2(const double *z, const void *context, const double *const x[], double *r, double *const J[])
{
    (void)context;
    const double        dt = z[3];
    const ct__se2_chart at = ct__se2_chart_at(ct__se2_between(ct__se2_load(x[0]), ct__se2_load(x[1])));
    for (int i = 0; i < 3; i++) r[i] = at.v[i] / dt - z[i];
    if (J && J[0]) {
        const ct__se2_chart opposite = {.v = {-at.v[0], -at.v[1], -at.v[2]}, .hcot = at.hcot};
        ct__se2_jr_inv(&opposite, J[0]);
        scale(9, -1 / dt, J[0]);
    }
    if (J && J[1]) {
        ct__se2_jr_inv(&at, J[1]);
        scale(9, 1 / dt, J[1]);
    }
}

static void jr_inv_se3(const ct__se3_chart *at, double k, double M[36])
{
    double J[9], K[9];
    ct__se3_jr_inv_blocks(at, J, K);
    ct__se3_blocks(J, K, M);
    scale(36, k, M);
}

static void eval_se3(const double *z, const void *context, const double *const x[], double *r, double *const J[])
{
    (void)context;
    const double        dt = z[6];
    const ct__se3_chart at = ct__se3_chart_at(ct__se3_between(ct__se3_load(x[0]), ct__se3_load(x[1])));
    ct__se3_chart_tangent(&at, r);
    for (int i = 0; i < 6; i++) r[i] = r[i] / dt - z[i];
    if (J && J[0]) {
        ct__se3_chart opposite = at;
        for (int i = 0; i < 3; i++) opposite.rot.w[i] = -at.rot.w[i], opposite.rho[i] = -at.rho[i];
        jr_inv_se3(&opposite, -1 / dt, J[0]);
    }
    if (J && J[1]) jr_inv_se3(&at, 1 / dt, J[1]);
}

static void curve_se2(const double *z, const void *context, const double *const x[], const double *u, double *K)
{
    (void)context;
    const ct_se2        d = ct__se2_between(ct__se2_load(x[0]), ct__se2_load(x[1]));
    const ct__se2_chart at = ct__se2_chart_at(d);
    ct__se2_bend_two(&at, d, (const double[]){u[0] / z[3], u[1] / z[3], u[2] / z[3]}, K);
}

static void curve_se3(const double *z, const void *context, const double *const x[], const double *u, double *K)
{
    (void)context;
    const ct_se3        d = ct__se3_between(ct__se3_load(x[0]), ct__se3_load(x[1]));
    const ct__se3_chart at = ct__se3_chart_at(d);
    double              v[6];
    for (int i = 0; i < 6; i++) v[i] = u[i] / z[6];
    ct__se3_bend_two(&at, d, v, K);
}

static const char *refuse_dt(double dt) { return dt > 0 ? NULL : "dt must be positive"; }
static const char *refuse_se2(const double *z) { return refuse_dt(z[3]); }
static const char *refuse_se3(const double *z) { return refuse_dt(z[6]); }

const ct_factor_ops ct_velocity_se2 = {
    .name = "velocity_se2",
    .rows = 3,
    .arity = 2,
    .kind = {CT_SE2, CT_SE2},
    .fields = 2,
    .required = 2,
    .field = {CT_R3, CT_R1},
    .eval = eval_se2,
    .curvature = curve_se2,
    .refuse = refuse_se2,
    .coordinate = {"vx", "vy", "omega"},
    .unit = {"m/s", "m/s", "rad/s"},
};

const ct_factor_ops ct_velocity_se3 = {
    .name = "velocity_se3",
    .rows = 6,
    .arity = 2,
    .kind = {CT_SE3, CT_SE3},
    .fields = 3,
    .required = 3,
    .field = {CT_R3, CT_R3, CT_R1},
    .eval = eval_se3,
    .curvature = curve_se3,
    .refuse = refuse_se3,
    .coordinate = {"wx", "wy", "wz", "vx", "vy", "vz"},
    .unit = {"rad/s", "rad/s", "rad/s", "m/s", "m/s", "m/s"},
};
